/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pt_insn.h"

#define PAGE_SHIFT	12
#define MAX_INSN	15
#define WINDOW		64		/* bytes of code fetched at a time */
#define ARENA_BYTES	(256 * 1024)
#define FIRST_SLOTS	4096

struct pt_block pt_block_none = {.op = PT_OP_NONE};

struct arena {
	struct arena	*next;
	size_t		used;
	char		pad[48];
	uint8_t		bytes[];
};

struct pt_blocks {
	trace_code_fn	code;
	void		*code_ctx;
	bool		no_compression;
	struct pt_insn_decoder insns;
	struct pt_block	**slots, **pages;	/* both of mask + 1 chains */
	struct pt_block	**all;
	size_t		mask;
	uint32_t	count, room;
	struct arena	*arena;
	uint8_t		lens[1 << PAGE_SHIFT];	/* of the block being decoded */
};

static uint64_t mix(uint64_t v)
{
	v *= 0x9e3779b97f4a7c15ull;
	return v ^ v >> 32;
}

static size_t ip_slot(const struct pt_blocks *bs, uint64_t ip)
{
	return mix(ip) & bs->mask;
}

static size_t page_slot(const struct pt_blocks *bs, uint64_t page)
{
	return mix(page) & bs->mask;
}

struct pt_blocks *pt_blocks_new(trace_code_fn code, void *code_ctx, bool no_compression)
{
	struct pt_blocks *bs = calloc(1, sizeof(*bs));

	if (!bs)
		return NULL;
	bs->code = code;
	bs->code_ctx = code_ctx;
	bs->no_compression = no_compression;
	bs->mask = FIRST_SLOTS - 1;
	bs->slots = calloc(FIRST_SLOTS, sizeof(*bs->slots));
	bs->pages = calloc(FIRST_SLOTS, sizeof(*bs->pages));
	if (!bs->slots || !bs->pages || pt_insn_init(&bs->insns)) {
		pt_blocks_free(bs);
		return NULL;
	}
	return bs;
}

void pt_blocks_free(struct pt_blocks *bs)
{
	struct arena *next;

	if (!bs)
		return;
	for (; bs->arena; bs->arena = next) {
		next = bs->arena->next;
		free(bs->arena);
	}
	free(bs->slots);
	free(bs->pages);
	free(bs->all);
	free(bs);
}

/* n bytes on a cache line, n <= ARENA_BYTES; they live as long as bs. */
static void *arena_get(struct pt_blocks *bs, size_t n)
{
	struct arena *a = bs->arena;
	void *p;

	n = (n + 63) & ~(size_t)63;
	if (!a || a->used + n > ARENA_BYTES) {
		a = aligned_alloc(64, sizeof(*a) + ARENA_BYTES);
		if (!a)
			return NULL;
		a->next = bs->arena;
		a->used = 0;
		bs->arena = a;
	}
	p = a->bytes + a->used;
	a->used += n;
	return p;
}

static void link_block(struct pt_blocks *bs, struct pt_block *b)
{
	struct pt_block **slot = &bs->slots[ip_slot(bs, b->ip)];
	struct pt_block **page = &bs->pages[page_slot(bs, b->ip >> PAGE_SHIFT)];

	b->hash_next = *slot;
	*slot = b;
	b->page_next = *page;
	*page = b;
}

/* Room for one more block: the tables grow with the number of blocks. */
static int grow(struct pt_blocks *bs)
{
	struct pt_block **slots, **pages, **all;
	size_t n = bs->mask + 1;
	uint32_t i;

	if (bs->count == bs->room) {
		all = realloc(bs->all, (bs->room + FIRST_SLOTS) * sizeof(*all) * 2);
		if (!all)
			return -ENOMEM;
		bs->all = all;
		bs->room = (bs->room + FIRST_SLOTS) * 2;
	}
	if (bs->count < n)
		return 0;
	slots = calloc(n * 4, sizeof(*slots));
	pages = calloc(n * 4, sizeof(*pages));
	if (!slots || !pages) {
		free(slots);
		free(pages);
		return -ENOMEM;
	}
	free(bs->slots);
	free(bs->pages);
	bs->slots = slots;
	bs->pages = pages;
	bs->mask = n * 4 - 1;
	for (i = 0; i < bs->count; i++)
		if (bs->all[i]->op != PT_OP_DEAD)
			link_block(bs, bs->all[i]);
	return 0;
}

