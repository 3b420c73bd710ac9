/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake_host.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_BUFFERS	64
#define MAX_CONTEXTS	8
#define QUEUE_SIZE	(1u << 20)

struct fbuffer {
	uint32_t	pid, tid;
	uint8_t		*bytes;
	uint64_t	head, tail;
	bool		full_mode, dead, paused;
};

struct fcontext {
	uint32_t	pid;
	int		ident, event_fd, refs;
	size_t		bufsize;
	bool		started, gone;
	uint32_t	pause;
	char		*queue;
	size_t		used;
};

struct hwt_host {
	struct fake_options opt;
	pthread_mutex_t	lock;
	pthread_cond_t	changed;
	pthread_t	thread;
	bool		running, ended, attached;
	int		end_fd;
	struct fcontext	contexts[MAX_CONTEXTS];
	int		ncontexts;
	struct fbuffer	buffers[MAX_BUFFERS];
	int		nbuffers;
	struct fake_facts facts;
};

struct hwt_dev {
	struct hwt_host	*host;
	struct fcontext	*ctx;		/* NULL: /dev/hwt */
	struct fbuffer	*buffer;
};

struct hwt_host *fake_host_new(const struct fake_options *options)
{
	struct hwt_host *h = calloc(1, sizeof(*h));

	h->opt = *options;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	h->end_fd = eventfd(0, EFD_CLOEXEC);
	return h;
}

void fake_host_free(struct hwt_host *h)
{
	int i;

	if (h->running)
		pthread_join(h->thread, NULL);
	for (i = 0; i < h->ncontexts; i++)
		free(h->contexts[i].queue);
	for (i = 0; i < h->nbuffers; i++)
		free(h->buffers[i].bytes);
	close(h->end_fd);
	free(h);
}

struct fake_facts fake_facts(struct hwt_host *h)
{
	struct fake_facts facts;

	pthread_mutex_lock(&h->lock);
	facts = h->facts;
	pthread_mutex_unlock(&h->lock);
	return facts;
}

/* ---- the target: called with the lock held ---- */

static struct fcontext *context_of(struct hwt_host *h, uint32_t pid)
{
	int i;

	for (i = 0; i < h->ncontexts; i++)
		if (h->contexts[i].pid == pid && !h->contexts[i].gone)
			return &h->contexts[i];
	return NULL;
}

static struct fbuffer *buffer_of(struct hwt_host *h, uint32_t tid)
{
	int i;

	for (i = h->nbuffers - 1; i >= 0; i--)
		if (h->buffers[i].tid == tid)
			return &h->buffers[i];
	return NULL;
}

static struct fbuffer *buffer_make(struct hwt_host *h, struct fcontext *ctx, uint32_t tid)
{
	struct fbuffer *b = &h->buffers[h->nbuffers++];

	*b = (struct fbuffer){ .pid = ctx->pid, .tid = tid };
	b->bytes = calloc(1, ctx->bufsize);
	return b;
}

/* Queues a record; waits for room as a host that may hold its threads does. */
static void queue(struct hwt_host *h, struct fcontext *ctx, uint16_t type, uint32_t tid,
		  uint16_t flags, const void *payload, size_t n, const char *path)
{
	struct fbuffer *b = buffer_of(h, tid);
	size_t tail = path ? strlen(path) + 1 : 0;
	size_t size = (sizeof(struct hwt_rec) + n + tail + 7) / 8 * 8;
	struct hwt_rec rec = {
		.size = (uint32_t)size, .type = type, .flags = flags, .pid = ctx->pid,
		.tid = tid, .cpu = -1, .position = b ? b->head : 0,
	};
	uint64_t one = 1;

	while (ctx->used + size > QUEUE_SIZE && !ctx->gone)
		pthread_cond_wait(&h->changed, &h->lock);
	if (ctx->gone)
		return;
	memset(ctx->queue + ctx->used, 0, size);
	memcpy(ctx->queue + ctx->used, &rec, sizeof(rec));
	memcpy(ctx->queue + ctx->used + sizeof(rec), payload, n);
	if (path)
		memcpy(ctx->queue + ctx->used + sizeof(rec) + n, path, tail);
	ctx->used += size;
	if (ctx->event_fd >= 0 && write(ctx->event_fd, &one, sizeof(one)) < 0)
		abort();
}

static void wait_woken(struct hwt_host *h, struct fcontext *ctx, struct fbuffer *b)
{
	while (b->paused && !ctx->gone)
		pthread_cond_wait(&h->changed, &h->lock);
}

