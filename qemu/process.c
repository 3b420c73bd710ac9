// SPDX-License-Identifier: BSD-2-Clause
#include "process.h"

#include <elf.h>
#include <linux/futex.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "code.h"
#include "execlog.h"
#include "maps.h"
#include "window.h"

#define QUIET_TRIES	200	/* times 1 ms, for other threads to stand still */
#define MAX_PHDRS	128
#define PAGE		4096ull

/* What the kernel, here QEMU, left on the stack for the program. */
struct program {
	uint64_t envp;
	uint64_t phdr, phnum, entry, base, execfn;
};

static void read_auxv(struct program *p, uint64_t at)
{
	Elf64_auxv_t a;

	for (; guest_read(at, &a, sizeof(a)) && a.a_type != AT_NULL; at += sizeof(a)) {
		switch (a.a_type) {
		case AT_PHDR:
			p->phdr = a.a_un.a_val;
			break;
		case AT_PHNUM:
			p->phnum = a.a_un.a_val;
			break;
		case AT_ENTRY:
			p->entry = a.a_un.a_val;
			break;
		case AT_BASE:
			p->base = a.a_un.a_val;
			break;
		case AT_EXECFN:
			p->execfn = a.a_un.a_val;
			break;
		}
	}
}

/* argc, argv, NULL, envp, NULL, auxv. */
static void read_stack(struct program *p, uint64_t sp)
{
	uint64_t argc = 0, s, at;

	memset(p, 0, sizeof(*p));
	guest_read(sp, &argc, sizeof(argc));
	p->envp = at = sp + 8 * (argc + 2);
	while (guest_read(at, &s, sizeof(s)) && s)
		at += 8;
	read_auxv(p, at + 8);
}

/* Gives the program the names that were hidden from the emulator. */
static void restore_environment(const struct program *p)
{
	uint64_t at = p->envp, s;
	char first;

	for (; guest_read(at, &s, sizeof(s)) && s; at += 8)
		if (guest_read(s, &first, 1) && first == VTU_ENV_MARK)
			vtu_env_restore(guest_ptr(s));
}

static uint64_t entry_in_file(const char *path)
{
	Elf64_Ehdr eh = {0};
	FILE *f = fopen(path, "re");

	if (f && fread(&eh, sizeof(eh), 1, f) != 1)
		eh.e_entry = 0;
	if (f)
		fclose(f);
	return eh.e_entry;
}

static size_t read_phdrs(uint64_t at, uint64_t n, Elf64_Phdr *ph)
{
	if (n > MAX_PHDRS)
		n = MAX_PHDRS;
	return guest_read(at, ph, n * sizeof(*ph)) ? n : 0;
}

/* Load bias of the program: from PT_PHDR, else from the entry point. */
static uint64_t program_bias(const struct program *p, const Elf64_Phdr *ph, size_t n,
			     const char *path)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (ph[i].p_type == PT_PHDR)
			return p->phdr - ph[i].p_vaddr;
	return p->entry - entry_in_file(path);
}

static void add_segments(struct vcpu *v, const Elf64_Phdr *ph, size_t n, uint64_t bias)
{
	uint64_t start, end;
	uint32_t prot;
	size_t i;

	for (i = 0; i < n && v->mode == VCPU_LIVE; i++) {
		if (ph[i].p_type != PT_LOAD || !(ph[i].p_flags & PF_X))
			continue;
		start = (bias + ph[i].p_vaddr) & ~(PAGE - 1);
		end = (bias + ph[i].p_vaddr + ph[i].p_memsz + PAGE - 1) & ~(PAGE - 1);
		prot = PROT_EXEC | (ph[i].p_flags & PF_R ? PROT_READ : 0) |
		       (ph[i].p_flags & PF_W ? PROT_WRITE : 0);
		maps_add(v, start, end - start, prot, true);
	}
}

