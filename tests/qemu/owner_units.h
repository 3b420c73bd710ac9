/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the owner: owner.c, owner_pt.c, owner_cs.c. */
#ifndef TESTS_QEMU_OWNER_UNITS_H
#define TESTS_QEMU_OWNER_UNITS_H

#include "owner.h"

#define NBLOCKS	   256u
#define BLOCK_DRAM 0x400000ull /* of the DRAM file, a block */

/* What the host knows of a block. */
struct unit {
	struct stream *stream;
	uint64_t taken; /* bytes taken, of the ring of regions or ETR's buffer */
	uint64_t given; /* ETR: bytes that it knows of */
	uint32_t sink;	/* block of the ETR that it feeds */
	bool on;
};
extern struct unit owner_units[NBLOCKS];

/* Commands, in order, and the bell for them. */
void owner_command(struct owner *w, uint32_t n, uint32_t reg, uint64_t value);
void owner_ring(struct owner *w, uint32_t n);
void owner_append(struct stream *s, const uint8_t *p, size_t n);

void owner_cs_program(struct owner *w, struct process *p, uint32_t n);
/* Takes what its ETR has; parked: the vCPU can be told of it. */
void owner_cs_drain(struct owner *w, uint32_t n, bool parked);

#endif
