// SPDX-License-Identifier: BSD-2-Clause
/*
 * A machine of a few hundred lines that drives the virtual trace unit by itself and
 * runs a table of what can happen to a CPU, under a timer that interrupts whenever it
 * likes.  It records each row in each configuration; machine_test.c looks at what
 * was recorded.
 */
#include "machine.h"

#include <stdbool.h>

#include "hw/pt.h"
#include "vtu/window.h"

#define KERNEL_CODE	0x10
#define PAGE		4096u
#define COMES_AND_GOES	(USER_BASE + (1u << 29))	/* a page, by its table below */
#define APIC		0xfee00000ull
#define TIMER		0x40
#define MSR_FS_BASE	0xc0000100u

typedef uint64_t u64;
typedef uint32_t u32;

struct regs {		/* as event_common pushes them */
	u64 r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax;
	u64 vector, error, rip, cs, rflags, rsp, ss;
};

extern u64 root[512], root_b[512], gdt[];
extern char event_stubs[], kernel_stack_end[], syscall_entry[], user_load[], user_bytes[];
extern char kernel_branches[], kernel_tight[], kernel_next[], kernel_rep[], kernel_rewrite[],
	kernel_faults[], user_branches[], user_tight[], user_next[], user_rep[],
	user_rewrite[], user_calls[], user_faults[], user_rep_faults[], user_traps[],
	user_fetch[], fetch_page[];
void enter_user(u64 rip, u64 rsp, u64 arg);
void machine_main(void);
void machine_event(struct regs *r);
void machine_call(void);

static struct { u32 reserved0; u64 rsp[3], ist[8]; uint16_t x[4], iomap; }
	__attribute__((packed)) tss;
static u64 idt[256][2];
static struct { uint16_t limit; u64 base; } __attribute__((packed)) idt_pointer;
static u64 user_pointers[512], user_directory[512], alias_directory[512];
static u64 user_table[512], page_table[512];
static u64 table[512] __attribute__((aligned(PAGE)));	/* ToPA */
static struct vtu_header *window;
static struct vtu_block *unit;
static struct report *report = (void *)(KERNEL_BASE + REPORT);
static u64 next_trace = TRACES;
static volatile u64 events;
static u32 timer_seed = 12345;
static bool timer_on, fetch_goes;

static void out8(uint16_t port, uint8_t v)
{
	__asm__ volatile("outb %0, %1" : : "a"(v), "Nd"(port));
}

static void out32(uint16_t port, u32 v)
{
	__asm__ volatile("outl %0, %1" : : "a"(v), "Nd"(port));
}

static u32 in32(uint16_t port)
{
	u32 v;

	__asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}

static void write_msr(u32 msr, u64 v)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((u32)v), "d"((u32)(v >> 32)));
}

static void set_cr3(const void *table_of_4)
{
	__asm__ volatile("mov %0, %%cr3" : : "r"((u64)table_of_4 - KERNEL_BASE) : "memory");
}

static void say(const char *s)
{
	while (*s)
		out8(0xe9, (uint8_t)*s++);
}

static void end(uint8_t status)
{
	for (;;)
		out8(0xf4, status);
}

static void fail(const char *s)
{
	say("machine: ");
	say(s);
	say("\n");
	end(1);
}

static volatile u32 *apic(u32 reg)
{
	return (volatile u32 *)(APIC + reg);
}

/* One shot, soon, never twice the same. */
static void arm_timer(void)
{
	timer_seed = timer_seed * 1103515245u + 12345u;
	*apic(0x380) = timer_on ? 1000 + (timer_seed >> 16) % 30000 : 0;
}

/* The page tables. */

static u64 pa(const void *p)
{
	return (u64)p - KERNEL_BASE;
}

static void map_user(void)
{
	u32 i, n = (u32)((u64)user_bytes / PAGE);

	for (i = 0; i < n; i++)
		user_table[i] = ((u64)user_load + i * PAGE) | 7;
	user_directory[0] = alias_directory[0] = pa(user_table) | 7;
	user_directory[256] = pa(page_table) | 7;
	user_pointers[0] = pa(user_directory) | 7;
	user_pointers[1] = pa(alias_directory) | 7;
	root[1] = pa(user_pointers) | 7;
	/* Three pages of data: the second comes and goes, stack in the others. */
	for (i = 0; i < 8; i++)
		page_table[i] = (0x800000u + i * PAGE) | 7;
	for (i = 0; i < 512; i++)
		root_b[i] = root[i];
}

static void flush(u64 va)
{
	__asm__ volatile("invlpg (%0)" : : "r"(va) : "memory");
}

