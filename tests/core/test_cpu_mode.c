/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU sets, conflicts, kernel objects, start and stop on all. */
#include "fixture.h"

/* A context for the CPUs of `set`, opened at its lowest CPU. */
static struct fixture *cpus_new(unsigned long set, int first)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->h = fake_host_new(false);
	f->h->kernel_objects = 3;
	assert_int_equal(fake_alloc_cpus(f->h, set, &f->ident), 0);
	assert_int_equal(fake_open_node(f->h, f->ident, first, &f->dev), 0);
	return f;
}

static void sets(void **state)
{
	static const struct {
		unsigned long	set;
		int		rc;
	} rows[] = {
		{0x0, -ENODEV},
		{0x8, 0},
		{0xf, 0},
		{0x10, -ENXIO},
		{0x80000000ul, -ENXIO},
		{0x4, -ENXIO},	/* offline below */
	};
	struct fake_host *h;
	size_t i;
	int ident;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		h = fake_host_new(false);
		h->online[2] = rows[i].set != 0x4;
		assert_int_equal(fake_alloc_cpus(h, rows[i].set, &ident), rows[i].rc);
		hwt_owner_exit(h->core, FAKE_OWNER);
		assert_true(fake_host_free(h));
	}
}

static void kernel_objects_in_order(void **state)
{
	struct fixture *f = cpus_new(0x3, 0);
	struct hwt_record_user_entry *e = calloc(1, sizeof(*e));
	int i, n = 1;
	struct hwt_record_get get = {.records = e, .nentries = &n};

	for (i = 0; i < 3; i++) {
		assert_record(f, HWT_REC_KERNEL);
		assert_int_equal(((const struct hwt_rec_kernel *)payload(f))->addr,
				 0x1000 * (i + 1));
	}
	assert_record(f, 0);
	hwt_hook_kernel(f->h->core, f->dev->ctx, 0x9000, 1, "module");
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_RECORD_GET, &get), 0);
	assert_int_equal(e->record_type, HWT_RECORD_KERNEL);
	assert_int_equal(e->addr, 0x9000);
	assert_string_equal(e->fullpath, "module");
	hwt_hook_kernel_new(f->h->core, 0xa000, 2, "later");
	assert_record(f, HWT_REC_KERNEL);
	assert_int_equal(((const struct hwt_rec_kernel *)payload(f))->addr, 0xa000);
	hwt_hook_text_poke(f->h->core, 0x2000, "\x90\x90", 2);
	assert_record(f, HWT_REC_TEXT_POKE);
	assert_int_equal(((const struct hwt_rec_code *)payload(f))->len, 2);
	free(e);
	fixture_free(f);
}

static void kernel_read(void **state)
{
	static const struct {
		uint64_t	addr, len, done;
		int		rc;
	} rows[] = {
		{FAKE_CODE, 16, 16, 0},
		{FAKE_CODE + 90, 16, 10, 0},
		{FAKE_CODE, 0, 0, -EINVAL},
		{FAKE_CODE, HWT_KERNEL_READ_MAX + 1ull, 0, -EINVAL},
		{FAKE_CODE - 1, 16, 0, -ENOENT},
	};
	struct fixture *f = cpus_new(0x3, 0);
	struct hwt_kernel_read r;
	uint8_t bytes[16];
	size_t i, k;

	f->dev->cred.perfmon = true;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = (struct hwt_kernel_read){rows[i].addr, rows[i].len,
					     (uintptr_t)bytes, 0};
		assert_int_equal(fake_ioctl(f->dev, HWT_IOC_KERNEL_READ, &r), rows[i].rc);
		assert_int_equal(r.done, rows[i].done);
		for (k = 0; k < r.done; k++)
			assert_int_equal(bytes[k], (uint8_t)(rows[i].addr + k));
	}
	r = (struct hwt_kernel_read){FAKE_CODE, 16, 16, 0};
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_KERNEL_READ, &r), -EFAULT);
	r.buf = (uintptr_t)bytes;
	f->dev->cred.perfmon = false;
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_KERNEL_READ, &r), -EPERM);
	f->h->ops.kernel_read = NULL;
	assert_int_equal(fake_ioctl(f->dev, HWT_IOC_KERNEL_READ, &r), -EOPNOTSUPP);
	fixture_free(f);
}

