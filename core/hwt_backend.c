/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "hwt_context.h"
#include "hwt_var.h"

static bool backend_valid(const struct hwt_backend *be)
{
	const struct hwt_backend_ops *ops = be->ops;

	return be->name && be->name[0] && ops && ops->buffer_init &&
	       ops->buffer_fini && ops->set_config && ops->config_check &&
	       ops->switch_in && ops->switch_out && ops->read &&
	       be->scope <= HWT_SCOPE_CONTEXT &&
	       (be->scope != HWT_SCOPE_CONTEXT || (ops->source_get && ops->source_put));
}

static struct hwt_backend **backend_find(struct hwt_core *core, const char *name)
{
	struct hwt_backend **p;

	for (p = &core->backends; *p; p = &(*p)->next)
		if (!hwt_strcmp((*p)->name, name))
			break;
	return p;
}

int hwt_backend_register(struct hwt_core *core, struct hwt_backend *be)
{
	struct hwt_backend **end;
	hwt_irqflags_t flags;
	int rc = 0;

	if (!backend_valid(be))
		return -EINVAL;
	hwt_spin_lock(&core->lock, flags);
	end = backend_find(core, be->name);
	if (*end) {
		rc = -EEXIST;
	} else {
		be->next = NULL;
		be->users = 0;
		*end = be;
	}
	hwt_spin_unlock(&core->lock, flags);
	return rc;
}

int hwt_backend_unregister(struct hwt_core *core, struct hwt_backend *be)
{
	struct hwt_backend **p;
	hwt_irqflags_t flags;
	int rc = 0;

	hwt_context_reap(core, false);
	hwt_spin_lock(&core->lock, flags);
	p = backend_find(core, be->name);
	if (*p != be)
		rc = -ENOENT;
	else if (be->users)
		rc = -EBUSY;
	else
		*p = be->next;
	hwt_spin_unlock(&core->lock, flags);
	return rc;
}

/* Both with core->lock held. */
static bool backend_take(struct hwt_core *core, struct hwt_backend *be)
{
	if (core->ops->backend_get && !core->ops->backend_get(core->host, be))
		return false;
	be->users++;
	return true;
}

static void backend_give(struct hwt_core *core, struct hwt_backend *be)
{
	be->users--;
	if (core->ops->backend_put)
		core->ops->backend_put(core->host, be);
}

struct hwt_backend *hwt_backend_use(struct hwt_core *core, const char *name)
{
	struct hwt_backend *be;
	hwt_irqflags_t flags;

	hwt_spin_lock(&core->lock, flags);
	be = *backend_find(core, name);
	if (be && !backend_take(core, be))
		be = NULL;
	hwt_spin_unlock(&core->lock, flags);
	return be;
}

void hwt_backend_unuse(struct hwt_core *core, struct hwt_backend *be)
{
	hwt_irqflags_t flags;

	hwt_spin_lock(&core->lock, flags);
	backend_give(core, be);
	hwt_spin_unlock(&core->lock, flags);
}

static struct hwt_backend *backend_at(struct hwt_core *core, uint32_t index)
{
	struct hwt_backend *be;
	hwt_irqflags_t flags;

	hwt_spin_lock(&core->lock, flags);
	for (be = core->backends; be && index; be = be->next)
		index--;
	if (be && !backend_take(core, be))
		be = NULL;
	hwt_spin_unlock(&core->lock, flags);
	return be;
}

static void copy_name(char *to, size_t size, const char *from)
{
	size_t n = from ? hwt_strnlen(from, size - 1) : 0;

	hwt_memcpy(to, from ? from : "", n);
	hwt_memset(to + n, 0, size - n);
}

int hwt_backend_query(struct hwt_core *core, struct hwt_query *q)
{
	struct hwt_backend *be = backend_at(core, q->index);
	struct hwt_bus *bus;
	uint32_t i;

	if (!be)
		return -ENOENT;
	bus = be->bus;
	copy_name(q->name, sizeof(q->name), be->name);
	if (!bus) {
		hwt_backend_unuse(core, be);
		return -ENXIO;
	}
	q->flags = be->flags & HWT_QUERY_RING;
	copy_name(q->host, sizeof(q->host), core->ops->name);
	copy_name(q->unit, sizeof(q->unit), bus->name);
	q->modes = be->modes;
	if (core->ncpus == 0)	/* the host offers threads only */
		q->modes &= ~(1u << HWT_MODE_CPU);
	q->scope = be->scope;
	q->nranges = be->ops->ranges ? be->ops->ranges(be) : be->nranges;
	q->time_hz = bus->time_hz;
	q->ncaps = 0;
	for (i = 0; i < sizeof(q->caps) / sizeof(q->caps[0]); i++) {
		q->caps[i] = bus->ops->cap ? bus->ops->cap(bus, i) : 0;
		if (q->caps[i])
			q->ncaps = i + 1;
	}
	hwt_backend_unuse(core, be);
	return 0;
}
