/* SPDX-License-Identifier: BSD-2-Clause */
/* What perf is given of the kernel: the code at its addresses, names and modules. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "container/kcore.h"
#include "temp.h"

#define TEXT	0xffffffff81000000ull
#define MODULE	0xffffffffc0000000ull

struct written {
	char		*recording;
	char		folder[64];
	int		fd;
	struct perfdata_writer *w;
};

static void begin(struct written *t)
{
	struct perfdata_params params = test_params;

	params.per_cpu = true;
	t->recording = temp_file();
	snprintf(t->folder, sizeof(t->folder), "/tmp/hwt-kcore-XXXXXX");
	assert_non_null(mkdtemp(t->folder));
	t->fd = open(t->folder, O_RDONLY | O_DIRECTORY);
	assert_int_equal(perfdata_create(t->recording, &params, &t->w), 0);
}

static void end(struct written *t)
{
	static const char *const names[] = {"kcore", "kallsyms", "modules"};
	int i;

	for (i = 0; i < 3; i++)
		unlinkat(t->fd, names[i], 0);
	close(t->fd);
	rmdir(t->folder);
	temp_remove(t->recording);
}

static int export(struct written *t)
{
	struct perfdata *p;
	int err;

	assert_int_equal(perfdata_close(t->w), 0);
	p = must_open(t->recording);
	err = kcore_write(p, t->fd);
	perfdata_close_reader(p);
	return err;
}

static void object(struct written *t, uint64_t addr, uint64_t len, const char *path)
{
	struct hwt_rec_kernel k = {addr, len};
	struct hwt_rec *rec = make_rec(HWT_REC_KERNEL, 0, 0, &k, sizeof(k), path);

	assert_int_equal(perfdata_write_record(t->w, rec), 0);
	free(rec);
}

static void code(struct written *t, uint32_t pid, uint64_t addr, const char *bytes)
{
	struct {
		struct hwt_rec_code c;
		char bytes[32];
	} p = {.c = {.addr = addr, .len = (uint32_t)strlen(bytes)}};
	struct hwt_rec *rec;

	memcpy(p.bytes, bytes, strlen(bytes));
	rec = make_rec(HWT_REC_CODE, pid, pid, &p, sizeof(p), NULL);
	assert_int_equal(perfdata_write_record(t->w, rec), 0);
	free(rec);
}

static size_t content(struct written *t, const char *name, char *out, size_t size)
{
	int fd = openat(t->fd, name, O_RDONLY);
	ssize_t n = read(fd, out, size - 1);

	assert_true(n >= 0);
	out[n] = 0;
	close(fd);
	return (size_t)n;
}

/* The bytes that an ELF reader finds at an address. */
static void expect_code(const char *core, size_t n, uint64_t addr, const char *bytes)
{
	const Elf64_Ehdr *e = (const void *)core;
	const Elf64_Phdr *p = (const void *)(core + e->e_phoff);
	int i;

	for (i = 0; i < e->e_phnum; i++) {
		if (addr - p[i].p_vaddr >= p[i].p_memsz)
			continue;
		assert_true(p[i].p_offset + p[i].p_filesz <= n);
		assert_memory_equal(core + p[i].p_offset + (addr - p[i].p_vaddr), bytes,
				    strlen(bytes));
		return;
	}
	fail();
}

