// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into QEMU by singlestep.py: switches QEMU's own log of executed
 * blocks on, one instruction each.  A file a thread and start of QEMU, in the
 * folder that this library is in: NANOSECONDS.TID.
 *
 * A forked child would go on in its parent's file.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char folder[PATH_MAX];

/* The beginning of a name: those that come later are greater. */
static void now(char *text, size_t size)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	snprintf(text, size, "%010lld%09ld", (long long)ts.tv_sec, ts.tv_nsec);
}

/* Is descriptor `name` of /proc/self/fd a file of the folder? */
static int is_log(const char *name)
{
	char link[64], to[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%.32s", name);
	n = readlink(link, to, sizeof(to) - 1);
	if (n <= 0)
		return 0;
	to[n] = 0;
	return !strncmp(to, folder, strlen(folder)) && to[strlen(folder)] == '/';
}

/* The child's only thread is the one that forked; QEMU's file is written by lines. */
static void in_child(void)
{
	DIR *fds = opendir("/proc/self/fd");
	char path[PATH_MAX + 64], when[32];
	struct dirent *e;
	int fd;

	now(when, sizeof(when));
	snprintf(path, sizeof(path), "%s/%s.%d", folder, when, gettid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	while (fds && fd >= 0 && (e = readdir(fds)))
		if (atoi(e->d_name) != fd && is_log(e->d_name))
			dup3(fd, atoi(e->d_name), O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	if (fds)
		closedir(fds);
}

static char name[PATH_MAX + 64];

__attribute__((constructor)) static void begin(void)
{
	char when[32];
	Dl_info info;

	if (!dladdr(&folder, &info) || !realpath(info.dli_fname, folder))
		return;
	dirname(folder);
	now(when, sizeof(when));
	snprintf(name, sizeof(name), "%s/%s.%%d", folder, when);
	pthread_atfork(NULL, NULL, in_child);
}

/* QEMU takes options from its environment; the program's is left alone. */
__attribute__((visibility("default")))
char *getenv(const char *variable)
{
	static char one[] = "1", items[] = "exec,nochain,tid,in_asm,strace";
	size_t n = strlen(variable);
	char **e;

	if (!strcmp(variable, "QEMU_SINGLESTEP"))
		return one;
	if (!strcmp(variable, "QEMU_LOG"))
		return items;
	if (!strcmp(variable, "QEMU_LOG_FILENAME"))
		return name;
	for (e = environ; e && *e; e++)
		if (!strncmp(*e, variable, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}
