/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ETMv4 trace unit in software (IHI 0064F; A64 code, Non-secure state, no
 * speculation, no data trace): registers in, runs in, packets out.  It knows no
 * driver, no framework and no emulator.
 *
 * What is traced.  P0 elements are branches, ISB, WFI and WFE, and exceptions.  A
 * P0 element is traced if any instruction since the one before it was in ViewInst
 * (TRCVICTLR, TRCVIIECTLR, TRCVISSCTLR); where the one before was not traced,
 * trace begins at the first instruction that was, with Trace On.  So a stretch
 * begins exactly and ends with a branch (2.3.2: filtering is by P0 elements).
 *
 * A unit is used by one thread at a time and takes no locks.
 */
#ifndef MODELS_CORESIGHT_ETM4_UNIT_H
#define MODELS_CORESIGHT_ETM4_UNIT_H

#include "../run.h"
#include "../../hw/etm4.h"
#include "cs_component.h"

struct etm_unit_host {
	void *ctx;
	/*
	 * The trace bus (ATB): n bytes of the source `id`.  All are taken, or,
	 * false, none: there is no room.  The unit then overflows, unless
	 * TRCSTALLCTLR.ISTALL is set and stall() makes room.  n may be 0: is
	 * there room?
	 */
	bool (*output)(void *ctx, uint8_t id, const uint8_t *bytes, size_t n);
	/* Waits for room; false: there is none.  NULL: never (TRCIDR3.SYSSTALL is 0). */
	bool (*stall)(void *ctx);
	/* Timestamps, in ticks; NULL: the unit's own clock. */
	uint64_t (*clock)(void *ctx);
};

struct etm_unit;		/* whole definition in etm4_priv.h */

size_t etm_unit_size(void);
/* Power-on state: locked, OS Lock set, disabled. */
void etm_unit_init(struct etm_unit *u, struct cs_regs *regs,
		   const struct etm_unit_host *host);

/*
 * Writes the register at a byte offset; for 64-bit registers (TRCACVR, ...) 8
 * bytes at once.  0; -EIO: locked, read only, reserved or unsupported bits or
 * values, or the unit is enabled (all but TRCPRGCTLR and the claim tags): then
 * nothing changes.
 *
 * Setting TRCPRGCTLR.EN gives A-sync and Trace Info; trace begins where the CPU
 * was last said to stand.  Clearing it brings all packets out; what was executed
 * since the last P0 element is only told if the CPU left the traced context
 * before (etm_unit_break, etm_unit_exception).
 */
int etm_unit_write(struct etm_unit *u, uint32_t offset, uint64_t value);
uint64_t etm_unit_read(struct etm_unit *u, uint32_t offset);

/*
 * Where the CPU stands: exception level (0..2, non-secure), context ID
 * (CONTEXTIDR) and the next instruction.  What led there is not told.
 */
void etm_unit_set_context(struct etm_unit *u, unsigned int el, uint32_t cid,
			  uint64_t ip);
/*
 * CONTEXTIDR was written: told with the next P0 element, as the write takes effect
 * with the ISB behind it.
 */
void etm_unit_set_cid(struct etm_unit *u, uint32_t cid);
/*
 * `ninsn` instructions of r retired, and the next one is at `next`.  With ninsn <
 * r->ninsn no branch was executed.  RUN_FAR and RUN_ERET ends are fed by
 * etm_unit_far.  A `next` that the run cannot lead to is told as an interrupt.
 * etm4_feed.h has the inline fast path of this.
 */
void etm_unit_run(struct etm_unit *u, const struct run *r, uint32_t ninsn,
		  uint64_t next);
/*
 * r, whose end is SVC, HVC or SMC (an exception of type call; the preferred return
 * address is r->end), or ERET, leads to `next` at level el.
 */
void etm_unit_far(struct etm_unit *u, const struct run *r, unsigned int el,
		  uint32_t cid, uint64_t next);
/*
 * An exception of type ETM4_EXC_* before the instruction at `from`, its preferred
 * return address, that leads to `to` at level el.
 */
void etm_unit_exception(struct etm_unit *u, unsigned int type, uint64_t from,
			unsigned int el, uint32_t cid, uint64_t to);
/* Breaks the stream at ip (as a debug halt), and goes on at ip. */
void etm_unit_break(struct etm_unit *u, uint64_t ip);
void etm_unit_resume(struct etm_unit *u, uint64_t ip);

/* Pending atoms and the unit's own buffer to the trace bus. */
void etm_unit_flush(struct etm_unit *u);
/*
 * The clock: one tick an instruction.  Advances it to ts, with a timestamp if that
 * is a jump and this level is traced; one that is not ahead is ignored.
 */
void etm_unit_set_clock(struct etm_unit *u, uint64_t ts);
uint64_t etm_unit_clock(const struct etm_unit *u);

/* For tests: drops all packets until overflow_end, which tells it. */
void etm_unit_overflow_begin(struct etm_unit *u);
void etm_unit_overflow_end(struct etm_unit *u);

#endif
