/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs through the unit and libipt's decoders: same addresses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "synth.h"
#include "ipt.h"

static unsigned int seeds = 1000;

static void compare(const struct synth *s, const struct ipt_result *r, const char *who)
{
	size_t i;

	for (i = 0; i < r->n && i < s->nip; i++)
		if (r->ip[i] != s->ip[i])
			break;
	if (i == s->nip && i == r->n && !r->error)
		return;
	print_error(
		"seed %#llx, %s: %s at offset %#llx; address %zu of %zu (%zu decoded): "
		"%#llx, not %#llx\n",
		(unsigned long long)s->config.seed, who, ipt_error(r->error),
		(unsigned long long)r->offset, i, s->nip, r->n,
		i < r->n ? (unsigned long long)r->ip[i] : 0,
		i < s->nip ? (unsigned long long)s->ip[i] : 0);
	fail();
}

static void round_trip(const struct synth_config *c)
{
	struct synth s;
	struct ipt_result r;

	assert_int_equal(synth_make(&s, c), 0);
	ipt_insns(&r, &s, s.nip + 16);
	compare(&s, &r, "instructions");
	if (!(c->ctl & RTIT_CTL_CYCEN) && r.time_back) {
		print_error("seed %#llx: time goes back\n", (unsigned long long)c->seed);
		fail();
	}
	ipt_free(&r);
	ipt_blocks(&r, &s, s.nip + 16);
	compare(&s, &r, "blocks");
	ipt_free(&r);
	synth_free(&s);
}

static void plain(void **state)
{
	struct synth_config c;
	unsigned int i;

	for (i = 0; i < seeds; i++) {
		c = (struct synth_config){.seed = i};
		synth_randomise(&c, false, false);
		round_trip(&c);
	}
}

static void timing(void **state)
{
	struct synth_config c;
	unsigned int i;

	for (i = 0; i < seeds; i++) {
		c = (struct synth_config){.seed = 0x1000000 + i};
		synth_randomise(&c, true, false);
		round_trip(&c);
	}
}

static void filters(void **state)
{
	struct synth_config c;
	unsigned int i;

	for (i = 0; i < seeds; i++) {
		c = (struct synth_config){.seed = 0x2000000 + i};
		synth_randomise(&c, i & 1, true);
		round_trip(&c);
	}
}

/* User and kernel code, CR3 filter, PIP. */
static void privileges(void **state)
{
	struct synth_config c;
	unsigned int i;

	for (i = 0; i < seeds; i++) {
		c = (struct synth_config){.seed = 0x8000000 + i};
		synth_randomise(&c, i & 1, i & 2);
		synth_privileges(&c);
		round_trip(&c);
	}
}

/* Long runs, PSB each 2K, a handler at each 4K. */
static void long_runs(void **state)
{
	struct synth_config c;
	unsigned int i;

	for (i = 0; i < seeds / 50; i++) {
		c = (struct synth_config){.seed = 0x3000000 + i};
		synth_randomise(&c, i & 1, i & 2);
		c.nsteps = 10000;
		round_trip(&c);
	}
}

static void same_trace(const struct synth_config *x, const struct synth_config *y)
{
	struct synth a, b;

	assert_int_equal(synth_make(&a, x), 0);
	assert_int_equal(synth_make(&b, y), 0);
	if (a.trace_len != b.trace_len || memcmp(a.trace, b.trace, a.trace_len)) {
		print_error("seed %#llx: %zu and %zu bytes differ\n",
			    (unsigned long long)x->seed, a.trace_len, b.trace_len);
		fail();
	}
	synth_free(&a);
	synth_free(&b);
}

/* Where the bytes go changes none of them. */
static void layouts(void **state)
{
	struct synth_config c, other;
	unsigned int i;

	for (i = 0; i < seeds / 50; i++) {
		c = (struct synth_config){.seed = 0x4000000 + i};
		synth_randomise(&c, i & 1, i & 2);
		c.nsteps = 6000;
		c.interrupts = false;
		other = c;
		other.region_order = 8;
		same_trace(&c, &other);
	}
}

