// SPDX-License-Identifier: BSD-2-Clause
/*
 * A view: the address space at one moment.  Mappings are a sorted array (there
 * are few at a time); captured code is kept by pages (there may be very many
 * pieces of it), each with a bit for every byte that is there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "image_priv.h"

#define PAGE	    4096u
#define PAGE_MASK   (PAGE - 1u)

/* Ids of what has no symbol of its own; file ids never reach this bit. */
#define ID_NAMELESS (1ull << 63)
/* In the low half of an id: no index of a symbol, but a function's address. */
#define ID_FUNCTION (1ull << 31)

struct segment {
	uint64_t start, last; /* last byte, inclusive */
	struct image_change *change;
};

struct page {
	struct page *next;
	uint64_t addr;
	uint64_t valid[PAGE / 64];
	uint8_t bytes[PAGE];
};

struct image_view {
	struct image_space *space;
	struct image_view *ahead;
	uint64_t version;
	size_t applied; /* entries of the space's log */
	bool failed;	/* out of memory: nothing is known */
	struct segment *seg;
	size_t nseg, room;
	struct page **bucket;
	size_t nbuckets, npages;
};

struct image_view *image_view_new(struct image_space *s)
{
	struct image_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->space = s;
	v->version = s->version;
	v->applied = 0;
	return v;
}

static void drop_pages(struct image_view *v)
{
	struct page *p, *next;
	size_t i;

	for (i = 0; i < v->nbuckets; i++) {
		for (p = v->bucket[i]; p; p = next) {
			next = p->next;
			free(p);
		}
		v->bucket[i] = NULL;
	}
	v->npages = 0;
}

void image_view_free(struct image_view *v)
{
	if (!v)
		return;
	drop_pages(v);
	free(v->bucket);
	free(v->seg);
	free(v);
}

/* ---- captured code ---- */

static size_t bucket_of(const struct image_view *v, uint64_t addr)
{
	return (size_t)((addr / PAGE * 0x9e3779b97f4a7c15ull) >> 32) & (v->nbuckets - 1);
}

static struct page *find_page(const struct image_view *v, uint64_t addr)
{
	struct page *p;

	if (!v->npages)
		return NULL;
	addr &= ~(uint64_t)PAGE_MASK;
	for (p = v->bucket[bucket_of(v, addr)]; p; p = p->next) {
		if (p->addr == addr)
			return p;
	}
	return NULL;
}

static int grow_buckets(struct image_view *v)
{
	size_t n = v->nbuckets, i, b;
	struct page **old = v->bucket, *p, *next, **fresh;

	fresh = calloc(n ? n * 4 : 64, sizeof(*fresh));
	if (!fresh)
		return -ENOMEM;
	v->bucket = fresh;
	v->nbuckets = n ? n * 4 : 64;
	for (i = 0; i < n; i++) {
		for (p = old[i]; p; p = next) {
			next = p->next;
			b = bucket_of(v, p->addr);
			p->next = fresh[b];
			fresh[b] = p;
		}
	}
	free(old);
	return 0;
}

static struct page *make_page(struct image_view *v, uint64_t addr)
{
	struct page *p = find_page(v, addr);
	size_t b;

	if (p)
		return p;
	if (v->npages >= v->nbuckets && grow_buckets(v))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->addr = addr & ~(uint64_t)PAGE_MASK;
	b = bucket_of(v, p->addr);
	p->next = v->bucket[b];
	v->bucket[b] = p;
	v->npages++;
	return p;
}

static bool has_byte(const struct page *p, uint64_t addr)
{
	uint32_t at = (uint32_t)(addr & PAGE_MASK);

	return p && p->valid[at / 64] >> (at % 64) & 1;
}

static bool is_kept(const struct image_view *v, uint64_t ip)
{
	return has_byte(find_page(v, ip), ip);
}

