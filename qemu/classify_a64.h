/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef QEMU_CLASSIFY_A64_H
#define QEMU_CLASSIFY_A64_H

#include "guest.h"

/* struct guest_arch.classify: one instruction of 4 bytes. */
void a64_classify(const uint8_t *bytes, size_t n, uint64_t va, struct insn_class *out);

#endif
