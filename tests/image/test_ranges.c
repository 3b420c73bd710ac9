// SPDX-License-Identifier: BSD-2-Clause
/* Functions as address ranges, IFUNCs among them; names; what a file is. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "image/image.h"

static char dir[2048];

static void in_dir(char *out, size_t n, const char *name)
{
	snprintf(out, n, "%s/%s", dir, name);
}

static void one_function(void **st)
{
	struct image_range r[4];
	char path[4200];

	in_dir(path, sizeof(path), "pie");
	assert_int_equal(image_function_ranges(path, "one", r, 4), 1);
	assert_true(r[0].end > r[0].start);
	assert_int_equal(image_function_ranges(path, "far_away", r, 4), 1);
	assert_int_equal(image_function_ranges(path, "local", r, 4), 1);
	assert_int_equal(image_function_ranges(path, "nothing", r, 4), 0);
	assert_int_equal(image_function_ranges(path, "", r, 4), 0);
	/* printf@plt is not printf. */
	assert_int_equal(image_function_ranges(path, "printf", r, 4), 0);
	assert_int_equal(image_function_ranges(path, "printf@plt", r, 4), 1);
	in_dir(path, sizeof(path), "stripped");
	assert_int_equal(image_function_ranges(path, "one", r, 4), 1);
	in_dir(path, sizeof(path), "no_sections");
	assert_int_equal(image_function_ranges(path, "one", r, 4), 1);
	assert_int_equal(image_function_ranges("/nowhere", "one", r, 4), -ENOENT);
	assert_int_equal(image_function_ranges("/", "one", r, 4), -EISDIR);
	assert_int_equal(image_function_ranges("/etc/passwd", "one", r, 4), -ENOEXEC);
}

/* The implementations' addresses as the program prints them, less its bias. */
static void check_ifunc(const char *name)
{
	unsigned long want[3];
	struct image_range r[8];
	char path[4200], command[4300];
	int i, k, n;
	FILE *in;

	in_dir(path, sizeof(path), name);
	snprintf(command, sizeof(command), "'%s'", path);
	in = popen(command, "r");
	assert_non_null(in);
	assert_int_equal(fscanf(in, "%lx %lx %lx", &want[0], &want[1], &want[2]), 3);
	assert_int_equal(pclose(in), 0);
	/* More than there is room for: the count is right all the same. */
	assert_int_equal(image_function_ranges(path, "pick", r, 1), 3);
	n = image_function_ranges(path, "pick", r, 8);
	assert_int_equal(n, 3);
	for (i = 0; i < 3; i++) {
		for (k = 0; k < n && ((want[i] ^ r[k].start) & 0xfff); k++)
			;
		assert_true(k < n);
		/* Small functions: the end is theirs, not the section's. */
		assert_true(r[k].end - r[k].start < 32);
	}
}

static void ifuncs(void **st)
{
#ifdef HAVE_ZYDIS
	check_ifunc("ifunc");
	check_ifunc("ifunc_static");
#else
	skip();
#endif
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *out)
{
	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	*(struct dl_phdr_info *)out = *info;
	return 1;
}

/* What the loader chose must be one of what we say it may choose. */
static void libc_ifuncs(void **st)
{
	static const char *const names[] = {"memcpy", "memmove", "memset",
					    "strlen", "strchr",	 "strcmp",
					    "memchr", "strncpy", "wcslen"};
	/* libc's own, not what a sanitizer puts before them. */
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	struct dl_phdr_info info = {};
	struct image_range r[64];
	uint64_t addr;
	size_t i;
	int k, n;

#ifndef HAVE_ZYDIS
	skip();
#endif
	if (!dl_iterate_phdr(find_libc, &info))
		skip();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		addr = (uint64_t)dlsym(libc, names[i]) - info.dlpi_addr;
		n = image_function_ranges(info.dlpi_name, names[i], r, 64);
		assert_in_range(n, 2, 64);
		for (k = 0; k < n && (addr < r[k].start || addr > r[k].end); k++)
			;
		if (k == n)
			fail_msg("%s: the loader's choice 0x%lx is not found", names[i],
				 (unsigned long)addr);
	}
	/* getenv is an ordinary function of a stripped library. */
	addr = (uint64_t)dlsym(libc, "getenv") - info.dlpi_addr;
	assert_int_equal(image_function_ranges(info.dlpi_name, "getenv", r, 64), 1);
	assert_int_equal(r[0].start, addr);
}

