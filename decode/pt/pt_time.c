/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "pt_time.h"

/* 56 bits of time times a ratio need more than 64 bits in between. */
static uint64_t scale(uint64_t v, uint64_t num, uint64_t den)
{
	unsigned __int128 r = (unsigned __int128)v * num / den;

	return r > ~0ull ? ~0ull : (uint64_t)r;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b < a ? ~0ull : a + b;
}

void pt_time_init(struct pt_time *t, const struct pt_time_config *config)
{
	memset(t, 0, sizeof(*t));
	t->config = *config;
	if (!config->ratio_den || !config->ratio_num || config->mtc_freq > 15)
		t->config.ratio_den = t->config.ratio_num = 0;
}

/* An estimate may have run ahead of the clock: then time waits for it. */
static void set(struct pt_time *t, uint64_t now)
{
	if (now > t->time)
		t->time = now;
	t->known = true;
}

static void rebase(struct pt_time *t, uint64_t now)
{
	set(t, now);
	t->base = now;
	t->base_cycles = 0;
	t->have_base = true;
}

void pt_time_tsc(struct pt_time *t, uint64_t tsc)
{
	/* An estimate may be a little late.  A clock that goes back is none. */
	bool back = tsc < t->time && !t->estimated;

	/* The MTCs that follow count from a TMA that belongs to this TSC. */
	t->have_tma = false;
	t->have_mtc = false;
	t->tma_base = tsc;
	t->estimated = false;
	rebase(t, tsc);
	t->known = !back;
}

void pt_time_tma(struct pt_time *t, uint32_t ctc, uint32_t fast)
{
	uint32_t freq = t->config.mtc_freq;
	uint64_t back;

	if (!t->config.ratio_den || !t->have_base || t->have_tma)
		return;
	/* TMA has 16 bits of CTC, of which MTC shows those from MTCFreq on. */
	t->mtc_mask = 0xffff >> freq & 0xff;
	t->mtc = ctc >> freq & t->mtc_mask;
	/* From here count whole MTC periods: go back to where this one began. */
	back = fast + scale(ctc & ((1u << freq) - 1), t->config.ratio_num,
			    t->config.ratio_den);
	t->tma_base -= back < t->tma_base ? back : t->tma_base;
	t->ctc = 0;
	t->have_tma = t->fresh_tma = true;
}

static void calibrate(struct pt_time *t, uint64_t now)
{
	if (!t->have_mtc || !t->base_cycles || now <= t->base)
		return;
	t->cal_time = now - t->base;
	t->cal_cycles = t->base_cycles;
}

void pt_time_mtc(struct pt_time *t, uint8_t mtc)
{
	uint8_t periods;
	uint64_t now;

	if (!t->have_tma) {
		/* Time went on, and nothing says how far. */
		t->known = false;
		return;
	}
	periods = (mtc - t->mtc) & t->mtc_mask;
	if (!periods && !t->fresh_tma) {
		/* 256 periods, or none?  Until the next TSC nobody knows. */
		t->have_tma = false;
		t->known = false;
		return;
	}
	t->ctc += (uint64_t)periods << t->config.mtc_freq;
	now = add(t->tma_base, scale(t->ctc, t->config.ratio_num, t->config.ratio_den));
	calibrate(t, now);
	t->mtc = mtc;
	t->mtc_mask = 0xff;
	t->fresh_tma = false;
	t->have_mtc = t->estimated = true;
	rebase(t, now);
}

void pt_time_cyc(struct pt_time *t, uint64_t cycles, bool counted)
{
	uint64_t num = t->config.nominal_ratio, den = t->cbr;

	if (counted)
		t->cycles = add(t->cycles, cycles);
	if (!cycles)
		return;
	t->base_cycles = add(t->base_cycles, cycles);
	if (!num || !den) {
		num = t->cal_time;
		den = t->cal_cycles;
	}
	if (!t->have_base || !num || !den) {
		t->known = false;
		return;
	}
	set(t, add(t->base, scale(t->base_cycles, num, den)));
	t->estimated = true;
}

void pt_time_cbr(struct pt_time *t, uint8_t ratio)
{
	if (t->cbr == ratio)
		return;
	/* What went by until now, went by at the old ratio. */
	t->cbr = ratio;
	t->base = t->time;
	t->base_cycles = 0;
	t->cal_time = t->cal_cycles = 0;
	t->have_mtc = false;
}

void pt_time_lost(struct pt_time *t)
{
	t->known = t->have_base = t->have_tma = t->have_mtc = false;
	t->base_cycles = 0;
}
