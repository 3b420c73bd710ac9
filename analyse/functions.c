// SPDX-License-Identifier: BSD-2-Clause
/* Functions by symbol, and blocks by function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis_priv.h"

static struct function **slot_of(const struct table *t, uint64_t id)
{
	size_t i = hash64(id) & (t->room - 1);
	struct function **slots = (struct function **)t->slots;

	while (slots[i] && slots[i]->pub.id != id)
		i = (i + 1) & (t->room - 1);
	return &slots[i];
}

/* Synonyms (an id that stands for another's function) are slots of their own. */
struct synonym {
	struct function fn; /* pub.id only */
	struct function *real;
};

static int grow(struct table *t)
{
	struct table bigger = {.room = t->room ? t->room * 2 : 256, .n = t->n};
	size_t i;

	bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (i = 0; i < t->room; i++) {
		struct function *fn = t->slots[i];

		if (fn)
			*slot_of(&bigger, fn->pub.id) = fn;
	}
	free(t->slots);
	*t = bigger;
	return 0;
}

/* An entry of the procedure linkage table, or what such entries share. */
static bool is_plt(const char *raw)
{
	size_t n = strlen(raw);

	return !strcmp(raw, ".plt") || (n > 4 && !strcmp(raw + n - 4, "@plt"));
}

static struct function *function_new(struct analysis *a, const struct image_symbol *sym,
				     const char *name)
{
	struct function *fn = arena_get(&a->arena, sizeof(*fn));

	if (!fn)
		return NULL;
	fn->pub.name = name;
	fn->pub.raw_name = sym->name ? sym->raw_name : NULL;
	fn->pub.image = sym->image;
	fn->pub.id = sym->id;
	/* setjmp, _setjmp, sigsetjmp, __sigsetjmp; with @plt or a version perhaps. */
	fn->is_setjmp = fn->pub.raw_name && strstr(fn->pub.raw_name, "setjmp");
	fn->is_plt = fn->pub.raw_name && is_plt(fn->pub.raw_name);
	fn->next = a->all;
	a->all = fn;
	return fn;
}

size_t functions_list(const struct analysis *a, const struct analysis_function **list)
{
	const struct function *fn;
	size_t n = 0;

	for (fn = a->all; fn; fn = fn->next) {
		if (list)
			list[n] = &fn->pub;
		n++;
	}
	return n;
}

/* GCC's name for the unlikely part of a function, split off: its length without. */
static size_t base_length(const char *raw)
{
	const char *cold = strstr(raw, ".cold");

	if (cold && cold != raw && (!cold[5] || cold[5] == '.'))
		return (size_t)(cold - raw);
	return strlen(raw);
}

static struct function *find_by_name(struct analysis *a, const struct image_symbol *sym,
				     size_t len, struct function ***bucket)
{
	uint64_t hash = 14695981039346656037ull;
	struct function *fn;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)sym->raw_name[i]) * 1099511628211ull;
	*bucket =
		&a->by_name[hash64(hash) % (sizeof(a->by_name) / sizeof(a->by_name[0]))];
	for (fn = **bucket; fn; fn = fn->next_by_name) {
		if (fn->pub.image == sym->image &&
		    !strncmp(fn->pub.raw_name, sym->raw_name, len) &&
		    base_length(fn->pub.raw_name) == len)
			return fn;
	}
	return NULL;
}

/* A function and its .cold part share one entry, under the name without it. */
static struct function *named(struct analysis *a, const struct image_symbol *sym)
{
	size_t len = base_length(sym->raw_name);
	bool cold = sym->raw_name[len];
	struct function *fn = NULL, **bucket;

	fn = find_by_name(a, sym, len, &bucket);
	/* Two static functions of one name are two functions. */
	if (fn && !cold && !fn->pub.raw_name[len])
		fn = NULL;
	if (fn) {
		if (!cold) {
			fn->pub.name = sym->name;
			fn->pub.raw_name = sym->raw_name;
			fn->pub.id = sym->id;
		}
		return fn;
	}
	fn = function_new(a, sym, sym->name);
	if (!fn)
		return NULL;
	fn->next_by_name = *bucket;
	*bucket = fn;
	return fn;
}

/* Known by its bounds only: the address that the file has it at. */
static const char *nameless(struct analysis *a, const struct image_symbol *sym)
{
	char text[32], *copy;
	size_t n;

	if (!sym->start)
		return "[unknown]";
	n = (size_t)snprintf(text, sizeof(text), "[0x%llx]",
			     (unsigned long long)(sym->start - sym->image_base));
	copy = arena_get(&a->arena, n + 1);
	if (copy)
		return strcpy(copy, text);
	a->no_memory = true;
	return "[unknown]";
}

static struct function *add(struct analysis *a, const struct image_symbol *sym)
{
	struct synonym *s = arena_get(&a->arena, sizeof(*s));

	if (!s || (a->functions.n * 2 >= a->functions.room && grow(&a->functions)))
		return NULL;
	if (sym->name && sym->raw_name) {
		s->real = named(a, sym);
	} else {
		s->real = function_new(a, sym, nameless(a, sym));
	}
	if (!s->real)
		return NULL;
	s->fn.pub.id = sym->id;
	*slot_of(&a->functions, sym->id) = &s->fn;
	a->functions.n++;
	return s->real;
}

uintptr_t function_at(struct analysis_thread *t, uint64_t ip)
{
	struct analysis *a = t->a;
	struct image_symbol sym;
	struct function *fn;
	uintptr_t bits = 0;

	memset(&sym, 0, sizeof(sym));
	if (!t->symbol(t->ctx, ip, &sym))
		sym.name = NULL;
	if (!sym.image)
		sym.image = "?";
	if (sym.start) {
		bits = BLOCK_KNOWN;
		/* The beginning of a .cold part is somewhere inside its function. */
		if (ip == sym.start && !(sym.name && sym.raw_name &&
					 sym.raw_name[base_length(sym.raw_name)]))
			bits |= BLOCK_AT_START;
	}
	fn = a->functions.room ? *slot_of(&a->functions, sym.id) : NULL;
	fn = fn ? ((struct synonym *)fn)->real : add(a, &sym);
	return fn ? (uintptr_t)fn | bits : 0;
}
