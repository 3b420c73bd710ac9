// SPDX-License-Identifier: BSD-2-Clause
/*
 * An address space through its life: a log of changes, each with the moment
 * from which it holds.  Views (view.c) are built from it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "image_priv.h"

bool image_moment_before(const struct image_moment *a, const struct image_moment *b)
{
	if (a->generation != b->generation)
		return a->generation < b->generation;
	return a->time < b->time;
}

static const char *const problem_texts[IMAGE_PROBLEM_MAX] = {
	[IMAGE_OK] = "no problem",
	[IMAGE_MISSING] = "not found",
	[IMAGE_NOT_ELF] = "not the ELF file that was recorded",
	[IMAGE_BUILD_ID_DIFFERS] = "another build than was recorded (build-id differs)",
	[IMAGE_CHANGED] =
		"may have changed since it was recorded (no build-id; another inode, or written since)",
	[IMAGE_UNREADABLE] = "cannot be read",
	[IMAGE_NAMELESS] = "its names cannot be read",
};

const char *image_problem_text(enum image_problem p)
{
	return (unsigned int)p < IMAGE_PROBLEM_MAX ? problem_texts[p] : "unknown problem";
}

struct image_space *image_space_new(struct image_store *store)
{
	struct image_space *s = calloc(1, sizeof(*s));

	if (s)
		s->store = store;
	return s;
}

static void change_put(struct image_change *c)
{
	if (c && --c->refs == 0)
		free(c);
}

void image_space_free(struct image_space *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->nlog; i++)
		change_put(s->log[i].change);
	free(s->log);
	free(s);
}

void image_space_on_problem(struct image_space *s, image_problem_fn fn, void *ctx)
{
	s->problem = fn;
	s->problem_ctx = ctx;
}

void image_space_set_pid(struct image_space *s, uint32_t pid)
{
	s->pid = pid;
}

void image_space_set_kernel(struct image_space *s)
{
	s->kernel = true;
}

size_t space_upto(const struct image_space *s, const struct image_moment *at)
{
	size_t lo = s->inherited, hi = s->nlog, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (image_moment_before(at, &s->log[mid].from))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static int reserve(struct image_space *s, size_t n)
{
	size_t room = s->room ? s->room * 2 : 64;
	struct image_entry *p;

	if (n <= s->room)
		return 0;
	if (room < n)
		room = n;
	p = realloc(s->log, room * sizeof(*p));
	if (!p)
		return -ENOMEM;
	s->log = p;
	s->room = room;
	return 0;
}

/* Takes c, also when it fails. */
static int add(struct image_space *s, struct image_moment from, struct image_change *c)
{
	size_t at;
	int ret;

	ret = reserve(s, s->nlog + 1);
	if (ret) {
		free(c);
		return ret;
	}
	at = space_upto(s, &from);
	if (at != s->nlog) {
		memmove(s->log + at + 1, s->log + at, (s->nlog - at) * sizeof(*s->log));
		s->version++;
	}
	c->refs = 1;
	s->log[at] = (struct image_entry){from, c};
	s->nlog++;
	return 0;
}

static struct image_change *change_new(enum change_kind kind, uint64_t addr, uint64_t len,
				       size_t nbytes)
{
	struct image_change *c = calloc(1, sizeof(*c) + nbytes);

	if (!c)
		return NULL;
	c->kind = kind;
	c->addr = addr;
	c->len = len;
	return c;
}

static bool range_ok(uint64_t addr, uint64_t len)
{
	return len && addr + (len - 1) >= addr;
}

struct image_space *image_space_fork(struct image_space *parent, struct image_moment at)
{
	struct image_space *s = image_space_new(parent->store);
	size_t n = space_upto(parent, &at), first = n, i;

	if (!s)
		return NULL;
	s->problem = parent->problem;
	s->problem_ctx = parent->problem_ctx;
	while (first && parent->log[first - 1].change->kind != CHANGE_CLEAR)
		first--;
	if (n - first > s->store->inherit_room || reserve(s, n - first)) {
		image_space_free(s);
		return NULL;
	}
	s->store->inherit_room -= n - first;
	/* They hold from the child's beginning, whatever it counts from. */
	for (i = first; i < n; i++) {
		s->log[s->nlog] = parent->log[i];
		s->log[s->nlog].from = (struct image_moment){0, 0};
		s->log[s->nlog++].change->refs++;
	}
	s->inherited = s->nlog;
	return s;
}

/* "", "//anon", "[heap]", "anon_inode:...", "/memfd:...": no file to open. */
static bool has_file(const char *path)
{
	return path && path[0] == '/' && path[1] != '/' && strncmp(path, "/memfd:", 7) &&
	       strncmp(path, "/dev/zero", 9) && strncmp(path, "/SYSV", 5);
}

