/* SPDX-License-Identifier: BSD-2-Clause */
/* Option tables: one row a command line. */
#include "cli/cpus.h"
#include "cli/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

struct values {
	int	quiet, colour, mode;
	uint64_t size, level, ring;
	const char *file;
	struct option_list map;
};

static const struct option_choice modes[] = { { "fast", 1 }, { "slow", 2 }, { 0 } };
#define AT(m)	.offset = OPTION_AT(struct values, m)
static const struct option table[] = {
	{ 'q', "quiet", .kind = OPTION_FLAG, .value = 1, AT(quiet), .help = "" },
	{ 0, "colour", .kind = OPTION_FLAG, .value = 1, AT(colour), .help = "" },
	{ 0, "no-colour", .kind = OPTION_FLAG, .value = 0, AT(colour), .help = "" },
	{ 0, "first", .kind = OPTION_FLAG, .value = 1, AT(mode), .help = "" },
	{ 0, "second", .kind = OPTION_FLAG, .value = 2, AT(mode), .help = "" },
	{ 'm', "mode", "MODE", OPTION_CHOICE, AT(mode), "", .choices = modes },
	{ 'b', "size", "SIZE", OPTION_SIZE, AT(size), "", .min = 4096, .multiple = 4096 },
	{ 'l', "level", "N", OPTION_UINT, AT(level), "", .max = 15 },
	{ 0, "ring", "SIZE", OPTION_SIZE, AT(ring), "", .optional = true, .value = 77 },
	{ 'o', "output", "FILE", OPTION_STRING, AT(file), "" },
	{ 0, "map", "ELF", OPTION_LIST, AT(map), "" },
	{ 0 }
};

static const struct values defaults = { .colour = 1, .size = 8192 };

/* Up to 8 words; sets *v, the operands' number, and the error text. */
static int parse(const char *const *words, bool in_order, struct values *v,
		 struct option_result *r)
{
	int argc = 0;

	while (words[argc])
		argc++;
	*v = defaults;
	return options_parse(table, argc, (char *const *)words, in_order, v, r);
}

struct good_row {
	const char	*words[8];
	bool		in_order;
	struct values	want;
	const char	*want_file;
	int		operands;
};

#define D	.colour = 1
static const struct good_row good[] = {
	{ { NULL }, false, { D, .size = 8192 }, NULL, 0 },
	{ { "-q", "a", "b" }, false, { D, .quiet = 1, .size = 8192 }, NULL, 2 },
	{ { "a", "-q", "b" }, false, { D, .quiet = 1, .size = 8192 }, NULL, 2 },
	{ { "a", "-q", "b" }, true, { D, .size = 8192 }, NULL, 3 },
	{ { "-q", "--", "-q", "x" }, true, { D, .quiet = 1, .size = 8192 }, NULL, 2 },
	{ { "--no-colour" }, false, { .size = 8192 }, NULL, 0 },
	{ { "--no-colour", "--colour" }, false, { D, .size = 8192 }, NULL, 0 },
	{ { "-b4096" }, false, { D, .size = 4096 }, NULL, 0 },
	{ { "-b", "12288" }, false, { D, .size = 12288 }, NULL, 0 },
	{ { "--size=4K" }, false, { D, .size = 4096 }, NULL, 0 },
	{ { "--size", "2m" }, false, { D, .size = 2 << 20 }, NULL, 0 },
	{ { "-b0x1000" }, false, { D, .size = 4096 }, NULL, 0 },
	{ { "-b", "3G" }, false, { D, .size = 3ull << 30 }, NULL, 0 },
	{ { "-l15", "-m", "slow" }, false, { D, .level = 15, .mode = 2, .size = 8192 }, NULL, 0 },
	{ { "--ring" }, false, { D, .ring = 77, .size = 8192 }, NULL, 0 },
	{ { "--ring=5" }, false, { D, .ring = 5, .size = 8192 }, NULL, 0 },
	{ { "--ring", "5" }, false, { D, .ring = 77, .size = 8192 }, NULL, 1 },
	{ { "-qo", "f" }, false, { D, .quiet = 1, .size = 8192 }, "f", 0 },
	{ { "-qof" }, false, { D, .quiet = 1, .size = 8192 }, "f", 0 },
	{ { "--output=--x" }, false, { D, .size = 8192 }, "--x", 0 },
	{ { "--output", "--quiet" }, false, { D, .size = 8192 }, "--quiet", 0 },
	{ { "-" }, false, { D, .size = 8192 }, NULL, 1 },
	{ { "-o", "f", "-of" }, false, { D, .size = 8192 }, "f", 0 },
	{ { "--first", "-q", "--first" }, false, { D, .quiet = 1, .mode = 1, .size = 8192 }, NULL, 0 },
};

static void accepts(void **state)
{
	struct option_result r;
	struct values v;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(parse(good[i].words, good[i].in_order, &v, &r), 0);
		assert_int_equal(v.quiet, good[i].want.quiet);
		assert_int_equal(v.colour, good[i].want.colour);
		assert_int_equal(v.mode, good[i].want.mode);
		assert_int_equal(v.size, good[i].want.size);
		assert_int_equal(v.level, good[i].want.level);
		assert_int_equal(v.ring, good[i].want.ring);
		assert_int_equal(r.noperands, good[i].operands);
		if (good[i].want_file)
			assert_string_equal(v.file, good[i].want_file);
		else
			assert_null(v.file);
		assert_false(r.help);
		options_free(&r);
	}
}

