// SPDX-License-Identifier: BSD-2-Clause
/* A filter's text, where it is mapped, and runs cut to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>
#include "session/filter.h"

static void texts(void **state)
{
	static const struct {
		const char *text;
		size_t n;
	} row[] = {
		{"filter 0x10/0x20@/bin/x", 1},
		{"filter 0x10/0x20@/bin/x,filter 16/32@/a,b@c", 2},
		{"filter 0x10/0x20@/bin/x,stop 0x10@/bin/x", 1}, /* a strange name */
		{"start 0x10@/bin/x", 0},
		{"filter 0xffffffff81000000/0x20", 1},
		{"filter 0xffffffff81000000/0x20,filter 0x30/0x40@/a", 2},
		{"filter 0xffffffff81000000/0x20;", 0},
		{"filter 0x10@/bin/x", 0},
		{"filter /@", 0},
		{"filter 0x1ffffffffffffffff/1@x", 0},
		{"filter ", 0},
		{"", 0},
	};
	struct filter f;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_int_equal(filter_parse(&f, row[i].text), 0);
		if (f.n != row[i].n)
			fail_msg("%s: %zu pieces", row[i].text, f.n);
		filter_free(&f);
	}
	assert_int_equal(filter_parse(&f, row[1].text), 0);
	assert_int_equal(f.piece[0].offset, 0x10);
	assert_int_equal(f.piece[0].len, 0x20);
	assert_string_equal(f.piece[0].path, "/bin/x");
	assert_int_equal(f.piece[1].offset, 16);
	assert_string_equal(f.piece[1].path, "/a,b@c");
	filter_free(&f);
}

/* One file mapped twice, the second time with a hole and only in part. */
static void places(void **state)
{
	struct image_store *store = image_store_new(NULL);
	struct image_space *space = image_space_new(store);
	struct image_view *v = image_view_new(space);
	struct image_map map = {.addr = 0x10000, .len = 0x3000, .pgoff = 0x1000,
				.prot = PROT_EXEC, .path = "/no/lib"};
	struct image_moment at = {1, 0};
	struct filter_ranges r = {};
	struct filter f;

	assert_int_equal(image_space_map(space, at, &map), 0);
	map.addr = 0x50000;
	assert_int_equal(image_space_map(space, at, &map), 0);
	map = (struct image_map){.addr = 0x51000, .len = 0x1000, .prot = PROT_EXEC,
				 .path = "/no/other"};
	assert_int_equal(image_space_map(space, at, &map), 0);
	image_view_set(v, at);
	assert_int_equal(filter_parse(&f, "filter 0x1f00/0x1200@/no/lib"), 0);
	filter_place(&f, v, &r);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.range[0].first, 0x10f00);
	assert_int_equal(r.range[0].last, 0x120ff);
	assert_int_equal(r.range[1].first, 0x50f00);
	assert_int_equal(r.range[1].last, 0x50fff);
	assert_int_equal(r.range[2].first, 0x52000);
	assert_int_equal(r.range[2].last, 0x520ff);
	/* Again is no more. */
	filter_place(&f, v, &r);
	assert_int_equal(r.n, 3);
	filter_free(&f);
	free(r.range);
	image_view_free(v);
	image_space_free(space);
	image_store_free(store);
}

/* Blocks of 4 instructions of 4 bytes, one every 16 bytes. */
static const uint8_t lengths[4] = {4, 4, 4, 4};
static struct trace_block block(uint64_t ip)
{
	return (struct trace_block){.ip = ip, .end = ip + 16, .last = ip + 12, .ninsn = 4,
				    .nbytes = 16, .kind = BLOCK_JCC, .len = lengths};
}

#define MAX 64
/* What comes out, as text: "+10 10*2 20*4b -30", b: with its branch, e: entry. */
static const char *cut(const struct filter_ranges *r, const struct trace_event *in, int nin,
		       int room)
{
	static char text[1024];
	struct filter_cut c = {};
	struct trace_event out[MAX];
	int used = 0, n, i, k = 0;

	text[0] = '\0';
	while (used < nin) {
		used += filter_cut(&c, r, in + used, nin - used, out, room, &n);
		for (i = 0; i < n; i++) {
			k += snprintf(text + k, sizeof(text) - (size_t)k, "%s%s%llx",
				      k ? " " : "",
				      out[i].type == TRACE_ENABLED    ? "+"
				      : out[i].type == TRACE_DISABLED ? "-"
				      : out[i].type == TRACE_ASYNC    ? "a"
				      : out[i].type == TRACE_GAP      ? "gap"
								      : "",
				      (unsigned long long)out[i].ip);
			if (out[i].type == TRACE_RUN)
				k += snprintf(text + k, sizeof(text) - (size_t)k, "*%u%s%s",
					      out[i].ninsn,
					      out[i].flags & TRACE_F_BRANCH ? "b" : "",
					      out[i].flags & TRACE_F_ENTRY ? "e" : "");
		}
	}
	return text;
}

