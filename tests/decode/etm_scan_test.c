/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where packets end, against OpenCSD, which says so of each: the fuzzer's corpus, what
 * the unit in software wrote, and random bytes behind each header.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "decode/etm/etm_packet.h"
#include "decode/etm/etm_scan.h"
#include "tests/models/a64_synth.h"

#define MAX	(1u << 20)
#define ROUNDS	10

struct list {
	struct {
		uint64_t offset;
		uint32_t size;
		bool bad;
		uint8_t header;
	} p[MAX];
	size_t n;
};

static struct list theirs, ours;
static uint8_t bytes[MAX];

static const struct etm_source sources[] = {
	{.traceidr = 0x10, .configr = TRCCONFIGR_RES1,
	 .idr = {0x280002a1, 0x4100f433, 0x90000088}},
	/* Commits in cycle counts, Q elements, VMIDs of two bytes, version 4.6. */
	{.traceidr = 0x10, .configr = TRCCONFIGR_RES1,
	 .idr = {0x080182a1, 0x4100f463, 0x90000888}},
	{.traceidr = 0x10, .configr = TRCCONFIGR_RES1,
	 .idr = {0x280002a1, 0x4100fff3, 0x90000488}, .devarch = 0x47715a13, .ete = true},
};

static void add(struct list *l, uint64_t offset, uint32_t size, bool bad, uint8_t header)
{
	if (l->n == MAX)
		return;
	l->p[l->n].offset = offset;
	l->p[l->n].size = size;
	l->p[l->n].header = header;
	l->p[l->n++].bad = bad;
}

static void on_packet(void *ctx, const struct etm_packet *p)
{
	add(ctx, p->offset, p->size, p->bad, p->size ? p->bytes[0] : 0);
}

static void list_theirs(const struct etm_source *source, size_t n)
{
	struct etm_packets *p = etm_packets_new(source, false, 0, on_packet, &theirs);

	assert_non_null(p);
	theirs.n = 0;
	etm_packets_feed(p, bytes, n);
	etm_packets_free(p);
}

static void list_ours(const struct etm_source *source, size_t n, size_t step)
{
	struct etm_piece p;
	struct etm_scan s;
	size_t at, used, k;

	etm_scan_init(&s, source);
	ours.n = 0;
	for (at = 0; at < n; at += used) {
		k = n - at < step ? n - at : step;
		used = etm_scan(&s, at, bytes + at, k, &p);
		assert_in_range(used, 1, k);
		if (p.kind != ETM_NONE)
			add(&ours, p.offset, p.n, p.kind == ETM_BAD, p.bytes[0]);
	}
}

/* Up to the first that is none.  Numbers that do not end OpenCSD takes at any length. */
static size_t as_theirs(const struct etm_source *source, size_t n, size_t step)
{
	size_t i;

	list_ours(source, n, step);
	for (i = 0; i < ours.n && i < theirs.n; i++) {
		if (ours.p[i].bad && (theirs.p[i].bad || ours.p[i].size > 1))
			return i;
		if (ours.p[i].offset == theirs.p[i].offset && !theirs.p[i].bad &&
		    ours.p[i].size == theirs.p[i].size && !ours.p[i].bad)
			continue;
		print_error("packet %zu, header %02x at %llu: %u bytes%s, not %u%s\n", i,
			    ours.p[i].header, (unsigned long long)ours.p[i].offset,
			    ours.p[i].size, ours.p[i].bad ? " (bad)" : "", theirs.p[i].size,
			    theirs.p[i].bad ? " (bad)" : "");
		fail();
	}
	assert_int_equal(ours.n, theirs.n);
	return i;
}

/* How many packets are the same, in pieces of any size. */
static size_t same(const struct etm_source *source, size_t n)
{
	size_t packets;

	list_theirs(source, n);
	packets = as_theirs(source, n, n);
	assert_int_equal(as_theirs(source, n, 1), packets);
	assert_int_equal(as_theirs(source, n, 7), packets);
	return packets;
}

static size_t put_sync(void)
{
	memset(bytes, 0, ETM4_ASYNC_LENGTH);
	bytes[ETM4_ASYNC_LENGTH - 1] = ETM4_EXT_ASYNC;
	return ETM4_ASYNC_LENGTH;
}

static void corpus(void **state)
{
	struct dirent *entry;
	char path[4096];
	unsigned int files = 0;
	DIR *dir = opendir(TEST_CORPUS);
	size_t n, i;
	FILE *f;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", TEST_CORPUS, entry->d_name);
		f = fopen(path, "rb");
		assert_non_null(f);
		fgetc(f);
		n = put_sync();
		n += fread(bytes + n, 1, sizeof(bytes) - n, f);
		fclose(f);
		for (i = 0; i < 3; i++)
			same(&sources[i], n);
		files++;
	}
	closedir(dir);
	assert_in_range(files, 10, UINT32_MAX);
}

/* Each header, before bytes of which many say that another follows. */
static void headers(void **state)
{
	size_t packets[3] = {0}, n, i, s;
	unsigned int header, round;

	srand(1);
	for (header = 0; header < 256; header++) {
		for (round = 0; round < ROUNDS; round++) {
			n = put_sync();
			bytes[n++] = header;
			for (i = 0; i < 40; i++)
				bytes[n++] = rand() >> 8 & (round & 1 ? 0xff : 0x7f);
			for (s = 0; s < 3; s++)
				packets[s] += same(&sources[s], n);
		}
	}
	for (s = 0; s < 3; s++)
		assert_in_range(packets[s], 256 * ROUNDS, SIZE_MAX);
}

static void on_text(void *ctx, const struct etm_packet *p)
{
	snprintf(ctx, 256, "%s", p->text);
}

/* Of 64 bits, though there is no trace info to say so. */
static void address_before_info(void **state)
{
	size_t n = put_sync();
	struct etm_packets *p;
	char text[256] = "";

	bytes[n++] = ETM4_ADDR_SHORT_IS0;
	bytes[n++] = 0x08;
	p = etm_packets_new(&sources[0], false, 0, on_text, text);
	etm_packets_feed(p, bytes, n);
	etm_packets_free(p);
	assert_non_null(strstr(text, "Addr=0x?????????????020"));
}

static void model(void **state)
{
	struct a64_config c;
	struct a64_synth s;
	unsigned int i;
	size_t n;

	for (i = 0; i < 50; i++) {
		c = (struct a64_config){.seed = 0x9000000 + i};
		a64_randomise(&c, i & 1, i & 2);
		assert_int_equal(a64_make(&s, &c, 1, NULL), 0);
		assert_in_range(s.raw_len, 1, sizeof(bytes));
		memcpy(bytes, s.raw, s.raw_len);
		n = same(&s.source, s.raw_len);
		assert_int_equal(n, ours.n);
		a64_free(&s, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(corpus),
		cmocka_unit_test(headers),
		cmocka_unit_test(address_before_info),
		cmocka_unit_test(model),
	};

	return cmocka_run_group_tests_name("etm_scan", tests, NULL, NULL);
}
