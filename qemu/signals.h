/* SPDX-License-Identifier: BSD-2-Clause */
/* The guest's signal handlers, and the blocks that are entered by a signal. */
#ifndef QEMU_SIGNALS_H
#define QEMU_SIGNALS_H

#include "vcpu.h"

/* rt_sigaction(2) with a new action at guest address act. */
void signals_action(uint64_t act);
/* Was a handler ever installed at ip?  vtu.lock is held. */
bool signals_is_handler(uint64_t ip);
/*
 * c begins where a handler does.  If a signal brought us there: gives prev its
 * end and leaves the interrupted code; true.
 */
bool signals_entry(struct vcpu *v, const struct run *c);

#endif
