/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs through the unit and libipt's decoders: same addresses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "synth.h"
#include "ipt.h"

static unsigned int seeds = 2000;

static void compare(const struct synth *s, const struct ipt_result *r, const char *who)
{
	size_t i;

	for (i = 0; i < r->n && i < s->nip; i++)
		if (r->ip[i] != s->ip[i])
			break;
	if (i == s->nip && i == r->n && !r->error)
		return;
	print_error("seed %#llx, %s: %s at offset %#llx; address %zu of %zu (%zu decoded): "
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(timing),
		cmocka_unit_test(filters),
	};

	if (argc > 1)
		seeds = strtoul(argv[1], NULL, 0);
	return cmocka_run_group_tests_name("pt_flow", tests, NULL, NULL);
}
