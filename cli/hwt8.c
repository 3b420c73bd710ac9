/* SPDX-License-Identifier: BSD-2-Clause */
/* hwt(8)'s own form: runs a program and lists its trace, or stores it. */
#include "command.h"
#include "host.h"
#include "container/output.h"
#include "present/columns.h"
#include "recording.h"
#include "sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hwt8_values {
	const char	*backend, *format, *fsroot, *cpus, *file;
	uint64_t	bufsize, pid, thread;
	int		every, raw;
	struct option_list images, functions;
};
#define NO_THREAD	UINT64_MAX
static const struct hwt8_values defaults = {
	.format = COLUMNS_DEFAULT, .thread = NO_THREAD,
};

#define AT(member)	.offset = OPTION_AT(struct hwt8_values, member)
static const struct option hwt8_opts[] = {
	{ 'b', NULL, "bufsize", OPTION_SIZE, AT(bufsize),
	  "Trace buffer in bytes, as record's -b (default: 4M)",
	  .min = 8192, .max = 32ull << 30, .multiple = 4096 },
	{ 'c', NULL, "backend", OPTION_STRING, AT(backend),
	  "Trace unit: pt, coresight (default: by the program), spe" },
	{ 'f', NULL, "function", OPTION_LIST, AT(functions), "Trace in this function only" },
	{ 'g', .kind = OPTION_FLAG, .value = 1, AT(every),
	  .help = "List every event, not only where the function changes" },
	{ 'i', NULL, "image", OPTION_LIST, AT(images),
	  "Trace in this image only: a path, a file name, 'kernel'" },
	{ 'o', NULL, "format", OPTION_STRING, AT(format),
	  "Columns: offset,id,image,symbol,pc,event_type,event_payload" },
	{ 'P', NULL, "pid", OPTION_UINT, AT(pid), "Trace this process", .min = 1,
	  .max = INT32_MAX },
	{ 'R', NULL, "fsroot", OPTION_STRING, AT(fsroot), "Look for binaries under this" },
	{ 'r', .kind = OPTION_FLAG, .value = 1, AT(raw), .help = "Leave the trace undecoded" },
	{ 's', NULL, "cpus", OPTION_STRING, AT(cpus), "Trace these CPUs" },
	{ 't', NULL, "thread", OPTION_UINT, AT(thread), "This thread (CPU) only: its number or an index",
	  .max = UINT32_MAX },
	{ 'w', NULL, "file", OPTION_STRING, AT(file), "Write the listing, or the trace, to file" },
	{ 0 }
};

/* ---- listing ---- */

struct listing {
	struct recording rec;
	struct columns	columns;
	struct out	out;
	struct script_thread thread;
	struct image_symbol last;
	uint64_t	wanted;		/* tid or index, NO_THREAD: all */
	int		index;
	bool		skip, met;	/* met: a thread was wanted */
};

static int begin(void *ctx, struct hwt_stream *st)
{
	const struct hwt_stream_info *info = hwt_stream_info(st);
	struct listing *l = ctx;

	l->thread = (struct script_thread){
		.tid = info->tid, .pid = info->pid, .cpu = info->cpu, .ctx = st,
		.symbol = recording_symbol,
	};
	memset(&l->last, 0, sizeof(l->last));
	l->skip = l->wanted != NO_THREAD && l->wanted != (uint64_t)l->index &&
		  l->wanted != (info->cpu >= 0 ? (uint32_t)info->cpu : info->tid);
	l->met |= !l->skip;
	l->index++;
	return 0;
}

static int feed(void *ctx, const struct trace_event *ev, int n)
{
	struct listing *l = ctx;
	int i;

	for (i = 0; i < n && !l->skip; i++)
		columns_event(&l->columns, &l->out, &l->thread, &ev[i], &l->last);
	return l->out.err != 0;
}

static int feed_samples(void *ctx, const struct spe_event *ev, int n)
{
	struct listing *l = ctx;
	int i;

	for (i = 0; i < n && !l->skip; i++)
		columns_sample(&l->columns, &l->out, &l->thread, &ev[i]);
	return l->out.err != 0;
}

static int list(struct listing *l, const struct recording_values *opt, const char *file, int fd)
{
	static const struct recording_visitor visitor = {
		.begin = begin, .feed = feed, .samples = feed_samples, .listing = true,
	};
	int status, closed;

	status = recording_open(&l->rec, opt);
	if (status)
		return status;
	if (out_init(&l->out, fd)) {
		recording_close(&l->rec);
		return failure("out of memory");
	}
	status = finish_file(&l->out, file ? file : "standard output",
			     recording_visit(&l->rec, &visitor, l));
	closed = recording_close(&l->rec);
	if (!status && !l->met && l->wanted != NO_THREAD)
		return failure("-t: there is no thread (CPU) %llu: %d ran",
			       (unsigned long long)l->wanted, l->index);
	return status ? status : closed;
}

/* Closes fd if it is -w's file. */
static int list_to(const struct hwt8_values *v, struct listing *l, const char *path, int fd)
{
	struct recording_values opt = {
		.input = path, .sysroot = v->fsroot, .tid = NO_TID, .cpu = NO_TID,
	};
	int status = list(l, &opt, v->file, fd);

	if (v->file && close(fd) && status != EXIT_FAILED)
		status = failure("%s: %s", v->file, strerror(errno));
	return status;
}

