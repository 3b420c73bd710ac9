// SPDX-License-Identifier: BSD-2-Clause
/*
 * Addresses as perf decodes them: `perf script --itrace=i1i -F tid,ip` (or cpu,ip)
 * runs once and is sorted into a file a thread (or CPU), in the layout of the log.
 */
#include "source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_TIDS	6000

struct sorter {
	const char	*dir;
	uint32_t	tid[MAX_TIDS];
	FILE		*file[MAX_TIDS];
	uint64_t	count[MAX_TIDS];
	int		n, last;
};

static int find(struct sorter *s, uint32_t tid)
{
	char path[4200];
	int i;

	if (s->n && s->tid[s->last] == tid)
		return s->last;
	for (i = 0; i < s->n; i++)
		if (s->tid[i] == tid)
			return s->last = i;
	if (s->n == MAX_TIDS)
		return -1;
	snprintf(path, sizeof(path), "%s/perf.%u", s->dir, tid);
	s->file[i] = fopen(path, "we");
	if (!s->file[i] || fseek(s->file[i], LOG_DATA, SEEK_SET))
		return -1;
	s->tid[i] = tid;
	s->count[i] = 0;
	s->n++;
	return s->last = i;
}

static int finish(struct sorter *s)
{
	uint64_t head[2] = {LOG_MAGIC, 0};
	int i, bad = 0;

	for (i = 0; i < s->n; i++) {
		head[1] = s->count[i];
		bad |= fseek(s->file[i], 0, SEEK_SET) || !fwrite(head, sizeof(head), 1, s->file[i]);
		bad |= fclose(s->file[i]);
	}
	return bad;
}

static int sort_lines(struct sorter *s, FILE *in)
{
	char line[256], *start, *end;
	uint32_t tid;
	uint64_t ip;
	int i;

	while (fgets(line, sizeof(line), in)) {
		start = line + strspn(line, " [");	/* [000], a CPU */
		tid = (uint32_t)strtoul(start, &end, 10);
		if (end == start)
			continue;
		ip = strtoull(end + (*end == ']'), NULL, 16);
		i = find(s, tid);
		if (i < 0 || !fwrite(&ip, sizeof(ip), 1, s->file[i]))
			return -1;
		s->count[i]++;
	}
	return 0;
}

int perf_decode(const char *file, const char *dir, bool cpus)
{
	static struct sorter s;
	int p[2], status, bad;
	pid_t child;
	FILE *in;

	s.dir = dir;
	s.n = 0;
	if (pipe(p) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		dup2(p[1], 1);
		close(p[0]);
		close(p[1]);
		execlp("perf", "perf", "script", "--itrace=i1i", "-F",
		       cpus ? "cpu,ip" : "tid,ip", "-i", file, (char *)NULL);
		_exit(127);
	}
	close(p[1]);
	in = fdopen(p[0], "r");
	bad = !in || sort_lines(&s, in);
	if (in)
		fclose(in);
	bad |= finish(&s);
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		printf("perf script: status %#x\n", status);
		return -1;
	}
	return bad ? -1 : 0;
}

struct source *source_perf(const char *dir, uint32_t tid)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/perf.%u", dir, tid);
	return source_file("perf", path);
}
