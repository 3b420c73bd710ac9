// SPDX-License-Identifier: BSD-2-Clause
/* What the CoreSight driver makes of a client's configuration, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "backends/coresight/cs_backend.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define NS		TRCIDR3_EXLEVEL_NS_SHIFT
#define LEVELS		(0xbu << TRCIDR3_EXLEVEL_S_SHIFT | 7u << NS)
#define ON		(TRCVICTLR_EVENT_TRUE | TRCVICTLR_SSSTATUS)
#define ALL_BITS \
	(CORESIGHT_BB | CORESIGHT_CCI | CORESIGHT_CID | CORESIGHT_TS | CORESIGHT_RS)

static uint32_t idr[ETM4_NUM_IDR];

static uint32_t bus_cap(struct hwt_bus *bus, uint32_t i)
{
	return i < ETM4_NUM_IDR ? idr[i] : 0;
}

static const struct hwt_bus_ops bus_ops = {.cap = bus_cap};
static struct hwt_bus bus = {.ops = &bus_ops, .name = "registers"};
static struct hwt_backend be = {.bus = &bus};
static const struct hwt_cred user = {.uid = 1000}, root = {.perfmon = true};

/* A unit that has all that can be asked for, and four pairs of comparators. */
static int setup(void **state)
{
	memset(idr, 0, sizeof(idr));
	idr[0] = TRCIDR0_TRCBB | TRCIDR0_TRCCCI | TRCIDR0_RETSTACK | TRCIDR0_TSSIZE_64;
	idr[2] = 4u << TRCIDR2_CIDSIZE_SHIFT;
	idr[3] = 4 | LEVELS | TRCIDR3_STALLCTL;
	idr[4] = 4;
	return 0;
}

static int check(int mode, const struct hwt_cred *cred, const struct coresight_config *c,
		 struct cs_config *out)
{
	void *checked = NULL;
	int rc = cs_config_check(&be, mode, cred, c, sizeof(*c), CORESIGHT_CONFIG_VERSION,
				 &checked);

	if (!rc && out)
		*out = *(struct cs_config *)checked;
	hwt_free(checked);
	return rc;
}

static void refused(void **state)
{
	static const struct {
		int mode;
		const struct hwt_cred *cred;
		struct coresight_config c;
		int want;
	} rows[] = {
#define T HWT_MODE_THREAD
#define C HWT_MODE_CPU
#define USER CORESIGHT_USER
		{T, &user, {.flags = USER}, 0},
		{T, &user, {.flags = USER, .configr = ALL_BITS, .sync = 8}, 0},
		{T, &user, {.flags = USER, .configr = CORESIGHT_CCI, .cc_threshold = 0xfff}, 0},
		{T, &user, {.flags = 0}, -EINVAL},
		{T, &user, {.flags = USER | 4}, -EINVAL},
		{T, &root, {.flags = USER | CORESIGHT_KERNEL}, -EOPNOTSUPP},
		{C, &user, {.flags = USER}, -EPERM},
		{C, &root, {.flags = USER | CORESIGHT_KERNEL}, 0},
		{T, &user, {.flags = USER, .configr = TRCCONFIGR_RES1}, -EINVAL},
		{T, &user, {.flags = USER, .configr = TRCCONFIGR_VMID}, -EINVAL},
		{T, &user, {.flags = USER, .reserved = 1}, -EINVAL},
		{T, &user, {.flags = USER, .sync = 7}, -EINVAL},
		{T, &user, {.flags = USER, .sync = 21}, -EINVAL},
		{T, &user, {.flags = USER, .configr = CORESIGHT_CCI, .cc_threshold = 0x1000},
		 -EINVAL},
		{T, &user, {.flags = USER, .nranges = 4}, 0},
		{T, &user, {.flags = USER, .nranges = 5}, -EOPNOTSUPP},
		{T, &user, {.flags = USER, .nranges = CORESIGHT_MAX_RANGES + 1}, -EINVAL},
		{T, &user, {.flags = USER, .nranges = 2, .ranges = {{1, 2}, {4, 3}}}, -EINVAL},
	};
	struct coresight_config c = {.flags = USER};
	void *out;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		int got = check(rows[i].mode, rows[i].cred, &rows[i].c, NULL);

		if (got != rows[i].want)
			fail_msg("row %zu: %d instead of %d", i, got, rows[i].want);
	}
	assert_int_equal(cs_config_check(&be, T, &user, &c, sizeof(c) - 1,
					 CORESIGHT_CONFIG_VERSION, &out), -EINVAL);
	assert_int_equal(cs_config_check(&be, T, &user, &c, sizeof(c),
					 CORESIGHT_CONFIG_VERSION + 1, &out), -EINVAL);
}

