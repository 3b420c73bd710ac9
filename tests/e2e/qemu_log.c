// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into QEMU by singlestep.py: switches QEMU's own log of executed
 * blocks on, one instruction each.  A file a thread and start of QEMU, in the
 * folder that this library is in: NANOSECONDS.TID.
 *
 * QEMU's text is 80 bytes an instruction: of each line only what matters is
 * kept, a 64-bit word, the block's address or one of the marks below.  A file
 * "repeated" holds the addresses of REP instructions.
 *
 * A forked child would go on in its parent's file.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STOPPED = 1, SIGNAL, FAULT, OWN_END };

static char folder[PATH_MAX];
static int repeated = -1;

/* The beginning of a name: those that come later are greater. */
static void now(char *text, size_t size)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	snprintf(text, size, "%010lld%09ld", (long long)ts.tv_sec, ts.tv_nsec);
}

/* Out of the program's way. */
static int open_high(const char *path, int flags)
{
	int fd = open(path, flags | O_WRONLY | O_CREAT | O_CLOEXEC, 0600), high;

	if (fd < 0)
		return -1;
	high = fcntl(fd, F_DUPFD_CLOEXEC, 700);
	close(fd);
	return high;
}

/* Is descriptor `name` of /proc/self/fd a log? */
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
	fd = open_high(path, O_EXCL);
	while (fds && fd >= 0 && (e = readdir(fds)))
		if (atoi(e->d_name) != fd && atoi(e->d_name) != repeated &&
		    is_log(e->d_name))
			dup3(fd, atoi(e->d_name), O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	if (fds)
		closedir(fds);
}

/* "123 exit(", "123 exit_group(", "123 execve(": as -d strace writes them. */
static int is_own_end(const char *line)
{
	line += strspn(line, "0123456789");
	return !strncmp(line, " exit(", 6) || !strncmp(line, " exit_group(", 12) ||
	       !strncmp(line, " execve(", 8);
}

/* "--- SIGSEGV {... si_addr=0x1000} ---": signals that are sent have no address. */
static int is_fault(const char *line)
{
	return !strncmp(line, "--- SIG", 7) && strstr(line, "si_addr=");
}

/* "0x401000:  f3 aa    rep stosb ...": as -d in_asm writes them; "rep ret" is none. */
static void note_repeated(const char *line)
{
	uint64_t address = strtoull(line, NULL, 16);
	const char *rep = strstr(line, " rep");

	rep = rep ? strchr(rep + 1, ' ') : NULL;
	if (!rep || !strncmp(rep + 1, "ret", 3) || repeated < 0)
		return;
	if (write(repeated, &address, sizeof(address)) < 0)
		abort();
}

static void keep(int fd, const char *line)
{
	uint64_t word;

	if (!strncmp(line, "Trace ", 6)) {
		const char *at = strchr(line, '/');

		word = at ? strtoull(at + 1, NULL, 16) : 0;
	} else if (!strncmp(line, "Stopped ", 8)) {
		word = STOPPED;
	} else if (!strncmp(line, "--- SIG", 7)) {
		word = is_fault(line) ? FAULT : SIGNAL;
	} else if (line[0] == '0' && line[1] == 'x') {
		note_repeated(line);
		return;
	} else if (is_own_end(line)) {
		word = OWN_END;
	} else {
		return;
	}
	if (write(fd, &word, sizeof(word)) < 0)
		abort();
}

struct log {
	int fd;
	size_t n;
	char line[4096];	/* begun */
};

static ssize_t log_write(void *cookie, const char *text, size_t size)
{
	struct log *l = cookie;
	size_t i;

	for (i = 0; i < size; i++) {
		if (text[i] != '\n') {
			if (l->n < sizeof(l->line) - 1)
				l->line[l->n++] = text[i];
			continue;
		}
		l->line[l->n] = 0;
		l->n = 0;
		keep(l->fd, l->line);
	}
	/* The last line may never have an end; twice does no harm. */
	l->line[l->n] = 0;
	if (is_own_end(l->line) || is_fault(l->line))
		keep(l->fd, l->line);
	return (ssize_t)size;
}

static int log_close(void *cookie)
{
	struct log *l = cookie;

	close(l->fd);
	free(l);
	return 0;
}

/* QEMU opens its logs by this. */
__attribute__((visibility("default")))
FILE *fopen(const char *path, const char *mode)
{
	FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");
	size_t n = strlen(folder);
	struct log *l;

	if (!n || strncmp(path, folder, n) || path[n] != '/')
		return next(path, mode);
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->fd = open_high(path, O_TRUNC);
	return fopencookie(l, "w", (cookie_io_functions_t){ .write = log_write,
							    .close = log_close });
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
	snprintf(name, sizeof(name), "%s/repeated", folder);
	repeated = open_high(name, O_APPEND);
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
