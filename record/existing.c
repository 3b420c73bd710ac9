/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that runs already: what it has mapped and what its threads are called
 * was so before any record.  It is written as records like those that would have
 * told, at the moment of the first one that comes.  What changes between ALLOC and
 * the look is told twice; once more does no harm.
 */
#include "internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int act_on_map(struct context *ctx, const struct hwt_rec *rec)
{
	const struct hwt_rec_mmap *map = (const struct hwt_rec_mmap *)(rec + 1);
	int err = 0;

	if ((map->prot & PROT_EXEC) && map->path[0] != '/')
		err = code_of_process(ctx, rec, map);
	keep_map(&ctx->r->keep, rec, map);
	return err ? err : filter_map(ctx, map);
}

/* A record of the process, as the first one that came says when and where. */
static int put(struct context *ctx, const struct hwt_rec *like, uint16_t type,
	       uint32_t tid, const void *payload, size_t n)
{
	size_t size = (sizeof(*like) + n + 7) / 8 * 8;
	struct hwt_rec *rec = calloc(1, size);
	int err;

	if (!rec)
		return -ENOMEM;
	*rec = (struct hwt_rec){
		.size = (uint32_t)size, .type = type, .time = like->time, .pid = ctx->pid,
		.tid = tid, .cpu = -1, .generation = like->generation,
	};
	memcpy(rec + 1, payload, n);
	err = sink_record(&ctx->r->sink, rec);
	if (!err && type == HWT_REC_MMAP)
		err = act_on_map(ctx, rec);
	free(rec);
	return err;
}

static uint32_t prot_of(const char *perms)
{
	return (perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0) |
	       (perms[2] == 'x' ? PROT_EXEC : 0);
}

/* "start-end perms offset major:minor inode   path"; false: nothing for us. */
static bool parse_map(const char *line, struct hwt_rec_mmap *map, size_t room)
{
	unsigned long long start, end, pgoff, ino;
	char perms[5];
	int at = 0;

	memset(map, 0, sizeof(*map));
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, perms, &pgoff,
		   &map->dev_major, &map->dev_minor, &ino, &at) < 7 || !at || end <= start)
		return false;
	map->addr = start;
	map->len = end - start;
	map->pgoff = pgoff;
	map->ino = ino;
	map->prot = prot_of(perms);
	map->mapflags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	snprintf(map->path, room, "%.*s", (int)strcspn(line + at, "\n"), line + at);
	if (!ino)
		map->mapflags |= MAP_ANONYMOUS;
	return (map->prot & PROT_EXEC) || map->path[0] == '/';
}

static int put_maps(struct context *ctx, const struct hwt_rec *like)
{
	struct {
		struct hwt_rec_mmap map;
		char path[HWT_PATH_MAX];
	} m;
	char name[64], *line = NULL;
	size_t room = 0;
	FILE *f;
	int err = 0;

	snprintf(name, sizeof(name), "/proc/%u/maps", ctx->pid);
	f = fopen(name, "re");
	if (!f)
		return errno == ENOENT ? 0 : -errno;	/* it is gone: so is its code */
	while (!err && getline(&line, &room, f) > 0)
		if (parse_map(line, &m.map, sizeof(m.path)))
			err = put(ctx, like, HWT_REC_MMAP, ctx->pid, &m,
				  sizeof(m.map) + strlen(m.map.path) + 1);
	free(line);
	fclose(f);
	return err == -ESRCH ? 0 : err;
}

static int put_name(struct context *ctx, const struct hwt_rec *like, uint32_t tid)
{
	struct hwt_rec_name name = { "" };
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", ctx->pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fread(name.name, 1, sizeof(name.name) - 1, f) > 0)
		name.name[strcspn(name.name, "\n")] = '\0';
	fclose(f);
	return name.name[0] ? put(ctx, like, HWT_REC_THREAD_NAME, tid, &name, sizeof(name)) : 0;
}

static void note_program(struct context *ctx)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/exe", ctx->pid);
	n = readlink(link, ctx->program, sizeof(ctx->program) - 1);
	if (n <= 0)
		return;
	ctx->program[n] = '\0';
	ctx->exec_seen = false;
}

int existing_maps(struct context *ctx, const struct hwt_rec *like)
{
	int err;

	note_program(ctx);
	err = put_maps(ctx, like);
	return err ? err : put_name(ctx, like, ctx->pid);
}

int existing_thread(struct context *ctx, const struct hwt_rec *like, uint32_t tid)
{
	return tid == ctx->pid ? 0 : put_name(ctx, like, tid);
}
