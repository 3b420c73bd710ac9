// SPDX-License-Identifier: BSD-2-Clause
#include "memlog.h"

#include "addrlog.h"

static __thread struct addrlog file;
static __thread bool open_failed, is_open;
static __thread int opened_by;	/* a forked child has a file of its own */

static void on_access(unsigned int index, qemu_plugin_meminfo_t info, uint64_t vaddr,
		      void *pc)
{
	if (is_open && opened_by != vtu.pid)
		memlog_close();
	if (open_failed)
		return;
	if (!is_open) {
		opened_by = vtu.pid;
		is_open = addrlog_open(&file, "mem", vtu.vcpus[index]);
		open_failed = !is_open;
		if (open_failed)
			return;
	}
	open_failed = !addrlog_append(&file, (uint64_t)(uintptr_t)pc) ||
		      !addrlog_append(&file, vaddr);
}

void memlog_translate(struct qemu_plugin_tb *tb, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_mem_cb(
			insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
			(void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
	}
}

void memlog_close(void)
{
	if (is_open)
		addrlog_close(&file);
	is_open = false;
}
