/* SPDX-License-Identifier: BSD-2-Clause */
#include "columns.h"

#include <errno.h>
#include <string.h>

static void offset(struct out *o, const struct script_thread *t,
		   const struct trace_event *ev, const struct image_symbol *sym)
{
	out_printf(o, "%#llx", (unsigned long long)ev->offset);
}

static void id(struct out *o, const struct script_thread *t, const struct trace_event *ev,
	       const struct image_symbol *sym)
{
	if (t->cpu >= 0)
		out_printf(o, "CPU %d", t->cpu);
	else
		out_printf(o, "thr %u", t->tid);
}

static void image(struct out *o, const struct script_thread *t,
		  const struct trace_event *ev, const struct image_symbol *sym)
{
	out_printable(o, sym->image ? sym->image : "?");
	if (sym->image && strcmp(sym->image, "?") != 0)
		out_printf(o, "+%#llx", (unsigned long long)(ev->ip - sym->image_base));
}

static void symbol(struct out *o, const struct script_thread *t,
		   const struct trace_event *ev, const struct image_symbol *sym)
{
	out_printable(o, sym->name ? sym->name : "?");
	if (sym->name)
		out_printf(o, "+%#llx", (unsigned long long)(ev->ip - sym->start));
}

static void pc(struct out *o, const struct script_thread *t, const struct trace_event *ev,
	       const struct image_symbol *sym)
{
	out_printf(o, "%#llx", (unsigned long long)ev->ip);
}

static void event_type(struct out *o, const struct script_thread *t,
		       const struct trace_event *ev, const struct image_symbol *sym)
{
	out_str(o, script_event_name(ev));
}

static void event_payload(struct out *o, const struct script_thread *t,
			  const struct trace_event *ev, const struct image_symbol *sym)
{
	if (ev->type == TRACE_RUN)
		out_printf(o, "%u instructions", ev->ninsn);
	else if (ev->type == TRACE_GAP || ev->type == TRACE_ERROR)
		out_str(o, trace_gap_text(ev->error));
	else if (ev->type == TRACE_ASYNC)
		out_printf(o, "%#llx", (unsigned long long)ev->to);
	else
		out_printf(o, "%#llx", (unsigned long long)ev->value);
}

static const struct column {
	const char *name;
	void (*write)(struct out *o, const struct script_thread *t,
		      const struct trace_event *ev, const struct image_symbol *sym);
} all[] = {
	{ "offset", offset }, { "id", id }, { "image", image }, { "symbol", symbol },
	{ "pc", pc }, { "event_type", event_type }, { "event_payload", event_payload },
};
#define NCOLUMNS	(sizeof(all) / sizeof(all[0]))

int columns_parse(struct columns *c, const char *list, const char **bad, int *bad_len)
{
	size_t n, i;

	for (c->n = 0;; list += n + 1) {
		n = strcspn(list, ",");
		for (i = 0; i < NCOLUMNS; i++)
			if (strlen(all[i].name) == n && memcmp(all[i].name, list, n) == 0)
				break;
		if (i == NCOLUMNS || c->n == 16) {
			*bad = list;
			*bad_len = (int)n;
			return -EINVAL;
		}
		c->column[c->n++] = (uint8_t)i;
		if (list[n] == '\0')
			return 0;
	}
}

/*
 * Function by function: within the one of the line before there is nothing new,
 * unless it is entered again.
 */
static bool same_function(const struct trace_event *ev, const struct image_symbol *last)
{
	return ev->type == TRACE_RUN && last->end && ev->ip > last->start &&
	       ev->ip < last->end;
}

void columns_event(const struct columns *c, struct out *o,
		   const struct script_thread *thread, const struct trace_event *ev,
		   struct image_symbol *last)
{
	struct image_symbol sym = { 0 };
	int i;

	if (!c->every && same_function(ev, last))
		return;
	if (!c->every && ev->type != TRACE_RUN && ev->type != TRACE_GAP &&
	    ev->type != TRACE_ERROR)
		return;
	if (ev->ip && !thread->symbol(thread->ctx, ev->ip, &sym) && !c->every &&
	    ev->type == TRACE_RUN && !last->name && last->image == sym.image)
		return;
	for (i = 0; i < c->n; i++) {
		if (i)
			out_char(o, '\t');
		all[c->column[i]].write(o, thread, ev, &sym);
	}
	out_char(o, '\n');
	if (ev->type == TRACE_RUN)
		*last = sym;
}
