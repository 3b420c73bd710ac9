// SPDX-License-Identifier: BSD-2-Clause
/* Address spaces through time: mappings, captured code, forks, views. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <cmocka.h>
#include "image/image_priv.h"

static char file_a[64], file_b[64];

static struct image_moment gen(uint64_t g)
{
	return (struct image_moment){g, 0};
}

static void map(struct image_space *s, uint64_t g, uint64_t addr, uint64_t len,
		uint64_t pgoff, const char *path)
{
	struct image_map m = {.addr = addr, .len = len, .pgoff = pgoff, .path = path};

	assert_int_equal(image_space_map(s, gen(g), &m), 0);
}

/* The byte that a view has at an address; -1: none. */
static int byte_at(struct image_view *v, uint64_t addr)
{
	uint8_t b;

	return image_view_code(v, addr, &b, 1) == 1 ? b : -1;
}

/* Byte i of file a is (i / 4096) * 2, of file b (i / 4096) * 2 + 1. */
static int make_files(void **st)
{
	char *names[2] = {file_a, file_b};
	int i, k;

	strcpy(file_a, "/tmp/hwt-image-a-XXXXXX");
	strcpy(file_b, "/tmp/hwt-image-b-XXXXXX");
	for (i = 0; i < 2; i++) {
		FILE *f = fdopen(mkstemp(names[i]), "w");

		for (k = 0; k < 8 * 4096; k++)
			fputc(k / 4096 * 2 + i, f);
		fclose(f);
	}
	return 0;
}

static int remove_files(void **st)
{
	unlink(file_a);
	unlink(file_b);
	return 0;
}

/* Two libraries alternate at one address. */
static void alternate(void **st)
{
	struct image_store *store = image_store_new(NULL);
	struct image_space *s = image_space_new(store);
	struct image_view *v = image_view_new(s);
	struct image_symbol sym;
	uint64_t g;

	for (g = 1; g < 13; g += 4) {
		map(s, g, 0x10000000, 0x3000, 0x1000, file_a);
		assert_int_equal(image_space_unmap(s, gen(g + 1), 0x10000000, 0x3000), 0);
		map(s, g + 2, 0x10000000, 0x5000, 0, file_b);
		assert_int_equal(image_space_unmap(s, gen(g + 3), 0x10000000, 0x5000), 0);
	}
	image_view_set(v, gen(0));
	assert_int_equal(byte_at(v, 0x10000000), -1);
	for (g = 1; g < 13; g += 4) {
		image_view_set(v, gen(g));
		assert_int_equal(byte_at(v, 0x10000000), 2);
		assert_int_equal(byte_at(v, 0x10003000), -1);
		assert_false(image_view_symbol(v, 0x10000000, &sym));
		assert_string_equal(sym.image, file_a);
		image_view_set(v, gen(g + 1));
		assert_int_equal(byte_at(v, 0x10000000), -1);
		image_view_set(v, gen(g + 2));
		assert_int_equal(byte_at(v, 0x10000000), 1);
		assert_int_equal(byte_at(v, 0x10004000), 9);
		assert_false(image_view_symbol(v, 0x10000000, &sym));
		assert_string_equal(sym.image, file_b);
	}
	/* Back in time. */
	image_view_set(v, gen(5));
	assert_int_equal(byte_at(v, 0x10000000), 2);
	image_view_free(v);
	image_space_free(s);
	image_store_free(store);
}

