/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "flow.h"

static const struct flow_ops *const flows[] = {
	&flow_pt,
#ifdef HAVE_OPENCSD
	&flow_etm,
#endif
};

const struct flow_ops *flow_find(const char *backend)
{
	size_t i;

	for (i = 0; backend && i < sizeof(flows) / sizeof(flows[0]); i++)
		if (!strcmp(flows[i]->backend, backend))
			return flows[i];
	return NULL;
}
