// SPDX-License-Identifier: BSD-2-Clause
#include "samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis_priv.h"

/* Rows of one group by key. */
struct group {
	struct samples_row **slots;
	size_t		room, n;	/* room: a power of two */
};

struct samples {
	struct group	groups[SAMPLES_GROUPS];
	struct arena	*arena;
	const struct samples_row **sorted;
	uint64_t	total;
};

struct samples *samples_new(void)
{
	return calloc(1, sizeof(struct samples));
}

void samples_free(struct samples *s)
{
	int i;

	if (!s)
		return;
	for (i = 0; i < SAMPLES_GROUPS; i++)
		free(s->groups[i].slots);
	arena_free(s->arena);
	free(s->sorted);
	free(s);
}

static struct samples_row **slot_of(const struct group *g, uint64_t key)
{
	size_t i = hash64(key) & (g->room - 1);

	while (g->slots[i] && g->slots[i]->key != key)
		i = (i + 1) & (g->room - 1);
	return &g->slots[i];
}

static int grow(struct group *g)
{
	struct group bigger = {.room = g->room ? g->room * 2 : 64, .n = g->n};
	size_t i;

	bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (i = 0; i < g->room; i++)
		if (g->slots[i])
			*slot_of(&bigger, g->slots[i]->key) = g->slots[i];
	free(g->slots);
	*g = bigger;
	return 0;
}

/* The row of a key, made if need be; NULL: no memory. */
static struct samples_row *row_of(struct samples *s, enum samples_group group, uint64_t key)
{
	struct group *g = &s->groups[group];
	struct samples_row **slot;

	if (g->n * 2 >= g->room && grow(g))
		return NULL;
	slot = slot_of(g, key);
	if (!*slot) {
		*slot = arena_get(&s->arena, sizeof(**slot));
		if (!*slot)
			return NULL;
		(*slot)->key = key;
		g->n++;
	}
	return *slot;
}

static bool event(const struct spe_sample *p, unsigned int bit)
{
	return p->events >> bit & 1;
}

static void count(struct samples_row *r, const struct spe_sample *p)
{
	r->samples++;
	if (p->has & SPE_HAS_OPERATION) {
		r->branches += p->op_class == SPE_CLASS_BRANCH;
		r->stores += p->op_class == SPE_CLASS_LDST && p->op & SPE_OP_STORE;
		r->loads += p->op_class == SPE_CLASS_LDST && !(p->op & SPE_OP_STORE);
	}
	if (p->has & SPE_HAS_COUNTER(SPE_COUNTER_TOTAL)) {
		r->latency += p->counter[SPE_COUNTER_TOTAL];
		r->timed++;
	}
	r->l1_misses += event(p, SPE_EV_L1D_REFILL);
	r->llc_misses += event(p, SPE_EV_LLC_MISS);
	r->tlb_walks += event(p, SPE_EV_TLB_WALK);
	r->mispredicted += event(p, SPE_EV_MISPREDICTED);
}

/* The largest power of two that is not above; 0 of 0. */
static uint64_t bucket(uint64_t cycles)
{
	return cycles ? 1ull << (63 - __builtin_clzll(cycles)) : 0;
}

static int add(struct samples *s, enum samples_group group, uint64_t key,
	       const struct spe_sample *p)
{
	struct samples_row *r = row_of(s, group, key);

	if (!r)
		return -ENOMEM;
	count(r, p);
	return 0;
}

static int add_function(struct samples *s, const struct spe_sample *p,
			analysis_symbol_fn symbol, void *ctx)
{
	uint64_t pc = p->addr[SPE_ADDR_PC];
	struct image_symbol sym = {0};
	struct samples_row *r;
	bool named = symbol && symbol(ctx, pc, &sym);

	r = row_of(s, SAMPLES_FUNCTION, sym.id);
	if (!r)
		return -ENOMEM;
	if (!r->samples) {
		r->name = named ? sym.name : NULL;
		r->image = sym.image ? sym.image : "?";
		r->address = sym.start ? sym.start - sym.image_base : 0;
	}
	count(r, p);
	return 0;
}

