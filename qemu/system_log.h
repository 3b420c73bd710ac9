/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The independent log of a machine, per architecture.  The packet path knows by the
 * table of handlers where events lead; this does not, and shares nothing with it.
 */
#ifndef QEMU_SYSTEM_LOG_H
#define QEMU_SYSTEM_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guest_env;

enum log_kind { LOG_SEQ, LOG_DIRECT, LOG_OTHER };

struct system_log_insn {
	uint64_t addr;	 /* as it was translated */
	uint64_t target; /* LOG_DIRECT */
	uint8_t len;
	uint8_t kind; /* enum log_kind */
	bool first;   /* of its block */
};

struct system_log_arch {
	/* Kind and target of the instruction at bytes; its addr is filled in. */
	void (*describe)(struct system_log_insn *i, const uint8_t *bytes, size_t n);
	/*
	 * At the first instruction of a block: did an event enter the kernel here, to
	 * which `ip` would have been next?
	 */
	bool (*interrupted_at)(const struct guest_env *env, uint64_t ip);
};

extern const struct system_log_arch system_log_x86_64, system_log_aarch64;

#endif
