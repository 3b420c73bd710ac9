// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <linux/module.h>
MODULE_LICENSE("Dual BSD/GPL");
