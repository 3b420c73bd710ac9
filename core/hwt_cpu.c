/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_cpu.h"
#include "hwt_buffer.h"
#include "hwt_context.h"

#define WORD_BITS	(8 * sizeof(unsigned long))
#define SET_MAX		8192u	/* bytes; 65536 CPUs */

static bool bit_test(const unsigned long *set, size_t i)
{
	return set[i / WORD_BITS] >> i % WORD_BITS & 1;
}

/* Checks the user's set against the CPUs there are: how many, or -errno. */
static int set_check(struct hwt_core *core, const unsigned long *set, size_t nbits)
{
	int n = 0;
	size_t i;

	for (i = 0; i < nbits; i++) {
		if (!bit_test(set, i))
			continue;
		if (i >= (size_t)core->ncpus || !core->ops->cpu_online(core->host, i))
			return -ENXIO;
		n++;
	}
	return n ? n : -ENODEV;
}

/* The user's set as ctx->cpu_set, which has room for all CPUs. */
static int set_copyin(struct hwt_context *ctx, uint64_t uset, size_t size)
{
	size_t need = (ctx->core->ncpus + WORD_BITS - 1) / WORD_BITS * sizeof(long);
	int rc;

	if (!size || size % sizeof(long) || size > SET_MAX)
		return -EINVAL;
	ctx->cpu_set = hwt_alloc(need > size ? need : size, HWT_MAY_SLEEP);
	if (!ctx->cpu_set)
		return -ENOMEM;
	if (hwt_copyin(uset, ctx->cpu_set, size))
		return -EFAULT;
	rc = set_check(ctx->core, ctx->cpu_set, size * 8);
	return rc < 0 ? rc : 0;
}

static int cpu_add(struct hwt_context *ctx, int id, struct hwt_cpu ***end)
{
	struct hwt_cpu *c = hwt_alloc(sizeof(*c), HWT_MAY_SLEEP);
	int rc;

	if (!c)
		return -ENOMEM;
	rc = hwt_buffer_init(&c->buf, ctx, id);
	if (rc) {
		hwt_free(c);
		return rc;
	}
	c->ctx = ctx;
	c->id = id;
	c->buf.cpu = id;
	**end = c;
	*end = &c->next;
	return 0;
}

bool hwt_cpu_mode_conflict(struct hwt_core *core, struct hwt_backend *be, int mode)
{
	struct hwt_context *c;

	for (c = core->contexts; c; c = c->next)
		if (!c->killed && c->backend == be && c->mode != mode)
			return true;
	return false;
}

/* core->lock held. */
static bool cpu_taken(struct hwt_core *core, const struct hwt_cpu *cpu)
{
	struct hwt_cpu *c;

	for (c = core->cpus[cpu->id]; c; c = c->unit_next)
		if (c->ctx->backend == cpu->ctx->backend)
			return true;
	return false;
}

/* All or none. */
static int cpus_link(struct hwt_context *ctx)
{
	struct hwt_core *core = ctx->core;
	hwt_irqflags_t flags;
	struct hwt_cpu *c;
	int rc = 0;

	hwt_spin_lock(&core->lock, flags);
	if (hwt_cpu_mode_conflict(core, ctx->backend, HWT_MODE_CPU))
		rc = -EBUSY;
	for (c = ctx->cpus; c && !rc; c = c->next)
		if (cpu_taken(core, c))
			rc = -EBUSY;
	for (c = ctx->cpus; c && !rc; c = c->next) {
		c->unit_next = core->cpus[c->id];
		core->cpus[c->id] = c;
	}
	hwt_spin_unlock(&core->lock, flags);
	return rc;
}

static int cpu_node(struct hwt_context *ctx, struct hwt_cpu *c)
{
	struct hwt_core *core = ctx->core;
	char name[HWT_NODE_NAME];

	hwt_context_node_name(name, ctx->ident, c->id);
	return core->ops->node_create(core->host, name, ctx, &c->buf, ctx->uid,
				      &c->buf.node);
}

/* Where its trace goes, if that is shared: before any other record. */
static void cpu_tell(struct hwt_context *ctx, struct hwt_cpu *c)
{
	struct hwt_bus *bus = ctx->backend->bus;
	struct hwt_rec rec = {
		.time = bus->ops->now ? bus->ops->now(bus, c->id) : 0,
		.cpu = c->id,
	};

	hwt_buffer_tell_source(&c->buf, &rec, true);
}

