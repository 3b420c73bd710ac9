// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares what hwt decodes, thread by thread, with what others say:
 *
 *   flow_check [--log DIR] [--machine DIR] [--ipt] [--ipt-blocks] [--perf] [--gaps N]
 *              [--cut] [--part] [--within START-END]... [--at ADDR=COUNT]... [--samples N]
 *              FILE
 *
 * --log      the unit's independent log of retired addresses
 * --machine  the log of a machine's CPUs (qemu/system.h): of its threads together, or
 *            of each CPU's kernel code
 * --ipt      libipt's instruction decoder on the same bytes; --ipt-blocks
 * --perf     `perf script --itrace=i1i -F tid,ip`, or cpu,ip of an exported recording
 *            of CPUs (must be installed)
 * --within   every address lies in one of these ranges (START to END, the last
 *            byte); what the logs have elsewhere is skipped
 * --cut      what the other decoders have elsewhere is skipped, too: the unit
 *            traced more than the ranges
 * --at       ADDR was executed COUNT times in all
 * --samples  no flow but SPE's samples, one in N instructions: with --machine only
 * --ended    threads may be ended by another's exit_group, at any instruction
 * --part     code is missing: what there is, is a part of the log, in order
 * --gaps     this many gaps are right (default: none); errors never are
 *
 * Prints a line a thread and comparison; exit 1 on any difference.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow_machine.h"
#include "flow_samples.h"
#include "machine_log.h"
#include "source.h"

#define BATCH		4096
#define MAX_RANGES	64
#define MAX_TAIL	64	/* instructions */

struct options {
	const char	*file, *log, *machine;
	char		dir[64];	/* perf's addresses */
	bool		ipt, ipt_blocks, perf, cut;
	bool		ended;		/* threads may be ended by another's exit_group */
	bool		part;
	uint64_t	gaps;
	uint64_t	samples;	/* each of so many instructions; 0: flow */
	uint64_t	start[MAX_RANGES], end[MAX_RANGES];
	int		nranges;
	uint64_t	at[MAX_RANGES], want[MAX_RANGES], count[MAX_RANGES];
	int		nat;
};

struct cursor {
	struct source	*s;
	const struct options *only;	/* addresses within its ranges, NULL: all */
	bool		part;		/* the other one leaves some out */
	uint64_t	ip[BATCH];
	long		n, i;
};

static bool inside(const void *ctx, uint64_t ip)
{
	const struct options *o = ctx;
	int i;

	for (i = 0; i < o->nranges; i++)
		if (ip >= o->start[i] && ip <= o->end[i])
			return true;
	return !o->nranges;
}

static int get_any(struct cursor *c, uint64_t *ip)
{
	if (c->i == c->n) {
		c->n = c->s->next(c->s, c->ip, BATCH);
		c->i = 0;
		if (c->n <= 0) {
			c->n = 0;
			return 0;
		}
	}
	*ip = c->ip[c->i++];
	return 1;
}

static int get(struct cursor *c, uint64_t *ip)
{
	while (get_any(c, ip))
		if (!c->only || inside(c->only, *ip))
			return 1;
	return 0;
}

/* The next one; of those that the other leaves out, the next that it has. */
static int get_beside(struct cursor *c, uint64_t *ip, int have, uint64_t other)
{
	int found = get(c, ip);

	while (c->part && found && !(have && *ip == other))
		found = get(c, ip);
	return found;
}

static void show(const char *name, int have, uint64_t ip)
{
	if (have)
		printf("  %-16s %#" PRIx64 "\n", name, ip);
	else
		printf("  %-16s ends\n", name);
}

/* What follows the first difference, to see who jumped where. */
static void show_difference(struct cursor *a, struct cursor *b, uint64_t index, int ha,
			    int hb, uint64_t ia, uint64_t ib, uint64_t before)
{
	int k;

	printf("  differ at instruction %" PRIu64 " (after %#" PRIx64 "):\n", index, before);
	for (k = 0; k < 8 && (ha || hb); k++) {
		show(a->s->name, ha, ia);
		show(b->s->name, hb, ib);
		ha = ha && get(a, &ia);
		hb = hb && get(b, &ib);
	}
}

