/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hooks that make a record, and pauses. */
#include "hwt_hook.h"
#include "hwt_buffer.h"
#include "hwt_context.h"
#include "hwt_contexthash.h"

void hwt_hook_header(struct hwt_context *ctx, struct hwt_thread *thr,
		     const struct hwt_hook_where *at, int type, struct hwt_rec *rec)
{
	struct hwt_bus *bus = ctx->backend->bus;

	hwt_memset(rec, 0, sizeof(*rec));
	rec->type = type;
	rec->time = at->time;
	if (!rec->time && bus->ops->now)
		rec->time = bus->ops->now(bus, at->unit);
	rec->pid = ctx->user_pid;
	rec->tid = thr ? thr->buf.buf_id
		       : hwt_core_pid_to_user(ctx->core, ctx->target, at->tid);
	rec->cpu = -1;
	rec->generation = at->generation;
	if (!thr)
		return;
	hwt_store_release(&thr->generation, at->generation);
	rec->position = hwt_buffer_position(&thr->buf);
}

int hwt_hook_result(struct hwt_context *ctx, int rc, bool paused)
{
	if (rc == -EAGAIN)
		return rc;
	hwt_record_notify(ctx);
	return HWT_HOOK_TRACED | (paused && !rc ? HWT_HOOK_PAUSED : 0);
}

/* Publishes `parts` for the thread at `at`; pauses it if ctx wants one of `pause`. */
static int publish(struct hwt_core *core, const struct hwt_hook_where *at, int type,
		   struct hwt_record_parts *parts, uint32_t pause)
{
	struct hwt_context *ctx = hwt_contexthash_lookup(core, at->pid);
	struct hwt_pause *p = NULL;
	struct hwt_thread *thr;
	int rc = 0;

	if (!ctx)
		return 0;
	if (!hwt_context_is_dying(ctx)) {
		thr = hwt_thread_lookup(ctx, at->tid);
		hwt_hook_header(ctx, thr, at, type, &parts->rec);
		if (thr && !hwt_thread_is_dead(thr) && hwt_context_pauses(ctx) & pause)
			p = &thr->pause;
		rc = hwt_record_put(ctx, parts, p);
		rc = hwt_hook_result(ctx, rc, p != NULL);
	}
	hwt_context_leave(ctx);
	return rc;
}

/* Of a record that ends in a path. */
static struct hwt_record_parts path_parts(const void *fixed, size_t nfixed,
					  const char *path)
{
	return (struct hwt_record_parts){
		.fixed = fixed,
		.nfixed = nfixed,
		.var = path,
		.nvar = path ? hwt_strnlen(path, HWT_PATH_MAX - 1) : 0,
		.string = true,
	};
}

int hwt_hook_mmap(struct hwt_core *core, const struct hwt_hook_where *at,
		  const struct hwt_hook_map *map)
{
	struct hwt_rec_mmap payload = {
		.addr = map->addr,
		.len = map->len,
		.pgoff = map->pgoff,
		.ino = map->ino,
		.dev_major = map->dev_major,
		.dev_minor = map->dev_minor,
		.prot = map->prot,
		.mapflags = map->mapflags,
	};
	struct hwt_record_parts parts = path_parts(&payload, sizeof(payload), map->path);

	return publish(core, at, HWT_REC_MMAP, &parts, HWT_PAUSE_MMAP);
}

int hwt_hook_munmap(struct hwt_core *core, const struct hwt_hook_where *at,
		    uint64_t addr, uint64_t len)
{
	struct hwt_rec_munmap payload = {.addr = addr, .len = len};
	struct hwt_record_parts parts = {.fixed = &payload, .nfixed = sizeof(payload)};

	return publish(core, at, HWT_REC_MUNMAP, &parts, 0);
}

int hwt_hook_mprotect(struct hwt_core *core, const struct hwt_hook_where *at,
		      uint64_t addr, uint64_t len, uint32_t prot)
{
	struct hwt_rec_mprotect payload = {.addr = addr, .len = len, .prot = prot};
	struct hwt_record_parts parts = {.fixed = &payload, .nfixed = sizeof(payload)};

	return publish(core, at, HWT_REC_MPROTECT, &parts, 0);
}

int hwt_hook_native(struct hwt_core *core, const struct hwt_hook_where *at,
		    const char *path, uint32_t machine)
{
	struct hwt_rec_native payload = {.machine = machine};
	struct hwt_record_parts parts = path_parts(&payload, sizeof(payload), path);

	return publish(core, at, HWT_REC_NATIVE, &parts, 0);
}

