/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of `hwt record -c spe`. */
#ifndef CLI_SAMPLING_H
#define CLI_SAMPLING_H

#include <hwt/spe.h>
#include "options.h"

struct sampling_values {
	uint64_t	interval, latency, events, no_events;
	int		jitter;
	const char	*types;
};
#define SAMPLING_DEFAULTS { .jitter = 1 }

/* Rows for a command's table: `member` is its struct sampling_values. */
#define SAMPLING_ROWS(type, member)						\
	{ 0, "interval", "N", OPTION_UINT, .offset = OPTION_AT(type, member.interval), \
	  .help = "spe: a sample every N operations, a multiple of 256 (default: 4096)",	\
	  .min = 256, .max = 0xffffff00u },					\
	{ 0, "jitter", .kind = OPTION_FLAG, .value = 1,				\
	  .offset = OPTION_AT(type, member.jitter),				\
	  .help = "spe: and up to 255 more, at random (default)" },		\
	{ 0, "no-jitter", .kind = OPTION_FLAG, .value = 0,			\
	  .offset = OPTION_AT(type, member.jitter),				\
	  .help = "spe: each interval is the same" },				\
	{ 0, "types", "LIST", OPTION_STRING, .offset = OPTION_AT(type, member.types), \
	  .help = "spe: only these, of: load,store,branch" },				\
	{ 0, "events", "BITS", OPTION_UINT, .offset = OPTION_AT(type, member.events), \
	  .help = "spe: only samples with all of these events (PMSEVFR_EL1)" },		\
	{ 0, "no-events", "BITS", OPTION_UINT, .offset = OPTION_AT(type, member.no_events), \
	  .help = "spe: only samples without any of these events (PMSNEVFR_EL1)" },	\
	{ 0, "latency", "N", OPTION_UINT, .offset = OPTION_AT(type, member.latency), \
	  .help = "spe: only samples that took at least N cycles", .max = 4095 }

/* EXIT_OK, or EXIT_FAILED with a message. */
int sampling_config(const struct sampling_values *v, bool time, bool kernel,
		    struct arm_spe_config2 *out);

#endif
