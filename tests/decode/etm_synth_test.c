/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random A64 programs through the ETM, funnel, replicator and ETR, and back through
 * the decoder: the same addresses, however the bytes are cut.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "decode/etm/etm_frames.h"
#include "decode/etm/etm_packet.h"
#include "tests/models/a64_synth.h"

static unsigned int seeds = 150;

#define SINK_SIZE (1u << 20)

struct result {
	uint64_t *ip;
	size_t n, room;
	struct trace_event *ev;
	size_t nev, ev_room;
	unsigned int gaps[TRACE_GAP_MAX];
	unsigned int errors, exceptions, time_back;
	uint64_t time, skipped, wrong_to;
};

static void add_run(struct result *r, const struct trace_event *ev)
{
	uint32_t i;

	for (i = 0; i < ev->ninsn; i++) {
		if (r->n == r->room) {
			r->room = r->room ? 2 * r->room : 1024;
			r->ip = realloc(r->ip, r->room * sizeof(*r->ip));
		}
		r->ip[r->n++] = ev->ip + 4 * (uint64_t)i;
	}
}

static void add_event(struct result *r, const struct trace_event *ev)
{
	static uint64_t to;

	if (r->nev == r->ev_room) {
		r->ev_room = r->ev_room ? 2 * r->ev_room : 1024;
		r->ev = realloc(r->ev, r->ev_room * sizeof(*r->ev));
	}
	r->ev[r->nev++] = *ev;
	if (ev->flags & TRACE_F_TIME) {
		r->time_back += ev->time < r->time;
		r->time = ev->time;
	}
	switch (ev->type) {
	case TRACE_RUN:
		assert_int_equal(ev->block->ip, ev->ip);
		assert_int_equal(ev->block->end, ev->ip + 4 * ev->ninsn);
		if (!(ev->flags & TRACE_F_ENTRY))
			r->wrong_to += to && to != ev->ip;
		to = ev->to;
		add_run(r, ev);
		break;
	case TRACE_GAP:
		r->gaps[ev->error]++;
		r->skipped += ev->value;
		break;
	case TRACE_ERROR:
		r->errors++;
		r->gaps[ev->error]++;
		break;
	case TRACE_ASYNC:
		r->exceptions++;
		break;
	}
}

static void decode(struct result *r, struct a64_synth *s, const uint8_t *bytes, size_t n,
		   bool formatted, size_t chunk)
{
	const struct etm_decoder_config config = {
		.source = s->source,
		.code = a64_code,
		.code_ctx = s,
		.formatted = formatted,
	};
	struct etm_decoder *d = etm_decoder_new(&config);
	struct trace_event ev[64];
	size_t at, k;
	int got, i;

	memset(r, 0, sizeof(*r));
	assert_non_null(d);
	for (at = 0;; at += k) {
		k = n - at < chunk ? n - at : chunk;
		if (k)
			assert_int_equal(etm_decoder_feed(d, bytes + at, k), 0);
		else
			etm_decoder_finish(d);
		while ((got = etm_decoder_next(d, ev, 64)) > 0)
			for (i = 0; i < got; i++)
				add_event(r, &ev[i]);
		assert_int_equal(got, 0);
		if (!k)
			break;
	}
	/* Events' blocks die with the decoder: what they say is kept. */
	for (at = 0; at < r->nev; at++)
		if (r->ev[at].type == TRACE_RUN)
			r->ev[at].value = r->ev[at].block->kind;
	etm_decoder_free(d);
}

static void result_free(struct result *r)
{
	free(r->ip);
	free(r->ev);
}

static bool same_events(const struct result *a, const struct result *b)
{
	size_t i;

	if (a->nev != b->nev)
		return false;
	for (i = 0; i < a->nev; i++)
		if (memcmp(&a->ev[i], &b->ev[i], sizeof(a->ev[i])))
			return false;
	return true;
}

static void print_packet(void *ctx, const struct etm_packet *p)
{
	fprintf(stderr, "%6llu %s\n", (unsigned long long)p->offset, p->text);
}

