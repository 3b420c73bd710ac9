// SPDX-License-Identifier: BSD-2-Clause
#include "syscalls.h"

#include <linux/sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "code.h"
#include "maps.h"
#include "process.h"
#include "signals.h"
#include "window.h"

#define PAGE_UP(n)	(((n) + 4095) & ~(uint64_t)4095)
#define MAX_NR		512

struct handler {
	void (*before)(struct vcpu *v);
	void (*after)(struct vcpu *v, int64_t ret);
};

static uint8_t call_of[MAX_NR];

static bool failed(int64_t ret)
{
	return ret < 0 && ret > -4096;
}

/* Changes of executable mappings, and the hooks that tell them, keep one order. */
static void map_lock(struct vcpu *v)
{
	pthread_mutex_lock(&vtu.map_order);
	v->map_locked = true;
}

static void map_unlock(struct vcpu *v)
{
	if (v->map_locked)
		pthread_mutex_unlock(&vtu.map_order);
	v->map_locked = false;
}

static void unmapped(struct vcpu *v, uint64_t addr, uint64_t len)
{
	if (!maps_overlap(addr, len))
		return;
	maps_remove(addr, len);
	code_forget(addr, len);
	code_bump(v);
	window_hook(v, VTU_HOOK_MUNMAP, addr, len, 0);
}

static void before_mmap(struct vcpu *v)
{
	if (v->arg[2] & PROT_EXEC ||
	    (v->arg[3] & MAP_FIXED && maps_overlap(v->arg[0], PAGE_UP(v->arg[1]))))
		map_lock(v);
}

static void after_mmap(struct vcpu *v, int64_t ret)
{
	uint64_t addr = (uint64_t)ret, len = PAGE_UP(v->arg[1]);

	if (failed(ret) || !v->map_locked)
		return;
	unmapped(v, addr, len);
	if (!(v->arg[2] & PROT_EXEC))
		return;
	code_bump(v);
	maps_add(v, addr, len, (uint32_t)v->arg[2], true);
}

static void before_munmap(struct vcpu *v)
{
	if (maps_overlap(v->arg[0], PAGE_UP(v->arg[1])))
		map_lock(v);
}

static void after_munmap(struct vcpu *v, int64_t ret)
{
	if (!failed(ret) && v->map_locked)
		unmapped(v, v->arg[0], PAGE_UP(v->arg[1]));
}

static void before_mprotect(struct vcpu *v)
{
	uint64_t addr = v->arg[0], len = PAGE_UP(v->arg[1]);

	if (!(v->arg[2] & PROT_EXEC) && !maps_overlap(addr, len))
		return;
	map_lock(v);
	if (v->arg[2] & PROT_WRITE)
		code_snapshot(addr, len);
}

static bool executable(uint64_t addr, uint64_t len)
{
	bool all;

	pthread_mutex_lock(&vtu.lock);
	all = maps_flags(addr, len) & MAP_KNOWN;
	pthread_mutex_unlock(&vtu.lock);
	return all;
}

static void after_mprotect(struct vcpu *v, int64_t ret)
{
	uint64_t addr = v->arg[0], len = PAGE_UP(v->arg[1]);
	uint32_t prot = (uint32_t)v->arg[2];

	if (failed(ret) || !v->map_locked || !len)
		return;
	if (prot & PROT_EXEC && executable(addr, len)) {
		if (prot & PROT_WRITE)
			maps_dirty(addr, len, prot);
		return;
	}
	code_bump(v);
	if (prot & PROT_EXEC)
		maps_add(v, addr, len, prot, false);
	else
		maps_remove(addr, len);
	window_hook(v, VTU_HOOK_MPROTECT, addr, len, prot);
}

static void before_mremap(struct vcpu *v)
{
	if (maps_overlap(v->arg[0], PAGE_UP(v->arg[1])) ||
	    (v->arg[3] & MREMAP_FIXED && maps_overlap(v->arg[4], PAGE_UP(v->arg[2]))))
		map_lock(v);
}

