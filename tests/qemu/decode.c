// SPDX-License-Identifier: BSD-2-Clause
#include "decode.h"
#include "code_image.h"

#include <errno.h>
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../qemu/execlog_file.h"

void addresses_add(struct addresses *a, uint64_t ip)
{
	if (a->n == a->room) {
		a->room = a->room ? 2 * a->room : 4096;
		a->v = realloc(a->v, a->room * sizeof(*a->v));
		if (!a->v)
			abort();
	}
	a->v[a->n++] = ip;
}

static int read_code(uint8_t *buf, size_t size, const struct pt_asid *asid, uint64_t ip,
		     void *ctx)
{
	size_t n = code_read(ctx, ip, buf, size);

	return n ? (int)n : -pte_nomap;
}

/* Offsets of all TIP.PGE packets: each begins a stretch in one generation. */
static void find_enables(const struct pt_config *cfg, struct addresses *offsets)
{
	struct pt_packet_decoder *d = pt_pkt_alloc_decoder(cfg);
	struct pt_packet p;
	uint64_t off;

	if (!d || pt_pkt_sync_forward(d) < 0)
		goto done;
	for (;;) {
		if (pt_pkt_get_offset(d, &off) < 0 || pt_pkt_next(d, &p, sizeof(p)) < 0)
			break;
		if (p.type == ppt_tip_pge)
			addresses_add(offsets, off);
	}
done:
	pt_pkt_free_decoder(d);
}

void count_outcomes(const struct stream *s, uint64_t *taken, uint64_t *not_taken)
{
	struct pt_packet_decoder *d;
	struct pt_config cfg;
	struct pt_packet p;
	int ones;

	pt_config_init(&cfg);
	cfg.begin = s->data;
	cfg.end = s->data + s->size;
	d = pt_pkt_alloc_decoder(&cfg);
	*taken = *not_taken = 0;
	if (d && pt_pkt_sync_forward(d) >= 0)
		while (pt_pkt_next(d, &p, sizeof(p)) >= 0) {
			if (p.type != ppt_tnt_8 && p.type != ppt_tnt_64)
				continue;
			ones = __builtin_popcountll(p.payload.tnt.payload);
			*taken += (unsigned int)ones;
			*not_taken += p.payload.tnt.bit_size - (unsigned int)ones;
		}
	pt_pkt_free_decoder(d);
}

uint64_t generation_at(const struct stream *s, uint64_t position)
{
	uint64_t g = 0;
	size_t i;

	for (i = 0; i < s->nmarks && s->marks[i].position <= position; i++)
		g = s->marks[i].generation;
	return g;
}

static void error(struct decoded *d, struct pt_insn_decoder *dec, int err, uint64_t ip)
{
	uint64_t off = 0;

	pt_insn_get_offset(dec, &off);
	if (!d->errors++)
		snprintf(d->first_error, sizeof(d->first_error),
			 "%s at offset %#llx, ip %#llx", pt_errstr(pt_errcode(err)), (unsigned long long)off,
			 (unsigned long long)ip);
}

struct walk {
	const struct stream *s;
	struct code code;
	struct addresses enables;
	size_t nenabled;
	struct decoded *d;
};

static int events(struct walk *w, struct pt_insn_decoder *dec, int status)
{
	struct pt_event ev;

	while (status >= 0 && status & pts_event_pending) {
		status = pt_insn_event(dec, &ev, sizeof(ev));
		if (status < 0)
			break;
		if (ev.type == ptev_overflow)
			w->d->gaps++;
		if (ev.type == ptev_enabled && w->nenabled < w->enables.n)
			code_advance(&w->code,
				generation_at(w->s, w->enables.v[w->nenabled++]));
	}
	return status;
}

static void walk(struct walk *w, struct pt_insn_decoder *dec)
{
	struct pt_insn insn = {0};
	int status = pt_insn_sync_forward(dec);

	while (status >= 0) {
		status = events(w, dec, status);
		if (status >= 0 && status & pts_eos)
			return;
		if (status >= 0) {
			insn.iclass = ptic_error;
			status = pt_insn_next(dec, &insn, sizeof(insn));
			if (insn.iclass != ptic_error)
				addresses_add(&w->d->a, insn.ip);
		}
		if (status == -pte_eos)
			return;
		if (status < 0) {
			error(w->d, dec, status, insn.ip);
			status = pt_insn_sync_forward(dec);
		}
	}
}

int decode_stream(const struct stream *s, struct decoded *d)
{
	struct walk w = {.s = s, .d = d};
	struct pt_insn_decoder *dec;
	struct pt_config cfg;

	if (!s->size)
		return 0;
	pt_config_init(&cfg);
	cfg.begin = s->data;
	cfg.end = s->data + s->size;
	code_begin(&w.code, s->process);
	find_enables(&cfg, &w.enables);
	dec = pt_insn_alloc_decoder(&cfg);
	if (!dec)
		return -ENOMEM;
	pt_image_set_callback(pt_insn_get_image(dec), read_code, &w.code);
	walk(&w, dec);
	pt_insn_free_decoder(dec);
	code_free(&w.code);
	free(w.enables.v);
	return 0;
}

int read_log(const char *dir, const char *name, int pid, int tid, struct addresses *a)
{
	struct execlog_header h;
	char path[4200];
	uint64_t *v;
	FILE *f;
	int err = -EIO;

	snprintf(path, sizeof(path), "%s/%s.%d.%d", dir, name, pid, tid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (fread(&h, sizeof(h), 1, f) != 1 || h.magic != EXECLOG_MAGIC ||
	    fseek(f, EXECLOG_DATA, SEEK_SET))
		goto close;
	v = malloc(h.count * 8 + 8);
	if (!v)
		goto close;
	a->n = a->room = fread(v, 8, h.count, f);
	a->v = v;
	err = a->n == h.count ? 0 : -EIO;
close:
	fclose(f);
	return err;
}
