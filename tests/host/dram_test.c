// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

#include "hosts/embedded/dram.h"

static int setup(void **state)
{
	static struct dram d;

	*state = &d;
	return dram_init(&d);
}

static int teardown(void **state)
{
	dram_fini(*state);
	return 0;
}

static void blocks_are_aligned_and_apart(void **state)
{
	static const size_t sizes[] = {1, 3, 16, 1024, 5, 40000, 1};
	struct hwt_pages *p[7];
	struct dram *d = *state;
	uint64_t a, b, align;
	size_t i, j;

	for (i = 0; i < 7; i++) {
		p[i] = dram_alloc(d, sizes[i]);
		assert_non_null(p[i]);
		for (align = 4096; align < sizes[i] * 4096 && align < 128 << 20; align *= 2)
			;
		assert_int_equal(dram_offset(d, p[i]) % align, 0);
		assert_int_not_equal(dram_offset(d, p[i]), 0);
	}
	for (i = 0; i < 7; i++) {
		for (j = 0; j < i; j++) {
			a = dram_offset(d, p[i]);
			b = dram_offset(d, p[j]);
			assert_true(a + sizes[i] * 4096 <= b || b + sizes[j] * 4096 <= a);
		}
	}
	for (i = 0; i < 7; i++)
		dram_free(d, p[(i * 3) % 7]);
}

static void freed_memory_comes_back_whole_and_zeroed(void **state)
{
	struct dram *d = *state;
	struct hwt_pages *p[3];
	uint64_t off;
	int i;

	for (i = 0; i < 3; i++) {
		p[i] = dram_alloc(d, 16);
		((uint8_t *)p[i]->kva)[100] = 0xaa;
	}
	off = dram_offset(d, p[0]);
	dram_free(d, p[1]);
	dram_free(d, p[0]);
	dram_free(d, p[2]);
	p[0] = dram_alloc(d, 16);
	assert_int_equal(dram_offset(d, p[0]), off);
	assert_int_equal(((uint8_t *)p[0]->kva)[100], 0);
	dram_free(d, p[0]);
	/* Joined again: nearly all of it is one block. */
	p[0] = dram_alloc(d, (DRAM_SIZE - (256 << 20)) / 4096);
	assert_non_null(p[0]);
	assert_null(dram_alloc(d, (256 << 20) / 4096));
	dram_free(d, p[0]);
}

static void refuses_what_it_has_not(void **state)
{
	assert_null(dram_alloc(*state, 0));
	assert_null(dram_alloc(*state, DRAM_SIZE / 4096 + 1));
	assert_null(dram_alloc(*state, SIZE_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(blocks_are_aligned_and_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(freed_memory_comes_back_whole_and_zeroed,
						setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_what_it_has_not, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