static int add_sample(struct samples *s, const struct spe_sample *p,
		      analysis_symbol_fn symbol, void *ctx)
{
	int err = add_function(s, p, symbol, ctx);

	s->total++;
	if (!err && p->has & SPE_HAS_OPERATION)
		err = add(s, SAMPLES_OPERATION, (uint64_t)p->op_class << 8 | p->op, p);
	if (!err && p->has & SPE_HAS_SOURCE)
		err = add(s, SAMPLES_SOURCE, p->source, p);
	if (!err && p->has & SPE_HAS_COUNTER(SPE_COUNTER_TOTAL))
		err = add(s, SAMPLES_LATENCY, bucket(p->counter[SPE_COUNTER_TOTAL]), p);
	if (!err && p->has & SPE_HAS_ADDR(SPE_ADDR_DATA_VA))
		err = add(s, SAMPLES_ADDRESS,
			  p->addr[SPE_ADDR_DATA_VA] & ~(uint64_t)(SAMPLES_LINE - 1), p);
	return err;
}

int samples_feed(struct samples *s, const struct spe_event *ev, int n,
		 analysis_symbol_fn symbol, void *ctx)
{
	int i, err = 0;

	for (i = 0; i < n && !err; i++)
		if (ev[i].type == SPE_SAMPLE)
			err = add_sample(s, &ev[i].sample, symbol, ctx);
	return err;
}

static int more(const void *a, const void *b)
{
	const struct samples_row *ra = *(const struct samples_row *const *)a;
	const struct samples_row *rb = *(const struct samples_row *const *)b;

	if (ra->samples != rb->samples)
		return ra->samples < rb->samples ? 1 : -1;
	return ra->key < rb->key ? -1 : ra->key > rb->key;
}

static int lower(const void *a, const void *b)
{
	const struct samples_row *ra = *(const struct samples_row *const *)a;
	const struct samples_row *rb = *(const struct samples_row *const *)b;

	return ra->key < rb->key ? -1 : ra->key > rb->key;
}

long samples_rows(struct samples *s, enum samples_group group,
		  const struct samples_row *const **rows)
{
	const struct group *g = &s->groups[group];
	size_t i, n = 0;

	free(s->sorted);
	s->sorted = calloc(g->n + 1, sizeof(*s->sorted));
	if (!s->sorted)
		return -ENOMEM;
	for (i = 0; i < g->room; i++)
		if (g->slots[i])
			s->sorted[n++] = g->slots[i];
	qsort(s->sorted, n, sizeof(*s->sorted), group == SAMPLES_LATENCY ? lower : more);
	*rows = s->sorted;
	return (long)n;
}

uint64_t samples_total(const struct samples *s)
{
	return s->total;
}

static void feed_one(struct summary *sum, const struct spe_event *ev)
{
	if (ev->type == SPE_SAMPLE) {
		sum->samples++;
		if (!(ev->sample.has & SPE_HAS_TIME))
			return;
		if (!sum->has_time || ev->sample.time < sum->first_time)
			sum->first_time = ev->sample.time;
		if (ev->sample.time > sum->last_time)
			sum->last_time = ev->sample.time;
		sum->has_time = true;
		return;
	}
	if (ev->type == SPE_GAP) {
		sum->gaps++;
		sum->missing += ev->bytes;
	} else if (!sum->errors++) {
		sum->first_error = ev->error;
		sum->first_offset = ev->offset;
	}
	if (ev->error < TRACE_GAP_MAX)
		sum->reasons[ev->error]++;
}

void summary_feed_samples(struct summary *sum, const struct spe_event *ev, int n)
{
	int i;

	sum->sampled = true;
	for (i = 0; i < n; i++)
		feed_one(sum, &ev[i]);
}