static void step_trace(struct hwt_host *h, const struct fake_step *s)
{
	struct fbuffer *b = buffer_of(h, s->tid);
	struct fcontext *ctx = b ? context_of(h, b->pid) : NULL;
	struct hwt_rec_buffer rec = { .buf_id = s->tid };
	uint64_t i;

	if (!ctx || !ctx->started) {
		h->facts.untraced += s->n;
		return;
	}
	for (i = 0; i < s->n && !ctx->gone; i++) {
		if (b->full_mode && b->head - b->tail == ctx->bufsize) {
			rec.head = b->head;
			queue(h, ctx, HWT_REC_BUFFER, s->tid, 0, &rec, sizeof(rec), NULL);
		}
		while (b->full_mode && b->head - b->tail == ctx->bufsize && !ctx->gone)
			pthread_cond_wait(&h->changed, &h->lock);
		b->bytes[b->head % ctx->bufsize] = fake_byte(s->tid, b->head);
		b->head++;
	}
}

static void step_mmap(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	struct hwt_rec_mmap rec = {
		.addr = s->addr, .len = s->len, .pgoff = s->n, .prot = PROT_READ | PROT_EXEC,
	};
	struct fbuffer *b = buffer_of(h, s->tid);

	b->paused = ctx->pause & HWT_PAUSE_MMAP;
	queue(h, ctx, HWT_REC_MMAP, s->tid, b->paused ? HWT_REC_PAUSED : 0, &rec,
	      sizeof(rec), s->path);
	wait_woken(h, ctx, b);
}

/* The child waits until it was woken, through its context or its parent's. */
static void step_fork(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	struct hwt_rec_fork rec = {
		.child_pid = (uint32_t)s->n, .child_tid = (uint32_t)s->n
	};
	struct fbuffer *parent = buffer_of(h, s->tid);

	parent->paused = ctx->pause & HWT_PAUSE_FORK;
	queue(h, ctx, HWT_REC_FORK, s->tid, parent->paused ? HWT_REC_PAUSED : 0, &rec,
	      sizeof(rec), NULL);
	wait_woken(h, ctx, parent);
}

static void step_thread(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	struct hwt_rec_thread thread = { .tid = s->tid };
	struct fbuffer *b = buffer_make(h, ctx, s->tid);

	queue(h, ctx, HWT_REC_THREAD_CREATE, s->tid, 0, &thread, sizeof(thread), NULL);
	/* As a host that lets a thread run once its buffer is known. */
	while (!ctx->gone && !b->full_mode && !h->opt.free_threads)
		pthread_cond_wait(&h->changed, &h->lock);
}

static void step_thread_exit(struct hwt_host *h, struct fcontext *ctx,
			     const struct fake_step *s)
{
	struct hwt_rec_thread thread = { .tid = s->tid };

	queue(h, ctx, HWT_REC_THREAD_EXIT, s->tid, 0, &thread, sizeof(thread), NULL);
}

static void step_munmap(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	struct hwt_rec_munmap un = { s->addr, s->len };

	queue(h, ctx, HWT_REC_MUNMAP, s->tid, 0, &un, sizeof(un), NULL);
}

static void step_exec(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	struct hwt_rec_exec exec = { .old_tid = s->tid };
	struct fbuffer *b = buffer_of(h, s->tid);

	b->paused = ctx->pause & HWT_PAUSE_EXEC;
	queue(h, ctx, HWT_REC_EXEC, s->tid, b->paused ? HWT_REC_PAUSED : 0, &exec,
	      sizeof(exec), s->path);
	wait_woken(h, ctx, b);
}

static void step_revoke(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	struct hwt_rec_exec exec = { .old_tid = s->tid };
	struct hwt_rec_exit ended = { 0 };

	ctx->started = false;
	queue(h, ctx, HWT_REC_EXEC, s->tid, HWT_REC_REVOKED, &exec, sizeof(exec), s->path);
	queue(h, ctx, HWT_REC_EXIT, s->tid, HWT_REC_REVOKED, &ended, sizeof(ended), NULL);
}

static void step_lost(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	struct hwt_rec_lost lost = { s->n };

	queue(h, ctx, HWT_REC_LOST, s->tid, 0, &lost, sizeof(lost), NULL);
}

static void step_gap(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	struct hwt_rec_buffer full = {
		.buf_id = s->tid, .flags = HWT_BUF_FULL, .lost = s->n,
		.head = buffer_of(h, s->tid)->head,
	};

	queue(h, ctx, HWT_REC_BUFFER, s->tid, 0, &full, sizeof(full), NULL);
}

