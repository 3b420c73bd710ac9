/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is deleted before the recording ends (a build's program, a library that
 * is compiled, loaded and removed) cannot be read when it is decoded.  Descriptors keep
 * such files' contents; what was mapped of them goes into the recording at its end.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX	128	/* descriptors */
#define MAPS_MAX	65536

struct kept_file {
	struct kept_file *next;
	dev_t		dev;
	ino_t		ino;
	int		fd;
};

/* A mapping of one; kept when it is gone, for what ran there was traced. */
struct kept_map {
	struct kept_map	*next;
	const struct kept_file *file;
	struct hwt_rec	since;
	uint64_t	addr, len, pgoff;
};

static struct kept_file *find_file(const struct keep *k, const struct stat *sb)
{
	struct kept_file *f = k->files;

	while (f && (f->dev != sb->st_dev || f->ino != sb->st_ino))
		f = f->next;
	return f;
}

/* NULL: it is another by now, or there is no room; decoding will look for it. */
static struct kept_file *keep_file(struct keep *k, const struct hwt_rec_mmap *map)
{
	int fd = open(map->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct kept_file *f = NULL;
	struct stat sb;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &sb) && S_ISREG(sb.st_mode) && (!map->ino || map->ino == sb.st_ino)) {
		f = find_file(k, &sb);
		if (!f && k->nfiles < FILES_MAX && (f = malloc(sizeof(*f)))) {
			*f = (struct kept_file){ k->files, sb.st_dev, sb.st_ino, fd };
			k->files = f;
			k->nfiles++;
			return f;
		}
	}
	close(fd);
	return f;
}

static void add(struct keep *k, const struct kept_map *map)
{
	struct kept_map *m = k->nmaps < MAPS_MAX ? malloc(sizeof(*m)) : NULL;

	if (!m)
		return;
	*m = *map;
	m->next = k->maps;
	k->maps = m;
	k->nmaps++;
}

void keep_unmap(struct keep *k, uint32_t pid, uint64_t addr, uint64_t len)
{
	struct kept_map **at = &k->maps, *m;

	while ((m = *at)) {
		if (m->since.pid != pid || m->addr >= addr + len || addr >= m->addr + m->len) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		m->next = k->past;
		k->past = m;
	}
}

void keep_map(struct keep *k, const struct hwt_rec *rec, const struct hwt_rec_mmap *map)
{
	struct kept_map m = {
		.since = *rec, .addr = map->addr, .len = map->len, .pgoff = map->pgoff,
	};

	keep_unmap(k, rec->pid, map->addr, map->len);
	if (!(map->prot & PROT_EXEC) || map->path[0] != '/')
		return;
	m.file = keep_file(k, map);
	if (m.file)
		add(k, &m);
}

void keep_unmap_all(struct keep *k, uint32_t pid)
{
	keep_unmap(k, pid, 0, UINT64_MAX);
}

/* The child has it from its beginning, whatever it counts from. */
void keep_fork(struct keep *k, uint32_t parent, uint32_t child)
{
	struct kept_map *m, inherited;

	for (m = k->maps; m; m = m->next) {
		if (m->since.pid != parent)
			continue;
		inherited = *m;
		inherited.since.pid = child;
		inherited.since.generation = 0;
		inherited.since.position = 0;
		add(k, &inherited);
	}
}

static ssize_t read_kept(void *from, uint64_t addr, void *out, size_t n)
{
	const struct kept_map *m = from;
	ssize_t got = pread(m->file->fd, out, n, (off_t)(m->pgoff + (addr - m->addr)));

	return got < 0 ? -errno : got;
}

static int save(struct recorder *r, struct kept_map *m)
{
	struct hwt_rec like;
	struct stat sb;
	int err = 0;

	for (; m && !err; m = m->next) {
		if (fstat(m->file->fd, &sb) || sb.st_nlink)
			continue;
		/* Of no thread: their streams have ended. */
		like = m->since;
		like.tid = 0;
		err = code_save(r, &like, m->addr, m->len, read_kept, m);
	}
	return err;
}

int keep_save(struct recorder *r)
{
	int err = save(r, r->keep.past);

	return err ? err : save(r, r->keep.maps);
}

static void free_maps(struct kept_map *m)
{
	struct kept_map *next;

	for (; m; m = next) {
		next = m->next;
		free(m);
	}
}

void keep_free(struct keep *k)
{
	struct kept_file *f;

	free_maps(k->maps);
	free_maps(k->past);
	while ((f = k->files)) {
		k->files = f->next;
		close(f->fd);
		free(f);
	}
}
