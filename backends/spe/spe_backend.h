/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The "spe" backend: the Arm Statistical Profiling Extension.
 *
 *   spe_backend.c  ops: save area, switch in and out, halves, service
 *   spe_config.c   a client's configuration against the unit's ID registers
 *
 * The buffer is two halves; absolute positions run through them in turn:
 *
 *	      half 0               half 1               half 0 again
 *	|####################|########............|
 *	^tail                         ^head       ^the unit's limit
 *
 * The unit never gets more than the rest of the half that head is in, and a half
 * only once it was given back whole.  Where no further record fits before its
 * end, the driver fills what is left with Padding packets (zeros), so that a half
 * is always a whole piece of the stream.
 *
 * Where the unit takes physical addresses (FEAT_SPE_nVM), a piece ends where the
 * pages stop to be side by side, too; otherwise they are the host's virtual ones.
 *
 * The order of register writes is the Arm ARM's (D9.7, "Profiling Buffer
 * management"): sampling off, context synchronization, PSB CSYNC and DSB, then
 * the buffer's registers.
 */
#ifndef BACKENDS_SPE_BACKEND_H
#define BACKENDS_SPE_BACKEND_H

#include "../../core/hwt_backend.h"
#include "../../hw/spe.h"
#include <hwt/spe.h>

/* A configuration that passed spe_config_check: registers as they are written. */
struct spe_config {
	uint64_t scr, irr, fcr, evfr, nevfr, latfr;
};

/* -EINVAL, -EOPNOTSUPP or -EPERM as hwt_backend_ops.config_check; *out owned. */
int spe_config_check(struct hwt_backend *be, int mode, const struct hwt_cred *cred,
		     const void *config, size_t size, int version, void **out);
/* What runs when no SET_CONFIG was given: everything, at the smallest interval. */
void spe_config_default(struct hwt_backend *be, int mode, struct spe_config *out);
/* PMSIDR_EL1 and PMBIDR_EL1 of the units behind the bus. */
uint64_t spe_pmsidr(struct hwt_backend *be);
uint64_t spe_pmbidr(struct hwt_backend *be);

/* Fills in `be` for the units behind `bus`; call before hwt_backend_register. */
void spe_backend_init(struct hwt_backend *be, struct hwt_bus *bus);

#endif
