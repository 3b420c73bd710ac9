// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names in a kernel: lines of /proc/kallsyms, "address type name", in a module with
 * "\t[module]" behind.  They have no sizes: a symbol ends where the next one begins,
 * and the last one of an object has no end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "image_priv.h"

/* Ids of these symbols: above any file's, below ID_NAMELESS; perfmap.c has 1 << 62. */
#define ID_KALLSYMS (1ull << 61)
#define FILE_MAX    (64u << 20)

struct kernel_sym {
	uint64_t start;
	const char *name, *module; /* module NULL: the kernel itself */
	char type;
};

struct kernel_text {
	struct kernel_text *next;
	char text[];
};

struct image_kallsyms {
	struct kernel_text *texts; /* what names point into */
	struct kernel_sym *sym;	   /* by start, the best of each start first */
	size_t n, room;
};

/* Cuts one line into its words; false: none of ours. */
static bool parse(char *line, struct kernel_sym *s)
{
	char *end, *name, *module;

	s->start = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3] || !s->start)
		return false;
	s->type = end[1];
	name = end + 3;
	end = name + strcspn(name, "\t ");
	module = *end ? end + strspn(end, "\t ") : end;
	*end = 0;
	s->module = NULL;
	if (*module == '[') {
		s->module = ++module;
		module[strcspn(module, "]")] = 0;
	}
	s->name = name;
	return *name != 0;
}

static int add(struct image_kallsyms *k, const struct kernel_sym *s)
{
	size_t room = k->room ? k->room * 2 : 4096;
	struct kernel_sym *p;

	if (k->n == k->room) {
		p = realloc(k->sym, room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		k->sym = p;
		k->room = room;
	}
	k->sym[k->n++] = *s;
	return 0;
}

/* Of several names for one place: global before local before weak, then plain ones. */
static int rank(const struct kernel_sym *s)
{
	int type = s->type == 'T' ? 0 : s->type == 't' ? 1 : 2;

	return type * 16 + (int)strspn(s->name, "_") % 16;
}

static int compare(const void *pa, const void *pb)
{
	const struct kernel_sym *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (rank(a) != rank(b))
		return rank(a) - rank(b);
	return strcmp(a->name, b->name);
}

int image_store_add_symbols(struct image_store *st, const char *text, size_t n)
{
	struct image_kallsyms *k = st->kallsyms;
	struct kernel_text *copy = malloc(sizeof(*copy) + n + 1);
	struct kernel_sym s;
	char *line, *end;
	int ret = 0;

	if (!k)
		k = st->kallsyms = calloc(1, sizeof(*k));
	if (!k || !copy) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy->text, text, n);
	copy->text[n] = 0;
	copy->next = k->texts;
	k->texts = copy;
	for (line = copy->text; line < copy->text + n && !ret; line = end + 1) {
		end = line + strcspn(line, "\n");
		*end = 0;
		if (parse(line, &s))
			ret = add(k, &s);
	}
	if (k->n)
		qsort(k->sym, k->n, sizeof(*k->sym), compare);
	return ret;
}

static bool same_module(const struct kernel_sym *a, const struct kernel_sym *b)
{
	if (!a->module || !b->module)
		return a->module == b->module;
	return !strcmp(a->module, b->module);
}

/* Where sym[i] ends; 0: not known. */
static uint64_t end_of(const struct image_kallsyms *k, size_t i)
{
	size_t j;

	for (j = i + 1; j < k->n && k->sym[j].start == k->sym[i].start; j++)
		;
	return j < k->n && same_module(&k->sym[i], &k->sym[j]) ? k->sym[j].start : 0;
}

bool kallsyms_find(struct image_store *st, uint64_t ip, struct image_symbol *out)
{
	const struct image_kallsyms *k = st->kallsyms;
	size_t lo = 0, hi = k ? k->n : 0, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (k->sym[mid].start <= ip)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	for (lo--; lo && k->sym[lo - 1].start == k->sym[lo].start; lo--)
		;
	out->name = out->raw_name = k->sym[lo].name;
	out->start = k->sym[lo].start;
	out->end = end_of(k, lo);
	out->id = ID_KALLSYMS | lo;
	return true;
}

void kallsyms_free(struct image_store *st)
{
	struct image_kallsyms *k = st->kallsyms;
	struct kernel_text *t;

	if (!k)
		return;
	while ((t = k->texts)) {
		k->texts = t->next;
		free(t);
	}
	free(k->sym);
	free(k);
	st->kallsyms = NULL;
}

/* ---- where is a function ---- */

/* A file of /proc has no size: it is read until it ends. */
static char *read_all(const char *path, size_t *n)
{
	FILE *in = fopen(path, "re");
	char *text = NULL, *bigger;
	size_t room = 0, got = 1;

	*n = 0;
	while (in && got) {
		if (*n == room) {
			room = room ? room * 2 : 1 << 20;
			bigger = room <= FILE_MAX ? realloc(text, room) : NULL;
			if (!bigger) {
				free(text);
				fclose(in);
				return NULL;
			}
			text = bigger;
		}
		got = fread(text + *n, 1, room - *n, in);
		*n += got;
	}
	if (in)
		fclose(in);
	return text;
}

static int ranges_of(const struct image_kallsyms *k, const char *module, const char *name,
		     struct image_range *out, int max)
{
	struct kernel_sym wanted = {.module = module};
	uint64_t end;
	int n = 0;
	size_t i;

	for (i = 0; k && i < k->n; i++) {
		if (strcmp(k->sym[i].name, name) || !same_module(&k->sym[i], &wanted))
			continue;
		end = end_of(k, i);
		if (n < max)
			out[n] = (struct image_range){k->sym[i].start,
						      end ? end - 1 : k->sym[i].start};
		n++;
	}
	return n;
}

int image_kernel_ranges(const char *path, const char *module, const char *name,
			struct image_range *out, int max)
{
	struct image_store *st = image_store_new(NULL);
	size_t n = 0;
	char *text = st ? read_all(path ? path : "/proc/kallsyms", &n) : NULL;
	int ret = text ? image_store_add_symbols(st, text, n) : -ENOENT;

	if (!ret)
		ret = ranges_of(st->kallsyms, module, name, out, max);
	free(text);
	image_store_free(st);
	return ret;
}
