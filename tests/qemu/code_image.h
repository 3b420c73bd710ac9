/* SPDX-License-Identifier: BSD-2-Clause */
/* The code of a traced process, as its events tell it, generation by generation. */
#ifndef TESTS_QEMU_CODE_IMAGE_H
#define TESTS_QEMU_CODE_IMAGE_H

#include "owner.h"

#define PAGE 4096u

struct page;

struct code {
	struct page *table[4096];
	const struct process *process;
	uint64_t generation;	    /* the next one to come */
	const struct event **order; /* events by generation, then arrival */
	size_t applied;		    /* of them */
	const struct page *last;
};

/* The code of p at its beginning: a forked child has its parent's. */
void code_begin(struct code *c, const struct process *p);
/* Brings c to a generation: events of each in their order. */
void code_advance(struct code *c, uint64_t generation);
/* How many bytes at ip, at most size, are known. */
size_t code_read(struct code *c, uint64_t ip, uint8_t *buf, size_t size);
void code_free(struct code *c);

#endif
