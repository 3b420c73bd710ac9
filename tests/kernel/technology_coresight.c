/* SPDX-License-Identifier: BSD-2-Clause */
#include "technology.h"

static void configure(union technology_config *config, bool kernel, uint64_t from,
		      uint64_t to)
{
	config->coresight = (struct coresight_config){
		.configr = CORESIGHT_TS,
		.flags = kernel ? CORESIGHT_KERNEL : CORESIGHT_USER,
		.nranges = from ? 1 : 0,
		.ranges = {{from, to}},
	};
}

static void configure_lacking(union technology_config *config)
{
	configure(config, true, 0, 0);
}

static size_t service(void *data, int buf_id, uint64_t tail)
{
	struct coresight_svc_buf *svc = data;

	*svc = (struct coresight_svc_buf){.buf_id = buf_id, .tail = tail};
	return sizeof(*svc);
}

/*
 * A-sync (IHI 0064F 6.4.2) in the first frame, behind the source's ID (IHI 0029 D4.2:
 * ID << 1 | 1).
 */
static const uint8_t sync_point[] = {CORESIGHT_TRACE_ID << 1 | 1, 0, 0, 0, 0, 0, 0, 0, 0,
				     0, 0, 0, 0x80};

const struct technology technology = {
	.backend = "coresight",
	.config_version = CORESIGHT_CONFIG_VERSION,
	.config_size = sizeof(struct coresight_config),
	.configure = configure,
	.configure_lacking = configure_lacking,
	.sync = sync_point,
	.nsync = sizeof(sync_point),
	.service_version = CORESIGHT_SVC_BUF_VERSION,
	.service = service,
};
