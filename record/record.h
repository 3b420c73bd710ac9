/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder: drives hwt(4)'s ioctls and writes the recording while the
 * target runs.  Knows hosts only through libhwt's devices; decodes nothing.
 *
 * In its order: the target is spawned, held; a context is made, configured and
 * started; the target runs.  Records are written as they come, trace bytes at
 * least ten times a second, so that a file whose writer was killed reads up to
 * there.  With filters, START waits until the first function's addresses are
 * known: before that nothing is traced.  Every process that is followed has a
 * context of its own.  Where a target execs late START waits for its EXEC.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <signal.h>
#include <hwt/coresight.h>
#include <hwt/libhwt.h>

struct record_filter {		/* -i IMAGE -f FUNC */
	const char	*image;		/* file name or path; NULL: the program;
					   CPU mode: "kernel" (NULL) or a module */
	const char	*function;	/* NULL: all of the image's code */
};

/* Questions about ELF files and packets, so that no reader is needed here. */
struct record_images {
	/*
	 * A function's ranges as ELF virtual addresses, `end` inclusive: how
	 * many there are (at most max are filled), 0: no such function, -errno.
	 */
	int (*ranges)(void *ctx, const char *path, const char *function,
		      struct ipf_range *out, int max);
	/* The virtual address that file offset pgoff is loaded at. 0, -errno. */
	int (*vaddr_of)(void *ctx, const char *path, uint64_t pgoff, uint64_t *vaddr);
	/*
	 * CPU mode: a function's run-time ranges, `end` inclusive; module: NULL for
	 * the kernel itself.  As ranges.
	 */
	int (*kernel_ranges)(void *ctx, const char *module, const char *function,
			     struct ipf_range *out, int max);
	/* As struct perfdata_params has it; may be NULL. */
	int (*build_id)(void *ctx, const char *path, uint8_t *out, size_t max);
	void		*ctx;
	size_t (*whole_packets)(const uint8_t *bytes, size_t n);	/* the same */
};

#define RECORD_MAX_PARTS	256	/* ranges of one function (an IFUNC's implementations) */

#define RECORD_DEFAULT_BUFSIZE	(4u << 20)

struct record_options {
	struct hwt_host	*host;
	const char	*backend;	/* "pt", "coresight", "spe"; NULL: the program's machine's */
	const char	*output;	/* perf.data path; NULL: none */
	const char	*raw;		/* hwt(8) -r -w: bare trace, no perf.data */
	uint32_t	raw_thread;	/* whose: a tid, or an index (0: the first) */
	size_t		bufsize;	/* bytes a thread; 0: default */
	size_t		ring;		/* bytes kept a thread at the end; 0: all */
	bool		follow;
	int		ready_fd;	/* a byte once START took effect; -1 none */
	const struct record_filter *filters;
	int		nfilters;
	struct pt_cpu_config config;	/* "pt": without ranges */
	struct arm_spe_config2 spe;	/* "spe" */
	struct coresight_config coresight;	/* "coresight": the same */
	/*
	 * Told which backend it is, before anything is made: NULL, or the option that
	 * this one has no use for.  May be NULL.
	 */
	const char	*(*unfit)(const void *ctx, const struct hwt_query *unit);
	const void	*unfit_ctx;
	struct record_images images;
	const char	*path;		/* program, or NULL: */
	char *const	*argv;
	pid_t		pid;		/* a process that runs; 0: path */
	/*
	 * CPU mode: these CPUs' kernel code instead, while the program runs (path), or
	 * until *stop (no path).
	 */
	const cpu_set_t	*cpus;
	const char *const *cmdline;	/* of hwt itself, for the header */
	/*
	 * Called with the target's pid before it runs, and with 0 when it has
	 * ended and its pid may be another's; may be NULL.
	 */
	void (*spawned)(void *ctx, pid_t pid);
	void		*spawned_ctx;
	/*
	 * Not 0: do not wait for children that outlive the target, nor for the end of
	 * a process that was attached to; may be NULL.
	 */
	const volatile sig_atomic_t *stop;
};

/* Processes whose traces end before they do: they executed what is not traced. */
struct record_strays {
	uint32_t	n;
	uint32_t	pid;		/* the first of these, and the program */
	char		program[HWT_PATH_MAX];
};

struct record_result {
	int		status;		/* target's, as wait(2) gives it; -1: never ran,
					   or attached to */
	uint64_t	bytes;		/* of trace written */
	uint64_t	lost;		/* bytes overwritten or not kept */
	uint64_t	gaps;		/* stops of the unit for want of room */
	uint64_t	lost_records;
	uint32_t	threads, processes;	/* CPU mode: CPUs, and 0 */
	bool		no_symbols;	/* the kernel shows us no addresses */
	uint32_t	untraced;	/* processes that no context could be made for */
	struct record_strays revoked;	/* privileged beyond us */
	struct record_strays native;	/* of a machine that the unit is not for */
	uint64_t	started_ns, ended_ns;	/* CLOCK_MONOTONIC */
	bool		spawn_failed;	/* hwt_target_spawn refused the program */
	uint64_t	images_missed;	/* bit i: filter i's image was never mapped */
	uint64_t	filters_missed;	/* bit i: nor was its function in it */
};

/*
 * 0, or -errno with *error a malloc'd sentence.  What hwt_host and the target's
 * spawn say (-ENOENT, -EACCES, -ENOEXEC; result->status is then -1), and:
 * -EINVAL: options; -EOPNOTSUPP: the unit lacks something (address ranges for
 * filters among them); -E2BIG: a function of too many parts; what writing the file says (-ENOSPC ...).
 * The output is opened once a context was made and configured; if the recording
 * did not begin even so, a file that was not there before is removed.
 * If the target had begun it ran to its end, untraced from the error on, and
 * what was written stays.
 */
int record_run(const struct record_options *options, struct record_result *result,
	       char **error);

#endif
