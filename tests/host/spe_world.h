/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the SPE driver's tests run it in: core's fake host, a bus that records what is
 * written, in which order, and behind it the unit of models/spe, which refuses what
 * silicon would not take.  One context, of a thread, whose buffer the unit fills.
 */
#ifndef TESTS_HOST_SPE_WORLD_H
#define TESTS_HOST_SPE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "backends/spe/spe_backend.h"
#include "decode/spe/spe_decoder.h"
#include "models/spe/spe_feed.h"
#include "tests/core/fake.h"

#define PAGE		4096ull
#define PID		100
#define BUFSIZE		(4 * PAGE)
#define HALF		(BUFSIZE / 2)
#define INTERVAL	256u
#define PER_HALF	(HALF / SPE_RECORD_SIZE)
#define CODE		0x400000ull
/* Where the unit sees a page that the host calls by its address. */
#define BUS_OFFSET	(1ull << 40)

struct entry {
	uint32_t reg;		/* 0: a barrier */
	uint64_t value;		/* or enum hwt_barrier */
};

extern struct spe_world {
	struct fake_host *h;
	struct hwt_backend be;
	struct hwt_bus bus;
	uint32_t caps[SPE_CAP_COUNT];
	struct spe_unit unit;
	struct spe_regs_file regs;
	struct entry log[256];
	int nlog;
	int refused;
	bool irq;		/* raised, not handled yet */
	bool scattered;
	struct hwt_pages *pages;	/* of the last buffer */
	uint64_t ops;
	int cpu;		/* the unit's */
	struct fake_dev *dev;
	int ident;
	uint64_t saved;		/* bytes of the stream that the client has read */
	uint8_t stream[1 << 20];
	struct spe_event ev[16384];
	int nev;
} world;

/* A sample each INTERVAL operations, of the program alone. */
extern const struct arm_spe_config2 plain_config;

/* For cmocka: the driver is registered, and PID is there.  0, or -1. */
int setup(void **state);
/* The host may hold a CPU until its buffer is read. */
int setup_holding(void **state);
/* No page of a buffer follows another. */
int setup_scattered(void **state);
/* Fails if the unit refused a write. */
int teardown(void **state);

/* As hwt_ioctl: 0, or an errno, negative. */
int allocate(uint64_t bufsize);
int configure(const struct arm_spe_config2 *c);
int bufptr(int *ident, vm_offset_t *offset, uint64_t *data);
int give_half(uint32_t ident, unsigned int half);
int give_to(uint64_t tail);

/* A buffer of BUFSIZE, plain_config, started, and the thread on CPU 0. */
void begin(void);
/* n operations, each interrupt behind the one that filled a piece. */
void run(uint64_t n);
/* As many operations as give n samples. */
void samples(uint64_t n);
/* Where the unit is in the stream, in bytes. */
uint64_t position(void);

/* Copies the stream up to `to` out of the buffer. */
void save(uint64_t to);
/* All that was saved, into world.ev. */
void decode(void);
/* n events from `at` on are the samples `first`...; sample i is of operation
 * (i + 1) * INTERVAL - 1. */
void check_samples(int at, int n, uint64_t first);

#endif
