// SPDX-License-Identifier: BSD-2-Clause
/*
 * Boots the test machine under the plugin and holds what it recorded against the
 * unit's independent log, address by address, by libipt and by our decoder:
 *
 *	machine_test QEMU PLUGIN MACHINE
 *
 * Any decode error, overflow or difference fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <intel-pt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode/pt/pt_decoder.h"
#include "hw/pt.h"
#include "machine.h"

/* Layout of the log (qemu/system_log_file.h), told here a second time on purpose. */
#define LOG_MAGIC	0x31534c4754574875ull
#define LOG_DATA	4096u
#define LOG_MARK	(1ull << 63)
#define MARK_ON		1
#define MARK_OFF	2

#define SECONDS		120	/* for a machine that hangs */
#define MAX_FLOW	(2u << 20)

struct flow {
	uint64_t *ip;
	size_t n;
	uint64_t errors;
	char first_error[128];
};

struct machine {
	char dir[64];
	const uint8_t *ram;
	const struct report *report;
	const uint64_t *log;
	uint64_t nlog, at;		/* in the log */
};

static void fatal(const char *what)
{
	fprintf(stderr, "machine_test: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void add(struct flow *f, uint64_t ip)
{
	if (f->n < MAX_FLOW)
		f->ip[f->n++] = ip;
}

static void add_error(struct flow *f, const char *what, uint64_t offset, uint64_t ip)
{
	if (!f->errors++)
		snprintf(f->first_error, sizeof(f->first_error),
			 "%s at offset %#" PRIx64 ", ip %#" PRIx64, what, offset, ip);
}

/* The code that the machine ran at ip: what its RAM holds at the end. */
static size_t code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	const struct machine *m = ctx;
	uint64_t at, left;

	if (ip >= KERNEL_BASE) {
		at = ip - KERNEL_BASE;
		left = RAM_SIZE > at ? RAM_SIZE - at : 0;
	} else {
		at = ip - (ip >= USER_ALIAS ? USER_ALIAS : USER_BASE);
		left = m->report->user_size > at ? m->report->user_size - at : 0;
		at += m->report->user_pa;
	}
	if (len > left)
		len = left;
	memcpy(buf, m->ram + at, len);
	return len;
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
			add_error(f, "overflow", 0, ev.variant.overflow.ip);
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
			add(f, insn.ip);
	}
	if (status < 0 && status != -pte_eos) {
		pt_insn_get_offset(d, &offset);
		add_error(f, pt_errstr(pt_errcode(status)), offset, insn.ip);
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
		add(f, ip);
		ip += e->block->len[i++];
	}
}

static void decode_ours(struct machine *m, const struct recording *r, struct flow *f)
{
	struct pt_decoder_config config = {
		.code = code, .code_ctx = m, .tsc_ratio_den = 2, .tsc_ratio_num = 80,
		.nominal_ratio = 10, .no_compression = r->ctl & RTIT_CTL_DISRETC,
		.mtc_enabled = r->ctl & RTIT_CTL_MTCEN, .cyc_enabled = r->ctl & RTIT_CTL_CYCEN,
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
					add_error(f, trace_gap_text(ev[i].error),
						  ev[i].offset, ev[i].ip);
			}
		}
		pt_decoder_finish(d);
	}
	pt_decoder_free(d);
}

/* What the log has of the next recording, by what the unit was told to trace. */
static void read_log(struct machine *m, const struct recording *r, struct flow *f)
{
	uint64_t word, space = 0;
	bool on = false;

	while (m->at < m->nlog) {
		word = m->log[m->at++];
		if (word >> 48 == LOG_MARK >> 48) {
			space = m->log[m->at + 1];
			m->at += 3;
			on |= (word & 0xff) == MARK_ON;
			if ((word & 0xff) == MARK_OFF)
				return;
			continue;
		}
		if (!on || !(r->ctl & (word >> 63 ? RTIT_CTL_OS : RTIT_CTL_USER)) ||
		    (r->ctl & RTIT_CTL_CR3FILTER && (space ^ r->cr3) >> 5))
			continue;
		add(f, word);
	}
	add_error(f, "the log ends", m->at, 0);
}

static int compare(const struct recording *r, const char *name, const struct flow *a,
		   const struct flow *log)
{
	size_t i = 0, k;

	while (i < a->n && i < log->n && a->ip[i] == log->ip[i])
		i++;
	if (!a->errors && i == a->n && i == log->n)
		return 0;
	printf("%-16s ctl %#" PRIx64 ": %s has %zu instructions, the log %zu; the first %zu are "
	       "the same\n", r->name, r->ctl, name, a->n, log->n, i);
	if (a->errors)
		printf("  %" PRIu64 " errors: %s\n", a->errors, a->first_error);
	for (k = i < 4 ? 0 : i - 4; k < i + 6; k++)
		printf("  %c %#18" PRIx64 " %#18" PRIx64 "\n", k == i ? '>' : ' ',
		       k < a->n ? a->ip[k] : 0, k < log->n ? log->ip[k] : 0);
	return 1;
}

