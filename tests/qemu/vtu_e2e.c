// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records a program under the plugin, decodes it with libipt and compares the
 * addresses of each thread with the plugin's independent log.  With -U no unit is
 * there: what it would be fed is compared.
 *
 *   vtu_e2e [options] QEMU PLUGIN program args...
 */
#include <errno.h>
#include <getopt.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../hw/pt.h"
#include "decode.h"

struct expect {
	int status;		/* as wait(2) gives it; -1: any */
	int threads;		/* at least */
	int processes;
	bool prefix;		/* the log may go on: threads killed while running */
	uint64_t insns;		/* exactly; 0: any */
	uint64_t taken, not_taken;	/* TNT bits of the first thread; 0: any */
	bool single_step;	/* compare with the emulator's own log, too */
	uint32_t parks;		/* at least */
	bool record_only;	/* no log, no decoding: for its cost */
};

static int failures;

static void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "FAIL: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	failures++;
}

static void dump(const char *name, const struct addresses *a, size_t at)
{
	size_t i = at > 6 ? at - 6 : 0;

	fprintf(stderr, "  %s:", name);
	for (; i < a->n && i < at + 6; i++)
		fprintf(stderr, "%s%llx", i == at ? " >" : " ",
			(unsigned long long)a->v[i]);
	fprintf(stderr, "\n");
}

static void compare(int pid, int tid, const struct decoded *d,
		    const struct addresses *log, const struct expect *x)
{
	size_t i, n = d->a.n < log->n ? d->a.n : log->n;

	if (d->errors)
		fail("%d/%d: %zu decode errors, first: %s", pid, tid, d->errors,
		     d->first_error);
	for (i = 0; i < n && d->a.v[i] == log->v[i]; i++)
		;
	/* The log takes an instruction when the next begins: killed between, it lacks one. */
	if (i == n && (d->a.n == log->n || (x->prefix && d->a.n <= log->n + 1)))
		return;
	fail("%d/%d: decoded %zu and logged %zu instructions, equal up to %zu", pid, tid,
	     d->a.n, log->n, i);
	dump("decoded", &d->a, i);
	dump("logged ", log, i);
}

static int decode(const struct owner *w, const struct stream *s, struct decoded *d)
{
#ifdef HAVE_OPENCSD
	if (w->o.kind == VTU_UNIT_CORESIGHT)
		return decode_etm(w, s, d);
#endif
	return decode_stream(s, d);
}

/* The streams of one thread, of each program that it ran in turn. */
static void check_thread(struct owner *w, const struct stream *first,
			 const struct expect *x, uint64_t *insns)
{
	int pid = first->process->pid, tid = first->tid, program;
	struct addresses log = {0};
	struct decoded d = {0};
	struct stream *s;
	size_t i, n = 0;
	struct stream *order[4096];

	for (s = w->streams; s && n < 4096; s = s->next)	/* newest first */
		if (s->process->pid == pid && s->tid == tid)
			order[n++] = s;
	if (w->o.kind == VTU_UNIT_FEED)
		read_log(w->o.log_dir, "feed", pid, tid, &d.a);
	for (i = w->o.kind == VTU_UNIT_FEED ? 0 : n; i > 0; i--)
		if (decode(w, order[i - 1], &d))
			fail("%d/%d: cannot decode", pid, tid);
	program = read_log(w->o.log_dir, "log", pid, tid, &log);
	if (program && d.a.n)
		fail("%d/%d: no log: %s", pid, tid, strerror(-program));
	compare(pid, tid, &d, &log, x);
	*insns += d.a.n;
	if (getenv("VTU_E2E_RAW")) {
		FILE *raw = fopen(getenv("VTU_E2E_RAW"), "we");

		if (raw && fwrite(first->data, 1, first->size, raw) != first->size)
			fail("cannot write the raw stream");
		if (raw)
			fclose(raw);
	}
	if (getenv("VTU_E2E_VERBOSE"))
		fprintf(stderr, "%d/%d: %zu insns, %zu logged, %zu streams, %zu bytes\n",
			pid, tid, d.a.n, log.n, n, first->size);
	free(d.a.v);
	free(log.v);
}

static bool seen_before(const struct owner *w, const struct stream *s)
{
	const struct stream *t;

	for (t = w->streams; t != s; t = t->next)
		if (t->process->pid == s->process->pid && t->tid == s->tid)
			return true;
	return false;
}

