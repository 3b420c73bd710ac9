// SPDX-License-Identifier: BSD-2-Clause
/* The test owner's driver of CoreSight: an ETR as a FIFO, own or shared. */
#include "owner_units.h"

#include <string.h>

#include "../../hw/etm4.h"
#include "../../hw/tmc.h"

#define ONE_SOURCE 0x10 /* trace ID where nobody else has one */

static uint32_t etr(const struct owner *w, uint32_t n, uint32_t offset)
{
	const struct vtu_block *b = vtu_block(w->window, n);

	return *(const volatile uint32_t *)(b->regs + VTU_CS_ETR + offset);
}

static void program_sink(struct owner *w, uint32_t n)
{
	const struct {
		uint32_t reg, value;
	} writes[] = {
		{VTU_CS_FUNNEL + CS_LAR, CS_LAR_KEY},
		{VTU_CS_FUNNEL + CSTF_CTRL, CSTF_CTRL_ENS_MASK},
		{VTU_CS_ETR + CS_LAR, CS_LAR_KEY},
		{VTU_CS_ETR + TMC_RSZ, w->o.region / 4},
		{VTU_CS_ETR + TMC_MODE, TMC_MODE_SWF2},
		{VTU_CS_ETR + TMC_BUFWM, w->o.region / 8},
		{VTU_CS_ETR + TMC_DBALO, (uint32_t)(n * BLOCK_DRAM)},
		{VTU_CS_ETR + TMC_DBAHI, n * BLOCK_DRAM >> 32},
		{VTU_CS_ETR + TMC_RRP, (uint32_t)(n * BLOCK_DRAM)},
		{VTU_CS_ETR + TMC_RRPHI, n * BLOCK_DRAM >> 32},
		{VTU_CS_ETR + TMC_RWP, (uint32_t)(n * BLOCK_DRAM)},
		{VTU_CS_ETR + TMC_RWPHI, n * BLOCK_DRAM >> 32},
		{VTU_CS_ETR + TMC_FFCR, TMC_FFCR_ENFT | TMC_FFCR_ENTI},
		{VTU_CS_ETR + TMC_CTL, TMC_CTL_CAPTURE},
	};
	size_t i;

	for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++)
		owner_command(w, n, writes[i].reg, writes[i].value);
	owner_units[n].taken = owner_units[n].given = 0;
}

/* All exception levels that there are but non-secure EL0: not traced. */
static uint32_t only_programs(const struct owner *w)
{
	uint32_t levels = w->window->caps[3] & TRCVICTLR_EXLEVEL_MASK;

	return levels & ~(1u << TRCVICTLR_EXLEVEL_NS_SHIFT);
}

static void program_source(struct owner *w, uint32_t n, uint32_t id)
{
	const struct {
		uint32_t reg, value;
	} writes[] = {
		{CS_LAR, CS_LAR_KEY},
		{TRCOSLAR, 0},
		{TRCCONFIGR, TRCCONFIGR_RES1 | (uint32_t)w->o.ctl},
		{TRCTRACEIDR, id},
		{TRCSYNCPR, 12},
		{TRCCCCTLR, 16},
		{TRCSTALLCTLR, TRCSTALLCTLR_ISTALL},
		{TRCVICTLR, TRCVICTLR_EVENT_TRUE | TRCVICTLR_SSSTATUS | only_programs(w)},
		{TRCPRGCTLR, TRCPRGCTLR_EN},
	};
	size_t i;

	for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++)
		owner_command(w, n, VTU_CS_ETM + writes[i].reg, writes[i].value);
}

/* One that no thread of the process has. */
static uint32_t free_id(const struct owner *w, const struct process *p)
{
	const struct stream *s;
	bool used[CS_ID_LAST + 1] = {false};
	uint32_t id;

	for (s = w->streams; s; s = s->next)
		if (s->process == p && !s->ended)
			used[s->id] = true;
	for (id = CS_ID_FIRST; id <= CS_ID_LAST && used[id]; id++)
		;
	return id;
}

void owner_cs_program(struct owner *w, struct process *p, uint32_t n)
{
	struct unit *u = &owner_units[n];
	struct stream *sink;

	if (!w->o.shared || !p->sink) {
		program_sink(w, n);
		u->sink = n;
		p->sink = u->stream;
		p->sink_block = n;
	} else {
		u->sink = p->sink_block;
		owner_command(w, n, VTU_CS_ROUTE, u->sink);
	}
	sink = w->o.shared ? p->sink : u->stream;
	u->stream->sink = sink;
	u->stream->id = w->o.shared ? free_id(w, p) : ONE_SOURCE;
	u->stream->begin = sink->size;
	if (u->stream->id <= CS_ID_LAST) /* else: as many as there are IDs */
		program_source(w, n, u->stream->id);
	owner_ring(w, n);
	u->on = true;
}

void owner_cs_drain(struct owner *w, uint32_t n, bool parked)
{
	uint32_t m = owner_units[n].sink;
	struct unit *u = &owner_units[m];
	struct stream *s = owner_units[n].stream->sink;
	uint64_t end = u->given + 4ull * etr(w, m, TMC_CBUFLEVEL), from, len;

	while (u->taken < end) {
		from = u->taken % w->o.region;
		len = w->o.region - from;
		if (len > end - u->taken)
			len = end - u->taken;
		owner_append(s, w->dram + m * BLOCK_DRAM + from, len);
		u->taken += len;
	}
	if (!parked || u->taken == u->given)
		return;
	owner_command(w, n, VTU_CS_ETR + TMC_RURP, u->taken - u->given);
	owner_ring(w, n);
	u->given = u->taken;
}