static void page_goes(void)
{
	page_table[4] &= ~1ull;
	flush(COMES_AND_GOES + 4 * PAGE);
	if (fetch_goes) {
		user_table[((u64)fetch_page - USER_BASE) / PAGE] &= ~1ull;
		flush((u64)fetch_page);
		flush((u64)fetch_page + (USER_ALIAS - USER_BASE));
	}
}

static void page_comes(void)
{
	page_table[4] |= 1;
	user_table[((u64)fetch_page - USER_BASE) / PAGE] |= 1;
}

/* What the vectors do. */

void machine_event(struct regs *r)
{
	static u32 calm;

	events++;
	switch (r->vector) {
	case 0:			/* DIV %ecx: two bytes */
	case 6:			/* UD2 */
		r->rip += 2;
		break;
	case 13:		/* INT n: two bytes; HLT: one */
		r->rip += r->error ? 2 : 1;
		break;
	case 14:
		page_comes();
		break;
	case 3:
		break;
	case 0x30:
		page_goes();
		break;
	case TIMER:
		*apic(0xb0) = 0;
		/* Not all the time: programs must get on. */
		if (calm++ % 2)
			page_goes();
		arm_timer();
		break;
	default:
		fail("an unexpected event");
	}
	/* Faults follow each other without the timer, too. */
	if (r->vector == 14 && events % 3)
		page_goes();
}

void machine_call(void)
{
	if (events++ % 5 == 0)
		page_goes();
}

static void set_gate(u32 vector, u32 level)
{
	u64 ip = (u64)event_stubs + 16 * vector;

	idt[vector][0] = (ip & 0xffff) | KERNEL_CODE << 16 |
			 (u64)(0x8e00 | level << 13) << 32 | (ip >> 16 & 0xffff) << 48;
	idt[vector][1] = ip >> 32;
}

static void set_vectors(void)
{
	u64 base = (u64)&tss;
	u32 i;

	for (i = 0; i < 256; i++)
		set_gate(i, i == 3 || i == 0x30 ? 3 : 0);
	idt_pointer.limit = sizeof(idt) - 1;
	idt_pointer.base = (u64)idt;
	__asm__ volatile("lidt %0" : : "m"(idt_pointer));
	tss.rsp[0] = (u64)kernel_stack_end;
	gdt[7] = (sizeof(tss) - 1) | (base & 0xffffff) << 16 | 0x89ull << 40 |
		 (base >> 24 & 0xff) << 56;
	gdt[8] = base >> 32;
	__asm__ volatile("ltr %w0" : : "r"(0x38));
	write_msr(0xc0000081, 0x23ull << 48 | 0x10ull << 32);	/* STAR */
	write_msr(0xc0000082, (u64)syscall_entry);		/* LSTAR */
	write_msr(0xc0000084, 0x200);				/* FMASK: IF */
	out8(0x21, 0xff);
	out8(0xa1, 0xff);
	*apic(0xf0) = 0x1ff;
	*apic(0x3e0) = 0xb;
	*apic(0x320) = TIMER;
}

/* The unit. */

static void command(u32 reg, u64 value)
{
	struct vtu_command *c = &unit->ring[unit->ring_tail % VTU_RING];

	c->reg = reg;
	c->value = value;
	__atomic_store_n(&unit->ring_tail, unit->ring_tail + 1, __ATOMIC_RELEASE);
}

static void ring(void)
{
	u32 request = __atomic_add_fetch(&unit->request, 1, __ATOMIC_SEQ_CST);

	__atomic_or_fetch(&unit->attention, VTU_ATTN_RING, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&unit->ack, __ATOMIC_ACQUIRE) != request)
		__asm__ volatile("pause");
}

static void find_unit(void)
{
	u32 dev, address, bar;
	u64 base;

	for (dev = 0; dev < 32; dev++) {
		address = 1u << 31 | dev << 11;
		out32(0xcf8, address);
		if (in32(0xcfc) != 0x11101af4)
			continue;
		out32(0xcf8, address | 0x04);
		bar = in32(0xcfc);
		out32(0xcf8, address | 0x04);
		out32(0xcfc, (bar & 0xffff) | 2);
		out32(0xcf8, address | 0x18);
		base = in32(0xcfc) & ~15u;
		out32(0xcf8, address | 0x1c);
		if (in32(0xcfc))
			fail("BAR 2 is above 4 GiB");
		window = (void *)base;
		unit = vtu_block(window, 0);
		break;
	}
	if (!window || window->magic != VTU_MAGIC || !(window->flags & VTU_F_SYSTEM))
		fail("no unit");
	/* As a driver does that finds a unit: off, whoever had it before. */
	command(MSR_RTIT_CTL, 0);
	ring();
	if (unit->state != VTU_RUNNING || window->dram_size != RAM_SIZE)
		fail("the unit is not as it should be");
}

