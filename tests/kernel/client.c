/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define BUFSIZE	(64 * 4096)
#define PATIENCE 60000	/* ms: what does not happen by then will not */

void fail(const char *file, int line, const char *what, long value)
{
	fprintf(stderr, "%s:%d: %s fails (%ld, %#lx)\n", file, line, what, value, value);
	exit(1);
}

int request(int fd, unsigned long number, void *arg)
{
	return ioctl(fd, number, arg) < 0 ? -errno : 0;
}

static void open_node(struct client *c, int d)
{
	char name[64];

	snprintf(name, sizeof(name), "/dev/hwt_%d_%d", c->ident, d);
	c->node = open(name, O_RDWR | O_CLOEXEC);
	CHECK(c->node >= 0);
}

static void alloc(struct client *c, struct hwt_alloc *al)
{
	al->bufsize = BUFSIZE;
	al->backend_name = "pt";
	al->ident = &c->ident;
	al->kqueue_fd = -1;
	c->dev = open("/dev/hwt", O_RDWR | O_CLOEXEC);
	CHECK(c->dev >= 0);
	CHECK_EQ(request(c->dev, HWT_IOC_ALLOC, al), 0);
}

void client_open(struct client *c, int pid)
{
	struct hwt_alloc al = {.mode = HWT_MODE_THREAD, .pid = pid};

	memset(c, 0, sizeof(*c));
	c->pid = pid;
	alloc(c, &al);
	open_node(c, pid);
}

void client_open_cpus(struct client *c, unsigned long cpus)
{
	cpu_set_t set;
	struct hwt_alloc al = {.mode = HWT_MODE_CPU, .cpu_map = (void *)&set,
			       .cpusetsize = sizeof(set)};
	int i;

	memset(c, 0, sizeof(*c));
	CPU_ZERO(&set);
	for (i = 0; i < 64; i++)
		if (cpus >> i & 1)
			CPU_SET(i, &set);
	alloc(c, &al);
	open_node(c, __builtin_ctzl(cpus));
}

void client_close(struct client *c)
{
	close(c->node);
	close(c->dev);
}

void client_config(struct client *c, uint32_t pause, uint64_t from, uint64_t to)
{
	struct pt_cpu_config pt = {
		.rtit_ctl = PT_CTL_BRANCHEN | PT_CTL_TSCEN |
			    (c->pid ? PT_CTL_USER : PT_CTL_OS),
		.nranges = from ? 1 : 0,
		.ip_ranges = {{from, to}},
	};
	struct hwt_set_config2 set = {
		.pause = pause,
		.config = (uintptr_t)&pt,
		.config_size = sizeof(pt),
		.config_version = PT_CONFIG_VERSION,
	};

	CHECK_EQ(request(c->node, HWT_IOC_SET_CONFIG2, &set), 0);
}

void client_start(struct client *c)
{
	struct hwt_start start = {0};

	CHECK_EQ(request(c->node, HWT_IOC_START, &start), 0);
}

const struct hwt_rec *client_next(struct client *c, bool wait)
{
	const struct hwt_rec *rec = (const void *)c->record;
	struct hwt_record_get2 get = {.buf = (uintptr_t)c->record};
	int rc;

	do {
		/* One at a time: the refusal says how large it is. */
		get.size = 0;
		get.flags = wait ? HWT_GET_WAIT : 0;
		rc = request(c->node, HWT_IOC_RECORD_GET2, &get);
		if (rc == -ESRCH || !rc)
			return NULL;
		CHECK_EQ(rc, -EINVAL);
		get.size = get.used;
		CHECK(get.size <= sizeof(c->record));
		CHECK_EQ(request(c->node, HWT_IOC_RECORD_GET2, &get), 0);
	} while (rec->type == HWT_REC_BUFFER);
	return rec;
}

const struct hwt_rec *client_until(struct client *c, int type)
{
	const struct hwt_rec *rec;

	do {
		rec = client_next(c, true);
		CHECK(rec);
	} while (rec->type != type);
	return rec;
}

void client_wake(struct client *c, int tid)
{
	struct hwt_wakeup_tid wake = {.tid = tid};

	CHECK_EQ(request(c->node, HWT_IOC_WAKEUP_TID, &wake), 0);
}

void child_start(struct child *child, int (*fn)(void *arg), void *arg)
{
	int gate[2];
	char go;

	CHECK_EQ(pipe2(gate, O_CLOEXEC), 0);
	fflush(NULL);
	child->pid = fork();
	CHECK(child->pid >= 0);
	if (!child->pid) {
		close(gate[1]);
		if (read(gate[0], &go, 1) != 1)
			_exit(99);
		_exit(fn(arg));
	}
	close(gate[0]);
	child->gate = gate[1];
}

void child_let_go(struct child *child)
{
	CHECK_EQ(write(child->gate, "", 1), 1);
	close(child->gate);
}

int child_wait(struct child *child)
{
	int status;

	CHECK_EQ(waitpid(child->pid, &status, 0), child->pid);
	return status;
}

char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t n = 0, used = 0;

	if (!f)
		return NULL;
	do {
		text = realloc(text, n = used + 65536);
		used += fread(text + used, 1, n - used - 1, f);
	} while (used == n - 1);
	text[used] = 0;
	fclose(f);
	return text;
}

char thread_state(pid_t tid)
{
	char path[64], *text, *end, state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	text = read_file(path);
	end = text ? strrchr(text, ')') : NULL;
	if (end && end[1])
		state = end[2];
	free(text);
	return state;
}

void wait_until_paused(pid_t tid)
{
	int i;

	for (i = 0; i < PATIENCE && thread_state(tid) != 'D'; i++)
		usleep(1000);
	CHECK_EQ(thread_state(tid), 'D');
}

int run_case(const struct test_case *cases, size_t n, int argc, char **argv)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (argc != 2 || strcmp(argv[1], cases[i].name))
			continue;
		cases[i].fn();
		printf("%s: ok\n", cases[i].name);
		return 0;
	}
	fprintf(stderr, "usage: %s CASE\n", argv[0]);
	return 2;
}
