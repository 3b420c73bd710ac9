// SPDX-License-Identifier: BSD-2-Clause
/* Drivers of the units: CoreSight with an ETR of the CPU's own, or SPE. */
#include "machine.h"

#include "hw/etm4.h"
#include "hw/spe.h"
#include "hw/tmc.h"
#include "vtu/window.h"

#define ECAM	    0x4010000000ull
#define WINDOW	    0x20000000u /* in PCI's memory */
#define TRACE_ID    0x10
#define SAMPLE_EACH 256u

static struct vtu_header *window;

static void command(struct cpu *c, u32 reg, u64 value)
{
	struct vtu_command *v = &c->unit->ring[c->unit->ring_tail % VTU_RING];

	v->reg = reg;
	v->value = value;
	__atomic_store_n(&c->unit->ring_tail, c->unit->ring_tail + 1, __ATOMIC_RELEASE);
}

static void ring(struct cpu *c)
{
	u32 request = __atomic_add_fetch(&c->unit->request, 1, __ATOMIC_SEQ_CST);

	__atomic_or_fetch(&c->unit->attention, VTU_ATTN_RING, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&c->unit->ack, __ATOMIC_ACQUIRE) != request)
		__asm__ volatile("yield");
}

static void find_window(void)
{
	volatile u32 *config;
	u32 dev;

	for (dev = 0; dev < 32; dev++) {
		config = from_pa(ECAM + (dev << 15));
		if (config[0] != 0x11101af4)
			continue;
		config[6] = WINDOW;
		config[7] = 0;
		config[1] = (config[1] & 0xffff) | 2;
		window = from_pa(WINDOW);
		return;
	}
}

void unit_find(struct cpu *c)
{
	if (!window)
		find_window();
	if (!window || window->magic != VTU_MAGIC || !(window->flags & VTU_F_SYSTEM))
		fail("no unit");
	c->unit = vtu_block(window, c->index);
	/* As a driver does that finds a unit: off, whoever had it before. */
	if (window->unit_kind == VTU_UNIT_SPE)
		command(c, PMSCR_EL1, 0);
	else
		command(c, CS_LAR, CS_LAR_KEY);
	ring(c);
	if (c->unit->state != VTU_RUNNING || window->dram_size != RAM_SIZE ||
	    c->unit->vcpu != c->index || c->unit->faults)
		fail("the unit is not as it should be");
}

static const struct configuration {
	u64 config;
	u32 levels;
} coresight[] =
	{
		{TRCCONFIGR_RS | TRCCONFIGR_CID, LEVEL_USER},
		{0, LEVEL_KERNEL},
		{TRCCONFIGR_RS, LEVEL_USER | LEVEL_KERNEL},
		{TRCCONFIGR_CID | TRCCONFIGR_TS, LEVEL_USER | LEVEL_KERNEL},
		{TRCCONFIGR_CCI | TRCCONFIGR_TS | TRCCONFIGR_RS, LEVEL_USER},
		{TRCCONFIGR_BB | TRCCONFIGR_CID, LEVEL_KERNEL},
},
  spe[] = {
	  {PMSCR_CX, LEVEL_USER},
	  {PMSCR_TS, LEVEL_KERNEL},
	  {PMSCR_CX | PMSCR_TS, LEVEL_USER | LEVEL_KERNEL},
};

bool unit_configuration(u32 i, u64 *config, u32 *levels)
{
	bool is_spe = window->unit_kind == VTU_UNIT_SPE;
	const struct configuration *table = is_spe ? spe : coresight;
	u32 n = is_spe ? sizeof(spe) / sizeof(spe[0])
		       : sizeof(coresight) / sizeof(coresight[0]);

	if (i >= n)
		return false;
	*config = table[i].config;
	*levels = table[i].levels;
	return true;
}

struct reg_value {
	u32 reg, value;
};

static void commands(struct cpu *c, const struct reg_value *v, u32 n)
{
	for (; n--; v++)
		command(c, v->reg, v->value);
}

#define ETR(r)	   (VTU_CS_ETR + (r))
#define SEND(c, v) commands(c, v, sizeof(v) / sizeof((v)[0]))

/* All exception levels that there are but those that are wanted: not traced. */
static u32 excluded(u32 levels)
{
	u32 wanted = (levels & LEVEL_USER ? 1 : 0) | (levels & LEVEL_KERNEL ? 2 : 0);

	return (window->caps[3] & TRCVICTLR_EXLEVEL_MASK) &
	       ~(wanted << TRCVICTLR_EXLEVEL_NS_SHIFT);
}

static void start_coresight(struct cpu *c, u64 pa, u64 config, u32 levels)
{
	const struct reg_value writes[] = {
		{CS_LAR, CS_LAR_KEY},
		{TRCOSLAR, 0},
		{TRCPRGCTLR, 0},
		{VTU_CS_FUNNEL + CS_LAR, CS_LAR_KEY},
		{VTU_CS_FUNNEL + CSTF_CTRL, CSTF_CTRL_ENS_MASK},
		{ETR(CS_LAR), CS_LAR_KEY},
		{ETR(TMC_CTL), 0},
		{ETR(TMC_MODE), TMC_MODE_CB},
		{ETR(TMC_RSZ), TRACE_MAX / 4},
		{ETR(TMC_DBALO), (u32)pa},
		{ETR(TMC_DBAHI), pa >> 32},
		{ETR(TMC_RRP), (u32)pa},
		{ETR(TMC_RRPHI), pa >> 32},
		{ETR(TMC_RWP), (u32)pa},
		{ETR(TMC_RWPHI), pa >> 32},
		{ETR(TMC_FFCR), TMC_FFCR_ENFT | TMC_FFCR_ENTI},
		{ETR(TMC_CTL), TMC_CTL_CAPTURE},
		{TRCCONFIGR, TRCCONFIGR_RES1 | (u32)config},
		{TRCTRACEIDR, TRACE_ID},
		{TRCSYNCPR, 12},
		{TRCCCCTLR, 16},
		{TRCVICTLR, TRCVICTLR_EVENT_TRUE | TRCVICTLR_SSSTATUS | excluded(levels)},
		{TRCPRGCTLR, TRCPRGCTLR_EN},
	};

	SEND(c, writes);
}

