/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "fake.h"
#include "fake_backend.h"

static void lock(struct fake_host *h)
{
	pthread_mutex_lock(&h->lock);
}

static void unlock(struct fake_host *h)
{
	pthread_mutex_unlock(&h->lock);
}

static struct hwt_pages *pages_alloc(void *host, size_t npages, enum hwt_pages_how how)
{
	struct fake_host *h = host;
	struct hwt_pages *p;

	if (hwt_fault_hit())
		return NULL;
	p = calloc(1, sizeof(*p));
	p->npages = npages;
	__atomic_add_fetch(&h->pages, 1, __ATOMIC_RELAXED);
	return p;
}

static void pages_free(void *host, struct hwt_pages *pages)
{
	struct fake_host *h = host;

	__atomic_sub_fetch(&h->pages, 1, __ATOMIC_RELAXED);
	free(pages);
}

static int node_create(void *host, const char *name, struct hwt_context *ctx,
		       struct hwt_buffer *buffer, uint32_t uid, struct hwt_node **node)
{
	struct fake_host *h = host;
	struct fake_node *n;
	int i;

	(void)uid;
	if (hwt_fault_hit())
		return -ENOMEM;
	n = calloc(1, sizeof(*n));
	snprintf(n->name, sizeof(n->name), "%s", name);
	n->ctx = ctx;
	n->buffer = buffer;
	lock(h);
	for (i = 0; i < FAKE_NODES && h->nodes[i]; i++)
		;
	if (i < FAKE_NODES)
		h->nodes[i] = n;
	unlock(h);
	if (i == FAKE_NODES) {
		free(n);
		return -ENOSPC;
	}
	*node = (struct hwt_node *)n;
	if (h->in_node_create)
		h->in_node_create(h);
	return 0;
}

static void node_destroy(void *host, struct hwt_node *node)
{
	struct fake_host *h = host;
	int i;

	lock(h);
	for (i = 0; i < FAKE_NODES; i++)
		if (h->nodes[i] == (struct fake_node *)node)
			h->nodes[i] = NULL;
	unlock(h);
	free(node);
}

static int event_get(void *host, int fd, struct hwt_event **event)
{
	struct fake_host *h = host;

	if (fd < 0 || fd > 1023)
		return -EBADF;
	if (hwt_fault_hit())
		return -ENOMEM;
	__atomic_add_fetch(&h->events, 1, __ATOMIC_RELAXED);
	*event = (struct hwt_event *)h;
	return 0;
}

static void event_signal(void *host, struct hwt_event *event)
{
	struct fake_host *h = host;

	(void)event;
	__atomic_add_fetch(&h->signals, 1, __ATOMIC_RELAXED);
}

static void event_put(void *host, struct hwt_event *event)
{
	struct fake_host *h = host;

	(void)event;
	__atomic_sub_fetch(&h->events, 1, __ATOMIC_RELAXED);
}

struct fake_target *fake_target(struct fake_host *h, int pid)
{
	int i;

	for (i = 0; i < FAKE_TARGETS; i++)
		if (h->targets[i].pid == pid)
			return &h->targets[i];
	return NULL;
}

static int target_get(void *host, const struct hwt_cred *cred, int pid, void **target)
{
	struct fake_host *h = host;
	struct fake_target *t;
	int rc = 0;

	lock(h);
	t = fake_target(h, pid);
	if (!t || t->dead)
		rc = -ESRCH;
	else if (t->forbidden && !cred->perfmon)
		rc = -EPERM;
	else if (h->forbid_after && !--h->forbid_after)
		rc = -EPERM;
	else
		t->refs++;
	unlock(h);
	*target = t;
	return rc;
}

static void target_put(void *host, void *target)
{
	struct fake_target *t = target;

	lock(host);
	t->refs--;
	unlock(host);
}

static bool target_dead(void *host, void *target)
{
	struct fake_target *t = target;
	bool dead;

	lock(host);
	dead = t->dead;
	unlock(host);
	return dead;
}

static int target_threads(void *host, void *target, struct hwt_target_thread *out,
			  int max)
{
	struct fake_target *t = target;
	int i, n;

	lock(host);
	n = t->nthreads;
	for (i = 0; i < n && i < max; i++) {
		out[i].tid = t->threads[i].tid;
		out[i].unit = t->threads[i].unit;
	}
	unlock(host);
	return n;
}