/* What the unit wrote, for whoever looks for the fault: ETM_DUMP=1. */
static void dump(const struct a64_synth *s)
{
	struct etm_packets *p = etm_packets_new(&s->source, false, 0, print_packet, NULL);
	size_t i;

	etm_packets_feed(p, s->raw, s->raw_len);
	etm_packets_free(p);
	for (i = 0; i < s->ninsns; i++)
		fprintf(stderr, "%llx: %08x\n", (unsigned long long)s->code_base + 4 * i,
			s->code[i]);
	for (i = 0; i < s->nip; i++)
		fprintf(stderr, "ip %llx\n", (unsigned long long)s->ip[i]);
}

static void compare(const struct a64_synth *s, const struct result *r, const char *how)
{
	size_t i;

	for (i = 0; i < r->n && i < s->nip; i++)
		if (r->ip[i] != s->ip[i])
			break;
	if (i == s->nip && i == r->n && !r->errors && !r->gaps[TRACE_GAP_NO_CODE] &&
	    !r->wrong_to)
		return;
	print_error("seed %#llx, %s: address %zu of %zu (%zu decoded): %#llx, not %#llx; "
		    "%u errors, %llu wrong targets\n",
		    (unsigned long long)s->config.seed, how, i, s->nip, r->n,
		    i < r->n ? (unsigned long long)r->ip[i] : 0,
		    i < s->nip ? (unsigned long long)s->ip[i] : 0, r->errors,
		    (unsigned long long)r->wrong_to);
	if (getenv("ETM_DUMP"))
		dump(s);
	fail();
}

/* The same, but that the last P0 elements may still be cancelled: they did not happen. */
static void speculative(struct a64_synth *s, const struct result *all)
{
	struct result r;

	s->source.idr[8] = 3;
	decode(&r, s, s->raw, s->raw_len, false, 4096);
	s->source.idr[8] = 0;
	assert_in_range(r.n, 0, all->n);
	assert_memory_equal(r.ip, all->ip, r.n * sizeof(*r.ip));
	assert_int_equal(r.errors, 0);
	assert_in_range(all->nev - r.nev, 0, 20);
	result_free(&r);
}

static void round_trip(const struct a64_config *c)
{
	static uint8_t bytes[SINK_SIZE];
	struct a64_synth s;
	struct a64_sink k;
	struct result one, other;
	size_t n;

	assert_int_equal(a64_sink_init(&k, SINK_SIZE, TMC_MODE_CB), 0);
	assert_int_equal(a64_make(&s, c, 1, &k), 0);
	n = a64_sink_bytes(&k, bytes);
	decode(&one, &s, s.raw, s.raw_len, false, 4096);
	compare(&s, &one, "raw");
	decode(&other, &s, s.raw, s.raw_len, false, 1);
	if (!same_events(&one, &other)) {
		compare(&s, &other, "raw, bytewise");
		print_error("seed %#llx: events differ by chunk\n",
			    (unsigned long long)c->seed);
		fail();
	}
	result_free(&other);
	decode(&other, &s, bytes, n, true, 17);
	compare(&s, &other, "formatted");
	assert_int_equal(one.nev, other.nev);
	assert_int_equal(one.time_back, 0);
	speculative(&s, &one);
	if (c->configr & TRCCONFIGR_TS)
		assert_in_range(one.time, 0, s.clock);
	result_free(&one);
	result_free(&other);
	a64_free(&s, 1);
	a64_sink_free(&k);
}

static void rounds(uint64_t base, bool timing, bool filters)
{
	struct a64_config c;
	unsigned int i;

	for (i = 0; i < seeds; i++) {
		c = (struct a64_config){.seed = base + i};
		a64_randomise(&c, timing, filters);
		round_trip(&c);
	}
}

static void plain(void **state)
{
	rounds(0, false, false);
}

static void timing(void **state)
{
	rounds(0x1000000, true, false);
}

static void filters(void **state)
{
	rounds(0x2000000, false, true);
}

