/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run: consecutive instructions up to a branch, as the feeder (the QEMU
 * plugin, a test) describes it to a model.  One struct run is made when the
 * code is translated and fed each time it is executed.
 *
 * Make one with run_init (or run_finish, if the fields are filled by hand):
 * the models' fast paths read the derived fields.
 */
#ifndef MODELS_RUN_H
#define MODELS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * What the last instruction is, as PT and ETM classify it.  An ETM derives the
 * rest: BL and BLR (CALL, CALL_IND) link; every kind but SEQ and FAR is P0.  The
 * preferred return address of what FAR stands for on A64 is the run's end.  BRK,
 * HLT and UDF are no end: they do not retire, the exception is at their address.
 */
enum run_end {
	RUN_SEQ,	/* no branch: the run was cut by the translator */
	RUN_JCC,	/* conditional, direct (also LOOP, JRCXZ, CBZ, TBZ) */
	RUN_JMP,	/* unconditional, direct */
	RUN_CALL,	/* direct call */
	RUN_JMP_IND,
	RUN_CALL_IND,
	RUN_RET,	/* near return */
	RUN_FAR,	/* SYSCALL, INTn, INT3, IRET, far CALL/JMP/RET; SVC, HVC, SMC */
	/* A64 only: P0 elements of an ETM (IHI0064 F.1), of which PT knows none. */
	RUN_ERET,	/* indirect; also ERETAA, ERETAB */
	RUN_ISB,	/* goes on at the next instruction */
	RUN_WFX,	/* WFI, WFE (also with a timeout); P0 where TRCIDR2.WFXMODE is set */
};

/* Does only the successor say where the last instruction led? */
static inline bool run_is_indirect(uint8_t kind)
{
	return (kind >= RUN_JMP_IND && kind <= RUN_RET) || kind == RUN_ERET;
}

/* Does it go on behind its last instruction, always? */
static inline bool run_is_sequential(uint8_t kind)
{
	return kind == RUN_SEQ || kind == RUN_ISB || kind == RUN_WFX;
}

/* No instruction's address: not canonical. */
#define RUN_NOWHERE	(1ull << 63)

struct run {
	/* Read each time the run is fed: one cache line with what follows. */
	uint64_t	start;		/* address of the first instruction */
	/*
	 * Derived: the successor without a taken bit, and that of a taken JCC;
	 * NOWHERE if there is none.  Where both are the same, taken wins: who
	 * knows better makes two runs and sets the other field to NOWHERE.
	 */
	union {
		struct {
			uint64_t fall, taken;
		};
		uint64_t succ[2];	/* the same, by outcome */
	};
	uint64_t	end;		/* address after the last one */
	uint32_t	ninsn;		/* >= 1 */
	uint8_t		kind;		/* enum run_end */
	uint8_t		flags;		/* feeder's own */
	uint8_t		outcome;	/* derived: 1 if it ends in a JCC */
	uint8_t		push;		/* derived: 1 if a direct call, not of `end` */
	void		*priv;		/* feeder's own */
	uint64_t	last;		/* address of the last one */
	uint64_t	target;		/* of a direct branch, if taken; else 0 */
	uint8_t		len[];		/* bytes of each instruction */
};

/* Bytes of a run of ninsn instructions. */
static inline size_t run_size(uint32_t ninsn)
{
	return sizeof(struct run) + ninsn;
}

/* Fills the derived fields from the others. */
static inline void run_finish(struct run *r)
{
	r->outcome = r->kind == RUN_JCC;
	/* A call of the next instruction is no call (SDM 33.4.2.2). */
	r->push = r->kind == RUN_CALL && r->target != r->end;
	r->taken = r->kind == RUN_JCC ? r->target : RUN_NOWHERE;
	if (run_is_sequential(r->kind) || r->kind == RUN_JCC)
		r->fall = r->end;
	else if (r->kind == RUN_JMP || r->kind == RUN_CALL)
		r->fall = r->target;
	else
		r->fall = RUN_NOWHERE;
}

/*
 * Makes *r (run_size(ninsn) bytes of the caller's) a run of ninsn >= 1
 * instructions of len[] bytes each at `start`.  flags and priv become 0.
 */
static inline void run_init(struct run *r, uint64_t start, uint32_t ninsn,
			    const uint8_t *len, enum run_end kind, uint64_t target)
{
	uint32_t i;

	memset(r, 0, sizeof(*r));
	r->start = start;
	r->end = start;
	r->ninsn = ninsn;
	r->kind = kind;
	r->target = target;
	for (i = 0; i < ninsn; i++) {
		r->last = r->end;
		r->end += len[i];
		r->len[i] = len[i];
	}
	run_finish(r);
}

#endif
