/* SPDX-License-Identifier: BSD-2-Clause */
/* What ifunc.c and the readers of resolvers' code share. */
#ifndef IMAGE_IFUNC_H
#define IMAGE_IFUNC_H

#include "image_priv.h"

#define IFUNC_CODE_MAX	8192u	/* bytes; glibc's longest resolver has some 600 */
#define IFUNC_DEPTH_MAX 2	/* a resolver that jumps on to a common one */

struct ifunc_scan {
	struct image_file *f;
	uint64_t *out;
	int max, n;
};
typedef void (*ifunc_scan_fn)(struct ifunc_scan *s, uint64_t start, uint64_t end, int depth);

/* The resolver's code [start, end): ifunc_found for each address that it forms. */
void ifunc_scan_x86(struct ifunc_scan *s, uint64_t start, uint64_t end, int depth);
void ifunc_scan_a64(struct ifunc_scan *s, uint64_t start, uint64_t end, int depth);

/* It may be returned, if it is code. */
void ifunc_found(struct ifunc_scan *s, uint64_t addr);
/* The address that a RELATIVE relocation stores at `slot`. */
bool ifunc_slot(struct image_file *f, uint64_t slot, uint64_t *value);
/* It ends by a jump to the function at `target`. */
void ifunc_follow(struct ifunc_scan *s, uint64_t target, int depth, ifunc_scan_fn scan);
/* How many bytes; 0: they are not in the file. */
size_t ifunc_code(struct ifunc_scan *s, uint64_t start, uint64_t end,
		  uint8_t code[IFUNC_CODE_MAX]);

#endif
