/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast a PT stream decodes (CPU time): ours against libipt's block and instruction
 * decoders, in one run, on the same bytes.  Ours does what a report needs:
 * it counts each block and keeps a call stack.
 *
 *	decode_bench [-n ROUNDS] [-i] [-o] PTFILE MAPFILE
 *
 * MAPFILE has a line for each piece of code: "F ADDRESS LENGTH OFFSET FILE",
 * numbers in hexadecimal.  -i leaves libipt's (slow) instruction decoder out, -o
 * all but ours (for a profiler).
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <intel-pt.h>

#include "decode/pt/pt_decoder.h"

#define MAX_MAPS	4096
#define EVENTS		512
#define CHUNK		(1 << 20)
#define MAX_DEPTH	1024

struct map {
	uint64_t	addr, len, offset;
	const uint8_t	*bytes;
	char		path[512];
};

static struct map maps[MAX_MAPS];
static size_t nmaps;

struct result {
	const char	*name;
	uint64_t	insns, errors, depth;
	double		seconds;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static const uint8_t *map_file(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size)
		p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return NULL;
	*n = st.st_size;
	return p;
}

static int add_map(const struct map *m)
{
	size_t i, size;

	for (i = 0; i < nmaps; i++)
		if (maps[i].addr == m->addr && !strcmp(maps[i].path, m->path))
			return 0;
	if (nmaps == MAX_MAPS)
		return -1;
	maps[nmaps] = *m;
	maps[nmaps].bytes = map_file(m->path, &size);
	if (!maps[nmaps].bytes || m->offset >= size)
		return -1;
	if (maps[nmaps].len > size - m->offset)
		maps[nmaps].len = size - m->offset;
	nmaps++;
	return 0;
}

static int load_maps(const char *path)
{
	FILE *f = fopen(path, "r");
	struct map m = {0};
	char line[1024];

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "F %" SCNx64 " %" SCNx64 " %" SCNx64 " %511[^\n]", &m.addr,
			   &m.len, &m.offset, m.path) == 4 && add_map(&m))
			fprintf(stderr, "%s: not mapped\n", m.path);
	fclose(f);
	return 0;
}

static size_t read_code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	size_t i, n;

	for (i = 0; i < nmaps; i++) {
		if (ip - maps[i].addr >= maps[i].len)
			continue;
		n = maps[i].len - (ip - maps[i].addr);
		n = n < len ? n : len;
		memcpy(buf, maps[i].bytes + maps[i].offset + (ip - maps[i].addr), n);
		return n;
	}
	return 0;
}

struct counts {
	uint64_t	*by_block;	/* runs of each block */
	uint32_t	room;
	const struct trace_block *stack[MAX_DEPTH];
	uint32_t	depth, deepest;
	struct result	*r;
};

static void count_events(struct counts *c, const struct trace_event *ev, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (ev[i].type != TRACE_RUN) {
			c->r->errors += ev[i].type == TRACE_ERROR || ev[i].type == TRACE_GAP;
			continue;
		}
		c->r->insns += ev[i].ninsn;
		c->by_block[ev[i].block->id]++;
		if (ev[i].block->kind == BLOCK_CALL || ev[i].block->kind == BLOCK_CALL_IND) {
			c->stack[c->depth++ % MAX_DEPTH] = ev[i].block;
			if (c->depth > c->deepest)
				c->deepest = c->depth;
		} else if (ev[i].block->kind == BLOCK_RET && c->depth) {
			c->depth--;
		}
	}
}

static void run_ours(const uint8_t *bytes, size_t n, struct result *r)
{
	struct pt_decoder_config config = {.code = read_code};
	struct trace_event *ev = malloc(EVENTS * sizeof(*ev));
	struct counts c = {.r = r};
	struct pt_decoder *d;
	double begin = now();
	size_t at, len;
	int got;

	d = pt_decoder_new(&config);
	if (!d || !ev)
		exit(1);
	for (at = 0; at <= n; at += len) {
		len = n - at < CHUNK ? n - at : CHUNK;
		if (len)
			pt_decoder_feed(d, bytes + at, len);
		else
			pt_decoder_finish(d);
		while ((got = pt_decoder_next(d, ev, EVENTS)) > 0) {
			if (pt_decoder_nblocks(d) > c.room) {
				uint32_t room = pt_decoder_nblocks(d) * 2 + EVENTS;

				c.by_block = realloc(c.by_block, room * sizeof(uint64_t));
				if (!c.by_block)
					exit(1);
				memset(c.by_block + c.room, 0,
				       (room - c.room) * sizeof(uint64_t));
				c.room = room;
			}
			count_events(&c, ev, got);
		}
		if (!len)
			break;
	}
	r->depth = c.deepest;
	pt_decoder_free(d);
	r->seconds = now() - begin;
	free(c.by_block);
	free(ev);
}

