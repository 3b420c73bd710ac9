/* SPDX-License-Identifier: BSD-2-Clause */
/* The ioctls as short calls, for the tests. */
#include <stdlib.h>

#include "fake.h"

static int device_ioctl(struct fake_host *h, unsigned int cmd, void *arg)
{
	struct hwt_cred cred = fake_cred(FAKE_OWNER);

	return hwt_ioctl(h->core, &cred, NULL, NULL, cmd, arg);
}

int fake_alloc(struct fake_host *h, int pid, size_t bufsize, int *ident)
{
	struct hwt_alloc al = {
		.bufsize = bufsize,
		.mode = HWT_MODE_THREAD,
		.pid = pid,
		.backend_name = "fake",
		.ident = ident,
		.kqueue_fd = 3,
	};

	return device_ioctl(h, HWT_IOC_ALLOC, &al);
}

int fake_alloc_cpus(struct fake_host *h, unsigned long set, int *ident)
{
	struct hwt_cred cred = fake_cred(FAKE_OWNER);
	struct hwt_alloc al = {
		.bufsize = 4 * FAKE_PAGE,
		.mode = HWT_MODE_CPU,
		.cpu_map = (cpuset_t *)(void *)&set,
		.cpusetsize = sizeof(set),
		.backend_name = "fake",
		.ident = ident,
		.kqueue_fd = -1,
	};

	cred.perfmon = true;
	return hwt_ioctl(h->core, &cred, NULL, NULL, HWT_IOC_ALLOC, &al);
}

int fake_config(struct fake_dev *dev, uint64_t value, uint64_t flags)
{
	struct fake_config config = {value, flags};
	struct hwt_set_config s = {
		.config = &config,
		.config_size = sizeof(config),
		.config_version = FAKE_VERSION,
	};

	return fake_ioctl(dev, HWT_IOC_SET_CONFIG, &s);
}

int fake_config2(struct fake_dev *dev, uint32_t pause, bool with_config)
{
	struct fake_config config = {0, 0};
	struct hwt_set_config2 s = {
		.pause = pause,
		.config = with_config ? (uintptr_t)&config : 0,
		.config_size = sizeof(config),
		.config_version = FAKE_VERSION,
	};

	return fake_ioctl(dev, HWT_IOC_SET_CONFIG2, &s);
}

int fake_simple(struct fake_dev *dev, unsigned int cmd)
{
	struct hwt_start s = {.reserved = 0x5a5a5a5a};

	return fake_ioctl(dev, cmd, &s);
}

int fake_wakeup_tid(struct fake_dev *dev, int tid)
{
	struct hwt_wakeup_tid w = {.tid = tid};

	return fake_ioctl(dev, HWT_IOC_WAKEUP_TID, &w);
}

int fake_service(struct fake_dev *dev, int buf_id, uint64_t tail)
{
	struct fake_svc svc = {buf_id, -1, tail};
	struct hwt_svc_buf s = {&svc, sizeof(svc), FAKE_VERSION};

	return fake_ioctl(dev, HWT_IOC_SVC_BUF, &s);
}

/* One at a time: the size of the next is learnt from the refusal. */
int fake_record(struct fake_dev *dev, void *buf, uint32_t size)
{
	struct hwt_record_get2 get = {.buf = (uintptr_t)buf};
	struct hwt_rec rec;
	int rc = fake_ioctl(dev, HWT_IOC_RECORD_GET2, &get);

	if (rc != -EINVAL)
		return rc;
	if (get.used > size)
		return -E2BIG;
	get.size = get.used;
	rc = fake_ioctl(dev, HWT_IOC_RECORD_GET2, &get);
	if (rc)
		return rc;
	memcpy(&rec, buf, sizeof(rec));
	return rec.type;
}

bool fake_record_of(struct fake_dev *dev, int type, void *buf, uint32_t size)
{
	int got;

	do
		got = fake_record(dev, buf, size);
	while (got > 0 && got != type);
	return got == type;
}

struct hwt_hook_where fake_at(int pid, int tid, int unit)
{
	struct hwt_hook_where at = {.pid = pid, .tid = tid, .unit = unit};

	return at;
}

int fake_mmap(struct fake_host *h, int pid, int tid, uint64_t addr, const char *path)
{
	struct hwt_hook_where at = fake_at(pid, tid, -1);
	struct hwt_hook_map map = {
		.addr = addr,
		.len = 0x3000,
		.pgoff = 0x1000,
		.ino = 7,
		.dev_major = 8,
		.dev_minor = 1,
		.prot = 5,
		.mapflags = 2,
		.path = path,
	};

	return hwt_hook_mmap(h->core, &at, &map);
}
