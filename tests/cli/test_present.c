/* SPDX-License-Identifier: BSD-2-Clause */
/* Text and JSON of hostile names. */
#include "present/json.h"
#include "present/text.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <cmocka.h>

static void printable_is_one_harmless_line(void **state)
{
	static const struct { const char *in, *out; } row[] = {
		{ "", "" },
		{ "main", "main" },
		{ "a\nb\tc\rd", "a\\nb\\tc\\rd" },
		{ "back\\slash", "back\\\\slash" },
		{ "\033[2J", "\\x1b[2J" },
		{ "\x7f", "\\x7f" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\xc2\x9b", "\\xc2\\x9b" },		/* C1 control */
		{ "\xff\xfe", "\\xff\\xfe" },
		{ "\xc0\x80", "\\xc0\\x80" },		/* overlong NUL */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },	/* surrogate */
		{ "\xe2\x82", "\\xe2\\x82" },		/* cut */
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
	};
	char buf[64];
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_string_equal(text_printable(buf, sizeof(buf), row[i].in), row[i].out);
	/* Cut between characters, never inside. */
	assert_string_equal(text_printable(buf, 4, "ab\xc3\xa9"), "ab");
	assert_string_equal(text_printable(buf, 5, "ab\xc3\xa9"), "ab\xc3\xa9");
	assert_string_equal(text_printable(buf, 4, "ab\n"), "ab");
}

static void numbers(void **state)
{
	char buf[32];

	assert_string_equal(text_count(buf, sizeof(buf), 0), "0");
	assert_string_equal(text_count(buf, sizeof(buf), 999), "999");
	assert_string_equal(text_count(buf, sizeof(buf), 1000), "1,000");
	assert_string_equal(text_count(buf, sizeof(buf), 18446744073709551615ull),
			    "18,446,744,073,709,551,615");
	assert_string_equal(text_size(buf, sizeof(buf), 1023), "1023 B");
	assert_string_equal(text_size(buf, sizeof(buf), 1536), "1.5 KiB");
	assert_string_equal(text_duration(buf, sizeof(buf), 999), "999 ns");
	assert_string_equal(text_duration(buf, sizeof(buf), 1500), "1.5 us");
	assert_string_equal(text_duration(buf, sizeof(buf), 2500000000ull), "2.500 s");
}

/* Runs fn on an output into memory and returns what it wrote. */
static char *captured(void (*fn)(struct out *o))
{
	int fd = memfd_create("out", MFD_CLOEXEC);
	struct out o;
	off_t n;
	char *text;

	assert_true(fd >= 0);
	assert_int_equal(out_init(&o, fd), 0);
	fn(&o);
	assert_int_equal(out_fini(&o), 0);
	n = lseek(fd, 0, SEEK_END);
	text = calloc(1, (size_t)n + 1);
	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)n, 0), n);
	close(fd);
	return text;
}

static void write_json(struct out *o)
{
	struct json j;

	json_init(&j, o);
	json_object(&j, NULL);
	json_string(&j, "operator\"\"_kg", "a\"b\\c\n\x01\x7f");
	json_string(&j, "bad", "x\xffy");
	json_string(&j, "none", NULL);
	json_array(&j, "list");
	json_uint(&j, NULL, 18446744073709551615ull);
	json_int(&j, NULL, -1);
	json_hex(&j, NULL, 0xffffffffff600400ull);
	json_array_end(&j);
	json_array(&j, "empty");
	json_array_end(&j);
	json_bool(&j, "yes", true);
	json_object_end(&j);
	json_newline(&j);
	json_object(&j, NULL);
	json_object_end(&j);
	json_newline(&j);
}

static void json_survives_hostile_names(void **state)
{
	char *text = captured(write_json);

	assert_string_equal(text,
		"{\"operator\\\"\\\"_kg\":\"a\\\"b\\\\c\\n\\u0001\\u007f\","
		"\"bad\":\"x\xef\xbf\xbdy\",\"none\":null,"
		"\"list\":[18446744073709551615,-1,\"ffffffffff600400\"],"
		"\"empty\":[],\"yes\":true}\n{}\n");
	free(text);
}

static void write_numbers(struct out *o)
{
	static const uint64_t v[] = { 0, 1, 0xf, 0x10, 0xff, 0x100, 0x401000, UINT64_MAX };
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		out_hex(o, v[i]);
		out_char(o, ' ');
		out_dec(o, v[i]);
		out_char(o, '\n');
	}
}

static void hexadecimal_and_decimal(void **state)
{
	char *text = captured(write_numbers);

	assert_string_equal(text, "0 0\n1 1\nf 15\n10 16\nff 255\n100 256\n401000 4198400\n"
			    "ffffffffffffffff 18446744073709551615\n");
	free(text);
}

#define MANY	300000
static void write_much(struct out *o)
{
	char line[100];
	int i;

	memset(line, 'x', sizeof(line));
	for (i = 0; i < MANY / 100; i++)
		out_bytes(o, line, sizeof(line));
	/* More than the buffer holds at once. */
	for (i = 0; i < 1; i++) {
		char *big = calloc(1, 2 * MANY);

		memset(big, 'y', 2 * MANY);
		out_bytes(o, big, 2 * MANY);
		free(big);
	}
}

static void buffer_loses_nothing(void **state)
{
	char *text = captured(write_much);

	assert_int_equal(strlen(text), 3 * MANY);
	assert_int_equal(strspn(text, "x"), MANY);
	free(text);
}

static void write_errors_stick(void **state)
{
	int fd = open("/dev/full", O_WRONLY);
	struct out o;

	assert_int_equal(out_init(&o, fd), 0);
	out_str(&o, "lost");
	assert_int_equal(out_flush(&o), -ENOSPC);
	out_str(&o, "more");
	assert_int_equal(out_fini(&o), -ENOSPC);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(printable_is_one_harmless_line),
		cmocka_unit_test(numbers),
		cmocka_unit_test(json_survives_hostile_names),
		cmocka_unit_test(hexadecimal_and_decimal),
		cmocka_unit_test(buffer_loses_nothing),
		cmocka_unit_test(write_errors_stick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
