/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SET_CONFIG: pause conditions and the backend's configuration. */
#ifndef HWT_CONFIG_H
#define HWT_CONFIG_H

#include "hwt_var.h"

struct hwt_config_request {
	uint32_t	pause;		/* HWT_PAUSE_* */
	bool		keep;		/* leave the backend's configuration as it is */
	uint64_t	config;		/* user address */
	uint64_t	config_size;
	int		version;
};

/*
 * Checks it and makes it the context's; units take it at once or at their next
 * switch-in.  Mutex held.  -EINVAL: unknown pause condition, config_size under
 * the backend's; -EOPNOTSUPP: a pause in CPU mode, or the backend's word;
 * -EFAULT; -ENOMEM; -EPERM.  On an error nothing has changed (-ENXIO: a CPU went
 * offline; the others have taken it).
 */
int hwt_config_set(struct hwt_context *ctx, const struct hwt_cred *cred,
		   const struct hwt_config_request *req);

#endif
