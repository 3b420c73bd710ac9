// SPDX-License-Identifier: BSD-2-Clause
/*
 * A machine of two CPUs and a few hundred lines that drives the virtual trace unit by
 * itself and runs a table of what can happen to a CPU, under a timer that interrupts
 * whenever it likes; each CPU for itself, at the same time.  It records each row in
 * each configuration; the tests look at what was recorded.
 */
#include "machine.h"

#define PAGE	       4096u
#define COMES_AND_GOES (USER_BASE + (1u << 29)) /* a page, by its table below */
#define A32_ALIAS      0x80000000ull		/* RAM, for code of 32 bits */
#define GICD	       0x08000000ull
#define GICC	       0x08010000ull
#define UART	       0x09000000ull
#define TIMER	       27 /* the virtual one's interrupt */

#define PSCI_VERSION   0x84000000u
#define PSCI_CPU_ON    0xc4000003u
#define PSCI_OFF       0x84000008u

/* Descriptors of stage 1, and what user pages have. */
#define TABLE	       3ull
#define USER_PAGE      (1ull << 11 | 1ull << 10 | 3ull << 8 | 1ull << 6 | 3)
#define USER_BLOCK     (1ull << 11 | 1ull << 10 | 3ull << 8 | 1ull << 6 | 1)

#define SPSR_SS	       (1ull << 21)
#define SPSR_A32       0x10ull
#define CPACR_FPEN     (3ull << 20)

/* ESR_EL1.EC */
enum {
	EC_UNKNOWN = 0x00,
	EC_FP = 0x07,
	EC_SVC32 = 0x11,
	EC_SVC = 0x15,
	EC_MSR = 0x18,
	EC_FETCH = 0x20,
	EC_FETCH_SAME = 0x21,
	EC_PC = 0x22,
	EC_DATA = 0x24,
	EC_DATA_SAME = 0x25,
	EC_SP = 0x26,
	EC_STEP = 0x32,
	EC_BRK = 0x3c,
};

struct regs { /* as event_common stores them */
	u64 x[31], elr, spsr, sp, kind;
};

extern char start[], user_load[], user_bytes[];
extern char kernel_branches[], kernel_tight[], kernel_spin[], kernel_spinning[],
	kernel_next[], kernel_atomics[], kernel_waits[], kernel_rewrite[],
	kernel_faults[], kernel_fp[], user_branches[], user_tight[], user_spin[],
	user_spinning_[], user_next[], user_atomics[], user_waits[], user_rewrite[],
	user_faults[], user_fp[], user_calls[], user_traps[], user_steps[], user_fetch[],
	fetch_page[], user_a32_code[];
void enter_user(u64 pc, u64 sp, u64 arg, u64 spsr, u64 *saved);
void leave_user(u64 *saved) __attribute__((noreturn));
void machine_main(u64 index);
void machine_event(struct regs *r, u64 kind);

static struct cpu cpus[MAX_CPUS];
static u64 user_root[MAX_CPUS][512] __attribute__((aligned(PAGE)));
static u64 other_root[MAX_CPUS][512] __attribute__((aligned(PAGE)));
static u64 user_directory[MAX_CPUS][512] __attribute__((aligned(PAGE)));
static u64 alias_directory[MAX_CPUS][512] __attribute__((aligned(PAGE)));
static u64 user_table[MAX_CPUS][512] __attribute__((aligned(PAGE)));
static u64 page_table[MAX_CPUS][512] __attribute__((aligned(PAGE)));
static u32 finished;

static struct report *report(void)
{
	return from_pa(RAM_BASE + REPORT);
}

static u64 firmware(u64 function, u64 a, u64 b, u64 c)
{
	register u64 x0 __asm__("x0") = function;
	register u64 x1 __asm__("x1") = a;
	register u64 x2 __asm__("x2") = b;
	register u64 x3 __asm__("x3") = c;

	__asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : : "memory");
	return x0;
}

void fail(const char *s)
{
	volatile u32 *uart = from_pa(UART);
	const char *head = "machine: ";

	for (; *head; head++)
		*uart = (u32)*head;
	for (; *s; s++)
		*uart = (u32)*s;
	*uart = '\n';
	for (;;)
		firmware(PSCI_OFF, 0, 0, 0);
}

static struct cpu *this_cpu(void)
{
	return (struct cpu *)read_sysreg(tpidr_el1);
}

