/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Option parsing: the first byte picks the order mode, the rest is split at
 * NULs into words.  Accepted values must lie within what the table allows.
 */
#include "fuzz.h"
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WORDS	64

struct values {
	int	flag, choice;
	uint64_t size, number, ring;
	const char *text;
	struct option_list list;
};

static const struct option_choice choices[] = { { "host", 1 }, { "insn", 2 }, { 0 } };
#define AT(m)	.offset = OPTION_AT(struct values, m)
static const struct option table[] = {
	{ 'q', "quiet", .kind = OPTION_FLAG, .value = 1, AT(flag) },
	{ 0, "no-quiet", .kind = OPTION_FLAG, .value = 0, AT(flag) },
	{ 'c', "clock", "C", OPTION_CHOICE, AT(choice), .choices = choices },
	{ 'b', "size", "S", OPTION_SIZE, AT(size), .min = 4096, .max = 1 << 30,
	  .multiple = 4096 },
	{ 'n', "number", "N", OPTION_UINT, AT(number), .max = 15 },
	{ 0, "ring", "S", OPTION_SIZE, AT(ring), .optional = true, .value = 7 },
	{ 'o', NULL, "F", OPTION_STRING, AT(text) },
	{ 0, "map", "M", OPTION_LIST, AT(list) },
	{ 0 }
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check(const struct values *v, const struct option_result *r, int argc)
{
	require(v->flag == 0 || v->flag == 1);
	require(v->choice >= 0 && v->choice <= 2);
	require(v->size == 8192 || (v->size % 4096 == 0 && v->size >= 4096 &&
				    v->size <= 1 << 30));
	require(v->number <= 15);
	require(v->list.n >= 0 && v->list.n <= 16);
	require(r->noperands <= argc);
	require(!v->text || *v->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct values v = { .size = 8192 };
	struct option_result r;
	char *argv[MAX_WORDS], *copy, *p;
	const char *c;
	int argc = 0;

	if (size < 1)
		return 0;
	copy = calloc(1, size + 1);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	for (p = copy; p < copy + size - 1 && argc < MAX_WORDS; p += strlen(p) + 1)
		argv[argc++] = p;
	if (options_parse(table, argc, argv, data[0] & 1, &v, &r) == 0) {
		check(&v, &r, argc);
	} else {
		require(r.error[0] != '\0');
		for (c = r.error; *c; c++)
			require((unsigned char)*c >= 0x20);
	}
	options_free(&r);
	free(copy);
	return 0;
}