static struct fake_thread *thread_of(struct fake_host *h, int pid, int tid)
{
	struct fake_target *t = fake_target(h, pid);
	int i;

	for (i = 0; t && i < t->nthreads; i++)
		if (t->threads[i].tid == tid)
			return &t->threads[i];
	return NULL;
}

static int thread_call(void *host, struct hwt_thread *thr,
		       void (*fn)(void *arg, int cpu), void *arg)
{
	struct fake_host *h = host;
	struct fake_thread *t;
	int unit;

	__atomic_add_fetch(&h->thread_calls, 1, __ATOMIC_RELAXED);
	if (h->in_thread_call)
		h->in_thread_call(h);
	lock(h);
	t = thread_of(h, hwt_thread_pid(thr), hwt_thread_tid(thr));
	unit = t ? t->unit : -1;
	unlock(h);
	if (!t)
		return -ESRCH;
	if (unit < 0)
		return -EAGAIN;
	fn(arg, unit);
	return 0;
}

static bool cpu_online(void *host, int cpu)
{
	struct fake_host *h = host;

	return __atomic_load_n(&h->online[cpu], __ATOMIC_RELAXED);
}

static int cpus_call(void *host, const unsigned long *cpus, int ncpus,
		     void (*fn)(void *arg, int cpu), void *arg)
{
	int i, rc = 0;

	for (i = 0; i < ncpus; i++) {
		if (!(cpus[0] >> i & 1))
			continue;
		if (cpu_online(host, i))
			fn(arg, i);
		else
			rc = -ENXIO;
	}
	return rc;
}

static int ncpus(void *host)
{
	(void)host;
	return FAKE_CPUS;
}

static bool target_allowed(void *host, void *target)
{
	struct fake_host *h = host;

	(void)target;
	return !h->forbid;
}

static void kernel_done(void *host)
{
	struct fake_host *h = host;

	h->kernel_users--;
}

static int kernel_objects(void *host, struct hwt_context *ctx)
{
	struct fake_host *h = host;
	char path[32];
	int i;

	h->kernel_users++;
	for (i = 0; i < h->kernel_objects; i++) {
		snprintf(path, sizeof(path), "object%d", i);
		hwt_hook_kernel(h->core, ctx, 0x1000 * (i + 1), 0x1000, path);
	}
	return 0;
}

/* "Code" at FAKE_CODE whose bytes are the low bytes of their addresses. */
static int kernel_read(void *host, uint64_t addr, uint64_t ubuf, uint64_t len,
		       uint64_t *done)
{
	uint8_t byte;

	(void)host;
	if (addr < FAKE_CODE || addr >= FAKE_CODE + FAKE_CODE_LEN)
		return -ENOENT;
	for (; *done < len && addr + *done < FAKE_CODE + FAKE_CODE_LEN; ++*done) {
		byte = (uint8_t)(addr + *done);
		if (hwt_copyout(&byte, ubuf + *done, 1))
			return -EFAULT;
	}
	return 0;
}

static void woken(void *host)
{
	struct fake_host *h = host;

	__atomic_add_fetch(&h->wakeups, 1, __ATOMIC_RELAXED);
}

static const struct hwt_host_ops host_ops = {
	.name = "fake",
	.pages_alloc = pages_alloc,
	.pages_free = pages_free,
	.node_create = node_create,
	.node_destroy = node_destroy,
	.event_get = event_get,
	.event_signal = event_signal,
	.event_put = event_put,
	.target_get = target_get,
	.target_put = target_put,
	.target_dead = target_dead,
	.target_allowed = target_allowed,
	.target_threads = target_threads,
	.thread_call = thread_call,
	.cpus_call = cpus_call,
	.ncpus = ncpus,
	.cpu_online = cpu_online,
	.kernel_objects = kernel_objects,
	.kernel_done = kernel_done,
	.kernel_read = kernel_read,
};

struct fake_host *fake_host_new(bool may_hold)
{
	struct fake_host *h = calloc(1, sizeof(*h));
	int i;

	pthread_mutex_init(&h->lock, NULL);
	h->ops = host_ops;
	h->ops.may_hold = may_hold;
	for (i = 0; i < FAKE_CPUS; i++)
		h->online[i] = true;
	h->core = hwt_load(&h->ops, h);
	if (!h->core) {
		free(h);
		return NULL;
	}
	hwt_set_wakeup_callback(h->core, woken);
	fake_backend_init(h);
	if (hwt_backend_register(h->core, &h->be))
		abort();
	return h;
}

