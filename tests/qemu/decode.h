/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes a thread's stream with libipt, code by position. */
#ifndef TESTS_QEMU_DECODE_H
#define TESTS_QEMU_DECODE_H

#include "owner.h"

struct addresses {
	uint64_t *v;
	size_t n, room;
};

struct decoded {
	struct addresses a;
	size_t errors;		/* with text of the first */
	size_t gaps;		/* overflows */
	char first_error[160];
};

/* Appends to d.  0 or -errno. */
int decode_stream(const struct stream *s, struct decoded *d);
/* The same of an ETM's. */
int decode_etm(const struct owner *w, const struct stream *s, struct decoded *d);
/* The generation of the code from a position on. */
uint64_t generation_at(const struct stream *s, uint64_t position);
/* Counts the TNT bits of a stream. */
void count_outcomes(const struct stream *s, uint64_t *taken, uint64_t *not_taken);
/* NAME.PID.TID in dir ("log", "feed"); -ENOENT: there is none. */
int read_log(const char *dir, const char *name, int pid, int tid, struct addresses *a);
void addresses_add(struct addresses *a, uint64_t ip);

#endif
