/* SPDX-License-Identifier: BSD-2-Clause */
/* The plugin's side of vtu/window.h. */
#ifndef QEMU_WINDOW_H
#define QEMU_WINDOW_H

#include "vcpu.h"

/* Maps both files; 0 or -errno (-EPROTO: not a window that we understand). */
int window_map(int window_fd, int dram_fd);
/* Is there still someone who answers? */
bool window_owner_alive(void);

/* A free block, now CLAIMED and clean; NULL: none came free in a second. */
struct vtu_block *window_claim(void);
/* The block's vCPU is no more: for the host to reap. */
void window_release(struct vtu_block *b);
/* Its index in the window. */
uint32_t window_block_number(const struct vtu_block *b);
/* A block of nobody's: what a vCPU without one points to. */
extern struct vtu_block window_no_block;

static inline void window_set_state(struct vtu_block *b, enum vtu_state state)
{
	__atomic_store_n(&b->state, (uint32_t)state, __ATOMIC_SEQ_CST);
}

/*
 * Sends a hook and waits until the host is done with it, serving the doorbell.
 * Payload, if any, is in v->block->payload already.  False: the owner is gone
 * and the process was detached (v->block is the private one now).
 */
bool window_hook(struct vcpu *v, enum vtu_hook_type type, uint64_t a0, uint64_t a1,
		 uint64_t a2);

#endif
