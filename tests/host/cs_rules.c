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
	r->idr = idr;
	r->delay = delay;
	r->settled = true;
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

static bool capturing(struct cs_rules *r)
{
	return value_of(r, ETR(TMC_CTL)) & TMC_CTL_CAPTURE;
}

static uint64_t address(struct cs_rules *r, uint32_t low, uint32_t high)
{
	return value_of(r, ETR(high)) << 32 | value_of(r, ETR(low));
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
	TRCCONFIGR, TRCEVENTCTL0R, TRCEVENTCTL1R, TRCSTALLCTLR, TRCTSCTLR, TRCSYNCPR,
	TRCBBCTLR, TRCTRACEIDR, TRCVICTLR, TRCVIIECTLR, TRCVISSCTLR,
};

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
	demand(r, capturing(r) && value_of(r, FUNNEL(CSTF_CTRL)) & CSTF_CTRL_ENS_MASK,
	       ETM(TRCPRGCTLR), "IHI 0029 D5.1: the source was enabled before the way to the sink");
	demand(r, id >= CS_ID_FIRST && id <= CS_ID_LAST, ETM(TRCTRACEIDR),
	       "IHI 0029 D4.2.1: no trace ID");
	demand(r, configr & TRCCONFIGR_RES1, ETM(TRCCONFIGR), "TRCCONFIGR: bit 0 is RES1");
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
		r->flushed = false;
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
}

/* ---- the sink (DDI 0461) ---- */

static const uint16_t etr_needs[] = {
	TMC_RSZ, TMC_MODE, TMC_BUFWM, TMC_AXICTL, TMC_DBALO, TMC_DBAHI, TMC_RRP, TMC_RRPHI,
	TMC_RWP, TMC_RWPHI, TMC_FFCR,
};

static void check_capture(struct cs_rules *r)
{
	uint64_t base = address(r, TMC_DBALO, TMC_DBAHI), size = 4 * value_of(r, ETR(TMC_RSZ));
	uint64_t rrp = address(r, TMC_RRP, TMC_RRPHI) - base;
	uint64_t rwp = address(r, TMC_RWP, TMC_RWPHI) - base;

	all_written(r, ETR(0), etr_needs, COUNT(etr_needs),
		    "a register of the TMC was left as somebody else had set it");
	demand(r, r->ready, ETR(TMC_CTL), "TMC_STS: capture begins before TMCReady");
	demand(r, size && rrp < size && rwp < size, ETR(TMC_RWP),
	       "TMC_RWP: a pointer outside of the buffer");
	demand(r, !((base | size | rrp | rwp) % CS_FRAME), ETR(TMC_RWP),
	       "TMC_RWP: not a multiple of a frame");
	demand(r, !(value_of(r, ETR(TMC_FFCR)) & (TMC_FFCR_STOPONFL | TMC_FFCR_FLUSHMAN)),
	       ETR(TMC_FFCR), "TMC_FFCR: the first flush would stop it");
	r->level = (rwp - rrp + size) % (size ? size : 1);
}

static void write_ctl(struct cs_rules *r, uint64_t value)
{
	bool was = capturing(r), is = value & TMC_CTL_CAPTURE;

	if (is && !was)
		check_capture(r);
	if (!is) {
		demand(r, !tracing(r) && (r->idle || !was), ETR(TMC_CTL),
		       "IHI 0029 D5.1: the sink was disabled before what feeds it");
		demand(r, !was || (r->flushed && r->ready), ETR(TMC_CTL),
		       "TMC_CTL: disabled before flush and stop: what the formatter has is lost");
	}
	if (was && !is)
		forget(r, CS_RULES_ETR);
	if (is != was)
		r->ready = false;
	r->waits = r->delay;
}

static void write_ffcr(struct cs_rules *r, uint64_t value)
{
	uint64_t format = TMC_FFCR_ENFT | TMC_FFCR_ENTI;

	demand(r, !capturing(r) || !((value ^ value_of(r, ETR(TMC_FFCR))) & format),
	       ETR(TMC_FFCR), "TMC_FFCR: the format was changed while capturing");
	if (!(value & TMC_FFCR_FLUSHMAN))
		return;
	demand(r, capturing(r), ETR(TMC_FFCR), "TMC_FFCR: a flush without capture");
	demand(r, !tracing(r) && r->idle, ETR(TMC_FFCR),
	       "IHI 0029 D5.1: flushed before the source was off and idle");
	demand(r, value & TMC_FFCR_STOPONFL, ETR(TMC_FFCR),
	       "TMC_FFCR: a last flush that does not stop the formatter");
	r->waits = r->delay;
}

