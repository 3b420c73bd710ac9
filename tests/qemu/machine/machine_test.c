// SPDX-License-Identifier: BSD-2-Clause
/*
 * Boots the test machine under the plugin and holds what it recorded against the
 * unit's independent log, address by address, by libipt and by our decoder:
 *
 *	machine_test QEMU PLUGIN MACHINE
 *
 * Any decode error, overflow or difference fails.
 */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/pt/pt_decoder.h"
#include "harness.h"
#include "hw/pt.h"
#include "machine.h"

/* The code that the machine ran at ip: what its RAM holds at the end. */
static size_t code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	if (ip >= KERNEL_BASE)
		return machine_code(ctx, false, ip - KERNEL_BASE, buf, len);
	return machine_code(ctx, true, ip - (ip >= USER_ALIAS ? USER_ALIAS : USER_BASE),
			    buf, len);
}

static int ipt_code(uint8_t *buf, size_t size, const struct pt_asid *asid, uint64_t ip,
		    void *ctx)
{
	size_t n = code(ctx, ip, buf, size);

	return n ? (int)n : -pte_nomap;
}

static void configure(struct pt_config *c, const struct machine *m,
		      const struct recording *r)
{
	pt_config_init(c);
	c->begin = (uint8_t *)m->ram + r->trace;
	c->end = c->begin + r->size;
	c->nom_freq = 10;
	c->cpuid_0x15_eax = 2;
	c->cpuid_0x15_ebx = 80;
}

static int ipt_events(struct pt_insn_decoder *d, struct flow *f, int status)
{
	struct pt_event ev;

	while (status >= 0 && status & pts_event_pending) {
		status = pt_insn_event(d, &ev, sizeof(ev));
		if (status >= 0 && ev.type == ptev_overflow)
			flow_error(f, "overflow", 0, ev.variant.overflow.ip);
	}
	return status;
}

static void decode_ipt(struct machine *m, const struct recording *r, struct flow *f)
{
	struct pt_insn insn = {0};
	struct pt_insn_decoder *d;
	struct pt_config config;
	uint64_t offset = 0;
	int status;

	configure(&config, m, r);
	d = pt_insn_alloc_decoder(&config);
	pt_image_set_callback(pt_insn_get_image(d), ipt_code, m);
	status = pt_insn_sync_forward(d);
	while (status >= 0) {
		status = ipt_events(d, f, status);
		if (status < 0 || status & pts_eos)
			break;
		insn.iclass = ptic_error;
		status = pt_insn_next(d, &insn, sizeof(insn));
		if (insn.iclass != ptic_error)
			flow_add(f, insn.ip);
	}
	if (status < 0 && status != -pte_eos) {
		pt_insn_get_offset(d, &offset);
		flow_error(f, pt_errstr(pt_errcode(status)), offset, insn.ip);
	}
	pt_insn_free_decoder(d);
}

static void add_run(struct flow *f, const struct trace_event *e)
{
	uint64_t ip = e->block->ip;
	uint32_t i = 0, n;

	while (ip != e->ip && i < e->block->ninsn)
		ip += e->block->len[i++];
	for (n = 0; n < e->ninsn; n++) {
		flow_add(f, ip);
		ip += e->block->len[i++];
	}
}

static void decode_ours(struct machine *m, const struct recording *r, struct flow *f)
{
	struct pt_decoder_config config = {
		.code = code,
		.code_ctx = m,
		.tsc_ratio_den = 2,
		.tsc_ratio_num = 80,
		.nominal_ratio = 10,
		.no_compression = r->config & RTIT_CTL_DISRETC,
		.mtc_enabled = r->config & RTIT_CTL_MTCEN,
		.cyc_enabled = r->config & RTIT_CTL_CYCEN,
	};
	struct pt_decoder *d = pt_decoder_new(&config);
	struct trace_event ev[64];
	int n, i, pass;

	pt_decoder_feed(d, m->ram + r->trace, r->size);
	for (pass = 0; pass < 2; pass++) {
		while ((n = pt_decoder_next(d, ev, 64)) > 0) {
			for (i = 0; i < n; i++) {
				if (ev[i].type == TRACE_RUN)
					add_run(f, &ev[i]);
				else if (ev[i].type == TRACE_ERROR || ev[i].type == TRACE_GAP)
					flow_error(f, trace_gap_text(ev[i].error),
						   ev[i].offset, ev[i].ip);
			}
		}
		pt_decoder_finish(d);
	}
	pt_decoder_free(d);
}

static int check_recording(struct machine *m, const struct recording *r)
{
	static struct flow flow[3];
	struct flow *log = &flow[0], *ipt = &flow[1], *ours = &flow[2];
	uint64_t regions = r->size / (TRACE_MAX / 4);
	int bad = 0;

	flow_begin(flow, 3);
	machine_log(m, r, log);
	decode_ipt(m, r, ipt);
	decode_ours(m, r, ours);
	bad |= machine_user_count(r, log);
	bad |= flow_compare(r, "libipt", ipt, log);
	bad |= flow_compare(r, "hwt", ours, log);
	if (r->status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED)) {
		printf("%s: status %#" PRIx64 "\n", r->name, r->status);
		bad = 1;
	}
	if (r->config & RTIT_CTL_TOPA && r->irqs != (regions < 2 ? regions : 2)) {
		printf("%s: %" PRIu64 " interrupts of the unit, %" PRIu64 " regions were filled\n",
		       r->name, r->irqs, regions);
		bad = 1;
	}
	if (getenv("VERBOSE"))
		printf("%-16s ctl %#10" PRIx64 ": %8zu instructions %7" PRIu64
		       " bytes %6" PRIu64 " events\n",
		       r->name, r->config, log->n, r->size, r->events);
	return bad;
}

static int check(struct machine *m)
{
	uint64_t i, events = 0;
	int bad = 0;

	for (i = 0; i < m->report->n; i++) {
		bad |= check_recording(m, &m->report->r[i]);
		events += m->report->r[i].events;
	}
	printf("%" PRIu64 " recordings, %" PRIu64 " exceptions and interrupts\n", m->report->n,
	       events);
	return bad | machine_leftovers(m) || events < 1000;
}

int main(int argc, char **argv)
{
	static char *const own[] = {
		"-machine", "q35,memory-backend=ram", "-accel", "tcg,thread=single",
		"-cpu", "max", "-chardev", "stdio,id=c",
		"-device", "isa-debugcon,iobase=0xe9,chardev=c",
		"-device", "isa-debug-exit,iobase=0xf4", NULL,
	};
	static struct machine m;
	int status;

	if (argc != 4)
		return 2;
	/* isa-debug-exit: twice what was written, plus one. */
	status = machine_run(&m, &(struct machine_start){
		.qemu = argv[1], .plugin = argv[2], .kernel = argv[3],
		.argv = own, .status = 1, .cpus = 1,
	});
	if (!status)
		status = check(&m);
	machine_end(&m);
	return status;
}
