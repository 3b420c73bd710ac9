/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "temp.h"

char *temp_file(void)
{
	const char *dir = getenv("TMPDIR");
	char *path = NULL;
	int fd;

	assert_true(asprintf(&path, "%s/hwt-test-XXXXXX", dir ? dir : "/tmp") > 0);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	return path;
}

void temp_remove(char *path)
{
	unlink(path);
	free(path);
}

struct hwt_rec *make_rec(uint16_t type, uint32_t pid, uint32_t tid, const void *payload,
			 size_t n, const char *text)
{
	static uint64_t clock;
	size_t tail = text ? strlen(text) + 1 : 0;
	size_t size = (sizeof(struct hwt_rec) + n + tail + 7) & ~(size_t)7;
	struct hwt_rec *rec = calloc(1, size);

	assert_non_null(rec);
	rec->size = (uint32_t)size;
	rec->type = type;
	rec->time = clock += 1000;
	rec->pid = pid;
	rec->tid = tid;
	rec->cpu = -1;
	rec->generation = 7;
	rec->position = 4711;
	if (n)
		memcpy(rec + 1, payload, n);
	if (text)
		memcpy((char *)(rec + 1) + n, text, tail);
	return rec;
}

static int build_id_of(void *ctx, const char *path, uint8_t *out, size_t max)
{
	if (!strstr(path, "libc"))
		return 0;
	assert_true(max >= 20);
	memset(out, 0xab, 20);
	return 20;
}

static const char *const argv[] = {"hwt", "record", "--", "a b", NULL};
static const uint32_t caps[10] = {[8] = 2, [9] = 80};
const struct perfdata_params test_params = {
	.backend = "pt",
	.argv = argv,
	.rtit_ctl = TEST_CTL,
	.caps = caps,
	.ncaps = 10,
	.time_hz = 1000000000,
	.host = "embedded",
	.build_id = build_id_of,
};

struct perfdata *must_open(const char *path)
{
	struct perfdata *p = NULL;
	enum perfdata_kind kind = PERFDATA_UNKNOWN;

	assert_int_equal(perfdata_open(path, &p, &kind), 0);
	assert_int_equal(kind, PERFDATA_FILE);
	return p;
}

int next_event(struct perfdata *p, struct perfdata_event *ev)
{
	int more;

	do {
		more = perfdata_next(p, ev);
		assert_true(more >= 0);
	} while (more && ev->type == PERFDATA_SKIPPED);
	return more;
}
