// SPDX-License-Identifier: BSD-2-Clause
#include "maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "window.h"

struct range {
	uint64_t start, end;
	uint32_t flags;
};

/* Sorted, disjoint. vtu.lock */
static struct range *ranges;
static size_t nranges, room;

static size_t first_after(uint64_t addr)	/* first range with end > addr */
{
	size_t lo = 0, hi = nranges;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (ranges[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

uint32_t maps_flags(uint64_t addr, uint64_t len)
{
	uint64_t at = addr, end = addr + len;
	uint32_t flags = MAP_KNOWN | MAP_CLEAN;
	size_t i;

	for (i = first_after(addr); i < nranges && at < end; i++) {
		if (ranges[i].start > at)
			return 0;
		flags &= ranges[i].flags | MAP_KNOWN | MAP_WRITABLE;
		flags |= ranges[i].flags & MAP_WRITABLE;
		at = ranges[i].end;
	}
	return at < end ? 0 : flags;
}

bool maps_overlap(uint64_t addr, uint64_t len)
{
	bool hit;
	size_t i;

	pthread_mutex_lock(&vtu.lock);
	i = first_after(addr);
	hit = i < nranges && ranges[i].start < addr + len;
	pthread_mutex_unlock(&vtu.lock);
	return hit;
}

static bool insert_at(size_t i, struct range r)
{
	struct range *p;

	if (nranges == room) {
		p = realloc(ranges, (room + 64) * sizeof(*p));
		if (!p) {
			plugin_warn("no memory to note an executable mapping");
			return false;
		}
		ranges = p;
		room += 64;
	}
	memmove(ranges + i + 1, ranges + i, (nranges - i) * sizeof(*ranges));
	ranges[i] = r;
	nranges++;
	return true;
}

/* Makes addr a border between ranges. */
static void split(uint64_t addr)
{
	size_t i = first_after(addr);
	struct range left;

	if (i == nranges || ranges[i].start >= addr)
		return;
	left = ranges[i];
	left.end = addr;
	if (insert_at(i, left))
		ranges[i + 1].start = addr;
}

static void remove_locked(uint64_t addr, uint64_t end)
{
	size_t i, n;

	split(addr);
	split(end);
	i = first_after(addr);
	for (n = 0; i + n < nranges && ranges[i + n].start < end; n++)
		;
	if (n)
		memmove(ranges + i, ranges + i + n, (nranges - i - n) * sizeof(*ranges));
	nranges -= n;
}

void maps_remove(uint64_t addr, uint64_t len)
{
	pthread_mutex_lock(&vtu.lock);
	remove_locked(addr, addr + len);
	pthread_mutex_unlock(&vtu.lock);
}

void maps_dirty(uint64_t addr, uint64_t len, uint32_t prot)
{
	size_t i;

	pthread_mutex_lock(&vtu.lock);
	split(addr);
	split(addr + len);
	for (i = first_after(addr); i < nranges && ranges[i].start < addr + len; i++) {
		ranges[i].flags &= ~(MAP_CLEAN | MAP_WRITABLE);
		if (prot & PROT_WRITE)
			ranges[i].flags |= MAP_WRITABLE;
	}
	pthread_mutex_unlock(&vtu.lock);
}

static void note(uint64_t addr, uint64_t len, uint32_t flags)
{
	pthread_mutex_lock(&vtu.lock);
	remove_locked(addr, addr + len);
	insert_at(first_after(addr), (struct range){addr, addr + len, flags});
	pthread_mutex_unlock(&vtu.lock);
}

/* All of /proc/self/maps; malloc'd. */
static char *read_maps(void)
{
	size_t n = 0, size = 1 << 16;
	char *text = malloc(size), *more;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ssize_t k = -1;

	while (text && fd >= 0 && (k = read(fd, text + n, size - n - 1)) > 0) {
		n += (size_t)k;
		if (size - n > 8192)
			continue;
		more = realloc(text, size *= 2);
		if (!more)
			break;
		text = more;
	}
	if (fd >= 0)
		close(fd);
	if (k) {	/* error, or out of memory */
		free(text);
		return NULL;
	}
	text[n] = 0;
	return text;
}

/* The kernel writes a newline in a name as \012. */
static void unescape(char *s)
{
	char *o = s;

	for (; *s; s++) {
		if (!strncmp(s, "\\012", 4)) {
			*o++ = '\n';
			s += 3;
		} else {
			*o++ = *s;
		}
	}
	*o = 0;
}

/* One line of /proc/self/maps in guest addresses; false: cannot be read. */
static bool parse_line(const char *line, const char *end, struct vtu_hook_mmap *m,
		       char perm[5])
{
	unsigned long long a, b, off, ino;
	unsigned int major, minor;
	size_t n;
	int at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &a, &b, perm, &off, &major,
		   &minor, &ino, &at) < 7)
		return false;
	m->addr = a - guest_base;
	m->len = b - a;
	m->pgoff = off;
	m->ino = ino;
	m->dev_major = major;
	m->dev_minor = minor;
	m->mapflags = perm[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	n = line + at < end ? (size_t)(end - line - at) : 0;
	if (n >= sizeof(m->path))
		n = sizeof(m->path) - 1;
	memcpy(m->path, line + at, n);
	m->path[n] = 0;
	unescape(m->path);
	return true;
}

static bool has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n >= k && !strcmp(s + n - k, suffix);
}

/* Can a decoder read these bytes in a file? */
static bool is_in_file(const struct vtu_hook_mmap *m)
{
	return m->path[0] == '/' && m->ino && m->mapflags == MAP_PRIVATE &&
	       !has_suffix(m->path, " (deleted)");
}

static void clip(struct vtu_hook_mmap *m, uint64_t addr, uint64_t len)
{
	uint64_t end = m->addr + m->len, limit = addr + len;

	if (m->addr < addr) {
		m->pgoff += m->path[0] == '/' ? addr - m->addr : 0;
		m->addr = addr;
	}
	if (end > limit)
		end = limit;
	m->len = end - m->addr;
}

/* Notes one piece and sends its hook; false: nobody listens any more. */
static bool add_piece(struct vcpu *v, struct vtu_hook_mmap *m, uint32_t prot, bool fresh)
{
	uint32_t flags = MAP_KNOWN | (prot & PROT_WRITE ? MAP_WRITABLE : 0);

	m->prot = prot;
	if (fresh && !(prot & PROT_WRITE) && is_in_file(m))
		flags |= MAP_CLEAN;
	note(m->addr, m->len, flags);
	if (m->path[0] != '/')
		strcpy(m->path, "//anon");
	memcpy(v->block->payload, m,
	       offsetof(struct vtu_hook_mmap, path) + strlen(m->path) + 1);
	return window_hook(v, VTU_HOOK_MMAP, 0, 0, 0);
}

void maps_add(struct vcpu *v, uint64_t addr, uint64_t len, uint32_t prot, bool fresh)
{
	char *text = read_maps(), *line, *end, perm[5];
	struct vtu_hook_mmap m;

	if (!text) {	/* no /proc (chroot): all of its code will be captured */
		m = (struct vtu_hook_mmap){.addr = addr, .len = len};
		add_piece(v, &m, prot, false);
	}
	for (line = text; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		if (!parse_line(line, end, &m, perm) || m.addr + m.len <= addr ||
		    m.addr >= addr + len)
			continue;
		clip(&m, addr, len);
		if (!add_piece(v, &m, prot, fresh))
			break;
	}
	free(text);
}
