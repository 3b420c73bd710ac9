/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hwt(4)'s contract as a table: every request in every state of a context, with
 * good and bad arguments, and the one errno for each.  Knows no host: the fake
 * one, the embedded one and a kernel's answer the same.
 */
#ifndef TESTS_CORE_IOCTL_TABLE_H
#define TESTS_CORE_IOCTL_TABLE_H

#include <hwt/hwt_ext.h>

struct ioctl_host {
	void		*arg;		/* first argument of what follows */
	const char	*backend;
	size_t		page;		/* bytes */

	/* Descriptor of "/dev/..."; 0 or -errno. */
	int (*open)(void *arg, const char *name, void **dev);
	/* 0 or -errno. */
	int (*ioctl)(void *arg, void *dev, unsigned long request, void *data);
	void (*close)(void *arg, void *dev);
	/* A target of one thread that stands before its first instruction. */
	int (*spawn)(void *arg, int *pid);
	/* Kills it; when this returns, the host knows that it is dead. */
	int (*kill)(void *arg, int pid);

	const void	*config;	/* that the backend takes */
	size_t		config_size;
	int		config_version;
	const void	*refused;	/* one that it answers with EOPNOTSUPP, or NULL */
	/* Fills SVC_BUF's structure; its size. */
	size_t (*service)(void *data, int buf_id, uint64_t tail);
	int		service_version;
};

/*
 * How many lines went wrong, each of which is printed; one more if there were too few
 * of them.
 */
int ioctl_table_run(const struct ioctl_host *host);

#endif
