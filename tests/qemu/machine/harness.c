// SPDX-License-Identifier: BSD-2-Clause
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Layout of the log (qemu/system_log_file.h), told here a second time on purpose. */
#define LOG_MAGIC 0x31534c4754574875ull
#define LOG_DATA  4096u
#define LOG_MARK  (1ull << 63)
#define MARK_ON	  1
#define MARK_OFF  2

#define MAX_ARGS  64
#define FILE_BACKEND "memory-backend-file,id=%s,size=%s,share=on,mem-path=%s/%s"

void fatal(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		strerror(errno));
	exit(1);
}

void flow_add(struct flow *f, uint64_t ip)
{
	if (f->n < MAX_FLOW)
		f->ip[f->n++] = ip;
}

void flow_error(struct flow *f, const char *what, uint64_t offset, uint64_t ip)
{
	if (!f->errors++)
		snprintf(f->first_error, sizeof(f->first_error),
			 "%s at offset %#" PRIx64 ", ip %#" PRIx64, what, offset, ip);
}

void flow_begin(struct flow *f, int n)
{
	while (n--) {
		if (!f[n].ip)
			f[n].ip = malloc(sizeof(uint64_t) * MAX_FLOW);
		if (!f[n].ip)
			fatal("memory");
		f[n].n = f[n].errors = 0;
	}
}

int flow_compare(const struct recording *r, const char *name, const struct flow *a,
		 const struct flow *log)
{
	size_t i = 0, k;

	while (i < a->n && i < log->n && a->ip[i] == log->ip[i])
		i++;
	if (!a->errors && !log->errors && i == a->n && i == log->n)
		return 0;
	printf("%-16s config %#" PRIx64
	       " CPU %u: %s has %zu instructions, the log %zu; the "
	       "first %zu are the same\n",
	       r->name, r->config, r->cpu, name, a->n, log->n, i);
	if (a->errors)
		printf("  %" PRIu64 " errors: %s\n", a->errors, a->first_error);
	if (log->errors)
		printf("  %s\n", log->first_error);
	for (k = i < 4 ? 0 : i - 4; k < i + 6; k++)
		printf("  %c %#18" PRIx64 " %#18" PRIx64 "\n", k == i ? '>' : ' ',
		       k < a->n ? a->ip[k] : 0, k < log->n ? log->ip[k] : 0);
	return 1;
}

void machine_log(struct machine *m, const struct recording *r, struct flow *f)
{
	struct cpu_log *l = &m->log[r->cpu];
	uint64_t word, space = 0;
	bool on = false;

	while (l->at < l->n) {
		word = l->word[l->at++];
		if (word >> 48 == LOG_MARK >> 48) {
			space = l->word[l->at + 1];
			l->at += 3;
			on |= (word & 0xff) == MARK_ON;
			if ((word & 0xff) == MARK_OFF)
				return;
			continue;
		}
		if (!on || !(r->levels & (word >> 63 ? LEVEL_KERNEL : LEVEL_USER)) ||
		    (r->space && (space ^ r->space) >> 5))
			continue;
		flow_add(f, word);
	}
	flow_error(f, "the log ends", l->at, 0);
}

int machine_user_count(const struct recording *r, const struct flow *log)
{
	static struct {
		const char *row;
		uint64_t count;
	} rows[MAX_RECORDINGS];
	uint64_t count = 0;
	size_t i;

	if (!(r->levels & LEVEL_USER) || r->space || strstr(r->name, "spin") ||
	    strstr(r->name, "atomics"))
		return 0;
	for (i = 0; i < log->n; i++)
		count += !(log->ip[i] >> 63);
	for (i = 0; rows[i].row && strcmp(rows[i].row, r->name); i++)
		;
	if (!rows[i].row) {
		rows[i].row = r->name;
		rows[i].count = count;
	}
	if (rows[i].count == count)
		return 0;
	printf("%s: the log has %" PRIu64 " instructions of the program, and had %" PRIu64
	       " another time\n",
	       r->name, count, rows[i].count);
	return 1;
}

size_t machine_code(const struct machine *m, bool user, uint64_t at, uint8_t *buf,
		    size_t len)
{
	uint64_t end = user ? m->report->user_size : RAM_SIZE;

	if (at >= end)
		return 0;
	if (len > end - at)
		len = end - at;
	memcpy(buf, m->ram + at + (user ? m->report->user_at : 0), len);
	return len;
}

