/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random A64 programs for round trips: code, one execution of it fed to an ETM
 * whose trace goes through a funnel and a replicator into an ETR, and the list of
 * executed addresses that a decoder must give back.  The list is kept from what
 * was executed and from the configuration alone.
 *
 * Everything follows from the seed: a failing seed is a test case.
 */
#ifndef TESTS_MODELS_A64_SYNTH_H
#define TESTS_MODELS_A64_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "decode/etm/etm_decoder.h"
#include "models/coresight/tmc_unit.h"

#define A64_MAX_RANGES 4

enum a64_feeding { A64_MIXED, A64_OUT_OF_LINE, A64_SINGLY };

struct a64_config {
	uint64_t seed;
	uint64_t base;			/* address of the code; 0: 0x400000 */
	uint32_t nblocks, nsteps;	/* 0: 40, 400 */
	uint8_t id;			/* trace ID; 0: 0x10 */
	uint32_t configr;		/* TRCCONFIGR */
	uint32_t syncpr;		/* TRCSYNCPR */
	uint32_t cc_threshold;
	uint32_t not_levels;		/* bit n: EL n is not traced */
	uint32_t nranges;
	struct {
		uint64_t a, b;		/* inclusive */
		bool exclude;
	} range[A64_MAX_RANGES];
	uint64_t start, stop;		/* points; 0: none (then both are) */
	uint32_t ntraps, nbreaks, ncuts, nbadrets, noverflows, clock_jumps; /* of 1000 */
	bool syscalls;
	bool privileges;		/* EL0, EL1, context IDs, ERET */
	enum a64_feeding feeding;
};

struct a64_synth {
	struct a64_config config;	/* defaults filled in */
	uint64_t code_base;
	uint32_t *code;
	size_t ninsns;
	uint64_t *ip;			/* executed and traced, in order */
	size_t nip, executed;
	uint8_t *raw;			/* the source's own bytes */
	size_t raw_len, raw_room;
	uint64_t clock;
	bool lossy;
	struct etm_source source;	/* for a decoder */
	uint32_t nexceptions;
	struct cs_sink to;
	void *priv;
};

/* What is behind the sources: funnel, replicator, ETR with memory of its own. */
struct a64_sink {
	struct cs_regs funnel_regs, replicator_regs, etr_regs;
	struct cs_funnel funnel;
	struct cs_replicator replicator;
	struct tmc_unit etr;
	uint8_t *dram;
	uint64_t size;
	uint64_t refused;		/* times that it had no room */
	uint32_t fulls;			/* times that FULL went high */
};

/* ETR of `size` bytes in `mode`.  0, -ENOMEM, -EIO. */
int a64_sink_init(struct a64_sink *k, uint64_t size, uint32_t mode);
void a64_sink_free(struct a64_sink *k);
/* Bytes in order of time: *first are those that are older than the wrap. */
size_t a64_sink_bytes(struct a64_sink *k, uint8_t *out);

void a64_randomise(struct a64_config *c, bool timing, bool filters);
/*
 * Makes n programs and runs them by turns into the sink (NULL: the bytes are only
 * kept raw).  0, -ENOMEM, or -EIO if a unit refused.
 */
int a64_make(struct a64_synth *s, const struct a64_config *c, unsigned int n,
	     struct a64_sink *sink);
void a64_free(struct a64_synth *s, unsigned int n);
/* trace_code_fn; ctx: struct a64_synth. */
size_t a64_code(void *ctx, uint64_t ip, uint8_t *buf, size_t len);

#endif