static void check(struct owner *w, const struct expect *x)
{
	int threads = 0, processes = 0;
	uint64_t insns = 0;
	struct process *p;
	struct stream *s;

	for (s = w->streams; s; s = s->next) {
		threads++;
		if (!seen_before(w, s))
			check_thread(w, s, x, &insns);
	}
	for (p = w->processes; p; p = p->next)
		processes++;
	printf("%llu instructions, %d threads, %d programs, %u hooks, %u parks\n",
	       (unsigned long long)insns, threads, processes, w->hooks, w->parks);
	if (x->status >= 0 && w->wait_status != x->status)
		fail("ended with status %#x, not %#x", w->wait_status, x->status);
	if (threads < x->threads)
		fail("%d threads, not %d", threads, x->threads);
	if (x->processes && processes != x->processes)
		fail("%d programs, not %d", processes, x->processes);
	if (x->insns && insns != x->insns)
		fail("%llu instructions, not %llu", (unsigned long long)insns,
		     (unsigned long long)x->insns);
	if (x->taken || x->not_taken) {
		uint64_t taken, not_taken;

		if (w->o.kind == VTU_UNIT_FEED) {
			taken = w->taken;
			not_taken = w->not_taken;
		} else {
			count_outcomes(w->streams, &taken, &not_taken);
		}
		if (taken != x->taken || not_taken != x->not_taken)
			fail("%llu branches taken and %llu not, instead of %llu and %llu",
			     (unsigned long long)taken, (unsigned long long)not_taken,
			     (unsigned long long)x->taken,
			     (unsigned long long)x->not_taken);
	}
	if (!insns)
		fail("nothing was decoded");
	if (w->faults)
		fail("%u register writes were refused, the last to %#x", w->faults,
		     vtu_block(w->window, 0)->fault_reg);
}

/*
 * QEMU's log of the same program, an instruction a block.  Normalised: a REP is
 * listed at each iteration; the kernel's page holds no instruction.
 */
static int read_emulators_log(const char *path, struct addresses *a)
{
	unsigned long long ip, last = 0;
	char line[512], *p;
	FILE *f = fopen(path, "re");

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		p = strchr(line, '[');
		if (strncmp(line, "Trace ", 6) || !p ||
		    sscanf(p, "[%*[^/]/%llx", &ip) != 1)
			continue;
		if (ip != last && ip < 0xffffffffff600000ull)
			addresses_add(a, ip);
		last = ip;
	}
	fclose(f);
	return 0;
}

static void compare_with_emulator(const struct owner *w)
{
	struct addresses theirs = {0};
	struct decoded d = {0};
	char path[4200], *argv[32];
	int n = 0, i, err, status = -1;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/qemu", w->o.log_dir);
	argv[n++] = (char *)w->o.qemu;
	if (w->window->sysroot[0]) {
		argv[n++] = "-L";
		argv[n++] = w->window->sysroot;
	}
	argv[n++] = "-cpu";
	argv[n++] = "max";
	argv[n++] = "-singlestep";
	argv[n++] = "-d";
	argv[n++] = "exec,nochain";
	argv[n++] = "-D";
	argv[n++] = path;
	for (i = 0; w->o.argv[i] && n < 31; i++)
		argv[n++] = w->o.argv[i];
	argv[n] = NULL;
	pid = fork();
	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	err = w->o.kind == VTU_UNIT_FEED ? read_log(w->o.log_dir, "feed", w->child, w->child, &d.a) :
			  decode(w, w->streams, &d);
	if (status != w->wait_status || read_emulators_log(path, &theirs) || err)
		fail("no log of the emulator's own: status %#x", status);
	else
		compare(0, 0, &d, &theirs, &(struct expect){0});
	free(theirs.v);
	free(d.a.v);
}

static int unlink_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	return remove(path);
}

/* What a letter does: its argument (or, of those without one, `value`) goes there. */
static struct owner_options options = {
	.flags = VTU_F_LOG, .kind = VTU_UNIT_PT, .region = 1 << 20,
};
static struct expect expected;

