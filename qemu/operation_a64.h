/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef QEMU_OPERATION_A64_H
#define QEMU_OPERATION_A64_H

#include <stdint.h>

/* SPE_OPF_* of an instruction that is no branch, from its word. */
unsigned int a64_op_flags(uint32_t insn);

#endif