/* A mapping inside another leaves both of its ends, at their offsets. */
static void split(void **st)
{
	struct image_store *store = image_store_new(NULL);
	struct image_space *s = image_space_new(store);
	struct image_view *v = image_view_new(s);

	map(s, 1, 0x1000, 0x8000, 0, file_a);
	map(s, 2, 0x3000, 0x1000, 0x5000, file_b);
	map(s, 3, 0x6000, 0x1000, 0, "");
	image_view_set(v, gen(3));
	assert_int_equal(byte_at(v, 0x1000), 0);
	assert_int_equal(byte_at(v, 0x2fff), 2);
	assert_int_equal(byte_at(v, 0x3000), 11);
	assert_int_equal(byte_at(v, 0x4000), 6);
	assert_int_equal(byte_at(v, 0x6000), -1);
	assert_int_equal(byte_at(v, 0x7000), 12);
	assert_int_equal(byte_at(v, 0x8fff), 14);
	assert_int_equal(byte_at(v, 0x9000), -1);
	/* A read crosses from one source into the next, and ends where code ends. */
	{
		uint8_t buf[0x3000];

		assert_int_equal(image_view_code(v, 0x2f00, buf, 0x1300), 0x1300);
		assert_int_equal(buf[0], 2);
		assert_int_equal(buf[0x100], 11);
		assert_int_equal(buf[0x1100], 6);
		assert_int_equal(image_view_code(v, 0x5f00, buf, 0x1000), 0x100);
	}
	assert_int_equal(image_space_unmap(s, gen(4), 0, 0x2000), 0);
	image_view_set(v, gen(4));
	assert_int_equal(byte_at(v, 0x1000), -1);
	assert_int_equal(byte_at(v, 0x2000), 2);
	image_view_free(v);
	image_space_free(s);
	image_store_free(store);
}

static void captured(void **st)
{
	struct image_store *store = image_store_new(NULL);
	struct image_space *s = image_space_new(store);
	struct image_view *v = image_view_new(s);
	struct image_symbol sym;
	uint8_t buf[8];

	map(s, 1, 0x1000, 0x4000, 0, file_b);
	assert_int_equal(image_space_code(s, gen(2), 0x1ffe, "\xaa\xbb\xcc\xdd", 4), 0);
	assert_int_equal(image_space_code(s, gen(3), 0x1fff, "\x11", 1), 0);
	assert_int_equal(image_space_code(s, gen(4), 0x700000, "\x90\xc3", 2), 0);
	image_view_set(v, gen(2));
	assert_int_equal(image_view_code(v, 0x1ffc, buf, 8), 8);
	assert_memory_equal(buf, "\x01\x01\xaa\xbb\xcc\xdd\x03\x03", 8);
	image_view_set(v, gen(4));
	assert_int_equal(image_view_code(v, 0x1ffc, buf, 8), 8);
	assert_memory_equal(buf, "\x01\x01\xaa\x11\xcc\xdd\x03\x03", 8);
	assert_int_equal(image_view_code(v, 0x700000, buf, 8), 2);
	assert_false(image_view_symbol(v, 0x700000, &sym));
	assert_string_equal(sym.image, "[code]");
	assert_int_not_equal(sym.id, 0);
	/* Pages that gain X again keep them; an unmap takes them away. */
	map(s, 5, 0x2000, 0x1000, 0, file_b);
	image_view_set(v, gen(5));
	assert_int_equal(image_view_code(v, 0x1ffc, buf, 8), 8);
	assert_memory_equal(buf, "\x01\x01\xaa\x11\xcc\xdd\x01\x01", 8);
	assert_int_equal(image_space_unmap(s, gen(6), 0x2000, 0x1000), 0);
	map(s, 6, 0x2000, 0x1000, 0, file_b);
	image_view_set(v, gen(6));
	assert_int_equal(image_view_code(v, 0x1ffc, buf, 8), 8);
	assert_memory_equal(buf, "\x01\x01\xaa\x11\x01\x01\x01\x01", 8);
	assert_int_equal(image_space_clear(s, gen(7)), 0);
	image_view_set(v, gen(7));
	assert_int_equal(byte_at(v, 0x1000), -1);
	assert_int_equal(byte_at(v, 0x700000), -1);
	image_view_free(v);
	image_space_free(s);
	image_store_free(store);
}