static int put_code(struct image_view *v, uint64_t addr, const uint8_t *bytes,
		    uint64_t len)
{
	struct page *p;
	uint32_t at, n, i;

	while (len) {
		at = (uint32_t)(addr & PAGE_MASK);
		n = PAGE - at < len ? PAGE - at : (uint32_t)len;
		p = make_page(v, addr);
		if (!p)
			return -ENOMEM;
		memcpy(p->bytes + at, bytes, n);
		for (i = at; i < at + n; i++)
			p->valid[i / 64] |= 1ull << (i % 64);
		addr += n;
		bytes += n;
		len -= n;
	}
	return 0;
}

static void forget_bytes(struct page *p, uint64_t first, uint64_t last)
{
	uint64_t from = first > p->addr ? first - p->addr : 0;
	uint64_t to = last - p->addr < PAGE - 1 ? last - p->addr : PAGE - 1;

	for (; from <= to; from++)
		p->valid[from / 64] &= ~(1ull << (from % 64));
}

/* Captures in [first, last] are gone with the mapping that they were in. */
static void forget_code(struct image_view *v, uint64_t first, uint64_t last)
{
	uint64_t page = first & ~(uint64_t)PAGE_MASK, n = (last - page) / PAGE + 1, k;
	struct page *p;
	size_t i;

	if (!v->npages)
		return;
	for (k = 0; n <= v->npages && k < n; k++) {
		p = find_page(v, page + k * PAGE);
		if (p)
			forget_bytes(p, first, last);
	}
	for (i = 0; n > v->npages && i < v->nbuckets; i++) {
		for (p = v->bucket[i]; p; p = p->next) {
			if (p->addr <= last && p->addr + PAGE_MASK >= first)
				forget_bytes(p, first, last);
		}
	}
}

/* ---- mappings ---- */