static void runs(void **state)
{
	struct trace_block b1 = block(0x10), b2 = block(0x20), b3 = block(0x30);
#define RUN(b, at, n, f) {.type = TRACE_RUN, .block = &b, .ip = at, .ninsn = n, .flags = f}
	const struct trace_event in[] = {
		{.type = TRACE_ENABLED, .ip = 0x10},
		RUN(b1, 0x10, 4, TRACE_F_BRANCH | TRACE_F_ENTRY),
		RUN(b2, 0x24, 3, TRACE_F_BRANCH),
		RUN(b3, 0x30, 2, 0),
		{.type = TRACE_ASYNC, .ip = 0x38},
		RUN(b1, 0x10, 4, TRACE_F_BRANCH),
		{.type = TRACE_GAP, .ip = 0x20},
		{.type = TRACE_ENABLED, .ip = 0x24},
		RUN(b2, 0x24, 1, TRACE_F_ENTRY),
		{.type = TRACE_DISABLED, .ip = 0x28},
	};
	static const struct {
		struct filter_range range[3];
		size_t n;
		const char *want;
	} row[] = {
		{{{0, ~0ull}}, 1,
		 "+10 10*4be 24*3b 30*2 a38 10*4b gap20 +24 24*1e -28"},
		/* Nothing is mapped that was asked for. */
		{{}, 0, "gap20"},
		/* Whole blocks in and out. */
		{{{0x20, 0x2f}}, 1, "+24 24*3be -30 gap20 +24 24*1e -28"},
		/* Borders inside blocks; one instruction; the end of a run. */
		{{{0x14, 0x17}, {0x2c, 0x33}}, 2,
		 "+14 14*1e -18 +2c 2c*1be 30*1 -34 +14 14*1e -18 gap20"},
		/* An instruction belongs to where it begins. */
		{{{0x15, 0x18}}, 1, "+18 18*1e -1c +18 18*1e -1c gap20"},
		/* Ranges that touch. */
		{{{0x18, 0x2b}, {0x10, 0x17}}, 2,
		 "+10 10*2e 18*2b 24*2 -2c +10 10*2e 18*2b gap20 +24 24*1e -28"},
		/* Asynchronous events inside only. */
		{{{0x30, 0x3f}}, 1, "+30 30*2e a38 -10 gap20"},
	};
	struct filter_ranges r;
	const int n = sizeof(in) / sizeof(in[0]);
	static const int rooms[] = {1, 2, 3, MAX};
	const char *got;
	size_t i, k;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		r = (struct filter_ranges){.range = (struct filter_range *)row[i].range,
					   .n = row[i].n};
		for (k = 0; k < sizeof(rooms) / sizeof(rooms[0]); k++) {
			got = cut(&r, in, n, rooms[k]);
			if (strcmp(got, row[i].want))
				fail_msg("%zu, room for %d: %s\nwant %s", i, rooms[k], got,
					 row[i].want);
		}
	}
}

/* A run that ends early says where it went on. */
static void targets(void **state)
{
	struct trace_block b = block(0x10);
	const struct trace_event in = {.type = TRACE_RUN, .block = &b, .ip = 0x10, .ninsn = 4,
				       .flags = TRACE_F_BRANCH | TRACE_F_TAKEN, .to = 0x80};
	struct filter_range range = {0x10, 0x1b};
	struct filter_ranges r = {.range = &range, .n = 1};
	struct filter_cut c = {};
	struct trace_event out[4];
	int n;

	assert_int_equal(filter_cut(&c, &r, &in, 1, out, 4, &n), 1);
	assert_int_equal(n, 3);
	assert_int_equal(out[1].to, 0x1c);
	assert_int_equal(out[1].flags, TRACE_F_ENTRY);
	assert_int_equal(out[2].ip, 0x1c);
	range.last = 0x1f;
	c = (struct filter_cut){};
	assert_int_equal(filter_cut(&c, &r, &in, 1, out, 4, &n), 1);
	assert_int_equal(n, 2);
	assert_int_equal(out[1].to, 0x80);
	assert_int_equal(out[1].flags, TRACE_F_BRANCH | TRACE_F_TAKEN | TRACE_F_ENTRY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(places),
		cmocka_unit_test(runs),
		cmocka_unit_test(targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
