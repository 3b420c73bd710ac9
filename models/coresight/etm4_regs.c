/* SPDX-License-Identifier: BSD-2-Clause */
/* The register file (chapter 7), and what it says of itself. */
#include <errno.h>
#include "etm4_priv.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define CCIT_MIN	4u
#define PAIRS		4u
#define CC_BITS		20u		/* TRCIDR2.CCSIZE */
#define EXLEVELS	0x7u		/* EL0, EL1, EL2; it knows no Secure state */
#define VERSION_MINOR	3u		/* from here on WFI and WFE can be P0 */
#define PART_ETM	0x95du

static const uint32_t idr[ETM4_NUM_IDR] = {
	[0] = TRCIDR0_RES1 | TRCIDR0_TRCBB | TRCIDR0_TRCCCI | TRCIDR0_RETSTACK |
	      TRCIDR0_TSSIZE_64 | TRCIDR0_COMMOPT,
	[1] = 0x41u << TRCIDR1_DESIGNER_SHIFT | TRCIDR1_RES1 | 4u << TRCIDR1_MAJOR_SHIFT |
	      VERSION_MINOR << TRCIDR1_MINOR_SHIFT,
	[2] = TRCIDR2_IASIZE_64 | 4u << TRCIDR2_CIDSIZE_SHIFT |
	      (CC_BITS - 12) << TRCIDR2_CCSIZE_SHIFT | TRCIDR2_WFXMODE,
	[3] = CCIT_MIN | EXLEVELS << TRCIDR3_EXLEVEL_NS_SHIFT | TRCIDR3_STALLCTL,
	[4] = PAIRS,
	[5] = TRCIDR5_TRACEIDSIZE_7,
	/* 8: no speculation; 9 to 13: no keys; 6, 7: reserved. */
};

static bool any(struct etm_unit *u, uint64_t value)
{
	return true;
}

static bool sync_ok(struct etm_unit *u, uint64_t value)
{
	return !value || (value >= TRCSYNCPR_MIN && value <= TRCSYNCPR_MAX);
}

static bool threshold_ok(struct etm_unit *u, uint64_t value)
{
	return !value || value >= CCIT_MIN;
}

static bool id_ok(struct etm_unit *u, uint64_t value)
{
	return value >= CS_ID_FIRST && value <= CS_ID_LAST;
}

/* ViewInst's resource: never or always; there are no others. */
static bool view_ok(struct etm_unit *u, uint64_t value)
{
	return (value & TRCVICTLR_EVENT_MASK) <= TRCVICTLR_EVENT_TRUE;
}

/* Registers that can be written: which bits, and which values. */
static const struct {
	uint16_t offset;
	uint32_t bits;
	bool (*ok)(struct etm_unit *u, uint64_t value);
} writable[] = {
	{TRCCONFIGR, TRCCONFIGR_RES1 | TRCCONFIGR_BB | TRCCONFIGR_CCI | TRCCONFIGR_CID |
		     TRCCONFIGR_TS | TRCCONFIGR_RS, any},
	{TRCEVENTCTL0R, 0, any},
	{TRCEVENTCTL1R, 0, any},
	{TRCSTALLCTLR, TRCSTALLCTLR_LEVEL_MASK | TRCSTALLCTLR_ISTALL, any},
	{TRCTSCTLR, 0, any},
	{TRCSYNCPR, TRCSYNCPR_PERIOD_MASK, sync_ok},
	{TRCCCCTLR, TRCCCCTLR_THRESHOLD_MASK, threshold_ok},
	{TRCBBCTLR, ((1u << PAIRS) - 1) | TRCBBCTLR_INCLUDE, any},
	{TRCTRACEIDR, TRCTRACEIDR_MASK, id_ok},
	{TRCVICTLR, TRCVICTLR_EVENT_MASK | TRCVICTLR_SSSTATUS |
		    EXLEVELS << TRCVICTLR_EXLEVEL_NS_SHIFT, view_ok},
	{TRCVIIECTLR, ((1u << PAIRS) - 1) * 0x10001u, any},
	{TRCVISSCTLR, ((1u << 2 * PAIRS) - 1) * 0x10001u, any},
	{TRCPDCR, ~0u, any},
};

#define ACATR_BITS (EXLEVELS << TRCACATR_EXLEVEL_NS_SHIFT)

static int write64(struct etm_unit *u, uint32_t offset, uint64_t value)
{
	if (offset & 7)
		return -EIO;
	if (offset >= TRCACATR(0) && (value & ~(uint64_t)ACATR_BITS))
		return -EIO;
	memcpy(cs_reg(u->regs, offset), &value, 8);
	return 0;
}

