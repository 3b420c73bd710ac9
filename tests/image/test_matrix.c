// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ways of linking a program (public reports of "bad image" are mostly
 * about these): what image/ says of code, symbols and lines must be what the
 * running program says of itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "image/image.h"

#define BYTES 24

struct told_map {
	uint64_t addr, len, pgoff;
	char path[4096];
};
struct told_sym {
	char name[32];
	uint64_t addr;
	int line;
	uint8_t bytes[BYTES];
};
struct told {
	struct told_map map[8];
	int nmap;
	struct told_sym sym[8];
	int nsym;
};

static char dir[2048];

static void parse_hex(const char *hex, uint8_t *out)
{
	unsigned int byte;
	int i;

	for (i = 0; i < BYTES; i++) {
		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		out[i] = (uint8_t)byte;
	}
}

static void listen(const char *path, struct told *t)
{
	char command[4300], line[8192], hex[128];
	unsigned long start, end, pgoff;
	FILE *in;

	memset(t, 0, sizeof(*t));
	snprintf(command, sizeof(command), "'%s'", path);
	in = popen(command, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		struct told_map *m = &t->map[t->nmap];
		struct told_sym *s = &t->sym[t->nsym];

		if (t->nmap < 8 && sscanf(line, "map %lx-%lx %*s %lx %*s %*s %4095[^\n]",
					  &start, &end, &pgoff, m->path) == 4) {
			m->addr = start;
			m->len = end - start;
			m->pgoff = pgoff;
			t->nmap++;
		} else if (t->nsym < 8 && sscanf(line, "sym %31s %lx %d %127s", s->name,
						 &start, &s->line, hex) == 4) {
			s->addr = start;
			parse_hex(hex, s->bytes);
			t->nsym++;
		}
	}
	assert_int_equal(pclose(in), 0);
	assert_true(t->nmap > 0);
	assert_int_equal(t->nsym, 3);
}

static int problems;
static enum image_problem last_problem;
static bool last_kept;

static void on_problem(void *ctx, const char *path, enum image_problem problem, bool kept,
		       int err)
{
	problems++;
	last_problem = problem;
	last_kept = kept;
}

enum names { NAMES_ALL, NAMES_DYNAMIC };

static void check_symbol(struct image_view *v, const struct told_sym *s, enum names names)
{
	bool dynamic = strcmp(s->name, "local");
	struct image_symbol sym, inside;

	if (names == NAMES_DYNAMIC && !dynamic) {
		/* No table names it, but .eh_frame knows where it begins and ends. */
		assert_false(image_view_symbol(v, s->addr + 1, &sym));
		assert_null(sym.name);
		assert_int_equal(sym.start, s->addr);
		assert_true(sym.end > s->addr && sym.end < s->addr + 200);
		assert_false(image_view_symbol(v, s->addr, &inside));
		assert_int_equal(sym.id, inside.id);
		assert_int_not_equal(sym.id, 0);
		return;
	}
	assert_true(image_view_symbol(v, s->addr, &sym));
	assert_string_equal(sym.name, s->name);
	assert_string_equal(sym.raw_name, s->name);
	assert_int_equal(sym.start, s->addr);
	assert_true(sym.end > s->addr);
	assert_true(image_view_symbol(v, s->addr + 1, &inside));
	assert_int_equal(inside.id, sym.id);
	if (image_view_symbol(v, sym.end, &inside))
		assert_int_not_equal(inside.id, sym.id);
}

static void check(const char *name, enum names names, bool lines)
{
	struct image_moment at = {1, 0};
	struct image_space *space;
	struct image_store *store;
	struct image_view *view;
	struct image_line line;
	uint8_t buf[BYTES];
	char path[4200];
	struct told t;
	int i;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	listen(path, &t);
	store = image_store_new(NULL);
	space = image_space_new(store);
	problems = 0;
	image_space_on_problem(space, on_problem, NULL);
	for (i = 0; i < t.nmap; i++) {
		struct image_map m = {.addr = t.map[i].addr,
				      .len = t.map[i].len,
				      .pgoff = t.map[i].pgoff,
				      .path = t.map[i].path};

		assert_int_equal(image_space_map(space, at, &m), 0);
	}
	view = image_view_new(space);
	image_view_set(view, at);
	for (i = 0; i < t.nsym; i++) {
		assert_int_equal(image_view_code(view, t.sym[i].addr, buf, BYTES), BYTES);
		assert_memory_equal(buf, t.sym[i].bytes, BYTES);
		check_symbol(view, &t.sym[i], names);
		if (lines && t.sym[i].line) {
			assert_true(image_view_line(view, t.sym[i].addr, &line));
			assert_int_equal(line.line, t.sym[i].line);
			assert_non_null(strstr(line.file, "prog.c"));
		}
	}
	assert_int_equal(problems, 0);
	image_view_free(view);
	image_space_free(space);
	image_store_free(store);
}

