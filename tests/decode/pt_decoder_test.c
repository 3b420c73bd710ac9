/* SPDX-License-Identifier: BSD-2-Clause */
/* The decoder's interface: feeding, loss, code that changes, no memory. */
#include "stream.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* --- allocations that fail (the linker gives us the decoder's) ---------------- */

static long fail_after = -1;	/* that many succeed; -1: all */

static bool refuse(void)
{
	if (fail_after < 0)
		return false;
	return !fail_after || !--fail_after;
}

void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	return refuse() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return refuse() ? NULL : __real_realloc(p, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return refuse() ? NULL : __real_aligned_alloc(align, size);
}

/* jz +2; nop; nop; jmp *%rax  at 1000 */
static struct stream *simple(void)
{
	struct stream *s = stream_new(0x1000);

	stream_code(s, 0x1000, "74 02 90 90 ff e0");
	put_sync(s, 0x1000);
	return s;
}

static int pull(struct pt_decoder *d, struct trace_event *ev, int max)
{
	int n = 0, got;

	while (n < max && (got = pt_decoder_next(d, ev + n, max - n)) > 0)
		n += got;
	return n;
}

static void feeding(void **state)
{
	struct stream *s = simple();
	struct pt_decoder *d = pt_decoder_new(&s->config);
	struct trace_event ev[16];

	assert_int_equal(pt_decoder_next(d, ev, 16), 0);
	assert_int_equal(pt_decoder_feed(d, s->b, s->n), 0);
	assert_int_equal(pt_decoder_feed(d, s->b, s->n), -EBUSY);
	assert_int_equal(pt_decoder_next(d, ev, 0), 0);
	assert_int_equal(pt_decoder_feed(d, s->b, s->n), -EBUSY);
	assert_int_equal(pull(d, ev, 16), 3);
	assert_int_equal(ev[2].type, TRACE_ENABLED);
	assert_int_equal(pt_decoder_feed(d, s->b, 0), 0);
	assert_int_equal(pt_decoder_next(d, ev, 16), 0);
	pt_decoder_finish(d);
	assert_int_equal(pt_decoder_next(d, ev, 16), 0);
	assert_int_equal(pt_decoder_feed(d, s->b, s->n), -EBUSY);
	pt_decoder_free(d);
	pt_decoder_free(NULL);
	free(s);
}

static void offsets_begin_where_told(void **state)
{
	struct stream *s = simple();
	struct trace_event ev[16];
	int n;

	s->config.offset = 1ull << 40;
	put_tnt(s, "T");
	n = stream_events(s, ev, 16);
	assert_int_equal(n, 4);
	assert_int_equal(ev[0].offset, 1ull << 40);
	assert_int_equal(ev[3].offset, (1ull << 40) + 27);
	free(s);
}

static void lost_bytes(void **state)
{
	struct stream *s = simple();
	struct pt_decoder *d;
	struct trace_event ev[16];
	size_t whole;
	int n;

	put_tnt(s, "T");
	whole = s->n;
	put_hex(s, "6d 00");		/* the packet that was cut goes with the rest */
	d = pt_decoder_new(&s->config);
	pt_decoder_feed(d, s->b, s->n);
	assert_int_equal(pull(d, ev, 16), 4);
	pt_decoder_lost(d, 1000);
	n = pull(d, ev, 16);
	assert_int_equal(n, 1);
	assert_int_equal(ev[0].type, TRACE_GAP);
	assert_int_equal(ev[0].error, TRACE_GAP_LOST);
	assert_int_equal(ev[0].value, 1000);
	assert_int_equal(ev[0].ip, 0x1004);
	assert_int_equal(pt_decoder_feed(d, s->b, whole), 0);
	n = pull(d, ev, 16);
	assert_int_equal(n, 3);		/* sync, on, run; the mode is as it was */
	assert_int_equal(ev[0].type, TRACE_SYNC);
	assert_int_equal(ev[0].offset, whole + 2 + 1000);
	assert_int_equal(ev[2].type, TRACE_RUN);
	assert_true(ev[2].flags & TRACE_F_ENTRY);
	pt_decoder_free(d);
	free(s);
}

static void code_that_changes(void **state)
{
	struct stream *s = simple();
	const struct trace_block *before;
	struct pt_decoder *d;
	struct trace_event ev[16];
	size_t part;

	put_tnt(s, "T");
	put_tip(s, 0x1000);
	put_fup(s, 0x1000);
	put_pgd_noip(s);
	part = s->n;
	put_pge(s, 0x1000);
	put_tnt(s, "T");
	put_fup(s, 0x1000);
	put_pgd_noip(s);
	d = pt_decoder_new(&s->config);
	pt_decoder_feed(d, s->b, part);
	/* All is told before it asks for more: sync mode on, 2 runs, async, off. */
	assert_int_equal(pull(d, ev, 16), 7);
	assert_int_equal(ev[3].type, TRACE_RUN);
	before = ev[3].block;
	assert_int_equal(before->target, 0x1004);
	assert_int_equal(before->user, NULL);
	assert_int_equal(pt_decoder_nblocks(d), 2);

	/* nop; jz 1000; jmp *%rax: the old block stays what it was. */
	stream_code(s, 0x1000, "90 74 fd ff e0");
	pt_decoder_invalidate(d, 0x1001, 1);
	assert_int_equal(pt_decoder_feed(d, s->b + part, s->n - part), 0);
	assert_int_equal(pull(d, ev, 16), 4);
	assert_int_equal(ev[1].type, TRACE_RUN);
	assert_int_equal(ev[1].block->end, 0x1003);
	assert_int_equal(ev[1].to, 0x1000);
	assert_int_equal(before->end, 0x1002);
	assert_int_equal(before->kind, BLOCK_JCC);
	assert_ptr_not_equal(before, ev[1].block);
	pt_decoder_free(d);
	free(s);
}

