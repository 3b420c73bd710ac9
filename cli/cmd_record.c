/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"
#include "host.h"
#include "present/text.h"
#include "recording.h"
#include "sampling.h"
#include "session/unit_features.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct record_values {
	const char	*output, *backend, *host, *qemu, *plugin, *exec_log, *cpus;
	uint64_t	bufsize, ring, ready_fd, mtc, cyc, psb, pid;
	int		follow, retcomp, broadcast, tsc, clock_host, quiet, kernel;
	struct option_list images, functions;
	struct sampling_values sampling;
};

#define NOT_GIVEN	UINT64_MAX
static const struct record_values defaults = {
	.output = DEFAULT_RECORDING, .ready_fd = NOT_GIVEN,
	.mtc = NOT_GIVEN, .cyc = NOT_GIVEN, .psb = NOT_GIVEN, .retcomp = 1, .tsc = 1,
	.sampling = SAMPLING_DEFAULTS,
};

static const struct option_choice clocks[] = { { "insn", 0 }, { "host", 1 }, { 0 } };

#define AT(member)	.offset = OPTION_AT(struct record_values, member)
static const struct option record_opts[] = {
	{ 'o', "output", "FILE", OPTION_STRING, AT(output),
	  "The recording (default: " DEFAULT_RECORDING ")" },
	{ 'b', "buffer", "SIZE", OPTION_SIZE, AT(bufsize),
	  "Trace buffer of each thread or CPU, coresight: shared by all; "
	  "a multiple of 4K, spe: of 8K; at least 8K (default: 4M)",
	  .min = 8192, .max = 32ull << 30, .multiple = 4096 },
	{ 'p', "pid", "PID", OPTION_UINT, AT(pid), "Record this process, until it ends or Ctrl-C",
	  .min = 1, .max = INT32_MAX },
	{ 'C', "cpu", "CPUS", OPTION_STRING, AT(cpus),
	  "Record these CPUs (0-3,5), while the program runs or until Ctrl-C" },
	{ 0, "kernel", .kind = OPTION_FLAG, .value = 1, AT(kernel),
	  .help = "With -C: kernel code, of whatever runs there" },
	{ 0, "follow", .kind = OPTION_FLAG, .value = 1, AT(follow),
	  .help = "Record children, too" },
	{ 0, "ring", "SIZE", OPTION_SIZE, AT(ring),
	  "Keep only the last SIZE bytes, pt: of each thread, coresight: of all together (default: 1M)",
	  .optional = true, .value = 1 << 20, .min = 4096, .max = 32ull << 30 },
	{ 0, "ready-fd", "N", OPTION_UINT, AT(ready_fd),
	  "Write a byte to descriptor N once tracing is on", .max = INT32_MAX },
	{ 'i', "image", "IMAGE", OPTION_LIST, AT(images),
	  "Trace in this image only: a path or a file name" },
	{ 'f', "function", "FUNC", OPTION_LIST, AT(functions),
	  "Trace in this function only (of the image, or the program)" },
	{ 0, "retcomp", .kind = OPTION_FLAG, .value = 1, AT(retcomp),
	  .help = "Compress returns (default)" },
	{ 0, "no-retcomp", .kind = OPTION_FLAG, .value = 0, AT(retcomp),
	  .help = "Do not compress returns" },
	{ 0, "branch-broadcast", .kind = OPTION_FLAG, .value = 1, AT(broadcast),
	  .help = "coresight: the target of each taken branch" },
	{ 0, "tsc", .kind = OPTION_FLAG, .value = 1, AT(tsc),
	  .help = "Time at sync points and where tracing begins or goes on; spe: of each sample (default)" },
	{ 0, "no-tsc", .kind = OPTION_FLAG, .value = 0, AT(tsc), .help = "No time" },
	{ 0, "mtc", "N", OPTION_UINT, AT(mtc),
	  "pt: time every 2^N ticks of the crystal clock (default: 3)",
	  .optional = true, .value = 3, .max = 15 },
	{ 0, "cyc", "N", OPTION_UINT, AT(cyc),
	  "pt, coresight: count cycles, packets at least 2^(N-1) apart (default: 0)",
	  .optional = true, .value = 0, .max = 15 },
	{ 0, "psb", "N", OPTION_UINT, AT(psb),
	  "pt, coresight: a sync point every 2K * 2^N bytes (default: 3, less in a small ring)",
	  .max = 15 },
	SAMPLING_ROWS(struct record_values, sampling),
	{ 0, "clock", "CLOCK", OPTION_CHOICE, AT(clock_host),
	  "insn: counted instructions (default); host: the machine's time",
	  .choices = clocks },
	{ 'c', "backend", "NAME", OPTION_STRING, AT(backend),
	  "Trace unit: pt, coresight, spe (default: pt for x86-64 programs, coresight for AArch64)" },
	{ 0, "host", "KIND", OPTION_STRING, AT(host),
	  "embedded or kernel (default: the best there is)" },
	{ 0, "qemu", "FILE", OPTION_STRING, AT(qemu), "This QEMU instead of PATH's" },
	{ 0, "plugin", "FILE", OPTION_STRING, AT(plugin),
	  "This trace unit for QEMU instead of the installed one" },
	{ 0, "exec-log", "DIR", OPTION_STRING, AT(exec_log),
	  "For tests: QEMU's own log of addresses, a file a thread" },
	{ 'q', "quiet", .kind = OPTION_FLAG, .value = 1, AT(quiet),
	  .help = "No summary" },
	{ 0 }
};