/* ---- recording ---- */

static struct record_options options_of(const struct hwt8_values *v, char **operands,
					const char *output)
{
	return (struct record_options){
		.backend = v->backend,
		.coresight = {
			.configr = CORESIGHT_RS | CORESIGHT_TS | CORESIGHT_CID,
			.flags = v->cpus ? CORESIGHT_KERNEL : CORESIGHT_USER, .sync = 14,
		},
		.output = v->raw ? NULL : output,
		.raw = v->raw ? output : NULL,
		.raw_thread = v->thread == NO_THREAD ? 0 : (uint32_t)v->thread,
		.bufsize = v->bufsize,
		.ready_fd = -1,
		.config = {
			.rtit_ctl = PT_CTL_BRANCHEN | PT_CTL_TSCEN |
				    (v->cpus ? PT_CTL_OS : PT_CTL_USER),
			.psb_freq = 3,
		},
		.path = operands[0],
		.argv = operands,
		.pid = (pid_t)v->pid,
		.cmdline = command_line(),
	};
}

static int record(const struct hwt8_values *v, char **operands, const char *output,
		  struct record_result *result)
{
	struct record_options options = options_of(v, operands, output);
	struct record_filter filters[16];
	const char *needs_kernel = v->pid ? "-P" : v->cpus ? "-s" : NULL;
	const struct sampling_values sampling = SAMPLING_DEFAULTS;
	struct hwt_host *host;
	cpu_set_t cpus;
	int err;

	options.filters = filters;
	if (sampling_config(&sampling, true, v->cpus, &options.spe))
		return EXIT_FAILED;
	if (v->cpus) {
		if (host_cpus("-s", v->cpus, &cpus))
			return EXIT_FAILED;
		options.cpus = &cpus;
	}
	if (host_filters(&v->images, &v->functions, "-s", v->cpus, filters, &options.nfilters) ||
	    host_open(&(struct hwt_host_options){ .backend = v->backend }, needs_kernel, &host))
		return EXIT_FAILED;
	err = host_record(host, &options, result);
	hwt_host_close(host);
	if (err && result->status == -1)
		return operands[0] ? host_failure_status(err, result) : EXIT_FAILED;
	if (!err && host_filters_missed(&options, result))
		return EXIT_FAILED;
	return err ? EXIT_FAILED : EXIT_OK;
}

static int record_and_list(const struct hwt8_values *v, struct listing *l, char **operands,
			   int out)
{
	const char *dir = getenv("TMPDIR");
	struct record_result result;
	char path[4096];
	int fd, status;

	snprintf(path, sizeof(path), "%s/hwt.XXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return failure("%s: %s", path, strerror(errno));
	close(fd);
	status = record(v, operands, path, &result);
	if (status == EXIT_OK)
		status = list_to(v, l, path, out);
	unlink(path);
	return status || !operands[0] ? status : host_exit_status(result.status);
}

static int check(const struct hwt8_values *v, int noperands)
{
	if (v->pid && (noperands || v->cpus))
		return failure("either -P or %s", v->cpus ? "-s" : "a program");
	if (noperands == 0 && !v->pid && !v->cpus)
		return failure("no program given; see hwt --help");
	if (v->raw && !v->file)
		return failure("-r needs -w file: where the undecoded trace goes");
	return EXIT_OK;
}

static int hwt8_run(const struct command *self, void *values, int noperands,
		    char **operands)
{
	const struct hwt8_values *v = values;
	struct listing l = { .wanted = v->thread };
	struct record_result result;
	const char *bad;
	int bad_len, status, out = STDOUT_FILENO;

	status = check(v, noperands);
	if (status)
		return status;
	if (columns_parse(&l.columns, v->format, &bad, &bad_len))
		return failure("-o: '%.*s' is no column; see hwt help", bad_len, bad);
	l.columns.every = v->every;
	/* Before the program runs: its listing may be what it is run for. */
	if (!v->raw && v->file) {
		if (host_check_output(v->file, operands[0]))
			return EXIT_FAILED;
		out = output_open(v->file, O_WRONLY, 0666);
		if (out < 0)
			return failure("%s: %s", v->file, output_error(out));
	}
	if (!v->raw)
		return record_and_list(v, &l, operands, out);
	status = record(v, operands, v->file, &result);
	if (!status && v->thread != NO_THREAD && result.bytes == 0)
		return failure("%s: no trace of a thread %llu: %u ran", v->file,
			       (unsigned long long)v->thread, result.threads);
	if (!status && result.threads > 1)
		message("%s: the trace of one of %u %s; -t says which", v->file, result.threads,
			v->cpus ? "CPUs" : "threads");
	return status || !operands[0] ? status : host_exit_status(result.status);
}

const struct command hwt8_command = {
	.name = "",
	.summary = "Runs a program and lists what it executed",
	.operands = "[program [argument ...]]",
	.max_operands = -1,
	.in_order = true,
	.usage_status = EXIT_FAILED,
	.options = hwt8_opts,
	.defaults = &defaults,
	.size = sizeof(struct hwt8_values),
	.run = hwt8_run,
};
