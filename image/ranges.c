// SPDX-License-Identifier: BSD-2-Clause
/* Address ranges of a function, for filters. */
#include <stdlib.h>
#include <string.h>
#include "image_priv.h"

#define IMPLEMENTATIONS_MAX 256

struct ranges {
	const char *name;
	struct image_range *out;
	int max, n;
};

static void add_range(struct ranges *r, uint64_t start, uint64_t end)
{
	int i;

	if (end <= start)
		return;
	for (i = 0; i < r->n && i < r->max; i++) {
		if (r->out[i].start == start)
			return;
	}
	if (r->n < r->max)
		r->out[r->n] = (struct image_range){start, end - 1};
	r->n++;
}

/* Raw names may carry a version: memcpy@@GLIBC_2.14.  foo@plt is no foo. */
static bool matches_raw(const char *raw, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(raw, name, n))
		return false;
	return !raw[n] || (raw[n] == '@' && strcmp(raw + n, "@plt"));
}

/* "ns::f" names every ns::f(...), "ns::f(int)" just that one. */
static bool matches_demangled(const char *raw, const char *name)
{
	size_t n = strlen(name);
	char *text;
	bool yes;

	text = image_demangle(raw);
	if (!text)
		return false;
	yes = !strncmp(text, name, n) && (!text[n] || text[n] == '(');
	free(text);
	return yes;
}

static void add_implementations(struct image_file *f, const struct image_sym *sym,
				struct ranges *r)
{
	uint64_t target[IMPLEMENTATIONS_MAX], start, end;
	struct image_sym *s;
	int i, n;

	n = ifunc_targets(f, sym->start, sym->end, target, IMPLEMENTATIONS_MAX);
	for (i = 0; i < n && i < IMPLEMENTATIONS_MAX; i++) {
		s = symtab_find(&f->symtab, target[i]);
		if (s && s->start == target[i] && s->size)
			add_range(r, s->start, s->start + s->size);
		else if (fde_find(f, target[i], &start, &end) && start == target[i])
			add_range(r, start, end);
		else if (s && s->start == target[i])
			add_range(r, s->start, s->end);
	}
}

static void add_symbol(struct image_file *f, const struct image_sym *sym,
		       struct ranges *r)
{
	uint64_t start, end;

	if (sym->type == STT_GNU_IFUNC)
		add_implementations(f, sym, r);
	else if (sym->size)
		add_range(r, sym->start, sym->start + sym->size);
	else if (fde_find(f, sym->start, &start, &end) && start == sym->start)
		add_range(r, start, end);
	else
		add_range(r, sym->start, sym->end);
}

static int find_ranges(struct image_file *f, void *ctx)
{
	struct image_symtab *t = &f->symtab;
	struct ranges *r = ctx;
	bool any = false;
	size_t i;
	int ret;

	if (!*r->name)
		return 0;
	ret = symtab_load(f);
	if (ret)
		return ret;
	for (i = 0; i < t->nall; i++) {
		if (matches_raw(t->all[i].raw, r->name)) {
			any = true;
			add_symbol(f, &t->all[i], r);
		}
	}
	for (i = 0; i < t->nall && !any; i++) {
		if (matches_demangled(t->all[i].raw, r->name))
			add_symbol(f, &t->all[i], r);
	}
	return r->n;
}

int image_function_ranges(const char *path, const char *name, struct image_range *out,
			  int max)
{
	return elf_ask(path, find_ranges,
		       &(struct ranges){.name = name, .out = out, .max = max});
}
