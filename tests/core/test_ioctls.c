/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of the contract, against core on the fake host. */
#include <stdio.h>

#include "fixture.h"
#include "ioctl_table.h"

struct table_host {
	struct fake_host	*h;
	int			next_pid;
};

static int t_open(void *arg, const char *name, void **dev)
{
	struct table_host *t = arg;
	struct hwt_cred cred = fake_cred(FAKE_OWNER);
	struct fake_dev *d = NULL;
	int rc = fake_open(t->h, name, &cred, &d);

	*dev = d;
	return rc;
}

static int t_ioctl(void *arg, void *dev, unsigned long request, void *data)
{
	return fake_ioctl(dev, request, data);
}

static void t_close(void *arg, void *dev)
{
	fake_close(dev);
}

static int t_spawn(void *arg, int *pid)
{
	struct table_host *t = arg;

	*pid = ++t->next_pid;
	fake_target_add(t->h, *pid, 1);
	fake_switch_in(t->h, *pid, *pid, *pid % FAKE_UNITS);
	return 0;
}

static int t_kill(void *arg, int pid)
{
	struct table_host *t = arg;
	struct fake_target *target = fake_target(t->h, pid);
	struct hwt_hook_where at = fake_at(pid, pid, pid % FAKE_UNITS);

	target->dead = true;
	hwt_hook_exit(t->h->core, &at, 0);
	return 0;
}

static size_t t_service(void *data, int buf_id, uint64_t tail)
{
	struct fake_svc svc = {buf_id, 0, tail};

	memcpy(data, &svc, sizeof(svc));
	return sizeof(svc);
}

static void table(bool may_hold)
{
	static const struct fake_config good = {1, 0}, lacks = {1, FAKE_LACKS};
	struct table_host t = {fake_host_new(may_hold), 100};
	struct ioctl_host host = {
		.arg = &t,
		.backend = "fake",
		.page = FAKE_PAGE,
		.open = t_open, .ioctl = t_ioctl, .close = t_close,
		.spawn = t_spawn, .kill = t_kill,
		.config = &good, .config_size = sizeof(good), .config_version = FAKE_VERSION,
		.refused = &lacks,
		.service = t_service,
		.service_version = FAKE_VERSION,
	};

	assert_int_equal(ioctl_table_run(&host), 0);
	hwt_owner_exit(t.h->core, FAKE_OWNER);
	assert_true(fake_host_free(t.h));
}

static void every_request_in_every_state(void **state)
{
	table(false);
}

static void also_where_threads_are_held(void **state)
{
	table(true);
}

/* What only another process or another host can bring about. */
static void by_whom(void **state)
{
	struct fixture *f = fixture_new(false, 1);
	struct hwt_cred cred = fake_cred(2000);
	struct fake_dev *foreign;
	int ident;

	fake_target_add(f->h, 300, 1);
	fake_target(f->h, 300)->forbidden = true;
	assert_int_equal(fake_alloc(f->h, 300, BUFSIZE, &ident), -EPERM);
	/* It became another program while ALLOC looked. */
	fake_target_add(f->h, 301, 1);
	f->h->forbid_after = 2;
	assert_int_equal(fake_alloc(f->h, 301, BUFSIZE, &ident), -EPERM);
	assert_int_equal(f->h->forbid_after, 0);
	assert_int_equal(fake_target(f->h, 301)->refs, 0);
	assert_int_equal(fake_config(f->dev, 1, FAKE_ROOT), -EPERM);
	f->h->be.modes = 1u << HWT_MODE_CPU;
	assert_int_equal(fake_alloc(f->h, 300, BUFSIZE, &ident), -EOPNOTSUPP);
	assert_int_equal(fake_open(f->h, "/dev/hwt_0_0", &cred, &foreign), 0);
	assert_int_equal(fake_simple(foreign, HWT_IOC_START), -EPERM);
	fake_close(foreign);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_request_in_every_state),
		cmocka_unit_test(also_where_threads_are_held),
		cmocka_unit_test(by_whom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
