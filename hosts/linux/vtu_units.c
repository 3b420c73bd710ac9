// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "vtu_units.h"

#include <linux/compiler.h>
#include <linux/kernel.h>

#include "../../backends/pt/pt_backend.h"
#include "../../backends/spe/spe_backend.h"

static void init_pt(union vtu_backend *b, struct hwt_bus *bus)
{
	pt_backend_init(&b->be, bus);
}

static void init_coresight(union vtu_backend *b, struct hwt_bus *bus)
{
	static const struct cs_path path = {VTU_CS_ETM, VTU_CS_FUNNEL, VTU_CS_ETR,
					    VTU_CS_ROUTE};

	cs_backend_init(&b->cs, bus, &path);
}

static void init_spe(union vtu_backend *b, struct hwt_bus *bus)
{
	spe_backend_init(&b->be, bus);
}

static const struct vtu_unit units[] = {
	{
		.kind = VTU_UNIT_PT,
		.offset = vtu_reg_offset_pt,
		.init = init_pt,
		.on = {{MSR_RTIT_CTL, RTIT_CTL_TRACEEN}},
		.off = {{MSR_RTIT_CTL, 0}},
		.noff = 1,
	}, {
		.kind = VTU_UNIT_CORESIGHT,
		.words = true,
		.offset = vtu_reg_offset_coresight,
		.init = init_coresight,
		.on = {{VTU_CS_ETM + TRCPRGCTLR, TRCPRGCTLR_EN}},
		.off = {{VTU_CS_ETM + CS_LAR, CS_LAR_KEY}, {VTU_CS_ETM + TRCPRGCTLR, 0}},
		.noff = 2,
		.sink_off = {{VTU_CS_ETR + CS_LAR, CS_LAR_KEY}, {VTU_CS_ETR + TMC_CTL, 0}},
		.nsink_off = 2,
		.route = VTU_CS_ROUTE,
	}, {
		.kind = VTU_UNIT_SPE,
		.offset = vtu_reg_offset_spe,
		.init = init_spe,
		.on = {
			{PMSCR_EL1, PMSCR_E0SPE | PMSCR_E1SPE},
			{PMBLIMITR_EL1, PMBLIMITR_E},
		},
		.off = {{PMSCR_EL1, 0}, {PMBLIMITR_EL1, 0}},
		.noff = 2,
	},
};

const struct vtu_unit *vtu_unit_of_kind(uint32_t kind)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (units[i].kind == kind)
			return &units[i];
	return NULL;
}

/* What is asked for is in the low word of each register. */
bool vtu_unit_traces(const struct vtu_unit *u, const struct vtu_block *b)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(u->on) && u->on[i].bits; i++)
		if (!(READ_ONCE(*(const uint32_t *)(b->regs + u->offset(u->on[i].reg))) &
		      u->on[i].bits))
			return false;
	return true;
}
