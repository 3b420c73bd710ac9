/* SPDX-License-Identifier: BSD-2-Clause */
/* hwt(4)'s calls on real nodes, and processes to trace. */
#ifndef TESTS_KERNEL_DEVICE_H
#define TESTS_KERNEL_DEVICE_H

#include <sys/types.h>
#include <hwt/hwt_ext.h>
#include <hwt/pt.h>

/* A context as a client holds it. */
struct device {
	int	fd;		/* /dev/hwt */
	int	node;		/* of the first thread or CPU */
	int	ident;
	pid_t	pid;
};

/* 0 or -errno.  ALLOC in thread mode, and the first node opened. */
int device_alloc(struct device *d, pid_t pid, size_t bufsize);
/* The same on CPUs 0 and 1. */
int device_alloc_cpus(struct device *d, size_t bufsize);
/* User or kernel code, branches. */
int device_configure(struct device *d);
int device_configure_kernel(struct device *d);
int device_start(struct device *d);
int device_stop(struct device *d);
void device_close(struct device *d);
/* The node's name of thread or CPU n. */
void device_name(const struct device *d, int n, char *name, size_t size);

/*
 * A child of the caller's that runs `loop` (or nothing) for ever, under uid and
 * gid (-1: the caller's) and with one more group (-1: none).
 */
struct child {
	int	uid, gid, group;
	int	dumpable;
	int	spins;		/* or sleeps */
};
pid_t child_start(const struct child *how);
/* Kills and reaps. */
void child_end(pid_t pid);
/* Runs fn in a child under the uid (its gid, no groups); its result. */
int as_user(int uid, int (*fn)(void));

#endif
