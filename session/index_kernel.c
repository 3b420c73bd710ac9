// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's own records, in CPU mode: one space for all CPUs.  Objects that precede
 * the first trace bytes were there before tracing began; all else is ordered by time.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "session_priv.h"

struct image_space *index_kernel_space(struct hwt_session *s)
{
	if (!s->kernel) {
		s->kernel = session_add_space(s, image_space_new(s->store), 0);
		if (s->kernel)
			image_space_set_kernel(s->kernel);
	}
	return s->kernel;
}

static struct image_moment moment_of(struct hwt_session *s, const struct hwt_rec *rec)
{
	bool always = !s->tracing && rec->type != HWT_REC_TEXT_POKE;
	struct image_moment at = {0, always ? 0 : rec->time};

	if (at.time > s->kernel_change)
		s->kernel_change = at.time;
	return at;
}

/* Shown as perf does: [kernel], [ext4]. */
static int on_object(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_kernel *k = (const struct hwt_rec_kernel *)(rec + 1);
	struct image_map map = {.addr = k->addr, .len = k->len, .prot = PROT_READ | PROT_EXEC};
	char name[128];

	/* hwt_rec_check saw to it that the path ends. */
	snprintf(name, sizeof(name), k->path[0] == '[' ? "%s" : "[%.120s]", k->path);
	map.path = name;
	return image_space_map(s->kernel, moment_of(s, rec), &map);
}

static int on_code(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_code *c = (const struct hwt_rec_code *)(rec + 1);

	return image_space_code(s->kernel, moment_of(s, rec), c->addr, c->bytes, c->len);
}

int index_kernel(struct hwt_session *s, const struct hwt_rec *rec)
{
	if (!index_kernel_space(s))
		return -ENOMEM;
	return rec->type == HWT_REC_KERNEL ? on_object(s, rec) : on_code(s, rec);
}
