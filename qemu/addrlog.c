// SPDX-License-Identifier: BSD-2-Clause
#include "addrlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK (1ul << 20) /* addresses mapped at a time */

static bool map_chunk(struct addrlog *l, uint64_t index)
{
	off_t at = EXECLOG_DATA + (off_t)(index * 8);
	int fd = open(l->path, O_RDWR | O_CLOEXEC);
	void *p = MAP_FAILED;

	if (l->chunk)
		munmap(l->chunk, CHUNK * 8);
	l->chunk = NULL;
	if (fd >= 0 && !ftruncate(fd, at + (off_t)CHUNK * 8))
		p = mmap(NULL, CHUNK * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return false;
	l->chunk = p;
	l->base = index;
	return true;
}

static bool open_files(struct addrlog *l, uint64_t magic)
{
	int fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	void *p = MAP_FAILED;
	off_t size;

	if (fd < 0)
		return false;
	size = lseek(fd, 0, SEEK_END);
	if (size >= EXECLOG_DATA || !ftruncate(fd, EXECLOG_DATA))
		p = mmap(NULL, EXECLOG_DATA, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return false;
	l->header = p;
	l->header->magic = magic;
	/* The same thread after exec, or a thread that got the number again. */
	return map_chunk(l, l->header->count & ~(uint64_t)511);
}

bool addrlog_open(struct addrlog *l, const char *name, const struct vcpu *v)
{
	char path[sizeof(l->path)];

	snprintf(path, sizeof(path), "%s/%s.%d.%d", vtu.window->log_dir, name, vtu.pid,
		 v->tid);
	return addrlog_open_path(l, path, EXECLOG_MAGIC);
}

bool addrlog_open_path(struct addrlog *l, const char *path, uint64_t magic)
{
	memset(l, 0, sizeof(*l));
	snprintf(l->path, sizeof(l->path), "%s", path);
	if (open_files(l, magic))
		return true;
	plugin_warn("cannot write %s: %s", l->path, strerror(errno));
	addrlog_close(l);
	return false;
}

bool addrlog_append(struct addrlog *l, uint64_t addr)
{
	uint64_t n = l->header->count;

	if (n - l->base >= CHUNK && !map_chunk(l, n)) {
		plugin_warn("cannot grow %s: %s", l->path, strerror(errno));
		return false;
	}
	l->chunk[n - l->base] = addr;
	__atomic_store_n(&l->header->count, n + 1, __ATOMIC_RELEASE);
	return true;
}

void addrlog_close(struct addrlog *l)
{
	if (l->chunk)
		munmap(l->chunk, CHUNK * 8);
	if (l->header)
		munmap(l->header, EXECLOG_DATA);
	l->chunk = NULL;
	l->header = NULL;
}
