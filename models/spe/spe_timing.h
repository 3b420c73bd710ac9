/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an emulator cannot know: caches, translation, branch prediction, cycles.
 * A small machine that is always the same: doc/spe-model.md has its figures.
 * Every unit has one to itself; nothing is shared between CPUs.
 */
#ifndef MODELS_SPE_TIMING_H
#define MODELS_SPE_TIMING_H

#include "spe_unit.h"

/* Cycles */
#define SPE_CYC_ISSUE		2	/* until any operation is issued */
#define SPE_CYC_OTHER		1
#define SPE_CYC_SIMD		3
#define SPE_CYC_BRANCH		1
#define SPE_CYC_MISPREDICT	12	/* on top */
#define SPE_CYC_L1D		4
#define SPE_CYC_L2		11
#define SPE_CYC_LLC		40
#define SPE_CYC_DRAM		180
#define SPE_CYC_STORE		1	/* into the store buffer, wherever the line is */
#define SPE_CYC_TLB2		5	/* second level of the TLB */
#define SPE_CYC_WALK		90

/* log2 */
#define SPE_LINE_SHIFT		6
#define SPE_PAGE_SHIFT		12

struct spe_cache {		/* set-associative, least recently used out */
	uint64_t *tags;		/* sets * ways; a set's first is its latest. 0: empty */
	uint32_t sets, ways;	/* sets: a power of two */
};

#define SPE_COND_ENTRIES	4096	/* two-bit counters, by address */
#define SPE_IND_ENTRIES		1024	/* last targets, by address */
#define SPE_RETURNS		16

struct spe_timing {
	struct spe_cache l1, l2, llc, tlb1, tlb2;
	uint8_t cond[SPE_COND_ENTRIES];
	uint64_t ind[SPE_IND_ENTRIES];
	uint64_t returns[SPE_RETURNS];
	uint32_t top;
};

/* 0 or -ENOMEM. */
int spe_timing_init(struct spe_timing *t);
void spe_timing_fini(struct spe_timing *t);
void spe_timing_access(struct spe_timing *t, struct spe_access *a, uint64_t addr,
		       uint32_t size, bool store);
bool spe_timing_branch(struct spe_timing *t, uint64_t pc, unsigned int flags,
		       uint64_t target);
/* Cycles of an operation: total, and of these until issue. */
void spe_timing_cycles(const struct spe_op *op, uint32_t *total, uint32_t *issue);

#endif