#define PSB_BYTES(n)	(UINT64_C(2048) << (n))	/* PSBFreq: SDM vol. 3C, 33.3.1 */

/*
 * Decoding begins at a sync point: a ring that holds none is good for nothing.  They may
 * come late (PSBFreq: they are not precise), and a sixteenth of a CoreSight buffer is the
 * formatter's: an eighth more.
 */
static int check_psb(const struct record_values *v)
{
	char ring[32], every[32];

	if (v->psb == NOT_GIVEN || !v->ring ||
	    PSB_BYTES(v->psb) + PSB_BYTES(v->psb) / 8 <= v->ring)
		return EXIT_OK;
	return failure("--psb %" PRIu64 ": with a sync point every %s a ring of %s may hold none",
		       v->psb, text_size(every, sizeof(every), PSB_BYTES(v->psb)),
		       text_size(ring, sizeof(ring), v->ring));
}

/* Sync points in a ring: one thread's, or one that any number of threads share. */
#define RING_SYNCS	  4
#define SHARED_RING_SYNCS 128

static uint32_t chosen_psb(const struct record_values *v, uint32_t syncs)
{
	uint32_t n = 3;

	if (v->psb != NOT_GIVEN)
		return (uint32_t)v->psb;
	while (v->ring && n && syncs * PSB_BYTES(n) > v->ring)
		n--;
	return n;
}

static struct pt_cpu_config pt_config(const struct record_values *v)
{
	struct pt_cpu_config c = {
		.rtit_ctl = PT_CTL_BRANCHEN | (v->kernel ? PT_CTL_OS : PT_CTL_USER),
		.psb_freq = chosen_psb(v, RING_SYNCS),
	};

	if (!v->retcomp)
		c.rtit_ctl |= PT_CTL_DISRETC;
	if (v->tsc)
		c.rtit_ctl |= PT_CTL_TSCEN;
	if (v->mtc != NOT_GIVEN) {
		c.rtit_ctl |= PT_CTL_MTCEN;
		c.mtc_freq = (uint32_t)v->mtc;
	}
	if (v->cyc != NOT_GIVEN) {
		c.rtit_ctl |= PT_CTL_CYCEN;
		c.cyc_thresh = (uint32_t)v->cyc;
	}
	return c;
}

#define CORESIGHT_SYNC(psb)	(11 + (psb))	/* TRCSYNCPR: sync points 2^n bytes apart */
#define CORESIGHT_PSB_MAX	9
#define CORESIGHT_CYC_MAX	12		/* TRCCCCTLR.THRESHOLD has 12 bits */

/* Cycles between counts; 0: as few as the unit can. */
static uint32_t threshold(uint64_t cyc)
{
	return cyc ? 1u << (cyc - 1) : 0;
}

