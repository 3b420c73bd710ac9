/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_config.h"
#include "hwt_context.h"

/* The backend's checked object. */
static int config_make(struct hwt_context *ctx, const struct hwt_cred *cred,
		       const struct hwt_config_request *req, void **out)
{
	struct hwt_backend *be = ctx->backend;
	size_t size = be->ops->config_size;
	void *copy;
	int rc;

	if (req->version == 2 && be->ops->config_size2)
		size = be->ops->config_size2;
	/* A minimum only: old clients give the size of something larger. */
	if (req->config_size < size)
		return -EINVAL;
	copy = hwt_alloc(size, HWT_MAY_SLEEP);
	if (!copy)
		return -ENOMEM;
	rc = hwt_copyin(req->config, copy, size);
	if (!rc)
		rc = be->ops->config_check(be, ctx->mode, cred, copy, size, req->version,
					   out);
	hwt_free(copy);
	return rc;
}

static void *config_swap(struct hwt_context *ctx, const struct hwt_config_request *req,
			 void *config)
{
	hwt_irqflags_t flags;
	void *old = NULL;

	hwt_spin_lock(&ctx->lock, flags);
	ctx->pause = req->pause;
	if (!req->keep) {
		old = ctx->config;
		ctx->config = config;
		ctx->config_seq++;
		ctx->configured = true;
	}
	hwt_spin_unlock(&ctx->lock, flags);
	return old;
}

int hwt_config_set(struct hwt_context *ctx, const struct hwt_cred *cred,
		   const struct hwt_config_request *req)
{
	void *config = NULL;
	int rc;

	if (req->pause & ~HWT_PAUSE_ALL)
		return -EINVAL;
	if (req->pause && ctx->mode != HWT_MODE_THREAD)
		return -EOPNOTSUPP;
	if (!req->keep) {
		rc = config_make(ctx, cred, req, &config);
		if (rc)
			return rc;
	}
	hwt_free(config_swap(ctx, req, config));
	if (req->keep || !hwt_context_is_running(ctx))
		return 0;
	return hwt_context_sync(ctx);
}
