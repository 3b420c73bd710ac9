/* SPDX-License-Identifier: BSD-2-Clause */
#include "stream.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "decode/pt/pt_packet.h"

#define TEXT_MAX	(1 << 18)

static size_t code_bytes(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	struct stream *s = ctx;
	uint64_t at = ip - s->base;
	size_t n = 0;

	while (n < len && at + n < sizeof(s->code) && s->known[at + n]) {
		buf[n] = s->code[at + n];
		n++;
	}
	s->outside += !n;
	return n;
}

struct stream *stream_new(uint64_t base)
{
	struct stream *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->base = base;
	s->config.code = code_bytes;
	s->config.code_ctx = s;
	return s;
}

static size_t from_hex(const char *hex, uint8_t *out, size_t room)
{
	size_t n = 0;
	unsigned int v;
	int used;

	while (sscanf(hex, " %2x%n", &v, &used) == 1) {
		assert_true(n < room);
		out[n++] = v;
		hex += used;
	}
	return n;
}

void stream_code(struct stream *s, uint64_t addr, const char *hex)
{
	size_t at = addr - s->base;
	size_t n = from_hex(hex, s->code + at, sizeof(s->code) - at);

	memset(s->known + at, 1, n);
}

void stream_forget(struct stream *s, uint64_t addr, size_t n)
{
	memset(s->known + (addr - s->base), 0, n);
}

static void put_bytes(struct stream *s, const void *bytes, size_t n)
{
	assert_true(s->n + n <= sizeof(s->b));
	memcpy(s->b + s->n, bytes, n);
	s->n += n;
}

static void put_op(struct stream *s, uint8_t op, uint64_t v, unsigned int bytes)
{
	put_bytes(s, &op, 1);
	for (; bytes; bytes--, v >>= 8)
		put_bytes(s, &(uint8_t){v}, 1);
}

void put_hex(struct stream *s, const char *hex)
{
	s->n += from_hex(hex, s->b + s->n, sizeof(s->b) - s->n);
}

void put_psb(struct stream *s)
{
	put_hex(s, "0282 0282 0282 0282 0282 0282 0282 0282");
}

void put_psbend(struct stream *s)
{
	put_hex(s, "0223");
}

void put_mode(struct stream *s, unsigned int bits)
{
	put_op(s, PT_PKT_MODE, bits == 64 ? 1 : bits == 32 ? 2 : 0, 1);
}

void put_fup(struct stream *s, uint64_t ip)
{
	put_op(s, 3 << 5 | PT_PKT_FUP, ip, 6);
}

void put_tip(struct stream *s, uint64_t ip)
{
	put_op(s, 3 << 5 | PT_PKT_TIP, ip, 6);
}

void put_pge(struct stream *s, uint64_t ip)
{
	put_op(s, 3 << 5 | PT_PKT_TIP_PGE, ip, 6);
}

void put_pgd(struct stream *s, uint64_t ip)
{
	put_op(s, 3 << 5 | PT_PKT_TIP_PGD, ip, 6);
}

void put_pgd_noip(struct stream *s)
{
	put_op(s, PT_PKT_TIP_PGD, 0, 0);
}

void put_tnt(struct stream *s, const char *bits)
{
	uint64_t v = 1;
	size_t n = strlen(bits);

	assert_true(n && n <= 47);
	for (; *bits; bits++)
		v = v << 1 | (*bits == 'T');
	if (n <= 6) {
		put_op(s, v << 1, 0, 0);
	} else {
		put_hex(s, "02");
		put_op(s, PT_EXT_LONG_TNT, v, 6);
	}
}

void put_ovf(struct stream *s)
{
	put_hex(s, "02f3");
}

void put_tsc(struct stream *s, uint64_t tsc)
{
	put_op(s, PT_PKT_TSC, tsc, 7);
}

void put_tma(struct stream *s, uint32_t ctc, uint32_t fast)
{
	put_hex(s, "02");
	put_op(s, PT_EXT_TMA, ctc | (uint64_t)fast << 24, 5);
}

void put_mtc(struct stream *s, uint8_t mtc)
{
	put_op(s, PT_PKT_MTC, mtc, 1);
}

void put_cyc(struct stream *s, uint64_t cycles)
{
	uint8_t byte = (cycles & 0x1f) << 3 | PT_PKT_CYC;

	cycles >>= 5;
	put_op(s, byte | (cycles ? 4 : 0), 0, 0);
	for (; cycles; cycles >>= 7)
		put_op(s, (cycles & 0x7f) << 1 | (cycles >> 7 != 0), 0, 0);
}

void put_cbr(struct stream *s, uint8_t ratio)
{
	put_hex(s, "02");
	put_op(s, PT_EXT_CBR, ratio, 2);
}

void put_sync(struct stream *s, uint64_t ip)
{
	put_psb(s);
	put_mode(s, 64);
	if (ip)
		put_fup(s, ip);
	put_psbend(s);
}

static const char *const why[TRACE_GAP_MAX] = {
	[TRACE_GAP_OVERFLOW] = "overflow", [TRACE_GAP_NO_CODE] = "nocode",
	[TRACE_GAP_NO_SYNC] = "nosync",	   [TRACE_GAP_LOST] = "lost",
	[TRACE_GAP_REPEATED] = "repeated",
	[TRACE_ERR_PACKET] = "packet",	   [TRACE_ERR_TRUNCATED] = "truncated",
	[TRACE_ERR_PSB] = "psb",	   [TRACE_ERR_UNEXPECTED] = "unexpected",
	[TRACE_ERR_DISABLED] = "disabled", [TRACE_ERR_RETURN] = "return",
	[TRACE_ERR_LOOP] = "loop",	   [TRACE_ERR_BAD_INSN] = "badinsn",
	[TRACE_ERR_FUP] = "fup",	   [TRACE_ERR_MODE] = "mode",
	[TRACE_ERR_OTHER] = "other",
};