/* The same options for CoreSight. */
static struct coresight_config coresight_config(const struct record_values *v)
{
	struct coresight_config c = {
		.configr = CORESIGHT_CID,
		.flags = v->kernel ? CORESIGHT_KERNEL : CORESIGHT_USER,
		.sync = CORESIGHT_SYNC(chosen_psb(v, SHARED_RING_SYNCS)),
	};

	if (v->retcomp)
		c.configr |= CORESIGHT_RS;
	if (v->broadcast)
		c.configr |= CORESIGHT_BB;
	if (v->tsc)
		c.configr |= CORESIGHT_TS;
	if (v->cyc != NOT_GIVEN) {
		c.configr |= CORESIGHT_CCI;
		c.cc_threshold = threshold(v->cyc);
	}
	return c;
}

/* Which options are whose, as far as they were given; NULL, or what is amiss. */
static const char *unfit(const void *ctx, const struct hwt_query *unit)
{
	static char events[80];
	const struct record_values *v = ctx;
	uint64_t filterable = hwt_filter_events(unit);
	const struct { const char *option, *backends; bool given; } rows[] = {
		{ "--mtc", "pt", v->mtc != NOT_GIVEN },
		{ "--cyc", "pt coresight", v->cyc != NOT_GIVEN },
		{ "--psb", "pt coresight", v->psb != NOT_GIVEN },
		{ "--no-retcomp", "pt coresight", !v->retcomp },
		{ "--branch-broadcast", "coresight", v->broadcast },
		{ "--interval", "spe", v->sampling.interval },
		{ "--no-jitter", "spe", !v->sampling.jitter },
		{ "--types", "spe", v->sampling.types },
		{ "--events", "spe", v->sampling.events },
		{ "--no-events", "spe", v->sampling.no_events },
		{ "--latency", "spe", v->sampling.latency },
		{ events, "", (v->sampling.events | v->sampling.no_events) & ~filterable },
		{ "--psb above 9", "pt", v->psb != NOT_GIVEN && v->psb > CORESIGHT_PSB_MAX },
		{ "--cyc above 12", "pt", v->cyc != NOT_GIVEN && v->cyc > CORESIGHT_CYC_MAX },
	};
	size_t i;

	snprintf(events, sizeof(events), "--events or --no-events beyond 0x%" PRIx64, filterable);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].given && !strstr(rows[i].backends, unit->name))
			return rows[i].option;
	return NULL;
}