int hwt_cpu_add_set(struct hwt_context *ctx, uint64_t uset, size_t size)
{
	struct hwt_cpu **end = &ctx->cpus, *c;
	int i, rc;

	rc = set_copyin(ctx, uset, size);
	for (i = 0; i < ctx->core->ncpus && !rc; i++)
		if (bit_test(ctx->cpu_set, i))
			rc = cpu_add(ctx, i, &end);
	if (!rc)
		rc = cpus_link(ctx);
	for (c = ctx->cpus; c && !rc; c = c->next)
		rc = cpu_node(ctx, c);
	for (c = ctx->cpus; c && !rc; c = c->next)
		cpu_tell(ctx, c);
	return rc;
}

static void sync_cpu(void *arg, int cpu)
{
	struct hwt_context *ctx = arg;
	struct hwt_cpu *c;

	for (c = ctx->cpus; c; c = c->next)
		if (c->id == cpu)
			hwt_buffer_sync(&c->buf, cpu);
}

int hwt_cpu_sync(struct hwt_context *ctx)
{
	struct hwt_core *core = ctx->core;

	if (!ctx->cpus)
		return 0;
	return core->ops->cpus_call(core->host, ctx->cpu_set, core->ncpus, sync_cpu, ctx);
}

/* A CPU that went offline took its unit along: what is still on it, is off. */
void hwt_cpu_unlink(struct hwt_context *ctx)
{
	struct hwt_core *core = ctx->core;
	struct hwt_cpu *c, **p;
	hwt_irqflags_t flags;

	hwt_spin_lock(&core->lock, flags);
	for (c = ctx->cpus; c; c = c->next) {
		for (p = &core->cpus[c->id]; *p && *p != c; p = &(*p)->unit_next)
			;
		if (*p)
			*p = c->unit_next;
	}
	hwt_spin_unlock(&core->lock, flags);
	for (c = ctx->cpus; c; c = c->next)
		hwt_buffer_abandon(&c->buf);
}

void hwt_cpu_free(struct hwt_context *ctx)
{
	struct hwt_cpu *c, *next;

	for (c = ctx->cpus; c; c = next) {
		next = c->next;
		hwt_buffer_fini(&c->buf);
		hwt_free(c);
	}
	hwt_free(ctx->cpu_set);
}

/* The n-th context that traces the CPU, with a use of it; NULL: no more. */
static struct hwt_cpu *cpu_nth(struct hwt_core *core, int unit, int n)
{
	struct hwt_cpu *c;
	hwt_irqflags_t flags;

	if (unit < 0 || unit >= core->ncpus || !hwt_load_acquire(&core->cpus[unit]))
		return NULL;
	hwt_spin_lock(&core->lock, flags);
	for (c = core->cpus[unit]; c && n; c = c->unit_next)
		n--;
	if (c)
		hwt_ref_get(&c->ctx->users);
	hwt_spin_unlock(&core->lock, flags);
	return c;
}

int hwt_cpu_irq(struct hwt_core *core, int unit)
{
	int bits = HWT_IRQ_NONE, n = 0;
	struct hwt_cpu *c;

	while (!bits && (c = cpu_nth(core, unit, n++)) != NULL) {
		bits = hwt_buffer_irq(&c->buf, unit);
		hwt_context_leave(c->ctx);
	}
	return bits;
}

/* The next START or CPU begins with a sync point. */
void hwt_hook_cpu_offline(struct hwt_core *core, int cpu)
{
	struct hwt_cpu *c;
	int n = 0;

	while ((c = cpu_nth(core, cpu, n++)) != NULL) {
		hwt_buffer_restart(&c->buf);
		hwt_context_leave(c->ctx);
	}
}

void hwt_hook_cpu_online(struct hwt_core *core, int cpu)
{
	struct hwt_cpu *c;
	int n = 0;

	while ((c = cpu_nth(core, cpu, n++)) != NULL) {
		hwt_buffer_sync(&c->buf, cpu);
		hwt_context_leave(c->ctx);
	}
}

int hwt_cpu_irq_resume(struct hwt_core *core, int unit)
{
	struct hwt_cpu *c;
	int rc = 0, n = 0;

	while (!rc && (c = cpu_nth(core, unit, n++)) != NULL) {
		rc = hwt_buffer_resume(&c->buf, unit);
		hwt_context_leave(c->ctx);
	}
	return rc;
}
