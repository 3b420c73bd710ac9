// SPDX-License-Identifier: BSD-2-Clause
#include "driver_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define NBUFFERS	6

static uint64_t random_state;
static const struct driver_walk *w;
static struct slot {
	struct hwt_buffer *b;
	int unit;		/* that it is on, or -1 */
	bool full;		/* stopped for want of room */
} slots[NBUFFERS];

void driver_walk_seed(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ull;
}

uint64_t driver_walk_draw(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

static int free_unit(void)
{
	bool used[WORLD_UNITS] = {false};
	int i, at = (int)driver_walk_draw(WORLD_UNITS);

	for (i = 0; i < NBUFFERS; i++)
		if (slots[i].unit >= 0)
			used[slots[i].unit] = true;
	return used[at] ? -1 : at;
}

static void switch_in(struct slot *s)
{
	int unit = free_unit();

	if (unit < 0 || ((s->full || w->needs_room) && !w->be->ops->room(s->b)))
		return;
	s->full = false;
	s->unit = unit;
	w->be->ops->switch_in(s->b, unit, driver_walk_draw(2));
	w->op_ended(s->b, unit, true);
}

static void left(struct slot *s, int bits)
{
	w->op_ended(s->b, s->unit, false);
	s->unit = -1;
	s->full = bits & HWT_IRQ_FULL;
}

static void interrupt(struct slot *s)
{
	int bits = w->be->ops->irq(s->b, s->unit);

	if (bits & HWT_IRQ_FULL && !(bits & HWT_IRQ_HELD))
		left(s, bits);
	else
		w->op_ended(s->b, s->unit, true);
}

static void position(struct slot *s)
{
	uint64_t off, pos;

	w->be->ops->read(s->b, s->unit, &off, &pos);
	if (off >= s->b->bufsize || pos < off)
		abort();
	w->op_ended(s->b, s->unit, true);
}

static void on_unit(struct slot *s)
{
	switch (driver_walk_draw(5)) {
	case 0:
		left(s, w->be->ops->switch_out(s->b, s->unit));
		break;
	case 1:
		interrupt(s);
		break;
	case 2:
		position(s);
		break;
	default:
		w->unit_moves(s->b, s->unit);
		break;
	}
}

static void service(struct hwt_buffer *b)
{
	b = b->sink;
	b->ring = b->ring && driver_walk_draw(16);
	if (!b->ring)
		b->tail += driver_walk_draw(b->head - b->tail + 1);
}

static void one_step(struct slot *s)
{
	switch (driver_walk_draw(4)) {
	case 0:
		service(s->b);
		break;
	case 1:
		if (s->unit < 0)
			w->configure(s->b);
		break;
	default:
		if (s->unit >= 0)
			on_unit(s);
		else
			switch_in(s);
		break;
	}
}

/* Those that share one come one after another. */
static struct hwt_buffer *buffer(int i)
{
	uint64_t nsizes = 0;

	if (w->share && i % w->share)
		return driver_world_source(slots[i - 1].b->sink);
	while (w->pages[nsizes])
		nsizes++;
	return driver_world_buffer(w->be, PAGE * w->pages[driver_walk_draw(nsizes)]);
}

static void check(uint64_t seed, int step)
{
	const char *broken;
	uint32_t reg = 0;
	int i;

	for (i = 0; i < WORLD_UNITS; i++) {
		broken = w->broken(i, &reg);
		if (broken)
			fail_msg("seed %llu, step %d, register %#x: %s",
				 (unsigned long long)seed, step, reg, broken);
	}
}

void driver_walk(const struct driver_walk *walk, uint64_t seed, int steps)
{
	int step, i;

	w = walk;
	for (i = 0; i < NBUFFERS; i++) {
		slots[i] = (struct slot){.b = buffer(i), .unit = -1};
		slots[i].b->ring = !walk->full_only;
	}
	for (step = 0; step < steps; step++) {
		one_step(&slots[driver_walk_draw(NBUFFERS)]);
		check(seed, step);
	}
	for (i = NBUFFERS; i-- > 0;) {
		if (slots[i].unit >= 0)
			left(&slots[i], walk->be->ops->switch_out(slots[i].b, slots[i].unit));
		check(seed, step);
		driver_world_buffer_free(slots[i].b);
	}
}
