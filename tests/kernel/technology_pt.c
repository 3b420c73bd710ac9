/* SPDX-License-Identifier: BSD-2-Clause */
#include "technology.h"

#include <string.h>

#include "../../hw/pt.h"

static void configure(union technology_config *config, bool kernel, uint64_t from,
		      uint64_t to)
{
	config->pt = (struct pt_cpu_config){
		.rtit_ctl = PT_CTL_BRANCHEN | PT_CTL_TSCEN |
			    (kernel ? PT_CTL_OS : PT_CTL_USER),
		.nranges = from ? 1 : 0,
		.ip_ranges = {{from, to}},
	};
}

static void configure_lacking(union technology_config *config)
{
	configure(config, false, 0, 0);
	config->pt.rtit_ctl |= RTIT_CTL_PWREVTEN;
}

static size_t service(void *data, int buf_id, uint64_t tail)
{
	struct pt_svc_buf *svc = data;

	*svc = (struct pt_svc_buf){.buf_id = buf_id, .tail = tail};
	return sizeof(*svc);
}

/* PSB (SDM 33.4.2.17). */
static bool is_sync(const uint8_t *p)
{
	static const uint8_t psb[] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				      2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};

	return !memcmp(p, psb, sizeof(psb));
}

const struct technology technology = {
	.backend = "pt",
	.config_version = PT_CONFIG_VERSION,
	.config_size = sizeof(struct pt_cpu_config),
	.configure = configure,
	.configure_lacking = configure_lacking,
	.is_sync = is_sync,
	.service_version = PT_SVC_BUF_VERSION,
	.service = service,
};
