// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From the source to the sink (IHI 0029 D5.1: a sink is enabled before what feeds
 * it and disabled after).
 */
#include "cs_backend.h"

#define POLLS	100
#define FFCR	(TMC_FFCR_ENFT | TMC_FFCR_ENTI)

static void wr(const struct cs_unit *u, uint32_t reg, uint64_t value)
{
	u->bus->ops->write(u->bus, u->unit, reg, value);
}

/* Of funnel or ETR. */
static uint32_t rd_sink(const struct cs_unit *u, uint32_t reg)
{
	return (uint32_t)u->bus->ops->read(u->bus, u->etr, reg);
}

static void order(const struct cs_unit *u, enum hwt_barrier kind)
{
	(u->bus->ops->barrier)(u->bus, u->unit, kind);
}

static bool poll(const struct cs_unit *u, int unit, uint32_t reg, uint32_t mask,
		 uint32_t value)
{
	int tries;

	for (tries = 0; tries < POLLS; tries++)
		if (!u->bus->ops->poll(u->bus, unit, reg, mask, value))
			return true;
	return false;
}

static bool etm_becomes(const struct cs_unit *u, uint32_t reg, uint32_t mask, uint32_t value)
{
	return poll(u, u->unit, u->path->etm + reg, mask, value);
}

static bool etr_becomes(const struct cs_unit *u, uint32_t reg, uint32_t mask, uint32_t value)
{
	return poll(u, u->etr, u->path->etr + reg, mask, value);
}

/*
 * Nothing is set up before the unit is idle and the sink is ready (IHI 0064, TRCSTATR;
 * DDI 0461, STS.TMCReady), whoever used them before.
 */
static bool make_ready(const struct cs_unit *u, bool sink)
{
	const struct cs_path *p = u->path;

	wr(u, p->etm + CS_LAR, CS_LAR_KEY);
	if (sink) {
		wr(u, p->funnel + CS_LAR, CS_LAR_KEY);
		wr(u, p->etr + CS_LAR, CS_LAR_KEY);
	}
	wr(u, p->etm + TRCOSLAR, 0);
	wr(u, p->etm + TRCPRGCTLR, 0);
	if (!etm_becomes(u, TRCSTATR, TRCSTATR_IDLE, TRCSTATR_IDLE))
		return false;
	if (!sink)
		return true;
	wr(u, p->etr + TMC_CTL, 0);
	order(u, HWT_BARRIER_CONTEXT);
	return etr_becomes(u, TMC_STS, TMC_STS_READY, TMC_STS_READY);
}

void cs_path_attach(const struct cs_unit *u)
{
	if (!u->path->route)
		return;
	wr(u, u->path->etm + CS_LAR, CS_LAR_KEY);
	wr(u, u->path->etm + TRCPRGCTLR, 0);
	wr(u, u->path->route, (uint64_t)u->etr);
	order(u, HWT_BARRIER_CONTEXT);
}

static void start_etr(const struct cs_unit *u, const struct cs_window *w)
{
	uint32_t etr = u->path->etr;

	wr(u, etr + TMC_RSZ, w->size / 4);
	wr(u, etr + TMC_MODE, TMC_MODE_SWF2);
	wr(u, etr + TMC_BUFWM, w->size / 2 / 4);
	wr(u, etr + TMC_AXICTL, TMC_AXICTL_PROT_NS | TMC_AXICTL_BURST16);
	wr(u, etr + TMC_DBALO, (uint32_t)w->base);
	wr(u, etr + TMC_DBAHI, w->base >> 32);
	wr(u, etr + TMC_RRP, (uint32_t)w->rrp);
	wr(u, etr + TMC_RRPHI, w->rrp >> 32);
	wr(u, etr + TMC_RWP, (uint32_t)w->rwp);
	wr(u, etr + TMC_RWPHI, w->rwp >> 32);
	wr(u, etr + TMC_FFCR, FFCR);
	wr(u, etr + TMC_CTL, TMC_CTL_CAPTURE);
}

