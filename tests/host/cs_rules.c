// SPDX-License-Identifier: BSD-2-Clause
#include "cs_rules.h"

#include <string.h>

#define ETM(offset)	(CS_RULES_BASE(CS_RULES_ETM) + (offset))
#define FUNNEL(offset)	(CS_RULES_BASE(CS_RULES_FUNNEL) + (offset))
#define ETR(offset)	(CS_RULES_BASE(CS_RULES_ETR) + (offset))
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

void cs_rules_init(struct cs_rules *r, const uint32_t *idr, int delay)
{
	memset(r, 0, sizeof(*r));
	r->units = r->to = r;
	r->nunits = 1;
	r->idr = idr;
	r->delay = delay;
	r->settled = true;
}

void cs_rules_join(struct cs_rules *units, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		units[i].units = units;
		units[i].nunits = n;
	}
}

static void demand(struct cs_rules *r, bool kept, uint32_t reg, const char *rule)
{
	if (kept || r->broken)
		return;
	r->broken = rule;
	r->broken_reg = reg;
}

static uint64_t value_of(struct cs_rules *r, uint32_t reg)
{
	return r->regs[reg / 4];
}

static bool tracing(struct cs_rules *r)
{
	return value_of(r, ETM(TRCPRGCTLR)) & TRCPRGCTLR_EN;
}

/* ---- of a sink, s: whoever feeds it ---- */

static bool capturing(struct cs_rules *s)
{
	return value_of(s, ETR(TMC_CTL)) & TMC_CTL_CAPTURE;
}

static uint64_t address(struct cs_rules *s, uint32_t low, uint32_t high)
{
	return value_of(s, ETR(high)) << 32 | value_of(s, ETR(low));
}

/* How many ETMs that are on feed it; but: not counted. */
static int sources(struct cs_rules *s, const struct cs_rules *but)
{
	struct cs_rules *u;
	int n = 0;

	for (u = s->units; u < s->units + s->nunits; u++)
		n += u->to == s && u != but && tracing(u);
	return n;
}

static bool id_is_taken(struct cs_rules *s, const struct cs_rules *but, uint64_t id)
{
	struct cs_rules *u;

	for (u = s->units; u < s->units + s->nunits; u++)
		if (u->to == s && u != but && tracing(u) && value_of(u, ETM(TRCTRACEIDR)) == id)
			return true;
	return false;
}

static void sink_takes(struct cs_rules *s, uint64_t n)
{
	uint64_t base = address(s, TMC_DBALO, TMC_DBAHI), size = 4 * value_of(s, ETR(TMC_RSZ));
	uint64_t rwp = address(s, TMC_RWP, TMC_RWPHI) - base;

	if (!capturing(s) || !size)
		return;
	n -= n % CS_FRAME;
	if (n > size - s->level)
		n = size - s->level;
	s->level += n;
	rwp = (rwp + n) % size + base;
	*cs_rules_reg(s, CS_RULES_ETR, TMC_RWP) = (uint32_t)rwp;
	*cs_rules_reg(s, CS_RULES_ETR, TMC_RWPHI) = rwp >> 32;
}

static void all_written(struct cs_rules *r, uint32_t base, const uint16_t *offset, size_t n,
			const char *rule)
{
	size_t i;

	for (i = 0; i < n; i++)
		demand(r, r->written[(base + offset[i]) / 4], base + offset[i], rule);
}

static void forget(struct cs_rules *r, int component)
{
	memset(&r->written[CS_RULES_BASE(component) / 4], 0, CS_COMPONENT_SIZE / 4);
}

/* ---- the trace unit (IHI 0064) ---- */

/* Registers that are UNKNOWN after reset, or as somebody else had set them. */
static const uint16_t etm_needs[] = {
	TRCCONFIGR, TRCEVENTCTL0R, TRCEVENTCTL1R, TRCTSCTLR, TRCSYNCPR, TRCBBCTLR,
	TRCTRACEIDR, TRCVICTLR, TRCVIIECTLR, TRCVISSCTLR,
};

