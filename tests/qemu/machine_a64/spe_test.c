// SPDX-License-Identifier: BSD-2-Clause
/*
 * The same machine with SPE beside each CPU: what it sampled is each 256th
 * instruction of the independent log, at the levels that were wanted, and what such
 * an instruction accessed.
 *
 *	spe_test QEMU PLUGIN MACHINE single|multi
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/spe/spe_decoder.h"

#define MACHINE_HOST
#include "machine.h"
#include "run.h"

#define EACH	   256u
#define TIMED	   (1u << 5) /* PMSCR_EL1.TS */
#define CONTEXTUAL (1u << 3) /* PMSCR_EL1.CX */

/* What each CPU accessed. */
static struct {
	struct access *all;
	size_t n;
} accesses[MAX_CPUS];

struct result {
	struct flow flow; /* sampled PCs */
	uint64_t accesses, bad_accesses, bad_records;
};

static void note(struct result *d, const struct recording *r, const struct spe_event *e)
{
	const struct spe_sample *s = &e->sample;
	uint64_t at = s->addr[SPE_ADDR_DATA_VA];
	bool kernel = s->addr[SPE_ADDR_PC] >> 63;

	if (e->type != SPE_SAMPLE) {
		flow_error(&d->flow, trace_gap_text(e->error), e->offset, 0);
		return;
	}
	flow_add(&d->flow, s->addr[SPE_ADDR_PC]);
	if (s->el != (kernel ? 1 : 0) ||
	    !!(s->has & SPE_HAS_TIME) != !!(r->config & TIMED) ||
	    !!(s->has & SPE_HAS_CONTEXT(SPE_CONTEXT_EL1)) != !!(r->config & CONTEXTUAL) ||
	    s->context[0] / 1000 != (s->context[0] ? r->cpu : 0))
		d->bad_records++;
	if (!(s->has & SPE_HAS_ADDR(SPE_ADDR_DATA_VA)))
		return;
	d->accesses++;
	if (!machine_accessed(accesses[r->cpu].all, accesses[r->cpu].n,
			      (struct access){s->addr[SPE_ADDR_PC], at}))
		d->bad_accesses++;
}

static void decode(struct machine *m, const struct recording *r, struct result *d)
{
	struct spe_decoder_config config = {.align = 64};
	struct spe_decoder *dec = spe_decoder_new(&config);
	struct spe_event events[64];
	int i, n, pass;

	if (!dec)
		fatal("decoder");
	spe_decoder_feed(dec, m->ram + r->trace, r->size);
	for (pass = 0; pass < 2; pass++) {
		while ((n = spe_decoder_next(dec, events, 64)) > 0)
			for (i = 0; i < n; i++)
				note(d, r, &events[i]);
		spe_decoder_finish(dec);
	}
	spe_decoder_free(dec);
}

/* Each 256th of the log, less those that another one was in the way of. */
static int check_samples(const struct recording *r, const struct result *d,
			 const struct flow *log)
{
	uint64_t due = log->n / EACH, lost = 0;
	size_t i, at = 0;

	for (i = 0; i < d->flow.n && at < due; at++) {
		if (log->ip[(at + 1) * EACH - 1] == d->flow.ip[i])
			i++;
		else
			lost++;
	}
	if (i == d->flow.n && !d->flow.errors && !log->errors && !d->bad_accesses &&
	    !d->bad_records && lost + (due - at) <= due / 50)
		return 0;
	printf("%-16s config %#" PRIx64
	       " levels %u CPU %u: %zu samples of %zu instructions, "
	       "of which %zu are where they should be; %" PRIu64 " lost, %" PRIu64
	       " addresses and %" PRIu64 " records amiss %s\n",
	       r->name, r->config, r->levels, r->cpu, d->flow.n, log->n, i, lost,
	       d->bad_accesses, d->bad_records, d->flow.first_error);
	return 1;
}

static int check(struct machine *m)
{
	static struct flow log;
	static struct result d;
	uint64_t i, samples = 0, naccesses = 0;
	int bad = 0;

	for (i = 0; i < MAX_CPUS; i++)
		accesses[i].all = machine_accesses(m, (unsigned int)i, &accesses[i].n);
	for (i = 0; i < m->report->n; i++) {
		const struct recording *r = &m->report->r[i];

		flow_begin(&log, 1);
		flow_begin(&d.flow, 1);
		d.accesses = d.bad_accesses = d.bad_records = 0;
		machine_log(m, r, &log);
		if (machine_spun(r))
			continue;
		decode(m, r, &d);
		bad |= check_samples(r, &d, &log);
		bad |= machine_user_count(r, &log);
		if (r->status) {
			printf("%s: PMBSR_EL1 is %#" PRIx64 "\n", r->name, r->status);
			bad = 1;
		}
		samples += d.flow.n;
		naccesses += d.accesses;
	}
	printf("%" PRIu64 " recordings, %" PRIu64 " samples, %" PRIu64 " accesses\n",
	       m->report->n, samples, naccesses);
	return bad | machine_leftovers(m) || samples < 1000 || naccesses < 100;
}

int main(int argc, char **argv)
{
	static struct machine m;
	int status;

	if (argc != 5)
		return 2;
	status = machine_a64_run(&m, argv, "spe");
	if (!status)
		status = check(&m);
	machine_end(&m);
	return status;
}
