// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "record_fixture.h"

/* Functions of the images that the scripts map: ELF addresses. */
static int ranges_of(void *ctx, const char *path, const char *function,
		     struct ipf_range *out, int max)
{
	static const struct { const char *path, *name; uint64_t start, end; } row[] = {
		{ "/lib/a.so", "f", 0x1100, 0x11ff },
		{ "/lib/a.so", "g", 0x1200, 0x120f },
		{ "/lib/a.so", "many", 0x1300, 0x130f },
		{ "/lib/a.so", "many", 0x1330, 0x133f },
		{ "/lib/a.so", "many", 0x1350, 0x135f },
		{ "/lib/a.so", "elsewhere", 0x9000, 0x90ff },
		{ "/bin/prog", "main", 0x401000, 0x40101f },
	};
	int n = 0;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		if (strcmp(row[i].path, path) || strcmp(row[i].name, function))
			continue;
		if (n < max)
			out[n] = (struct ipf_range){ row[i].start, row[i].end };
		n++;
	}
	return n;
}

static int kernel_ranges_of(void *ctx, const char *module, const char *function,
			    struct ipf_range *out, int max)
{
	bool in_kernel = strcmp(function, "schedule") == 0 && !module;

	if (!in_kernel && (strcmp(function, "hello") || !module || strcmp(module, "mod")))
		return 0;
	out->start = in_kernel ? KERNEL_TEXT + 0x100 : KERNEL_MOD + 0x10;
	out->end = out->start + 0x3f;
	return 1;
}

static int vaddr_of(void *ctx, const char *path, uint64_t pgoff, uint64_t *vaddr)
{
	*vaddr = strcmp(path, "/bin/prog") ? pgoff : pgoff + 0x400000;
	return 0;
}

struct record_options recorder_defaults(void)
{
	return (struct record_options){
		.backend = "pt", .output = "x", .bufsize = 16 * KIB, .ready_fd = -1,
		.images = { .ranges = ranges_of, .vaddr_of = vaddr_of,
			    .kernel_ranges = kernel_ranges_of },
		.config = { .rtit_ctl = PT_CTL_USER | PT_CTL_BRANCHEN },
		.path = "/bin/prog",
	};
}

void run_recorder(struct recorder_run *t, const struct fake_options *fake)
{
	char *error;

	t->opt.host = fake_host_new(fake);
	t->err = record_run(&t->opt, &t->result, &error);
	t->facts = fake_facts(t->opt.host);
	fake_host_free(t->opt.host);
	assert_int_equal(t->facts.open_devs, 0);
	assert_int_equal(t->facts.mappings, 0);
	if (t->err)
		assert_non_null(error);
	else
		assert_null(error);
	snprintf(t->error, sizeof(t->error), "%s", error ? error : "");
	free(error);
}

void expect_stream(uint32_t tid, size_t bytes, size_t gaps)
{
	struct fake_stream *s = fake_stream(tid);

	assert_int_equal(s->bytes, bytes);
	assert_int_equal(s->gaps, gaps);
	assert_int_equal(s->wrong, 0);
	assert_int_equal(s->finals, 1);
}

int fresh_file(void **state)
{
	memset(&fake_file, 0, sizeof(fake_file));
	return 0;
}
