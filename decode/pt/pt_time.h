/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time of a PT stream, in TSC ticks, from TSC, TMA, MTC, CYC and CBR packets
 * (SDM 33.8.3).  It never goes back; where packets do not determine it, it
 * stands still and is said to be unknown.
 */
#ifndef DECODE_PT_TIME_H
#define DECODE_PT_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct pt_time_config {
	uint32_t	ratio_den, ratio_num;	/* TSC = CTC * num / den; 0: no MTC */
	uint32_t	mtc_freq;		/* an MTC each 1 << mtc_freq ticks of CTC */
	uint32_t	nominal_ratio;		/* core:bus at TSC frequency; 0: calibrate */
};

struct pt_time {
	struct pt_time_config config;
	uint64_t	time;		/* now, or the last that was known */
	bool		known;
	bool		estimated;	/* by MTC or CYC, not a TSC packet's */
	uint64_t	cycles;		/* counted cycles */

	uint64_t	base;		/* time of the last TSC or MTC ... */
	uint64_t	base_cycles;	/* ... and the cycles since */
	bool		have_base;
	uint64_t	tma_base;	/* TSC where TMA's MTC period began */
	uint64_t	ctc;		/* ticks of CTC since then */
	uint8_t		mtc, mtc_mask;	/* last MTC; its bits that are known */
	bool		have_tma, fresh_tma, have_mtc;
	uint32_t	cbr;
	uint64_t	cal_time, cal_cycles;	/* ticks took cycles, between two MTCs */
};

void pt_time_init(struct pt_time *t, const struct pt_time_config *config);
void pt_time_tsc(struct pt_time *t, uint64_t tsc);
/* fast: TSC ticks since the CTC tick. */
void pt_time_tma(struct pt_time *t, uint32_t ctc, uint32_t fast);
void pt_time_mtc(struct pt_time *t, uint8_t mtc);
/* counted: tracing was on, the cycles belong to traced code. */
void pt_time_cyc(struct pt_time *t, uint64_t cycles, bool counted);
void pt_time_cbr(struct pt_time *t, uint8_t ratio);
/* Packets were lost: unknown until the next TSC. */
void pt_time_lost(struct pt_time *t);

#endif
