/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TCG keeps the guest's state in %rbp on an x86-64 host and the plugin interface
 * of QEMU 7.2 has no way to ask for a register: FN_thunk(index, udata) is
 * FN(index, udata, state), on the cache lines of the callbacks.
 */
#ifndef QEMU_THUNK_H
#define QEMU_THUNK_H

#define EXEC_THUNK(fn)                                      \
	__asm__(".pushsection .text.exec, \"ax\", @progbits\n" \
		".balign 64\n"                               \
		".hidden " #fn "_thunk\n"                    \
		".globl " #fn "_thunk\n"                     \
		".type " #fn "_thunk, @function\n"           \
		#fn "_thunk:\n"                              \
		"	mov %rbp, %rdx\n"                    \
		"	jmp " #fn "\n"                       \
		".size " #fn "_thunk, . - " #fn "_thunk\n"   \
		".popsection\n");

#endif