static void after_mremap(struct vcpu *v, int64_t ret)
{
	uint64_t old = v->arg[0], old_len = PAGE_UP(v->arg[1]), len = PAGE_UP(v->arg[2]);
	uint64_t addr = (uint64_t)ret;
	bool was;

	if (failed(ret) || !v->map_locked)
		return;
	was = maps_overlap(old, old_len);
	unmapped(v, old, old_len);
	unmapped(v, addr, len);
	if (!was)
		return;
	code_bump(v);
	maps_add(v, addr, len, PROT_READ | PROT_EXEC, false);
}

static void before_clone(struct vcpu *v)
{
	if (v->arg[0] & CLONE_VM && !(v->arg[0] & CLONE_VFORK))
		vtu.parallel = true;
}

static void before_exit(struct vcpu *v)
{
	process_thread_exit(v, (int)v->arg[0]);
}

static void before_exit_group(struct vcpu *v)
{
	process_exit(v, (int)(v->arg[0] & 0xff) << 8);
}

static void before_sigaction(struct vcpu *v)
{
	signals_action(v->arg[1]);
}

static void before_execve(struct vcpu *v)
{
	process_exec(v, -100 /* AT_FDCWD */, v->arg[0], v->arg[1], v->arg[2], 0);
}

static void before_execveat(struct vcpu *v)
{
	process_exec(v, (int)v->arg[0], v->arg[1], v->arg[2], v->arg[3], (int)v->arg[4]);
}

static void after_exec(struct vcpu *v, int64_t ret)
{
	process_exec_failed(v);
}

static void after_prctl(struct vcpu *v, int64_t ret)
{
	char name[VTU_NAME_MAX + 1];

	if (v->arg[0] != PR_SET_NAME || failed(ret))
		return;
	memset(name, 0, sizeof(name));
	guest_read_string(v->arg[1], name, sizeof(name));
	process_tell_name(v, name);
}

static const struct handler handlers[CALL_COUNT + 1] = {
	[CALL_MMAP] = {before_mmap, after_mmap},
	[CALL_MUNMAP] = {before_munmap, after_munmap},
	[CALL_MPROTECT] = {before_mprotect, after_mprotect},
	[CALL_MREMAP] = {before_mremap, after_mremap},
	[CALL_EXECVE] = {before_execve, after_exec},
	[CALL_EXECVEAT] = {before_execveat, after_exec},
	[CALL_CLONE] = {before_clone, NULL},
	[CALL_EXIT] = {before_exit, NULL},
	[CALL_EXIT_GROUP] = {before_exit_group, NULL},
	[CALL_RT_SIGACTION] = {before_sigaction, NULL},
	[CALL_PRCTL] = {NULL, after_prctl},
};

void syscalls_init(void)
{
	int i;

	memset(call_of, CALL_OTHER, sizeof(call_of));
	for (i = 0; i < CALL_COUNT; i++)
		if (vtu.guest->nr[i] >= 0)
			call_of[vtu.guest->nr[i]] = (uint8_t)i;
}

void syscalls_enter(qemu_plugin_id_t id, unsigned int index, int64_t num, uint64_t a1,
		    uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
		    uint64_t a7, uint64_t a8)
{
	struct vcpu *v = vtu.vcpus[index];

	if (v->mode != VCPU_LIVE)
		return;
	v->call = num >= 0 && num < MAX_NR ? call_of[num] : CALL_OTHER;
	v->arg[0] = a1;
	v->arg[1] = a2;
	v->arg[2] = a3;
	v->arg[3] = a4;
	v->arg[4] = a5;
	v->arg[5] = a6;
	vcpu_syscall(v);
	/* Quiet from here on: what follows may wait for another thread's hook. */
	window_set_state(v->block, VTU_SYSCALL);
	if (handlers[v->call].before)
		handlers[v->call].before(v);
}

void syscalls_return(qemu_plugin_id_t id, unsigned int index, int64_t num, int64_t ret)
{
	struct vcpu *v = vtu.vcpus[index];

	if (v->mode == VCPU_FORKED) {
		process_forked(v);
	} else if (v->mode == VCPU_LIVE) {
		vcpu_clock_sync(v);
		if (handlers[v->call].after)
			handlers[v->call].after(v, ret);
	}
	map_unlock(v);
}