static void add_interpreter(struct vcpu *v, uint64_t base)
{
	Elf64_Phdr ph[MAX_PHDRS];
	Elf64_Ehdr eh;
	size_t n, i;

	if (!base || !guest_read(base, &eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG))
		return;
	n = read_phdrs(base + eh.e_phoff, eh.e_phnum, ph);
	/* AT_BASE is the bias; linked at 0 as all interpreters are. */
	for (i = 0; i < n; i++)
		if (ph[i].p_type == PT_LOAD && !ph[i].p_offset)
			base -= ph[i].p_vaddr & ~(PAGE - 1);
	add_segments(v, ph, n, base);
}

char process_program[PATH_MAX];

static void find_program(void)
{
	const char *given = qemu_plugin_path_to_binary();

	if (given && !realpath(given, process_program))
		snprintf(process_program, sizeof(process_program), "%s", given);
}

void process_tell_name(struct vcpu *v, const char name[VTU_NAME_MAX + 1])
{
	memcpy(v->block->payload, name, VTU_NAME_MAX + 1);
	window_hook(v, VTU_HOOK_THREAD_NAME, 0, 0, 0);
}

static void tell_exec(struct vcpu *v, const struct program *p)
{
	struct vtu_hook_exec *hook = (struct vtu_hook_exec *)v->block->payload;
	Elf64_Phdr ph[MAX_PHDRS];
	uint64_t bias;
	size_t i, n = read_phdrs(p->phdr, p->phnum, ph);

	bias = program_bias(p, ph, n, process_program);
	memset(hook, 0, sizeof(*hook));
	hook->base = bias;
	for (i = 0; i < n && !hook->addr; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X)
			hook->addr = (bias + ph[i].p_vaddr) & ~(PAGE - 1);
	memcpy(hook->path, process_program, sizeof(hook->path));
	if (!window_hook(v, VTU_HOOK_EXEC, 0, 0, 0))
		return;
	if (vtu.name[0])
		process_tell_name(v, vtu.name);
	add_segments(v, ph, n, bias);
	add_interpreter(v, p->base);
}

static bool tell_attach(struct vcpu *v, enum vtu_attach reason, int parent_pid,
			int parent_tid)
{
	struct vtu_hook_attach *hook = (struct vtu_hook_attach *)v->block->payload;

	hook->reason = reason;
	hook->parent_pid = (uint32_t)parent_pid;
	hook->parent_tid = (uint32_t)parent_tid;
	hook->reserved = 0;
	return window_hook(v, VTU_HOOK_ATTACH, 0, 0, 0);
}

static void describe_unit(void)
{
	struct vtu_header *h = vtu.window;

	h->time_hz = 1000000000;
	h->unit_kind = vtu.unit->kind;
	snprintf(h->unit_name, sizeof(h->unit_name), "%s, virtual (QEMU %s)",
		 vtu.unit->name, vtu.guest->name);
	vtu.unit->describe(h);
}

void process_start(struct vcpu *v, const struct run *c, struct guest_env *env)
{
	const char *why = vtu.guest->verify_env(env, c->start);
	struct program p;

	if (why)
		plugin_refuse("cannot read this emulator's CPU state (%s): "
			      "QEMU 7.2 on an x86-64 host is needed", why);
	vtu.started = true;
	read_stack(&p, vtu.guest->stack_pointer(env));
	restore_environment(&p);
	describe_unit();
	find_program();
	fatal_install();
	if (!vcpu_attach(v))
		return;
	if (tell_attach(v, vtu.exec_tid ? VTU_ATTACH_EXEC : VTU_ATTACH_START, 0,
			vtu.exec_tid))
		tell_exec(v, &p);
}

