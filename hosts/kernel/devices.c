// SPDX-License-Identifier: BSD-2-Clause
/* Real nodes: every call is the system's own. */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

struct kdev {
	int	fd;
};

int kernel_dev_open(void *host, const char *name, void **out)
{
	struct kdev *d = malloc(sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->fd = open(name, O_RDWR | O_CLOEXEC);
	if (d->fd < 0) {
		free(d);
		return -errno;
	}
	*out = d;
	return 0;
}

int kernel_dev_ioctl(void *dev, unsigned long request, void *arg)
{
	struct kdev *d = dev;

	return ioctl(d->fd, request, arg) < 0 ? -errno : 0;
}

int kernel_dev_mmap(void *dev, size_t length, off_t offset, void **out)
{
	struct kdev *d = dev;

	*out = mmap(NULL, length, PROT_READ, MAP_SHARED, d->fd, offset);
	return *out == MAP_FAILED ? -errno : 0;
}

int kernel_dev_munmap(void *dev, void *addr, size_t length)
{
	return munmap(addr, length) ? -errno : 0;
}

int kernel_dev_poll(void *dev, int timeout_ms)
{
	struct kdev *d = dev;
	struct pollfd p = { .fd = d->fd, .events = POLLIN };
	int n = poll(&p, 1, timeout_ms);

	return n < 0 ? -errno : n;
}

void kernel_dev_close(void *dev)
{
	struct kdev *d = dev;

	close(d->fd);
	free(d);
}