/* libipt is only fast with a section cache that holds whole files. */
static struct pt_image *ipt_image(void)
{
	struct pt_image_section_cache *cache = pt_iscache_alloc(NULL);
	struct pt_image *image = pt_image_alloc(NULL);
	size_t i;
	int id;

	pt_iscache_set_limit(cache, 1ull << 30);
	for (i = 0; i < nmaps; i++) {
		id = pt_iscache_add_file(cache, maps[i].path, maps[i].offset, maps[i].len,
					 maps[i].addr);
		if (id > 0)
			pt_image_add_cached(image, cache, id, NULL);
	}
	return image;
}

static void run_ipt_blocks(const uint8_t *bytes, size_t n, struct result *r)
{
	struct pt_block_decoder *d;
	struct pt_config config;
	struct pt_block block;
	struct pt_event event;
	double begin = now();
	int s;

	pt_config_init(&config);
	config.begin = (uint8_t *)bytes;
	config.end = config.begin + n;
	d = pt_blk_alloc_decoder(&config);
	pt_blk_set_image(d, ipt_image());
	while ((s = pt_blk_sync_forward(d)) >= 0) {
		for (;;) {
			while (s >= 0 && s & pts_event_pending)
				s = pt_blk_event(d, &event, sizeof(event));
			if (s < 0)
				break;
			block.ninsn = 0;
			s = pt_blk_next(d, &block, sizeof(block));
			r->insns += block.ninsn;
			if (s < 0)
				break;
		}
		if (s == -pte_eos)
			break;
		r->errors++;
	}
	pt_blk_free_decoder(d);
	r->seconds = now() - begin;
}

static void run_ipt_insns(const uint8_t *bytes, size_t n, struct result *r)
{
	struct pt_insn_decoder *d;
	struct pt_config config;
	struct pt_event event;
	struct pt_insn insn;
	double begin = now();
	int s;

	pt_config_init(&config);
	config.begin = (uint8_t *)bytes;
	config.end = config.begin + n;
	d = pt_insn_alloc_decoder(&config);
	pt_insn_set_image(d, ipt_image());
	while ((s = pt_insn_sync_forward(d)) >= 0) {
		for (;;) {
			while (s >= 0 && s & pts_event_pending)
				s = pt_insn_event(d, &event, sizeof(event));
			if (s < 0)
				break;
			insn.iclass = ptic_error;
			s = pt_insn_next(d, &insn, sizeof(insn));
			r->insns += insn.iclass != ptic_error;
			if (s < 0)
				break;
		}
		if (s == -pte_eos)
			break;
		r->errors++;
	}
	pt_insn_free_decoder(d);
	r->seconds = now() - begin;
}

static void best_of(int rounds, void (*run)(const uint8_t *, size_t, struct result *),
		    const uint8_t *bytes, size_t n, struct result *r)
{
	struct result one;
	int i;

	for (i = 0; i < rounds; i++) {
		one = (struct result){.name = r->name};
		run(bytes, n, &one);
		if (!i || one.seconds < r->seconds)
			*r = one;
	}
}

static void show(const struct result *r, size_t n, const struct result *ours)
{
	printf("%-14s %12" PRIu64 " insns %4" PRIu64 " errors %7.3f s %8.1f M insns/s "
	       "%7.1f MB/s  ours is %.2f x\n",
	       r->name, r->insns, r->errors, r->seconds, r->insns / 1e6 / r->seconds,
	       n / 1e6 / r->seconds, r->seconds / ours->seconds);
}

int main(int argc, char **argv)
{
	struct result ours = {.name = "hwt"}, blocks = {.name = "libipt blocks"};
	struct result insns = {.name = "libipt insns"};
	const uint8_t *bytes;
	int opt, rounds = 3, with_insns = 1, with_blocks = 1;
	size_t n;

	while ((opt = getopt(argc, argv, "n:io")) != -1) {
		if (opt == 'n')
			rounds = atoi(optarg);
		else if (opt == 'i')
			with_insns = 0;
		else if (opt == 'o')
			with_insns = with_blocks = 0;
		else
			return 2;
	}
	if (optind + 2 != argc || rounds < 1) {
		fprintf(stderr, "usage: decode_bench [-n ROUNDS] [-i] [-o] PTFILE MAPFILE\n");
		return 2;
	}
	bytes = map_file(argv[optind], &n);
	if (!bytes || load_maps(argv[optind + 1])) {
		fprintf(stderr, "decode_bench: cannot read %s or %s\n", argv[optind],
			argv[optind + 1]);
		return 1;
	}
	best_of(rounds, run_ours, bytes, n, &ours);
	show(&ours, n, &ours);
	if (with_blocks) {
		best_of(rounds, run_ipt_blocks, bytes, n, &blocks);
		show(&blocks, n, &ours);
	}
	if (with_insns) {
		best_of(1, run_ipt_insns, bytes, n, &insns);
		show(&insns, n, &ours);
	}
	return 0;
}
