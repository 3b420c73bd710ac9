// SPDX-License-Identifier: BSD-2-Clause
/* Names in a kernel, from lines of /proc/kallsyms. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "image/image.h"

#define TEXT 0xffffffff81000000ull

static const char lines[] =
	"0000000000000000 A fixed_percpu_data\n"
	"ffffffff81000100 t local_name\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T startup_64\n"
	"ffffffff81000100 W weak_name\n"
	"ffffffff81000100 T global_name\n"
	"ffffffff81000180 t twice\n"
	"ffffffff810001c0 t twice\n"
	"no line of it\n"
	"ffffffff810001e0 T\n"
	"ffffffff81000200 T last_of_kernel\n"
	"ffffffffc0000000 t init\t[mod]\n"
	"ffffffffc0000040 t twice\t[mod]\n";
static const char more[] = "ffffffffc0010000 t late\t[other]";

struct space_of {
	struct image_store *store;
	struct image_space *space;
	struct image_view *view;
};

static struct space_of make(void)
{
	struct image_map kernel = {.addr = TEXT, .len = 0x1000, .path = "[kernel]"};
	struct image_map mod = {.addr = 0xffffffffc0000000, .len = 0x1000, .path = "[mod]"};
	struct image_moment from = {0, 0}, at = {0, 1};
	struct space_of s;

	s.store = image_store_new(NULL);
	assert_int_equal(image_store_add_symbols(s.store, lines, sizeof(lines) - 1), 0);
	assert_int_equal(image_store_add_symbols(s.store, more, sizeof(more) - 1), 0);
	s.space = image_space_new(s.store);
	image_space_set_kernel(s.space);
	assert_int_equal(image_space_map(s.space, from, &kernel), 0);
	assert_int_equal(image_space_map(s.space, from, &mod), 0);
	s.view = image_view_new(s.space);
	image_view_set(s.view, at);
	return s;
}

static void drop(struct space_of *s)
{
	image_view_free(s->view);
	image_space_free(s->space);
	image_store_free(s->store);
}

static void names(void **state)
{
	static const struct {
		uint64_t ip;
		const char *name, *image;
		uint64_t start, end;
	} row[] = {
		{TEXT, "startup_64", "[kernel]", TEXT, TEXT + 0x100},
		{TEXT + 0xff, "startup_64", "[kernel]", TEXT, TEXT + 0x100},
		{TEXT + 0x100, "global_name", "[kernel]", TEXT + 0x100, TEXT + 0x180},
		{TEXT + 0x190, "twice", "[kernel]", TEXT + 0x180, TEXT + 0x1c0},
		{TEXT + 0x1ff, "twice", "[kernel]", TEXT + 0x1c0, TEXT + 0x200},
		/* Where the kernel's last one ends nobody says. */
		{TEXT + 0x222, "last_of_kernel", "[kernel]", TEXT + 0x200, 0},
		{0xffffffffc000003f, "init", "[mod]", 0xffffffffc0000000, 0xffffffffc0000040},
		{0xffffffffc0010004, "late", "?", 0xffffffffc0010000, 0},
	};
	struct space_of s = make();
	struct image_symbol sym, other;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_true(image_view_symbol(s.view, row[i].ip, &sym));
		assert_string_equal(sym.name, row[i].name);
		assert_string_equal(sym.image, row[i].image);
		assert_int_equal(sym.start, row[i].start);
		assert_int_equal(sym.end, row[i].end);
		assert_true(image_view_symbol(s.view, sym.start, &other));
		assert_int_equal(sym.id, other.id);
	}
	assert_false(image_view_symbol(s.view, TEXT - 1, &sym));
	drop(&s);
}

static void ranges(void **state)
{
	char path[] = "/tmp/hwt-kallsyms-XXXXXX";
	int fd = mkstemp(path);
	struct image_range r[4];

	assert_int_equal(write(fd, lines, sizeof(lines) - 1), sizeof(lines) - 1);
	close(fd);
	assert_int_equal(image_kernel_ranges(path, NULL, "local_name", r, 4), 1);
	assert_int_equal(r[0].start, TEXT + 0x100);
	assert_int_equal(r[0].end, TEXT + 0x17f);
	assert_int_equal(image_kernel_ranges(path, NULL, "twice", r, 4), 2);
	assert_int_equal(r[1].start, TEXT + 0x1c0);
	assert_int_equal(image_kernel_ranges(path, NULL, "twice", r, 1), 2);
	assert_int_equal(image_kernel_ranges(path, "mod", "init", r, 4), 1);
	assert_int_equal(r[0].end, 0xffffffffc000003f);
	assert_int_equal(image_kernel_ranges(path, "mod", "local_name", r, 4), 0);
	assert_int_equal(image_kernel_ranges(path, NULL, "init", r, 4), 0);
	unlink(path);
	assert_int_equal(image_kernel_ranges(path, NULL, "init", r, 4), -ENOENT);
}

/* Any bytes: no crash, and what is there is found. */
static void damaged(void **state)
{
	static const char *const texts[] = {
		"", "\n\n", "ffffffff81000000", "ffffffff81000000 ", "ffffffff81000000 T ",
		"ffffffff81000000 T x\t[", "ffffffff81000000 T \t[m]\n",
		"fffffffffffffffffffffffffff T big\n", "- T minus",
	};
	struct image_store *st = image_store_new(NULL);
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(image_store_add_symbols(st, texts[i], strlen(texts[i])), 0);
	assert_int_equal(image_store_add_symbols(st, "\0\0 T\0a\n", 8), 0);
	image_store_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(ranges),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