static u64 reg(u32 msr)
{
	return *(volatile u64 *)(unit->regs + (msr - MSR_RTIT_FIRST) * 8);
}

static struct recording *current;

static void start(const char *name, u64 ctl, u64 cr3)
{
	struct recording *r = &report->r[report->n++];
	u32 i;

	if (report->n > MAX_RECORDINGS || next_trace + TRACE_MAX > TRACES_END)
		fail("too many recordings");
	for (i = 0; name[i] && i < sizeof(r->name) - 1; i++)
		r->name[i] = name[i];
	r->config = ctl;
	r->levels = (ctl & RTIT_CTL_USER ? LEVEL_USER : 0) |
		    (ctl & RTIT_CTL_OS ? LEVEL_KERNEL : 0);
	r->space = ctl & RTIT_CTL_CR3FILTER ? cr3 : 0;
	r->trace = next_trace = (next_trace + TRACE_MAX - 1) & ~(u64)(TRACE_MAX - 1);
	current = r;
	r->events = events;
	r->irqs = unit->irqs;
	command(MSR_RTIT_CTL, 0);
	command(MSR_RTIT_STATUS, 0);
	if (ctl & RTIT_CTL_TOPA) {
		/* Four regions, interrupts at the first two. */
		for (i = 0; i < 4; i++)
			table[i] = (r->trace + i * TRACE_MAX / 4) | 6u << TOPA_SIZE_SHIFT |
				   (i < 2 ? TOPA_INT : 0);
		table[4] = pa(table) | TOPA_END;
		command(MSR_RTIT_OUTPUT_BASE, pa(table));
		command(MSR_RTIT_OUTPUT_MASK_PTRS, RTIT_MASK_LOWER);
	} else {
		command(MSR_RTIT_OUTPUT_BASE, r->trace);
		command(MSR_RTIT_OUTPUT_MASK_PTRS, TRACE_MAX - 1);
	}
	command(MSR_RTIT_CR3_MATCH, cr3);
	command(MSR_RTIT_CTL, ctl);
	ring();
}

static void stop(void)
{
	struct recording *r = current;
	u64 ptrs;

	__asm__ volatile("cli");
	command(MSR_RTIT_CTL, 0);
	ring();
	ptrs = reg(MSR_RTIT_OUTPUT_MASK_PTRS);
	r->size = ptrs >> RTIT_MASK_OFFSET_SHIFT;
	if (r->config & RTIT_CTL_TOPA)
		r->size += ((ptrs & RTIT_MASK_TABLE_MASK) >> RTIT_MASK_TABLE_SHIFT) *
			   (TRACE_MAX / 4);
	r->status = reg(MSR_RTIT_STATUS);
	r->irqs = unit->irqs - r->irqs;
	r->events = events - r->events;
	if (unit->faults)
		fail("the unit refused a write");
	next_trace = r->trace + r->size;
}

/* The rows. */

static void user(const char *entry, u64 shift)
{
	enter_user((u64)entry + shift, COMES_AND_GOES + 3 * PAGE, COMES_AND_GOES + 4 * PAGE);
}

static void kernel(const char *function)
{
	__asm__ volatile("sti; call *%0; cli"
			 : "+r"(function), "+D"((u64){COMES_AND_GOES + 4 * PAGE})
			 :
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11",
			   "r12", "memory", "cc");
}

/* Waits for interrupts; what enables them delays them by one instruction. */
static void kernel_halt(void)
{
	u32 i;

	for (i = 0; i < 50; i++)
		__asm__ volatile("sti; hlt; cli" : : : "memory");
	for (i = 0; i < 3000; i++)
		__asm__ volatile("sti; nop; cli; nop; pushfq; sti; popfq" : : : "memory");
}

/* Address spaces that hold the same. */
static void kernel_spaces(void)
{
	u32 i;

	for (i = 0; i < 200; i++) {
		__asm__ volatile("sti");
		set_cr3(i & 1 ? root_b : root);
		if (i % 50 == 0)
			user(user_calls, 0);
	}
	__asm__ volatile("cli");
	set_cr3(root);
}

static void threads(void)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		write_msr(MSR_FS_BASE, i & 1 ? 0x222000 : 0x111000);
		user(i & 1 ? user_traps : user_faults, 0);
	}
}