static void step_exit(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	struct hwt_rec_exit ended = { 0 };

	queue(h, ctx, HWT_REC_EXIT, s->tid, 0, &ended, sizeof(ended), NULL);
}

static void step_die(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	buffer_of(h, s->tid)->dead = true;
}

static void step_kernel(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	struct hwt_rec_kernel rec = { s->addr, s->len };

	queue(h, ctx, HWT_REC_KERNEL, 0, 0, &rec, sizeof(rec), s->path);
}

static void step_stop(struct hwt_host *h, struct fcontext *ctx, const struct fake_step *s)
{
	uint64_t one = 1;

	__atomic_store_n(h->opt.stop, 1, __ATOMIC_RELAXED);
	if (write(ctx->event_fd, &one, sizeof(one)) < 0)
		abort();
}

static void (*const steps[])(struct hwt_host *h, struct fcontext *ctx,
			     const struct fake_step *s) = {
	[FAKE_THREAD] = step_thread,
	[FAKE_THREAD_EXIT] = step_thread_exit,
	[FAKE_MMAP] = step_mmap,
	[FAKE_MUNMAP] = step_munmap,
	[FAKE_EXEC] = step_exec,
	[FAKE_REVOKE] = step_revoke,
	[FAKE_FORK] = step_fork,
	[FAKE_LOST] = step_lost,
	[FAKE_GAP] = step_gap,
	[FAKE_EXIT] = step_exit,
	[FAKE_DIE] = step_die,
	[FAKE_KERNEL] = step_kernel,
	[FAKE_STOP] = step_stop,
};

static void step(struct hwt_host *h, const struct fake_step *s)
{
	struct fcontext *ctx = context_of(h, s->pid);

	if (s->op == FAKE_TRACE)
		step_trace(h, s);
	else if (ctx)
		steps[s->op](h, ctx, s);
}

/* In CPU mode ALLOC has told of the kernel. */
static const struct fake_step *script_start(const struct hwt_host *h)
{
	const struct fake_step *s = h->opt.script;

	while (h->opt.cpu_mode && s->op == FAKE_KERNEL)
		s++;
	return s;
}