static void many_captures(void **st)
{
	struct image_store *store = image_store_new(NULL);
	struct image_space *s = image_space_new(store);
	struct image_view *v = image_view_new(s);
	uint64_t i;
	uint8_t b;

	for (i = 0; i < 20000; i++) {
		b = (uint8_t)(i * 7);
		assert_int_equal(image_space_code(s, gen(i), 0x100000 + i * 4096, &b, 1),
				 0);
	}
	image_view_set(v, gen(19999));
	for (i = 0; i < 20000; i++)
		assert_int_equal(byte_at(v, 0x100000 + i * 4096), (uint8_t)(i * 7));
	assert_int_equal(image_space_unmap(s, gen(20000), 0, 0x7fffffffffff), 0);
	image_view_set(v, gen(20000));
	for (i = 0; i < 20000; i++)
		assert_int_equal(byte_at(v, 0x100000 + i * 4096), -1);
	image_view_free(v);
	image_space_free(s);
	image_store_free(store);
}

static void forked(void **st)
{
	struct image_store *store = image_store_new(NULL);
	struct image_space *s = image_space_new(store), *child;
	struct image_view *v;

	map(s, 5, 0x1000, 0x1000, 0x3000, file_a);
	assert_int_equal(image_space_code(s, gen(6), 0x5000, "\x55", 1), 0);
	map(s, 8, 0x1000, 0x1000, 0x4000, file_a);
	child = image_space_fork(s, gen(7));
	assert_non_null(child);
	/* The parent goes first: the child must not need it. */
	image_space_free(s);
	/* The child's generations may count from anywhere. */
	map(child, 1, 0x9000, 0x1000, 0, file_b);
	v = image_view_new(child);
	image_view_set(v, gen(0));
	assert_int_equal(byte_at(v, 0x1000), 6);
	assert_int_equal(byte_at(v, 0x5000), 0x55);
	assert_int_equal(byte_at(v, 0x9000), -1);
	image_view_set(v, gen(1));
	assert_int_equal(byte_at(v, 0x9000), 1);
	image_view_free(v);
	image_space_free(child);
	image_store_free(store);
}

/* Forks of a hostile file get a bound's worth of memory, no more. */
static void forked_too_often(void **st)
{
	struct image_store *store = image_store_new(NULL);
	struct image_space *s = image_space_new(store), *child;
	int i;

	store->inherit_room = 25;
	for (i = 1; i <= 10; i++)
		map(s, (uint64_t)i, 0x1000, 0x1000, 0, file_a);
	for (i = 0; i < 2; i++) {
		child = image_space_fork(s, gen(10));
		assert_non_null(child);
		image_space_free(child);
	}
	assert_null(image_space_fork(s, gen(10)));
	/* What an exec has cleared is not asked for. */
	assert_int_equal(image_space_clear(s, gen(11)), 0);
	for (i = 12; i < 17; i++)
		map(s, (uint64_t)i, 0x1000, 0x1000, 0, file_a);
	child = image_space_fork(s, gen(20));
	assert_non_null(child);
	assert_int_equal(child->nlog, 5);
	assert_null(image_space_fork(child, gen(20)));
	image_space_free(child);
	image_space_free(s);
	image_store_free(store);
}

struct noted {
	uint64_t addr[8], len[8];
	int n;
};

static void note(void *ctx, uint64_t addr, uint64_t len)
{
	struct noted *n = ctx;

	n->addr[n->n] = addr;
	n->len[n->n++] = len;
}

