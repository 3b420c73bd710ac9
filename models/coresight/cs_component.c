/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "cs_component.h"

#define CLAIM_TAGS	0xfu
#define ARM_JEP106	0x3bu		/* with continuation code 4 in PIDR4 */

void cs_component_init(struct cs_regs *r, const struct cs_identity *id)
{
	static const uint8_t cidr[4] = {0x0d, 0x90, 0x05, 0xb1};
	unsigned int i;

	memset(r, 0, sizeof(*r));
	*cs_reg(r, CS_CLAIMSET) = CLAIM_TAGS;
	*cs_reg(r, CS_LSR) = CS_LSR_SLI | CS_LSR_SLK;
	*cs_reg(r, CS_AUTHSTATUS) = CS_AUTH_NSNID;
	*cs_reg(r, CS_DEVARCH) = id->devarch;
	*cs_reg(r, CS_DEVID) = id->devid;
	*cs_reg(r, CS_DEVTYPE) = id->devtype;
	*cs_reg(r, CS_PIDR4) = 0x04;
	*cs_reg(r, CS_PIDR0) = id->part & 0xff;
	*cs_reg(r, CS_PIDR1) = id->part >> 8 | (ARM_JEP106 & 0xf) << 4;
	*cs_reg(r, CS_PIDR2) = CS_PIDR2_JEDEC | ARM_JEP106 >> 4;
	for (i = 0; i < 4; i++)
		*cs_reg(r, CS_CIDR(i)) = cidr[i];
}

enum cs_written cs_component_write(struct cs_regs *r, uint32_t offset, uint32_t value)
{
	uint32_t *lsr = cs_reg(r, CS_LSR);

	if (offset >= CS_COMPONENT_SIZE || offset & 3)
		return CS_WRITE_REFUSED;
	if (offset == CS_LAR) {
		if (value == CS_LAR_KEY)
			*lsr &= ~CS_LSR_SLK;
		else
			*lsr |= CS_LSR_SLK;
		return CS_WRITE_DONE;
	}
	if (*lsr & CS_LSR_SLK)
		return CS_WRITE_REFUSED;
	if (offset == CS_CLAIMSET)
		*cs_reg(r, CS_CLAIMCLR) |= value & CLAIM_TAGS;
	else if (offset == CS_CLAIMCLR)
		*cs_reg(r, CS_CLAIMCLR) &= ~value;
	else
		return offset >= CS_ITCTRL ? CS_WRITE_REFUSED : CS_WRITE_OTHER;
	return CS_WRITE_DONE;
}