/* 0: the same addresses in the same order. */
/*
 * A thread that another's exit_group ends stops anywhere: libipt goes on up to the
 * next branch without a packet, the log has what its last packet had not.
 */
static bool ended_between(struct cursor *longer)
{
	uint64_t ip;
	int n = 1;

	while (n <= MAX_TAIL && get(longer, &ip))
		n++;
	return n <= MAX_TAIL;
}

static int compare(struct source *x, struct source *y, const struct options *only,
		   const char *who, bool ended, bool part)
{
	static struct cursor a, b;
	uint64_t index = 0, ia = 0, ib = 0, before = 0;
	int ha, hb;

	a = (struct cursor){.s = x};
	b = (struct cursor){.s = y, .only = only, .part = part};
	for (;;) {
		ha = get(&a, &ia);
		hb = get_beside(&b, &ib, ha, ia);
		if (!ha && !hb)
			break;
		if (ended && ha != hb && ended_between(ha ? &a : &b))
			break;
		if (ha != hb || ia != ib) {
			printf("%s: %s and %s\n", who, x->name, y->name);
			show_difference(&a, &b, index, ha, hb, ia, ib, before);
			return 1;
		}
		before = ia;
		index++;
	}
	printf("%s: %s %s %s: %" PRIu64 " instructions, errors %" PRIu64 "/%" PRIu64
	       ", gaps %" PRIu64 "/%" PRIu64 "\n", who, x->name,
	       part ? "is part of" : "equals", y->name, index, x->errors, y->errors,
	       x->gaps, y->gaps);
	return x->errors || y->errors;
}

static uint64_t count(struct source *s)
{
	struct cursor c = {.s = s};
	uint64_t ip, n = 0;

	while (get(&c, &ip))
		n++;
	return n;
}

static int with(struct options *o, struct hwt_stream *st, struct source *other,
		const struct options *only, const char *who, bool part)
{
	struct source *ours = source_ours(st);
	int bad;

	/* It may be ended before its log begins. */
	if (ours && !other && o->ended) {
		bad = count(ours) > MAX_TAIL;
		ours->close(ours);
		return bad;
	}
	if (!ours || !other)
		return 1;
	bad = compare(ours, other, only, who, o->ended, part);
	if (!o->part && ours->gaps > o->gaps) {
		printf("%s: %" PRIu64 " gaps, %" PRIu64 " are right\n", who, ours->gaps, o->gaps);
		bad = 1;
	}
	ours->close(ours);
	other->close(other);
	return bad;
}

static int scan(struct options *o, struct hwt_stream *st, const char *who)
{
	static struct cursor c;
	uint64_t ip;
	int bad = 0, i;

	c = (struct cursor){.s = source_ours(st)};
	if (!c.s)
		return 1;
	while (get(&c, &ip)) {
		if (!inside(o, ip) && bad++ < 5)
			printf("%s: %#" PRIx64 " is outside the ranges\n", who, ip);
		for (i = 0; i < o->nat; i++)
			o->count[i] += ip == o->at[i];
	}
	bad += c.s->errors != 0;
	c.s->close(c.s);
	return bad;
}

static int check_stream(struct options *o, struct hwt_stream *st)
{
	const struct hwt_stream_info *info = hwt_stream_info(st);
	const struct options *only = o->cut ? o : NULL;
	uint32_t perf = info->cpu >= 0 ? (uint32_t)info->cpu : info->tid;
	char who[64];
	int bad = 0;

	if (info->cpu >= 0)
		snprintf(who, sizeof(who), "CPU %d", info->cpu);
	else
		snprintf(who, sizeof(who), "%u/%u", info->pid, info->tid);
	if (o->log)
		bad |= with(o, st, source_log(o->log, info->pid, info->tid), o, who,
			    o->part);
	if (o->machine && info->cpu >= 0)
		bad |= with(o, st, source_cpu(o->machine, info->cpu), o, who, false);
	if (o->ipt)
		bad |= with(o, st, source_ipt(st, 0), only, who, false);
	if (o->ipt_blocks)
		bad |= with(o, st, source_ipt(st, 1), only, who, false);
	if (o->perf)
		bad |= with(o, st, source_perf(o->dir, perf), only, who, false);
	if (o->nranges || o->nat)
		bad |= scan(o, st, who);
	return bad;
}

