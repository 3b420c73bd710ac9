/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include "cs_link.h"

#define PART_FUNNEL	0x908u
#define PART_REPLICATOR	0x909u

void cs_funnel_init(struct cs_funnel *f, struct cs_regs *regs, unsigned int nports,
		    struct cs_sink out)
{
	const struct cs_identity id = {
		.devtype = CS_DEVTYPE_LINK_MERGE,
		.devid = nports & CSTF_DEVID_PORTS_MASK,
		.part = PART_FUNNEL,
	};

	cs_component_init(regs, &id);
	f->regs = regs;
	f->out = out;
	f->nports = nports;
	*cs_reg(regs, CSTF_CTRL) = 3u << CSTF_CTRL_HT_SHIFT;
	*cs_reg(regs, CSTF_PRIORITY) = 0xfac688;	/* port n has priority n */
}

int cs_funnel_write(struct cs_funnel *f, uint32_t offset, uint32_t value)
{
	uint32_t ports = (1u << f->nports) - 1;

	switch (cs_component_write(f->regs, offset, value)) {
	case CS_WRITE_REFUSED:
		return -EIO;
	case CS_WRITE_DONE:
		return 0;
	case CS_WRITE_OTHER:
		break;
	}
	if (offset == CSTF_CTRL && !(value & ~(ports | CSTF_CTRL_HT_MASK)))
		*cs_reg(f->regs, CSTF_CTRL) = value;
	else if (offset == CSTF_PRIORITY && !(value & ~CSTF_PRIORITY_MASK))
		*cs_reg(f->regs, CSTF_PRIORITY) = value;
	else
		return -EIO;
	return 0;
}

bool cs_funnel_input(struct cs_funnel *f, unsigned int port, uint8_t id,
		     const uint8_t *bytes, size_t n)
{
	if (port >= f->nports || !(*cs_reg(f->regs, CSTF_CTRL) & CSTF_CTRL_ENS(port)))
		return false;
	return f->out.input(f->out.ctx, id, bytes, n);
}

void cs_replicator_init(struct cs_replicator *r, struct cs_regs *regs,
			struct cs_sink out0, struct cs_sink out1)
{
	static const struct cs_identity id = {
		.devtype = CS_DEVTYPE_LINK_SPLIT,
		.devid = CSTR_OUTPUTS,
		.part = PART_REPLICATOR,
	};

	cs_component_init(regs, &id);
	r->regs = regs;
	r->out[0] = out0;
	r->out[1] = out1;
}

int cs_replicator_write(struct cs_replicator *r, uint32_t offset, uint32_t value)
{
	switch (cs_component_write(r->regs, offset, value)) {
	case CS_WRITE_REFUSED:
		return -EIO;
	case CS_WRITE_DONE:
		return 0;
	case CS_WRITE_OTHER:
		break;
	}
	if (offset > CSTR_IDFILTER(CSTR_OUTPUTS - 1) || value & ~CSTR_IDFILTER_ALL)
		return -EIO;
	*cs_reg(r->regs, offset) = value;
	return 0;
}

bool cs_replicator_input(struct cs_replicator *r, uint8_t id, const uint8_t *bytes,
			 size_t n)
{
	bool taken = true;
	unsigned int i;

	for (i = 0; i < CSTR_OUTPUTS; i++) {
		uint32_t filter = *cs_reg(r->regs, CSTR_IDFILTER(i));

		if (r->out[i].input && !(filter & CSTR_IDFILTER_DROP(id)))
			taken &= r->out[i].input(r->out[i].ctx, id, bytes, n);
	}
	return taken;
}
