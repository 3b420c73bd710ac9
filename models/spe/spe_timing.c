/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "spe_timing.h"

#define EV(name) (1u << SPE_EV_##name)

static const struct {
	size_t offset;
	uint32_t sets, ways;
} shapes[] = {
	{offsetof(struct spe_timing, l1), 256, 4},	/* 64 KiB */
	{offsetof(struct spe_timing, l2), 2048, 8},	/* 1 MiB */
	{offsetof(struct spe_timing, llc), 2048, 16},	/* 2 MiB */
	{offsetof(struct spe_timing, tlb1), 16, 4},	/* 64 pages */
	{offsetof(struct spe_timing, tlb2), 256, 4},	/* 1024 pages */
};
#define NSHAPES (sizeof(shapes) / sizeof(shapes[0]))

static struct spe_cache *cache_of(struct spe_timing *t, size_t i)
{
	return (struct spe_cache *)((char *)t + shapes[i].offset);
}

int spe_timing_init(struct spe_timing *t)
{
	struct spe_cache *c;
	size_t i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < NSHAPES; i++) {
		c = cache_of(t, i);
		c->sets = shapes[i].sets;
		c->ways = shapes[i].ways;
		c->tags = calloc((size_t)c->sets * c->ways, sizeof(*c->tags));
		if (!c->tags) {
			spe_timing_fini(t);
			return -ENOMEM;
		}
	}
	return 0;
}

void spe_timing_fini(struct spe_timing *t)
{
	size_t i;

	for (i = 0; i < NSHAPES; i++) {
		free(cache_of(t, i)->tags);
		cache_of(t, i)->tags = NULL;
	}
}

/* Was it there?  It is now, and the latest of its set. */
static bool touch(struct spe_cache *c, uint64_t key)
{
	uint64_t *set = c->tags + (key & (c->sets - 1)) * c->ways, tag = key + 1;
	uint32_t i;

	if (set[0] == tag)
		return true;
	for (i = 1; i < c->ways && set[i] != tag; i++)
		;
	memmove(set + 1, set, (i < c->ways ? i : c->ways - 1) * sizeof(*set));
	set[0] = tag;
	return i < c->ways;
}

/* One line of an access: its cycles without translation. */
static uint32_t line(struct spe_timing *t, struct spe_access *a, uint64_t key)
{
	uint8_t source = SPE_SOURCE_DRAM;
	uint32_t cycles = SPE_CYC_DRAM;

	a->events |= EV(L1D_ACCESS);
	if (touch(&t->l1, key)) {
		source = SPE_SOURCE_L1D;
		cycles = SPE_CYC_L1D;
	} else {
		a->events |= EV(L1D_REFILL);
		if (touch(&t->l2, key)) {
			source = SPE_SOURCE_L2;
			cycles = SPE_CYC_L2;
		} else {
			a->events |= EV(LLC_ACCESS);
			if (touch(&t->llc, key)) {
				source = SPE_SOURCE_SYS_CACHE;
				cycles = SPE_CYC_LLC;
			} else {
				a->events |= EV(LLC_MISS);
			}
		}
	}
	/* The numbers rise with the distance. */
	if (source > a->source)
		a->source = source;
	return cycles;
}

static uint32_t page(struct spe_timing *t, struct spe_access *a, uint64_t key)
{
	a->events |= EV(TLB_ACCESS);
	if (touch(&t->tlb1, key))
		return 0;
	if (touch(&t->tlb2, key))
		return SPE_CYC_TLB2;
	a->events |= EV(TLB_WALK);
	return SPE_CYC_WALK;
}

/* Of what lies between two addresses the slowest counts. */
static uint32_t slowest(struct spe_timing *t, struct spe_access *a, uint64_t first,
			uint64_t last,
			uint32_t (*one)(struct spe_timing *, struct spe_access *, uint64_t))
{
	uint32_t worst = 0, cycles;

	for (; first <= last; first++) {
		cycles = one(t, a, first);
		if (cycles > worst)
			worst = cycles;
	}
	return worst;
}

void spe_timing_access(struct spe_timing *t, struct spe_access *a, uint64_t addr,
		       uint32_t size, bool store)
{
	uint64_t end = addr + (size ? size - 1 : 0);
	uint32_t cycles, xlat;

	/* At the end of the address space: as far as there is one. */
	if (end < addr)
		end = ~0ull;
	if (!a->size)
		a->addr = addr;
	a->size += size;
	if (size && !(size & (size - 1)) && addr & (size - 1))
		a->events |= EV(MISALIGNED);
	xlat = slowest(t, a, addr >> SPE_PAGE_SHIFT, end >> SPE_PAGE_SHIFT, page);
	cycles = slowest(t, a, addr >> SPE_LINE_SHIFT, end >> SPE_LINE_SHIFT, line);
	if (store)
		cycles = SPE_CYC_STORE;
	if (xlat > a->xlat)
		a->xlat = (uint16_t)xlat;
	if (cycles + xlat > a->latency)
		a->latency = (uint16_t)(cycles + xlat);
}

static bool conditional(struct spe_timing *t, uint64_t pc, bool taken)
{
	uint8_t *counter = &t->cond[pc >> 2 & (SPE_COND_ENTRIES - 1)];
	bool predicted = *counter >= 2;

	if (taken && *counter < 3)
		++*counter;
	else if (!taken && *counter)
		--*counter;
	return predicted != taken;
}

static bool indirect(struct spe_timing *t, uint64_t pc, uint64_t target)
{
	uint64_t *last = &t->ind[pc >> 2 & (SPE_IND_ENTRIES - 1)];
	bool wrong = *last != target;

	*last = target;
	return wrong;
}

bool spe_timing_branch(struct spe_timing *t, uint64_t pc, unsigned int flags,
		       uint64_t target)
{
	bool wrong = false;

	if (flags & SPE_OPF_COND)
		wrong = conditional(t, pc, flags & SPE_OPF_TAKEN);
	if (flags & SPE_OPF_RETURN) {
		t->top = (t->top + SPE_RETURNS - 1) % SPE_RETURNS;
		wrong = t->returns[t->top] != target;
	} else if (flags & SPE_OPF_INDIRECT) {
		wrong = indirect(t, pc, target);
	}
	if (flags & SPE_OPF_CALL) {
		t->returns[t->top] = pc + 4;
		t->top = (t->top + 1) % SPE_RETURNS;
	}
	return wrong;
}

void spe_timing_cycles(const struct spe_op *op, uint32_t *total, uint32_t *issue)
{
	uint32_t cycles = op->flags & SPE_OPF_SIMD ? SPE_CYC_SIMD : SPE_CYC_OTHER;

	if (op->kind == SPE_OP_KIND_BRANCH)
		cycles = SPE_CYC_BRANCH + (op->mispredicted ? SPE_CYC_MISPREDICT : 0);
	else if (op->access.size)
		cycles = op->access.latency;
	*issue = SPE_CYC_ISSUE;
	*total = SPE_CYC_ISSUE + cycles;
}