static void conflicts(void **state)
{
	struct fixture *f = cpus_new(0x3, 0);
	int ident;

	fake_target_add(f->h, PID, 1);
	assert_int_equal(fake_alloc_cpus(f->h, 0x6, &ident), -EBUSY);
	assert_int_equal(fake_alloc(f->h, PID, BUFSIZE, &ident), -EBUSY);
	assert_int_equal(fake_alloc_cpus(f->h, 0xc, &ident), 0);
	assert_int_equal(fake_node_count(f->h), 4);
	fake_close(f->dev);
	f->dev = NULL;
	/* What was refused above left nothing behind. */
	assert_int_equal(fake_alloc_cpus(f->h, 0x3, &ident), 0);
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	assert_int_equal(fake_alloc(f->h, PID, BUFSIZE, &ident), 0);
	assert_int_equal(fake_alloc_cpus(f->h, 0x1, &ident), -EBUSY);
	hwt_owner_exit(f->h->core, FAKE_OWNER);
	fixture_free(f);
}

static void start_and_stop_on_all(void **state)
{
	struct fixture *f = cpus_new(0xa, 1);
	const struct hwt_rec_buffer *b;
	struct hwt_cred cred = fake_cred(FAKE_OWNER);

	cred.perfmon = true;
	f->dev->cred = cred;
	start(f);
	drain(f);
	assert_non_null(f->h->units[1].buffer);
	assert_non_null(f->h->units[3].buffer);
	assert_null(f->h->units[0].buffer);
	assert_int_equal(fake_area(f->h->units[3].buffer)->programmed, 1);
	fake_produce(f->h, 3, 40);
	assert_int_equal(hwt_hook_irq(f->h->core, 1, 1, 3), HWT_IRQ_PROGRESS);
	assert_record(f, HWT_REC_BUFFER);
	b = payload(f);
	assert_int_equal(head(f)->cpu, 3);
	assert_int_equal(head(f)->tid, 0);
	assert_int_equal(b->buf_id, 3);
	assert_int_equal(b->head, 40);
	assert_int_equal(fake_config(f->dev, 5, 0), 0);
	assert_int_equal(fake_area(f->h->units[1].buffer)->programmed, 5);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_STOP), 0);
	assert_null(f->h->units[1].buffer);
	assert_null(f->h->units[3].buffer);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_WAKEUP), -EOPNOTSUPP);
	assert_int_equal(fake_wakeup_tid(f->dev, 1), -EOPNOTSUPP);
	assert_int_equal(fake_config2(f->dev, HWT_PAUSE_MMAP, true), -EOPNOTSUPP);
	fixture_free(f);
}

static void a_cpu_goes_offline(void **state)
{
	struct fixture *f = cpus_new(0x3, 0);

	assert_int_equal(fake_config(f->dev, 1, 0), 0);
	f->h->online[1] = false;
	/* All or none. */
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), -ENXIO);
	assert_null(f->h->units[0].buffer);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_STOP), -EINVAL);
	f->h->online[1] = true;
	assert_int_equal(fake_simple(f->dev, HWT_IOC_START), 0);
	/* It takes its unit along. */
	f->h->online[1] = false;
	f->h->units[1].buffer = NULL;
	fixture_free(f);
}

