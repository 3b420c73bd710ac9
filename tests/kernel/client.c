/* SPDX-License-Identifier: BSD-2-Clause */
#include "client.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int request(int fd, unsigned long number, void *arg)
{
	return ioctl(fd, number, arg) < 0 ? -errno : 0;
}

void client_node_name(const struct client *c, int d, char *name, size_t size)
{
	snprintf(name, size, "/dev/hwt_%d_%d", c->ident, d);
}

int client_node(const struct client *c, int d)
{
	char name[64];
	int fd;

	client_node_name(c, d, name, sizeof(name));
	fd = open(name, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* ALLOC, and node d of what it made. */
static int alloc(struct client *c, struct hwt_alloc *al, int d)
{
	int rc;

	al->backend_name = technology.backend;
	al->ident = &c->ident;
	al->kqueue_fd = -1;
	c->node = -1;
	c->dev = open("/dev/hwt", O_RDWR | O_CLOEXEC);
	if (c->dev < 0)
		return -errno;
	rc = request(c->dev, HWT_IOC_ALLOC, al);
	if (!rc) {
		c->node = client_node(c, d);
		rc = c->node < 0 ? c->node : 0;
	}
	if (rc)
		client_close(c);
	return rc;
}

int client_alloc(struct client *c, pid_t pid, size_t bufsize)
{
	struct hwt_alloc al = {.bufsize = bufsize, .mode = HWT_MODE_THREAD, .pid = pid};

	c->pid = pid;
	return alloc(c, &al, pid);
}

int client_alloc_cpus(struct client *c, unsigned long cpus, size_t bufsize)
{
	cpu_set_t set;
	struct hwt_alloc al = {.bufsize = bufsize, .mode = HWT_MODE_CPU,
			       .cpu_map = &set, .cpusetsize = sizeof(set)};
	int i;

	CPU_ZERO(&set);
	for (i = 0; i < 64; i++)
		if (cpus >> i & 1)
			CPU_SET(i, &set);
	c->pid = 0;
	return alloc(c, &al, __builtin_ctzl(cpus));
}

void client_close(struct client *c)
{
	if (c->node >= 0)
		close(c->node);
	close(c->dev);
}

int client_config(struct client *c, uint32_t pause, uint64_t from, uint64_t to)
{
	union technology_config config;
	struct hwt_set_config2 set = {
		.pause = pause,
		.config = (uintptr_t)&config,
		.config_size = technology.config_size,
		.config_version = technology.config_version,
	};

	technology.configure(&config, !c->pid, from, to);
	return request(c->node, HWT_IOC_SET_CONFIG2, &set);
}

int client_start(struct client *c)
{
	struct hwt_start start = {0};

	return request(c->node, HWT_IOC_START, &start);
}

int client_stop(struct client *c)
{
	struct hwt_stop stop = {0};

	return request(c->node, HWT_IOC_STOP, &stop);
}

void client_trace(struct client *c, pid_t pid, size_t bufsize, uint32_t pause)
{
	CHECK_EQ(client_alloc(c, pid, bufsize), 0);
	CHECK_EQ(client_config(c, pause, 0, 0), 0);
	CHECK_EQ(client_start(c), 0);
}

uint64_t client_position(const struct client *c, int d)
{
	uint64_t data = 0;
	struct hwt_bufptr_get get = {.data = &data};
	int fd = client_node(c, d);

	CHECK(fd >= 0);
	CHECK_EQ(request(fd, HWT_IOC_BUFPTR_GET, &get), 0);
	close(fd);
	return data;
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
	} while (rec->type == HWT_REC_BUFFER || rec->type == HWT_REC_SOURCE);
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

void client_until_end(struct client *c, int status)
{
	const struct hwt_rec *rec = client_until(c, HWT_REC_EXIT);

	CHECK_EQ(((const struct hwt_rec_exit *)(rec + 1))->status, status);
	CHECK_EQ(child_wait(c->pid), status);
}

void client_wake(struct client *c, int tid)
{
	struct hwt_wakeup_tid wake = {.tid = tid};

	CHECK_EQ(request(c->node, HWT_IOC_WAKEUP_TID, &wake), 0);
}
