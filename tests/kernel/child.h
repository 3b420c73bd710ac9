/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes to trace, and processes to trace from. */
#ifndef TESTS_KERNEL_CHILD_H
#define TESTS_KERNEL_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whose a process is; -1: the caller's, and no group more. */
struct identity {
	int	uid, gid, group;
	bool	dumpable;
};

/*
 * A child with the identity (NULL: the caller's, and dumpable) that waits for
 * child_let_go, then runs fn(arg) and ends with its result.  It ends with its parent
 * at the latest.
 */
pid_t child_start(const struct identity *who, int (*fn)(void *arg), void *arg);
void child_let_go(pid_t pid);
/* Its status, as wait(2) gives it. */
int child_wait(pid_t pid);
/* Kills and reaps. */
void child_end(pid_t pid);

/* One that only waits; one that runs for ever. */
pid_t child_sleeping(const struct identity *who);
pid_t child_spinning(const struct identity *who);

/* Runs fn in a child under the uid (its gid, no groups); fails where it fails. */
void as_user(int uid, void (*fn)(void));

/* Sleeps until the thread waits where only a wake-up or SIGKILL ends it. */
void wait_until_paused(pid_t tid);
/* Its letter in /proc; 0: it is gone. */
char thread_state(pid_t tid);
/* Whole file, ends in NUL; the caller frees it.  NULL: cannot be opened. */
char *read_file(const char *path);
/* To its end, in one write; must succeed. */
void write_file(const char *path, const char *text);

#endif