/* The target must not inherit it: it would differ from a plain run. */
static int check_ready_fd(const struct record_values *v)
{
	int fd = (int)v->ready_fd;

	if (v->ready_fd == NOT_GIVEN || fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
		return EXIT_OK;
	return failure("--ready-fd: descriptor %d: %s", fd, strerror(errno));
}

/* Elsewhere "-" is standard output; it would be a file of that name. */
static int check_output(const struct record_values *v)
{
	if (strcmp(v->output, "-"))
		return EXIT_OK;
	return failure("-o -: a recording is written in place, not to standard output "
		       "(./- is a file of that name)");
}

static const char *needs_kernel(const struct record_values *v)
{
	return v->pid ? "-p" : v->cpus ? "-C" : NULL;
}

static int check_what(const struct record_values *v, int noperands)
{
	if (v->pid && (noperands || v->cpus))
		return failure("either -p or %s", v->cpus ? "-C" : "a program");
	if (v->cpus && !v->kernel)
		return failure("-C: by CPU only kernel code is traced: add --kernel");
	if (v->kernel && !v->cpus)
		return failure("--kernel: kernel code is traced by CPU: add -C CPUS");
	if (v->follow && v->cpus)
		return failure("either -C or --follow");
	if (!v->pid && !v->cpus && !noperands)
		return failure("PROGRAM is missing; see hwt record --help");
	return EXIT_OK;
}

/* For tests; but a folder that is not there would be told of by each thread. */
static int check_exec_log(const struct record_values *v)
{
	struct stat st;

	if (!v->exec_log)
		return EXIT_OK;
	if (stat(v->exec_log, &st) == 0 && !S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	else if (access(v->exec_log, W_OK | X_OK) == 0)
		return EXIT_OK;
	return failure("--exec-log %s: %s", v->exec_log, strerror(errno));
}

/* cut: what came at the end could not be written. */
static void print_summary(const struct record_values *v, const struct record_result *r, bool cut)
{
	char bytes[32], lost[32], time[32], what[64];

	if (v->cpus)
		snprintf(what, sizeof(what), "%u CPU%s", r->threads,
			 text_form(r->threads, "", "s"));
	else
		snprintf(what, sizeof(what), "%u thread%s in %u process%s", r->threads,
			 text_form(r->threads, "", "s"), r->processes,
			 text_form(r->processes, "", "es"));
	if (r->untraced)
		message("%u %s could not be traced", r->untraced,
			text_form(r->untraced, "process", "processes"));
	if (v->quiet)
		return;
	text_size(lost, sizeof(lost), r->lost);
	message("%s: %s of trace, %s, %s%s%s lost, %" PRIu64 " gap%s%s, %s", v->output,
		text_size(bytes, sizeof(bytes), r->bytes), what, cut ? "the rest" : "",
		cut && r->lost ? " and " : "", cut && !r->lost ? "" : lost, r->gaps,
		text_form(r->gaps, "", "s"), r->lost_records ? ", records lost" : "",
		text_duration(time, sizeof(time), r->ended_ns - r->started_ns));
}

static struct record_options options_of(const struct record_values *v, char **operands)
{
	return (struct record_options){
		.backend = v->backend,
		.output = v->output,
		.bufsize = v->bufsize,
		.ring = v->ring,
		.follow = v->follow,
		.ready_fd = v->ready_fd == NOT_GIVEN ? -1 : (int)v->ready_fd,
		.config = pt_config(v),
		.coresight = coresight_config(v),
		.unfit = unfit,
		.unfit_ctx = v,
		.path = operands[0],
		.argv = operands,
		.pid = (pid_t)v->pid,
		.cmdline = command_line(),
	};
}

static int record_target(const struct record_values *v, struct hwt_host *host,
			 char **operands)
{
	struct record_options options = options_of(v, operands);
	struct record_filter filters[16];
	struct record_result result;
	cpu_set_t cpus;
	int err, status;

	options.filters = filters;
	if (sampling_config(&v->sampling, v->tsc, v->kernel, &options.spe))
		return EXIT_RECORD_FAILED;
	if (host_filters(&v->images, &v->functions, "-C", v->cpus, filters, &options.nfilters))
		return EXIT_RECORD_FAILED;
	if (v->cpus) {
		if (host_cpus("-C", v->cpus, &cpus))
			return EXIT_RECORD_FAILED;
		options.cpus = &cpus;
	}
	err = host_record(host, &options, &result);
	if (options.path ? result.status == -1 : err)
		return host_failure_status(err, &result);
	/* Nobody may read the summary: the status is still the program's. */
	signal(SIGPIPE, SIG_IGN);
	if (!err)
		host_filters_missed(&options, &result);
	print_summary(v, &result, err);
	status = options.path ? host_exit_status(result.status) : EXIT_OK;
	return err && status == 0 ? EXIT_RECORD_FAILED : status;
}

static int record_run_command(const struct command *self, void *values, int noperands,
			      char **operands)
{
	struct record_values *v = values;
	struct hwt_host_options options = {
		.kind = v->host, .backend = v->backend, .qemu = v->qemu, .plugin = v->plugin,
		.log_dir = v->exec_log, .follow = v->follow, .clock_host = v->clock_host,
	};
	struct hwt_host *host;
	int status;

	/* They are about QEMU. */
	if (!v->host && (v->qemu || v->plugin || v->exec_log || v->clock_host))
		options.kind = "embedded";
	if (check_what(v, noperands) || check_output(v) || check_psb(v) ||
	    check_ready_fd(v) || check_exec_log(v) || host_open(&options, needs_kernel(v), &host))
		return EXIT_RECORD_FAILED;
	status = record_target(v, host, operands);
	hwt_host_close(host);
	return status;
}

const struct command record_cmd = {
	.name = "record",
	.summary = "Record a program's execution; exits with the program's status",
	.operands = "[--] [PROGRAM [ARGUMENT ...]]",
	.max_operands = -1,
	.in_order = true,
	.usage_status = EXIT_RECORD_FAILED,
	.options = record_opts,
	.defaults = &defaults,
	.size = sizeof(struct record_values),
	.run = record_run_command,
};