/* What the unit says that it can put into its trace (TRCIDR0, TRCIDR2). */
static uint64_t available(struct cs_rules *r)
{
	const uint32_t *idr = r->idr;

	return TRCCONFIGR_RES1 | (idr[0] & TRCIDR0_TRCBB ? TRCCONFIGR_BB : 0) |
	       (idr[0] & TRCIDR0_TRCCCI ? TRCCONFIGR_CCI : 0) |
	       (idr[0] & TRCIDR0_RETSTACK ? TRCCONFIGR_RS : 0) |
	       (idr[0] & TRCIDR0_TSSIZE_MASK ? TRCCONFIGR_TS : 0) |
	       (idr[2] & TRCIDR2_CIDSIZE_MASK ? TRCCONFIGR_CID : 0);
}

static void check_pairs(struct cs_rules *r)
{
	uint64_t used = value_of(r, ETM(TRCVIIECTLR));
	uint16_t needs[4];
	uint32_t i;

	used = (used | used >> 16) & 0xff;
	demand(r, !(used >> (r->idr[4] & TRCIDR4_NUMACPAIRS_MASK)), ETM(TRCVIIECTLR),
	       "TRCVIIECTLR: a comparator that the unit lacks");
	for (i = 0; i < 8; i++) {
		if (!(used >> i & 1))
			continue;
		needs[0] = TRCACVR(2 * i);
		needs[1] = TRCACVR(2 * i + 1);
		needs[2] = TRCACATR(2 * i);
		needs[3] = TRCACATR(2 * i + 1);
		all_written(r, ETM(0), needs, 4, "TRCACVRn: left as somebody else had set it");
		demand(r, value_of(r, ETM(needs[0])) <= value_of(r, ETM(needs[1])), ETM(needs[0]),
		       "TRCACVRn: a range that ends before it begins");
		demand(r, value_of(r, ETM(needs[2])) == value_of(r, ETM(needs[3])), ETM(needs[2]),
		       "TRCACATRn: the halves of a range differ");
	}
}

static void check_enable(struct cs_rules *r)
{
	uint64_t configr = value_of(r, ETM(TRCCONFIGR)), id = value_of(r, ETM(TRCTRACEIDR));
	uint64_t sync = value_of(r, ETM(TRCSYNCPR));

	all_written(r, ETM(0), etm_needs, COUNT(etm_needs),
		    "a register of the trace unit was left as somebody else had set it");
	demand(r, r->idle, ETM(TRCPRGCTLR), "TRCSTATR: enabled before the unit was idle");
	demand(r, !value_of(r, ETM(TRCOSLAR)) && r->written[ETM(TRCOSLAR) / 4], ETM(TRCOSLAR),
	       "TRCOSLAR: enabled with the OS Lock set");
	demand(r, capturing(r->to) && value_of(r->to, FUNNEL(CSTF_CTRL)) & CSTF_CTRL_ENS_MASK,
	       ETM(TRCPRGCTLR), "IHI 0029 D5.1: the source was enabled before the way to the sink");
	demand(r, id >= CS_ID_FIRST && id <= CS_ID_LAST, ETM(TRCTRACEIDR),
	       "IHI 0029 D4.2.1: no trace ID");
	demand(r, !id_is_taken(r->to, r, id), ETM(TRCTRACEIDR),
	       "IHI 0029 D4.2: another source of the sink has that trace ID");
	demand(r, configr & TRCCONFIGR_RES1, ETM(TRCCONFIGR), "TRCCONFIGR: bit 0 is RES1");
	demand(r, !(configr & ~available(r)), ETM(TRCCONFIGR),
	       "TRCCONFIGR: a feature that the unit lacks");
	demand(r, !sync || !(r->idr[3] & TRCIDR3_SYNCPR), ETM(TRCSYNCPR),
	       "TRCSYNCPR: the unit's period is fixed (TRCIDR3.SYNCPR)");
	demand(r, r->written[ETM(TRCSTALLCTLR) / 4] || !(r->idr[3] & TRCIDR3_STALLCTL),
	       ETM(TRCSTALLCTLR), "TRCSTALLCTLR: left as somebody else had set it");
	demand(r, !(configr & TRCCONFIGR_CCI) ||
	       (r->written[ETM(TRCCCCTLR) / 4] &&
		value_of(r, ETM(TRCCCCTLR)) >= (r->idr[3] & TRCIDR3_CCITMIN_MASK)),
	       ETM(TRCCCCTLR), "TRCCCCTLR: below TRCIDR3.CCITMIN");
	demand(r, !sync || (sync >= TRCSYNCPR_MIN && sync <= TRCSYNCPR_MAX), ETM(TRCSYNCPR),
	       "TRCSYNCPR: a reserved period");
	check_pairs(r);
}

