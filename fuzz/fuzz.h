/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry point that libFuzzer and replay.c call; returns 0. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#pragma GCC visibility pop

#endif
