/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that no file holds: its bytes, captured as they are translated, and the
 * generation of a process's code.
 */
#ifndef QEMU_CODE_H
#define QEMU_CODE_H

#include "vcpu.h"

/*
 * b, of these bytes, is in no file: queues what is new of it.  Where bytes
 * differ from what was there before, a new generation begins.  vtu.lock is held.
 */
void code_capture(struct block_info *b, const uint8_t *bytes);
/* The code cache was emptied: no block is known any more.  vtu.lock is held. */
void code_forget_blocks(void);
/* [addr, addr + len) was unmapped. */
void code_forget(uint64_t addr, uint64_t len);
/* Pages that a file held will be writable: remembers what they hold. */
void code_snapshot(uint64_t addr, uint64_t len);
/* A change of mappings by v: the next generation begins, v is in it. */
void code_bump(struct vcpu *v);
/* VTU_ATTN_CODE at the block c. */
void code_attend(struct vcpu *v, const struct run *c);
/* Sends what is queued; v stands outside of guest code. */
void code_drain(struct vcpu *v);

#endif
