// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fatal signals.  No plugin callback tells of them: QEMU restores the default
 * action and kills itself.  Its call of kill(2) goes through its global offset
 * table, and there we stand: the CPU's state is exact at that moment.
 */
#include "process.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "execlog.h"
#include "window.h"

#define PAGE 4096ul

static bool is_fault(int sig)
{
	return vtu.guest->faults >> sig & 1;
}

/* What of prev retired before the instruction at ip, which the signal stopped. */
static void settle(struct vcpu *v, uint64_t ip, bool fault)
{
	const struct run *p = run_real(v->prev);
	int n = fault ? vcpu_index_of(p, ip) : -1;

	execlog_end(v, ip, fault);
	if (!v->in)
		return;
	if (n > 0)
		vcpu_feed(v, p, (uint32_t)n, ip);
	else if (n < 0)
		vcpu_retire(v, ip);
	vcpu_leave(v, ip, fault ? UNIT_FAULT : UNIT_INTERRUPT);
}

/*
 * For a signal that dumps core QEMU has stopped all other vCPUs, between two
 * blocks and for good: they cannot end their streams themselves.
 */
static void settle_stopped(const struct vcpu *v)
{
	struct vcpu *o;
	uint32_t i;

	process_quit_others(vcpu_self);
	for (i = 0; i < vtu.nvcpus; i++) {
		o = vtu.vcpus[i];
		if (!o || o == v || o->mode != VCPU_LIVE ||
		    __atomic_load_n(&o->block->state, __ATOMIC_SEQ_CST) != VTU_RUNNING)
			continue;
		settle(o, vtu.guest->ip(o->env), false);
		vcpu_detach(o);
	}
}

static bool dumps_core(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE ||
	       sig == SIGABRT || sig == SIGQUIT || sig == SIGTRAP;
}

static int kill_by_qemu(pid_t pid, int sig)
{
	struct vcpu *v = vcpu_self;

	if (v && v->mode == VCPU_LIVE && pid == getpid() && sig != SIGSTOP) {
		settle(v, vtu.guest->ip(v->env), is_fault(sig));
		if (dumps_core(sig))
			settle_stopped(v);
		process_exit(v, sig);
	}
	return kill(pid, sig);
}

static bool patch(void **slot)
{
	void *page = (void *)((uintptr_t)slot & ~(PAGE - 1));

	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE) < 0)
		return false;
	*slot = (void *)kill_by_qemu;
	mprotect(page, PAGE, PROT_READ);	/* as RELRO left it */
	return true;
}

static uint64_t dynamic_value(const ElfW(Dyn) *d, int64_t tag)
{
	for (; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d->d_un.d_val;
	return 0;
}

/* The first object is the emulator itself. */
static int find_slot(struct dl_phdr_info *info, size_t size, void *found)
{
	const ElfW(Dyn) *d = NULL;
	const ElfW(Sym) *symbols;
	const ElfW(Rela) *r, *end;
	const char *names;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	if (!d)
		return 1;
	symbols = (void *)dynamic_value(d, DT_SYMTAB);
	names = (void *)dynamic_value(d, DT_STRTAB);
	r = (void *)dynamic_value(d, DT_JMPREL);
	end = (void *)((const char *)r + dynamic_value(d, DT_PLTRELSZ));
	for (; r && r < end; r++)
		if (!strcmp(names + symbols[ELF64_R_SYM(r->r_info)].st_name, "kill"))
			*(void **)found = (void *)(info->dlpi_addr + r->r_offset);
	return 1;
}

void fatal_install(void)
{
	void *slot = NULL;

	dl_iterate_phdr(find_slot, &slot);
	if (!slot || !patch(slot))
		plugin_warn("cannot watch for fatal signals: the last branches before "
			    "one may be missing");
}
