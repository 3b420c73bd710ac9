/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture from Intel silicon: a static program that makes two system calls.
 * Its eight instructions are known, and nothing else may come out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "decode/pt/pt_decoder.h"

#define TEXT_ADDR	0x401000
#define TEXT_OFFSET	0x1000

static uint8_t *elf, *pt;
static size_t elf_n, pt_n;

static uint8_t *slurp(const char *name, size_t *n)
{
	const char *dir = getenv("HWT_TEST_DATA");
	char path[4096];
	uint8_t *bytes = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "%s/pt-hello/%s", dir ? dir : TEST_DATA, name);
	f = fopen(path, "rb");
	if (!f)
		return NULL;
	bytes = malloc(1 << 20);
	*n = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	return bytes;
}

static size_t code(void *ctx, uint64_t ip, uint8_t *buf, size_t len)
{
	uint64_t at = ip - TEXT_ADDR + TEXT_OFFSET;

	if (ip < TEXT_ADDR || at >= elf_n)
		return 0;
	if (len > elf_n - at)
		len = elf_n - at;
	memcpy(buf, elf + at, len);
	return len;
}

static void eight_instructions(void **s)
{
	static const uint64_t want[] = {0x401000, 0x401005, 0x40100a, 0x401014,
					0x401019, 0x40101b, 0x401020, 0x401025};
	struct pt_decoder_config config = {.code = code};
	struct trace_event ev[16];
	struct pt_decoder *d;
	size_t got = 0, on = 0, off = 0;
	uint64_t ip, time = 0;
	int i, n;
	uint32_t k;

	d = pt_decoder_new(&config);
	assert_non_null(d);
	assert_int_equal(pt_decoder_feed(d, pt, pt_n), 0);
	pt_decoder_finish(d);
	while ((n = pt_decoder_next(d, ev, 16)) > 0) {
		for (i = 0; i < n; i++) {
			assert_true(ev[i].time >= time);
			time = ev[i].time;
			on += ev[i].type == TRACE_ENABLED;
			off += ev[i].type == TRACE_DISABLED;
			assert_int_not_equal(ev[i].type, TRACE_ERROR);
			assert_int_not_equal(ev[i].type, TRACE_GAP);
			ip = ev[i].ip;
			if (ev[i].type == TRACE_RUN)
				for (k = 0; k < ev[i].ninsn; k++) {
					assert_true(got < 8);
					assert_int_equal(ip, want[got++]);
					ip += ev[i].block->len[k];
				}
		}
	}
	assert_int_equal(n, 0);
	assert_int_equal(got, 8);
	assert_int_equal(on, 3);
	assert_int_equal(off, 3);
	pt_decoder_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(eight_instructions)};
	int rc;

	elf = slurp("hello", &elf_n);
	pt = slurp("pt.bin", &pt_n);
	if (!elf || !pt) {
		printf("skipped: no pt-hello capture under HWT_TEST_DATA\n");
		return 77;
	}
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	free(elf);
	free(pt);
	return rc;
}