/* Each feature alone is missing: what asks for it is refused, and all else is not. */
static void what_the_unit_lacks(void **state)
{
	static const struct {
		uint32_t n, mask;	/* of an ID register */
		uint32_t configr;
	} rows[] = {
		{0, TRCIDR0_TRCBB, CORESIGHT_BB}, {0, TRCIDR0_TRCCCI, CORESIGHT_CCI},
		{0, TRCIDR0_RETSTACK, CORESIGHT_RS}, {0, TRCIDR0_TSSIZE_MASK, CORESIGHT_TS},
		{2, TRCIDR2_CIDSIZE_MASK, CORESIGHT_CID},
	};
	struct coresight_config c = {.flags = CORESIGHT_USER};
	struct cs_config out;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		setup(NULL);
		idr[rows[i].n] &= ~rows[i].mask;
		c.configr = rows[i].configr;
		assert_int_equal(check(HWT_MODE_THREAD, &user, &c, NULL), -EOPNOTSUPP);
		c.configr = ALL_BITS & ~rows[i].configr;
		assert_int_equal(check(HWT_MODE_THREAD, &user, &c, &out), 0);
		assert_int_equal(out.configr, TRCCONFIGR_RES1 | c.configr);
		cs_config_default(&be, HWT_MODE_THREAD, &out);
		assert_false(out.configr & rows[i].configr);
	}
	setup(NULL);
	idr[3] |= TRCIDR3_SYNCPR;
	idr[4] = 0;
	c = (struct coresight_config){.flags = CORESIGHT_USER, .sync = 12};
	assert_int_equal(check(HWT_MODE_THREAD, &user, &c, NULL), -EOPNOTSUPP);
	cs_config_default(&be, HWT_MODE_THREAD, &out);
	assert_int_equal(out.syncpr, 0);
	c = (struct coresight_config){.flags = CORESIGHT_USER, .nranges = 1};
	assert_int_equal(check(HWT_MODE_THREAD, &user, &c, NULL), -EOPNOTSUPP);
}

/* Levels that are not asked for are left out, of those that the unit has. */
static void levels(void **state)
{
	static const struct {
		uint32_t flags, not_traced;
	} rows[] = {
		{CORESIGHT_USER, LEVELS & ~(1u << NS)},
		{CORESIGHT_KERNEL, LEVELS & ~(6u << NS)},
		{CORESIGHT_USER | CORESIGHT_KERNEL, LEVELS & ~(7u << NS)},
	};
	struct coresight_config c = {0};
	struct cs_config out;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		c.flags = rows[i].flags;
		assert_int_equal(check(HWT_MODE_CPU, &root, &c, &out), 0);
		assert_int_equal(out.victlr, ON | rows[i].not_traced);
	}
	/* A level that the unit has not: its bit is reserved. */
	idr[3] &= ~(4u << NS);
	c.flags = CORESIGHT_USER;
	assert_int_equal(check(HWT_MODE_CPU, &root, &c, &out), 0);
	assert_int_equal(out.victlr, ON | (LEVELS & ~(5u << NS)));
	setup(NULL);
	cs_config_default(&be, HWT_MODE_CPU, &out);
	assert_int_equal(out.victlr, ON | (LEVELS & ~(7u << NS)));
	cs_config_default(&be, HWT_MODE_THREAD, &out);
	assert_int_equal(out.victlr, ON | (LEVELS & ~(1u << NS)));
}

static void numbers(void **state)
{
	struct coresight_config c = {
		.flags = CORESIGHT_USER, .configr = CORESIGHT_CCI, .sync = 20, .cc_threshold = 3,
		.nranges = 2, .ranges = {{0x1000, 0x1fff}, {~0ull - 7, ~0ull}},
	};
	struct cs_config out;

	assert_int_equal(check(HWT_MODE_THREAD, &user, &c, &out), 0);
	assert_int_equal(out.syncpr, 20);
	assert_int_equal(out.ccctlr, 4);	/* as few as the unit can */
	assert_int_equal(out.nranges, 2);
	assert_true(out.range[0] == 0x1000 && out.range[1] == 0x1fff);
	assert_true(out.range[2] == ~0ull - 7 && out.range[3] == ~0ull);
	c.cc_threshold = 100;
	assert_int_equal(check(HWT_MODE_THREAD, &user, &c, &out), 0);
	assert_int_equal(out.ccctlr, 100);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(refused, setup),
		cmocka_unit_test_setup(what_the_unit_lacks, setup),
		cmocka_unit_test_setup(levels, setup),
		cmocka_unit_test_setup(numbers, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
