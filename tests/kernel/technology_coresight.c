/* SPDX-License-Identifier: BSD-2-Clause */
#include "technology.h"

#include <string.h>

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
 * A-sync (IHI 0064F 6.4.2) in the first frame, behind the ID of whichever source was
 * the first (IHI 0029 D4.2: ID << 1 | 1).
 */
static bool is_sync(const uint8_t *p)
{
	static const uint8_t async[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80};

	return p[0] & 1 && p[0] >> 1 && !memcmp(p + 1, async, sizeof(async));
}

const struct technology technology = {
	.backend = "coresight",
	.config_version = CORESIGHT_CONFIG_VERSION,
	.config_size = sizeof(struct coresight_config),
	.configure = configure,
	.configure_lacking = configure_lacking,
	.shared = true,
	.is_sync = is_sync,
	.service_version = CORESIGHT_SVC_BUF_VERSION,
	.service = service,
};
