// SPDX-License-Identifier: BSD-2-Clause
/* A storm: timers, faults of each kind, traps, signals to itself, on two stacks. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t ticks, faults, traps, usr;
static char *guarded;
static sigjmp_buf out;

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
}

#ifdef __aarch64__

#define FAULTS 3

static void step_over(ucontext_t *uc)
{
	uc->uc_mcontext.pc += 4;
}

/* BRK is not executed: the handler has to step over it. */
static void on_trap(int sig, siginfo_t *si, void *ctx)
{
	(void)sig;
	(void)si;
	traps++;
	step_over(ctx);
}

static unsigned long fault_of_each_kind(void)
{
	unsigned long r = 0;

	__asm__ volatile("nop; ldr %0, [%1]; nop" : "=r"(r) : "r"(guarded));
	__asm__ volatile("udf #1");
	__asm__ volatile("nop; brk #7");
	__asm__ volatile("str %0, [%1]; nop" : : "r"(r), "r"(guarded));
	return r;
}

#else

#define FAULTS 4

/* Each instruction that faults is 3 bytes long. */
static void step_over(ucontext_t *uc)
{
	uc->uc_mcontext.gregs[REG_RIP] += 3;
}

static void on_trap(int sig, siginfo_t *si, void *ctx)
{
	(void)sig;
	(void)si;
	(void)ctx;
	traps++;
}

static unsigned long fault_of_each_kind(void)
{
	unsigned long r = 0;

	/* mov (%rdi),%rax; div of zero padded; ud2 padded; store to read-only */
	__asm__ volatile("mov (%1), %0" : "+a"(r) : "D"(guarded));
	__asm__ volatile("xor %%edx, %%edx; div %1" : "+a"(r) : "r"(0ul) : "rdx");
	__asm__ volatile(".byte 0x0f, 0x0b, 0x90");
	__asm__ volatile("int3");
	__asm__ volatile("mov %0, (%1)" : : "a"(r), "D"(guarded));
	return r;
}

#endif

static void on_fault(int sig, siginfo_t *si, void *ctx)
{
	(void)sig;
	(void)si;
	faults++;
	step_over(ctx);
}

static void on_usr(int sig)
{
	usr++;
	if (sig == SIGUSR1)
		raise(SIGUSR2);		/* nests */
}

static void on_bus(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

static void handle(int sig, void (*fn)(int), int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = fn;
	sa.sa_flags = flags;
	sigaction(sig, &sa, NULL);
}

static void handle_info(int sig, void (*fn)(int, siginfo_t *, void *))
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = fn;
	sa.sa_flags = SA_SIGINFO;
	sigaction(sig, &sa, NULL);
}

/* Out of a fault, by a handler that is not told more than the signal. */
static unsigned long jump_out(void)
{
	volatile unsigned long sum = 1;

	handle(SIGSEGV, on_bus, 0);
	if (!sigsetjmp(out, 1))
		sum += *(volatile unsigned long *)guarded * 3;
	handle_info(SIGSEGV, on_fault);
	return sum;
}

int main(void)
{
	struct itimerval it = {{0, 700}, {0, 700}};
	stack_t alt = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	sigset_t both, old;
	volatile unsigned long x = 1;
	int i;

	sigaltstack(&alt, NULL);
	guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	handle(SIGALRM, on_tick, SA_RESTART | SA_ONSTACK);
	handle(SIGUSR1, on_usr, SA_NODEFER);
	handle(SIGUSR2, on_usr, SA_ONSTACK);
	handle(SIGBUS, on_bus, 0);
	handle_info(SIGTRAP, on_trap);
	handle_info(SIGSEGV, on_fault);
	handle_info(SIGFPE, on_fault);
	handle_info(SIGILL, on_fault);
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	setitimer(ITIMER_REAL, &it, NULL);
	for (i = 0; i < 150; i++) {
		x += fault_of_each_kind();
		kill(getpid(), SIGUSR1);
		/* Two pending at once: their frames stack up. */
		sigprocmask(SIG_BLOCK, &both, &old);
		raise(SIGUSR1);
		raise(SIGUSR2);
		sigprocmask(SIG_SETMASK, &old, NULL);
		if (!sigsetjmp(out, 1))
			raise(SIGBUS);
		x += jump_out();
		for (int k = 0; k < 2000; k++)
			x = x * 33 + (unsigned)k;
	}
	memset(&it, 0, sizeof(it));
	setitimer(ITIMER_REAL, &it, NULL);
	return faults == FAULTS * 150 && traps == 150 && usr == 150 * 5 && ticks ? 0 : 1;
}
