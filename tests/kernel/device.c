// SPDX-License-Identifier: BSD-2-Clause
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

void device_name(const struct device *d, int n, char *name, size_t size)
{
	snprintf(name, size, "/dev/hwt_%d_%d", d->ident, n);
}

/* ALLOC, and node n of what it made. */
static int alloc(struct device *d, struct hwt_alloc *al, int n)
{
	char name[64];
	int rc;

	al->backend_name = "pt";
	al->ident = &d->ident;
	al->kqueue_fd = -1;
	d->node = -1;
	d->fd = open("/dev/hwt", O_RDWR | O_CLOEXEC);
	if (d->fd < 0)
		return -errno;
	rc = call(d->fd, HWT_IOC_ALLOC, al);
	if (rc) {
		device_close(d);
		return rc;
	}
	device_name(d, n, name, sizeof(name));
	d->node = open(name, O_RDWR | O_CLOEXEC);
	return d->node < 0 ? -errno : 0;
}

int device_alloc(struct device *d, pid_t pid, size_t bufsize)
{
	struct hwt_alloc al = {.bufsize = bufsize, .mode = HWT_MODE_THREAD, .pid = pid};

	d->pid = pid;
	return alloc(d, &al, pid);
}

int device_alloc_cpus(struct device *d, size_t bufsize)
{
	cpu_set_t set;
	struct hwt_alloc al = {
		.bufsize = bufsize, .mode = HWT_MODE_CPU, .cpu_map = &set,
		.cpusetsize = sizeof(set),
	};

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	CPU_SET(1, &set);
	d->pid = 0;
	return alloc(d, &al, 0);
}

static int configure(struct device *d, uint64_t bits)
{
	struct pt_cpu_config config = {.rtit_ctl = bits | PT_CTL_BRANCHEN | PT_CTL_TSCEN};
	struct hwt_set_config set = {
		.config = &config, .config_size = sizeof(config),
		.config_version = PT_CONFIG_VERSION,
	};

	return call(d->node, HWT_IOC_SET_CONFIG, &set);
}

int device_configure(struct device *d)
{
	return configure(d, PT_CTL_USER);
}

int device_configure_kernel(struct device *d)
{
	return configure(d, PT_CTL_OS);
}

int device_start(struct device *d)
{
	struct hwt_start start = {0};

	return call(d->node, HWT_IOC_START, &start);
}

int device_stop(struct device *d)
{
	struct hwt_stop stop = {0};

	return call(d->node, HWT_IOC_STOP, &stop);
}

void device_close(struct device *d)
{
	if (d->node >= 0)
		close(d->node);
	close(d->fd);
}

static int become(const struct child *how)
{
	gid_t group = (gid_t)how->group;

	if (how->uid < 0 && how->group < 0)
		return 0;
	if (setgroups(how->group >= 0, &group))
		return -1;
	if (how->gid >= 0 && setresgid(how->gid, how->gid, how->gid))
		return -1;
	return how->uid >= 0 ? setresuid(how->uid, how->uid, how->uid) : 0;
}

/* The child, which says when it is what it should be. */
static void child_main(const struct child *how, int ready)
{
	volatile unsigned long n = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (become(how))
		_exit(1);
	/* A change of uid makes a process undumpable, as set-uid programs are. */
	prctl(PR_SET_DUMPABLE, how->dumpable);
	if (write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
	while (how->spins)
		n++;
	for (;;)
		pause();
}

pid_t child_start(const struct child *how)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		close(ready[0]);
		child_main(how, ready[1]);
	}
	close(ready[1]);
	if (pid > 0 && read(ready[0], &c, 1) != 1) {
		child_end(pid);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int as_user(int uid, int (*fn)(void))
{
	struct child how = {.uid = uid, .gid = uid, .group = -1};
	pid_t pid = fork();
	int status;

	if (!pid) {
		/* A change of uid clears it: after that. */
		if (become(&how) || prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(99);
		status = fn();
		fflush(stdout);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