struct text {
	char	*s;
	size_t	n;
};

static void say(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->n += vsnprintf(t->s + t->n, TEXT_MAX - t->n, format, args);
	va_end(args);
	assert_true(t->n < TEXT_MAX);
}

static void say_run(struct text *t, const struct trace_event *ev)
{
	uint64_t ip = ev->ip;
	uint32_t i;

	for (i = 0; i < ev->ninsn; i++) {
		say(t, " %" PRIx64, ip);
		ip += ev->block->len[i];
	}
	/* A run leads where it says. */
	if (!(ev->flags & TRACE_F_BRANCH))
		assert_int_equal(ev->to, ip);
}

static void say_event(struct text *t, const struct trace_event *ev)
{
	switch (ev->type) {
	case TRACE_RUN:
		say_run(t, ev);
		break;
	case TRACE_ENABLED:
		say(t, " [on %" PRIx64 "]", ev->ip);
		break;
	case TRACE_DISABLED:
		say(t, " [off %" PRIx64 "]", ev->ip);
		break;
	case TRACE_ASYNC:
		say(t, " [async %" PRIx64 " to %" PRIx64 "]", ev->ip, ev->to);
		break;
	case TRACE_GAP:
		say(t, " [gap %s %" PRIx64 " %" PRIu64 "]", why[ev->error], ev->ip, ev->value);
		break;
	case TRACE_ERROR:
		say(t, " [error %s %" PRIx64 " @%" PRIu64 "]", why[ev->error], ev->ip,
		    ev->offset);
		break;
	case TRACE_CBR:
		say(t, " [cbr %" PRIu64 "]", ev->value);
		break;
	case TRACE_MODE:
		if (ev->value != 64)
			say(t, " [mode %" PRIu64 "]", ev->value);
		break;
	case TRACE_PIP:
		say(t, " [pip %" PRIx64 "]", ev->value);
		break;
	case TRACE_PTWRITE:
		say(t, " [ptw %" PRIx64 " %" PRIx64 "]", ev->value, ev->ip);
		break;
	case TRACE_STOPPED:
		say(t, " [stop]");
		break;
	case TRACE_SYNC:
		say(t, " [sync]");
		break;
	case TRACE_OTHER:
		say(t, " [%s %" PRIx64 "]", pt_packet_name(ev->value), ev->ip);
		break;
	default:
		fail_msg("event of type %u", ev->type);
	}
}

static void decode_text(struct stream *s, size_t piece, int max, struct text *t)
{
	struct pt_decoder *d = pt_decoder_new(&s->config);
	struct trace_event ev[64];
	size_t at, len;
	uint8_t *copy;
	int i, n;

	assert_non_null(d);
	s->outside = 0;
	for (at = 0;; at += len) {
		len = s->n - at < piece ? s->n - at : piece;
		copy = malloc(len + !len);
		memcpy(copy, s->b + at, len);
		if (len)
			assert_int_equal(pt_decoder_feed(d, copy, len), 0);
		else
			pt_decoder_finish(d);
		while ((n = pt_decoder_next(d, ev, max)) > 0)
			for (i = 0; i < n; i++)
				say_event(t, &ev[i]);
		assert_int_equal(n, 0);
		free(copy);
		if (!len)
			break;
	}
	pt_decoder_free(d);
}

const char *stream_text(struct stream *s)
{
	static const struct {
		size_t piece;
		int max;
	} ways[] = {{1, 64}, {17, 3}, {4096, 1}};
	static char whole_text[TEXT_MAX], other_text[TEXT_MAX];
	struct text whole = {.s = whole_text}, other;
	size_t i;

	decode_text(s, sizeof(s->b), 64, &whole);
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		other = (struct text){.s = other_text};
		decode_text(s, ways[i].piece, ways[i].max, &other);
		assert_string_equal(other_text, whole_text);
	}
	return whole.n ? whole_text + 1 : "";
}

void expect(struct stream *s, const char *want)
{
	assert_string_equal(stream_text(s), want);
	free(s);
}

int stream_events(struct stream *s, struct trace_event *ev, int max)
{
	struct pt_decoder *d = pt_decoder_new(&s->config);
	int n = 0, got;

	assert_non_null(d);
	pt_decoder_feed(d, s->b, s->n);
	pt_decoder_finish(d);
	while ((got = pt_decoder_next(d, ev + n, max - n)) > 0)
		n += got;
	assert_int_equal(got, 0);
	pt_decoder_free(d);
	return n;
}

static void without_events(const char *text, struct text *t)
{
	int depth = 0;

	for (; *text; text++) {
		depth += *text == '[';
		if (!depth && (*text != ' ' || text[1] != '['))
			t->s[t->n++] = *text;
		depth -= *text == ']';
	}
	t->s[t->n] = 0;
}

void expect_ipt(struct stream *s, const char *want)
{
	static char ours_text[TEXT_MAX], ipts_text[TEXT_MAX];
	struct text ours = {.s = ours_text};

	assert_string_equal(stream_text(s), want);
	without_events(want, &ours);
	stream_ipt_text(s, ipts_text, sizeof(ipts_text));
	assert_string_equal(ipts_text, ours_text + (ours_text[0] == ' '));
	free(s);
}

struct stream *stream_calls(void)
{
	struct stream *s = stream_new(0x1000);

	stream_code(s, 0x1000, "e8 0b 00 00 00  90  ff e0");
	stream_code(s, 0x1010, "74 02  90 90  90  c3");
	stream_code(s, 0x1020, "90  0f 05  90  eb fe");
	return s;
}
