/* SPDX-License-Identifier: BSD-2-Clause */
/* `hwt report` of a recording of samples. */
#ifndef CLI_REPORT_SAMPLES_H
#define CLI_REPORT_SAMPLES_H

#include "analyse/samples.h"
#include "recording.h"

/*
 * Takes an open recording over.  group: enum samples_group, -1: all; rows: of
 * each, 0: all in JSON and where one group is asked for, else 20.  EXIT_*.
 */
int report_samples(struct recording *r, int group, uint64_t rows);

#endif