static void code_and_names(void **state)
{
	static const char first[] = "ffffffff81000000 T _stext\nffffffff81000009 t much more\n",
			  last[] = "ffffffff81000000 T _stext\n";
	static char core[1 << 16], text[256];
	struct written t;
	size_t n;

	begin(&t);
	object(&t, TEXT, 0x3000, "kernel");
	object(&t, MODULE, 0x1000, "[mod]");
	object(&t, MODULE + 0x8000, 64, "ftrace_trampoline");
	object(&t, MODULE + 0x800, 0x1000, "[later]");	/* where mod was */
	code(&t, 0, TEXT, "first");
	code(&t, 0, TEXT + 0x2ffb, "last.");
	code(&t, 0, MODULE + 16, "module");
	code(&t, 0, MODULE + 0x8000, "jump");
	code(&t, 100, TEXT, "a process'");
	code(&t, 0, TEXT + 0x2ffe, "beyond");
	code(&t, 0, 0x1000, "nowhere");
	assert_int_equal(perfdata_write_symbols(t.w, first, sizeof(first) - 1), 0);
	assert_int_equal(perfdata_write_symbols(t.w, last, sizeof(last) - 1), 0);
	assert_int_equal(export(&t), 0);
	n = content(&t, "kcore", core, sizeof(core));
	assert_memory_equal(core, ELFMAG, SELFMAG);
	assert_int_equal(((Elf64_Ehdr *)core)->e_type, ET_CORE);
	assert_int_equal(((Elf64_Ehdr *)core)->e_phnum, 3);
	expect_code(core, n, TEXT, "first");
	expect_code(core, n, TEXT + 0x2ffb, "last.");
	expect_code(core, n, MODULE + 16, "module");
	expect_code(core, n, MODULE + 0x8000, "jump");
	content(&t, "kallsyms", text, sizeof(text));
	assert_string_equal(text, last);
	content(&t, "modules", text, sizeof(text));
	assert_string_equal(text, "mod 4096 0 - Live 0xffffffffc0000000\n");
	end(&t);
}

/* A recording can say anything: no line of another's making, no file of any size. */
static void objects_that_cannot_be(void **state)
{
	char text[256];
	struct written t;

	begin(&t);
	object(&t, TEXT, 1ull << 40, "kernel");
	object(&t, UINT64_MAX - 10, 100, "[wraps]");
	object(&t, TEXT, 0, "[none]");
	object(&t, MODULE, 4096, "[a\nb 1 0 - Live 0x1]");
	assert_int_equal(export(&t), 0);
	assert_int_equal(content(&t, "modules", text, sizeof(text)), 0);
	end(&t);
}

/* As many as a core file's header counts, and more; code of the last ones that are in it. */
static void objects_beyond_number(void **state)
{
	enum { MANY = 70000, MOST = PN_XNUM - 1, SIZE = 4096 };
	static Elf64_Ehdr e;
	Elf64_Phdr last;
	struct written t;
	char bytes[8];
	int i, fd;

	begin(&t);
	for (i = 0; i < MANY; i++)
		object(&t, TEXT - (uint64_t)i * SIZE, SIZE, "part");
	for (i = 0; i < 4 * MANY; i++)
		code(&t, 0, TEXT - (uint64_t)(MOST - 1 - i % 8) * SIZE, i < MANY ? "early" : "last");
	assert_int_equal(export(&t), 0);
	fd = openat(t.fd, "kcore", O_RDONLY);
	assert_int_equal(pread(fd, &e, sizeof(e), 0), sizeof(e));
	assert_int_equal(e.e_phnum, MOST);
	assert_int_equal(pread(fd, &last, sizeof(last),
			       (off_t)(e.e_phoff + (MOST - 1) * sizeof(last))), sizeof(last));
	assert_int_equal(last.p_vaddr, TEXT - (uint64_t)(MOST - 1) * SIZE);
	assert_int_equal(pread(fd, bytes, 6, (off_t)last.p_offset), 6);
	assert_memory_equal(bytes, "lasty", 6);
	close(fd);
	end(&t);
}

static void no_kernel(void **state)
{
	struct written t;

	begin(&t);
	code(&t, 100, TEXT, "a process'");
	assert_int_equal(export(&t), -ENODATA);
	end(&t);
}

static void existing_files_stay(void **state)
{
	char text[16];
	struct written t;
	int fd;

	begin(&t);
	object(&t, TEXT, 4096, "kernel");
	fd = openat(t.fd, "kallsyms", O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
	assert_int_equal(export(&t), -EEXIST);
	content(&t, "kallsyms", text, sizeof(text));
	assert_string_equal(text, "mine");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_and_names),
		cmocka_unit_test(objects_that_cannot_be),
		cmocka_unit_test(objects_beyond_number),
		cmocka_unit_test(no_kernel),
		cmocka_unit_test(existing_files_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
