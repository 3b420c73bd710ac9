/* SPDX-License-Identifier: BSD-2-Clause */
#include "sampling.h"
#include "command.h"

#include <inttypes.h>
#include <string.h>

static const struct {
	const char *name;
	uint64_t bit;
} types[] = {
	{ "load", ARM_SPE_FCR_LD }, { "store", ARM_SPE_FCR_ST }, { "branch", ARM_SPE_FCR_B },
};
#define DEFAULT_INTERVAL	4096	/* operations */
#define NTYPES (sizeof(types) / sizeof(types[0]))

static int parse_types(const char *list, uint64_t *fcr)
{
	size_t n, i;

	for (;; list += n + 1) {
		n = strcspn(list, ",");
		for (i = 0; i < NTYPES; i++)
			if (strlen(types[i].name) == n && !memcmp(types[i].name, list, n))
				break;
		if (i == NTYPES)
			return failure("--types: '%.*s' is none of load, store, branch", (int)n,
				       list);
		*fcr |= ARM_SPE_FCR_FT | types[i].bit;
		if (!list[n])
			return EXIT_OK;
	}
}

int sampling_config(const struct sampling_values *v, bool time, bool kernel,
		    struct arm_spe_config2 *out)
{
	*out = (struct arm_spe_config2){
		.first = { v->interval ? (uint32_t)v->interval : DEFAULT_INTERVAL,
			   kernel ? ARM_SPE_KERNEL_ONLY : ARM_SPE_USER_ONLY,
			   ARM_SPE_CTX_PID },
		.flags = (v->jitter ? 0 : ARM_SPE_NO_JITTER) | (time ? 0 : ARM_SPE_NO_TIME),
		.pmsevfr = v->events, .pmsnevfr = v->no_events, .pmslatfr = v->latency,
	};
	if (v->interval % 256)
		return failure("--interval %" PRIu64 ": not a multiple of 256", v->interval);
	if (v->events)
		out->pmsfcr |= ARM_SPE_FCR_FE;
	if (v->no_events)
		out->pmsfcr |= ARM_SPE_FCR_FNE;
	if (v->latency)
		out->pmsfcr |= ARM_SPE_FCR_FL;
	return v->types ? parse_types(v->types, &out->pmsfcr) : EXIT_OK;
}