int image_space_map(struct image_space *s, struct image_moment from,
		    const struct image_map *map)
{
	const char *path = map->path ? map->path : "", *name;
	struct image_change *c;

	if (!range_ok(map->addr, map->len) || map->build_id_size > IMAGE_BUILD_ID_MAX)
		return -EINVAL;
	pthread_mutex_lock(&s->store->lock);
	name = store_intern(s->store, path, strlen(path));
	pthread_mutex_unlock(&s->store->lock);
	c = name ? change_new(CHANGE_MAP, map->addr, map->len, 0) : NULL;
	if (!c)
		return -ENOMEM;
	c->pgoff = map->pgoff;
	c->ino = map->ino;
	c->dev_major = map->dev_major;
	c->dev_minor = map->dev_minor;
	c->prot = map->prot;
	if (has_file(path) || (!strcmp(path, VDSO_PATH) && map->build_id_size))
		c->path = name;
	else if (path[0] == '[')
		c->label = name;
	if (map->build_id && map->build_id_size) {
		memcpy(c->build_id, map->build_id, map->build_id_size);
		c->build_id_size = (uint8_t)map->build_id_size;
	}
	return add(s, from, c);
}

int image_space_unmap(struct image_space *s, struct image_moment from, uint64_t addr,
		      uint64_t len)
{
	struct image_change *c;

	if (!range_ok(addr, len))
		return -EINVAL;
	c = change_new(CHANGE_UNMAP, addr, len, 0);
	return c ? add(s, from, c) : -ENOMEM;
}

int image_space_clear(struct image_space *s, struct image_moment from)
{
	struct image_change *c = change_new(CHANGE_CLEAR, 0, UINT64_MAX, 0);

	return c ? add(s, from, c) : -ENOMEM;
}

int image_space_code(struct image_space *s, struct image_moment from, uint64_t addr,
		     const void *bytes, size_t len)
{
	struct image_change *c;

	if (!range_ok(addr, len))
		return -EINVAL;
	c = change_new(CHANGE_CODE, addr, len, len);
	if (!c)
		return -ENOMEM;
	memcpy(c->bytes, bytes, len);
	return add(s, from, c);
}

void image_space_changes(struct image_space *s, struct image_moment after,
			 struct image_moment upto,
			 void (*fn)(void *ctx, uint64_t addr, uint64_t len), void *ctx)
{
	size_t i = space_upto(s, &after), end = space_upto(s, &upto), swap;

	/* Back in time the same ranges change. */
	if (end < i) {
		swap = i;
		i = end;
		end = swap;
	}
	for (; i < end; i++)
		fn(ctx, s->log[i].change->addr, s->log[i].change->len);
}

/* Recorded ids may be padded with zeros to 20 bytes. */
static bool same_build_id(const struct image_change *c, const struct image_file *f)
{
	size_t i, n = f->build_id_size;

	if (!n || c->build_id_size < n || memcmp(c->build_id, f->build_id, n))
		return false;
	for (i = n; i < c->build_id_size; i++) {
		if (c->build_id[i])
			return false;
	}
	return true;
}

static bool later(const struct timespec *a, const struct timespec *b)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec > b->tv_sec;
	return a->tv_nsec > b->tv_nsec;
}

static enum image_problem check(const struct image_store *st,
				const struct image_change *c, const struct image_file *f)
{
	if (f->err)
		return f->err == -ENOENT || f->err == -ENOTDIR ? IMAGE_MISSING
							       : IMAGE_UNREADABLE;
	if (c->build_id_size && !f->elf)
		return IMAGE_NOT_ELF;
	if (c->build_id_size)
		return same_build_id(c, f) ? IMAGE_OK : IMAGE_BUILD_ID_DIFFERS;
	/* Another root has other inodes; device numbers change with every boot. */
	if (c->ino && !st->sysroot && c->ino != f->ino)
		return IMAGE_CHANGED;
	/* An inode comes again: of the next file that is made, or written in place. */
	if (st->written.tv_sec && later(&f->mtime, &st->written))
		return IMAGE_CHANGED;
	return IMAGE_OK;
}

void space_tell(struct image_space *s, struct image_file *f, enum image_problem problem,
		bool kept, int err)
{
	if (problem == IMAGE_OK || f->said[kept] & 1u << problem)
		return;
	f->said[kept] |= 1u << problem;
	if (s->problem)
		s->problem(s->problem_ctx, f->path, problem, kept, err);
}

struct image_file *space_file(struct image_space *s, struct image_change *c, bool kept)
{
	struct image_file *f;

	if (!c->path)
		return NULL;
	if (!c->checked) {
		c->file = store_file(s->store, c->path);
		if (!c->file)
			return NULL;
		c->problem = check(s->store, c, c->file);
		c->checked = true;
	}
	f = c->file;
	space_tell(s, f, c->problem, kept, f->err);
	return c->problem == IMAGE_OK || c->problem == IMAGE_CHANGED ? f : NULL;
}
