/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time (33.8.3).  TSC and the core clock both advance one tick an instruction;
 * ART is TSC * EAX / EBX of CPUID leaf 15H.
 */
#include "pt_unit_priv.h"

#define MTC_MAX_LATE	16	/* periods: after a longer pause time is told anew */

__extension__ typedef unsigned __int128 u128;

static uint64_t to_art(const struct pt_unit *u, uint64_t tsc)
{
	return (u128)tsc * u->cap[PT_CAP_15_EAX] / u->cap[PT_CAP_15_EBX];
}

/* The first TSC at which ART is `art`. */
static uint64_t from_art(const struct pt_unit *u, uint64_t art)
{
	uint32_t den = u->cap[PT_CAP_15_EAX];

	return ((u128)art * u->cap[PT_CAP_15_EBX] + den - 1) / den;
}

static unsigned int mtc_freq(const struct pt_unit *u)
{
	return (u->ctl & RTIT_CTL_MTCFREQ_MASK) >> RTIT_CTL_MTCFREQ_SHIFT;
}

uint64_t pt_unit_tsc(const struct pt_unit *u)
{
	uint64_t own = u->tsc_base + u->insns, host;

	if (!u->host.clock)
		return own;
	host = u->host.clock(u->host.ctx);
	return host > own ? host : own;
}

/* The clock; with a host clock the unit's own never falls behind it. */
uint64_t pt_now(struct pt_unit *u)
{
	uint64_t tsc = pt_unit_tsc(u);

	u->tsc_base = tsc - u->insns;
	return tsc;
}

/* Cycle count before an eligible packet, from the threshold on (33.4.2.14). */
void pt_cyc(struct pt_unit *u, uint64_t stamp)
{
	uint64_t n = stamp - u->cyc_stamp;
	uint64_t bytes;
	unsigned int len = 1;

	/* A first pending branch may be older than the last count. */
	if ((int64_t)n <= 0 || n < u->cyc_threshold)
		return;
	u->cyc_stamp = stamp;
	bytes = PT_PKT_CYC | (n & 0x1f) << 3;
	for (n >>= 5; n && len < 8; n >>= 7) {
		/* Exp: bit 2 of the first byte, bit 0 of the others. */
		bytes |= (len == 1 ? 4ull : 1ull) << 8 * (len - 1);
		bytes |= (n & 0x7f) << 1 << 8 * len++;
	}
	pt_out_short(u, bytes, len);
}

/* TSC, and TMA that ties it to the MTCs (33.4.2.11, 33.4.2.13). */
void pt_time_sync(struct pt_unit *u)
{
	uint64_t tsc = pt_now(u), art = to_art(u, tsc), period;

	if (u->ctl & RTIT_CTL_MTCEN) {
		period = 1ull << mtc_freq(u);
		u->next_mtc = from_art(u, (art | (period - 1)) + 1);
	}
	if (!(u->ctl & RTIT_CTL_TSCEN))
		return;
	pt_flush_tnt(u);
	if (u->ctl & RTIT_CTL_CYCEN)
		pt_cyc(u, u->insns);
	pt_out_short(u, PT_PKT_TSC | tsc << 8, 8);
	if (u->ctl & RTIT_CTL_MTCEN)
		pt_out_short(u, PT_PKT_EXT | PT_EXT_TMA << 8 | (art & 0xffff) << 16 |
			     ((tsc - from_art(u, art)) & 0x1ff) << 40, 7);
}

static void mtc(struct pt_unit *u, uint64_t now)
{
	uint64_t art = to_art(u, u->next_mtc), period = 1ull << mtc_freq(u);

	pt_flush_tnt(u);
	if (u->ctl & RTIT_CTL_CYCEN)
		pt_cyc(u, u->insns - (now - u->next_mtc));
	pt_out_short(u, PT_PKT_MTC | (art >> mtc_freq(u) & 0xff) << 8, 2);
	u->next_mtc = from_art(u, art + period);
}

/* Time has passed. */
void pt_tick(struct pt_unit *u)
{
	uint64_t now, period;

	if (!(u->ctl & RTIT_CTL_MTCEN) || !u->trigger_en)
		return;
	if (!u->host.clock && u->tsc_base + u->insns < u->next_mtc)
		return;
	now = pt_now(u);
	period = from_art(u, 1ull << mtc_freq(u));
	if (now >= u->next_mtc + MTC_MAX_LATE * period)
		pt_time_sync(u);
	while (now >= u->next_mtc)
		mtc(u, now);
}

void pt_unit_set_tsc(struct pt_unit *u, uint64_t tsc)
{
	if (tsc <= u->tsc_base + u->insns)
		return;
	u->tsc_base = tsc - u->insns;
	if (u->trigger_en)
		pt_time_sync(u);
}

void pt_cbr(struct pt_unit *u)
{
	pt_out_short(u, PT_PKT_EXT | PT_EXT_CBR << 8 | (uint64_t)u->cbr << 16, 4);
}

void pt_unit_set_cbr(struct pt_unit *u, uint8_t ratio)
{
	if (u->cbr == ratio)
		return;
	u->cbr = ratio;
	if (!u->trigger_en)
		return;
	pt_flush_tnt(u);
	pt_cbr(u);
}
