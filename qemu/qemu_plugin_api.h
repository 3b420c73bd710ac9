/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of QEMU's TCG plugin interface (version 1) that the vtu plugin uses,
 * declared here because no Debian 12 package carries the header.
 */
#ifndef QEMU_PLUGIN_API_H
#define QEMU_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;		/* a translated block */
struct qemu_plugin_insn;

struct qemu_info {
	const char *target_name;	/* "x86_64" */
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	union {
		struct {
			int smp_vcpus, max_vcpus;
		} system;
	};
};

/* What a callback does to the guest's registers; we only ever pass the first. */
enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
	QEMU_PLUGIN_CB_R_REGS,
	QEMU_PLUGIN_CB_RW_REGS,
};

enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_W,
	QEMU_PLUGIN_MEM_RW,
};

typedef void (*qemu_vcpu_cb)(qemu_plugin_id_t id, unsigned int vcpu);
typedef void (*qemu_udata_cb)(unsigned int vcpu, void *udata);
typedef uint32_t qemu_plugin_meminfo_t;
typedef void (*qemu_mem_cb)(unsigned int vcpu, qemu_plugin_meminfo_t info,
			    uint64_t vaddr, void *udata);
typedef void (*qemu_simple_cb)(qemu_plugin_id_t id);
typedef void (*qemu_atexit_cb)(qemu_plugin_id_t id, void *udata);
typedef void (*qemu_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_syscall_cb)(qemu_plugin_id_t id, unsigned int vcpu, int64_t num,
				uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
				uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
typedef void (*qemu_sysret_cb)(qemu_plugin_id_t id, unsigned int vcpu, int64_t num,
			       int64_t ret);

/* Ours, looked up by QEMU. */
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			char **argv);

/* Forgets all callbacks and translations, then calls cb with no vCPU running. */
void qemu_plugin_reset(qemu_plugin_id_t id, qemu_simple_cb cb);
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_vcpu_cb cb);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_vcpu_cb cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_udata_cb cb,
					  enum qemu_plugin_cb_flags flags, void *udata);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_udata_cb cb,
					    enum qemu_plugin_cb_flags flags, void *udata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_mem_cb cb,
				      enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw rw, void *udata);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_syscall_cb cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, qemu_sysret_cb cb);
void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, qemu_simple_cb cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_atexit_cb cb, void *udata);

uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t idx);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
/* User mode; malloc'd. */
const char *qemu_plugin_path_to_binary(void);
uint64_t qemu_plugin_start_code(void);
uint64_t qemu_plugin_end_code(void);
uint64_t qemu_plugin_entry_code(void);

#endif
