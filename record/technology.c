/* SPDX-License-Identifier: BSD-2-Clause */
#include "technology.h"
#include "internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- Intel PT ---- */

static void pt_configure(const struct context *ctx, union technology_room *room,
			 struct hwt_set_config2 *set)
{
	bool few = ctx->nranges <= PT_IP_FILTER_MAX_RANGES;
	struct pt_cpu_config2 *config = &room->pt;
	struct ipf_range *range;
	int i;

	*config = (struct pt_cpu_config2){ .first = ctx->r->opt->config };
	config->first.nranges = ctx->nranges;
	for (i = 0; i < ctx->nranges; i++) {
		range = i < PT_IP_FILTER_MAX_RANGES ? &config->first.ip_ranges[i] :
			&config->more[i - PT_IP_FILTER_MAX_RANGES];
		*range = ctx->ranges[i];
	}
	set->config_version = few ? PT_CONFIG_VERSION : PT_CONFIG_VERSION2;
	set->config = (uintptr_t)config;
	set->config_size = few ? sizeof(config->first) : sizeof(*config);
}

static void pt_service(int buf_id, uint64_t tail, union technology_room *room,
		       struct hwt_svc_buf *svc)
{
	room->pt_svc = (struct pt_svc_buf){ .buf_id = buf_id, .tail = tail };
	*svc = (struct hwt_svc_buf){ room, sizeof(room->pt_svc), PT_SVC_BUF_VERSION };
}

/* ---- Arm CoreSight ---- */

static void coresight_configure(const struct context *ctx, union technology_room *room,
				struct hwt_set_config2 *set)
{
	struct coresight_config *config = &room->coresight;
	int i;

	*config = ctx->r->opt->coresight;
	config->nranges = (uint32_t)ctx->nranges;
	for (i = 0; i < ctx->nranges; i++) {
		config->ranges[i].start = ctx->ranges[i].start;
		config->ranges[i].end = ctx->ranges[i].end;
	}
	set->config_version = CORESIGHT_CONFIG_VERSION;
	set->config = (uintptr_t)config;
	set->config_size = sizeof(*config);
}

static void coresight_service(int buf_id, uint64_t tail, union technology_room *room,
			      struct hwt_svc_buf *svc)
{
	room->coresight_svc = (struct coresight_svc_buf){ .buf_id = buf_id, .tail = tail };
	*svc = (struct hwt_svc_buf){ room, sizeof(room->coresight_svc),
				     CORESIGHT_SVC_BUF_VERSION };
}

/* ---- Arm SPE ---- */

static void spe_configure(const struct context *ctx, union technology_room *room,
			  struct hwt_set_config2 *set)
{
	room->spe = ctx->r->opt->spe;
	set->config_version = ARM_SPE_CONFIG_VERSION2;
	set->config = (uintptr_t)room;
	set->config_size = sizeof(room->spe);
}

static void spe_service(int buf_id, uint64_t tail, union technology_room *room,
			struct hwt_svc_buf *svc)
{
	room->spe_svc = (struct arm_spe_svc_buf2){ .buf_id = buf_id, .tail = tail };
	*svc = (struct hwt_svc_buf){ room, sizeof(room->spe_svc), ARM_SPE_SVC_BUF_VERSION2 };
}

/* ---- the choice ---- */

/* Flow first: it is what programs are traced for. */
static const struct technology table[] = {
	{ "pt", true, 1, 1, pt_configure, pt_service },
	/* The formatter's (IHI 0029 D4.2). */
	{ "coresight", true, 1, 16, coresight_configure, coresight_service },
	/* Two halves. */
	{ "spe", false, 2, 1, spe_configure, spe_service },
};
#define NTABLE	(sizeof(table) / sizeof(table[0]))

static const struct technology *row_of(const char *backend)
{
	size_t i;

	for (i = 0; i < NTABLE; i++)
		if (strcmp(table[i].backend, backend) == 0)
			return &table[i];
	return NULL;
}

/* A unit that is there describes itself; an earlier row is the better one. */
static void consider(struct recorder *r, const struct hwt_query *q)
{
	const struct technology *t = row_of(q->name);

	if (!t || (!r->opt->backend && !q->ncaps) || (r->technology && r->technology < t))
		return;
	r->technology = t;
	r->query = *q;
}

static int look(struct recorder *r)
{
	const char *asked = r->opt->backend;
	struct hwt_query q;
	uint32_t i;
	int err;

	for (i = 0;; i++) {
		q = (struct hwt_query){ .index = i };
		err = hwt_dev_ioctl(r->hwt, HWT_IOC_QUERY, &q);
		if (err && err != -ENXIO)
			break;
		q.name[sizeof(q.name) - 1] = '\0';
		if (asked && strcmp(q.name, asked))
			continue;
		if (!err)
			consider(r, &q);
		else if (asked)
			return recorder_fail(r, err, "backend '%s' has no trace unit here", asked);
	}
	if (r->technology)
		return 0;
	return asked ? recorder_fail(r, -ENXIO, "there is no backend '%s' here; see hwt list", asked) :
		       recorder_fail(r, -ENXIO, "there is no trace unit here; see hwt list");
}

int technology_choose(struct recorder *r)
{
	int err = look(r);
	const char *name = err ? NULL : r->technology->backend, *option = NULL;
	size_t unit = err ? 0 : r->technology->pages * (size_t)sysconf(_SC_PAGESIZE);

	if (err)
		return err;
	if (r->opt->ring && !(r->query.flags & HWT_QUERY_RING))
		return recorder_fail(r, -EOPNOTSUPP, "backend '%s' has no ring mode", name);
	if (r->opt->nfilters && !r->technology->filters)
		return recorder_fail(r, -EOPNOTSUPP, "backend '%s' has no address filters", name);
	if (r->bufsize % unit)
		return recorder_fail(r, -EINVAL, "a buffer of '%s' is a multiple of %zu bytes, %zu is none",
				     name, unit, r->bufsize);
	if (r->opt->unfit)
		option = r->opt->unfit(r->opt->unfit_ctx, &r->query);
	if (option)
		return recorder_fail(r, -EOPNOTSUPP,
				     "%s: the program is traced by %s, which has no such thing; see hwt help record",
				     option, name);
	return 0;
}
