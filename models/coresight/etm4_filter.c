/* SPDX-License-Identifier: BSD-2-Clause */
/* ViewInst (2.3): exception levels, include and exclude ranges, start and stop. */
#include "etm4_priv.h"

#define INSN_BYTES	4

static uint64_t reg64(struct etm_unit *u, uint32_t offset)
{
	uint64_t v;

	memcpy(&v, cs_reg(u->regs, offset), 8);
	return v;
}

void etm_filter_setup(struct etm_unit *u)
{
	uint32_t vi = *cs_reg(u->regs, TRCVICTLR), ie = *cs_reg(u->regs, TRCVIIECTLR),
		 ss = *cs_reg(u->regs, TRCVISSCTLR), bb = *cs_reg(u->regs, TRCBBCTLR);
	unsigned int i;

	for (i = 0; i < ETM4_MAX_PAIRS; i++) {
		u->range[i].a = reg64(u, TRCACVR(2 * i));
		u->range[i].b = reg64(u, TRCACVR(2 * i + 1));
		u->range[i].exlevels =
			*cs_reg(u->regs, TRCACATR(2 * i)) >> TRCACATR_EXLEVEL_NS_SHIFT &
			0xf;
	}
	for (i = 0; i < ETM4_MAX_ACS; i++)
		u->ssp[i] = reg64(u, TRCACVR(i));
	u->include = ie & 0xff;
	u->exclude = ie >> 16 & 0xff;
	u->start = ss & 0xffff;
	u->stop = ss >> 16;
	u->started = vi & TRCVICTLR_SSSTATUS;
	u->event_true = (vi & TRCVICTLR_EVENT_MASK) == TRCVICTLR_EVENT_TRUE;
	u->bb_ranges = bb & TRCBBCTLR_RANGE_MASK;
	u->bb_include = bb & TRCBBCTLR_INCLUDE;
	u->filtering = u->include || u->exclude || u->start || u->stop;
	u->win_len = 0;
	etm_filter_level(u);
}

void etm_filter_level(struct etm_unit *u)
{
	uint32_t vi = *cs_reg(u->regs, TRCVICTLR);

	u->level_on = u->event_true && !u->broken &&
		      !(vi >> (TRCVICTLR_EXLEVEL_NS_SHIFT + u->el) & 1);
	/* Without start points nothing starts what is not started. */
	if (!u->started && !u->start)
		u->level_on = false;
	u->win_len = 0;
}

/* Any of `ranges` around ip; narrows [lo, hi] to where the answer stays so. */
static bool in_ranges(struct etm_unit *u, uint32_t ranges, uint64_t ip, uint64_t *lo,
		      uint64_t *hi)
{
	bool in = false;
	unsigned int i;

	for (i = 0; i < ETM4_MAX_PAIRS; i++) {
		const struct etm_range *r = &u->range[i];

		if (!(ranges >> i & 1) || r->a > r->b || (r->exlevels >> u->el & 1))
			continue;
		if (ip < r->a) {
			if (r->a - 1 < *hi)
				*hi = r->a - 1;
		} else if (ip > r->b) {
			if (r->b + 1 > *lo)
				*lo = r->b + 1;
		} else {
			in = true;
			if (r->a > *lo)
				*lo = r->a;
			if (r->b < *hi)
				*hi = r->b;
		}
	}
	return in;
}

/* Is ip one of the points?  Narrows [lo, hi] as in_ranges. */
static bool at_point(struct etm_unit *u, uint32_t points, uint64_t ip, uint64_t *lo,
		     uint64_t *hi)
{
	bool at = false;
	unsigned int i;

	for (i = 0; i < ETM4_MAX_ACS; i++) {
		if (!(points >> i & 1))
			continue;
		if (ip < u->ssp[i]) {
			if (u->ssp[i] - 1 < *hi)
				*hi = u->ssp[i] - 1;
		} else if (ip - u->ssp[i] >= INSN_BYTES) {
			if (u->ssp[i] + INSN_BYTES > *lo)
				*lo = u->ssp[i] + INSN_BYTES;
		} else {
			at = true;
			*lo = u->ssp[i];
			if (u->ssp[i] + INSN_BYTES - 1 < *hi)
				*hi = u->ssp[i] + INSN_BYTES - 1;
		}
	}
	return at;
}

void etm_window_find(struct etm_unit *u, uint64_t ip)
{
	uint64_t lo = 0, hi = ~0ull - 1;
	bool in = true;

	if (u->include)
		in = in_ranges(u, u->include, ip, &lo, &hi);
	if (u->exclude && in_ranges(u, u->exclude, ip, &lo, &hi))
		in = false;
	u->win_in = in;
	u->win_start = at_point(u, u->start, ip, &lo, &hi);
	u->win_stop = at_point(u, u->stop, ip, &lo, &hi);
	u->win_bb = !u->bb_ranges
			    ? true
			    : in_ranges(u, u->bb_ranges, ip, &lo, &hi) == u->bb_include;
	u->win_lo = lo;
	u->win_len = hi - lo + 1;
}

bool etm_filter_view(struct etm_unit *u, uint64_t ip)
{
	if (!u->level_on)
		return false;
	if (!u->filtering)
		return true;
	if (!etm_in_window(u, ip))
		etm_window_find(u, ip);
	return u->win_in && (u->started || u->win_start);
}

/*
 * Start/stop (2.3.4): trace starts with the instruction at a start point and stops
 * behind the one at a stop point.  At levels that are not traced they do not count.
 */
bool etm_filter_step(struct etm_unit *u, uint64_t ip)
{
	bool view = etm_filter_view(u, ip);

	if (!u->level_on || !u->filtering)
		return view;
	u->started = (u->started || u->win_start) && !u->win_stop;
	return view;
}

bool etm_broadcasts(struct etm_unit *u, uint64_t ip)
{
	if (!etm_in_window(u, ip))
		etm_window_find(u, ip);
	return u->win_bb;
}