static const struct letter {
	char c;
	enum { SET_INT, SET_U32, SET_U64, SET_BOOL, ADD_FLAG, ADD_CTL, KIND, EXIT } how;
	bool argument;
	void *where;
	uint64_t value;
} letters[] = {
	{'f', ADD_FLAG, false, NULL, VTU_F_FOLLOW},
	{'H', ADD_FLAG, false, NULL, VTU_F_CLOCK_HOST},
	{'F', ADD_CTL, false, NULL, RTIT_CTL_TSCEN | RTIT_CTL_MTCEN | RTIT_CTL_CYCEN},
	{'R', ADD_CTL, false, NULL, RTIT_CTL_DISRETC},
	{'c', ADD_CTL, true, NULL, 0},
	{'U', KIND, false, NULL, VTU_UNIT_FEED},
	{'E', KIND, false, NULL, VTU_UNIT_CORESIGHT},
	{'e', KIND, false, &options.shared, VTU_UNIT_CORESIGHT},
	{'o', SET_BOOL, false, &options.own_stop, 0},
	{'r', SET_U32, true, &options.region, 0},
	{'p', SET_INT, true, &options.park_every_ms, 0},
	{'D', SET_INT, true, &options.detach_after_ms, 0},
	{'K', SET_INT, true, &options.kill_after_ms, 0},
	{'k', SET_INT, true, &options.die_after_hooks, 0},
	{'m', SET_U32, true, &expected.parks, 0},
	{'T', SET_INT, true, &expected.threads, 0},
	{'P', SET_INT, true, &expected.processes, 0},
	{'s', EXIT, true, &expected.status, 0},
	{'S', SET_INT, true, &expected.status, 0},
	{'i', SET_U64, true, &expected.insns, 0},
	{'t', SET_U64, true, &expected.taken, 0},
	{'z', SET_U64, true, &expected.not_taken, 0},
	{'l', SET_BOOL, false, &expected.prefix, 0},
	{'n', SET_BOOL, false, &expected.record_only, 0},
	{'Q', SET_BOOL, false, &expected.single_step, 0},
};
#define NLETTERS (sizeof(letters) / sizeof(letters[0]))

static void apply(const struct letter *l, const char *argument)
{
	uint64_t value = l->argument ? strtoull(argument, NULL, 0) : l->value;

	switch (l->how) {
	case SET_INT:
		*(int *)l->where = (int)value;
		break;
	case SET_U32:
		*(uint32_t *)l->where = (uint32_t)value;
		break;
	case SET_U64:
		*(uint64_t *)l->where = value;
		break;
	case SET_BOOL:
		*(bool *)l->where = true;
		break;
	case ADD_FLAG:
		options.flags |= (uint32_t)value;
		break;
	case ADD_CTL:
		options.ctl |= value;
		break;
	case KIND:
		options.kind = (uint32_t)value;
		if (l->where)
			*(bool *)l->where = true;
		break;
	case EXIT:
		*(int *)l->where = (int)value << 8;
		break;
	}
}

static void parse(int argc, char **argv)
{
	char list[2 * NLETTERS + 2] = "+", *end = list + 1;
	size_t i;
	int c;

	for (i = 0; i < NLETTERS; i++) {
		*end++ = letters[i].c;
		if (letters[i].argument)
			*end++ = ':';
	}
	while ((c = getopt(argc, argv, list)) != -1) {
		for (i = 0; i < NLETTERS && letters[i].c != c; i++)
			;
		if (i == NLETTERS)
			exit(2);
		apply(&letters[i], optarg);
	}
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/vtu_e2e.XXXXXX";
	struct owner_options *o = &options;
	struct expect *x = &expected;
	struct owner w;
	int err;

	o->envp = environ;
	parse(argc, argv);
	if (x->record_only)
		o->flags &= ~VTU_F_LOG;
	if (argc - optind < 3)
		return 2;
	o->qemu = argv[optind];
	o->plugin = argv[optind + 1];
	o->argv = argv + optind + 2;
	if (access(o->qemu, X_OK)) {
		printf("SKIP: no %s\n", o->qemu);
		return 77;
	}
	if (!strcmp(o->argv[0], "none")) {
		printf("SKIP: no compiler for the program\n");
		return 77;
	}
	if (!mkdtemp(dir))
		return 1;
	o->log_dir = dir;
	err = owner_run(&w, o);
	if (err)
		fail("cannot run %s: %s", o->argv[0], strerror(-err));
	else if (!x->record_only)
		check(&w, x);
	else if (w.wait_status != x->status)
		fail("ended with status %#x, not %#x", w.wait_status, x->status);
	if (!err && w.parks < x->parks)
		fail("parked %u times, not %u", w.parks, x->parks);
	/* A sanitizer's shadow lies where QEMU would load: no two runs are alike. */
	if (!err && x->single_step && getenv("HWT_EMULATOR_PRELOAD"))
		fprintf(stderr, "not compared with QEMU's own log: under a sanitizer\n");
	else if (!err && x->single_step)
		compare_with_emulator(&w);
	if (!getenv("VTU_E2E_KEEP"))
		nftw(dir, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
	return failures ? 1 : 0;
}
