/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of the kernel's nodes, for programs that run in the guest: no library
 * of ours in between.  Every failure ends the program with a line that says where.
 */
#ifndef TESTS_KERNEL_CLIENT_H
#define TESTS_KERNEL_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <hwt/hwt_ext.h>
#include <hwt/pt.h>

struct client {
	int		dev, node;
	int		pid, ident;
	uint64_t	record[4096];	/* room for the largest */
};

void fail(const char *file, int line, const char *what, long value)
	__attribute__((noreturn));
#define CHECK(condition) \
	((condition) ? (void)0 : fail(__FILE__, __LINE__, #condition, 0))
#define CHECK_EQ(a, b)                                                                   \
	do {                                                                             \
		long check_a_ = (long)(a), check_b_ = (long)(b);                         \
		if (check_a_ != check_b_)                                                \
			fail(__FILE__, __LINE__, #a " == " #b, check_a_);                \
	} while (0)

/* ioctl(2) that gives 0 or -errno. */
int request(int fd, unsigned long number, void *arg);

/* A context for the process, its node opened; not configured. */
void client_open(struct client *c, int pid);
/* The same for the CPUs of a mask, opened at the lowest. */
void client_open_cpus(struct client *c, unsigned long cpus);
void client_close(struct client *c);
/* User code (kernel code in CPU mode), pause conditions, at most one range. */
void client_config(struct client *c, uint32_t pause, uint64_t from, uint64_t to);
void client_start(struct client *c);
/* The next record but BUFFER; NULL: there is none, and with `wait` none will be. */
const struct hwt_rec *client_next(struct client *c, bool wait);
/* The next of this type; all others before it are dropped. */
const struct hwt_rec *client_until(struct client *c, int type);
void client_wake(struct client *c, int tid);

/* A child that runs fn(arg), after client_let_go; its exit status is fn's. */
struct child {
	pid_t	pid;
	int	gate;
};
void child_start(struct child *child, int (*fn)(void *arg), void *arg);
void child_let_go(struct child *child);
/* As wait(2) gives it. */
int child_wait(struct child *child);

/* Sleeps until the thread waits where only a wake-up or SIGKILL ends it. */
void wait_until_paused(pid_t tid);
char thread_state(pid_t tid);
/* Whole file; ends in NUL. */
char *read_file(const char *path);

/* A program of several cases: main(argc, argv) runs the one that argv[1] names. */
struct test_case {
	const char	*name;
	void		(*fn)(void);
};
int run_case(const struct test_case *cases, size_t n, int argc, char **argv);

#endif