static void write_prgctlr(struct cs_rules *r, uint64_t value)
{
	bool was = tracing(r), is = value & TRCPRGCTLR_EN;

	if (is && !was)
		check_enable(r);
	if (was && !is) {
		forget(r, CS_RULES_ETM);
		r->to->flushed = false;
	}
	if (is != was || !is)
		r->idle = r->busy = r->settled = false;
	r->waits = r->delay;
}

static void write_etm(struct cs_rules *r, uint32_t reg, uint64_t value)
{
	if (reg == ETM(TRCPRGCTLR)) {
		write_prgctlr(r, value);
		return;
	}
	if (reg == ETM(TRCOSLAR))
		return;
	demand(r, !tracing(r) && r->idle, reg,
	       "TRCPRGCTLR: written while the unit is enabled, or not idle yet");
	demand(r, reg != ETM(TRCSTALLCTLR) || r->idr[3] & TRCIDR3_STALLCTL, reg,
	       "TRCSTALLCTLR: the unit has none (TRCIDR3.STALLCTL)");
}

/* ---- the sink (DDI 0461) ---- */

static const uint16_t etr_needs[] = {
	TMC_RSZ, TMC_MODE, TMC_BUFWM, TMC_AXICTL, TMC_DBALO, TMC_DBAHI, TMC_RRP, TMC_RRPHI,
	TMC_RWP, TMC_RWPHI, TMC_FFCR,
};

static void check_capture(struct cs_rules *r, struct cs_rules *s)
{
	uint64_t base = address(s, TMC_DBALO, TMC_DBAHI), size = 4 * value_of(s, ETR(TMC_RSZ));
	uint64_t rrp = address(s, TMC_RRP, TMC_RRPHI) - base;
	uint64_t rwp = address(s, TMC_RWP, TMC_RWPHI) - base;

	all_written(s, ETR(0), etr_needs, COUNT(etr_needs),
		    "a register of the TMC was left as somebody else had set it");
	demand(r, s->ready, ETR(TMC_CTL), "TMC_STS: capture begins before TMCReady");
	demand(r, size && rrp < size && rwp < size, ETR(TMC_RWP),
	       "TMC_RWP: a pointer outside of the buffer");
	demand(r, !((base | size | rrp | rwp) % CS_FRAME), ETR(TMC_RWP),
	       "TMC_RWP: not a multiple of a frame");
	demand(r, !(value_of(s, ETR(TMC_FFCR)) & (TMC_FFCR_STOPONFL | TMC_FFCR_FLUSHMAN)),
	       ETR(TMC_FFCR), "TMC_FFCR: the first flush would stop it");
	s->level = (rwp - rrp + size) % (size ? size : 1);
}

