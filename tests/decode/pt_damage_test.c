/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Good traces with one bit flipped, through ours and libipt's instruction
 * decoder: as far as both decode, they decode the same.  They need not stop at
 * the same place: libipt walks on from the last packet, takes bytes for
 * instructions that are none, and refuses packets with reserved bits set.
 *
 *	pt_damage_test [SEEDS [FIRST]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "decode/pt/pt_decoder.h"
#include "ipt.h"

#define BYTES	400

static unsigned long seeds = 8, first_seed;

struct tally {
	unsigned long	streams, ours, ipts;	/* streams; where an error was told */
};

/* Compares until our first error; 1 if there was one. */
static int compare(const struct synth *s, const struct ipt_result *ipt, size_t byte)
{
	struct pt_decoder_config config = {.code = synth_code, .code_ctx = (void *)s};
	struct pt_decoder *d = pt_decoder_new(&config);
	struct trace_event ev[64];
	int i, n, error = 0;
	size_t at = 0;
	uint64_t ip;
	uint32_t k;

	assert_non_null(d);
	pt_decoder_feed(d, s->trace, s->trace_len);
	pt_decoder_finish(d);
	while (!error && (n = pt_decoder_next(d, ev, 64)) > 0) {
		for (i = 0; i < n && !error; i++) {
			error = ev[i].type == TRACE_ERROR || ev[i].type == TRACE_GAP;
			ip = ev[i].ip;
			for (k = 0; ev[i].type == TRACE_RUN && k < ev[i].ninsn; k++) {
				if (at < ipt->n && ipt->ip[at] != ip)
					fail_msg("seed %#llx, byte %zu: address %zu is %#llx, "
						 "libipt's %#llx",
						 (unsigned long long)s->config.seed, byte, at,
						 (unsigned long long)ip,
						 (unsigned long long)ipt->ip[at]);
				at++;
				ip += ev[i].block->len[k];
			}
		}
	}
	pt_decoder_free(d);
	return error;
}

static void flip_bits(struct synth *s, struct tally *t)
{
	struct ipt_result ipt;
	uint8_t bit;
	size_t i;

	for (i = 0; i < s->trace_len && i < BYTES; i++) {
		bit = 1u << (i * 7 + s->config.seed) % 8;
		s->trace[i] ^= bit;
		ipt_insns(&ipt, s, s->nip + 5000);
		t->ours += compare(s, &ipt, i);
		t->ipts += ipt.error != 0;
		t->streams++;
		ipt_free(&ipt);
		s->trace[i] ^= bit;
	}
}

static void as_libipt(void **state)
{
	struct tally t = {0};
	struct synth_config c;
	struct synth s;
	unsigned long i;

	for (i = first_seed; i < first_seed + seeds; i++) {
		c = (struct synth_config){.seed = 0x70000000 + i, .nsteps = 100};
		synth_randomise(&c, i & 1, false);
		/* libipt is not told of it, and tries every return as compressed. */
		c.ctl &= ~RTIT_CTL_DISRETC;
		assert_int_equal(synth_make(&s, &c), 0);
		flip_bits(&s, &t);
		synth_free(&s);
	}
	print_message("%lu streams: we tell of %lu, libipt of %lu\n", t.streams, t.ours, t.ipts);
	assert_true(t.ours >= t.ipts && t.ours > t.streams / 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_libipt)};

	if (argc > 1)
		seeds = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		first_seed = strtoul(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
