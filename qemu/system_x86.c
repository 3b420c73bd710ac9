// SPDX-License-Identifier: BSD-2-Clause
/* x86-64 under QEMU 7.2's system emulation: CPU state, page tables, handlers. */
#include <string.h>

#include "guest_system.h"
#include "guest_x86.h"

#define HF_CPL	     3u /* hflags */
#define HF_CS64	     (1u << 15)
#define CR0_PG	     (1ull << 31)
#define CR0_RESET    0x60000010ull
#define CR4_LA57     (1ull << 12)

#define PTE_PRESENT  1ull
#define PTE_LARGE    (1ull << 7)
#define PTE_ADDR     0x000ffffffffff000ull

#define GATE_SIZE    16
#define GATE_PRESENT 0x80

/* SDM volume 3A, table 6-1: vectors that push an error code. */
#define HAS_ERROR_CODE                                                               \
	(1u << 8 | 1u << 10 | 1u << 11 | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 17 | \
	 1u << 21 | 1u << 29 | 1u << 30)
/* Raised by the instruction at the pushed RIP, which did not retire. */
#define FAULTS                                                                        \
	(1u << 0 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 10 | 1u << 11 |      \
	 1u << 12 | 1u << 13 | 1u << 14 | 1u << 16 | 1u << 17 | 1u << 19 | 1u << 20 | \
	 1u << 21 | 1u << 28 | 1u << 29 | 1u << 30)

/* What the CPU pushes in 64-bit mode (volume 3A, 6.14.2). */
struct frame {
	uint64_t rip, cs, rflags, rsp, ss;
};

static const char *verify(const struct guest_env *env, uint64_t pc)
{
	if (env->eip != 0xfff0)
		return "its program counter is not that of a reset";
	if (env->segs[X86_CS].selector != 0xf000 ||
	    env->segs[X86_CS].base != 0xffff0000 || env->segs[X86_FS].base)
		return "its segment registers are not those of a reset";
	if (env->idt.limit != 0xffff || env->gdt.limit != 0xffff || env->idt.base)
		return "its descriptor tables are not those of a reset";
	if (env->cr[0] != CR0_RESET || env->cr[3] || env->hflags & (HF_CPL | HF_CS64))
		return "its control registers are not those of a reset";
	return NULL;
}

/* As PT has it: CPL 0, or another. */
static enum unit_level level_of(uint64_t cpl)
{
	return cpl & 3 ? UNIT_USER : UNIT_KERNEL;
}

static void where(const struct guest_env *env, struct guest_where *w)
{
	w->at.ip = env->eip;
	w->at.space = env->cr[3];
	w->at.context = 0;
	w->at.level = level_of(env->hflags & HF_CPL);
	w->traceable = env->hflags & HF_CS64;
}

static uint64_t thread(const struct guest_env *env)
{
	return env->segs[X86_FS].base;
}

static bool ram_offset(uint64_t pa, uint64_t size, uint64_t *offset, uint64_t *left)
{
	/* hw/i386's q35: memory below 4 GiB ends where PCI begins. */
	uint64_t low = size >= 0xb0000000 ? 0x80000000 : size;

	if (pa < low) {
		*offset = pa;
		*left = low - pa;
		return true;
	}
	if (pa < 1ull << 32 || pa - (1ull << 32) >= size - low)
		return false;
	*offset = pa - (1ull << 32) + low;
	*left = size - *offset;
	return true;
}

/* 4.5: page tables of four levels, or five. */
static bool translate(const struct guest_env *env, uint64_t va, uint64_t *pa)
{
	int level = env->cr[4] & CR4_LA57 ? 4 : 3;
	uint64_t entry = env->cr[3], span;
	const volatile uint64_t *slot;

	if (!(env->cr[0] & CR0_PG)) {
		*pa = va;
		return true;
	}
	for (;; level--) {
		slot = system_ram((entry & PTE_ADDR) + (va >> (12 + 9 * level) & 511) * 8,
				  8);
		if (!slot)
			return false;
		entry = *slot;
		if (!(entry & PTE_PRESENT))
			return false;
		if (!level || (level < 3 && entry & PTE_LARGE))
			break;
	}
	span = 1ull << (12 + 9 * level);
	*pa = (entry & PTE_ADDR & ~(span - 1)) | (va & (span - 1));
	return true;
}

static void add_entry(struct guest_entries *t, uint64_t ip, uint32_t vector)
{
	uint32_t i = t->n++;

	for (; i && t->v[i - 1].ip > ip; i--)
		t->v[i] = t->v[i - 1];
	t->v[i].ip = ip;
	t->v[i].vector = vector;
}

static void entries(const struct guest_env *env, struct guest_entries *t, bool force)
{
	uint8_t gate[GATE_SIZE];
	uint32_t vector, high;
	uint64_t ip;

	if (!force && t->base == env->idt.base && t->limit == env->idt.limit)
		return;
	t->base = env->idt.base;
	t->limit = env->idt.limit;
	t->n = 0;
	for (vector = 0; vector < GUEST_ENTRIES; vector++) {
		if ((vector + 1) * GATE_SIZE - 1 > t->limit ||
		    !system_read(env, t->base + vector * GATE_SIZE, gate, GATE_SIZE))
			break;
		if (!(gate[5] & GATE_PRESENT))
			continue;
		memcpy(&high, gate + 8, 4);
		ip = (uint64_t)high << 32 | (uint64_t)gate[7] << 24 |
		     (uint64_t)gate[6] << 16 | (uint64_t)gate[1] << 8 | gate[0];
		add_entry(t, ip, vector);
	}
	t->lo = t->n ? t->v[0].ip : 1;
	t->hi = t->n ? t->v[t->n - 1].ip : 0;
}

/* The vector whose handler begins at pc, or -1. */
static int vector_of(const struct guest_entries *t, uint64_t pc)
{
	uint32_t lo = 0, hi = t->n, mid;

	if (pc < t->lo || pc > t->hi)
		return -1;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (t->v[mid].ip < pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->n && t->v[lo].ip == pc ? (int)t->v[lo].vector : -1;
}

static bool event(const struct guest_env *env, const struct guest_entries *t, uint64_t pc,
		  uint64_t sp, struct guest_event *e)
{
	int vector = vector_of(t, pc);
	struct frame f;

	if (vector < 0)
		return false;
	if (vector < 32 && HAS_ERROR_CODE >> vector & 1)
		sp += 8;
	if (!system_read(env, sp, &f, sizeof(f)))
		return false;
	e->ip = f.rip;
	e->sp = f.rsp;
	e->level = level_of(f.cs);
	e->fault = vector < 32 && FAULTS >> vector & 1;
	e->may_call = !e->fault;
	e->what = e->fault ? UNIT_FAULT : UNIT_INTERRUPT;
	return true;
}

const struct guest_system guest_x86_64_system = {
	.verify = verify,
	.pc_offset = offsetof(struct guest_env, eip),
	.where = where,
	.thread = thread,
	.translate = translate,
	.ram_offset = ram_offset,
	.entries = entries,
	.event = event,
};