bool fake_host_free(struct fake_host *h)
{
	bool clean = fake_node_count(h) == 0;
	int i;

	if (hwt_unload(h->core)) {
		fprintf(stderr, "core is busy at the end\n");
		return false;
	}
	for (i = 0; i < FAKE_TARGETS; i++)
		clean = clean && h->targets[i].refs == 0;
	/* Contexts that linger for their units keep these until unload. */
	clean = clean && h->pages == 0 && h->events == 0 && h->kernel_users == 0;
	if (!clean)
		fprintf(stderr, "left: %d nodes, %ld pages, %ld events\n",
			fake_node_count(h), h->pages, h->events);
	pthread_mutex_destroy(&h->lock);
	free(h);
	return clean;
}

/* Threads pid, pid + 1, ...; none on a unit. */
void fake_target_add(struct fake_host *h, int pid, int nthreads)
{
	struct fake_target *t = h->targets;
	int i;

	lock(h);
	while (t->pid && (!t->dead || t->refs))
		t++;
	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->nthreads = nthreads;
	for (i = 0; i < nthreads; i++) {
		t->threads[i].tid = pid + i;
		t->threads[i].unit = -1;
	}
	unlock(h);
}

void fake_switch_in(struct fake_host *h, int pid, int tid, int unit)
{
	struct fake_thread *t;

	lock(h);
	t = thread_of(h, pid, tid);
	if (t)
		t->unit = unit;
	unlock(h);
	hwt_hook_switch_in(h->core, pid, tid, unit);
}

void fake_switch_out(struct fake_host *h, int pid, int tid)
{
	struct fake_thread *t;
	int unit = -1;

	lock(h);
	t = thread_of(h, pid, tid);
	if (t) {
		unit = t->unit;
		t->unit = -1;
	}
	unlock(h);
	hwt_hook_switch_out(h->core, pid, tid, unit);
}

struct hwt_cred fake_cred(uint64_t owner)
{
	struct hwt_cred cred = {.owner = owner, .pid = (int)owner, .uid = 1};

	return cred;
}

static int node_find(struct fake_host *h, const char *name, struct fake_dev *dev)
{
	int i, rc = -ENOENT;

	lock(h);
	for (i = 0; i < FAKE_NODES && rc; i++) {
		if (!h->nodes[i] || strcmp(h->nodes[i]->name, name))
			continue;
		dev->ctx = h->nodes[i]->ctx;
		dev->buffer = h->nodes[i]->buffer;
		/* Under the lock, so that the node's context is still there. */
		rc = hwt_node_open(h->core, &dev->cred, dev->ctx);
	}
	unlock(h);
	return rc;
}

int fake_open(struct fake_host *h, const char *name, const struct hwt_cred *cred,
	      struct fake_dev **out)
{
	struct fake_dev *dev = calloc(1, sizeof(*dev));
	int rc = 0;

	dev->host = h;
	dev->cred = *cred;
	if (!strncmp(name, "/dev/", 5))
		name += 5;
	if (strcmp(name, "hwt"))
		rc = node_find(h, name, dev);
	if (rc) {
		free(dev);
		return rc;
	}
	*out = dev;
	return 0;
}

int fake_open_node(struct fake_host *h, int ident, int d, struct fake_dev **out)
{
	struct hwt_cred cred = fake_cred(FAKE_OWNER);
	char name[32];

	snprintf(name, sizeof(name), "hwt_%d_%d", ident, d);
	return fake_open(h, name, &cred, out);
}

int fake_ioctl(struct fake_dev *dev, unsigned int cmd, void *arg)
{
	return hwt_ioctl(dev->host->core, &dev->cred, dev->ctx, dev->buffer, cmd, arg);
}

void fake_close(struct fake_dev *dev)
{
	if (dev->ctx)
		hwt_node_close(dev->host->core, &dev->cred, dev->ctx);
	free(dev);
}

int fake_node_count(struct fake_host *h)
{
	int i, n = 0;

	lock(h);
	for (i = 0; i < FAKE_NODES; i++)
		n += h->nodes[i] != NULL;
	unlock(h);
	return n;
}
