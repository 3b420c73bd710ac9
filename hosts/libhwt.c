// SPDX-License-Identifier: BSD-2-Clause
/* libhwt's devices: a table of hosts, and the calls handed to the one chosen. */
#include <hwt/libhwt.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/embedded.h"
#include "kernel/kernel.h"
#include "search.h"

/* What a host is able to do; each method has the contract of its libhwt call. */
struct host_class {
	const char *kind;
	int (*open)(const struct hwt_host_options *o, void **host, char **error);
	void (*close)(void *host);
	int (*spawn)(void *host, const char *path, char *const argv[], pid_t *pid,
		     char **error);
	int (*attach)(void *host, pid_t pid);	/* NULL: not possible */
	bool late_exec;
	int (*run)(void *host, pid_t pid);
	int (*wait)(void *host, pid_t pid, int timeout_ms, int *status);
	int (*fd)(void *host, pid_t pid);
	int (*dev_open)(void *host, const char *name, void **dev);
	int (*dev_ioctl)(void *dev, unsigned long request, void *arg);
	int (*dev_mmap)(void *dev, size_t length, off_t offset, void **out);
	int (*dev_munmap)(void *dev, void *addr, size_t length);
	int (*dev_poll)(void *dev, int timeout_ms);
	void (*dev_close)(void *dev);
};

/* The best first. */
static const struct host_class hosts[] = {
	{
		.kind = "kernel",
		.open = kernel_open,
		.close = kernel_close,
		.spawn = kernel_spawn,
		.attach = kernel_attach,
		.late_exec = true,
		.run = kernel_run,
		.wait = kernel_wait,
		.fd = kernel_fd,
		.dev_open = kernel_dev_open,
		.dev_ioctl = kernel_dev_ioctl,
		.dev_mmap = kernel_dev_mmap,
		.dev_munmap = kernel_dev_munmap,
		.dev_poll = kernel_dev_poll,
		.dev_close = kernel_dev_close,
	},
	{
		.kind = "embedded",
		.open = embedded_open,
		.close = embedded_close,
		.spawn = embedded_spawn,
		.run = embedded_run,
		.wait = embedded_wait,
		.fd = embedded_fd,
		.dev_open = embedded_dev_open,
		.dev_ioctl = embedded_dev_ioctl,
		.dev_mmap = embedded_dev_mmap,
		.dev_munmap = embedded_dev_munmap,
		.dev_poll = embedded_dev_poll,
		.dev_close = embedded_dev_close,
	},
};

#define NHOSTS	(sizeof(hosts) / sizeof(hosts[0]))

struct hwt_host {
	const struct host_class	*c;
	void			*priv;
};

struct hwt_dev {
	const struct host_class	*c;
	void			*priv;
};

static int open_class(const struct host_class *c, const struct hwt_host_options *options,
		      struct hwt_host *h, char **error)
{
	int err;

	*error = NULL;
	err = c->open(options, &h->priv, error);
	if (!err)
		h->c = c;
	return err;
}

/*
 * Of the hosts that were not asked for by name the last one's trouble is told: that
 * it is possible everywhere is what the embedded host is for.
 */
int hwt_host_open(const struct hwt_host_options *options, struct hwt_host **out, char **error)
{
	struct hwt_host *h = calloc(1, sizeof(*h));
	int err = -EINVAL;
	size_t i;

	*error = NULL;
	if (!h)
		return -ENOMEM;
	for (i = 0; i < NHOSTS && !h->c; i++) {
		if (options->kind && strcmp(options->kind, hosts[i].kind))
			continue;
		free(*error);
		err = open_class(&hosts[i], options, h, error);
	}
	if (h->c) {
		*out = h;
		return 0;
	}
	if (err == -EINVAL && !*error)
		host_fail(error, err, "%s: no such host; there are: kernel, embedded",
			  options->kind);
	free(h);
	return err;
}

void hwt_host_close(struct hwt_host *host)
{
	host->c->close(host->priv);
	free(host);
}

const char *hwt_host_kind(const struct hwt_host *host)
{
	return host->c->kind;
}

int hwt_target_spawn(struct hwt_host *host, const char *path, char *const argv[], pid_t *pid,
		     char **error)
{
	return host->c->spawn(host->priv, path, argv, pid, error);
}

int hwt_target_attach(struct hwt_host *host, pid_t pid)
{
	return host->c->attach ? host->c->attach(host->priv, pid) : -EOPNOTSUPP;
}

bool hwt_target_execs_late(const struct hwt_host *host)
{
	return host->c->late_exec;
}

int hwt_target_run(struct hwt_host *host, pid_t pid)
{
	return host->c->run(host->priv, pid);
}

int hwt_target_wait(struct hwt_host *host, pid_t pid, int timeout_ms, int *status)
{
	return host->c->wait(host->priv, pid, timeout_ms, status);
}

int hwt_target_fd(struct hwt_host *host, pid_t pid)
{
	return host->c->fd(host->priv, pid);
}

int hwt_dev_open(struct hwt_host *host, const char *name, struct hwt_dev **out)
{
	struct hwt_dev *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->c = host->c;
	err = d->c->dev_open(host->priv, name, &d->priv);
	if (err) {
		free(d);
		return err;
	}
	*out = d;
	return 0;
}

int hwt_dev_ioctl(struct hwt_dev *dev, unsigned long request, void *arg)
{
	return dev->c->dev_ioctl(dev->priv, request, arg);
}

int hwt_dev_mmap(struct hwt_dev *dev, size_t length, off_t offset, void **out)
{
	return dev->c->dev_mmap(dev->priv, length, offset, out);
}

int hwt_dev_munmap(struct hwt_dev *dev, void *addr, size_t length)
{
	return dev->c->dev_munmap(dev->priv, addr, length);
}

int hwt_dev_poll(struct hwt_dev *dev, int timeout_ms)
{
	return dev->c->dev_poll(dev->priv, timeout_ms);
}

void hwt_dev_close(struct hwt_dev *dev)
{
	dev->c->dev_close(dev->priv);
	free(dev);
}
