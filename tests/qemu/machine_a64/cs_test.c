// SPDX-License-Identifier: BSD-2-Clause
/*
 * Boots the AArch64 test machine under the plugin with an ETM beside each CPU, and
 * holds what it recorded against the unit's independent log, by our decoder:
 *
 *	cs_test QEMU PLUGIN MACHINE single|multi
 *
 * Any decode error, overflow or difference fails.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../machine/harness.h"
#include "decode/etm/etm_decoder.h"
#include "vtu/window.h"

#define MACHINE_HOST
#include "machine.h"
#include "run.h"

/* The code that the machine ran at ip: what its RAM holds at the end. */
static size_t code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	if (ip >= KERNEL_BASE)
		return machine_code(ctx, false, ip - KERNEL_BASE - RAM_BASE, buf, len);
	return machine_code(ctx, true, ip - (ip >= USER_ALIAS ? USER_ALIAS : USER_BASE),
			    buf, len);
}

struct result {
	struct flow flow;
	uint64_t exceptions;
	uint32_t types;	    /* of exceptions, as bits */
	uint64_t taken;	    /* conditional branches to what follows */
	uint64_t cid, cids; /* context ID; so many by one more than the one before */
};

/* What kinds of exceptions rows are for: bits of ETM4_EXC_*. */
static const struct {
	const char *row;
	uint32_t types;
} expected[] = {
	{"user-spin", 1u << ETM4_EXC_IRQ},
	{"user-faults", 1u << ETM4_EXC_DATA_FAULT},
	{"kernel-faults", 1u << ETM4_EXC_DATA_FAULT},
	{"user-fetch", 1u << ETM4_EXC_INST_FAULT},
	{"alias-fetch", 1u << ETM4_EXC_INST_FAULT},
	{"user-traps",
	 1u << ETM4_EXC_TRAP | 1u << ETM4_EXC_INST_DEBUG | 1u << ETM4_EXC_ALIGNMENT},
	{"kernel-fp", 1u << ETM4_EXC_TRAP},
	{"steps", 1u << ETM4_EXC_INST_DEBUG},
};

static void note(struct result *d, const struct trace_event *e)
{
	uint32_t i;

	switch (e->type) {
	case TRACE_RUN:
		for (i = 0; i < e->ninsn; i++)
			flow_add(&d->flow, e->ip + 4 * i);
		d->exceptions +=
			e->block->kind == BLOCK_SYSCALL && e->flags & TRACE_F_BRANCH;
		d->taken += e->block->kind == BLOCK_JCC && e->flags & TRACE_F_BRANCH &&
			    e->flags & TRACE_F_TAKEN && e->block->target == e->block->end;
		break;
	case TRACE_ASYNC:
		d->exceptions++;
		d->types |= 1u << (e->value & 31);
		break;
	case TRACE_CONTEXT:
		d->cids += e->value == d->cid + 1;
		d->cid = e->value;
		break;
	case TRACE_GAP:
	case TRACE_ERROR:
		flow_error(&d->flow, trace_gap_text(e->error), e->offset, e->ip);
		break;
	default:
		break;
	}
}

static void decode(struct machine *m, const struct recording *r, const uint32_t *caps,
		   struct result *d)
{
	struct etm_decoder_config config = {
		.source = {.traceidr = 0x10,
			   .configr = TRCCONFIGR_RES1 | (uint32_t)r->config},
		.code = code,
		.code_ctx = m,
		.formatted = true,
	};
	struct trace_event events[64];
	struct etm_decoder *dec;
	int i, n, pass;

	memcpy(config.source.idr, caps, sizeof(config.source.idr));
	dec = etm_decoder_new(&config);
	if (!dec)
		fatal("decoder");
	etm_decoder_feed(dec, m->ram + r->trace, r->size);
	for (pass = 0; pass < 2; pass++) {
		while ((n = etm_decoder_next(dec, events, 64)) > 0)
			for (i = 0; i < n; i++)
				note(d, &events[i]);
		etm_decoder_finish(dec);
	}
	etm_decoder_free(dec);
}