static void *target(void *arg)
{
	struct hwt_host *h = arg;
	const struct fake_step *s;
	struct fake_step full;
	uint64_t one = 1;

	pthread_mutex_lock(&h->lock);
	for (s = script_start(h); s->op != FAKE_END; s++) {
		full = *s;
		if (!h->opt.cpu_mode) {
			full.pid = full.pid ? full.pid : FAKE_PID;
			full.tid = full.tid ? full.tid : full.pid;
		}
		step(h, &full);
	}
	h->ended = true;
	if (write(h->end_fd, &one, sizeof(one)) < 0)
		abort();
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

int hwt_target_spawn(struct hwt_host *h, const char *path, char *const argv[], pid_t *pid,
		     char **error)
{
	*pid = (pid_t)FAKE_PID;
	if (h->opt.spawn_error && asprintf(error, "%s: no such program", path) < 0)
		*error = NULL;
	return h->opt.spawn_error;
}

const char *hwt_host_kind(const struct hwt_host *h)
{
	return "fake";
}

bool hwt_target_execs_late(const struct hwt_host *h)
{
	return h->opt.late_exec;
}

int hwt_target_attach(struct hwt_host *h, pid_t pid)
{
	h->attached = h->opt.attach_error == 0;
	return h->opt.attach_error;
}

int hwt_target_run(struct hwt_host *h, pid_t pid)
{
	struct fcontext *ctx;

	if (h->opt.exec_error)
		return 0;
	pthread_mutex_lock(&h->lock);
	ctx = context_of(h, h->opt.cpu_mode ? 0 : FAKE_PID);
	h->facts.ran = true;
	h->facts.started_at_run = ctx && ctx->started;
	h->running = true;
	pthread_mutex_unlock(&h->lock);
	return -pthread_create(&h->thread, NULL, target, h);
}

int hwt_target_wait(struct hwt_host *h, pid_t pid, int timeout_ms, int *status)
{
	int ended;

	if (h->opt.exec_error)
		return h->opt.exec_error;
	pthread_mutex_lock(&h->lock);
	while (timeout_ms < 0 && h->running && !h->ended)
		pthread_cond_wait(&h->changed, &h->lock);
	ended = h->ended || timeout_ms < 0;
	pthread_mutex_unlock(&h->lock);
	*status = h->opt.status;
	return ended;
}

int hwt_target_fd(struct hwt_host *h, pid_t pid)
{
	return h->end_fd;
}

/* ---- devices ---- */

int hwt_dev_open(struct hwt_host *h, const char *name, struct hwt_dev **out)
{
	struct hwt_dev *dev = calloc(1, sizeof(*dev));
	unsigned int tid;
	int ident, err = 0;

	dev->host = h;
	pthread_mutex_lock(&h->lock);
	if (strcmp(name, "/dev/hwt") != 0) {
		if (sscanf(name, "/dev/hwt_%d_%u", &ident, &tid) != 2 || ident < 1 ||
		    ident > h->ncontexts)
			err = -ENOENT;
		dev->buffer = err ? NULL : buffer_of(h, tid);
		if (!dev->buffer)
			err = -ENOENT;
		else
			dev->ctx = &h->contexts[ident - 1];
	}
	if (dev->ctx)
		dev->ctx->refs++;
	if (!err)
		h->facts.open_devs++;
	pthread_mutex_unlock(&h->lock);
	if (err)
		free(dev);
	else
		*out = dev;
	return err;
}

void hwt_dev_close(struct hwt_dev *dev)
{
	pthread_mutex_lock(&dev->host->lock);
	dev->host->facts.open_devs--;
	if (dev->ctx && --dev->ctx->refs == 0)
		dev->ctx->gone = true;
	pthread_cond_broadcast(&dev->host->changed);
	pthread_mutex_unlock(&dev->host->lock);
	free(dev);
}

int hwt_dev_mmap(struct hwt_dev *dev, size_t length, off_t offset, void **out)
{
	pthread_mutex_lock(&dev->host->lock);
	dev->host->facts.mappings++;
	*out = dev->buffer->bytes + offset;
	pthread_mutex_unlock(&dev->host->lock);
	return 0;
}

int hwt_dev_munmap(struct hwt_dev *dev, void *addr, size_t length)
{
	pthread_mutex_lock(&dev->host->lock);
	dev->host->facts.mappings--;
	pthread_mutex_unlock(&dev->host->lock);
	return 0;
}

static void alloc_cpus(struct hwt_host *h, struct fcontext *ctx, const struct hwt_alloc *a)
{
	const struct fake_step *s;
	uint32_t cpu;

	for (cpu = 0; cpu < 8 * a->cpusetsize; cpu++)
		if (CPU_ISSET_S(cpu, a->cpusetsize, a->cpu_map))
			buffer_make(h, ctx, cpu);
	for (s = h->opt.script; s->op == FAKE_KERNEL; s++)
		step_kernel(h, ctx, s);
}

static int do_kernel_read(struct hwt_host *h, struct hwt_kernel_read *r)
{
	uint8_t *out = (uint8_t *)(uintptr_t)r->buf;

	for (r->done = 0; r->done < r->len; r->done++) {
		if (h->opt.unreadable && r->addr + r->done >= h->opt.unreadable)
			break;
		out[r->done] = fake_code(r->addr + r->done);
	}
	return r->done ? 0 : -ENOENT;
}

static int do_alloc(struct hwt_host *h, struct hwt_alloc *a)
{
	struct fcontext *ctx = &h->contexts[h->ncontexts];
	struct hwt_rec_thread thread = { 0 };
	const uint32_t *tid;

	if (a->pid && (uint32_t)a->pid == h->opt.alloc_fails_for)
		return -ESRCH;
	*ctx = (struct fcontext){
		.pid = (uint32_t)a->pid, .ident = ++h->ncontexts,
		.event_fd = a->kqueue_fd, .bufsize = a->bufsize,
	};
	ctx->queue = malloc(QUEUE_SIZE);
	*a->ident = ctx->ident;
	snprintf(h->facts.backend, sizeof(h->facts.backend), "%s", a->backend_name);
	if (a->mode == HWT_MODE_CPU) {
		alloc_cpus(h, ctx, a);
		return 0;
	}
	buffer_make(h, ctx, ctx->pid);
	for (tid = h->opt.existing; tid && *tid; tid++) {
		thread.tid = *tid;
		buffer_make(h, ctx, *tid);
		queue(h, ctx, HWT_REC_THREAD_CREATE, *tid, 0, &thread, sizeof(thread), NULL);
	}
	return 0;
}

/* A backend "none" has no unit. */
static int do_query(const struct hwt_host *h, struct hwt_query *q)
{
	static const struct hwt_query defaults[] = {
		{ .name = "none" },
		{ .name = "pt", .flags = HWT_QUERY_RING, .nranges = 2, .ncaps = 1 },
		{ .name = "" },
	};
	const struct hwt_query *unit = h->opt.units ? h->opt.units : defaults;
	uint32_t i, index = q->index;

	for (i = 0; i < index && unit->name[0]; i++)
		unit++;
	if (!unit->name[0])
		return -ENOENT;
	*q = *unit;
	q->index = index;
	snprintf(q->host, sizeof(q->host), "fake");
	return strcmp(q->name, "none") ? 0 : -ENXIO;
}

static int do_config(struct hwt_host *h, struct fcontext *ctx, struct hwt_set_config2 *set)
{
	h->facts.configs++;
	h->facts.last_pause = ctx->pause = set->pause;
	h->facts.last_version = set->config_version;
	h->facts.last_size = set->config_size;
	if (set->config)
		memcpy(&h->facts.last_config, (void *)(uintptr_t)set->config,
		       set->config_size < sizeof(h->facts.last_config) ?
			       set->config_size : sizeof(h->facts.last_config));
	return 0;
}

static int do_records(struct fcontext *ctx, struct hwt_record_get2 *get)
{
	const struct hwt_rec *rec;
	size_t at;

	for (at = 0; at < ctx->used; at += rec->size) {
		rec = (const struct hwt_rec *)(const void *)(ctx->queue + at);
		if (at + rec->size > get->size)
			break;
	}
	get->used = (uint32_t)at;
	if (at == 0 && ctx->used) {
		get->used = ((const struct hwt_rec *)(const void *)ctx->queue)->size;
		return -EINVAL;
	}
	memcpy((void *)(uintptr_t)get->buf, ctx->queue, at);
	memmove(ctx->queue, ctx->queue + at, ctx->used - at);
	ctx->used -= at;
	return 0;
}

static int do_svc(struct hwt_host *h, struct hwt_svc_buf *svc)
{
	const struct pt_svc_buf *pt = svc->data;
	struct fbuffer *b = buffer_of(h, (uint32_t)pt->buf_id);

	if (!b)
		return -ENOENT;
	if (pt->tail < b->tail || pt->tail > b->head)
		return -EINVAL;
	b->full_mode = true;
	b->tail = pt->tail;
	return 0;
}

static int do_wake(struct hwt_host *h, uint32_t tid)
{
	struct fbuffer *b = buffer_of(h, tid);
	int i;

	/* A forked child stands behind its parent's flag in this fake. */
	for (i = 0; !b && i < h->nbuffers; i++)
		h->buffers[i].paused = false;
	if (b) {
		b->paused = false;
		for (i = 0; i < h->nbuffers && b->pid != FAKE_PID; i++)
			h->buffers[i].paused = false;
	}
	return b ? 0 : -ESRCH;
}

static int dispatch(struct hwt_dev *dev, unsigned long request, void *arg)
{
	struct hwt_host *h = dev->host;

	if (request == h->opt.fail_ioctl)
		return h->opt.fail_with;
	switch (request) {
	case HWT_IOC_ALLOC:
		return do_alloc(h, arg);
	case HWT_IOC_QUERY:
		return do_query(h, arg);
	case HWT_IOC_SET_CONFIG2:
		return do_config(h, dev->ctx, arg);
	case HWT_IOC_START:
		h->facts.starts++;
		dev->ctx->started = true;
		if ((!h->attached && !(h->opt.cpu_mode && h->opt.stop)) || h->running)
			return 0;
		h->running = true;
		return -pthread_create(&h->thread, NULL, target, h);
	case HWT_IOC_STOP:
		h->facts.stops++;
		dev->ctx->started = false;
		return 0;
	case HWT_IOC_RECORD_GET2:
		return do_records(dev->ctx, arg);
	case HWT_IOC_POSITION_GET:
		((struct hwt_position_get *)arg)->head = dev->buffer->head;
		return dev->buffer->dead ? -ESRCH : 0;
	case HWT_IOC_KERNEL_READ:
		return do_kernel_read(h, arg);
	case HWT_IOC_SVC_BUF:
		return do_svc(h, arg);
	case HWT_IOC_WAKEUP_TID:
		return do_wake(h, ((struct hwt_wakeup_tid *)arg)->tid);
	}
	return -ENOTTY;
}

int hwt_dev_ioctl(struct hwt_dev *dev, unsigned long request, void *arg)
{
	int err;

	pthread_mutex_lock(&dev->host->lock);
	err = dispatch(dev, request, arg);
	pthread_cond_broadcast(&dev->host->changed);
	pthread_mutex_unlock(&dev->host->lock);
	return err;
}
