/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Arm Statistical Profiling Unit in software: registers in, operations in,
 * sample records out.  It knows no driver, no framework and no emulator.
 *
 * Which operation is sampled, its address, its target and its data address are
 * the program's own.  How long it took and where its data came from are not
 * known to an emulator: they are figures of a model (spe_timing.h,
 * doc/spe-model.md).
 *
 * The registers live in memory of the caller's (the vtu window), so that the
 * other side reads them live.  A unit is used by one thread at a time and takes
 * no locks.
 */
#ifndef MODELS_SPE_UNIT_H
#define MODELS_SPE_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../hw/spe.h"

/* The register file; register r is at index SPE_REG_INDEX(r). */
struct spe_regs_file {
	uint64_t reg[SPE_REG_COUNT];
};

struct spe_unit_host {
	void *ctx;
	/*
	 * Memory of the unit's address space: a pointer to len bytes at addr, or
	 * NULL if they are not (all) memory: an external abort.
	 */
	void *(*memory)(void *ctx, uint64_t addr, uint64_t len);
	/*
	 * PMBIRQ was raised: PMBSR_EL1.S is set, sampling has stopped.  The
	 * callee may write registers before it returns.
	 */
	void (*interrupt)(void *ctx);
	/* A clock of the host's, in ticks; NULL: the unit's own. */
	uint64_t (*clock)(void *ctx);
};

/* Kinds of operations, and what more there is to tell of one. */
enum spe_op_kind {
	SPE_OP_KIND_OTHER, SPE_OP_KIND_LOAD, SPE_OP_KIND_STORE, SPE_OP_KIND_BRANCH,
};
#define SPE_OPF_COND	0x01u	/* branch; other: conditional select */
#define SPE_OPF_INDIRECT 0x02u	/* branch */
#define SPE_OPF_CALL	0x04u	/* branch: with link */
#define SPE_OPF_RETURN	0x08u	/* branch */
#define SPE_OPF_TAKEN	0x10u	/* branch */
#define SPE_OPF_ATOMIC	0x20u	/* loads and stores: read and write as one */
#define SPE_OPF_EXCL	0x40u
#define SPE_OPF_ACQREL	0x80u
#define SPE_OPF_SIMD	0x100u	/* or floating point */

/* One access to memory, as the timing model saw it; zero: none. */
struct spe_access {
	uint64_t	addr;		/* of its first byte */
	uint32_t	size;		/* bytes; 0: there was no access */
	uint16_t	latency;	/* cycles, with translation */
	uint16_t	xlat;		/* cycles of these for translation */
	uint32_t	events;		/* SPE_EV_* as bits */
	uint8_t		source;		/* SPE_SOURCE_* */
};

struct spe_op {
	uint64_t	pc;
	uint8_t		kind;		/* enum spe_op_kind */
	bool		mispredicted;	/* branch: as spe_unit_branch said */
	uint16_t	flags;		/* SPE_OPF_* */
	uint64_t	target;		/* branch that was taken */
	struct spe_access access;
};

struct spe_unit;	/* whole definition in spe_unit_priv.h, for the inline feed */

size_t spe_unit_size(void);
/*
 * regs are zeroed but for the ID registers: power-on state.  seed: of the
 * random perturbation; units with the same seed and operations give the same
 * records.  0, or -ENOMEM.
 */
int spe_unit_init(struct spe_unit *u, struct spe_regs_file *regs, uint64_t seed,
		  const struct spe_unit_host *host);
/* Frees what init took; may be repeated. */
void spe_unit_fini(struct spe_unit *u);
/* SPE_CAP_COUNT words. */
void spe_unit_caps(uint32_t *caps);

/*
 * MSR.  0, or -EIO where silicon would be UNPREDICTABLE or ignore the value: a
 * read-only or unknown register, reserved bits or values, a pointer that is not
 * aligned; and, while sampling is on, any write but those to PMSCR_EL1,
 * PMBLIMITR_EL1 and PMBSR_EL1.
 */
int spe_unit_write(struct spe_unit *u, uint32_t reg, uint64_t value);
/* MRS; 0 for unknown registers. */
uint64_t spe_unit_read(struct spe_unit *u, uint32_t reg);
/* Brings PMSICR_EL1 in the register file up to date. */
void spe_unit_flush(struct spe_unit *u);

/* Exception level (0 or 1) and CONTEXTIDR_EL1 of what is executed from here on. */
void spe_unit_set_context(struct spe_unit *u, unsigned int el, uint32_t contextidr);

/*
 * Memory access of an operation that is being executed: moves the caches.  Fills
 * *a, which a sample of the operation takes.  A second access of the same
 * operation (a->size is not 0) adds to it.
 */
void spe_unit_access(struct spe_unit *u, struct spe_access *a, uint64_t addr,
		     uint32_t size, bool store);
/* Moves the branch predictor; true: it was wrong. */
bool spe_unit_branch(struct spe_unit *u, uint64_t pc, unsigned int flags, uint64_t target);

/*
 * Operations until the next one that is sampled, and that one: so many may be
 * passed less one (spe_unit_pass); then comes spe_unit_sample.
 */
uint64_t spe_unit_until(const struct spe_unit *u);
/* n < spe_unit_until() operations were executed. */
void spe_unit_pass(struct spe_unit *u, uint64_t n);
/* The operation that is sampled, spe_unit_until() == 1. */
void spe_unit_sample(struct spe_unit *u, const struct spe_op *op);
/*
 * All of it for one operation: access and branch included (op->access.addr and
 * size are what is given), for feeders that are in no hurry.
 */
void spe_unit_op(struct spe_unit *u, const struct spe_op *op);

/* The clock: one tick an operation, or the host's.  Never goes back. */
void spe_unit_set_time(struct spe_unit *u, uint64_t time);
uint64_t spe_unit_time(const struct spe_unit *u);

/* Counted since init. */
struct spe_unit_counts {
	uint64_t samples;	/* operations selected */
	uint64_t collisions;	/* of these: lost, another was in flight */
	uint64_t filtered;	/* of these: the filters refused them */
	uint64_t records;	/* of these: written */
};
const struct spe_unit_counts *spe_unit_counts(const struct spe_unit *u);

#endif