static volatile u32 *gicc(u32 offset)
{
	return from_pa(GICC + offset);
}

/* One shot, soon, never twice the same. */
static void arm_timer(struct cpu *c)
{
	c->timer_seed = c->timer_seed * 1103515245u + 12345u;
	write_sysreg(cntv_tval_el0, 1000 + (c->timer_seed >> 16) % 12000);
	write_sysreg(cntv_ctl_el0, c->timer_on);
}

/* The page tables. */

static void set_space(u64 ttbr0)
{
	write_sysreg(ttbr0_el1, ttbr0);
	__asm__ volatile("isb");
}

static void map_user(struct cpu *c)
{
	u32 k = c->index, i, n = (u32)((u64)user_bytes / PAGE);

	for (i = 0; i < n; i++)
		user_table[k][i] = ((u64)user_load + i * PAGE) | USER_PAGE;
	user_directory[k][0] = alias_directory[k][0] = to_pa(user_table[k]) | TABLE;
	user_directory[k][256] = to_pa(page_table[k]) | TABLE;
	user_root[k][64] = to_pa(user_directory[k]) | TABLE;
	user_root[k][65] = to_pa(alias_directory[k]) | TABLE;
	user_root[k][A32_ALIAS >> 30] = RAM_BASE | USER_BLOCK;
	/* Pages of data: the fifth comes and goes, stack in those before. */
	for (i = 0; i < 8; i++)
		page_table[k][i] =
			(RAM_BASE + 0x800000u + (k * 8 + i) * PAGE) | USER_PAGE;
	for (i = 0; i < 512; i++)
		other_root[k][i] = user_root[k][i];
	c->user_table = user_table[k];
	c->page_table = page_table[k];
	/* An address space identifier of its own: the other CPU's pages are others. */
	c->space = to_pa(user_root[k]) | (u64)(k + 1) << 48;
	set_space(c->space);
}

static void flush(u64 va)
{
	__asm__ volatile("dsb ishst; tlbi vaae1, %0; dsb ish; isb"
			 :
			 : "r"(va / PAGE)
			 : "memory");
}

static void page_goes(struct cpu *c)
{
	c->page_table[4] &= ~1ull;
	flush(COMES_AND_GOES + 4 * PAGE);
	if (c->fetch_goes) {
		c->user_table[((u64)fetch_page - USER_BASE) / PAGE] &= ~1ull;
		flush((u64)fetch_page);
		flush((u64)fetch_page + (USER_ALIAS - USER_BASE));
	}
}

static void page_comes(struct cpu *c)
{
	c->page_table[4] |= 1;
	c->user_table[((u64)fetch_page - USER_BASE) / PAGE] |= 1;
	__asm__ volatile("dsb ish; isb" : : : "memory");
}

/* What the vectors do. */

static void call(struct cpu *c, u32 number)
{
	if (number == 1) {
		write_sysreg(mdscr_el1, 0);
		leave_user(&c->saved_sp);
	}
	if (number == 3)
		write_sysreg(cpacr_el1, 0);
	if (number == 2 || (!number && c->events % 5 == 0))
		page_goes(c);
}

static void step(struct cpu *c, struct regs *r)
{
	r->spsr |= SPSR_SS;
	if (!--c->steps)
		write_sysreg(mdscr_el1, 0);
}

static void synchronous(struct cpu *c, struct regs *r)
{
	u64 esr = read_sysreg(esr_el1);

	switch (esr >> 26) {
	case EC_SVC:
	case EC_SVC32:
		call(c, esr >> 26 == EC_SVC32 ? 1 : esr & 0xffff);
		break;
	case EC_FP:
		write_sysreg(cpacr_el1, CPACR_FPEN);
		break;
	case EC_UNKNOWN:
	case EC_MSR:
	case EC_SP:
	case EC_BRK:
		r->elr += 4;
		break;
	case EC_PC:
		r->elr = r->x[8];
		break;
	case EC_STEP:
		step(c, r);
		break;
	case EC_FETCH:
	case EC_FETCH_SAME:
	case EC_DATA:
	case EC_DATA_SAME:
		page_comes(c);
		break;
	default:
		fail("an unexpected exception");
	}
	/* Faults follow each other without the timer, too. */
	if (esr >> 26 == EC_DATA && c->events % 3 == 0)
		page_goes(c);
}

