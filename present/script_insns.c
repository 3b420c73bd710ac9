/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line an instruction.  Bare addresses (-F ip) are the bulk of what tests
 * and scripts read: a block's lines are formatted once and then copied.
 */
#include "script_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All texts of a stream together; blocks beyond it are formatted each time. */
#define TEXT_LIMIT	(256u << 20)

void script_insns_reset(struct script *s)
{
	uint32_t i;

	for (i = 0; i < s->ntexts; i++)
		free(s->texts[i].text);
	free(s->texts);
	s->texts = NULL;
	s->ntexts = 0;
	s->text_bytes = 0;
}

static size_t hex_digits(uint64_t v)
{
	char buf[16];

	return out_format_hex(buf, v);
}

static int make_text(struct script *s, const struct trace_block *b, struct block_text *t)
{
	size_t width = hex_digits(b->ip) + 1;
	uint64_t ip = b->ip;
	uint32_t i;
	char *p;

	t->made = true;
	if (hex_digits(b->last) + 1 != width ||
	    s->text_bytes + b->ninsn * width > TEXT_LIMIT)
		return 0;
	/* The last line's formatter may write 16 digits. */
	p = t->text = malloc(b->ninsn * width + 16);
	if (!p)
		return -ENOMEM;
	for (i = 0; i < b->ninsn; i++) {
		out_format_hex(p, ip);
		p[width - 1] = '\n';
		p += width;
		ip += b->len[i];
	}
	t->width = (uint32_t)width;
	s->text_bytes += b->ninsn * width;
	return 0;
}

static int grow_texts(struct script *s, uint32_t id)
{
	uint32_t n = s->ntexts ? s->ntexts : 1024;
	struct block_text *texts;

	while (n <= id)
		n *= 2;
	texts = realloc(s->texts, n * sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	memset(texts + s->ntexts, 0, (n - s->ntexts) * sizeof(*texts));
	s->texts = texts;
	s->ntexts = n;
	return 0;
}

/* Which of the block's instructions is at ip. */
static uint32_t index_of(const struct trace_block *b, uint64_t ip)
{
	uint64_t at = b->ip;
	uint32_t i;

	for (i = 0; i < b->ninsn && at < ip; i++)
		at += b->len[i];
	return i;
}

static void one_by_one(struct script *s, const struct trace_event *ev, uint32_t first)
{
	const struct trace_block *b = ev->block;
	struct row row = { .event = "insn", .ev = ev, .ip = ev->ip };
	bool bare = s->opt.fields == SCRIPT_IP && !s->opt.json;
	uint32_t i, n;

	for (i = first, n = 0; n < ev->ninsn && i < b->ninsn; i++, n++) {
		if (bare) {
			out_hex(s->out, row.ip);
			out_char(s->out, '\n');
		} else {
			script_row(s, &row);
		}
		row.ip += b->len[i];
	}
}

int script_insns(struct script *s, const struct trace_event *ev)
{
	const struct trace_block *b = ev->block;
	uint32_t first = ev->ip == b->ip ? 0 : index_of(b, ev->ip), n = ev->ninsn;
	struct block_text *t;
	int err;

	if (s->opt.fields != SCRIPT_IP || s->opt.json) {
		one_by_one(s, ev, first);
		return 0;
	}
	if (b->id >= s->ntexts && (err = grow_texts(s, b->id)))
		return err;
	t = &s->texts[b->id];
	if (!t->made && (err = make_text(s, b, t)))
		return err;
	if (!t->text) {
		one_by_one(s, ev, first);
		return 0;
	}
	if (n > b->ninsn - first)
		n = b->ninsn - first;
	out_bytes(s->out, t->text + (size_t)first * t->width, (size_t)n * t->width);
	return 0;
}
