/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "command.h"
#include "cpus.h"
#include "present/text.h"
#include "session/packets.h"
#include "session/session.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t target_pid;
static volatile sig_atomic_t signals_after_end;

int host_open(const struct hwt_host_options *options, const char *needs_kernel,
	      struct hwt_host **out)
{
	struct hwt_host_options o = *options;
	char line[1024], *error = NULL;
	const char *text;
	int err;

	if (needs_kernel && !o.kind)
		o.kind = "kernel";
	if (needs_kernel && strcmp(o.kind, "embedded") == 0)
		return failure("%s: the embedded host traces only programs that it starts; the kernel host can (hwt list)",
			       needs_kernel);
	err = hwt_host_open(&o, out, &error);
	if (!err)
		return EXIT_OK;
	text = error ? text_printable(line, sizeof(line), error) : strerror(-err);
	err = needs_kernel ? failure("%s needs the kernel host: %s", needs_kernel, text) :
			     failure("%s", text);
	free(error);
	return err;
}

/* ---- signals ---- */

/*
 * A terminal sends its signals to the target, too (it is in the same process
 * group): only what another process sent to hwt alone is passed on.
 */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	if (target_pid > 0 && info->si_code <= 0 && kill(target_pid, sig) == 0)
		;
	else
		__atomic_store_n(&signals_after_end, 1, __ATOMIC_RELAXED);
	errno = saved;
}

static const int passed[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
#define NPASSED	(sizeof(passed) / sizeof(passed[0]))

static void on_pipe(int sig)
{
	/* Writing to a closed stderr must not end the recording. */
}

/* What is ignored stays ignored, for the target inherits it (nohup). */
static void catch_signals(struct sigaction saved[NPASSED + 1])
{
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct sigaction pipe_act = { .sa_handler = on_pipe, .sa_flags = SA_RESTART };
	size_t i;

	for (i = 0; i < NPASSED; i++) {
		sigaction(passed[i], NULL, &saved[i]);
		if (saved[i].sa_handler != SIG_IGN)
			sigaction(passed[i], &act, NULL);
	}
	sigaction(SIGPIPE, NULL, &saved[NPASSED]);
	if (saved[NPASSED].sa_handler != SIG_IGN)
		sigaction(SIGPIPE, &pipe_act, NULL);
}

static void restore_signals(const struct sigaction saved[NPASSED + 1])
{
	size_t i;

	for (i = 0; i < NPASSED; i++)
		sigaction(passed[i], &saved[i], NULL);
	sigaction(SIGPIPE, &saved[NPASSED], NULL);
}

static void spawned(void *ctx, pid_t pid)
{
	target_pid = pid;
}

/* ---- questions about ELF files ---- */

static int copy(const struct image_range *range, int n, struct ipf_range *out, int max)
{
	int i;

	for (i = 0; i < n && i < max; i++)
		out[i] = (struct ipf_range){ range[i].start, range[i].end };
	return n;
}

static int ranges_of(void *ctx, const char *path, const char *function,
		     struct ipf_range *out, int max)
{
	struct image_range range[RECORD_MAX_PARTS];

	max = max < RECORD_MAX_PARTS ? max : RECORD_MAX_PARTS;
	return copy(range, image_function_ranges(path, function, range, max), out, max);
}

static int kernel_ranges_of(void *ctx, const char *module, const char *function,
			    struct ipf_range *out, int max)
{
	struct image_range range[RECORD_MAX_PARTS];

	max = max < RECORD_MAX_PARTS ? max : RECORD_MAX_PARTS;
	return copy(range, image_kernel_ranges(NULL, module, function, range, max), out, max);
}

static int vaddr_of(void *ctx, const char *path, uint64_t pgoff, uint64_t *vaddr)
{
	return image_offset_to_vaddr(path, pgoff, vaddr);
}

static int build_id_of(void *ctx, const char *path, uint8_t *out, size_t max)
{
	return image_build_id(path, out, max);
}

/* ---- recording ---- */

/* What a program that cannot be run here is; true if that could be said. */
static bool explain_refusal(const char *path)
{
	char what[128], line[4096];
	int machine, bits;

	if (!strchr(path, '/') ||
	    image_describe(path, what, sizeof(what), &machine, &bits))
		return false;
	if ((machine == EM_AARCH64 || machine == EM_X86_64) && bits == 64)
		return false;	/* it could, with another unit: the host has said so */
	if (strcmp(what, "script") == 0)
		return false;	/* the host tells of its interpreter */
	message("%s: %s; this host runs x86-64 and AArch64 programs",
		text_printable(line, sizeof(line), path), what);
	return true;
}

/* -o ./prog: the recording would replace the program before it runs. */
static bool is_program(const char *output, const char *path)
{
	char file[2 * PATH_MAX];
	struct stat a, b;
	const char *dir;
	int n;

	if (!output || !path || stat(output, &a))
		return false;
	for (dir = strchr(path, '/') ? NULL : getenv("PATH"); dir;) {
		n = (int)strcspn(dir, ":");
		snprintf(file, sizeof(file), "%.*s/%s", n, n ? dir : ".", path);
		/* What execvp(3) would take. */
		if (access(file, X_OK) == 0 && stat(file, &b) == 0 && S_ISREG(b.st_mode)) {
			path = file;
			break;
		}
		dir = dir[n] ? dir + n + 1 : NULL;
	}
	return stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int host_check_output(const char *output, const char *path)
{
	char line[4096];

	if (!is_program(output, path))
		return EXIT_OK;
	return failure("%s: is the program itself, not written over",
		       text_printable(line, sizeof(line), path));
}

/* Their traces are shorter than their lives. */
static void tell_strays(const struct record_strays *strays, const char *what)
{
	char program[4096];

	if (!strays->n)
		return;
	text_printable(program, sizeof(program), strays->program);
	if (strays->n == 1)
		message("process %u executed %s, which is %s: its trace ends there", strays->pid,
			program, what);
	else
		message("%u processes executed programs that are %s (%u: %s): their traces end there",
			strays->n, what, strays->pid, program);
}

int host_record(struct hwt_host *host, struct record_options *options,
		struct record_result *result)
{
	struct sigaction saved[NPASSED + 1];
	char line[4096], *error = NULL;
	int err;

	if (host_check_output(options->output, options->path) ||
	    host_check_output(options->raw, options->path)) {
		*result = (struct record_result){ .status = -1 };
		return -EINVAL;
	}
	options->host = host;
	options->images = (struct record_images){
		.ranges = ranges_of, .kernel_ranges = kernel_ranges_of,
		.vaddr_of = vaddr_of, .build_id = build_id_of,
		.whole_packets = hwt_pt_whole_packets,
	};
	options->spawned = spawned;
	options->stop = &signals_after_end;
	catch_signals(saved);
	err = record_run(options, result, &error);
	target_pid = 0;
	if (err && !(err == -ENOEXEC && result->spawn_failed &&
		     explain_refusal(options->path)))
		message("%s", error ? text_printable(line, sizeof(line), error) :
			strerror(-err));
	else if (!err && result->no_symbols)
		message("the kernel hides its symbols (kernel.kptr_restrict): functions will have no names");
	tell_strays(&result->revoked, "privileged beyond you");
	tell_strays(&result->native, "for another machine");
	free(error);
	restore_signals(saved);
	return err;
}

int host_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) :
					  WEXITSTATUS(wait_status);
}