static void interrupt(struct cpu *c, struct regs *r)
{
	u32 id = *gicc(0x0c);

	if ((id & 0x3ff) != TIMER)
		fail("an unexpected interrupt");
	/* Not all the time: programs must get on. */
	if (c->calm++ % 2)
		page_goes(c);
	arm_timer(c);
	*gicc(0x10) = id;
	if (r->elr == (u64)kernel_spinning ||
	    (r->elr & ~(USER_ALIAS - USER_BASE)) == (u64)user_spinning_)
		r->x[9] = 1;
}

void machine_event(struct regs *r, u64 kind)
{
	struct cpu *c = this_cpu();

	c->events++;
	switch (kind) {
	case 4:
	case 8:
	case 12:
		synchronous(c, r);
		break;
	case 5:
	case 9:
	case 13:
		interrupt(c, r);
		break;
	default:
		fail("an unexpected vector");
	}
	__asm__ volatile("isb");
}

static void set_vectors(struct cpu *c)
{
	volatile u32 *gicd = from_pa(GICD);

	write_sysreg(tpidr_el1, c);
	write_sysreg(oslar_el1, 0);
	gicd[0] = 1;
	gicd[0x100 / 4] = 1u << TIMER;
	*gicc(0x04) = 0xff;
	*gicc(0) = 1;
	c->timer_seed = 12345 + c->index;
}

/* The rows. */

static void user_with(struct cpu *c, const char *entry, u64 shift, u64 spsr)
{
	enter_user((u64)entry + shift, COMES_AND_GOES + 3 * PAGE,
		   COMES_AND_GOES + 4 * PAGE, spsr, &c->saved_sp);
}

static void user(struct cpu *c, const char *entry, u64 shift)
{
	user_with(c, entry, shift, 0);
}

static void kernel(const char *function)
{
	register u64 x0 __asm__("x0") = COMES_AND_GOES + 4 * PAGE;

	__asm__ volatile("msr daifclr, #2; blr %1; msr daifset, #2"
			 : "+r"(x0)
			 : "r"(function)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",
			   "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x30",
			   "memory", "cc");
}

/* Waits for interrupts that are masked, and lets them come. */
static void halts(struct cpu *c)
{
	u32 i;

	for (i = 0; i < 50; i++)
		__asm__ volatile("wfi; msr daifclr, #2; msr daifset, #2" : : : "memory");
	for (i = 0; i < 1000; i++)
		__asm__ volatile("msr daifclr, #2; nop; msr daifset, #2; nop; isb"
				 :
				 :
				 : "memory");
}

/* Calls of the firmware, which the emulator is. */
static void firmware_calls(struct cpu *c)
{
	u32 i;

	for (i = 0; i < 500; i++) {
		c->events++;
		__asm__ volatile("msr daifclr, #2");
		if (firmware(PSCI_VERSION, 0, 0, 0) >> 16 > 1)
			fail("not the firmware");
		__asm__ volatile("msr daifset, #2");
	}
}

/* Address spaces that hold the same, and contexts. */
static void spaces(struct cpu *c)
{
	u64 other = to_pa(other_root[c->index]) | (u64)(c->index + 3) << 48;
	u32 i;

	for (i = 0; i < CONTEXTS; i++) {
		__asm__ volatile("msr daifclr, #2");
		write_sysreg(contextidr_el1, 1000 * c->index + i);
		set_space(i & 1 ? other : c->space);
		/* That of the other CPU, too: it stops for a moment, wherever it is. */
		__asm__ volatile("tlbi vmalle1is; dsb ish; isb");
		if (i % 50 == 0)
			user(c, user_calls, 0);
	}
	__asm__ volatile("msr daifset, #2");
	set_space(c->space);
}

static void threads(struct cpu *c)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		write_sysreg(tpidr_el0, i & 1 ? 0x222000 : 0x111000);
		user(c, i & 1 ? user_traps : user_faults, 0);
	}
}

/* Code that no run describes, between some that is described. */
static void a32(struct cpu *c)
{
	u64 at = (u64)user_load + ((u64)user_a32_code - USER_BASE) - RAM_BASE + A32_ALIAS;
	u32 i;

	for (i = 0; i < 5; i++) {
		user_with(c, (const char *)at, 0, SPSR_A32);
		user(c, user_calls, 0);
	}
}