/* In the child of a fork, before anything else of ours runs there. */
static void forget_parent(void)
{
	uint32_t i;

	execlog_forked();
	for (i = 0; i < vtu.nvcpus; i++) {
		struct vcpu *v = vtu.vcpus[i];
		bool live = v && v->mode == VCPU_LIVE;

		if (!v)
			continue;
		v->block = &window_no_block;
		if (live)
			vtu.unit->forget(v);
		v->in = false;
		v->prev = &vcpu_outside;
		v->map_locked = false;
		v->mode = live && v == vcpu_self ? VCPU_FORKED : VCPU_OFF;
	}
	vtu.nthreads = 0;
	pthread_mutex_init(&vtu.lock, NULL);
	pthread_mutex_init(&vtu.map_order, NULL);
}

static void fork_prepare(void)
{
	pthread_mutex_lock(&vtu.lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&vtu.lock);
}

void process_init(void)
{
	/*
	 * fork() is called with all other vCPUs stopped outside of translated
	 * code: whoever holds the lock now gives it back without waiting.
	 */
	pthread_atfork(fork_prepare, fork_parent, forget_parent);
}

void process_forked(struct vcpu *v)
{
	int parent_pid = vtu.pid, parent_tid = v->tid;

	vtu.pid = getpid();
	/* The owner may have come to want children since the start. */
	if (vtu.inert || !(vtu.window->flags & VTU_F_FOLLOW)) {
		vtu.inert = true;
		v->mode = VCPU_OFF;
		return;
	}
	if (vcpu_attach(v))
		tell_attach(v, VTU_ATTACH_FORK, parent_pid, parent_tid);
}

/* Are all vCPUs but v's where they execute nothing? */
static bool others_quiet(const struct vcpu *v)
{
	bool quiet = true;
	uint32_t i, state;

	pthread_mutex_lock(&vtu.lock);
	for (i = 0; i < vtu.nvcpus && quiet; i++) {
		const struct vcpu *o = vtu.vcpus[i];

		if (!o || o == v || o->block == &window_no_block)
			continue;
		state = __atomic_load_n(&o->block->state, __ATOMIC_SEQ_CST);
		quiet = state == VTU_SYSCALL;
	}
	pthread_mutex_unlock(&vtu.lock);
	return quiet;
}

static void wake_waiters(const struct vcpu *v)
{
	uint32_t i;

	pthread_mutex_lock(&vtu.lock);
	for (i = 0; i < vtu.nvcpus; i++) {
		struct vcpu *o = vtu.vcpus[i];

		if (!o || o == v || o->block == &window_no_block)
			continue;
		__atomic_add_fetch(&o->block->wake, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &o->block->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
	pthread_mutex_unlock(&vtu.lock);
}

void process_quit_others(struct vcpu *v)
{
	struct timespec pause = {0, 1000000};
	int tries;

	v->quitting = true;
	if (__atomic_load_n(&vtu.nthreads, __ATOMIC_RELAXED) < 2)
		return;
	vtu.ending = true;
	vcpus_attention(v, VTU_ATTN_QUIT);
	wake_waiters(v);
	for (tries = 0; tries < QUIET_TRIES && !others_quiet(v); tries++)
		nanosleep(&pause, NULL);
	if (vtu.unit->settle)
		vtu.unit->settle();
}

void process_exit(struct vcpu *v, int status)
{
	process_quit_others(v);
	code_drain(v);
	window_hook(v, VTU_HOOK_EXIT, (uint64_t)status, 0, 0);
	vcpu_detach(v);
}

void process_thread_exit(struct vcpu *v, int status)
{
	if (__atomic_load_n(&vtu.nthreads, __ATOMIC_RELAXED) < 2) {
		process_exit(v, (status & 0xff) << 8);
		return;
	}
	code_drain(v);
	window_hook(v, VTU_HOOK_THREAD_EXIT, (uint64_t)status, 0, 0);
	vcpu_detach(v);
}

void process_detach(void)
{
	vtu.inert = true;
	vcpus_attention(vcpu_self, VTU_ATTN_DETACH);
	vcpu_detach(vcpu_self);
}
