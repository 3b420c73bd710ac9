/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the x86-64 guest: guest_x86.c, flags_x86.c. */
#ifndef QEMU_GUEST_X86_H
#define QEMU_GUEST_X86_H

#include "guest.h"

enum { X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI };

enum { X86_ES, X86_CS, X86_SS, X86_DS, X86_FS, X86_GS };

struct x86_segment {
	uint32_t selector;
	uint64_t base;
	uint32_t limit, flags;
};

/* The beginning of QEMU 7.2's CPUX86State. */
struct guest_env {
	uint64_t regs[16];
	uint64_t eip;
	uint64_t eflags;	/* without the arithmetic flags */
	uint64_t cc_dst, cc_src, cc_src2;
	uint32_t cc_op;
	int32_t df;
	uint32_t hflags, hflags2;
	struct x86_segment segs[6], ldt, tr, gdt, idt;
	uint64_t cr[5];
};

/* The arithmetic flags that cc_op and its operands stand for. */
uint32_t x86_flags(const struct guest_env *env);
/* struct guest_arch.branch_taken */
bool x86_branch_taken(const struct guest_env *env, const uint8_t *insn, size_t n);

#endif
