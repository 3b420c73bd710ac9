/* SPDX-License-Identifier: BSD-2-Clause */
/* What user.S has for both levels, in the kernel. */
#define KERNEL
#include "user.S"
