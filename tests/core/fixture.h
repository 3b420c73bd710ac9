/* SPDX-License-Identifier: BSD-2-Clause */
/* cmocka, and a host with one traced process to begin with. */
#ifndef TESTS_CORE_FIXTURE_H
#define TESTS_CORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fake.h"

#define PID	100
#define BUFSIZE	(4 * FAKE_PAGE)

struct fixture {
	struct fake_host	*h;
	struct fake_dev		*dev;	/* the context's alias */
	int			ident;
	uint64_t		record[4096];	/* room for any record of a test */
};

static inline struct fixture *fixture_new(bool may_hold, int nthreads)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->h = fake_host_new(may_hold);
	assert_non_null(f->h);
	fake_target_add(f->h, PID, nthreads);
	assert_int_equal(fake_alloc(f->h, PID, BUFSIZE, &f->ident), 0);
	assert_int_equal(fake_open_node(f->h, f->ident, 0, &f->dev), 0);
	return f;
}

static inline void fixture_free(struct fixture *f)
{
	if (f->dev)
		fake_close(f->dev);
	assert_true(fake_host_free(f->h));
	free(f);
}

/* Drops what is queued so far. */
static inline void drain(struct fixture *f)
{
	while (fake_record(f->dev, f->record, sizeof(f->record)) > 0)
		;
}

static inline const struct hwt_rec *head(const struct fixture *f)
{
	return (const void *)f->record;
}

static inline const void *payload(const struct fixture *f)
{
	return head(f) + 1;
}

/* The next record is of this type. */
#define assert_record(f, t) \
	assert_int_equal(fake_record((f)->dev, (f)->record, sizeof((f)->record)), (t))

static inline void start(struct fixture *f)
{
	assert_int_equal(fake_config(f->dev, 1, 0), 0);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), 0);
}

#endif