static void all(void **state)
{
	rounds(0x3000000, true, true);
}

static void same_trace(const struct a64_config *x, const struct a64_config *y)
{
	struct a64_synth a, b;

	assert_int_equal(a64_make(&a, x, 1, NULL), 0);
	assert_int_equal(a64_make(&b, y, 1, NULL), 0);
	if (a.raw_len != b.raw_len || memcmp(a.raw, b.raw, a.raw_len)) {
		print_error("seed %#llx: %zu and %zu bytes differ\n",
			    (unsigned long long)x->seed, a.raw_len, b.raw_len);
		fail();
	}
	a64_free(&a, 1);
	a64_free(&b, 1);
}

/* It does not matter how the runs are cut, or which path takes them. */
static void feedings(void **state)
{
	struct a64_config c, other;
	unsigned int i;

	for (i = 0; i < seeds; i++) {
		c = (struct a64_config){.seed = 0x4000000 + i};
		a64_randomise(&c, i & 1, i & 2);
		/* Where atoms are flushed is up to the path. */
		c.syncpr = 0;
		other = c;
		other.feeding = A64_OUT_OF_LINE;
		same_trace(&c, &other);
		other.feeding = A64_SINGLY;
		same_trace(&c, &other);
	}
}

/* With losses: what decodes was executed, in that order; each loss is told. */
static void in_order(const struct a64_synth *s, const struct result *r)
{
	size_t j, k;

	for (j = k = 0; j < s->nip && k < r->n; j++)
		k += r->ip[k] == s->ip[j];
	if (k == r->n && !r->errors)
		return;
	print_error("seed %#llx: %u errors; %zu of %zu in order\n",
		    (unsigned long long)s->config.seed, r->errors, k, r->n);
	fail();
}

static void overflows(void **state)
{
	unsigned int i, told = 0;
	struct a64_config c;
	struct a64_synth s;
	struct result r;
	size_t decoded = 0;

	for (i = 0; i < seeds; i++) {
		c = (struct a64_config){.seed = 0x5000000 + i};
		a64_randomise(&c, i & 1, i & 2);
		c.noverflows = 20;
		assert_int_equal(a64_make(&s, &c, 1, NULL), 0);
		decode(&r, &s, s.raw, s.raw_len, false, 4096);
		in_order(&s, &r);
		told += r.gaps[TRACE_GAP_OVERFLOW];
		decoded += r.n;
		result_free(&r);
		a64_free(&s, 1);
	}
	assert_in_range(told, seeds / 2, UINT32_MAX);
	assert_in_range(decoded, 50 * seeds, SIZE_MAX);
}

/* Many sources in one sink: each comes out whole, and apart from the others. */
static void many_sources(void **state)
{
	enum { N = 60 };
	static uint8_t bytes[8 * SINK_SIZE];
	static struct a64_synth s[N];
	struct a64_config c[N];
	struct a64_sink k;
	struct result r;
	unsigned int i, j;
	size_t n;

	for (j = 0; j < 4; j++) {
		for (i = 0; i < N; i++) {
			c[i] = (struct a64_config){.seed = 0x6000000 + j * N + i};
			a64_randomise(&c[i], j & 1, j & 2);
			c[i].id = CS_ID_FIRST + i + (j == 3 ? CS_ID_LAST - N : 0);
		}
		assert_int_equal(a64_sink_init(&k, sizeof(bytes), TMC_MODE_SWF2), 0);
		assert_int_equal(a64_make(s, c, N, &k), 0);
		n = a64_sink_bytes(&k, bytes);
		for (i = 0; i < N; i++) {
			decode(&r, &s[i], bytes, n, true, 4096);
			compare(&s[i], &r, "one of many");
			result_free(&r);
		}
		a64_free(s, N);
		a64_sink_free(&k);
	}
}

/*
 * How many bytes of the source precede the first A-sync of a sink's buffer; those
 * before the first ID in it are nobody's.
 */
