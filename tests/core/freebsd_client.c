/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of hwt(4), written to FreeBSD's header names and interface and to
 * nothing of ours: it has to compile unchanged and to run on every host.
 *
 * It traces one process: stops it at each executable mapping as a tracer does
 * that sets address filters, and goes on until the process is gone.
 */
#include <sys/param.h>
#include <sys/cpuset.h>
#include <sys/hwt.h>
#include <sys/hwt_record.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "freebsd_client.h"
#ifdef FREEBSD_CLIENT_SHIMS
/* open, ioctl, mmap, munmap and close as function-like macros of a test. */
#include FREEBSD_CLIENT_SHIMS
#endif

#define NRECORDS 16

/* Too large for a stack: each has a path in it. */
static struct hwt_record_user_entry records[NRECORDS];

static int
fail(struct freebsd_client *c, const char *what)
{

	c->failed = what;
	return (-1);
}

static int
context_alloc(struct freebsd_client *c)
{
	struct hwt_alloc al;
	int fd, error;

	fd = open("/dev/hwt", O_RDWR);
	if (fd < 0)
		return (fail(c, "open /dev/hwt"));
	/* Fields that thread mode has no use for hold garbage in real clients. */
	memset(&al, 0xa5, sizeof(al));
	al.mode = HWT_MODE_THREAD;
	al.pid = c->pid;
	al.bufsize = c->bufsize;
	al.backend_name = c->backend;
	al.ident = &c->ident;
	al.kqueue_fd = -1;
	error = ioctl(fd, HWT_IOC_ALLOC, &al);
	close(fd);
	return (error ? fail(c, "ALLOC") : 0);
}

static int
set_config(struct freebsd_client *c, int fd, int pause)
{
	struct hwt_set_config sconf;

	memset(&sconf, 0xa5, sizeof(sconf));
	sconf.pause_on_mmap = pause;
	sconf.config = c->config;
	sconf.config_size = c->config_size;
	sconf.config_version = c->config_version;
	return (ioctl(fd, HWT_IOC_SET_CONFIG, &sconf) ? fail(c, "SET_CONFIG") : 0);
}

/* A mapping was announced, and its thread waits: set filters here, then wake. */
static int
mapped(struct freebsd_client *c, int fd)
{
	struct hwt_wakeup w;

	if (set_config(c, fd, 1))
		return (-1);
	memset(&w, 0xa5, sizeof(w));
	c->wakeups++;
	return (ioctl(fd, HWT_IOC_WAKEUP, &w) ? fail(c, "WAKEUP") : 0);
}

static int
thread_created(struct freebsd_client *c, int thread_id)
{
	char name[MAXPATHLEN];
	int fd;

	c->threads++;
	snprintf(name, sizeof(name), "/dev/hwt_%d_%d", c->ident, thread_id);
	fd = open(name, O_RDONLY);
	if (fd < 0)
		return (fail(c, "open a thread's node"));
	close(fd);
	return (0);
}

static int
record(struct freebsd_client *c, int fd, const struct hwt_record_user_entry *e)
{

	switch (e->record_type) {
	case HWT_RECORD_EXECUTABLE:
		c->execs++;
		snprintf(c->program, sizeof(c->program), "%.255s", e->fullpath);
		return (mapped(c, fd));
	case HWT_RECORD_MMAP:
		c->mmaps++;
		return (mapped(c, fd));
	case HWT_RECORD_THREAD_CREATE:
		return (thread_created(c, e->thread_id));
	case HWT_RECORD_BUFFER:
		c->buffers++;
		return (0);
	default:
		return (0);
	}
}

/* 1: go on; 0: the target is gone; -1. */
static int
fetch(struct freebsd_client *c, int fd)
{
	struct hwt_record_get get;
	int n, i;

	memset(&get, 0xa5, sizeof(get));
	n = NRECORDS;
	get.records = records;
	get.nentries = &n;
	get.wait = 1;
	if (ioctl(fd, HWT_IOC_RECORD_GET, &get)) {
		if (errno == EINTR)
			return (1);
		return (errno == ESRCH ? 0 : fail(c, "RECORD_GET"));
	}
	for (i = 0; i < n; i++)
		if (record(c, fd, &records[i]))
			return (-1);
	return (1);
}

static int
position(struct freebsd_client *c, int fd)
{
	struct hwt_bufptr_get ptr;
	vm_offset_t offset;
	uint64_t data;
	int ident;

	ptr.ident = &ident;
	ptr.offset = &offset;
	ptr.data = &data;
	if (ioctl(fd, HWT_IOC_BUFPTR_GET, &ptr))
		return (fail(c, "BUFPTR_GET"));
	if (offset >= c->bufsize)
		return (fail(c, "offset beyond the buffer"));
	c->bytes = data;
	return (0);
}

static int
trace(struct freebsd_client *c, int fd)
{
	struct hwt_start s;
	struct hwt_stop stop;
	int more;

	if (set_config(c, fd, 1))
		return (-1);
	memset(&s, 0xa5, sizeof(s));
	if (ioctl(fd, HWT_IOC_START, &s))
		return (fail(c, "START"));
	if (c->go(c->arg))
		return (fail(c, "the target does not go"));
	while ((more = fetch(c, fd)) > 0)
		;
	if (more < 0 || position(c, fd))
		return (-1);
	memset(&stop, 0xa5, sizeof(stop));
	return (ioctl(fd, HWT_IOC_STOP, &stop) ? fail(c, "STOP") : 0);
}

int
freebsd_client_run(struct freebsd_client *c)
{
	char name[MAXPATHLEN];
	void *buffer;
	int fd, error;

	if (context_alloc(c))
		return (-1);
	snprintf(name, sizeof(name), "/dev/hwt_%d_%d", c->ident, 0);
	fd = open(name, O_RDONLY);
	if (fd < 0)
		return (fail(c, "open the context's node"));
	buffer = mmap(NULL, c->bufsize, PROT_READ, MAP_SHARED, fd, 0);
	if (buffer == MAP_FAILED) {
		close(fd);
		return (fail(c, "mmap"));
	}
	error = trace(c, fd);
	munmap(buffer, c->bufsize);
	close(fd);
	return (error);
}
