/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "etm_priv.h"

static uint8_t fours[ETM_MAX_RUN];

static uint32_t hash_of(const struct etm_range *r)
{
	uint64_t h = (r->start * 0x9e3779b97f4a7c15ull) ^ (r->end * 0xc2b2ae3d27d4eb4full);

	return (h ^ h >> 29) + r->kind;
}

static bool grow(struct etm_blocks *b)
{
	uint32_t room = b->hash ? (b->mask + 1) * 2 : 256, i;
	struct etm_block **hash = calloc(room, sizeof(*hash)), *e, *next;

	if (!hash)
		return false;
	for (i = 0; b->hash && i <= b->mask; i++) {
		for (e = b->hash[i]; e; e = next) {
			struct etm_range r = {
				.start = e->b.ip, .end = e->b.end, .kind = e->b.kind};
			uint32_t slot = hash_of(&r) & (room - 1);

			next = e->next;
			e->next = hash[slot];
			hash[slot] = e;
		}
	}
	free(b->hash);
	b->hash = hash;
	b->mask = room - 1;
	return true;
}

static bool insn_at(struct etm_decoder *d, uint64_t ip, uint32_t *insn)
{
	uint8_t b[4];

	if (d->config.code(d->config.code_ctx, ip, b, 4) != 4)
		return false;
	*insn = b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24;
	return true;
}

/* SVC, HVC, SMC: 1101 0100 000 imm16 000 LL (Arm ARM C4.1.66). */
bool etm_is_call(struct etm_decoder *d, uint64_t ip)
{
	uint32_t insn;

	return insn_at(d, ip, &insn) && (insn & 0xffe0001c) == 0xd4000000 && (insn & 3);
}

static int64_t field(uint32_t insn, unsigned int lsb, unsigned int bits)
{
	return (int64_t)((uint64_t)insn << (64 - lsb - bits)) >> (64 - bits);
}

/* Where a direct A64 branch leads (C4.1.66); 0: it is none. */
static uint64_t direct_target(uint32_t insn, uint64_t ip)
{
	if ((insn & 0x7c000000) == 0x14000000)		/* B, BL */
		return ip + field(insn, 0, 26) * 4;
	if ((insn & 0xff000000) == 0x54000000 ||	/* B.cond, BC.cond */
	    (insn & 0x7e000000) == 0x34000000)		/* CBZ, CBNZ */
		return ip + field(insn, 5, 19) * 4;
	if ((insn & 0x7e000000) == 0x36000000)		/* TBZ, TBNZ */
		return ip + field(insn, 5, 14) * 4;
	return 0;
}

/* Branches, ERET and ISB: each would have an atom of its own. */
static bool is_p0(uint32_t insn, uint64_t ip)
{
	return direct_target(insn, ip) || (insn & 0xfe000000) == 0xd6000000 ||
	       (insn & 0xfffff0ff) == 0xd50330df;
}

/* But its last one. */
static bool has_p0(struct etm_decoder *d, const struct etm_range *r)
{
	uint32_t i, insn;

	for (i = 0; i + 1 < r->ninsn; i++)
		if (insn_at(d, r->start + 4 * (uint64_t)i, &insn) &&
		    is_p0(insn, r->start + 4 * (uint64_t)i))
			return true;
	return false;
}

bool etm_block_overrun(const struct trace_block *b)
{
	return ((const struct etm_block *)b)->overrun;
}

static struct etm_block *block_make(struct etm_decoder *d, const struct etm_range *r)
{
	struct etm_block *e = calloc(1, sizeof(*e));
	uint32_t insn;

	if (!e)
		return NULL;
	if (!fours[0])
		memset(fours, 4, sizeof(fours));
	e->b.ip = r->start;
	e->b.end = r->end;
	e->b.last = r->end - 4;
	e->b.ninsn = r->ninsn;
	e->b.nbytes = r->end - r->start;
	e->b.kind = r->kind;
	e->b.len = fours;
	e->b.id = d->blocks.n++;
	if (r->kind >= BLOCK_JCC && r->kind <= BLOCK_CALL && insn_at(d, e->b.last, &insn))
		e->b.target = direct_target(insn, e->b.last);
	e->overrun = r->a64 && has_p0(d, r);
	e->all = d->blocks.all;
	d->blocks.all = e;
	return e;
}

const struct trace_block *etm_block_get(struct etm_decoder *d, const struct etm_range *r)
{
	struct etm_blocks *b = &d->blocks;
	struct etm_block *e;
	uint32_t slot;

	if ((!b->hash || b->live > b->mask) && !grow(b))
		return NULL;
	slot = hash_of(r) & b->mask;
	for (e = b->hash[slot]; e; e = e->next)
		if (e->b.ip == r->start && e->b.end == r->end && e->b.kind == r->kind)
			return &e->b;
	e = block_make(d, r);
	if (!e)
		return NULL;
	e->next = b->hash[slot];
	b->hash[slot] = e;
	b->live++;
	return &e->b;
}

void etm_blocks_drop(struct etm_blocks *b, uint64_t addr, uint64_t len)
{
	struct etm_block **p;
	uint32_t i;

	for (i = 0; b->hash && i <= b->mask; i++) {
		for (p = &b->hash[i]; *p;) {
			if ((*p)->b.end > addr && (*p)->b.ip - addr < len) {
				*p = (*p)->next;
				b->live--;
			} else if ((*p)->b.ip < addr && (*p)->b.end > addr) {
				*p = (*p)->next;
				b->live--;
			} else {
				p = &(*p)->next;
			}
		}
	}
}

void etm_blocks_free(struct etm_blocks *b)
{
	struct etm_block *e, *next;

	for (e = b->all; e; e = next) {
		next = e->all;
		free(e);
	}
	free(b->hash);
	memset(b, 0, sizeof(*b));
}
