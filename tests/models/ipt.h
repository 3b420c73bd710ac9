/* SPDX-License-Identifier: BSD-2-Clause */
/* libipt over a synth trace: the executed addresses as it decodes them. */
#ifndef TESTS_MODELS_IPT_H
#define TESTS_MODELS_IPT_H

#include "synth.h"

struct ipt_result {
	uint64_t *ip;
	size_t n;
	int error;		/* negative libipt code of the first error, 0 none */
	uint64_t offset;	/* where */
	unsigned int overflows;
	uint64_t time;		/* last time told */
	bool time_back;		/* time went backwards */
};

/* Up to max addresses; free with ipt_free. */
void ipt_insns(struct ipt_result *r, const struct synth *s, size_t max);
void ipt_blocks(struct ipt_result *r, const struct synth *s, size_t max);
void ipt_free(struct ipt_result *r);
const char *ipt_error(int error);

#endif