struct pt_block *pt_blocks_find(const struct pt_blocks *bs, uint64_t ip, uint8_t mode)
{
	struct pt_block *b = bs->slots[ip_slot(bs, ip)];

	while (b && (b->ip != ip || b->mode != mode))
		b = b->hash_next;
	return b;
}

/* What the walk does, by how the block ends. */
static const uint8_t ops[BLOCK_END_MAX] = {
	[BLOCK_SEQ] = PT_OP_SEQ,	 [BLOCK_JCC] = PT_OP_JCC,
	[BLOCK_JMP] = PT_OP_JMP,	 [BLOCK_CALL] = PT_OP_CALL,
	[BLOCK_JMP_IND] = PT_OP_IND,	 [BLOCK_CALL_IND] = PT_OP_IND,
	[BLOCK_RET] = PT_OP_RET,	 [BLOCK_SYSCALL] = PT_OP_IND,
	[BLOCK_FAR] = PT_OP_IND,
};

static uint8_t op_of(const struct pt_blocks *bs, const struct trace_block *b)
{
	/* Zero-length calls are not on the return stack (33.4.2.2). */
	if (b->kind == BLOCK_CALL && b->target == b->end)
		return PT_OP_JMP;
	if (b->kind == BLOCK_RET && bs->no_compression)
		return PT_OP_IND;
	return ops[b->kind];
}

static bool needs_no_packet(uint8_t op)
{
	return op == PT_OP_SEQ || op == PT_OP_JMP || op == PT_OP_CALL;
}

/* Fills what follows from b->b. */
static void set_walk(const struct pt_blocks *bs, struct pt_block *b, uint8_t mode,
		     uint8_t special)
{
	uint8_t branch = b->b.kind == BLOCK_SEQ ? 0 : TRACE_F_BRANCH;

	b->ip = b->b.ip;
	b->head[0] = pt_block_head(b->b.ninsn, branch);
	b->head[1] = pt_block_head(b->b.ninsn, branch | (b->b.kind == BLOCK_JCC ?
							 TRACE_F_TAKEN : 0));
	b->to[0] = b->b.end;
	b->to[1] = b->b.target;
	b->succ[0] = b->succ[1] = b->ind = &pt_block_none;
	b->checked = op_of(bs, &b->b);
	b->op = needs_no_packet(b->checked) ? PT_OP_UNCHECKED : b->checked;
	b->mode = mode;
	b->special = special;
}

/* Code at ip, for the decoder below. */
struct window {
	uint8_t		bytes[WINDOW];
	size_t		n, at;
	uint64_t	ip;		/* of bytes[0] */
	bool		last;		/* nothing known follows */
};

static void fetch(struct pt_blocks *bs, struct window *w)
{
	uint64_t top;
	size_t n, room;

	if (w->last || w->n - w->at >= MAX_INSN)
		return;
	memmove(w->bytes, w->bytes + w->at, w->n - w->at);
	w->n -= w->at;
	w->ip += w->at;
	w->at = 0;
	/* Code does not run over the top of memory. */
	top = -(w->ip + w->n);
	room = WINDOW - w->n;
	if (top && top < room)
		room = top;
	n = bs->code(bs->code_ctx, w->ip + w->n, w->bytes + w->n, room);
	if (n < WINDOW - w->n)
		w->last = true;
	w->n += n < room ? n : room;
}

/*
 * A block ends at a branch, at the last instruction that begins in its page,
 * at one that packets bind to, and before what is no code.
 */
