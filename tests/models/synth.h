/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs for round trips: code as real x86-64 bytes, one execution of
 * it fed to the PT unit, the trace, and the list of executed addresses that a
 * decoder must give back.  The list is kept from what was executed and from
 * the configuration alone; it looks at nothing in the unit.
 *
 * Everything follows from the seed: a failing seed is a test case.
 */
#ifndef TESTS_MODELS_SYNTH_H
#define TESTS_MODELS_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "hw/pt.h"

struct synth_range {
	uint64_t a, b;			/* inclusive */
	uint8_t cfg;			/* RTIT_ADDR_CFG_* */
};

/* How runs are fed: this changes no byte of the trace. */
enum synth_feeding {
	SYNTH_MIXED,			/* inline and out of line */
	SYNTH_OUT_OF_LINE,
	SYNTH_SINGLY,			/* each instruction a run */
};

struct synth_config {
	uint64_t seed;
	uint64_t base;			/* address of the code; 0: 0x401000 */
	uint32_t nblocks;		/* size of the program; 0: 40 */
	uint32_t nsteps;		/* runs to execute; 0: 400 */
	/* RTIT_CTL without TraceEn and ADDRn_CFG; 0: USER | BRANCHEN | TSCEN. */
	uint64_t ctl;
	uint32_t nranges;
	struct synth_range range[PT_MAX_RANGES];
	uint32_t ntraps;		/* of 1000 runs: interrupted by an async event */
	uint32_t nbreaks;		/* of 1000 runs: then the stream breaks */
	uint32_t ncuts;			/* of 1000 runs: cut as a translator cuts them */
	uint32_t nbadrets;		/* of 1000 returns: not to their call */
	uint32_t noverflows;		/* of 1000 runs: an overflow begins or ends */
	uint32_t fifo;			/* packets in the unit's FIFO; 0: no FIFO */
	uint32_t cbr_changes;		/* of 1000 runs */
	uint32_t tsc_jumps;		/* of 1000 runs */
	bool syscalls;
	/*
	 * Far transfers and events lead to some level and some CR3, all in the
	 * same code; what ctl does not trace is executed and not listed.
	 */
	bool privileges;
	bool defer_tips;
	uint32_t region_order;		/* ToPA regions of 4 KiB << order */
	enum synth_feeding feeding;
	bool interrupts;		/* INT at each region: off and on again */
};

/* Fills all but the seed at random from it; ranges included if `filters`. */
void synth_randomise(struct synth_config *c, bool timing, bool filters);

/* Adds privilege levels, address spaces and their filters to a configuration. */
void synth_privileges(struct synth_config *c);

struct synth {
	struct synth_config config;	/* defaults filled in */
	uint64_t code_base;
	uint8_t *code;
	size_t code_len;
	uint8_t *trace;
	size_t trace_len;
	uint64_t *ip;			/* executed and traced, in order */
	size_t nip;
	size_t executed;		/* all executed, traced or not */
	uint64_t tsc;			/* the unit's clock at the end */
	bool lossy;			/* by an overflow: not all of ip[] decodes */
	bool stopped;			/* TraceStop was met */
	void *priv;
};

/* 0, -ENOMEM, or -EIO if the unit refused the configuration. */
int synth_make(struct synth *s, const struct synth_config *c);
void synth_free(struct synth *s);
/* Code bytes, as trace_code_fn (decode/event.h) wants them; ctx: struct synth. */
size_t synth_code(void *ctx, uint64_t ip, uint8_t *buf, size_t len);
/* Length of the instruction at ip, 0 if none begins there. */
unsigned int synth_insn_len(const struct synth *s, uint64_t ip);
/* Where the instruction at ip leads without a packet: target of JMP, CALL, or next. */
uint64_t synth_next(const struct synth *s, uint64_t ip);

#endif