static void write_ctl(struct cs_rules *r, struct cs_rules *s, uint64_t value)
{
	bool was = capturing(s), is = value & TMC_CTL_CAPTURE;

	if (is && !was)
		check_capture(r, s);
	if (!is) {
		demand(r, !sources(s, NULL) && (r->idle || !was), ETR(TMC_CTL),
		       "IHI 0029 D5.1: the sink was disabled before what feeds it");
		demand(r, !was || (s->flushed && s->ready), ETR(TMC_CTL),
		       "TMC_CTL: disabled before flush and stop: what the formatter has is lost");
	}
	if (was && !is)
		forget(s, CS_RULES_ETR);
	if (is != was)
		s->ready = false;
	s->sink_waits = s->delay;
}

/* The last flush stops the formatter, and none before does. */
static void write_ffcr(struct cs_rules *r, struct cs_rules *s, uint64_t value)
{
	uint64_t format = TMC_FFCR_ENFT | TMC_FFCR_ENTI;

	demand(r, !capturing(s) || !((value ^ value_of(s, ETR(TMC_FFCR))) & format),
	       ETR(TMC_FFCR), "TMC_FFCR: the format was changed while capturing");
	if (!(value & TMC_FFCR_FLUSHMAN))
		return;
	demand(r, capturing(s), ETR(TMC_FFCR), "TMC_FFCR: a flush without capture");
	demand(r, !tracing(r) && r->idle, ETR(TMC_FFCR),
	       "IHI 0029 D5.1: flushed before the source was off and idle");
	demand(r, value & TMC_FFCR_STOPONFL || sources(s, r), ETR(TMC_FFCR),
	       "TMC_FFCR: a last flush that does not stop the formatter");
	demand(r, !(value & TMC_FFCR_STOPONFL) || !sources(s, r), ETR(TMC_FFCR),
	       "TMC_FFCR: the formatter was stopped while others feed it");
	s->sink_waits = s->delay;
}

static void write_etr(struct cs_rules *r, uint32_t reg, uint64_t value)
{
	struct cs_rules *s = r->to;

	switch (reg - ETR(0)) {
	case TMC_CTL:
		write_ctl(r, s, value);
		return;
	case TMC_FFCR:
		write_ffcr(r, s, value);
		return;
	case TMC_RURP:
		demand(r, capturing(s) && value <= s->level && value <= TMC_RURP_MAX, reg,
		       "TMC_RURP: more than there is to read, or no FIFO that runs");
		demand(r, value % CS_FRAME == 0, reg, "TMC_RURP: not a multiple of a frame");
		s->level -= value < s->level ? value : s->level;
		return;
	}
	demand(r, !capturing(s) && s->ready, reg,
	       "TMC_CTL: written while capturing, or before TMCReady");
}

static void write_funnel(struct cs_rules *r, uint32_t reg, uint64_t value)
{
	bool on = reg == FUNNEL(CSTF_CTRL) && value & CSTF_CTRL_ENS_MASK;
	struct cs_rules *s = r->to;

	demand(r, on || (!sources(s, NULL) && (r->idle || !value_of(s, reg))), reg,
	       "IHI 0029 D5.1: the funnel was disabled before the source");
	demand(r, on || s->flushed || !capturing(s), reg,
	       "IHI 0029 D5.1: the funnel was disabled before the flush");
	demand(r, !on || capturing(s), reg,
	       "IHI 0029 D5.1: the funnel was enabled before the sink");
}

static void write_route(struct cs_rules *r, uint64_t to)
{
	demand(r, !tracing(r) && to < (uint64_t)r->nunits, CS_RULES_ROUTE,
	       "a route that leads nowhere, or changes under a source that is on");
	if (to < (uint64_t)r->nunits)
		r->to = &r->units[to];
}

/* ---- all ---- */

