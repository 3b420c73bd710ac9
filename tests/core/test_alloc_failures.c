/* SPDX-License-Identifier: BSD-2-Clause */
/* Every allocation fails once: an error comes back, and nothing is left over. */
#include "fixture.h"

/* Whatever may fail here only by want of memory; what it needs it made before. */
static void use_context(struct fake_host *h, struct fake_dev *dev, int *enomem)
{
	struct hwt_hook_where at = fake_at(PID, PID + 9, 9);
	uint64_t record[64];
	int rc;

	rc = fake_config2(dev, HWT_PAUSE_ALL, true);
	*enomem += rc == -ENOMEM;
	assert_true(rc == 0 || rc == -ENOMEM);
	if (fake_simple(dev, HWT_IOC_START))
		return;
	rc = hwt_hook_thread_create(h->core, &at, PID + 9, 9);
	*enomem += rc == -ENOMEM;
	assert_true(rc == HWT_HOOK_TRACED || rc == -ENOMEM);
	rc = hwt_hook_fork(h->core, &at, 500, 500);
	assert_true(rc == HWT_HOOK_TRACED || rc == (HWT_HOOK_TRACED | HWT_HOOK_PAUSED));
	/* A child that could not be paused runs on: not an error, but told apart. */
	*enomem += rc == HWT_HOOK_TRACED;
	rc = fake_service(dev, PID, 0);
	*enomem += rc == -ENOMEM;
	assert_true(rc == 0 || rc == -ENOMEM);
	assert_true(fake_record(dev, record, sizeof(record)) > 0);
	hwt_hook_thread_exit(h->core, &at, 0);
}

static void thread_mode(struct fake_host *h, int *enomem)
{
	struct fake_dev *dev;
	int ident = -1, rc;

	rc = fake_alloc(h, PID, BUFSIZE, &ident);
	*enomem += rc == -ENOMEM;
	assert_true(rc == 0 || rc == -ENOMEM);
	if (rc) {
		/* All or nothing. */
		assert_int_equal(fake_node_count(h), 0);
		return;
	}
	assert_int_equal(fake_open_node(h, ident, 0, &dev), 0);
	use_context(h, dev, enomem);
	fake_close(dev);
}

static void cpu_mode(struct fake_host *h, int *enomem)
{
	int ident, rc = fake_alloc_cpus(h, 0xf, &ident);

	*enomem += rc == -ENOMEM;
	assert_true(rc == 0 || rc == -ENOMEM);
	hwt_owner_exit(h->core, FAKE_OWNER);
}

static bool run_with_failure(unsigned int nth)
{
	long live = hwt_alloc_live();
	struct fake_host *h;
	int enomem = 0;
	bool fired;

	hwt_fault_arm(nth);
	h = fake_host_new(false);
	if (h) {
		fake_target_add(h, PID, 3);
		fake_switch_in(h, PID, PID, 0);
		thread_mode(h, &enomem);
		cpu_mode(h, &enomem);
	}
	fired = hwt_fault_fired();
	hwt_fault_arm(0);
	/* Every failure is seen by somebody. */
	assert_int_equal(enomem, fired && h);
	if (h)
		assert_true(fake_host_free(h));
	assert_int_equal(hwt_alloc_live(), live);
	return fired;
}

static void each_one_once(void **state)
{
	unsigned int n = 1;

	while (run_with_failure(n))
		n++;
	assert_true(n > 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_one_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