/* Index of the first segment that ends at or after addr. */
static size_t seg_index(const struct image_view *v, uint64_t addr)
{
	size_t lo = 0, hi = v->nseg, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (v->seg[mid].last < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct segment *find_seg(const struct image_view *v, uint64_t addr)
{
	size_t i = seg_index(v, addr);

	return i < v->nseg && v->seg[i].start <= addr ? &v->seg[i] : NULL;
}

/* Replaces segments [i, j) by the n at `with`. */
static int splice(struct image_view *v, size_t i, size_t j, const struct segment *with,
		  size_t n)
{
	size_t want = v->nseg - (j - i) + n, room = v->room;
	struct segment *p;

	while (room < want)
		room = room ? room * 2 : 32;
	if (room != v->room) {
		p = realloc(v->seg, room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		v->seg = p;
		v->room = room;
	}
	if (v->nseg > j)
		memmove(v->seg + i + n, v->seg + j, (v->nseg - j) * sizeof(*v->seg));
	if (n)
		memcpy(v->seg + i, with, n * sizeof(*with));
	v->nseg = want;
	return 0;
}

/* Cuts [first, last] out of what is mapped and puts `change` there, if any. */
static int put_map(struct image_view *v, uint64_t first, uint64_t last,
		   struct image_change *change)
{
	size_t i = seg_index(v, first), j = i, n = 0;
	struct segment with[3];

	while (j < v->nseg && v->seg[j].start <= last)
		j++;
	if (j > i && v->seg[i].start < first)
		with[n++] =
			(struct segment){v->seg[i].start, first - 1, v->seg[i].change};
	if (change)
		with[n++] = (struct segment){first, last, change};
	if (j > i && v->seg[j - 1].last > last)
		with[n++] = (struct segment){last + 1, v->seg[j - 1].last,
					     v->seg[j - 1].change};
	return splice(v, i, j, with, n);
}

static int apply(struct image_view *v, struct image_change *c)
{
	uint64_t last = c->addr + (c->len - 1);

	switch (c->kind) {
	case CHANGE_CLEAR:
		v->nseg = 0;
		drop_pages(v);
		return 0;
	case CHANGE_CODE:
		return put_code(v, c->addr, c->bytes, c->len);
	case CHANGE_UNMAP:
		forget_code(v, c->addr, last);
		return put_map(v, c->addr, last, NULL);
	case CHANGE_MAP:
		/* Pages that only became executable again hold what they held. */
		return put_map(v, c->addr, last, c);
	}
	return -EINVAL;
}

void image_view_set(struct image_view *v, struct image_moment at)
{
	size_t n = space_upto(v->space, &at);

	if (v->version != v->space->version || n < v->applied || v->failed) {
		v->nseg = 0;
		drop_pages(v);
		v->applied = 0;
		v->failed = false;
		v->version = v->space->version;
	}
	while (v->applied < n && !v->failed) {
		if (apply(v, v->space->log[v->applied++].change))
			v->failed = true;
	}
}

void image_view_fall_back(struct image_view *v, struct image_view *ahead)
{
	v->ahead = ahead;
}

/* ---- questions ---- */

/* Who answers for ip: v, or the view ahead of it where v knows nothing. */
static struct image_view *view_for(struct image_view *v, uint64_t ip)
{
	if (!v->ahead || find_seg(v, ip) || is_kept(v, ip))
		return v;
	return v->ahead;
}

/* Bytes of one source at ip: captured ones first, then the file's. */
static size_t some_code(struct image_view *v, uint64_t ip, uint8_t *buf, size_t len)
{
	const struct page *p = find_page(v, ip);
	struct image_file *f;
	struct segment *s;
	size_t n, max = PAGE - (size_t)(ip & PAGE_MASK);

	if (len > max)
		len = max;
	if (has_byte(p, ip)) {
		for (n = 0; n < len && has_byte(p, ip + n); n++)
			buf[n] = p->bytes[(ip + n) & PAGE_MASK];
		return n;
	}
	s = find_seg(v, ip);
	f = s ? space_file(v->space, s->change, false) : NULL;
	if (!f)
		return 0;
	if (len > s->last - ip + 1)
		len = (size_t)(s->last - ip + 1);
	for (n = 1; p && n < len && !has_byte(p, ip + n); n++)
		;
	if (p)
		len = n;
	return file_bytes(f, s->change->pgoff + (ip - s->change->addr), buf, len);
}

size_t image_view_code(void *view, uint64_t ip, uint8_t *buf, size_t len)
{
	struct image_view *v = view;
	size_t done = 0, n;

	v = view_for(v, ip);
	if (v->failed)
		return 0;
	pthread_mutex_lock(&v->space->store->lock);
	while (done < len && ip + done >= ip) {
		n = some_code(v, ip + done, buf + done, len - done);
		if (!n)
			break;
		done += n;
	}
	pthread_mutex_unlock(&v->space->store->lock);
	return done;
}

void image_view_places(struct image_view *v, const char *path, uint64_t offset,
		       uint64_t len, void (*fn)(void *ctx, uint64_t addr, uint64_t len),
		       void *ctx)
{
	uint64_t from, last, first;
	const struct segment *s;
	size_t i;

	if (v->failed || !len || offset + (len - 1) < offset)
		return;
	for (i = 0; i < v->nseg; i++) {
		s = &v->seg[i];
		if (!s->change->path || strcmp(s->change->path, path))
			continue;
		/* Of the file, what this segment shows. */
		first = s->change->pgoff + (s->start - s->change->addr);
		last = first + (s->last - s->start);
		if (last < first)
			continue;
		from = first > offset ? first : offset;
		if (last > offset + (len - 1))
			last = offset + (len - 1);
		if (from <= last)
			fn(ctx, s->start + (from - first), last - from + 1);
	}
}

/* An id for a name that stands for no symbol. */
static uint64_t label_id(const char *label)
{
	uint64_t hash = 14695981039346656037ull;

	for (; *label; label++)
		hash = (hash ^ (uint8_t)*label) * 1099511628211ull;
	return hash | ID_NAMELESS;
}

static bool perf_symbol(struct image_view *v, uint64_t ip, struct image_symbol *out)
{
	const struct image_sym *sym;

	if (!v->space->pid)
		return false;
	sym = perfmap_find(v->space->store, v->space->pid, ip, &out->id);
	if (!sym)
		return false;
	out->name = sym->name;
	out->raw_name = sym->raw;
	out->start = sym->start;
	out->end = sym->end;
	return true;
}

/* A function without a name has bounds all the same. */
static void file_function(struct image_file *f, uint64_t ip, uint64_t vaddr,
			  struct image_symbol *out)
{
	uint64_t start, end;

	if (!fde_find(f, vaddr, &start, &end))
		return;
	out->start = start + out->image_base;
	out->end = end + out->image_base;
	if (out->start > ip || out->end <= ip)
		out->start = out->end = 0;
	out->id = (uint64_t)f->id << 32 | ID_FUNCTION | (start & (ID_FUNCTION - 1));
}

static bool file_symbol(struct image_file *f, const struct segment *s, uint64_t ip,
			struct image_symbol *out)
{
	struct image_symtab *t = &f->symtab;
	struct image_sym *sym;
	uint64_t vaddr;

	if (!file_offset_to_vaddr(f, s->change->pgoff,
				  s->change->pgoff + (ip - s->change->addr), &vaddr))
		return false;
	out->image_base = ip - vaddr;
	sym = symtab_load(f) ? NULL : symtab_find(t, vaddr);
	if (!sym) {
		file_function(f, ip, vaddr, out);
		return false;
	}
	out->raw_name = sym->raw;
	out->name = symtab_name(f->store, sym);
	out->start = sym->start + out->image_base;
	out->end = sym->size ? sym->end + out->image_base : 0;
	/* A damaged table's sizes can reach around the end of all addresses. */
	if (out->end && out->end <= ip)
		out->end = 0;
	if (out->start > ip)
		out->start = ip;
	out->id = (uint64_t)f->id << 32 | (uint64_t)(sym - t->all + 1);
	return true;
}

static void tell_nameless(struct image_view *v, struct image_file *f, uint64_t ip)
{
	if (f->names_err)
		space_tell(v->space, f, IMAGE_NAMELESS, is_kept(v, ip), f->names_err);
}

bool image_view_symbol(struct image_view *v, uint64_t ip, struct image_symbol *out)
{
	struct image_file *f;
	struct segment *s;
	bool found = false;

	memset(out, 0, sizeof(*out));
	out->image = "?";
	v = view_for(v, ip);
	pthread_mutex_lock(&v->space->store->lock);
	s = v->failed ? NULL : find_seg(v, ip);
	if (s && s->change->path) {
		out->image = s->change->path;
		/* Without the file: as if addresses were offsets in it; often so. */
		out->image_base = s->change->addr - s->change->pgoff;
		f = space_file(v->space, s->change, is_kept(v, ip));
		if (f) {
			found = file_symbol(f, s, ip, out);
			tell_nameless(v, f, ip);
		}
	} else {
		if (s && s->change->label)
			out->image = s->change->label;
		else if (is_kept(v, ip))
			out->image = "[code]";
		found = v->space->kernel ? kallsyms_find(v->space->store, ip, out) :
					   perf_symbol(v, ip, out);
	}
	pthread_mutex_unlock(&v->space->store->lock);
	if (!found && !out->id)
		out->id = label_id(out->image);
	return found;
}

bool image_view_line(struct image_view *v, uint64_t ip, struct image_line *out)
{
	struct image_file *f;
	struct segment *s;
	uint64_t vaddr;
	bool found = false;

	v = view_for(v, ip);
	pthread_mutex_lock(&v->space->store->lock);
	s = v->failed ? NULL : find_seg(v, ip);
	f = s ? space_file(v->space, s->change, is_kept(v, ip)) : NULL;
	if (f && file_offset_to_vaddr(f, s->change->pgoff,
				      s->change->pgoff + (ip - s->change->addr), &vaddr)) {
		found = lines_find(f, vaddr, out);
		tell_nameless(v, f, ip);
	}
	pthread_mutex_unlock(&v->space->store->lock);
	return found;
}
