/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run: consecutive instructions up to a branch, as the feeder (the QEMU
 * plugin, a test) describes it to a model.  One struct run is made when the
 * code is translated and fed each time it is executed.
 */
#ifndef MODELS_RUN_H
#define MODELS_RUN_H

#include <stdbool.h>
#include <stdint.h>

enum run_end {		/* what the last instruction is, as PT and ETM classify it */
	RUN_SEQ,	/* no branch: the run was cut by the translator */
	RUN_JCC,	/* conditional, direct (also LOOP, JRCXZ) */
	RUN_JMP,	/* unconditional, direct */
	RUN_CALL,	/* direct call */
	RUN_JMP_IND,
	RUN_CALL_IND,
	RUN_RET,	/* near return */
	RUN_FAR,	/* SYSCALL, INTn, INT3, IRET, far CALL/JMP/RET, ... */
};

struct run {
	uint64_t	start;		/* address of the first instruction */
	uint64_t	end;		/* address after the last one */
	uint64_t	last;		/* address of the last one */
	uint64_t	target;		/* RUN_JCC, JMP, CALL: where it goes if taken */
	uint32_t	ninsn;		/* >= 1 */
	uint8_t		kind;		/* enum run_end */
	uint8_t		flags;		/* feeder's own */
	uint16_t	reserved;
	void		*priv;		/* feeder's own */
	uint8_t		len[];		/* bytes of each instruction */
};

#endif
