/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trace unit can do, in words. */
#ifndef SESSION_UNIT_FEATURES_H
#define SESSION_UNIT_FEATURES_H

#include <hwt/hwt_ext.h>

/*
 * The first feature at or after *at (0 to begin with) that the unit has by its
 * capability words; *at is then behind it.  NULL: no more.
 */
const char *hwt_feature(const struct hwt_query *unit, int *at);

/*
 * Bits of PMSEVFR_EL1: the events that a profiling unit can filter by; all, where it
 * does not describe itself.
 */
uint64_t hwt_filter_events(const struct hwt_query *unit);

#endif
