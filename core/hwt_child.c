/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Children that wait after fork, before they have a context of their own. */
#include "hwt_context.h"
#include "hwt_thread.h"

static void child_unlink(struct hwt_core *core, struct hwt_child *child)
{
	struct hwt_child **p = &core->children;

	while (*p != child)
		p = &(*p)->next;
	hwt_store_release(p, child->next);
}

int hwt_child_put(struct hwt_context *ctx, struct hwt_record_parts *parts, int pid,
		  int tid, int user_tid)
{
	struct hwt_child *child = hwt_alloc(sizeof(*child), HWT_ATOMIC);
	struct hwt_core *core = ctx->core;
	hwt_irqflags_t flags;
	int rc;

	if (!child) {
		hwt_warn("hwt: no memory to pause process %d after fork", pid);
		return hwt_record_put(ctx, parts, NULL);
	}
	child->ctx = ctx;
	child->pid = pid;
	child->tid = tid;
	child->user_tid = user_tid;
	/* core->lock: nobody wakes and frees it before its record is out. */
	hwt_spin_lock(&core->lock, flags);
	child->next = core->children;
	hwt_store_release(&core->children, child);
	rc = hwt_record_put(ctx, parts, &child->pause);
	if (rc)
		child_unlink(core, child);
	hwt_spin_unlock(&core->lock, flags);
	if (rc)
		hwt_free(child);
	return rc;
}

bool hwt_child_is_paused(struct hwt_core *core, int pid, int tid)
{
	struct hwt_child *c;
	hwt_irqflags_t flags;

	if (!hwt_load_acquire(&core->children))
		return false;
	hwt_spin_lock(&core->lock, flags);
	for (c = core->children; c; c = c->next)
		if (c->pid == pid && c->tid == tid)
			break;
	hwt_spin_unlock(&core->lock, flags);
	return c != NULL;
}

/* Which children; 0 and NULL: any. */
struct child_match {
	struct hwt_context	*ctx;
	int			pid, tid, user_tid;
	bool			fetched;
};

static bool child_matches(const struct hwt_child *c, const struct child_match *m)
{
	return (!m->ctx || c->ctx == m->ctx) && (!m->pid || c->pid == m->pid) &&
	       (!m->tid || c->tid == m->tid) &&
	       (!m->user_tid || c->user_tid == m->user_tid) &&
	       (!m->fetched || hwt_record_fetched(&c->ctx->queue, c->pause.order));
}

/* Unlinks those that match; returns them. */
static struct hwt_child *children_take(struct hwt_core *core, const struct child_match *m)
{
	struct hwt_child *c, *next, *taken = NULL;
	hwt_irqflags_t flags;

	hwt_spin_lock(&core->lock, flags);
	for (c = core->children; c; c = next) {
		next = c->next;
		if (!child_matches(c, m))
			continue;
		child_unlink(core, c);
		c->next = taken;
		taken = c;
	}
	hwt_spin_unlock(&core->lock, flags);
	return taken;
}

static int children_wake(struct hwt_core *core, const struct child_match *m)
{
	struct hwt_child *c, *next;
	int n = 0;

	if (!hwt_load_acquire(&core->children))
		return 0;
	for (c = children_take(core, m); c; c = next, n++) {
		next = c->next;
		hwt_free(c);
	}
	if (n)
		hwt_wait_wake(&core->child_wait);
	return n;
}

int hwt_child_wake(struct hwt_core *core, struct hwt_context *ctx, int pid, int tid,
		   bool fetched)
{
	struct child_match m = {.ctx = ctx, .pid = pid, .tid = tid, .fetched = fetched};

	return children_wake(core, &m);
}

int hwt_child_wake_user(struct hwt_context *ctx, int user_tid)
{
	struct child_match m = {.ctx = ctx, .user_tid = user_tid};

	return user_tid > 0 ? children_wake(ctx->core, &m) : 0;
}
