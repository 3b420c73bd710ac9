/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_CORE_FREEBSD_CLIENT_H
#define TESTS_CORE_FREEBSD_CLIENT_H

#include <sys/types.h>
#include <stdint.h>

struct freebsd_client {
	/* In. */
	pid_t		pid;		/* target, held before its first instruction */
	const char	*backend;
	size_t		bufsize;
	void		*config;	/* the backend's structure */
	size_t		config_size;
	int		config_version;
	/* Called once tracing has started: lets the target go. */
	int		(*go)(void *arg);
	void		*arg;

	/* Out. */
	int		ident;
	int		mmaps, execs, threads, buffers, wakeups;
	uint64_t	bytes;		/* the first thread's position at the end */
	char		program[256];	/* path of the last EXECUTABLE record */
	const char	*failed;	/* what went wrong, with errno; or NULL */
};

/* 0, or -1 with `failed` set.  Returns when the target is dead. */
int freebsd_client_run(struct freebsd_client *c);

#endif
