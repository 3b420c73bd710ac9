/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Intel PT trace unit in software: registers in, runs in, packets out.
 * It knows no driver, no framework and no emulator.
 *
 * The registers live in memory of the caller's (the vtu window), so that the
 * other side reads them live: OUTPUT_MASK_PTRS moves with every packet.
 * A unit is used by one thread at a time and takes no locks.
 */
#ifndef MODELS_PT_UNIT_H
#define MODELS_PT_UNIT_H

#include <stddef.h>
#include "../run.h"
#include "../../hw/pt.h"

/* The register file; MSR n is at index n - MSR_RTIT_FIRST. */
struct pt_regs_file {
	uint64_t msr[MSR_RTIT_LAST - MSR_RTIT_FIRST + 1];
};

struct pt_unit_host {
	void *ctx;
	/*
	 * Memory of the unit's address space: a pointer to len bytes at addr,
	 * or NULL if they are not (all) memory: the unit then sets
	 * STATUS.Error as the manual has it (33.2.7.2, operational errors).
	 */
	void *(*memory)(void *ctx, uint64_t addr, uint64_t len);
	/*
	 * A ToPA region with INT was filled.  It comes at the end of the event
	 * or run that filled it: a few packets (under 512 bytes) may be in the
	 * next region already.  Registers are up to date; the callee may write
	 * them (pt_unit_wrmsr), flush and set the clock before it returns, but
	 * feed nothing.
	 */
	void (*interrupt)(void *ctx);
	/*
	 * A clock of the host's, in ticks; NULL: the unit's own.  Asked where a
	 * packet tells time; the unit's own never goes back for it.
	 */
	uint64_t (*clock)(void *ctx);
};

/*
 * STATUS.PacketByteCnt has 17 bits.  With PSB frequencies beyond it the field
 * saturates; writing back what it says keeps the unit's whole count.
 */
struct pt_unit;		/* whole definition in pt_unit_priv.h, for the inline feed */

size_t pt_unit_size(void);
/*
 * caps: PT_CAP_COUNT capability words (NULL: pt_unit_default_caps).
 * regs are zeroed: power-on state.
 */
void pt_unit_init(struct pt_unit *u, struct pt_regs_file *regs,
		  const uint32_t *caps, const struct pt_unit_host *host);
extern const uint32_t pt_unit_default_caps[PT_CAP_COUNT];

/*
 * WRMSR.  0, or -EIO where silicon would #GP: reserved or unsupported bits or
 * values, an address that is not canonical; and while TraceEn is set, any write
 * but one to CTL that clears it or changes nothing (33.2.8.1).
 *
 * Setting TraceEn gives PSB+ if STATUS.PacketByteCnt is 0, else the time; then
 * TIP.PGE where the CPU stands (pt_unit_set_context), if that is traced.
 * Clearing it brings all packets to memory; if it was tracing, TIP.PGD without
 * an IP, which a decoder can place only if the CPU left the traced context
 * before (pt_unit_break, pt_unit_async).  Inside host.interrupt it is placed by
 * a FUP.
 *
 * A region of ToPA with STOP that was filled leaves STATUS.Stopped and an
 * OutputOffset equal to the region's size; all others are left at once for the
 * next entry.
 */
int pt_unit_wrmsr(struct pt_unit *u, uint32_t msr, uint64_t value);
uint64_t pt_unit_rdmsr(struct pt_unit *u, uint32_t msr);

/*
 * Where the CPU stands: privilege level and CR3, which decide ContextEn
 * (33.2.5), and the next instruction: TIP.PGE or FUP, TIP.PGD where that turns
 * tracing on or off.  TraceEn starts from the last one that was told.
 */
void pt_unit_set_context(struct pt_unit *u, unsigned int cpl, uint64_t cr3,
			 uint64_t ip);

/*
 * `ninsn` instructions of `r` retired (all of them, or fewer when the run was
 * cut), and the next one is at `next`.  With ninsn < r->ninsn no branch was
 * executed (0: only to say where the CPU stands).  RUN_FAR ends are fed by
 * pt_unit_far.  A `next` that the run cannot lead to is told as an asynchronous
 * transfer: the flow decodes, but what was between stays unseen.
 * pt_feed.h has the inline fast path of this.
 */
void pt_unit_run(struct pt_unit *u, const struct run *r, uint32_t ninsn,
		 uint64_t next);
/*
 * A far transfer (last instruction of r) into a context of level cpl at
 * `next`: TIP where both sides are traced, TIP.PGD where it leaves.
 */
void pt_unit_far(struct pt_unit *u, const struct run *r, unsigned int cpl,
		 uint64_t cr3, uint64_t next);
/*
 * An asynchronous event (interrupt, exception, signal) before the instruction
 * at `from`: FUP(from), then TIP or TIP.PGD as for pt_unit_far.
 */
void pt_unit_async(struct pt_unit *u, uint64_t from, unsigned int cpl,
		   uint64_t cr3, uint64_t to);
/* Back from an untraced context to `ip`: TIP.PGE where filters let it. */
void pt_unit_enter(struct pt_unit *u, unsigned int cpl, uint64_t cr3,
		   uint64_t ip);
/*
 * Breaks the stream at `ip` while tracing stays in context: FUP(ip),
 * TIP.PGD, then on resume TIP.PGE(ip).  Between the two, everything before is
 * in memory and position is what OUTPUT_MASK_PTRS says: code may change there.
 */
void pt_unit_break(struct pt_unit *u, uint64_t ip);
void pt_unit_resume(struct pt_unit *u, uint64_t ip);

/* insns instructions retired outside of ContextEn: only time passes. */
void pt_unit_pass(struct pt_unit *u, uint32_t insns);

/* Pending TNT bits and deferred TIPs to memory. */
void pt_unit_flush(struct pt_unit *u);
/*
 * The clock: one tick an instruction.  Advances it to tsc, with a TSC packet (and
 * TMA) if that is a jump; a tsc that is not ahead is ignored.
 */
void pt_unit_set_tsc(struct pt_unit *u, uint64_t tsc);
uint64_t pt_unit_tsc(const struct pt_unit *u);
/* Core:bus ratio for CBR (33.4.2.10). */
void pt_unit_set_cbr(struct pt_unit *u, uint8_t ratio);

/*
 * For tests.  overflow_begin drops all packets until overflow_end(ip), which
 * tells OVF and, if tracing is on, FUP(ip) (33.3.8).
 */
void pt_unit_overflow_begin(struct pt_unit *u);
void pt_unit_overflow_end(struct pt_unit *u, uint64_t ip);
/*
 * An internal buffer of so many packets, which drains by one packet each eight
 * instructions: it overflows where branches are dense.  0: none.
 */
void pt_unit_set_fifo(struct pt_unit *u, uint32_t packets);
/* TIPs of indirect jumps and calls wait behind a TNT that is not full (33.4.2.3). */
void pt_unit_set_defer_tips(struct pt_unit *u, bool on);
/* n PAD packets (33.4.2.18), as silicon puts them in for its own reasons. */
void pt_unit_pad(struct pt_unit *u, unsigned int n);

#endif
