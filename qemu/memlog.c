// SPDX-License-Identifier: BSD-2-Clause
#include "memlog.h"

#include <stdlib.h>

#include "addrlog.h"
#include "system.h"

/* The calling thread's file; by a pointer: the emulator has little static TLS. */
static __thread struct addrlog *file;
static __thread int opened_by;	/* a forked child has a file of its own */
static __thread bool failed;

static bool open_file(unsigned int index)
{
	if (file && opened_by == vtu.pid)
		return true;
	memlog_close();
	file = malloc(sizeof(*file));
	opened_by = vtu.pid;
	if (file && addrlog_open(file, "mem", vtu.vcpus[index]))
		return true;
	free(file);
	file = NULL;
	return false;
}

static void on_access(unsigned int index, qemu_plugin_meminfo_t info, uint64_t vaddr,
		      void *pc)
{
	/* A forked child that nobody follows leaves no log. */
	if (failed || vtu.inert)
		return;
	failed = !open_file(index) || !addrlog_append(file, (uint64_t)(uintptr_t)pc) ||
		 !addrlog_append(file, vaddr);
}

static void on_system_access(unsigned int index, qemu_plugin_meminfo_t info,
			     uint64_t vaddr, void *pc)
{
	system_log_access(index, (uint64_t)(uintptr_t)pc, vaddr);
}

void memlog_translate(struct qemu_plugin_tb *tb, size_t n)
{
	qemu_mem_cb callback = vtu.system ? on_system_access : on_access;
	size_t i;

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_mem_cb(
			insn, callback, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
			(void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
	}
}

void memlog_close(void)
{
	if (file)
		addrlog_close(file);
	free(file);
	file = NULL;
}