int hwt_hook_thread_name(struct hwt_core *core, const struct hwt_hook_where *at,
			 const char *name)
{
	struct hwt_rec_name payload = {{0}};
	struct hwt_record_parts parts = {.fixed = &payload, .nfixed = sizeof(payload)};

	hwt_memcpy(payload.name, name, hwt_strnlen(name, sizeof(payload.name) - 1));
	return publish(core, at, HWT_REC_THREAD_NAME, &parts, 0);
}

int hwt_hook_generation(struct hwt_core *core, const struct hwt_hook_where *at,
			uint64_t generation)
{
	struct hwt_rec_generation payload = {.generation = generation};
	struct hwt_record_parts parts = {.fixed = &payload, .nfixed = sizeof(payload)};

	return publish(core, at, HWT_REC_GENERATION, &parts, 0);
}

/* One piece of a capture. */
static void code_parts(struct hwt_record_parts *parts, struct hwt_rec_code *payload,
		       uint64_t addr, const void *bytes, uint32_t len)
{
	payload->addr = addr;
	payload->len = len;
	parts->fixed = payload;
	parts->nfixed = sizeof(*payload);
	parts->var = bytes;
	parts->nvar = len;
}

int hwt_hook_code(struct hwt_core *core, const struct hwt_hook_where *at,
		  uint64_t addr, const void *bytes, uint32_t len)
{
	const uint8_t *from = bytes;
	uint32_t n;
	int rc = 0;

	for (; len && rc >= 0; from += n, addr += n, len -= n) {
		struct hwt_rec_code payload = {0};
		struct hwt_record_parts parts = {.fixed = NULL};

		n = len < HWT_RECORD_CODE_MAX ? len : HWT_RECORD_CODE_MAX;
		code_parts(&parts, &payload, addr, from, n);
		rc = publish(core, at, HWT_REC_CODE, &parts, 0);
	}
	return rc;
}

int hwt_hook_fork(struct hwt_core *core, const struct hwt_hook_where *at,
		  int child_pid, int child_tid)
{
	struct hwt_context *ctx = hwt_contexthash_lookup(core, at->pid);
	struct hwt_rec_fork payload = {0};
	struct hwt_record_parts parts = {.fixed = &payload, .nfixed = sizeof(payload)};
	struct hwt_thread *thr;
	bool pause;
	int rc = 0;

	if (!ctx)
		return 0;
	if (hwt_context_is_dying(ctx))
		goto leave;
	payload.child_pid = hwt_core_pid_to_user(core, ctx->target, child_pid);
	payload.child_tid = hwt_core_pid_to_user(core, ctx->target, child_tid);
	thr = hwt_thread_lookup(ctx, at->tid);
	hwt_hook_header(ctx, thr, at, HWT_REC_FORK, &parts.rec);
	pause = hwt_context_pauses(ctx) & HWT_PAUSE_FORK;
	rc = pause ? hwt_child_put(ctx, &parts, child_pid, child_tid, payload.child_tid)
		   : hwt_record_put(ctx, &parts, NULL);
	rc = hwt_hook_result(ctx, rc, parts.rec.flags & HWT_REC_PAUSED);
leave:
	hwt_context_leave(ctx);
	return rc;
}

int hwt_hook_kernel(struct hwt_core *core, struct hwt_context *ctx, uint64_t addr,
		    uint64_t len, const char *path)
{
	struct hwt_rec_kernel payload = {.addr = addr, .len = len};
	struct hwt_record_parts parts = path_parts(&payload, sizeof(payload), path);
	struct hwt_hook_where at = {.unit = -1};
	hwt_irqflags_t flags;
	int rc;

	parts.never_hold = true;
	hwt_hook_header(ctx, NULL, &at, HWT_REC_KERNEL, &parts.rec);
	hwt_spin_lock(&ctx->lock, flags);
	ctx->kernel = true;
	hwt_spin_unlock(&ctx->lock, flags);
	rc = hwt_record_put(ctx, &parts, NULL);
	return hwt_hook_result(ctx, rc, false);
}

/* The n-th context that has kernel objects, with a use of it; NULL: no more. */
static struct hwt_context *kernel_nth(struct hwt_core *core, int n)
{
	struct hwt_context *c;
	hwt_irqflags_t flags, ctx_flags;
	bool kernel;

