/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Basic blocks of x86 code, decoded once (Zydis), found by address and linked
 * to their direct successors, so that a TNT bit costs one pointer.
 */
#ifndef DECODE_PT_BLOCK_H
#define DECODE_PT_BLOCK_H

#include <string.h>

#include "../event.h"

/* What the walk does at a block.  The first three leave the fast path. */
enum pt_op {
	PT_OP_NONE,		/* link not followed yet (pt_block_none) */
	PT_OP_DEAD,		/* the code changed: look the address up again */
	PT_OP_UNCHECKED,	/* no packet needed, and not known to be no loop */
	PT_OP_JCC,
	PT_OP_SEQ,
	PT_OP_JMP,		/* also a call of the next instruction */
	PT_OP_CALL,
	PT_OP_RET,		/* may be compressed */
	PT_OP_IND,		/* needs a TIP; far transfers too */
};

/* Packets that may bind to the last instruction of a BLOCK_SEQ. */
enum pt_special {
	PT_SPECIAL_NONE,
	PT_SPECIAL_CR3,		/* MOV CR3: PIP, TIP.PGD */
	PT_SPECIAL_PTWRITE,
};

struct pt_block {
	/* One cache line for the walk. */
	uint64_t	head[2];	/* first eight bytes of a RUN event: not taken, taken */
	uint64_t	ip;
	uint64_t	to[2];		/* next in memory; target */
	struct pt_block	*succ[2];	/* the blocks there */
	uint8_t		op;		/* enum pt_op */
	uint8_t		checked;	/* op when known to be no loop */
	uint8_t		mode;		/* 16, 32, 64 */
	uint8_t		special;	/* enum pt_special */
	uint32_t	reserved;

	struct trace_block b;

	uint64_t	ind_ip;		/* PT_OP_IND, PT_OP_RET: where it went last ... */
	struct pt_block	*ind;		/* ... and the block there */
	struct pt_block	*hash_next, *page_next;
} __attribute__((aligned(64)));

extern struct pt_block pt_block_none;

struct pt_blocks;

/* NULL: no memory. no_compression: RETs always have TIPs. */
struct pt_blocks *pt_blocks_new(trace_code_fn code, void *code_ctx, bool no_compression);
void pt_blocks_free(struct pt_blocks *bs);
/* The block at ip if it was decoded before, else NULL.  Fetches nothing. */
struct pt_block *pt_blocks_find(const struct pt_blocks *bs, uint64_t ip, uint8_t mode);
/*
 * The block at ip, decoded now if need be.  NULL: *error is TRACE_GAP_NO_CODE,
 * TRACE_ERR_BAD_INSN or -ENOMEM.
 */
struct pt_block *pt_blocks_get(struct pt_blocks *bs, uint64_t ip, uint8_t mode, int *error);
/* Drops blocks that touch [addr, addr + len); len 0 drops none. */
void pt_blocks_invalidate(struct pt_blocks *bs, uint64_t addr, uint64_t len);
uint32_t pt_blocks_count(const struct pt_blocks *bs);

/* Number of instructions before ip if one begins there inside b, else -1. */
int pt_block_index(const struct pt_block *b, uint64_t ip);

/* Eight bytes of a TRACE_RUN event's beginning. */
static inline uint64_t pt_block_head(uint32_t ninsn, uint8_t flags)
{
	struct trace_event ev = {.type = TRACE_RUN, .flags = flags, .ninsn = ninsn};
	uint64_t head;

	_Static_assert(offsetof(struct trace_event, ip) == sizeof(head), "head of an event");
	memcpy(&head, &ev, sizeof(head));
	return head;
}

#endif