static int decode(struct pt_blocks *bs, uint64_t ip, uint8_t mode, struct trace_block *b,
		  uint8_t *special)
{
	struct window w = {.ip = ip};
	struct pt_insn insn;
	int rc;

	memset(b, 0, sizeof(*b));
	b->ip = b->end = ip;
	do {
		fetch(bs, &w);
		rc = pt_insn_decode(&bs->insns, mode, b->end, w.bytes + w.at, w.n - w.at,
				    &insn);
		if (rc) {
			insn.special = PT_SPECIAL_NONE;
			break;
		}
		w.at += insn.length;
		bs->lens[b->ninsn++] = insn.length;
		b->last = b->end;
		b->end += insn.length;
		b->kind = insn.kind;
		b->target = insn.target;
	} while (b->kind == BLOCK_SEQ && !insn.special &&
		 b->end >> PAGE_SHIFT == ip >> PAGE_SHIFT);
	*special = insn.special;
	b->nbytes = b->end - ip;
	return b->ninsn ? 0 : rc;
}

struct pt_block *pt_blocks_get(struct pt_blocks *bs, uint64_t ip, uint8_t mode, int *error)
{
	struct pt_block *b = pt_blocks_find(bs, ip, mode);
	struct trace_block code;
	uint8_t special, *len;

	if (b)
		return b;
	*error = decode(bs, ip, mode, &code, &special);
	if (*error)
		return NULL;
	*error = -ENOMEM;
	if (grow(bs))
		return NULL;
	b = arena_get(bs, sizeof(*b) + code.ninsn);
	if (!b)
		return NULL;
	memset(b, 0, sizeof(*b));
	len = (uint8_t *)(b + 1);
	memcpy(len, bs->lens, code.ninsn);
	code.len = len;
	code.id = bs->count;
	b->b = code;
	set_walk(bs, b, mode, special);
	bs->all[bs->count++] = b;
	link_block(bs, b);
	*error = 0;
	return b;
}

static void unlink_from(struct pt_block **at, const struct pt_block *b, size_t next)
{
	while (*at != b)
		at = (struct pt_block **)((char *)*at + next);
	*at = *(struct pt_block **)((char *)b + next);
}

static void drop(struct pt_blocks *bs, struct pt_block *b)
{
	unlink_from(&bs->slots[ip_slot(bs, b->ip)], b,
		    offsetof(struct pt_block, hash_next));
	unlink_from(&bs->pages[page_slot(bs, b->ip >> PAGE_SHIFT)], b,
		    offsetof(struct pt_block, page_next));
	b->op = PT_OP_DEAD;
}

static bool touches(const struct pt_block *b, uint64_t addr, uint64_t len)
{
	/* Differences, so that ranges may end at the top of memory. */
	return b->b.ip - addr < len || addr - b->b.ip < b->b.nbytes;
}

static void drop_page(struct pt_blocks *bs, uint64_t page, uint64_t addr, uint64_t len)
{
	struct pt_block *b, *next;

	for (b = bs->pages[page_slot(bs, page)]; b; b = next) {
		next = b->page_next;
		if (touches(b, addr, len))
			drop(bs, b);
	}
}

void pt_blocks_invalidate(struct pt_blocks *bs, uint64_t addr, uint64_t len)
{
	/* A block's last instruction may reach into the page after its own. */
	uint64_t first = (addr >> PAGE_SHIFT) - 1, n, i;

	if (!len)
		return;
	if (addr + len < addr)
		len = -addr;
	n = ((addr + len - 1) >> PAGE_SHIFT) - first + 1;
	if (n < bs->count) {
		for (i = 0; i < n; i++)
			drop_page(bs, (first + i) & ~0ull >> PAGE_SHIFT, addr, len);
		return;
	}
	for (i = 0; i < bs->count; i++)
		if (bs->all[i]->op != PT_OP_DEAD && touches(bs->all[i], addr, len))
			drop(bs, bs->all[i]);
}

uint32_t pt_blocks_count(const struct pt_blocks *bs)
{
	return bs->count;
}

int pt_block_index(const struct pt_block *b, uint64_t ip)
{
	uint64_t left = ip - b->b.ip;
	uint32_t i;

	if (left >= b->b.nbytes)
		return -1;
	for (i = 0; left && b->b.len[i] <= left; i++)
		left -= b->b.len[i];
	return left ? -1 : (int)i;
}
