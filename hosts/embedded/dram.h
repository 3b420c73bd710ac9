/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The DRAM file: what drivers call physical memory on the embedded host.  A
 * sparse memfd; an address is an offset in it.  Thread-safe.
 */
#ifndef EMBEDDED_DRAM_H
#define EMBEDDED_DRAM_H

#include <stddef.h>
#include <stdint.h>
#include <pthread.h>

#include "hwt_os.h"

/* Two of the largest buffers (32 GiB) and their tables. */
#define DRAM_SIZE	(128ull << 30)

struct dram_extent;

struct dram {
	int			fd;
	uint8_t			*base;
	pthread_mutex_t		lock;
	struct dram_extent	*free_list;	/* by address */
};

/* 0 or -errno. */
int dram_init(struct dram *d);
void dram_fini(struct dram *d);
/* Zeroed and contiguous; aligned to its own size up to 128 MiB. NULL: no memory. */
struct hwt_pages *dram_alloc(struct dram *d, size_t npages);
/* Gives the memory back to the system. */
void dram_free(struct dram *d, struct hwt_pages *pages);
/* Offset of a block in the file. */
uint64_t dram_offset(const struct dram *d, const struct hwt_pages *pages);

#endif
