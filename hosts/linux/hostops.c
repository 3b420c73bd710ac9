// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Core's host contract in the kernel. */
#include <linux/eventfd.h>
#include <linux/irq_work.h>
#include <linux/slab.h>

#include "compat.h"
#include "linux.h"

/* A client's eventfd; a hook may hold a lock that its wake-up would take. */
struct hwt_event {
	struct eventfd_ctx	*eventfd;
	struct irq_work		work;
};

static void event_work(struct irq_work *work)
{
	hwt_compat_eventfd_signal(container_of(work, struct hwt_event, work)->eventfd);
}

static int event_get(void *host, int fd, struct hwt_event **event)
{
	struct hwt_event *ev = hwt_alloc(sizeof(*ev), HWT_MAY_SLEEP);
	int rc;

	if (!ev)
		return -ENOMEM;
	ev->eventfd = eventfd_ctx_fdget(fd);
	if (IS_ERR(ev->eventfd)) {
		/* A descriptor that is no eventfd is as bad as none. */
		rc = PTR_ERR(ev->eventfd) == -EINVAL ? -EBADF : PTR_ERR(ev->eventfd);
		hwt_free(ev);
		return rc;
	}
	init_irq_work(&ev->work, event_work);
	*event = ev;
	return 0;
}

static void event_signal(void *host, struct hwt_event *event)
{
	irq_work_queue(&event->work);
}

static void event_put(void *host, struct hwt_event *event)
{
	irq_work_sync(&event->work);
	eventfd_ctx_put(event->eventfd);
	hwt_free(event);
}

static bool backend_get(void *host, struct hwt_backend *be)
{
	return try_module_get(be->owner);
}

static void backend_put(void *host, struct hwt_backend *be)
{
	module_put(be->owner);
}

const struct hwt_host_ops hwt_linux_ops = {
	.name = "kernel",
	.pages_alloc = hwt_linux_pages_alloc,
	.pages_free = hwt_linux_pages_free,
	.page_addr = hwt_linux_page_addr,
	.page_write64 = hwt_linux_page_write64,
	.node_create = hwt_linux_node_create,
	.node_destroy = hwt_linux_node_destroy,
	.event_get = event_get,
	.event_signal = event_signal,
	.event_put = event_put,
	.target_get = hwt_linux_target_get,
	.target_put = hwt_linux_target_put,
	.target_dead = hwt_linux_target_dead,
	.target_allowed = hwt_linux_target_allowed,
	.target_threads = hwt_linux_target_threads,
	.thread_call = hwt_linux_thread_call,
	.cpus_call = hwt_linux_cpus_call,
	.ncpus = hwt_linux_ncpus,
	.cpu_online = hwt_linux_cpu_online,
	.kernel_objects = hwt_linux_kernel_objects,
	.kernel_done = hwt_linux_kernel_done,
	.kernel_read = hwt_linux_kernel_read,
	.pid_from_user = hwt_linux_pid_from_user,
	.pid_to_user = hwt_linux_pid_to_user,
	.backend_get = backend_get,
	.backend_put = backend_put,
};