static void changes(void **st)
{
	struct image_store *store = image_store_new(NULL);
	struct image_space *s = image_space_new(store);
	struct noted n = {};

	map(s, 1, 0x1000, 0x1000, 0, file_a);
	/* Entered late: belongs before the one above it in time. */
	map(s, 3, 0x3000, 0x1000, 0, file_a);
	map(s, 2, 0x2000, 0x1000, 0, file_a);
	image_space_clear(s, gen(4));
	image_space_changes(s, gen(1), gen(3), note, &n);
	assert_int_equal(n.n, 2);
	assert_int_equal(n.addr[0], 0x2000);
	assert_int_equal(n.addr[1], 0x3000);
	image_space_changes(s, gen(3), gen(9), note, &n);
	assert_int_equal(n.n, 3);
	assert_int_equal(n.addr[2], 0);
	assert_int_equal(n.len[2], UINT64_MAX);
	image_space_changes(s, gen(9), gen(9), note, &n);
	assert_int_equal(n.n, 3);
	image_space_free(s);
	image_store_free(store);
}

static void moments(void **st)
{
	struct image_moment a = {1, 100}, b = {2, 1}, c = {1, 101};

	assert_true(image_moment_before(&a, &b));
	assert_true(image_moment_before(&a, &c));
	assert_false(image_moment_before(&b, &a));
	assert_false(image_moment_before(&a, &a));
}

static void bad_ranges(void **st)
{
	struct image_store *store = image_store_new(NULL);
	struct image_space *s = image_space_new(store);
	struct image_view *v = image_view_new(s);
	struct image_map m = {.addr = 0x1000, .len = 0, .path = file_a};
	uint8_t buf[32];

	assert_int_equal(image_space_map(s, gen(0), &m), -EINVAL);
	m.addr = UINT64_MAX - 10;
	m.len = 12;
	assert_int_equal(image_space_map(s, gen(0), &m), -EINVAL);
	assert_int_equal(image_space_unmap(s, gen(0), 5, 0), -EINVAL);
	assert_int_equal(image_space_code(s, gen(0), UINT64_MAX, "ab", 2), -EINVAL);
	/* The last byte of all is an address too. */
	m.len = 11;
	m.pgoff = 4096;
	assert_int_equal(image_space_map(s, gen(0), &m), 0);
	assert_int_equal(image_space_code(s, gen(0), UINT64_MAX, "x", 1), 0);
	image_view_set(v, gen(0));
	assert_int_equal(image_view_code(v, UINT64_MAX - 2, buf, 32), 3);
	assert_memory_equal(buf, "\x02\x02x", 3);
	/* A file offset beyond the file, or one that wraps. */
	m = (struct image_map){
		.addr = 0x1000, .len = 0x2000, .pgoff = UINT64_MAX - 100, .path = file_a};
	assert_int_equal(image_space_map(s, gen(1), &m), 0);
	image_view_set(v, gen(1));
	assert_int_equal(image_view_code(v, 0x1000, buf, 32), 0);
	image_view_free(v);
	image_space_free(s);
	image_store_free(store);
}

/* The longest path that the kernel takes. */
static void long_path(void **st)
{
	struct image_store *store = image_store_new(NULL);
	struct image_space *s = image_space_new(store);
	struct image_view *v = image_view_new(s);
	struct image_symbol sym;
	char path[4096];
	size_t n;

	memset(path, '/', sizeof(path));
	memcpy(path, "/tmp/.", 6);
	n = strlen(strrchr(file_a, '/') + 1);
	memcpy(path + 4095 - n, strrchr(file_a, '/') + 1, n);
	path[4095] = 0;
	map(s, 1, 0x1000, 0x1000, 0x1000, path);
	image_view_set(v, gen(1));
	assert_int_equal(byte_at(v, 0x1000), 2);
	image_view_symbol(v, 0x1000, &sym);
	assert_string_equal(sym.image, path);
	image_view_free(v);
	image_space_free(s);
	image_store_free(store);
}

