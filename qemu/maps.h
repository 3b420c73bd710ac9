/* SPDX-License-Identifier: BSD-2-Clause */
/* The guest's executable mappings. */
#ifndef QEMU_MAPS_H
#define QEMU_MAPS_H

#include "vcpu.h"

#define MAP_KNOWN	0x1u	/* all of it is in executable mappings */
#define MAP_WRITABLE	0x2u	/* some of it may be written */
#define MAP_CLEAN	0x4u	/* all of it is what a file holds */

/* What holds for [addr, addr + len).  vtu.lock is held. */
uint32_t maps_flags(uint64_t addr, uint64_t len);
/* Is any of it executable?  Takes vtu.lock. */
bool maps_overlap(uint64_t addr, uint64_t len);
/* No longer executable.  Takes vtu.lock. */
void maps_remove(uint64_t addr, uint64_t len);
/*
 * [addr, addr + len) is executable now, with PROT_* prot: notes it and sends an
 * MMAP hook for each piece.  fresh: no write can have changed it since it was
 * mapped.
 */
void maps_add(struct vcpu *v, uint64_t addr, uint64_t len, uint32_t prot, bool fresh);
/* It became writable (or lost X): what was clean is no longer. Takes vtu.lock. */
void maps_dirty(uint64_t addr, uint64_t len, uint32_t prot);

#endif