static const struct row {
	const char *name;
	const char *user;		/* a program */
	const char *kernel;		/* or a function */
	void (*run)(void);		/* or whatever */
	u64 shift;			/* of the program's address */
	bool fetch;			/* code pages come and go, too */
} rows[] = {
	{.name = "user-branches", .user = user_branches},
	{.name = "user-tight", .user = user_tight},
	{.name = "user-next", .user = user_next},
	{.name = "user-rep", .user = user_rep},
	{.name = "user-rewrite", .user = user_rewrite},
	{.name = "user-calls", .user = user_calls},
	{.name = "user-faults", .user = user_faults},
	{.name = "user-rep-faults", .user = user_rep_faults},
	{.name = "user-traps", .user = user_traps},
	{.name = "user-fetch", .user = user_fetch, .fetch = true},
	{.name = "alias-branches", .user = user_branches, .shift = USER_ALIAS - USER_BASE},
	{.name = "alias-rewrite", .user = user_rewrite, .shift = USER_ALIAS - USER_BASE},
	{.name = "alias-fetch", .user = user_fetch, .shift = USER_ALIAS - USER_BASE,
	 .fetch = true},
	{.name = "kernel-branches", .kernel = kernel_branches},
	{.name = "kernel-tight", .kernel = kernel_tight},
	{.name = "kernel-next", .kernel = kernel_next},
	{.name = "kernel-rep", .kernel = kernel_rep},
	{.name = "kernel-rewrite", .kernel = kernel_rewrite},
	{.name = "kernel-faults", .kernel = kernel_faults},
	{.name = "kernel-halt", .run = kernel_halt},
	{.name = "spaces", .run = kernel_spaces},
	{.name = "threads", .run = threads},
};

#define TRACE_BITS (RTIT_CTL_TRACEEN | RTIT_CTL_BRANCHEN | RTIT_CTL_TSCEN)

static const u64 configurations[] = {
	TRACE_BITS | RTIT_CTL_USER,
	TRACE_BITS | RTIT_CTL_OS,
	TRACE_BITS | RTIT_CTL_USER | RTIT_CTL_OS,
	TRACE_BITS | RTIT_CTL_USER | RTIT_CTL_OS | RTIT_CTL_DISRETC | RTIT_CTL_TOPA,
	TRACE_BITS | RTIT_CTL_USER | RTIT_CTL_OS | RTIT_CTL_CYCEN | RTIT_CTL_MTCEN,
	TRACE_BITS | RTIT_CTL_USER | RTIT_CTL_CR3FILTER | RTIT_CTL_MTCEN,
	TRACE_BITS | RTIT_CTL_USER | RTIT_CTL_OS | RTIT_CTL_CR3FILTER,
};

static void run_row(const struct row *row, u64 ctl)
{
	fetch_goes = row->fetch;
	timer_on = true;
	start(row->name, ctl, pa(root));
	arm_timer();
	if (row->user)
		user(row->user, row->shift);
	else if (row->kernel)
		kernel(row->kernel);
	else
		row->run();
	timer_on = false;
	stop();
	arm_timer();
	page_comes();
	__asm__ volatile("sti; nop; nop; cli");
}

/* Addresses that are no memory: of a buffer, in a table, of a table. */
static void hostile(void)
{
	static const u64 bad[] = {
		RAM_SIZE, 0x80000000, APIC & ~(u64)(TRACE_MAX - 1), 1ull << 32, 1ull << 51,
		0xfffffff00000,
	};
	u64 status, base;
	u32 i, way;

	for (i = 0; i < 3 * sizeof(bad) / sizeof(bad[0]); i++) {
		base = bad[i / 3];
		way = i % 3;
		table[0] = base;
		command(MSR_RTIT_OUTPUT_BASE, way == 1 ? pa(table) : base);
		command(MSR_RTIT_OUTPUT_MASK_PTRS, way ? RTIT_MASK_LOWER : TRACE_MAX - 1);
		command(MSR_RTIT_CTL, TRACE_BITS | RTIT_CTL_OS | (way ? RTIT_CTL_TOPA : 0));
		ring();
		status = reg(MSR_RTIT_STATUS);
		command(MSR_RTIT_CTL, 0);
		command(MSR_RTIT_STATUS, 0);
		ring();
		if (!(status & RTIT_STATUS_ERROR))
			fail("an address that is no memory was taken");
	}
}

void machine_main(void)
{
	u32 c, i;

	map_user();
	set_vectors();
	find_unit();
	report->magic = MACHINE_MAGIC;
	report->user_at = (u64)user_load;
	report->user_size = (u64)user_bytes;
	set_cr3(root);
	for (c = 0; c < sizeof(configurations) / sizeof(configurations[0]); c++)
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			run_row(&rows[i], configurations[c]);
	hostile();
	report->done = 1;
	end(0);
}