static int check_recording(struct machine *m, const struct recording *r)
{
	static struct flow log, ipt, ours;
	uint64_t regions = r->size / (TRACE_MAX / 4);
	int bad = 0;

	if (!log.ip)
		log.ip = malloc(3 * sizeof(uint64_t) * MAX_FLOW);
	if (!log.ip)
		fatal("memory");
	ipt.ip = log.ip + MAX_FLOW;
	ours.ip = ipt.ip + MAX_FLOW;
	log.n = ipt.n = ours.n = ipt.errors = ours.errors = log.errors = 0;
	read_log(m, r, &log);
	decode_ipt(m, r, &ipt);
	decode_ours(m, r, &ours);
	bad |= compare(r, "libipt", &ipt, &log);
	bad |= compare(r, "hwt", &ours, &log);
	if (log.errors || r->status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED)) {
		printf("%s: status %#" PRIx64 " %s\n", r->name, r->status, log.first_error);
		bad = 1;
	}
	if (r->ctl & RTIT_CTL_TOPA && r->irqs != (regions < 2 ? regions : 2)) {
		printf("%s: %" PRIu64 " interrupts of the unit, %" PRIu64 " regions were filled\n",
		       r->name, r->irqs, regions);
		bad = 1;
	}
	if (getenv("VERBOSE"))
		printf("%-16s ctl %#10" PRIx64 ": %8zu instructions %7" PRIu64 " bytes %6" PRIu64
		       " events\n", r->name, r->ctl, log.n, r->size, r->events);
	return bad;
}

static const void *map_file(const char *dir, const char *name, size_t *size)
{
	char path[128];
	struct stat st;
	void *p;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		fatal(path);
	*size = (size_t)st.st_size;
	p = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		fatal(path);
	close(fd);
	return p;
}

static int run(const char *dir, char **argv)
{
	char ram[160], window[160], plugin[4096];
	int status;
	pid_t pid;

	snprintf(ram, sizeof(ram), "memory-backend-file,id=ram,size=%u,share=on,mem-path=%s/ram",
		 RAM_SIZE, dir);
	snprintf(window, sizeof(window),
		 "memory-backend-file,id=reg,size=128K,share=on,mem-path=%s/reg", dir);
	snprintf(plugin, sizeof(plugin), "%s,ram=%s/ram,reg=%s/reg,log=%s", argv[2], dir, dir,
		 dir);
	pid = fork();
	if (!pid) {
		alarm(SECONDS);
		execl(argv[1], argv[1], "-machine", "q35,memory-backend=ram", "-accel",
		      "tcg,thread=single", "-cpu", "max", "-m", "256M", "-object", ram,
		      "-object", window, "-device", "ivshmem-plain,memdev=reg", "-nodefaults",
		      "-display", "none", "-no-reboot", "-chardev", "stdio,id=c", "-device",
		      "isa-debugcon,iobase=0xe9,chardev=c", "-device",
		      "isa-debug-exit,iobase=0xf4", "-plugin", plugin, "-kernel", argv[3],
		      (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		fatal("fork");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int check(struct machine *m)
{
	uint64_t i, events = 0;
	int bad = 0;

	if (m->report->magic != MACHINE_MAGIC || !m->report->done) {
		printf("the machine did not come to its end\n");
		return 1;
	}
	for (i = 0; i < m->report->n; i++) {
		bad |= check_recording(m, &m->report->r[i]);
		events += m->report->r[i].events;
	}
	if (m->at != m->nlog) {
		printf("the log goes on behind the last recording\n");
		bad = 1;
	}
	printf("%" PRIu64 " recordings, %" PRIu64 " exceptions and interrupts\n", m->report->n,
	       events);
	return bad || events < 1000;
}

static void remove_files(const char *dir)
{
	static const char *const names[] = {"ram", "reg", "log.cpu0"};
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

int main(int argc, char **argv)
{
	struct machine m = {.dir = "/tmp/hwt-machine.XXXXXX"};
	const uint64_t *head;
	size_t size;
	int status;

	if (argc != 4)
		return 2;
	if (access(argv[1], X_OK)) {
		printf("qemu-system-x86_64 is not installed\n");
		return 77;
	}
	if (!mkdtemp(m.dir))
		fatal(m.dir);
	status = run(m.dir, argv);
	if (status != 1) {	/* isa-debug-exit: twice what was written, plus one */
		printf("the machine ended with status %d\n", status);
		remove_files(m.dir);
		return 1;
	}
	m.ram = map_file(m.dir, "ram", &size);
	m.report = (const void *)(m.ram + REPORT);
	head = map_file(m.dir, "log.cpu0", &size);
	m.log = head + LOG_DATA / 8;
	m.nlog = head[1];
	if (head[0] != LOG_MAGIC || m.nlog > (size - LOG_DATA) / 8) {
		printf("that is no log\n");
		status = 1;
	} else {
		status = check(&m);
	}
	if (!getenv("KEEP"))
		remove_files(m.dir);
	return status;
}
