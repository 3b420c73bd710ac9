/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs through the trace unit and back: the decoder gives exactly
 * the addresses that were executed, however the bytes are cut, with every
 * packet option; and it agrees with libipt's instruction decoder.
 *
 *	pt_synth_test [SEEDS [FIRST]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "decode/pt/pt_decoder.h"
#include "models/pt/pt_unit.h"
#include "synth.h"

static unsigned long seeds = 400, first_seed;

/* How a stream is cut, and how many events are asked for at a time. */
struct pieces {
	size_t	bytes;
	int	events;
};

static const struct pieces whole = {1 << 20, 256};
static const struct pieces cuts[] = {{1, 256}, {17, 3}, {4096, 1}};

struct decoded {
	uint64_t	*ip;
	size_t		n, room;
	unsigned int	errors, gaps, overflows;
	struct trace_event bad;		/* first error */
	uint64_t	hash;		/* of all events, field by field */
	uint64_t	time;
	bool		time_back;
};

static void add_ip(struct decoded *r, uint64_t ip)
{
	if (r->n == r->room) {
		r->room = r->room * 2 + 1024;
		r->ip = realloc(r->ip, r->room * sizeof(*r->ip));
		assert_non_null(r->ip);
	}
	r->ip[r->n++] = ip;
}

static void mix(struct decoded *r, uint64_t v)
{
	r->hash = (r->hash ^ v) * 0x9e3779b97f4a7c15ull;
	r->hash ^= r->hash >> 29;
}

static void take_event(struct decoded *r, const struct trace_event *ev)
{
	uint64_t ip = ev->ip;
	uint32_t i;

	mix(r, ev->type | ev->flags << 8 | ev->error << 16 | (uint64_t)ev->ninsn << 32);
	mix(r, ev->ip);
	mix(r, ev->type == TRACE_RUN ? ev->block->ip : ev->value);
	mix(r, ev->to);
	mix(r, ev->offset);
	mix(r, ev->time);
	mix(r, ev->cycles);
	r->time_back |= ev->time < r->time;
	r->time = ev->time;
	if (ev->type == TRACE_ERROR && !r->errors++)
		r->bad = *ev;
	if (ev->type == TRACE_GAP && ev->error != TRACE_GAP_OVERFLOW && !r->gaps++)
		r->bad = *ev;
	r->overflows += ev->type == TRACE_GAP && ev->error == TRACE_GAP_OVERFLOW;
	if (ev->type == TRACE_RUN)
		for (i = 0; i < ev->ninsn; i++) {
			add_ip(r, ip);
			ip += ev->block->len[i];
		}
}

static void decode(struct decoded *r, const struct synth *s, struct pieces cut)
{
	struct pt_decoder_config config = {
		.code = synth_code,
		.code_ctx = (void *)s,
		.tsc_ratio_den = pt_unit_default_caps[PT_CAP_15_EAX],
		.tsc_ratio_num = pt_unit_default_caps[PT_CAP_15_EBX],
		.mtc_freq = (s->config.ctl & RTIT_CTL_MTCFREQ_MASK) >> RTIT_CTL_MTCFREQ_SHIFT,
		.no_compression = s->config.ctl & RTIT_CTL_DISRETC,
	};
	struct trace_event ev[256];
	struct pt_decoder *d = pt_decoder_new(&config);
	size_t at, len;
	uint8_t *copy;
	int i, n;

	assert_non_null(d);
	memset(r, 0, sizeof(*r));
	for (at = 0; at <= s->trace_len; at += len) {
		len = s->trace_len - at < cut.bytes ? s->trace_len - at : cut.bytes;
		/* Exactly len bytes, gone when next() has said 0. */
		copy = malloc(len + !len);
		memcpy(copy, s->trace + at, len);
		if (len)
			assert_int_equal(pt_decoder_feed(d, copy, len), 0);
		else
			pt_decoder_finish(d);
		while ((n = pt_decoder_next(d, ev, cut.events)) > 0)
			for (i = 0; i < n; i++)
				take_event(r, &ev[i]);
		assert_int_equal(n, 0);
		free(copy);
		if (!len)
			break;
	}
	pt_decoder_free(d);
}

static void compare(const struct synth *s, const struct decoded *r)
{
	size_t i;

	for (i = 0; i < r->n && i < s->nip; i++)
		if (r->ip[i] != s->ip[i])
			break;
	if (i == s->nip && i == r->n && !r->errors && !r->gaps && !r->time_back)
		return;
	print_error("seed %#llx: %u errors, %u gaps, first %s at offset %#llx ip %#llx; "
		    "address %zu of %zu (%zu decoded): %#llx, not %#llx%s\n",
		    (unsigned long long)s->config.seed, r->errors, r->gaps,
		    trace_gap_text(r->bad.error), (unsigned long long)r->bad.offset,
		    (unsigned long long)r->bad.ip, i, s->nip, r->n,
		    i < r->n ? (unsigned long long)r->ip[i] : 0,
		    i < s->nip ? (unsigned long long)s->ip[i] : 0,
		    r->time_back ? "; time goes back" : "");
	fail();
}

static void same_in_pieces(const struct synth *s, const struct decoded *r)
{
	struct decoded other;
	size_t i;

	for (i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		decode(&other, s, cuts[i]);
		if (other.hash != r->hash)
			fail_msg("seed %#llx: other events in pieces of %zu bytes",
				 (unsigned long long)s->config.seed, cuts[i].bytes);
		free(other.ip);
	}
}

static void round_trip(const struct synth_config *c)
{
	struct synth s;
	struct decoded r;

	assert_int_equal(synth_make(&s, c), 0);
	decode(&r, &s, whole);
	compare(&s, &r);
	same_in_pieces(&s, &r);
	free(r.ip);
	synth_free(&s);
}

static void plain(void **state)
{
	struct synth_config c;
	unsigned long i;

	for (i = first_seed; i < first_seed + seeds; i++) {
		c = (struct synth_config){.seed = 0x10000000 + i};
		synth_randomise(&c, false, false);
		round_trip(&c);
	}
}

static void timing(void **state)
{
	struct synth_config c;
	unsigned long i;

	for (i = first_seed; i < first_seed + seeds; i++) {
		c = (struct synth_config){.seed = 0x20000000 + i};
		synth_randomise(&c, true, false);
		round_trip(&c);
	}
}

static void filters(void **state)
{
	struct synth_config c;
	unsigned long i;

	for (i = first_seed; i < first_seed + seeds; i++) {
		c = (struct synth_config){.seed = 0x30000000 + i};
		synth_randomise(&c, i & 1, true);
		round_trip(&c);
	}
}

/* Is r->ip a part of s->ip with stretches left out? */
static bool is_subsequence(const struct synth *s, const struct decoded *r)
{
	size_t i, k = 0;

	for (i = 0; i < r->n; i++, k++) {
		while (k < s->nip && s->ip[k] != r->ip[i])
			k++;
		if (k == s->nip)
			return false;
	}
	return true;
}

static void overflows(void **state)
{
	unsigned long i, told = 0, lossy = 0;
	struct synth_config c;
	struct decoded r;
	struct synth s;

	for (i = first_seed; i < first_seed + seeds; i++) {
		c = (struct synth_config){.seed = 0x40000000 + i};
		synth_randomise(&c, i & 1, i % 3 == 0);
		c.noverflows = 1 + i % 50;
		assert_int_equal(synth_make(&s, &c), 0);
		decode(&r, &s, whole);
		if (r.errors || r.gaps || !is_subsequence(&s, &r) ||
		    (!s.lossy && r.n != s.nip))
			fail_msg("seed %#llx: %u errors, %u gaps, %zu of %zu addresses; %s at "
				 "offset %#llx", (unsigned long long)c.seed, r.errors, r.gaps,
				 r.n, s.nip, trace_gap_text(r.bad.error),
				 (unsigned long long)r.bad.offset);
		same_in_pieces(&s, &r);
		told += r.overflows;
		lossy += s.lossy;
		free(r.ip);
		synth_free(&s);
	}
	print_message("%lu overflows told, %lu traces with loss\n", told, lossy);
	assert_true(!seeds || (told && lossy));
}

/* Every byte flipped in turn: it ends, and says so where the packets are wrong. */
static void damage(void **state)
{
	struct synth_config c = {.seed = 0x50000000 + first_seed, .nsteps = 150};
	struct decoded r;
	struct synth s;
	size_t i;

	synth_randomise(&c, true, false);
	assert_int_equal(synth_make(&s, &c), 0);
	for (i = 0; i < s.trace_len && i < 1500; i++) {
		s.trace[i] ^= 1u << i % 8;
		decode(&r, &s, whole);
		if (i % 37 == 0)
			same_in_pieces(&s, &r);
		assert_true(r.n <= 100 * s.nip + 10000);
		free(r.ip);
		s.trace[i] ^= 1u << i % 8;
	}
	synth_free(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain), cmocka_unit_test(timing), cmocka_unit_test(filters),
		cmocka_unit_test(overflows), cmocka_unit_test(damage),
	};

	if (argc > 1)
		seeds = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		first_seed = strtoul(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
