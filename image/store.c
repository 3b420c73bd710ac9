// SPDX-License-Identifier: BSD-2-Clause
/* The store: files opened once a session, and strings that live as long. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "image_priv.h"

#define WINDOW (64u << 10)

struct image_store *image_store_new(const char *sysroot)
{
	struct image_store *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	if (sysroot && *sysroot) {
		st->sysroot = strdup(sysroot);
		if (!st->sysroot) {
			free(st);
			return NULL;
		}
	}
	st->inherit_room = IMAGE_INHERIT_MAX;
	pthread_mutex_init(&st->lock, NULL);
	elf_version(EV_CURRENT);
	return st;
}

void image_store_set_written(struct image_store *st, struct timespec written)
{
	st->written = written;
}

void image_store_free(struct image_store *st)
{
	struct image_string *s, *next;
	struct image_file *f;
	unsigned int i;

	if (!st)
		return;
	while ((f = st->files)) {
		st->files = f->next;
		file_close(f);
	}
	perfmap_free(st);
	kallsyms_free(st);
	for (i = 0; i < IMAGE_STRING_BUCKETS; i++) {
		for (s = st->strings[i]; s; s = next) {
			next = s->next;
			free(s);
		}
	}
	pthread_mutex_destroy(&st->lock);
	free(st->sysroot);
	free(st);
}

const char *store_intern(struct image_store *st, const char *text, size_t len)
{
	uint32_t hash = 2166136261u;
	struct image_string *s;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	hash %= IMAGE_STRING_BUCKETS;
	for (s = st->strings[hash]; s; s = s->next) {
		if (s->len == len && !memcmp(s->text, text, len))
			return s->text;
	}
	s = malloc(sizeof(*s) + len + 1);
	if (!s)
		return NULL;
	memcpy(s->text, text, len);
	s->text[len] = 0;
	s->len = len;
	s->next = st->strings[hash];
	st->strings[hash] = s;
	return s->text;
}

/*
 * Opens a regular file only, and looks before it does: a recording can name a
 * FIFO that blocks, or a device that acts on being opened.
 */
static int open_regular(const char *path, struct stat *sb)
{
	int fd, err;

	if (stat(path, sb))
		return -errno;
	if (!S_ISREG(sb->st_mode))
		return S_ISDIR(sb->st_mode) ? -EISDIR : -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	err = fstat(fd, sb) ? -errno : S_ISREG(sb->st_mode) ? 0 : -EINVAL;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Under the sysroot first; a file that is not there is taken from the root. */
static int open_below(const struct image_store *st, const char *path, struct stat *sb)
{
	char *full;
	int fd;

	if (!st->sysroot)
		return open_regular(path, sb);
	if (asprintf(&full, "%s/%s", st->sysroot, path) < 0)
		return -ENOMEM;
	fd = open_regular(full, sb);
	free(full);
	return fd;
}

int store_open(const struct image_store *st, const char *path)
{
	struct stat sb;

	return open_below(st, path, &sb);
}

/* The kernel appends " (deleted)" to the path of an unlinked file. */
static int open_deleted(const struct image_store *st, const char *path, struct stat *sb)
{
	static const char suffix[] = " (deleted)";
	size_t n = strlen(path), m = sizeof(suffix) - 1;
	char *cut;
	int fd;

	if (n <= m || strcmp(path + n - m, suffix))
		return -ENOENT;
	cut = strndup(path, n - m);
	if (!cut)
		return -ENOMEM;
	fd = open_below(st, cut, sb);
	free(cut);
	return fd;
}

static int open_vdso(struct stat *sb)
{
	int fd = vdso_open();

	return fd < 0 || !fstat(fd, sb) ? fd : -EIO;
}

struct image_file *file_open(struct image_store *st, const char *path)
{
	struct image_file *f = calloc(1, sizeof(*f));
	struct stat sb;

	if (!f)
		return NULL;
	f->store = st;
	f->path = path;
	if (!strcmp(path, VDSO_PATH))
		f->fd = open_vdso(&sb);
	else
		f->fd = open_below(st, path, &sb);
	if (f->fd == -ENOENT)
		f->fd = open_deleted(st, path, &sb);
	if (f->fd < 0) {
		f->err = f->fd;
		f->fd = -1;
		return f;
	}
	f->size = (uint64_t)sb.st_size;
	f->ino = sb.st_ino;
	f->mtime = sb.st_mtim;
	f->dev_major = major(sb.st_dev);
	f->dev_minor = minor(sb.st_dev);
	elf_file_load(f);
	return f;
}

void file_close(struct image_file *f)
{
	if (!f)
		return;
	lines_free(f->lines);
	symtab_free(&f->symtab);
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f->phdr);
	free(f->fdes);
	free(f->window);
	free(f);
}