static void set_range(const struct cs_unit *u, uint32_t i, const uint64_t bounds[2])
{
	wr(u, u->path->etm + TRCACVR(2 * i), bounds[0]);
	wr(u, u->path->etm + TRCACVR(2 * i + 1), bounds[1]);
	wr(u, u->path->etm + TRCACATR(2 * i), 0);
	wr(u, u->path->etm + TRCACATR(2 * i + 1), 0);
}

/* Registers that are UNKNOWN after reset all get a value: events, ranges, start/stop. */
static void start_etm(const struct cs_unit *u, const struct cs_config *c, uint32_t id)
{
	uint32_t etm = u->path->etm, include = 0, i;

	wr(u, etm + TRCCONFIGR, c->configr);
	wr(u, etm + TRCEVENTCTL0R, 0);
	wr(u, etm + TRCEVENTCTL1R, 0);
	wr(u, etm + TRCTSCTLR, 0);
	wr(u, etm + TRCBBCTLR, 0);
	wr(u, etm + TRCSYNCPR, c->syncpr);
	wr(u, etm + TRCCCCTLR, c->ccctlr);
	wr(u, etm + TRCTRACEIDR, id);
	if (u->bus->ops->cap(u->bus, 3) & TRCIDR3_STALLCTL)
		wr(u, etm + TRCSTALLCTLR, TRCSTALLCTLR_ISTALL);
	for (i = 0; i < c->nranges; i++) {
		set_range(u, i, c->range + 2 * i);
		include |= TRCVIIECTLR_INCLUDE(i);
	}
	wr(u, etm + TRCVIIECTLR, include);
	wr(u, etm + TRCVISSCTLR, 0);
	wr(u, etm + TRCVICTLR, c->victlr);
	wr(u, etm + TRCPRGCTLR, TRCPRGCTLR_EN);
}

bool cs_path_stop(const struct cs_unit *u, bool last)
{
	uint32_t stop = last ? TMC_FFCR_STOPONFL : 0;
	bool idle;

	wr(u, u->path->etm + TRCPRGCTLR, 0);
	order(u, HWT_BARRIER_DATA);
	idle = etm_becomes(u, TRCSTATR, TRCSTATR_IDLE, TRCSTATR_IDLE);
	/* The last flush: the formatter stops behind it, and the sink is done. */
	wr(u, u->path->etr + TMC_FFCR, FFCR | stop | TMC_FFCR_FLUSHMAN);
	order(u, HWT_BARRIER_DATA);
	idle &= etr_becomes(u, TMC_FFCR, TMC_FFCR_FLUSHMAN, 0);
	if (last) {
		idle &= etr_becomes(u, TMC_STS, TMC_STS_READY, TMC_STS_READY);
		wr(u, u->path->funnel + CSTF_CTRL, 0);
	}
	return idle;
}

void cs_path_close(const struct cs_unit *u)
{
	wr(u, u->path->etr + TMC_CTL, 0);
	order(u, HWT_BARRIER_DATA);
}

bool cs_path_start(const struct cs_unit *u, const struct cs_config *c,
		   const struct cs_window *w, uint32_t id)
{
	if (!make_ready(u, w))
		return false;
	if (w) {
		start_etr(u, w);
		wr(u, u->path->funnel + CSTF_CTRL, CSTF_CTRL_ENS_MASK);
	}
	start_etm(u, c, id);
	order(u, HWT_BARRIER_CONTEXT);
	if (etm_becomes(u, TRCSTATR, TRCSTATR_IDLE, 0))
		return true;
	cs_path_stop(u, w);
	if (w)
		cs_path_close(u);
	return false;
}

uint64_t cs_path_level(const struct cs_unit *u)
{
	return 4ull * rd_sink(u, u->path->etr + TMC_CBUFLEVEL);
}

void cs_path_free(const struct cs_unit *u, uint64_t n)
{
	uint64_t part;

	for (; n; n -= part) {
		part = n < TMC_RURP_MAX ? n : TMC_RURP_MAX;
		wr(u, u->path->etr + TMC_RURP, part);
	}
	order(u, HWT_BARRIER_CONTEXT);
}
