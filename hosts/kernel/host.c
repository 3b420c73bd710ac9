// SPDX-License-Identifier: BSD-2-Clause
/* Opening the kernel host: is there a unit, and if not, what to do about it. */
#include "kernel.h"
#include "../search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NODE	"/dev/hwt"

static int explain(int err, char **error)
{
	switch (err) {
	case -ENOENT:
	case -ENODEV:
		return host_fail(error, -ENOENT, NODE ": not there: the kernel module is not loaded (modprobe hwt)");
	case -EACCES:
	case -EPERM:
		return host_fail(error, -EACCES, NODE ": no permission: it is for root and the group that owns it");
	case -ENXIO:
		return host_fail(error, err, NODE ": no trace unit: load the module of one (modprobe hwt_pt, or hwt_vtu in a virtual machine)");
	default:
		return host_fail(error, err, NODE ": %s", strerror(-err));
	}
}

/* 0: some backend has a unit; -ENXIO: none; -errno. */
static int look_for_unit(int fd)
{
	struct hwt_query q;
	uint32_t i;

	for (i = 0;; i++) {
		q = (struct hwt_query){ .index = i };
		if (ioctl(fd, HWT_IOC_QUERY, &q) == 0)
			return 0;
		if (errno == ENOENT)
			return -ENXIO;
		if (errno != ENXIO)
			return -errno;
	}
}

int kernel_open(const struct hwt_host_options *options, void **out, char **error)
{
	struct kernel_host *h;
	int fd, err;

	fd = open(NODE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return explain(-errno, error);
	err = look_for_unit(fd);
	close(fd);
	if (err)
		return explain(err, error);
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	pthread_mutex_init(&h->lock, NULL);
	*out = h;
	return 0;
}

void kernel_close(void *host)
{
	struct kernel_host *h = host;

	ktargets_free(h);
	pthread_mutex_destroy(&h->lock);
	free(h);
}