static int parse_pair(const char *arg, char sep, uint64_t *a, uint64_t *b)
{
	char *end;

	*a = strtoull(arg, &end, 0);
	if (*end != sep)
		return -1;
	*b = strtoull(end + 1, &end, 0);
	return *end ? -1 : 0;
}

static int parse(struct options *o, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--ipt"))
			o->ipt = true;
		else if (!strcmp(argv[i], "--ipt-blocks"))
			o->ipt_blocks = true;
		else if (!strcmp(argv[i], "--perf"))
			o->perf = true;
		else if (!strcmp(argv[i], "--cut"))
			o->cut = true;
		else if (!strcmp(argv[i], "--part"))
			o->part = true;
		else if (!strcmp(argv[i], "--ended"))
			o->ended = true;
		else if (argv[i][0] != '-')
			o->file = argv[i];
		else if (i + 1 == argc)
			return -1;
		else if (!strcmp(argv[i], "--log"))
			o->log = argv[++i];
		else if (!strcmp(argv[i], "--machine"))
			o->machine = argv[++i];
		else if (!strcmp(argv[i], "--gaps"))
			o->gaps = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--samples"))
			o->samples = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--within") && o->nranges < MAX_RANGES)
			i += !parse_pair(argv[i + 1], '-', &o->start[o->nranges],
					 &o->end[o->nranges]) && ++o->nranges;
		else if (!strcmp(argv[i], "--at") && o->nat < MAX_RANGES)
			i += !parse_pair(argv[i + 1], '=', &o->at[o->nat], &o->want[o->nat]) &&
			     ++o->nat;
		else
			return -1;
	}
	return o->file && (!o->samples || o->machine) ? 0 : -1;
}

/* Of CPUs perf has code only in an exported folder. */
static int prepare_perf(struct options *o, struct hwt_session *s)
{
	bool cpus = hwt_session_nstreams(s) && hwt_stream_info(hwt_session_stream(s, 0))->cpu >= 0;
	char folder[80];

	strcpy(o->dir, "/tmp/flow_check.XXXXXX");
	if (!mkdtemp(o->dir))
		return 1;
	snprintf(folder, sizeof(folder), "%s/export", o->dir);
	return (cpus && hwt_session_export(s, folder)) ||
	       perf_decode(cpus ? folder : o->file, o->dir, cpus);
}

static void remove_perf(struct options *o)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", o->dir);
	if (system(command))
		fprintf(stderr, "flow_check: %s stays\n", o->dir);
}

static void warn(void *ctx, const char *text)
{
	fprintf(stderr, "flow_check: %s\n", text);
}

int main(int argc, char **argv)
{
	struct hwt_session_options so = {0};
	struct options o = {0};
	struct hwt_session *s;
	char *error = NULL;
	int i, bad = 0;

	if (parse(&o, argc, argv)) {
		fprintf(stderr, "usage: see the source\n");
		return 2;
	}
	so.path = o.file;
	if (hwt_session_open(&so, warn, NULL, &s, &error)) {
		fprintf(stderr, "flow_check: %s\n", error);
		return 2;
	}
	if (!hwt_session_nstreams(s)) {
		printf("no streams\n");
		bad = 1;
	}
	if (o.samples) {
		bad |= check_samples(s, o.machine, o.samples);
		hwt_session_close(s);
		return bad;
	}
	if (o.perf)
		bad |= prepare_perf(&o, s);
	if (o.machine && hwt_session_nstreams(s) &&
	    hwt_stream_info(hwt_session_stream(s, 0))->cpu < 0)
		bad |= check_machine(s, o.machine, o.gaps, inside, &o);
	for (i = 0; i < hwt_session_nstreams(s); i++)
		bad |= check_stream(&o, hwt_session_stream(s, i));
	for (i = 0; i < o.nat; i++) {
		if (o.count[i] != o.want[i]) {
			printf("%#" PRIx64 ": executed %" PRIu64 " times instead of %" PRIu64
			       "\n", o.at[i], o.count[i], o.want[i]);
			bad = 1;
		}
	}
	if (o.perf)
		remove_perf(&o);
	hwt_session_close(s);
	return bad;
}
