/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_contexthash.h"
#include "hwt_context.h"

static struct hwt_contexthash *bucket_of(struct hwt_core *core, int pid)
{
	return &core->hash[(uint32_t)pid & (HWT_CONTEXTHASH - 1)];
}

void hwt_contexthash_load(struct hwt_core *core)
{
	unsigned int i;

	for (i = 0; i < HWT_CONTEXTHASH; i++)
		hwt_spin_init(&core->hash[i].lock);
}

/* Where the pid's context is, or the end; lock held. */
static struct hwt_context **bucket_find(struct hwt_contexthash *bucket, int pid)
{
	struct hwt_context **p = &bucket->first;

	while (*p && (*p)->pid != pid)
		p = &(*p)->hash_next;
	return p;
}

int hwt_contexthash_insert(struct hwt_context *ctx)
{
	struct hwt_contexthash *bucket = bucket_of(ctx->core, ctx->pid);
	struct hwt_context *first;
	hwt_irqflags_t flags;
	int rc = 0;

	hwt_spin_lock(&bucket->lock, flags);
	if (*bucket_find(bucket, ctx->pid)) {
		rc = -EEXIST;
	} else {
		first = bucket->first;
		ctx->hash_next = first;
		ctx->hashed = true;
		hwt_store_release(&bucket->first, ctx);
	}
	hwt_spin_unlock(&bucket->lock, flags);
	return rc;
}

void hwt_contexthash_remove(struct hwt_context *ctx)
{
	struct hwt_contexthash *bucket = bucket_of(ctx->core, ctx->pid);
	struct hwt_context **p;
	hwt_irqflags_t flags;

	hwt_spin_lock(&bucket->lock, flags);
	if (ctx->hashed) {
		p = bucket_find(bucket, ctx->pid);
		hwt_store_release(p, ctx->hash_next);
		ctx->hashed = false;
	}
	hwt_spin_unlock(&bucket->lock, flags);
}

struct hwt_context *hwt_contexthash_lookup(struct hwt_core *core, int pid)
{
	struct hwt_contexthash *bucket = bucket_of(core, pid);
	struct hwt_context *ctx;
	hwt_irqflags_t flags;

	/* Most processes are not traced: no lock for them. */
	if (!hwt_load_acquire(&bucket->first))
		return NULL;
	hwt_spin_lock(&bucket->lock, flags);
	ctx = *bucket_find(bucket, pid);
	if (ctx)
		hwt_ref_get(&ctx->users);
	hwt_spin_unlock(&bucket->lock, flags);
	return ctx;
}