static const struct row {
	const char *name;
	const char *user;	    /* a program */
	const char *kernel;	    /* or a function */
	void (*run)(struct cpu *c); /* or whatever */
	u64 shift;		    /* of the program's address */
	bool fetch;		    /* code pages come and go, too */
	u32 steps;		    /* so many instructions of the program are stepped */
} rows[] = {
	{.name = "user-branches", .user = user_branches},
	{.name = "user-tight", .user = user_tight},
	{.name = "user-spin", .user = user_spin},
	{.name = "user-next", .user = user_next},
	{.name = "user-atomics", .user = user_atomics},
	{.name = "user-waits", .user = user_waits},
	{.name = "user-rewrite", .user = user_rewrite},
	{.name = "user-faults", .user = user_faults},
	{.name = "user-fp", .user = user_fp},
	{.name = "user-calls", .user = user_calls},
	{.name = "user-traps", .user = user_traps},
	{.name = "user-fetch", .user = user_fetch, .fetch = true},
	{.name = "alias-branches",
	 .user = user_branches,
	 .shift = USER_ALIAS - USER_BASE},
	{.name = "alias-waits", .user = user_waits, .shift = USER_ALIAS - USER_BASE},
	{.name = "alias-spin", .user = user_spin, .shift = USER_ALIAS - USER_BASE},
	{.name = "alias-fetch",
	 .user = user_fetch,
	 .shift = USER_ALIAS - USER_BASE,
	 .fetch = true},
	{.name = "kernel-branches", .kernel = kernel_branches},
	{.name = "kernel-tight", .kernel = kernel_tight},
	{.name = "kernel-spin", .kernel = kernel_spin},
	{.name = "kernel-next", .kernel = kernel_next},
	{.name = "kernel-atomics", .kernel = kernel_atomics},
	{.name = "kernel-waits", .kernel = kernel_waits},
	{.name = "kernel-rewrite", .kernel = kernel_rewrite},
	{.name = "kernel-faults", .kernel = kernel_faults},
	{.name = "kernel-fp", .kernel = kernel_fp},
	{.name = "halts", .run = halts},
	{.name = "firmware", .run = firmware_calls},
	{.name = "spaces", .run = spaces},
	{.name = "threads", .run = threads},
	{.name = "steps", .user = user_steps, .steps = 400},
	{.name = "steps-next", .user = user_next, .steps = 3000},
	{.name = "steps-spin", .user = user_spin, .steps = 300},
	{.name = "a32", .run = a32},
};

static void run_row(struct cpu *c, const struct row *row, u64 config, u32 levels)
{
	c->fetch_goes = row->fetch;
	c->timer_on = true;
	unit_start(c, row->name, config, levels);
	arm_timer(c);
	c->steps = row->steps;
	write_sysreg(mdscr_el1, row->steps ? 1 : 0);
	if (row->user)
		user_with(c, row->user, row->shift, row->steps ? SPSR_SS : 0);
	else if (row->kernel)
		kernel(row->kernel);
	else
		row->run(c);
	c->timer_on = false;
	unit_stop(c);
	arm_timer(c);
	page_comes(c);
	__asm__ volatile("msr daifclr, #2; nop; nop; msr daifset, #2");
}

static void prepare(struct cpu *c)
{
	u64 half = (TRACES_END - TRACES) / MAX_CPUS;

	c->next_trace = TRACES + c->index * half;
	c->traces_end = c->next_trace + half;
	map_user(c);
	set_vectors(c);
	unit_find(c);
}

static void run_rows(struct cpu *c)
{
	u64 config;
	u32 levels, k, i;

	for (k = 0; unit_configuration(k, &config, &levels); k++)
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			run_row(c, &rows[i], config, levels);
	unit_hostile(c);
}

void machine_main(u64 index)
{
	struct cpu *c = &cpus[index];

	c->index = (u32)index;
	prepare(c);
	if (index) {
		run_rows(c);
		__atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
		return;
	}
	report()->magic = MACHINE_MAGIC;
	report()->user_at = (u64)user_load - RAM_BASE;
	report()->user_size = (u64)user_bytes;
	if (firmware(PSCI_CPU_ON, 1, to_pa(start), 0))
		fail("there is no second CPU");
	run_rows(c);
	while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE))
		__asm__ volatile("yield");
	report()->done = 1;
	for (;;)
		firmware(PSCI_OFF, 0, 0, 0);
}
