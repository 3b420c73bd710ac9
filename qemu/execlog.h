/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The independent log: the addresses of all retired instructions of a thread,
 * from callbacks before each instruction.  It shares nothing with the path from
 * blocks to packets: neither the runs, nor the classifier, nor the signal test.
 *
 * execlog_file.h says what the files hold.
 */
#ifndef QEMU_EXECLOG_H
#define QEMU_EXECLOG_H

#include "execlog_file.h"
#include "vcpu.h"

/* What the log knows of an architecture, none of it from struct guest_arch. */
struct execlog_arch {
	bool (*transfers_control)(const uint8_t *insn, size_t n);
	/*
	 * Did a signal bring us here, to a block's first instruction?  Then where
	 * it interrupted the program, and whether the instruction there raised it.
	 */
	bool (*signal_frame)(const void *env, uint64_t *ip, bool *fault);
};
extern const struct execlog_arch execlog_x86_64, execlog_aarch64;

/* n instructions of tb get callbacks. */
void execlog_translate(struct qemu_plugin_tb *tb, size_t n);
/* The code cache was emptied. */
void execlog_flush(void);
/* Before block c: on or off, as the unit's tracing is now. */
void execlog_resume(struct vcpu *v, const struct run *c);
/* A system call is made: it retired. */
void execlog_syscall(struct vcpu *v);
/* A fatal signal: `next` would have been next, or is what raised it (fault). */
void execlog_end(struct vcpu *v, uint64_t next, bool fault);
void execlog_close(struct vcpu *v);
/* In a forked child: the parent's files are not ours. */
void execlog_forked(void);

#endif
