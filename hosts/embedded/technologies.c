// SPDX-License-Identifier: BSD-2-Clause
/* The kinds of trace units that a program can run beside, by its machine. */
#include "embedded.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "../../backends/pt/pt_backend.h"
#include "../../backends/spe/spe_backend.h"
#include "../../vtu/launch.h"

static void init_pt(struct trace_unit *u)
{
	pt_backend_init(&u->backend, &u->bus.bus);
}

static void init_coresight(struct trace_unit *u)
{
	static const struct cs_path path = {VTU_CS_ETM, VTU_CS_FUNNEL, VTU_CS_ETR,
					    VTU_CS_ROUTE};

	cs_backend_init(&u->cs, &u->bus.bus, &path);
}

static void init_spe(struct trace_unit *u)
{
	spe_backend_init(&u->backend, &u->bus.bus);
}

static const struct technology table[NTECHNOLOGIES] = {
	{"pt", VTU_UNIT_PT, EM_X86_64, "virtual Intel PT unit (QEMU)", init_pt,
	 vtu_reg_offset_pt, false},
	{"coresight", VTU_UNIT_CORESIGHT, EM_AARCH64, "virtual CoreSight unit (QEMU)",
	 init_coresight, vtu_reg_offset_coresight, true},
	{"spe", VTU_UNIT_SPE, EM_AARCH64, "virtual Arm SPE unit (QEMU; latencies are a model's)",
	 init_spe, vtu_reg_offset_spe, false},
};

const struct technology *technology_for(unsigned int elf, const char *backend)
{
	size_t i;

	for (i = 0; i < NTECHNOLOGIES; i++)
		if ((!elf || table[i].elf == elf) &&
		    (!backend || !strcmp(table[i].backend, backend)))
			return &table[i];
	return NULL;
}

int technologies_load(struct embedded *e)
{
	size_t i;
	int err;

	for (i = 0; i < NTECHNOLOGIES; i++) {
		struct trace_unit *u = &e->units[i];

		u->embedded = e;
		vtu_bus_init(&u->bus, e->window, table[i].name);
		u->bus.doorbell = block_doorbell;
		u->bus.hold = block_used;
		u->bus.reg_offset = table[i].reg_offset;
		u->bus.words = table[i].words;
		u->bus.kind = table[i].kind;
		table[i].init(u);
		err = hwt_backend_register(e->core, &u->backend);
		if (err) {
			while (i-- > 0)
				hwt_backend_unregister(e->core, &e->units[i].backend);
			return err;
		}
	}
	return 0;
}

void technologies_unload(struct embedded *e)
{
	size_t i;

	for (i = NTECHNOLOGIES; i-- > 0;)
		hwt_backend_unregister(e->core, &e->units[i].backend);
}
