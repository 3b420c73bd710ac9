/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libhwt: the devices of hwt(4) by name, on whichever host there is.
 *
 * The recorder is written once against hwt(4)'s ioctls; a struct hwt_host
 * answers them: the framework inside this process with targets under the
 * emulated trace unit (embedded), or /dev/hwt of a kernel (kernel).
 *
 * Functions return 0 or a positive result, or a negative errno.  They never
 * print or exit.  A host and its devices may be used from several threads.
 */
#ifndef HWT_LIBHWT_H
#define HWT_LIBHWT_H

#include <stdbool.h>
#include <hwt/hwt.h>
#include <hwt/hwt_ext.h>
#include <hwt/pt.h>
#include <hwt/spe.h>

/* What follows is what the shared library exports. */
#pragma GCC visibility push(default)

struct hwt_host;
struct hwt_dev;

struct hwt_host_options {
	const char	*kind;		/* "embedded", "kernel", NULL: the best there is */
	const char	*backend;	/* targets will be traced by it; NULL: their machine's own */
	const char	*qemu;		/* NULL: found on PATH */
	const char	*plugin;	/* NULL: where it was installed or built */
	const char	*log_dir;	/* tests: independent log of executed addresses */
	bool		follow;		/* children are traced too */
	bool		clock_host;	/* host's time instead of counted instructions */
};
/*
 * *error is a malloc'd sentence on failure.  -ENOENT: no qemu-user or no
 * plugin, no /dev/hwt; -EACCES: /dev/hwt is not for this user; -ENXIO: no trace
 * unit; -EINVAL: unknown kind; -ENOMEM.
 *
 * On the embedded host the caller's limit of descriptors (RLIMIT_NOFILE) is at its hard
 * limit until hwt_host_close; targets have it as it was.
 *
 * The best there is: "kernel" where /dev/hwt can be opened and some backend has
 * a unit, else "embedded".
 */
int hwt_host_open(const struct hwt_host_options *options, struct hwt_host **out,
		  char **error);
/* Ends all contexts, lets targets run on untraced. */
void hwt_host_close(struct hwt_host *host);
const char *hwt_host_kind(const struct hwt_host *host);

/*
 * A target, held before its first instruction so that a context can be made
 * for it.  argv[0] is what the program sees; path is the file (looked up on
 * PATH if it has no slash).  environ and descriptors are the caller's.
 * -ENOENT, -EACCES, -ENOEXEC (*error says what the file is), -ELOOP, -errno;
 * -ECHILD: the emulator that would run it could not begin.
 */
int hwt_target_spawn(struct hwt_host *host, const char *path,
		     char *const argv[], pid_t *pid, char **error);
/*
 * True: what a spawned target is until hwt_target_run is the caller's own code, and
 * its EXEC record says when its program began ("kernel").  False: it is held at the
 * first instruction of its program.
 */
bool hwt_target_execs_late(const struct hwt_host *host);
/*
 * A process that runs already becomes a target; it is not stopped, and its exit
 * status is not known (-1).  -ESRCH; -EOPNOTSUPP: this host traces only what it
 * spawned ("embedded").
 */
int hwt_target_attach(struct hwt_host *host, pid_t pid);
/* Lets it go. -ESRCH. */
int hwt_target_run(struct hwt_host *host, pid_t pid);
/*
 * Waits for the target's end.  1: ended, *status as wait(2) gives it; 0: not
 * within timeout_ms (-1: no limit); -EINTR.  Where it execs late, and could not:
 * what execve(2) said (-ENOENT, -ENOEXEC ...); the target has ended then.
 */
int hwt_target_wait(struct hwt_host *host, pid_t pid, int timeout_ms, int *status);
/* A descriptor that polls readable when the target has ended. */
int hwt_target_fd(struct hwt_host *host, pid_t pid);

/* Devices: name is "/dev/hwt" or "/dev/hwt_${ident}_${d}". -ENOENT, -EACCES. */
int hwt_dev_open(struct hwt_host *host, const char *name, struct hwt_dev **out);
int hwt_dev_ioctl(struct hwt_dev *dev, unsigned long request, void *arg);
/* Read-only, shared: the whole buffer or a part of it (offset page-aligned). */
int hwt_dev_mmap(struct hwt_dev *dev, size_t length, off_t offset, void **out);
int hwt_dev_munmap(struct hwt_dev *dev, void *addr, size_t length);
/* 1: a record waits; 0: none within timeout_ms; -EINTR. */
int hwt_dev_poll(struct hwt_dev *dev, int timeout_ms);
void hwt_dev_close(struct hwt_dev *dev);

#pragma GCC visibility pop

#endif
