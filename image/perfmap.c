// SPDX-License-Identifier: BSD-2-Clause
/*
 * /tmp/perf-PID.map: names that a JIT compiler gives to its code, one a line:
 * start and size in hexadecimal, name up to the line's end (the kernel tree's
 * tools/perf/Documentation/jit-interface.txt).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "image_priv.h"

#define MAP_SIZE_MAX (256 << 20)
/* Ids of these symbols: above any file's, below ID_NAMELESS. */
#define ID_PERF_MAP  (1ull << 62)

struct image_perf_map {
	struct image_perf_map *next;
	uint32_t pid, id;
	struct image_sym *sym; /* by start */
	size_t n, room;
};

static int add_line(struct image_store *st, struct image_perf_map *m, const char *line,
		    size_t len)
{
	struct image_sym *p;
	uint64_t start, size;
	size_t room;
	int at = 0;

	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &size, &at) < 2 || !at ||
	    (size_t)at >= len || !size || start + size < start)
		return 0;
	if (m->n == m->room) {
		room = m->room ? m->room * 2 : 256;
		p = realloc(m->sym, room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		m->sym = p;
		m->room = room;
	}
	p = &m->sym[m->n];
	*p = (struct image_sym){.start = start, .size = size, .end = start + size};
	p->raw = p->name = store_intern(st, line + at, len - (size_t)at);
	if (!p->raw)
		return -ENOMEM;
	m->n++;
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct image_sym *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void read_lines(struct image_store *st, struct image_perf_map *m, FILE *in)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, in)) > 0) {
		if (add_line(st, m, line, (size_t)n))
			break;
	}
	free(line);
	if (m->n)
		qsort(m->sym, m->n, sizeof(*m->sym), compare);
}

static struct image_perf_map *load(struct image_store *st, uint32_t pid)
{
	struct image_perf_map *m = calloc(1, sizeof(*m));
	char path[64];
	struct stat sb;
	FILE *in;
	int fd;

	if (!m)
		return NULL;
	m->pid = pid;
	m->id = ++st->nmaps;
	m->next = st->perf_maps;
	st->perf_maps = m;
	snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return m;
	/* Anyone may write to /tmp: names come from our own files or root's. */
	if (fstat(fd, &sb) || !S_ISREG(sb.st_mode) || sb.st_size > MAP_SIZE_MAX ||
	    (sb.st_uid && sb.st_uid != geteuid())) {
		close(fd);
		return m;
	}
	in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return m;
	}
	read_lines(st, m, in);
	fclose(in);
	return m;
}

const struct image_sym *perfmap_find(struct image_store *st, uint32_t pid, uint64_t ip,
				     uint64_t *id)
{
	struct image_perf_map *m = st->perf_maps;
	size_t lo = 0, hi, mid;
	struct image_sym *s;

	while (m && m->pid != pid)
		m = m->next;
	if (!m)
		m = load(st, pid);
	if (!m)
		return NULL;
	hi = m->n;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (m->sym[mid].start <= ip)
			lo = mid + 1;
		else
			hi = mid;
	}
	s = lo ? &m->sym[lo - 1] : NULL;
	if (!s || ip >= s->end)
		return NULL;
	*id = ID_PERF_MAP | (uint64_t)m->id << 32 | lo;
	return s;
}

void perfmap_free(struct image_store *st)
{
	struct image_perf_map *m;

	while ((m = st->perf_maps)) {
		st->perf_maps = m->next;
		free(m->sym);
		free(m);
	}
}