static u32 etr(struct cpu *c, u32 offset)
{
	return *(volatile u32 *)(c->unit->regs + ETR(offset));
}

static void stop_coresight(struct cpu *c, struct recording *r)
{
	static const struct reg_value writes[] = {
		{TRCPRGCTLR, 0},
		{ETR(TMC_FFCR), TMC_FFCR_ENFT | TMC_FFCR_ENTI | TMC_FFCR_FLUSHMAN},
		{ETR(TMC_CTL), 0},
	};

	SEND(c, writes);
	ring(c);
	r->size =
		((u64)etr(c, TMC_RWPHI) << 32 | etr(c, TMC_RWP)) - (RAM_BASE + r->trace);
	r->status = etr(c, TMC_STS) & (TMC_STS_FULL | TMC_STS_MEMERR);
}

static void start_spe(struct cpu *c, u64 pa, u64 config, u32 levels)
{
	command(c, PMSCR_EL1, 0);
	command(c, PMBLIMITR_EL1, 0);
	command(c, PMBSR_EL1, 0);
	command(c, PMSFCR_EL1, 0);
	command(c, PMSICR_EL1, 0);
	command(c, PMSIRR_EL1, SAMPLE_EACH);
	command(c, PMBPTR_EL1, pa);
	command(c, PMBLIMITR_EL1, (pa + TRACE_MAX) | PMBLIMITR_NVM | PMBLIMITR_E);
	command(c, PMSCR_EL1,
		config | (levels & LEVEL_USER ? PMSCR_E0SPE : 0) |
			(levels & LEVEL_KERNEL ? PMSCR_E1SPE : 0));
}

static u64 spe_reg(struct cpu *c, u32 reg)
{
	return *(volatile u64 *)(c->unit->regs + SPE_REG_INDEX(reg) * 8);
}

static void stop_spe(struct cpu *c, struct recording *r)
{
	command(c, PMSCR_EL1, 0);
	ring(c);
	r->size = spe_reg(c, PMBPTR_EL1) - (RAM_BASE + r->trace);
	r->status = spe_reg(c, PMBSR_EL1) & ~PMBSR_COLL;
}

static struct recording *recording(struct cpu *c, const char *name, u64 config,
				   u32 levels)
{
	struct report *report = from_pa(RAM_BASE + REPORT);
	u64 n = __atomic_fetch_add(&report->n, 1, __ATOMIC_SEQ_CST);
	struct recording *r = &report->r[n];
	u32 i;

	if (n >= MAX_RECORDINGS || c->next_trace + TRACE_MAX > c->traces_end)
		fail("too many recordings");
	for (i = 0; name[i] && i < sizeof(r->name) - 1; i++)
		r->name[i] = name[i];
	r->cpu = c->index;
	r->config = config;
	r->levels = levels;
	r->trace = c->next_trace;
	return r;
}

static void start(struct cpu *c, u64 pa, u64 config, u32 levels)
{
	if (window->unit_kind == VTU_UNIT_SPE)
		start_spe(c, pa, config, levels);
	else
		start_coresight(c, pa, config, levels);
	ring(c);
}

static void stop(struct cpu *c, struct recording *r)
{
	if (window->unit_kind == VTU_UNIT_SPE)
		stop_spe(c, r);
	else
		stop_coresight(c, r);
	if (c->unit->faults)
		fail("the unit refused a write");
}

void unit_start(struct cpu *c, const char *name, u64 config, u32 levels)
{
	struct recording *r = recording(c, name, config, levels);

	r->events = c->events;
	r->irqs = c->unit->irqs;
	c->current = r;
	start(c, RAM_BASE + r->trace, config, levels);
}

void unit_stop(struct cpu *c)
{
	struct recording *r = c->current;

	__asm__ volatile("msr daifset, #2");
	stop(c, r);
	r->irqs = c->unit->irqs - r->irqs;
	r->events = c->events - r->events;
	c->next_trace = (r->trace + r->size + 4095) & ~4095ull;
}

/* Of nothing that a unit has to tell: its log is passed over. */
void unit_hostile(struct cpu *c)
{
	static const u64 bad[] = {
		0,
		0x08000000,
		RAM_BASE - TRACE_MAX,
		RAM_BASE + RAM_SIZE,
		RAM_BASE + RAM_SIZE - 4096,
		1ull << 39,
	};
	struct recording *r;
	u32 i, k;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		r = recording(c, "hostile", 0, 0);
		start(c, bad[i], 0, LEVEL_KERNEL);
		for (k = 0; k < 100000; k++)
			__asm__ volatile("nop");
		stop(c, r);
		if (!r->status)
			fail("an address that is no memory was taken");
		r->status = r->size = 0;
	}
}