int host_failure_status(int err, const struct record_result *result)
{
	if (result->spawn_failed && err == -ENOENT)
		return EXIT_NOT_FOUND;
	if (result->spawn_failed && (err == -EACCES || err == -ENOEXEC || err == -ELOOP))
		return EXIT_NOT_EXECUTABLE;
	return EXIT_RECORD_FAILED;
}

bool host_filters_missed(const struct record_options *options,
			 const struct record_result *result)
{
	const struct record_filter *filters = options->filters;
	char path[4096], program[4200] = "the program";
	int i, n = options->nfilters;

	if (options->path && !options->cpus)
		snprintf(program, sizeof(program), "the program %s",
			 text_printable(path, sizeof(path), options->path));
	for (i = 0; i < n; i++) {
		if (!(result->filters_missed >> i & 1))
			continue;
		if (result->images_missed >> i & 1)
			message("%s: it was never loaded: nothing to trace",
				filters[i].image ? filters[i].image : "the program's own file");
		else if (filters[i].function)
			message("%s: there is no function %s in it: nothing to trace",
				filters[i].image ? filters[i].image : program,
				filters[i].function);
		else
			message("%s: no range of it could be traced", filters[i].image);
	}
	return n > 0 && result->filters_missed == (1ull << n) - 1;
}

int host_cpus(const char *option, const char *text, cpu_set_t *out)
{
	switch (cpus_parse(text, out)) {
	case 0:
		return EXIT_OK;
	case -ERANGE:
		return failure("%s: '%s': there are no such CPUs", option, text);
	}
	return failure("%s: '%s' is no list of CPUs, such as 0-3,5", option, text);
}

int host_filters(const struct option_list *images, const struct option_list *functions,
		 const char *cpu_option, bool cpus, struct record_filter *filters, int *n)
{
	int i;

	*n = functions->n ? functions->n : images->n;
	if (images->n > 1 && functions->n && images->n != functions->n)
		return failure(
			"%d images (-i) for %d %s (-f): one for each, or one for all",
			images->n, functions->n,
			text_form((uint64_t)functions->n, "function", "functions"));
	for (i = 0; i < *n; i++) {
		filters[i].function = functions->n ? functions->item[i] : NULL;
		filters[i].image = images->n == 1 ? images->item[0] :
				   images->n ? images->item[i] : NULL;
		if (!cpus && filters[i].image && strcmp(filters[i].image, "kernel") == 0)
			return failure("-i kernel: kernel code is traced by CPU: %s CPUS",
				       cpu_option);
	}
	return EXIT_OK;
}