static void invalidated_ranges(void **state)
{
	static const struct {
		uint64_t addr, len;
		bool dropped;
	} t[] = {
		{0x1000, 0, false}, {0x1000, 1, true},	{0x1005, 1, true},
		{0x1006, 1, false}, {0x0fff, 1, false}, {0xfff, 2, true},
		{0, 0x1000, false}, {0, 0x1001, true},	{0, ~0ull, true},
		{0x1006, ~0ull, false}, {0x1005, ~0ull, true},
	};
	struct trace_event ev[16];
	struct pt_decoder *d;
	struct stream *s;
	size_t i, part;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		s = stream_new(0x1000);
		stream_code(s, 0x1000, "90 90 90 90 ff e0");
		put_sync(s, 0x1000);
		put_tip(s, 0x1000);
		part = s->n;
		put_tip(s, 0x1000);
		d = pt_decoder_new(&s->config);
		pt_decoder_feed(d, s->b, part);
		assert_int_equal(pull(d, ev, 16), 4);
		pt_decoder_invalidate(d, t[i].addr, t[i].len);
		pt_decoder_feed(d, s->b + part, s->n - part);
		assert_int_equal(pull(d, ev, 16), 1);
		assert_int_equal(ev[0].block->id, t[i].dropped);
		assert_int_equal(pt_decoder_nblocks(d), 1 + t[i].dropped);
		pt_decoder_free(d);
		free(s);
	}
}

/* An instruction on a page's border is dropped with either page. */
static void invalidated_page_border(void **state)
{
	struct stream *s = stream_new(0x1000);
	struct pt_decoder *d;
	struct trace_event ev[16];
	size_t part;

	stream_code(s, 0x1ffe, "48 81 c0 00 00 00 00 ff e0");
	put_sync(s, 0x1ffe);
	put_tip(s, 0x1ffe);
	part = s->n;
	put_tip(s, 0x1ffe);
	d = pt_decoder_new(&s->config);
	pt_decoder_feed(d, s->b, part);
	assert_int_equal(pull(d, ev, 16), 5);
	pt_decoder_invalidate(d, 0x2000, 0x1000);
	pt_decoder_feed(d, s->b + part, s->n - part);
	assert_int_equal(pull(d, ev, 16), 2);
	assert_int_equal(ev[0].block->id, 2);
	assert_int_equal(ev[1].block->id, 3);
	pt_decoder_free(d);
	free(s);
}

static void no_memory(void **state)
{
	struct trace_event ev[64];
	struct pt_decoder *d;
	struct stream *s = stream_new(0x1000);
	int i, n = 0;
	long k;

	for (i = 0; i < 8000; i++)
		stream_code(s, 0x1000 + 2 * i, "74 00");
	put_sync(s, 0x1000);
	for (i = 0; i < 200; i++)
		put_tnt(s, "TNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTNTN");
	for (k = 1; n >= 0; k++) {
		fail_after = k;
		d = pt_decoder_new(&s->config);
		if (!d)
			continue;
		pt_decoder_feed(d, s->b, s->n);
		while ((n = pt_decoder_next(d, ev, 64)) > 0)
			;
		assert_true(n == 0 || n == -ENOMEM);
		if (n) {
			assert_int_equal(pt_decoder_next(d, ev, 64), -ENOMEM);
			n = 0;
		} else {
			n = fail_after > 1 ? -1 : 0;	/* none failed any more */
		}
		fail_after = -1;
		pt_decoder_free(d);
	}
	fail_after = -1;
	assert_true(k > 5);
	free(s);
}

static void texts(void **state)
{
	unsigned int i;

	for (i = 0; i < TRACE_GAP_MAX + 5; i++) {
		const char *text = trace_gap_text(i);

		assert_non_null(text);
		assert_int_not_equal(text[0], 0);
		assert_int_not_equal(text[strlen(text) - 1], '.');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(feeding),
		cmocka_unit_test(offsets_begin_where_told),
		cmocka_unit_test(lost_bytes),
		cmocka_unit_test(code_that_changes),
		cmocka_unit_test(invalidated_ranges),
		cmocka_unit_test(invalidated_page_border),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
