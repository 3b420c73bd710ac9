/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of samples as text and JSON. */
#ifndef PRESENT_RESULT_SAMPLES_H
#define PRESENT_RESULT_SAMPLES_H

#include "../analyse/samples.h"
#include "json.h"

/* Said wherever figures of a model are shown (doc/spe-model.md). */
#define RESULT_MODELLED \
	"latencies, cache levels and mispredictions are a model's figures, no processor's"
/* Said wherever samples are shown that lack some in between. */
#define RESULT_COLLIDED \
	"collisions: samples that fell due while one was in flight were lost, uncounted"

/* "function", "operation", "source", "latency", "address". */
const char *result_samples_group(enum samples_group group);
/* A heading and a line a row; at most max rows (0: all). total: all samples. */
void result_samples(struct out *o, enum samples_group group,
		    const struct samples_row *const *rows, long n, uint64_t total,
		    uint64_t max);
/* A list, named after the group. */
void result_samples_json(struct json *j, enum samples_group group,
			 const struct samples_row *const *rows, long n);

#endif
