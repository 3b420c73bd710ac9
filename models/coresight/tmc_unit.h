/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Trace Memory Controller in software (DDI 0461B; SWF2 as SoC-600 has it): the
 * sink that collects the trace of many sources.
 *
 *	ETB	circular buffer in RAM of its own, read by RRD
 *	ETF	the same; or a FIFO into the next component (HWF)
 *	ETR	circular buffer, or FIFO that software frees by RURP, in system memory
 *
 * With the formatter on, what lands in memory are 16-byte frames with trace IDs.
 * A unit takes no locks: who feeds it from several threads holds one.
 */
#ifndef MODELS_CORESIGHT_TMC_UNIT_H
#define MODELS_CORESIGHT_TMC_UNIT_H

#include "cs_link.h"
#include "../../hw/tmc.h"

struct tmc_unit_host {
	void *ctx;
	/* ETR: len bytes of system memory at addr, or NULL: STS.MemErr. */
	void *(*memory)(void *ctx, uint64_t addr, uint64_t len);
	/*
	 * FULL went high: the buffer wrapped (circular), or no more than BUFWM
	 * words are free (FIFO).  Registers are up to date.
	 */
	void (*full)(void *ctx);
	/* Asks all sources for what they hold back (FFCR.FlushMan).  NULL: none. */
	void (*flush)(void *ctx);
};

struct tmc_unit {
	struct cs_regs *regs;
	struct tmc_unit_host host;
	struct cs_sink next;		/* ETF: behind the FIFO */
	uint32_t config;		/* TMC_CONFIG_* */
	uint8_t *ram;			/* where the buffer is */
	uint64_t base, size;		/* bytes; base: the unit's address of ram */
	uint64_t rp, wp, level;		/* offsets; FIFO: bytes not yet read */
	uint8_t frame[CS_FRAME];
	uint8_t pos;			/* next free byte of the frame */
	uint8_t id;			/* of the last data byte, 0: none yet */
	bool id_pending;		/* an ID is the last thing in the frame */
	uint8_t frames;			/* since the last ID */
	bool capturing, stopped, formatted;
};

/*
 * ram, size: the RAM of an ETB or ETF (caller's; size a multiple of 16); NULL and
 * 0 for an ETR.
 */
void tmc_unit_init(struct tmc_unit *t, struct cs_regs *regs, uint32_t config,
		   void *ram, uint64_t size, struct cs_sink next,
		   const struct tmc_unit_host *host);
/*
 * 0; -EIO: locked, read only, reserved bits or values, or a register that may
 * only be written while capture is off (and it is on, or the other way round).
 */
int tmc_unit_write(struct tmc_unit *t, uint32_t offset, uint32_t value);
/* RRD takes a word out; all others are plain loads. */
uint32_t tmc_unit_read(struct tmc_unit *t, uint32_t offset);
/*
 * n bytes of source id (0x01..0x6f).  All are taken, or none: true: captured, or
 * thrown away because capture is off; false: a FIFO without room.  n 0: is there?
 */
bool tmc_unit_input(struct tmc_unit *t, uint8_t id, const uint8_t *bytes, size_t n);
/* What is in the formatter goes to memory: the frame is filled up with ID 0. */
void tmc_unit_flush(struct tmc_unit *t);

#endif
