// SPDX-License-Identifier: BSD-2-Clause
/* Core's host contract on the embedded host. */
#include "embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* DRAM is one file: everything in it is side by side, and mapped. */
static struct hwt_pages *pages_alloc(void *host, size_t npages, enum hwt_pages_how how)
{
	struct embedded *e = host;

	return hwt_fault_hit() ? NULL : dram_alloc(&e->dram, npages);
}

static void pages_free(void *host, struct hwt_pages *pages)
{
	struct embedded *e = host;

	dram_free(&e->dram, pages);
}

static uint64_t page_addr(void *host, struct hwt_pages *pages, size_t i)
{
	struct embedded *e = host;

	return dram_offset(&e->dram, pages) + i * HWT_PAGE_SIZE;
}

static void page_write64(void *host, struct hwt_pages *pages, uint64_t off, uint64_t value)
{
	(void)host;
	__atomic_store_n((uint64_t *)((uint8_t *)pages->kva + off), value, __ATOMIC_RELEASE);
}

/* An eventfd of the client's: a duplicate, so that it may close its own. */
struct hwt_event {
	int fd;
};

static int event_get(void *host, int fd, struct hwt_event **event)
{
	struct hwt_event *ev = hwt_fault_hit() ? NULL : malloc(sizeof(*ev));
	int err;

	(void)host;
	if (!ev)
		return -ENOMEM;
	ev->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (ev->fd < 0) {
		err = -errno;
		free(ev);
		return err;
	}
	*event = ev;
	return 0;
}

static void event_signal(void *host, struct hwt_event *event)
{
	uint64_t one = 1;

	(void)host;
	if (write(event->fd, &one, sizeof(one)) < 0) {
		/* EAGAIN: it is readable already; anything else is the client's */
	}
}

static void event_put(void *host, struct hwt_event *event)
{
	(void)host;
	close(event->fd);
	free(event);
}

static int target_get(void *host, const struct hwt_cred *cred, int pid, void **target)
{
	struct embedded *e = host;
	struct target *t;
	int err = 0;

	(void)cred;	/* targets are this process's own */
	pthread_mutex_lock(&e->lock);
	t = target_find(e, pid);
	if (!t || t->exited)
		err = -ESRCH;
	else
		t->refs++;
	pthread_mutex_unlock(&e->lock);
	*target = t;
	return err;
}

static void target_put(void *host, void *target)
{
	struct embedded *e = host;

	pthread_mutex_lock(&e->lock);
	target_unref(e, target);
	pthread_mutex_unlock(&e->lock);
}

static bool target_dead(void *host, void *target)
{
	struct embedded *e = host;
	struct target *t = target;
	bool dead;

	pthread_mutex_lock(&e->lock);
	dead = t->exited;
	pthread_mutex_unlock(&e->lock);
	return dead;
}

/* The leader first: its node is the context's. */
static int target_threads(void *host, void *target, struct hwt_target_thread *out, int max)
{
	struct embedded *e = host;
	struct target *t = target;
	int n = 0, pass;
	uint32_t i;

	pthread_mutex_lock(&e->lock);
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < e->high; i++) {
			struct block *b = &e->blocks[i];

			if (b->target != t || b->exited || b->dead ||
			    (b->tid == t->pid) != (pass == 0))
				continue;
			if (n < max)
				out[n] = (struct hwt_target_thread){b->tid, b->unit};
			n++;
		}
	}
	pthread_mutex_unlock(&e->lock);
	return n;
}

static int thread_call(void *host, struct hwt_thread *thr, void (*fn)(void *arg, int cpu),
		       void *arg)
{
	return block_call(host, hwt_thread_unit(thr), fn, arg);
}

static int cpus_call(void *host, const unsigned long *cpus, int ncpus,
		     void (*fn)(void *arg, int cpu), void *arg)
{
	(void)host, (void)cpus, (void)ncpus, (void)fn, (void)arg;
	return -ENXIO;	/* user mode has no CPUs to trace */
}

static int no_cpus(void *host)
{
	(void)host;
	return 0;
}

static bool cpu_online(void *host, int cpu)
{
	(void)host, (void)cpu;
	return false;
}

static int kernel_objects(void *host, struct hwt_context *ctx)
{
	(void)host, (void)ctx;
	return -EOPNOTSUPP;
}

static int pid_from_user(void *host, const struct hwt_cred *cred, int pid)
{
	(void)host, (void)cred;
	return pid;
}

void embedded_cred(struct hwt_cred *cred)
{
	cred->owner = 1;	/* one process, one owner */
	cred->pid = getpid();
	cred->uid = geteuid();
	cred->perfmon = true;	/* the only code to be seen is one's own */
}

const struct hwt_host_ops embedded_ops = {
	.name = "embedded",
	.pages_alloc = pages_alloc,
	.pages_free = pages_free,
	.page_addr = page_addr,
	.page_write64 = page_write64,
	.node_create = embedded_node_create,
	.node_destroy = embedded_node_destroy,
	.event_get = event_get,
	.event_signal = event_signal,
	.event_put = event_put,
	.target_get = target_get,
	.target_put = target_put,
	.target_dead = target_dead,
	.target_threads = target_threads,
	.thread_call = thread_call,
	.cpus_call = cpus_call,
	.ncpus = no_cpus,
	.cpu_online = cpu_online,
	.kernel_objects = kernel_objects,
	.pid_from_user = pid_from_user,
	.may_hold = true,
};