bool machine_spun(const struct recording *r)
{
	return r->status && strstr(r->name, "spin");
}

int machine_leftovers(const struct machine *m)
{
	int i, bad = 0;

	if (m->report->magic != MACHINE_MAGIC || !m->report->done) {
		printf("the machine did not come to its end\n");
		return 1;
	}
	for (i = 0; i < MAX_CPUS; i++) {
		if (m->log[i].at == m->log[i].n)
			continue;
		printf("CPU %d: the log goes on behind the last recording\n", i);
		bad = 1;
	}
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

static void append(char **args, size_t *n, char *const *more)
{
	for (; *more && *n < MAX_ARGS - 1; more++)
		args[(*n)++] = *more;
}

static int start(const char *dir, const struct machine_start *s)
{
	char ram[128], reg[128], plugin[4096];
	char *const common[] = {
		"-m", "256M", "-object", ram, "-object", reg,
		"-device", "ivshmem-plain,memdev=reg", "-nodefaults", "-display", "none",
		"-no-reboot", "-plugin", plugin, "-kernel", (char *)s->kernel, NULL,
	};
	/* What the plugin's build needs in the emulator. */
	const char *preload = getenv("HWT_EMULATOR_PRELOAD");
	char *args[MAX_ARGS] = {(char *)s->qemu};
	size_t n = 1;
	int status;
	pid_t pid;

	snprintf(ram, sizeof(ram), FILE_BACKEND, "ram", "256M", dir, "ram");
	snprintf(reg, sizeof(reg), FILE_BACKEND, "reg", "256K", dir, "reg");
	snprintf(plugin, sizeof(plugin), "%s,ram=%s/ram,reg=%s/reg,log=%s%s%s", s->plugin,
		 dir, dir, dir, s->unit ? ",unit=" : "", s->unit ? s->unit : "");
	append(args, &n, s->argv);
	append(args, &n, common);
	pid = fork();
	if (!pid) {
		alarm(SECONDS);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execv(args[0], args);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		fatal("fork");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* false: it is none (said). */
static bool map_log(const struct machine *m, const char *what, unsigned int cpu,
		    struct cpu_log *log)
{
	const uint64_t *head;
	char name[24];
	size_t size;

	snprintf(name, sizeof(name), "%s.cpu%u", what, cpu);
	head = map_file(m->dir, name, &size);
	*log = (struct cpu_log){head + LOG_DATA / 8, head[1], 0};
	if (head[0] == LOG_MAGIC && head[1] <= (size - LOG_DATA) / 8)
		return true;
	printf("%s is no log\n", name);
	return false;
}

static int by_access(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

struct access *machine_accesses(const struct machine *m, unsigned int cpu, size_t *n)
{
	struct access *all;
	struct cpu_log log;

	if (!map_log(m, "mem", cpu, &log))
		exit(1);
	*n = log.n / 2;
	all = malloc((*n + 1) * sizeof(*all));
	if (!all)
		fatal("memory");
	memcpy(all, log.word, *n * sizeof(*all));
	qsort(all, *n, sizeof(*all), by_access);
	return all;
}

bool machine_accessed(const struct access *all, size_t n, struct access what)
{
	return bsearch(&what, all, n, sizeof(*all), by_access);
}

int machine_run(struct machine *m, const struct machine_start *s)
{
	unsigned int cpus = s->cpus;
	size_t size;
	int ended;

	strcpy(m->dir, "/tmp/hwt-machine.XXXXXX");
	if (access(s->qemu, X_OK)) {
		printf("%s is not installed\n", s->qemu);
		return 77;
	}
	if (!mkdtemp(m->dir))
		fatal(m->dir);
	ended = start(m->dir, s);
	if (ended != s->status) {
		printf("the machine ended with status %d\n", ended);
		return 1;
	}
	m->ram = map_file(m->dir, "ram", &size);
	m->window = map_file(m->dir, "reg", &size);
	m->report = (const void *)(m->ram + REPORT);
	while (cpus--)
		if (!map_log(m, "log", cpus, &m->log[cpus]))
			return 1;
	return 0;
}

void machine_end(struct machine *m)
{
	static const char *const names[] = {"ram",	"reg",	    "log.cpu0",
					    "log.cpu1", "mem.cpu0", "mem.cpu1"};
	char path[128];
	size_t i;

	if (getenv("KEEP"))
		return;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", m->dir, names[i]);
		unlink(path);
	}
	rmdir(m->dir);
}