static const struct {
	const char *words[4];
	const char *error;
} bad[] = {
	{ { "-x" }, "unknown option -x" },
	{ { "-qx" }, "unknown option -x" },
	{ { "--nonsense" }, "unknown option --nonsense (did you mean --no-colour?)" },
	{ { "--siz=4K" }, "unknown option --siz (did you mean --size?)" },
	{ { "--x\033[1m" }, "unknown option --x\\x1b[1m" },
	{ { "--quiet=1" }, "--quiet takes no value" },
	{ { "-o" }, "-o needs a value: FILE" },
	{ { "--output" }, "--output needs a value: FILE" },
	{ { "--output=" }, "--output: the value is empty" },
	{ { "-b", "0" }, "--size: 0 is out of range (at least 4096)" },
	{ { "-b", "4095" }, "--size: 4095 is out of range (at least 4096)" },
	{ { "-b", "4097" }, "--size: 4097 is not a multiple of 4096" },
	{ { "-b", "4T" }, "--size: '4T' is not a size (digits, then K, M or G)" },
	{ { "-b", "4KB" }, "--size: '4KB' is not a size (digits, then K, M or G)" },
	{ { "-b", "-4096" }, "--size: '-4096' is not a size (digits, then K, M or G)" },
	{ { "-b", " 4096" }, "--size: ' 4096' is not a size (digits, then K, M or G)" },
	{ { "-b", "99999999999999999999" },
	  "--size: 99999999999999999999 is out of range (at least 4096)" },
	{ { "-b", "18446744073709551615G" },
	  "--size: 18446744073709551615G is out of range (at least 4096)" },
	{ { "-l", "16" }, "--level: 16 is out of range (0 to 15)" },
	{ { "-l", "1K" }, "--level: '1K' is not a number" },
	{ { "-o", "f", "--output=g" }, "--output: given twice, 'f' and 'g'" },
	{ { "--first", "--second" }, "--second: not together with --first" },
	{ { "-m", "medium" }, "--mode: 'medium' is none of: fast, slow" },
};

static void refuses(void **state)
{
	struct option_result r;
	struct values v;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i].words, false, &v, &r), -EINVAL);
		assert_string_equal(r.error, bad[i].error);
		options_free(&r);
	}
}

static void keeps_every_list_item(void **state)
{
	const char *words[40] = { NULL };
	struct option_result r;
	struct values v;
	int i;

	for (i = 0; i < 17; i++) {
		words[2 * i] = "--map";
		words[2 * i + 1] = i & 1 ? "odd" : "even";
	}
	words[32] = NULL;
	assert_int_equal(parse(words, false, &v, &r), 0);
	assert_int_equal(v.map.n, 16);
	assert_string_equal(v.map.item[15], "odd");
	options_free(&r);
	words[32] = "--map";
	assert_int_equal(parse(words, false, &v, &r), -EINVAL);
	assert_string_equal(r.error, "--map: given more than 16 times");
	options_free(&r);
}

static void finds_help(void **state)
{
	static const char *const words[][3] = {
		{ "-h" }, { "--help" }, { "-qh" }, { "a", "-h" }
	};
	struct option_result r;
	struct values v;
	size_t i;

	for (i = 0; i < 4; i++) {
		assert_int_equal(parse(words[i], false, &v, &r), 0);
		assert_true(r.help);
		options_free(&r);
	}
}

static void lists_of_cpus(void **state)
{
	static const struct { const char *text; int err; uint64_t want; } row[] = {
		{ "0", 0, 0x1 }, { "3", 0, 0x8 }, { "0-3", 0, 0xf }, { "0-1,5,7-7", 0, 0xa3 },
		{ "1,1", 0, 0x2 }, { "", -EINVAL, 0 }, { ",", -EINVAL, 0 }, { "1,", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 }, { "3-1", -EINVAL, 0 }, { "1-", -EINVAL, 0 }, { "a", -EINVAL, 0 },
		{ "1 2", -EINVAL, 0 }, { "+1", -EINVAL, 0 }, { "0x1", -EINVAL, 0 }, { "1024", -ERANGE, 0 },
		{ "0-99999999999999999999", -ERANGE, 0 },
	};
	cpu_set_t set;
	uint64_t got;
	size_t i;
	int cpu;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_int_equal(cpus_parse(row[i].text, &set), row[i].err);
		if (row[i].err)
			continue;
		for (got = 0, cpu = 0; cpu < 64; cpu++)
			got |= (uint64_t)!!CPU_ISSET(cpu, &set) << cpu;
		assert_int_equal(got, row[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts),
		cmocka_unit_test(refuses),
		cmocka_unit_test(keeps_every_list_item),
		cmocka_unit_test(finds_help),
		cmocka_unit_test(lists_of_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