static void a_cpu_comes_back(void **state)
{
	struct fixture *f = cpus_new(0x3, 0);
	const struct hwt_rec_buffer *b;
	struct hwt_buffer *buffer;

	start(f);
	drain(f);
	buffer = f->h->units[1].buffer;
	fake_produce(f->h, 1, 24);
	hwt_hook_cpu_offline(f->h->core, 1);
	f->h->online[1] = false;
	assert_null(f->h->units[1].buffer);
	assert_non_null(f->h->units[0].buffer);
	assert_record(f, HWT_REC_BUFFER);
	b = payload(f);
	assert_int_equal(b->buf_id, 1);
	assert_int_equal(b->head, 24);
	f->h->online[1] = true;
	hwt_hook_cpu_online(f->h->core, 1);
	assert_ptr_equal(f->h->units[1].buffer, buffer);
	assert_int_equal(fake_area(buffer)->fresh, 2);
	/* A CPU of nobody's. */
	hwt_hook_cpu_offline(f->h->core, 2);
	hwt_hook_cpu_online(f->h->core, 2);
	assert_null(f->h->units[2].buffer);
	assert_int_equal(fake_simple(f->dev, HWT_IOC_STOP), 0);
	hwt_hook_cpu_offline(f->h->core, 1);
	hwt_hook_cpu_online(f->h->core, 1);
	assert_null(f->h->units[1].buffer);
	fixture_free(f);
}

static void interrupts_of_a_full_cpu(void **state)
{
	struct fixture *f = cpus_new(0x1, 0);

	assert_int_equal(fake_service(f->dev, 0, 0), 0);
	start(f);
	fake_produce(f->h, 0, BUFSIZE);
	assert_int_equal(hwt_hook_irq(f->h->core, 1, 1, 0),
			 HWT_IRQ_PROGRESS | HWT_IRQ_FULL);
	assert_int_equal(hwt_hook_irq_resume(f->h->core, 1, 1, 0), -EAGAIN);
	assert_int_equal(fake_service(f->dev, 0, BUFSIZE), 0);
	assert_int_equal(fake_produce(f->h, 0, 9), 9);
	fixture_free(f);
}

static void privilege_and_sizes(void **state)
{
	struct fake_host *h = fake_host_new(false);
	struct hwt_cred cred = fake_cred(FAKE_OWNER);
	unsigned long set[2] = {1, 0};
	int ident;
	struct hwt_alloc al = {
		.bufsize = FAKE_PAGE,
		.mode = HWT_MODE_CPU,
		.cpu_map = (cpuset_t *)(void *)set,
		.cpusetsize = sizeof(set),
		.backend_name = "fake",
		.ident = &ident,
		.kqueue_fd = -1,
	};
#define ALLOC() hwt_ioctl(h->core, &cred, NULL, NULL, HWT_IOC_ALLOC, &al)
	assert_int_equal(ALLOC(), -EPERM);
	cred.perfmon = true;
	al.cpusetsize = 0;
	assert_int_equal(ALLOC(), -EINVAL);
	al.cpusetsize = 3;
	assert_int_equal(ALLOC(), -EINVAL);
	al.cpusetsize = SIZE_MAX & ~(size_t)7;
	assert_int_equal(ALLOC(), -EINVAL);
	al.cpusetsize = sizeof(set);
	al.cpu_map = NULL;
	assert_int_equal(ALLOC(), -EFAULT);
	al.cpu_map = (cpuset_t *)(void *)set;
	set[1] = 1;
	assert_int_equal(ALLOC(), -ENXIO);
	set[1] = 0;
	assert_int_equal(ALLOC(), 0);
#undef ALLOC
	hwt_owner_exit(h->core, FAKE_OWNER);
	assert_true(fake_host_free(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets),
		cmocka_unit_test(kernel_objects_in_order),
		cmocka_unit_test(kernel_read),
		cmocka_unit_test(conflicts),
		cmocka_unit_test(start_and_stop_on_all),
		cmocka_unit_test(a_cpu_goes_offline),
		cmocka_unit_test(a_cpu_comes_back),
		cmocka_unit_test(interrupts_of_a_full_cpu),
		cmocka_unit_test(privilege_and_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