static void pie(void **st)
{
	check("pie", NAMES_ALL, true);
}
static void exec_(void **st)
{
	check("exec", NAMES_ALL, true);
}
static void static_(void **st)
{
	check("static", NAMES_ALL, true);
}
static void static_pie(void **st)
{
	check("static_pie", NAMES_ALL, true);
}
static void prelinked(void **st)
{
	check("prelinked", NAMES_ALL, true);
}
static void page64k(void **st)
{
	check("page64k", NAMES_ALL, true);
}
static void noseparate(void **st)
{
	check("noseparate", NAMES_ALL, true);
}
static void two_texts(void **st)
{
	check("two_texts", NAMES_ALL, true);
}
static void far_pie(void **st)
{
	check("far_pie", NAMES_ALL, true);
}
static void stripped(void **st)
{
	check("stripped", NAMES_DYNAMIC, false);
}
static void no_sections(void **st)
{
	check("no_sections", NAMES_DYNAMIC, false);
}

static void debugdata(void **st)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/debugdata", dir);
#ifndef HAVE_LZMA
	skip();
#endif
	if (access(path, F_OK)) {
		print_message("skipped: no xz to make the program with\n");
		skip();
	}
	check("debugdata", NAMES_ALL, false);
}

/* The symbols that Debian ships in -dbgsym packages. */
static void separate_debug_file(void **st)
{
	uint64_t base = 0x5000000000;
	struct image_moment at = {1, 0};
	struct image_store *store;
	struct image_space *space;
	struct image_view *view;
	struct image_symbol sym;
	struct image_range r;
	char path[4200];

	snprintf(path, sizeof(path), "%s/pie", dir);
	assert_int_equal(image_function_ranges(path, "local", &r, 1), 1);
	snprintf(path, sizeof(path), "%s/root", dir);
	store = image_store_new(path);
	space = image_space_new(store);
	assert_int_equal(image_space_map_elf(space, at, "/bin/prog", &base), 0);
	assert_int_equal(image_space_map_elf(space, at, "/bin/none", &base), -ENOENT);
	view = image_view_new(space);
	image_view_set(view, at);
	assert_true(image_view_symbol(view, base + r.start + 1, &sym));
	assert_string_equal(sym.name, "local");
	assert_int_equal(sym.start, base + r.start);
	image_view_free(view);
	image_space_free(space);
	image_store_free(store);
}

/* ---- the file changed ---- */

static struct timespec written;

static size_t code_through(const char *path, const uint8_t *id, size_t id_size,
			   uint64_t ino, const char *sysroot)
{
	struct image_moment at = {1, 0};
	struct image_store *store = image_store_new(sysroot);
	struct image_space *space = image_space_new(store);
	struct image_map m = {.addr = 0x10000,
			      .len = 0x1000,
			      .path = path,
			      .ino = ino,
			      .build_id = id,
			      .build_id_size = id_size};
	struct image_view *view;
	uint8_t buf[16];
	size_t n;

	problems = 0;
	last_problem = IMAGE_OK;
	image_store_set_written(store, written);
	image_space_on_problem(space, on_problem, NULL);
	assert_int_equal(image_space_map(space, at, &m), 0);
	view = image_view_new(space);
	image_view_set(view, at);
	n = image_view_code(view, 0x10000, buf, sizeof(buf));
	/* Said once, however often it is asked. */
	image_view_code(view, 0x10010, buf, sizeof(buf));
	image_view_free(view);
	image_space_free(space);
	image_store_free(store);
	return n;
}