static int write_plain(struct etm_unit *u, uint32_t offset, uint64_t value)
{
	unsigned int i;

	if (offset >= TRCACVR(0) && offset < TRCACVR(2 * PAIRS))
		return write64(u, offset, value);
	if (offset >= TRCACATR(0) && offset < TRCACATR(2 * PAIRS))
		return write64(u, offset, value);
	for (i = 0; i < ARRAY_SIZE(writable); i++) {
		if (writable[i].offset != offset)
			continue;
		if ((value & ~(uint64_t)writable[i].bits) || !writable[i].ok(u, value))
			return -EIO;
		*cs_reg(u->regs, offset) = value;
		return 0;
	}
	return -EIO;
}

static int write_enable(struct etm_unit *u, uint64_t value)
{
	bool on = value & TRCPRGCTLR_EN;
	bool os_locked = *cs_reg(u->regs, TRCOSLSR) & 2;

	/* No trace ID or a locked OS Lock: silicon's behaviour is unpredictable. */
	if ((value & ~(uint64_t)TRCPRGCTLR_EN) ||
	    (on && (os_locked || !id_ok(u, *cs_reg(u->regs, TRCTRACEIDR)))))
		return -EIO;
	if (on == u->enabled)
		return 0;
	*cs_reg(u->regs, TRCPRGCTLR) = value;
	if (on) {
		*cs_reg(u->regs, TRCSTATR) = 0;
		etm_enable(u);
	} else {
		etm_disable(u);
		*cs_reg(u->regs, TRCSTATR) = TRCSTATR_IDLE | TRCSTATR_PMSTABLE;
	}
	return 0;
}

int etm_unit_write(struct etm_unit *u, uint32_t offset, uint64_t value)
{
	if (offset < TRCACVR(0) || offset >= TRCACATR(ETM4_MAX_ACS))
		if (value >> 32)
			return -EIO;
	switch (cs_component_write(u->regs, offset, value)) {
	case CS_WRITE_REFUSED:
		return -EIO;
	case CS_WRITE_DONE:
		return 0;
	case CS_WRITE_OTHER:
		break;
	}
	if (offset == TRCPRGCTLR)
		return write_enable(u, value);
	if (u->enabled)
		return -EIO;
	if (offset == TRCOSLAR) {
		/* OSLSR: OSLM says that there is one, OSLK whether it is locked. */
		*cs_reg(u->regs, TRCOSLSR) = 0x8 | (value & 1) << 1;
		return 0;
	}
	return write_plain(u, offset, value);
}

uint64_t etm_unit_read(struct etm_unit *u, uint32_t offset)
{
	uint64_t value = 0;

	if (offset >= CS_COMPONENT_SIZE || offset & 3)
		return 0;
	if (offset >= TRCACVR(0) && offset < TRCACATR(ETM4_MAX_ACS) && !(offset & 7)) {
		memcpy(&value, cs_reg(u->regs, offset), 8);
		return value;
	}
	return *cs_reg(u->regs, offset);
}

size_t etm_unit_size(void)
{
	return sizeof(struct etm_unit);
}

void etm_unit_init(struct etm_unit *u, struct cs_regs *regs,
		   const struct etm_unit_host *host)
{
	static const struct cs_identity identity = {
		.devtype = CS_DEVTYPE_SOURCE_PE,
		.devarch = CS_DEVARCH_ARM | CS_DEVARCH_PRESENT | VERSION_MINOR << 16 |
			   TRCDEVARCH_ETM4,
		.part = PART_ETM,
	};
	unsigned int i;

	memset(u, 0, sizeof(*u));
	cs_component_init(regs, &identity);
	u->regs = regs;
	u->host = *host;
	u->wp = u->buf;
	u->cc_max = (1u << CC_BITS) - 1;
	u->empty = true;
	for (i = 0; i < ETM4_NUM_IDR; i++)
		*cs_reg(regs, TRCIDR(i)) = idr[i];
	if (host->stall)
		*cs_reg(regs, TRCIDR(3)) |= TRCIDR3_SYSSTALL;
	*cs_reg(regs, TRCSTATR) = TRCSTATR_IDLE | TRCSTATR_PMSTABLE;
	*cs_reg(regs, TRCOSLSR) = 0xa;
	*cs_reg(regs, TRCPDSR) = TRCPDSR_POWER;
}