static void write_etr(struct cs_rules *r, uint32_t reg, uint64_t value)
{
	switch (reg - ETR(0)) {
	case TMC_CTL:
		write_ctl(r, value);
		return;
	case TMC_FFCR:
		write_ffcr(r, value);
		return;
	case TMC_RURP:
		demand(r, capturing(r) && value <= r->level && value <= TMC_RURP_MAX, reg,
		       "TMC_RURP: more than there is to read, or no FIFO that runs");
		demand(r, value % CS_FRAME == 0, reg, "TMC_RURP: not a multiple of a frame");
		r->level -= value < r->level ? value : r->level;
		return;
	}
	demand(r, !capturing(r) && r->ready, reg,
	       "TMC_CTL: written while capturing, or before TMCReady");
}

static void write_funnel(struct cs_rules *r, uint32_t reg, uint64_t value)
{
	bool on = reg == FUNNEL(CSTF_CTRL) && value & CSTF_CTRL_ENS_MASK;

	demand(r, on || (!tracing(r) && (r->idle || !value_of(r, reg))), reg,
	       "IHI 0029 D5.1: the funnel was disabled before the source");
	demand(r, on || r->flushed || !capturing(r), reg,
	       "IHI 0029 D5.1: the funnel was disabled before the flush");
	demand(r, !on || capturing(r), reg,
	       "IHI 0029 D5.1: the funnel was enabled before the sink");
}

/* ---- all ---- */

void cs_rules_write(struct cs_rules *r, uint32_t reg, uint64_t value)
{
	uint32_t component = reg / CS_COMPONENT_SIZE;
	static void (*const write[])(struct cs_rules *r, uint32_t reg, uint64_t value) = {
		[CS_RULES_ETM] = write_etm,
		[CS_RULES_FUNNEL] = write_funnel,
		[CS_RULES_ETR] = write_etr,
	};

	demand(r, component < CS_RULES_COMPONENTS && !(reg & 3), reg, "no such register");
	if (component >= CS_RULES_COMPONENTS)
		return;
	if (reg % CS_COMPONENT_SIZE == CS_LAR) {
		r->unlocked[component] = value == CS_LAR_KEY;
		return;
	}
	demand(r, r->unlocked[component], reg, "IHI 0029 B2.3.9: written while locked");
	write[component](r, reg, value);
	r->written[reg / 4] = true;
	r->regs[reg / 4] = value;
}

/* A component follows after some looks; a flush brings the formatter's frame. */
static uint64_t look(struct cs_rules *r, uint32_t reg)
{
	bool follows = r->waits == 0;
	uint64_t *ffcr = cs_rules_reg(r, CS_RULES_ETR, TMC_FFCR);

	if (r->waits)
		r->waits--;
	if (reg == ETM(TRCSTATR)) {
		r->idle |= follows && !tracing(r);
		r->busy |= follows && tracing(r);
		return follows == !tracing(r) ? TRCSTATR_IDLE | TRCSTATR_PMSTABLE : 0;
	}
	if (reg == ETR(TMC_STS)) {
		follows &= !capturing(r) || r->flushed;
		r->ready |= follows;
		return follows ? TMC_STS_READY : 0;
	}
	if (follows && *ffcr & TMC_FFCR_FLUSHMAN) {
		*ffcr &= ~(uint64_t)TMC_FFCR_FLUSHMAN;
		cs_rules_trace(r, CS_FRAME);
		r->flushed = true;
	}
	return *ffcr;
}

uint64_t cs_rules_read(struct cs_rules *r, uint32_t reg)
{
	demand(r, reg < CS_RULES_NREGS * 4 && !(reg & 3), reg, "no such register");
	if (reg == ETM(TRCSTATR) || reg == ETR(TMC_STS) || reg == ETR(TMC_FFCR))
		return look(r, reg);
	if (reg == ETR(TMC_CBUFLEVEL)) {
		demand(r, capturing(r) && (tracing(r) || (r->flushed && r->ready)), reg,
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
	uint64_t base = address(r, TMC_DBALO, TMC_DBAHI), size = 4 * value_of(r, ETR(TMC_RSZ));
	uint64_t rwp = address(r, TMC_RWP, TMC_RWPHI) - base;

	if (!capturing(r) || !size)
		return;
	n -= n % CS_FRAME;
	if (n > size - r->level)
		n = size - r->level;
	r->level += n;
	rwp = (rwp + n) % size + base;
	*cs_rules_reg(r, CS_RULES_ETR, TMC_RWP) = (uint32_t)rwp;
	*cs_rules_reg(r, CS_RULES_ETR, TMC_RWPHI) = rwp >> 32;
}

void cs_rules_end(struct cs_rules *r, bool on)
{
	demand(r, tracing(r) == on && capturing(r) == on, ETM(TRCPRGCTLR),
	       "the components are not as the op leaves them");
	demand(r, r->settled, ETM(TRCPRGCTLR), "the op ended before its writes are in effect");
	demand(r, on ? r->busy : r->idle, ETM(TRCSTATR),
	       "TRCSTATR: the op ended before the unit had followed");
	demand(r, on || !(value_of(r, FUNNEL(CSTF_CTRL)) & CSTF_CTRL_ENS_MASK),
	       FUNNEL(CSTF_CTRL), "the funnel was left on");
}
