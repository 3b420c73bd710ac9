/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of the kernel's nodes, for programs that run in the guest: no library
 * of ours in between.  What returns an int returns 0 or -errno; all else must
 * succeed, or ends the program (case.h).
 */
#ifndef TESTS_KERNEL_CLIENT_H
#define TESTS_KERNEL_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <hwt/hwt_ext.h>

#include "case.h"
#include "child.h"
#include "technology.h"

#define PAGE	4096u

struct client {
	int		dev, node;	/* node: of the first thread, or CPU */
	int		pid, ident;	/* pid 0: CPU mode */
	uint64_t	record[4096];	/* room for the largest */
};

/* ioctl(2) that gives 0 or -errno. */
int request(int fd, unsigned long number, void *arg);

/* ALLOC for the process, and its node opened; not configured. */
int client_alloc(struct client *c, pid_t pid, size_t bufsize);
/* The same for the CPUs of a mask; opened at the lowest. */
int client_alloc_cpus(struct client *c, unsigned long cpus, size_t bufsize);
/* User code (kernel code in CPU mode), pause conditions, at most one range. */
int client_config(struct client *c, uint32_t pause, uint64_t from, uint64_t to);
int client_start(struct client *c);
int client_stop(struct client *c);
void client_close(struct client *c);

/* ALLOC, configuration, START, all of which must succeed. */
void client_trace(struct client *c, pid_t pid, size_t bufsize, uint32_t pause);

/* The name of thread's or CPU's d node; the node itself; how far its unit has come. */
void client_node_name(const struct client *c, int d, char *name, size_t size);
int client_node(const struct client *c, int d);
uint64_t client_position(const struct client *c, int d);

/* The next record but BUFFER and SOURCE; NULL: there is none, and with `wait` none will be. */
const struct hwt_rec *client_next(struct client *c, bool wait);
/* The next of this type; all others before it are dropped. */
const struct hwt_rec *client_until(struct client *c, int type);
/* Drops all up to the target's end, whose status this must be; reaps it. */
void client_until_end(struct client *c, int status);
void client_wake(struct client *c, int tid);

#endif