	hwt_spin_lock(&core->lock, flags);
	for (c = core->contexts; c; c = c->next) {
		hwt_spin_lock(&c->lock, ctx_flags);
		kernel = c->kernel && !c->dying;
		hwt_spin_unlock(&c->lock, ctx_flags);
		if (kernel && !c->killed && !n--)
			break;
	}
	if (c)
		hwt_ref_get(&c->users);
	hwt_spin_unlock(&core->lock, flags);
	return c;
}

void hwt_hook_kernel_new(struct hwt_core *core, uint64_t addr, uint64_t len,
			 const char *path)
{
	struct hwt_context *ctx;
	int n;

	for (n = 0; (ctx = kernel_nth(core, n)) != NULL; n++) {
		hwt_hook_kernel(core, ctx, addr, len, path);
		hwt_context_leave(ctx);
	}
}

static int poke(struct hwt_context *ctx, uint64_t addr, const void *bytes, uint32_t len)
{
	struct hwt_hook_where at = {.unit = -1};
	struct hwt_record_parts parts = {.fixed = NULL};
	struct hwt_rec_code payload = {0};

	code_parts(&parts, &payload, addr, bytes, len);
	parts.never_hold = true;
	hwt_hook_header(ctx, NULL, &at, HWT_REC_TEXT_POKE, &parts.rec);
	return hwt_hook_result(ctx, hwt_record_put(ctx, &parts, NULL), false);
}

int hwt_hook_text_poke(struct hwt_core *core, uint64_t addr, const void *bytes,
		       uint32_t len)
{
	struct hwt_context *ctx;
	int rc = 0, n;

	/* Text is patched a few bytes at a time; more than a page's is no patch. */
	if (len > HWT_RECORD_CODE_MAX)
		return -EINVAL;
	for (n = 0; (ctx = kernel_nth(core, n)) != NULL; n++) {
		rc = poke(ctx, addr, bytes, len);
		hwt_context_leave(ctx);
	}
	return rc;
}

/* Is the pause of this thread or child still on? */
static bool thread_paused(struct hwt_context *ctx, int tid)
{
	struct hwt_thread *thr = hwt_thread_lookup(ctx, tid);

	return thr && hwt_pause_is_on(&ctx->queue, &thr->pause);
}

bool hwt_hook_is_paused(struct hwt_core *core, int pid, int tid)
{
	struct hwt_context *ctx;
	bool paused;

	if (hwt_child_is_paused(core, pid, tid))
		return true;
	ctx = hwt_contexthash_lookup(core, pid);
	if (!ctx)
		return false;
	paused = thread_paused(ctx, tid);
	hwt_context_leave(ctx);
	return paused;
}

/* A pause in pid's own context. */
static void pause_end(struct hwt_context *ctx, int tid)
{
	struct hwt_thread *thr = hwt_thread_lookup(ctx, tid);

	if (thr)
		hwt_pause_end(&ctx->queue, &thr->pause, false);
}

void hwt_hook_pause_cancel(struct hwt_core *core, int pid, int tid)
{
	struct hwt_context *ctx = hwt_contexthash_lookup(core, pid);

	hwt_child_wake(core, NULL, pid, tid, false);
	if (!ctx)
		return;
	pause_end(ctx, tid);
	hwt_context_leave(ctx);
}

int hwt_hook_pause_wait(struct hwt_core *core, int pid, int tid)
{
	struct hwt_context *ctx;
	struct hwt_thread *thr;
	int rc = hwt_wait_event_killable(&core->child_wait,
					 !hwt_child_is_paused(core, pid, tid));

	if (rc) {
		hwt_child_wake(core, NULL, pid, tid, false);
		return rc;
	}
	ctx = hwt_contexthash_lookup(core, pid);
	if (!ctx)
		return 0;
	thr = hwt_thread_lookup(ctx, tid);
	if (thr)
		rc = hwt_wait_event_killable(&thr->pause.wait,
					     !hwt_pause_is_on(&ctx->queue, &thr->pause));
	if (rc)
		hwt_pause_end(&ctx->queue, &thr->pause, false);
	hwt_context_leave(ctx);
	return rc;
}

int hwt_hook_room(struct hwt_core *core, int pid)
{
	struct hwt_context *ctx = hwt_contexthash_lookup(core, pid);
	int rc;

	if (!ctx)
		return 0;
	rc = hwt_wait_event_killable(&ctx->queue.room, hwt_record_has_room(&ctx->queue));
	hwt_context_leave(ctx);
	return rc;
}
