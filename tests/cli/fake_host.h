/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libhwt for tests of the recorder: devices in this process, and a target that
 * is a script run by a thread.  As hwt(4): a unit in full mode waits for room,
 * a paused thread waits until it is woken, ring mode overwrites.
 */
#ifndef TESTS_CLI_FAKE_HOST_H
#define TESTS_CLI_FAKE_HOST_H

#include <signal.h>
#include <hwt/libhwt.h>

enum fake_op {
	FAKE_END,		/* of the script; the target has ended */
	FAKE_THREAD,		/* tid begins: THREAD_CREATE */
	FAKE_TRACE,		/* tid's unit emits n bytes, if it is started */
	FAKE_THREAD_EXIT,	/* tid ends: THREAD_EXIT */
	FAKE_MMAP,		/* path at addr, len, pgoff n; pauses if configured */
	FAKE_MUNMAP,
	FAKE_EXEC,		/* pauses if configured */
	FAKE_REVOKE,		/* EXEC of path, privileged beyond the owner, and EXIT */
	FAKE_FORK,		/* child pid n; pauses the child if configured */
	FAKE_LOST,		/* n records */
	FAKE_GAP,		/* BUFFER record that counts n stops of tid */
	FAKE_EXIT,		/* process pid's EXIT record */
	FAKE_DIE,		/* the node of tid dies with it: BUFPTR_GET fails */
	FAKE_KERNEL,		/* KERNEL record of path at addr, len */
	FAKE_STOP,		/* the user's signal: *stop is set */
};

struct fake_step {
	enum fake_op	op;
	uint32_t	pid, tid;	/* 0: FAKE_PID */
	uint64_t	n;
	uint64_t	addr, len;
	const char	*path;
};

/* Beyond what Linux gives to processes: a kill(2) of it must hit nobody. */
#define FAKE_PID	0x7fff0000u
/* The kernel's code: the byte at an address. */
static inline uint8_t fake_code(uint64_t addr)
{
	return (uint8_t)(addr * 31u + (addr >> 12));
}
/* The byte at a position of a thread's stream. */
static inline uint8_t fake_byte(uint32_t tid, uint64_t position)
{
	return (uint8_t)((position * 2654435761u + tid * 97u) >> 7);
}

struct fake_options {
	const struct fake_step *script;
	int	status;			/* target's, as wait(2) gives it */
	int	spawn_error;
	unsigned long fail_ioctl;	/* this request ... */
	int	fail_with;		/* ... fails with this */
	bool	free_threads;		/* new ones run before their buffer is known */
	uint32_t alloc_fails_for;	/* ALLOC of this pid gives ESRCH */
	bool	late_exec;		/* hwt_target_execs_late; scripts begin with FAKE_EXEC */
	int	exec_error;		/* what hwt_target_wait says of its execve */
	int	attach_error;		/* attached: the script runs from START on */
	bool	cpu_mode;		/* the script's pids are all 0, its tids CPUs; KERNEL
					   steps at its beginning are done by ALLOC */
	volatile sig_atomic_t *stop;	/* what FAKE_STOP sets */
	uint64_t unreadable;		/* kernel code from here on cannot be read */
	const struct hwt_query *units;	/* by name, ncaps and flags, ends with ""; NULL: pt */
	const uint32_t *existing;	/* threads that an attached process has, ends with 0 */
};
struct hwt_host *fake_host_new(const struct fake_options *options);
void fake_host_free(struct hwt_host *host);

/* What happened. */
struct fake_facts {
	int	starts, stops, configs;
	int	open_devs, mappings;	/* now */
	struct pt_cpu_config last_config;	/* pt */
	int	last_version;
	size_t	last_size;
	char	backend[32];		/* that ALLOC was for */
	uint32_t last_pause;
	bool	ran;			/* hwt_target_run was called */
	bool	started_at_run;		/* START had taken effect by then */
	uint64_t untraced;		/* bytes emitted while not started */
};
struct fake_facts fake_facts(struct hwt_host *host);

#endif