void cs_rules_write(struct cs_rules *r, uint32_t reg, uint64_t value)
{
	uint32_t component = reg / CS_COMPONENT_SIZE;
	struct cs_rules *at = component == CS_RULES_ETM ? r : r->to;
	static void (*const write[])(struct cs_rules *r, uint32_t reg, uint64_t value) = {
		[CS_RULES_ETM] = write_etm,
		[CS_RULES_FUNNEL] = write_funnel,
		[CS_RULES_ETR] = write_etr,
	};

	if (reg == CS_RULES_ROUTE) {
		write_route(r, value);
		return;
	}
	demand(r, component < CS_RULES_COMPONENTS && !(reg & 3), reg, "no such register");
	if (component >= CS_RULES_COMPONENTS)
		return;
	if (reg % CS_COMPONENT_SIZE == CS_LAR) {
		at->unlocked[component] = value == CS_LAR_KEY;
		return;
	}
	demand(r, at->unlocked[component], reg, "IHI 0029 B2.3.9: written while locked");
	write[component](r, reg, value);
	at->written[reg / 4] = true;
	at->regs[reg / 4] = value;
}

/* A component follows after some looks. */
static bool follows(int *waits)
{
	if (!*waits)
		return true;
	--*waits;
	return false;
}

static uint64_t look_at_etm(struct cs_rules *r)
{
	bool yes = follows(&r->waits);

	r->idle |= yes && !tracing(r);
	r->busy |= yes && tracing(r);
	return yes == !tracing(r) ? TRCSTATR_IDLE | TRCSTATR_PMSTABLE : 0;
}

/* A flush brings the formatter's frame. */
static uint64_t look_at_etr(struct cs_rules *s, uint32_t reg)
{
	uint64_t *ffcr = cs_rules_reg(s, CS_RULES_ETR, TMC_FFCR);
	bool yes = follows(&s->sink_waits);

	if (reg == ETR(TMC_STS)) {
		yes &= !capturing(s) || (s->flushed && *ffcr & TMC_FFCR_STOPONFL);
		s->ready |= yes;
		return yes ? TMC_STS_READY : 0;
	}
	if (yes && *ffcr & TMC_FFCR_FLUSHMAN) {
		*ffcr &= ~(uint64_t)TMC_FFCR_FLUSHMAN;
		sink_takes(s, CS_FRAME);
		s->flushed = true;
	}
	return *ffcr;
}

uint64_t cs_rules_read(struct cs_rules *r, uint32_t reg)
{
	demand(r, reg < CS_RULES_NREGS * 4 && !(reg & 3), reg, "no such register");
	if (reg == ETM(TRCSTATR))
		return look_at_etm(r);
	if (reg == ETR(TMC_STS) || reg == ETR(TMC_FFCR))
		return look_at_etr(r, reg);
	if (reg == ETR(TMC_CBUFLEVEL)) {
		demand(r, capturing(r) && (sources(r, NULL) || (r->flushed && r->ready)), reg,
		       "TMC_CBUFLEVEL: read before what was under way is in");
		return r->level / 4;
	}
	return reg < CS_RULES_NREGS * 4 ? value_of(r, reg) : 0;
}

void cs_rules_barrier(struct cs_rules *r, enum hwt_barrier kind)
{
	r->settled = true;
}

void cs_rules_trace(struct cs_rules *r, uint64_t n)
{
	sink_takes(r->to, n);
}

void cs_rules_end(struct cs_rules *r, bool on)
{
	bool fed = sources(r->to, NULL);

	demand(r, tracing(r) == on && capturing(r->to) == fed, ETM(TRCPRGCTLR),
	       "the components are not as the op leaves them");
	demand(r, r->settled, ETM(TRCPRGCTLR), "the op ended before its writes are in effect");
	demand(r, on ? r->busy : r->idle, ETM(TRCSTATR),
	       "TRCSTATR: the op ended before the unit had followed");
	demand(r, fed || !(value_of(r->to, FUNNEL(CSTF_CTRL)) & CSTF_CTRL_ENS_MASK),
	       FUNNEL(CSTF_CTRL), "the funnel was left on");
}
