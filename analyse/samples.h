/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of operations (Arm SPE), grouped: by function, by operation, by data
 * source, by latency, by data address.
 */
#ifndef ANALYSE_SAMPLES_H
#define ANALYSE_SAMPLES_H

#include "../decode/spe/spe_decoder.h"
#include "analysis.h"

enum samples_group {
	SAMPLES_FUNCTION,	/* key: image_symbol.id */
	SAMPLES_OPERATION,	/* key: class << 8 | payload of the Operation Type packet */
	SAMPLES_SOURCE,		/* loads with a data source; key: its raw value */
	SAMPLES_LATENCY,	/* with a total latency; key: cycles rounded down to 2^n */
	SAMPLES_ADDRESS,	/* with a data address; key: its 64-byte line */
	SAMPLES_GROUPS
};
#define SAMPLES_LINE	64	/* bytes */

struct samples_row {
	uint64_t	key;
	const char	*name, *image;	/* FUNCTION; name NULL: no symbol */
	uint64_t	address;	/* FUNCTION: that its file has it at; 0: not known */
	uint64_t	samples;
	uint64_t	loads, stores, branches;
	uint64_t	latency;	/* sum of total latencies, cycles */
	uint64_t	timed;		/* samples that had one */
	uint64_t	l1_misses, llc_misses, tlb_walks, mispredicted;
};

struct samples;
/* NULL: no memory. */
struct samples *samples_new(void);
void samples_free(struct samples *s);
/* symbol names instructions at this moment of the stream. 0 or -ENOMEM. */
int samples_feed(struct samples *s, const struct spe_event *ev, int n,
		 analysis_symbol_fn symbol, void *ctx);
/*
 * Rows of a group, most samples first (LATENCY: by cycles); how many, -ENOMEM.
 * They live as long as s, the array until the next call.
 */
long samples_rows(struct samples *s, enum samples_group group,
		  const struct samples_row *const **rows);
uint64_t samples_total(const struct samples *s);

/* Counts gaps, errors and samples into a stream's summary. */
void summary_feed_samples(struct summary *sum, const struct spe_event *ev, int n);

#endif