/* Exceptions, each of them and of its kind; what is taken in A32 state is not seen. */
static int check_exceptions(const struct recording *r, const struct result *d)
{
	uint32_t types = 0;
	size_t i;

	if (r->levels != (LEVEL_USER | LEVEL_KERNEL) || !strcmp(r->name, "a32"))
		return 0;
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (!strcmp(expected[i].row, r->name))
			types = expected[i].types;
	if (d->exceptions == r->events && !(types & ~d->types))
		return 0;
	printf("%s: %" PRIu64 " exceptions, %" PRIu64 " seen, of types %#x\n", r->name,
	       r->events, d->exceptions, d->types);
	return 1;
}

/* Row "spaces" writes one context ID after another. */
static int check_contexts(const struct recording *r, const struct result *d)
{
	if (strcmp(r->name, "spaces") || !(r->config & TRCCONFIGR_CID) ||
	    !(r->levels & LEVEL_KERNEL) || d->cids == CONTEXTS - 1)
		return 0;
	printf("%s: %" PRIu64 " context IDs of %u in order\n", r->name, d->cids,
	       CONTEXTS);
	return 1;
}

/*
 * Whether a branch to what follows was taken, addresses do not tell; but it is the
 * same each time, and whatever comes behind it.
 */
static int check_outcomes(const struct recording *r, const struct result *d)
{
	static uint64_t taken;

	if (!(r->levels & LEVEL_USER) ||
	    (strcmp(r->name, "user-next") && strcmp(r->name, "steps-next")))
		return 0;
	if (!taken)
		taken = d->taken;
	if (taken && d->taken == taken)
		return 0;
	printf("%s: %" PRIu64 " branches taken, and another time %" PRIu64 "\n", r->name,
	       d->taken, taken);
	return 1;
}

static int check_recording(struct machine *m, const struct recording *r,
			   const uint32_t *caps)
{
	static struct flow log;
	static struct result ours;
	int bad;

	flow_begin(&log, 1);
	flow_begin(&ours.flow, 1);
	ours.exceptions = ours.types = ours.cid = ours.cids = ours.taken = 0;
	machine_log(m, r, &log);
	if (machine_spun(r))
		return 0;
	decode(m, r, caps, &ours);
	bad = flow_compare(r, "hwt", &ours.flow, &log) | check_exceptions(r, &ours) |
	      check_contexts(r, &ours) | check_outcomes(r, &ours);
	bad |= machine_user_count(r, &log);
	if (r->status) {
		printf("%s: the ETR's status is %#" PRIx64 "\n", r->name, r->status);
		bad = 1;
	}
	if (getenv("VERBOSE"))
		printf("%-16s CPU %u config %#7" PRIx64
		       " levels %u: %8zu instructions %7" PRIu64 " bytes %6" PRIu64
		       " events, %6" PRIu64 " seen\n",
		       r->name, r->cpu, r->config, r->levels, log.n, r->size, r->events,
		       ours.exceptions);
	return bad;
}

static int check(struct machine *m, const struct vtu_header *window)
{
	uint64_t i, events = 0;
	int bad = 0;

	for (i = 0; i < m->report->n; i++) {
		bad |= check_recording(m, &m->report->r[i], window->caps);
		events += m->report->r[i].events;
	}
	printf("%" PRIu64 " recordings, %" PRIu64 " exceptions and interrupts\n",
	       m->report->n, events);
	return bad | machine_leftovers(m) || events < 1000;
}

int main(int argc, char **argv)
{
	static struct machine m;
	int status;

	if (argc != 5)
		return 2;
	status = machine_a64_run(&m, argv, "coresight");
	if (!status)
		status = check(&m, m.window);
	machine_end(&m);
	return status;
}
