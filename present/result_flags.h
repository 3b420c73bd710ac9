/* SPDX-License-Identifier: BSD-2-Clause */
/* What is to be known of a function's or call's numbers (ANALYSIS_*). */
#ifndef PRESENT_RESULT_FLAGS_H
#define PRESENT_RESULT_FLAGS_H

#include "json.h"

/* " [unfinished, gap]", or nothing. */
void result_flags(struct out *o, uint32_t flags);
/* "flags": ["unfinished", ...], or nothing. */
void result_flags_json(struct json *j, uint32_t flags);

#endif