static void build_ids(void **st)
{
	uint8_t id[64], padded[20] = {};
	char pie_path[4200], other[4200], none[4200];
	struct stat sb;
	int n;

	snprintf(pie_path, sizeof(pie_path), "%s/pie", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	snprintf(none, sizeof(none), "%s/no_build_id", dir);
	assert_int_equal(image_build_id(none, id, sizeof(id)), 0);
	n = image_build_id(pie_path, id, sizeof(id));
	assert_int_equal(n, 20);
	assert_int_equal(image_build_id(pie_path, id, 4), -ENOSPC);
	assert_int_equal(code_through(pie_path, id, 20, 0, NULL), 16);
	assert_int_equal(problems, 0);
	assert_int_equal(code_through(other, id, 20, 0, NULL), 0);
	assert_int_equal(problems, 1);
	assert_int_equal(last_problem, IMAGE_BUILD_ID_DIFFERS);
	assert_int_equal(code_through(none, id, 20, 0, NULL), 0);
	assert_int_equal(last_problem, IMAGE_BUILD_ID_DIFFERS);
	assert_int_equal(code_through("/nowhere/at/all", id, 20, 0, NULL), 0);
	assert_int_equal(problems, 1);
	assert_int_equal(last_problem, IMAGE_MISSING);
	/* Zeros behind a longer id are another id; padding of a short one is not. */
	memcpy(padded, id, 19);
	assert_int_equal(code_through(pie_path, padded, 20, 0, NULL), 0);
	/* No build-id: an inode is a hint, not a proof. */
	assert_int_equal(code_through(none, NULL, 0, 1, NULL), 16);
	assert_int_equal(last_problem, IMAGE_CHANGED);
	assert_int_equal(problems, 1);
	assert_int_equal(code_through("/no_build_id", NULL, 0, 1, dir), 16);
	assert_int_equal(problems, 0);
	/* Written after the recording was: whatever its inode. */
	assert_int_equal(stat(none, &sb), 0);
	written = sb.st_mtim;
	assert_int_equal(code_through(none, NULL, 0, sb.st_ino, NULL), 16);
	assert_int_equal(problems, 0);
	written.tv_sec--;
	assert_int_equal(code_through(none, NULL, 0, sb.st_ino, NULL), 16);
	assert_int_equal(last_problem, IMAGE_CHANGED);
	assert_int_equal(code_through("/no_build_id", NULL, 0, 0, dir), 16);
	assert_int_equal(last_problem, IMAGE_CHANGED);
	assert_int_equal(code_through(pie_path, id, 20, 0, NULL), 16);
	assert_int_equal(problems, 0);
	written = (struct timespec){};
	/* Unlinked before the map was read, and back again: the build-id decides. */
	snprintf(other, sizeof(other), "%s/pie (deleted)", dir);
	assert_int_equal(code_through(other, id, 20, 0, NULL), 16);
	assert_int_equal(problems, 0);
}

/* Some of a file's code was captured: names are missing of that, all of the rest. */
static void code_without_its_file(void **state)
{
	struct image_moment at = {1, 0};
	struct image_map m = {.addr = 0x10000, .len = 0x2000, .path = "/nowhere/at/all"};
	struct image_store *store = image_store_new(NULL);
	struct image_space *space = image_space_new(store);
	struct image_symbol sym;
	struct image_view *view;
	struct image_line line;
	uint8_t buf[16] = {0x90};

	problems = 0;
	image_space_on_problem(space, on_problem, NULL);
	assert_int_equal(image_space_map(space, at, &m), 0);
	assert_int_equal(image_space_code(space, at, 0x10000, buf, sizeof(buf)), 0);
	view = image_view_new(space);
	image_view_set(view, at);
	assert_int_equal(image_view_code(view, 0x10000, buf, sizeof(buf)), sizeof(buf));
	assert_int_equal(problems, 0);
	assert_false(image_view_symbol(view, 0x10000, &sym));
	assert_false(image_view_line(view, 0x10000, &line));
	assert_int_equal(problems, 1);
	assert_int_equal(last_problem, IMAGE_MISSING);
	assert_true(last_kept);
	assert_int_equal(image_view_code(view, 0x11000, buf, sizeof(buf)), 0);
	assert_int_equal(problems, 2);
	assert_int_equal(last_problem, IMAGE_MISSING);
	assert_false(last_kept);
	image_view_free(view);
	image_space_free(space);
	image_store_free(store);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pie),	       cmocka_unit_test(exec_),
		cmocka_unit_test(static_),     cmocka_unit_test(static_pie),
		cmocka_unit_test(prelinked),   cmocka_unit_test(page64k),
		cmocka_unit_test(noseparate),  cmocka_unit_test(two_texts),
		cmocka_unit_test(far_pie),     cmocka_unit_test(stripped),
		cmocka_unit_test(no_sections), cmocka_unit_test(debugdata),
		cmocka_unit_test(build_ids),   cmocka_unit_test(separate_debug_file),
		cmocka_unit_test(code_without_its_file),
	};

	char resolved[4096];

	if (argc < 2)
		return 77;
	if (!realpath(argv[1], resolved))
		return 1;
	snprintf(dir, sizeof(dir), "%.2000s", resolved);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