/* A JIT's names, though its region is shown as a mapping of its own. */
static void perf_map(void **st)
{
	struct image_store *store = image_store_new(NULL);
	struct image_space *s = image_space_new(store);
	struct image_view *v = image_view_new(s);
	struct image_symbol sym, again;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	fputs("20000010 20 LazyCompile:~hot path a.js:1\nnonsense\n20010000 8000 big\r\n"
	      "30000000 0 empty\nffffffffffffffff 10 wraps\n",
	      f);
	fclose(f);
	map(s, 1, 0x20000000, 0x1000, 0, "//anon");
	map(s, 1, 0x20010000, 0x10000, 0, "//anon");
	image_view_set(v, gen(1));
	assert_false(image_view_symbol(v, 0x20000010, &sym));
	image_space_set_pid(s, (uint32_t)getpid());
	assert_true(image_view_symbol(v, 0x20000010, &sym));
	assert_string_equal(sym.name, "LazyCompile:~hot path a.js:1");
	assert_int_equal(sym.start, 0x20000010);
	assert_int_equal(sym.end, 0x20000030);
	assert_true(image_view_symbol(v, 0x2000002f, &again));
	assert_int_equal(sym.id, again.id);
	assert_false(image_view_symbol(v, 0x20000030, &again));
	assert_true(image_view_symbol(v, 0x20017fff, &again));
	assert_string_equal(again.name, "big");
	assert_int_not_equal(sym.id, again.id);
	unlink(path);
	image_view_free(v);
	image_space_free(s);
	image_store_free(store);
}

/* The kernel's own library: named by its build-id, in no file. */
static void vdso(void **st)
{
	unsigned long addr = getauxval(AT_SYSINFO_EHDR);
	struct image_store *store = image_store_new(NULL);
	struct image_space *s = image_space_new(store);
	struct image_view *v = image_view_new(s);
	struct image_map m = {.addr = addr, .len = 0x2000, .path = "[vdso]"};
	struct image_symbol sym;
	uint8_t id[64], buf[32];
	const uint8_t *note, *end;
	uint64_t ip;

	if (!addr)
		skip();
	/* Its build-id: 20 bytes behind "GNU" in a note of type 3. */
	end = (const uint8_t *)addr + 0x2000;
	for (note = (const uint8_t *)addr; note < end - 36; note += 4) {
		if (!memcmp(note, "\4\0\0\0\24\0\0\0\3\0\0\0GNU", 16))
			break;
	}
	if (note >= end - 36)
		skip();
	memcpy(id, note + 16, 20);
	/* Without a build-id nobody knows which kernel's it was. */
	assert_int_equal(image_space_map(s, gen(1), &m), 0);
	m.build_id = id;
	m.build_id_size = 20;
	assert_int_equal(image_space_map(s, gen(2), &m), 0);
	image_view_set(v, gen(1));
	assert_int_equal(byte_at(v, addr), -1);
	image_view_symbol(v, addr, &sym);
	assert_string_equal(sym.image, "[vdso]");
	image_view_set(v, gen(2));
	assert_int_equal(image_view_code(v, addr + 0x100, buf, 32), 32);
	assert_memory_equal(buf, (void *)(addr + 0x100), 32);
	for (ip = addr; ip < addr + 0x2000; ip++) {
		if (image_view_symbol(v, ip, &sym) &&
		    !strcmp(sym.name, "__vdso_clock_gettime"))
			break;
	}
	assert_true(ip < addr + 0x2000);
	assert_int_equal(sym.start, ip);
	image_view_free(v);
	/* Another kernel's. */
	id[3]++;
	m.build_id = id;
	assert_int_equal(image_space_map(s, gen(3), &m), 0);
	v = image_view_new(s);
	image_view_set(v, gen(3));
	assert_int_equal(byte_at(v, addr), -1);
	image_view_free(v);
	image_space_free(s);
	image_store_free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alternate), cmocka_unit_test(split),
		cmocka_unit_test(captured),  cmocka_unit_test(many_captures),
		cmocka_unit_test(forked),    cmocka_unit_test(forked_too_often),
		cmocka_unit_test(changes),
		cmocka_unit_test(moments),   cmocka_unit_test(bad_ranges),
		cmocka_unit_test(long_path), cmocka_unit_test(perf_map),
		cmocka_unit_test(vdso),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
