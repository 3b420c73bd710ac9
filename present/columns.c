/* SPDX-License-Identifier: BSD-2-Clause */
#include "columns.h"
#include "text.h"

#include <errno.h>
#include <string.h>

/* What a line is about; sample: NULL for flow. */
struct line {
	const struct script_thread *thread;
	const struct trace_event *ev;
	const struct image_symbol *sym;
	const struct spe_sample *sample;
};

static void offset(struct out *o, const struct line *l)
{
	out_printf(o, "%#llx", (unsigned long long)l->ev->offset);
}

static void id(struct out *o, const struct line *l)
{
	if (l->thread->cpu >= 0)
		out_printf(o, "CPU %d", l->thread->cpu);
	else
		out_printf(o, "thr %u", l->thread->tid);
}

static void image(struct out *o, const struct line *l)
{
	const struct image_symbol *sym = l->sym;

	out_printable(o, sym->image ? sym->image : "?");
	if (sym->image && strcmp(sym->image, "?") != 0)
		out_printf(o, "+%#llx", (unsigned long long)(l->ev->ip - sym->image_base));
}

static void symbol(struct out *o, const struct line *l)
{
	const struct image_symbol *sym = l->sym;

	out_printable(o, sym->name ? sym->name : "?");
	if (sym->name)
		out_printf(o, "+%#llx", (unsigned long long)(l->ev->ip - sym->start));
}

static void pc(struct out *o, const struct line *l)
{
	out_printf(o, "%#llx", (unsigned long long)l->ev->ip);
}

static void event_type(struct out *o, const struct line *l)
{
	out_str(o, l->sample ? script_sample_name(l->sample) : script_event_name(l->ev));
}

/* What it accessed, else where it went. */
static void sample_payload(struct out *o, const struct spe_sample *p)
{
	unsigned int i = p->has & SPE_HAS_ADDR(SPE_ADDR_DATA_VA) ? SPE_ADDR_DATA_VA :
								   SPE_ADDR_TARGET;

	out_printf(o, "%#llx", (unsigned long long)p->addr[i]);
}

static void event_payload(struct out *o, const struct line *l)
{
	const struct trace_event *ev = l->ev;

	if (l->sample)
		sample_payload(o, l->sample);
	else if (ev->type == TRACE_RUN)
		out_printf(o, "%u %s", ev->ninsn,
			   text_form(ev->ninsn, "instruction", "instructions"));
	else if (ev->type == TRACE_GAP || ev->type == TRACE_ERROR)
		out_str(o, trace_gap_text(ev->error));
	else if (ev->type == TRACE_ASYNC)
		out_printf(o, "%#llx", (unsigned long long)ev->to);
	else
		out_printf(o, "%#llx", (unsigned long long)ev->value);
}

static const struct column {
	const char *name;
	void (*write)(struct out *o, const struct line *l);
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

static void write_line(const struct columns *c, struct out *o, const struct line *l)
{
	int i;

	for (i = 0; i < c->n; i++) {
		if (i)
			out_char(o, '\t');
		all[c->column[i]].write(o, l);
	}
	out_char(o, '\n');
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

	if (!c->every && same_function(ev, last))
		return;
	if (!c->every && ev->type != TRACE_RUN && ev->type != TRACE_GAP &&
	    ev->type != TRACE_ERROR)
		return;
	if (ev->ip && !thread->symbol(thread->ctx, ev->ip, &sym) && !c->every &&
	    ev->type == TRACE_RUN && !last->name && last->image == sym.image)
		return;
	write_line(c, o, &(struct line){ thread, ev, &sym, NULL });
	if (ev->type == TRACE_RUN)
		*last = sym;
}

void columns_sample(const struct columns *c, struct out *o,
		    const struct script_thread *thread, const struct spe_event *ev)
{
	struct trace_event at = {
		.type = ev->type == SPE_SAMPLE ? TRACE_OTHER :
			ev->type == SPE_GAP ? TRACE_GAP : TRACE_ERROR,
		.ip = ev->sample.addr[SPE_ADDR_PC], .offset = ev->offset, .error = ev->error,
	};
	struct image_symbol sym = { 0 };

	if (at.ip)
		thread->symbol(thread->ctx, at.ip, &sym);
	write_line(c, o, &(struct line){ thread, &at, &sym,
					 ev->type == SPE_SAMPLE ? &ev->sample : NULL });
}