static size_t before_sync(const struct a64_synth *s, const uint8_t *frames, size_t n)
{
	static const uint8_t sync[ETM4_ASYNC_LENGTH] = {[ETM4_ASYNC_LENGTH - 1] = ETM4_EXT_ASYNC};
	uint8_t *own = malloc(n), id = s->source.traceidr & TRCTRACEIDR_MASK;
	struct etm_segment seg[ETM_FRAME_SEGMENTS];
	struct etm_frames f;
	size_t at, k, got, i, have = 0;
	const uint8_t *found;

	assert_non_null(own);
	etm_frames_init(&f, 0);
	for (at = 0; at < n; at += k) {
		k = n - at;
		got = etm_frames_take(&f, id, frames + at, &k, seg);
		for (i = 0; i < got; i++) {
			memcpy(own + have, seg[i].bytes, seg[i].n);
			have += seg[i].n;
		}
	}
	found = memmem(own, have, sync, sizeof(sync));
	assert_non_null(found);
	at = (size_t)(found - own);
	free(own);
	return at;
}

/* The circular buffer went round: from the oldest sync point on, all of it. */
static void wrapped(void **state)
{
	static uint8_t bytes[16384];
	struct a64_config c;
	struct a64_synth s;
	struct a64_sink k;
	struct result r;
	unsigned int i;
	size_t n, skip;

	for (i = 0; i < seeds / 10 + 1; i++) {
		c = (struct a64_config){.seed = 0x7000000 + i};
		a64_randomise(&c, i & 1, false);
		c.syncpr = 10;
		c.nsteps = 40000;
		c.nblocks = 60;
		assert_int_equal(a64_sink_init(&k, sizeof(bytes), TMC_MODE_CB), 0);
		assert_int_equal(a64_make(&s, &c, 1, &k), 0);
		n = a64_sink_bytes(&k, bytes);
		if (!k.fulls) {
			assert_in_range(n, 0, sizeof(bytes) - 1);
			goto next;
		}
		assert_int_equal(n, sizeof(bytes));
		decode(&r, &s, bytes, n, true, 4096);
		skip = s.nip - r.n;
		assert_in_range(r.n, 1000, s.nip);
		assert_memory_equal(r.ip, s.ip + skip, r.n * sizeof(*r.ip));
		assert_int_equal(r.errors, 0);
		assert_int_equal(r.skipped, before_sync(&s, bytes, n));
		result_free(&r);
next:
		a64_free(&s, 1);
		a64_sink_free(&k);
	}
}

/* A FIFO that nobody empties: the sources overflow, and say so. */
static void sink_full(void **state)
{
	static uint8_t bytes[16384];
	struct a64_config c = {.seed = 0x8000000, .nsteps = 60000, .configr = 0,
			       .not_levels = 2};
	struct a64_synth s;
	struct a64_sink k;
	struct result r;
	size_t n;

	assert_int_equal(a64_sink_init(&k, sizeof(bytes), TMC_MODE_SWF2), 0);
	assert_int_equal(a64_make(&s, &c, 1, &k), 0);
	assert_true(s.lossy);
	assert_in_range(k.refused, 1, UINT64_MAX);
	n = a64_sink_bytes(&k, bytes);
	decode(&r, &s, bytes, n, true, 4096);
	assert_in_range(r.n, 1000, s.nip - 1);
	in_order(&s, &r);
	assert_in_range(r.gaps[TRACE_GAP_OVERFLOW], 1, UINT32_MAX);
	result_free(&r);
	a64_free(&s, 1);
	a64_sink_free(&k);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(timing),
		cmocka_unit_test(filters),
		cmocka_unit_test(all),
		cmocka_unit_test(feedings),
		cmocka_unit_test(overflows),
		cmocka_unit_test(many_sources),
		cmocka_unit_test(wrapped),
		cmocka_unit_test(sink_full),
	};

	if (argc > 1)
		seeds = strtoul(argv[1], NULL, 0);
	return cmocka_run_group_tests_name("etm_synth", tests, NULL, NULL);
}
