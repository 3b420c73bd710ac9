// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From the source to the sink (IHI 0029 D5.1: a sink is enabled before what feeds
 * it and disabled after).
 */
#include "cs_backend.h"

#define POLLS	 100

static void wr(const struct cs_unit *u, uint32_t reg, uint64_t value)
{
	u->bus->ops->write(u->bus, u->unit, reg, value);
}

static uint32_t rd(const struct cs_unit *u, uint32_t reg)
{
	return (uint32_t)u->bus->ops->read(u->bus, u->unit, reg);
}

static void order(const struct cs_unit *u, enum hwt_barrier kind)
{
	(u->bus->ops->barrier)(u->bus, u->unit, kind);
}

static bool becomes(const struct cs_unit *u, uint32_t reg, uint32_t mask, uint32_t value)
{
	int tries;

	for (tries = 0; tries < POLLS; tries++)
		if (!u->bus->ops->poll(u->bus, u->unit, reg, mask, value))
			return true;
	return false;
}

static void start_etr(const struct cs_unit *u, const struct cs_window *w)
{
	uint32_t etr = u->path->etr;

	wr(u, etr + CS_LAR, CS_LAR_KEY);
	wr(u, etr + TMC_RSZ, w->size / 4);
	wr(u, etr + TMC_MODE, TMC_MODE_SWF2);
	wr(u, etr + TMC_BUFWM, w->size / 2 / 4);
	wr(u, etr + TMC_DBALO, (uint32_t)w->base);
	wr(u, etr + TMC_DBAHI, w->base >> 32);
	wr(u, etr + TMC_RRP, (uint32_t)w->rrp);
	wr(u, etr + TMC_RRPHI, w->rrp >> 32);
	wr(u, etr + TMC_RWP, (uint32_t)w->rwp);
	wr(u, etr + TMC_RWPHI, w->rwp >> 32);
	wr(u, etr + TMC_FFCR, TMC_FFCR_ENFT | TMC_FFCR_ENTI);
	wr(u, etr + TMC_CTL, TMC_CTL_CAPTURE);
}

static void set_range(const struct cs_unit *u, uint32_t i, const uint64_t bounds[2])
{
	wr(u, u->path->etm + TRCACVR(2 * i), bounds[0]);
	wr(u, u->path->etm + TRCACVR(2 * i + 1), bounds[1]);
	wr(u, u->path->etm + TRCACATR(2 * i), 0);
	wr(u, u->path->etm + TRCACATR(2 * i + 1), 0);
}

static void start_etm(const struct cs_unit *u, const struct cs_config *c)
{
	uint32_t etm = u->path->etm, include = 0, i;

	wr(u, etm + CS_LAR, CS_LAR_KEY);
	wr(u, etm + TRCOSLAR, 0);
	wr(u, etm + TRCCONFIGR, c->configr);
	wr(u, etm + TRCSYNCPR, c->syncpr);
	wr(u, etm + TRCCCCTLR, c->ccctlr);
	wr(u, etm + TRCTRACEIDR, CORESIGHT_TRACE_ID);
	wr(u, etm + TRCSTALLCTLR, TRCSTALLCTLR_ISTALL);
	for (i = 0; i < c->nranges; i++) {
		set_range(u, i, c->range + 2 * i);
		include |= TRCVIIECTLR_INCLUDE(i);
	}
	wr(u, etm + TRCVIIECTLR, include);
	wr(u, etm + TRCVICTLR, c->victlr);
	wr(u, etm + TRCPRGCTLR, TRCPRGCTLR_EN);
}

void cs_path_start(const struct cs_unit *u, const struct cs_config *c,
		   const struct cs_window *w)
{
	start_etr(u, w);
	wr(u, u->path->funnel + CS_LAR, CS_LAR_KEY);
	wr(u, u->path->funnel + CSTF_CTRL, CSTF_CTRL_ENS_MASK);
	start_etm(u, c);
	order(u, HWT_BARRIER_CONTEXT);
}

bool cs_path_stop(const struct cs_unit *u)
{
	uint32_t etr = u->path->etr;
	bool idle;

	wr(u, u->path->etm + TRCPRGCTLR, 0);
	order(u, HWT_BARRIER_DATA);
	idle = becomes(u, u->path->etm + TRCSTATR, TRCSTATR_IDLE, TRCSTATR_IDLE);
	wr(u, etr + TMC_FFCR, TMC_FFCR_ENFT | TMC_FFCR_ENTI | TMC_FFCR_FLUSHMAN);
	order(u, HWT_BARRIER_DATA);
	idle &= becomes(u, etr + TMC_FFCR, TMC_FFCR_FLUSHMAN, 0);
	wr(u, u->path->funnel + CSTF_CTRL, 0);
	return idle;
}

uint64_t cs_path_level(const struct cs_unit *u)
{
	return 4ull * rd(u, u->path->etr + TMC_CBUFLEVEL);
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
