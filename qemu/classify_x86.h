/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef QEMU_CLASSIFY_X86_H
#define QEMU_CLASSIFY_X86_H

#include "guest.h"

struct x86_prefix {
	bool rep, lock, addr32;
};

/* Reads the prefixes of an instruction of n bytes; returns the opcode's index. */
size_t x86_prefixes(const uint8_t *bytes, size_t n, struct x86_prefix *p);
/* struct guest_arch.classify.  bytes are one whole instruction of n bytes. */
void x86_classify(const uint8_t *bytes, size_t n, uint64_t va, struct insn_class *out);

#endif