/* Nor does it matter how the runs are cut, or which path takes them. */
static void feedings(void **state)
{
	struct synth_config c, other;
	unsigned int i;

	for (i = 0; i < seeds; i++) {
		c = (struct synth_config){.seed = 0x7000000 + i};
		synth_randomise(&c, i & 1, i & 2);
		/* PSBs and interrupts come between runs: none of them here. */
		c.ctl |= 15ull << RTIT_CTL_PSBFREQ_SHIFT;
		c.interrupts = false;
		other = c;
		other.feeding = SYNTH_OUT_OF_LINE;
		same_trace(&c, &other);
		other.feeding = SYNTH_SINGLY;
		same_trace(&c, &other);
	}
}

/*
 * With losses: what decodes was executed, in that order, without an error, and
 * each loss is told.  Where no packet was lost there is no OVF.
 */
static void lossy_trip(const struct synth_config *c, unsigned int *overflows,
		       size_t *decoded)
{
	struct synth s;
	struct ipt_result r;
	size_t i, k = 0;

	assert_int_equal(synth_make(&s, c), 0);
	ipt_insns(&r, &s, s.nip + 16);
	for (i = 0; i < s.nip && k < r.n; i++)
		k += r.ip[k] == s.ip[i];
	if (k < r.n || r.error) {
		print_error("seed %#llx: %s at %#llx; %zu of %zu in order\n",
			    (unsigned long long)c->seed, ipt_error(r.error),
			    (unsigned long long)r.offset, k, r.n);
		fail();
	}
	/* libipt gives no event for an OVF that is the last packet. */
	if (!r.overflows && memcmp(s.trace + s.trace_len - 2, "\x02\xf3", 2))
		assert_int_equal(r.n, s.nip);
	*overflows += r.overflows;
	*decoded += r.n;
	ipt_free(&r);
	synth_free(&s);
}

static void overflows(void **state)
{
	unsigned int i, n = 0;
	size_t decoded = 0;
	struct synth_config c;

	for (i = 0; i < seeds; i++) {
		c = (struct synth_config){.seed = 0x5000000 + i};
		synth_randomise(&c, i & 1, i & 2);
		if (i & 4)
			c.noverflows = 20;
		else
			c.fifo = 12 + i % 40;
		lossy_trip(&c, &n, &decoded);
	}
	assert_in_range(n, seeds, UINT32_MAX);
	assert_in_range(decoded, 50 * seeds, SIZE_MAX);
}

/*
 * libipt's time at the end: exact with CYC of each packet; to one MTC period
 * with MTC alone.
 */
static void time_told(void **state)
{
	static const uint64_t ctl = RTIT_CTL_USER | RTIT_CTL_BRANCHEN | RTIT_CTL_TSCEN;
	struct synth_config c;
	struct ipt_result r;
	struct synth s;
	uint64_t late;
	unsigned int i;

	for (i = 0; i < seeds / 10; i++) {
		c = (struct synth_config){
			.seed = 0x6000000 + i, .syscalls = true, .tsc_jumps = 20};
		c.ctl = ctl | (i & 1 ? RTIT_CTL_CYCEN : RTIT_CTL_MTCEN);
		assert_int_equal(synth_make(&s, &c), 0);
		ipt_insns(&r, &s, s.nip + 16);
		compare(&s, &r, "instructions");
		late = i & 1 ? 0 : 80;
		assert_in_range(r.time, s.tsc - late, s.tsc);
		ipt_free(&r);
		synth_free(&s);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(timing),
		cmocka_unit_test(filters),
		cmocka_unit_test(privileges),
		cmocka_unit_test(long_runs),
		cmocka_unit_test(layouts),
		cmocka_unit_test(feedings),
		cmocka_unit_test(overflows),
		cmocka_unit_test(time_told),
	};

	if (argc > 1)
		seeds = strtoul(argv[1], NULL, 0);
	return cmocka_run_group_tests_name("pt_flow", tests, NULL, NULL);
}
