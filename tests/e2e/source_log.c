// SPDX-License-Identifier: BSD-2-Clause
/* Addresses of the virtual unit's independent log (qemu/execlog.h). */
#include "source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct log {
	struct source	s;
	const uint8_t	*map;
	size_t		size;
	uint64_t	count, at;
};

static long log_next(struct source *s, uint64_t *ip, size_t n)
{
	struct log *l = (struct log *)s;
	size_t k = l->count - l->at < n ? l->count - l->at : n;

	memcpy(ip, l->map + LOG_DATA + l->at * 8, k * 8);
	l->at += k;
	return (long)k;
}

static void log_close(struct source *s)
{
	struct log *l = (struct log *)s;

	if (l->map)
		munmap((void *)l->map, l->size);
	free(l);
}

static int map_log(struct log *l, const char *path, uint64_t magic)
{
	struct stat st;
	uint64_t head[2];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < LOG_DATA) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	l->size = (size_t)st.st_size;
	p = mmap(NULL, l->size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return -1;
	l->map = p;
	memcpy(head, p, sizeof(head));
	l->count = head[1];
	return head[0] == magic && l->count <= (l->size - LOG_DATA) / 8 ? 0 : -1;
}

struct source *source_log_file(const char *name, const char *path, uint64_t magic)
{
	struct log *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->s.name = name;
	l->s.next = log_next;
	l->s.close = log_close;
	if (map_log(l, path, magic)) {
		fprintf(stderr, "%s: no log, or not one\n", path);
		log_close(&l->s);
		return NULL;
	}
	return &l->s;
}

struct source *source_file(const char *name, const char *path)
{
	return source_log_file(name, path, LOG_MAGIC);
}

struct source *source_log(const char *dir, uint32_t pid, uint32_t tid)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/log.%u.%u", dir, pid, tid);
	return source_file("log", path);
}