struct image_file *store_file(struct image_store *st, const char *path)
{
	struct image_file *f;
	const char *name;

	for (f = st->files; f; f = f->next) {
		if (f->path == path || !strcmp(f->path, path))
			return f;
	}
	name = store_intern(st, path, strlen(path));
	if (!name)
		return NULL;
	f = file_open(st, name);
	if (!f)
		return NULL;
	f->id = ++st->nfiles;
	f->next = st->files;
	st->files = f;
	return f;
}

static ssize_t read_at(int fd, uint64_t offset, uint8_t *buf, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(fd, buf + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

size_t file_bytes(struct image_file *f, uint64_t offset, uint8_t *buf, size_t len)
{
	size_t n, at;

	if (f->fd < 0 || offset >= f->size)
		return 0;
	if (len > f->size - offset)
		len = f->size - offset;
	if (len > WINDOW / 2)
		return (size_t)read_at(f->fd, offset, buf, len);
	/* Code is asked for in small pieces: one window saves most reads. */
	if (!f->window) {
		f->window = malloc(WINDOW);
		if (!f->window)
			return 0;
	}
	if (offset < f->window_offset ||
	    offset + len > f->window_offset + f->window_len) {
		f->window_offset = offset & ~4095ull;
		f->window_len =
			(size_t)read_at(f->fd, f->window_offset, f->window, WINDOW);
	}
	at = (size_t)(offset - f->window_offset);
	if (at >= f->window_len)
		return 0;
	n = f->window_len - at < len ? f->window_len - at : len;
	memcpy(buf, f->window + at, n);
	return n;
}

bool file_vaddr_to_offset(const struct image_file *f, uint64_t addr, uint64_t *offset,
			  uint64_t *left)
{
	size_t i;

	for (i = 0; i < f->nphdr; i++) {
		const struct image_phdr *p = &f->phdr[i];

		if (p->type == PT_LOAD && addr >= p->vaddr &&
		    addr - p->vaddr < p->filesz) {
			*offset = p->offset + (addr - p->vaddr);
			*left = p->filesz - (addr - p->vaddr);
			return true;
		}
	}
	return false;
}

bool file_read_vaddr(struct image_file *f, uint64_t addr, void *buf, size_t len)
{
	uint64_t offset, left;

	if (!file_vaddr_to_offset(f, addr, &offset, &left) || left < len)
		return false;
	/* Tables are looked at here and there: no window for them. */
	return (size_t)read_at(f->fd, offset, buf, len) == len;
}

bool file_is_code(const struct image_file *f, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < f->nphdr; i++) {
		const struct image_phdr *p = &f->phdr[i];

		if (p->type == PT_LOAD && p->flags & PF_X && vaddr >= p->vaddr &&
		    vaddr - p->vaddr < p->memsz)
			return true;
	}
	return false;
}

/* How well a segment explains a file offset; 0: not at all. */
static int segment_score(const struct image_phdr *p, uint64_t pgoff, uint64_t offset)
{
	uint64_t page = p->align > 4096 && !(p->align & (p->align - 1)) ? p->align : 4096;
	uint64_t first = p->offset & ~(page - 1);
	int score = 0;

	if (p->type != PT_LOAD || !p->filesz || offset < first ||
	    offset - first >= p->filesz + (p->offset - first) + page)
		return 0;
	/* Inside the segment proper rather than in the page around it. */
	if (offset >= p->offset && offset - p->offset < p->filesz)
		score += 4;
	/* The mapping begins where this segment's does. */
	if (pgoff == (p->offset & ~4095ull) || pgoff == first)
		score += 2;
	if (p->flags & PF_X)
		score += 1;
	return score + 1;
}

bool file_offset_to_vaddr(const struct image_file *f, uint64_t pgoff, uint64_t offset,
			  uint64_t *vaddr)
{
	int best = 0, score;
	size_t i;

	for (i = 0; i < f->nphdr; i++) {
		score = segment_score(&f->phdr[i], pgoff, offset);
		if (score > best) {
			best = score;
			*vaddr = f->phdr[i].vaddr + (offset - f->phdr[i].offset);
		}
	}
	return best > 0;
}
