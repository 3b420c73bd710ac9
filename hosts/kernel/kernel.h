/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel host: hwt(4)'s devices as the module hwt.ko makes them, and targets
 * that are processes of this machine.
 *
 *   host.c     is there a unit, and why not
 *   targets.c  starting a program, taking one that runs, waiting for its end
 *   devices.c  nodes: open, ioctl, mmap, poll
 */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include <pthread.h>
#include <hwt/libhwt.h>

struct ktarget {
	struct ktarget	*next;
	pid_t		pid;
	int		pidfd;
	bool		child;		/* ours: waitid gives its status */
	bool		ended;
	int		status;		/* as wait(2) gives it; -1: not ours to know */
	int		go_fd;		/* a byte lets it execute its program; -1: did */
	int		exec_fd;	/* brings execve's errno, or ends */
	int		exec_error;	/* -errno of that, once it ended */
};

struct kernel_host {
	pthread_mutex_t	lock;		/* the list */
	struct ktarget	*targets;
};

/* The host's methods (hosts/libhwt.c). */
int kernel_open(const struct hwt_host_options *options, void **out, char **error);
void kernel_close(void *host);
int kernel_spawn(void *host, const char *path, char *const argv[], pid_t *pid,
		 char **error);
int kernel_attach(void *host, pid_t pid);
int kernel_run(void *host, pid_t pid);
int kernel_wait(void *host, pid_t pid, int timeout_ms, int *status);
int kernel_fd(void *host, pid_t pid);
int kernel_dev_open(void *host, const char *name, void **dev);
int kernel_dev_ioctl(void *dev, unsigned long request, void *arg);
int kernel_dev_mmap(void *dev, size_t length, off_t offset, void **out);
int kernel_dev_munmap(void *dev, void *addr, size_t length);
int kernel_dev_poll(void *dev, int timeout_ms);
void kernel_dev_close(void *dev);

/* Frees all; those that never ran are ended. */
void ktargets_free(struct kernel_host *h);

#endif