static void demangling(void **st)
{
#ifdef HAVE_LIBIBERTY
	static const struct {
		const char *raw, *want;
	} rows[] = {
		{"_ZN3foo3barEi", "foo::bar(int)"},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
		 "core::fmt::Formatter::pad"},
		{"_RNvC6_123foo3bar", "123foo::bar"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi",
		 "std::vector<int, std::allocator<int> >::push_back(int const&)"},
		{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"},
		{"_ZN3foo3barEi@plt", "foo::bar(int)@plt"},
		{"_ZN3foo3barEi@@V_1.2", "foo::bar(int)@@V_1.2"},
		{"main", NULL},
		{"_Z", NULL},
		{"", NULL},
		{"caml_main", NULL},
		{"main.(*T).f", NULL},
		{"foo.isra.0", NULL},
	};
	char *text, deep[40000];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		text = image_demangle(rows[i].raw);
		if (rows[i].want) {
			assert_non_null(text);
			assert_string_equal(text, rows[i].want);
		} else {
			assert_null(text);
		}
		free(text);
	}
	/* Suffixes stay. */
	text = image_demangle("_Z3fooi.cold");
	assert_non_null(text);
	assert_non_null(strstr(text, "foo(int)"));
	assert_non_null(strstr(text, "cold"));
	free(text);
	/* A name made to recurse without end. */
	memset(deep, 'P', sizeof(deep));
	memcpy(deep, "_Z1f", 4);
	deep[12000] = 0;
	free(image_demangle(deep));
	deep[12000] = 'P';
	deep[sizeof(deep) - 1] = 0;
	assert_null(image_demangle(deep));
	assert_null(image_demangle(NULL));
#else
	skip();
#endif
}

static void describing(void **st)
{
	static const struct {
		const char *name, *want;
		int ret;
	} rows[] = {
		{"exec", "ELF 64-bit x86-64 executable", 0},
		{"pie", "ELF 64-bit x86-64 shared object or PIE", 0},
	};
	int machine, bits;
	char path[4200], text[128];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		in_dir(path, sizeof(path), rows[i].name);
		assert_int_equal(
			image_describe(path, text, sizeof(text), &machine, &bits),
			rows[i].ret);
		assert_string_equal(text, rows[i].want);
		assert_int_equal(machine, 62);
		assert_int_equal(bits, 64);
	}
	assert_int_equal(image_describe("/nowhere", text, sizeof(text), &machine, &bits),
			 -ENOENT);
	assert_int_equal(image_describe("/", text, sizeof(text), &machine, &bits),
			 -EISDIR);
	assert_string_equal(text, "directory");
	assert_int_equal(image_describe("/dev/null", text, sizeof(text), &machine, &bits),
			 -EINVAL);
	assert_int_equal(
		image_describe("/etc/passwd", text, sizeof(text), &machine, &bits), 0);
	assert_string_equal(text, "not an ELF file");
}

/* An i386 header, and one cut short. */
static void foreign_elf(void **st)
{
	unsigned char head[64] = {0x7f, 'E', 'L', 'F', 1, 1, 1};
	char path[4200], text[128];
	int machine, bits;
	FILE *out;

	in_dir(path, sizeof(path), "i386.elf");
	head[16] = 2;
	head[18] = 3;
	head[20] = 1;
	head[40] = 52;
	out = fopen(path, "w");
	fwrite(head, 1, sizeof(head), out);
	fclose(out);
	assert_int_equal(image_describe(path, text, sizeof(text), &machine, &bits), 0);
	assert_string_equal(text, "ELF 32-bit Intel 80386 executable");
	assert_int_equal(bits, 32);
	assert_int_equal(machine, 3);
	out = fopen(path, "w");
	fwrite(head, 1, 20, out);
	fclose(out);
	assert_int_equal(image_describe(path, text, sizeof(text), &machine, &bits), 0);
	assert_string_equal(text, "damaged ELF file");
	unlink(path);
}

static void offsets(void **st)
{
	uint64_t vaddr = 0;
	char path[4200];

	in_dir(path, sizeof(path), "exec");
	assert_int_equal(image_offset_to_vaddr(path, 0x1000, &vaddr), 0);
	assert_int_equal(vaddr, 0x401000);
	assert_int_equal(image_offset_to_vaddr(path, 1ull << 40, &vaddr), -ENOENT);
	assert_int_equal(image_offset_to_vaddr("/nowhere", 0, &vaddr), -ENOENT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_function), cmocka_unit_test(ifuncs),
		cmocka_unit_test(libc_ifuncs),	cmocka_unit_test(demangling),
		cmocka_unit_test(describing),	cmocka_unit_test(foreign_elf),
		cmocka_unit_test(offsets),
	};

	if (argc < 2)
		return 77;
	snprintf(dir, sizeof(dir), "%s", argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
