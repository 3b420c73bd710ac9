/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core under any sequence of ioctls, hooks and failing allocations: bytes are
 * operations and their arguments.  Two owners, four processes of four threads,
 * each thread with a unit of its own, and CPUs.  In the end everything is freed,
 * no unit points at freed pages, and what was fetched are whole records.
 */
#include "fuzz.h"
#include "tests/core/fake.h"

#include <stdlib.h>
#include <string.h>

#define NPROCS	4
#define NTHREADS 4
#define NDEVS	8
#define PID(i)	(100 + 10 * (int)(i))
#define TID(i, j) (PID(i) + (int)(j))
#define UNIT(i, j) (FAKE_CPUS + NTHREADS * (int)(i) + (int)(j))

struct run {
	const uint8_t		*data;
	size_t			left;
	struct fake_host	*h;
	struct fake_dev		*devs[NDEVS];
	uint64_t		buffer[1024];
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static uint8_t byte(struct run *r)
{
	if (!r->left)
		return 0;
	r->left--;
	return *r->data++;
}

static uint64_t number(struct run *r)
{
	static const uint64_t special[] = {
		0, 1, 2, FAKE_PAGE - 1, FAKE_PAGE, FAKE_PAGE + 1, 4 * FAKE_PAGE,
		(uint64_t)32 << 30, ((uint64_t)32 << 30) + FAKE_PAGE, UINT32_MAX,
		INT64_MAX, UINT64_MAX,
	};
	uint8_t b = byte(r);

	return b < 128 ? b : special[b % (sizeof(special) / sizeof(special[0]))];
}

/* An address: nearly always a good one, since others must not be written to. */
static void *pointer(struct run *r, void *good)
{
	uint8_t b = byte(r);

	return b == 255 ? NULL : b == 254 ? (void *)16 : good;
}

static int any_tid(struct run *r)
{
	int p = byte(r) % NPROCS;

	return TID(p, byte(r) % NTHREADS);
}

static struct hwt_cred cred(struct run *r)
{
	uint8_t b = byte(r);
	struct hwt_cred c = fake_cred(b & 1 ? 2000 : FAKE_OWNER);

	c.perfmon = b & 2;
	return c;
}

static void op_alloc(struct run *r)
{
	unsigned long set[2] = {number(r), 0};
	struct hwt_cred c = cred(r);
	int ident = -1;
	struct hwt_alloc al = {
		.bufsize = byte(r) & 1 ? number(r) : 2 * FAKE_PAGE,
		.mode = byte(r) % 4,
		.pid = PID(byte(r) % NPROCS),
		.cpu_map = pointer(r, set),
		.cpusetsize = byte(r) & 1 ? sizeof(set) : byte(r) % sizeof(set),
		.backend_name = pointer(r, "fake"),
		.ident = pointer(r, &ident),
		.kqueue_fd = (int)(byte(r) % 4) - 2,
	};

	hwt_ioctl(r->h->core, &c, NULL, NULL, HWT_IOC_ALLOC, &al);
}

static void op_open(struct run *r)
{
	struct fake_dev **slot = &r->devs[byte(r) % NDEVS];
	struct hwt_cred c = cred(r);
	struct fake_node *n;
	int i, skip = byte(r) % 8;

	if (*slot)
		return;
	for (i = 0; i < FAKE_NODES; i++) {
		n = r->h->nodes[i];
		if (!n || skip-- > 0)
			continue;
		if (fake_open(r->h, n->name, &c, slot))
			*slot = NULL;
		return;
	}
}

static void op_close(struct run *r)
{
	struct fake_dev **slot = &r->devs[byte(r) % NDEVS];

	if (!*slot)
		return;
	hwt_buffer_idle(r->h->core, (*slot)->ctx, (*slot)->buffer);
	fake_close(*slot);
	*slot = NULL;
}

static void records_check(const void *buffer, uint32_t used, uint32_t size)
{
	struct hwt_rec rec;
	uint32_t at;

	require(used <= size);
	for (at = 0; at < used; at += rec.size) {
		require(used - at >= sizeof(rec));
		memcpy(&rec, (const char *)buffer + at, sizeof(rec));
		require(rec.size % 8 == 0 && rec.size >= sizeof(rec));
		require(rec.size <= used - at);
		require(rec.type > 0 && rec.type < HWT_REC_TYPE_MAX);
	}
}

static void dev_get2(struct run *r, struct fake_dev *d)
{
	struct hwt_record_get2 get = {
		.buf = (uintptr_t)pointer(r, r->buffer),
		.size = byte(r) & 1 ? byte(r) : sizeof(r->buffer),
		.flags = byte(r) & 6,	/* nobody else is there to end a wait */
		.reserved = byte(r) == 1,
	};

	if (!fake_ioctl(d, HWT_IOC_RECORD_GET2, &get))
		records_check(r->buffer, get.used, get.size);
}

static void dev_get(struct run *r, struct fake_dev *d)
{
	static struct hwt_record_user_entry entries[4];
	int n = (int)(byte(r) % 6) - 1, room;
	struct hwt_record_get get = {
		.records = pointer(r, entries), .nentries = pointer(r, &n)};

	n = n > 4 ? 4 : n;
	room = n;
	if (!fake_ioctl(d, HWT_IOC_RECORD_GET, &get))
		require(n >= 0 && n <= room);
}

static void dev_config(struct run *r, struct fake_dev *d)
{
	struct fake_config config = {byte(r), byte(r) % 8};
	struct hwt_set_config s = {
		.pause_on_mmap = byte(r) & 1,
		.config = pointer(r, &config),
		.config_size = byte(r) & 1 ? number(r) : sizeof(config),
		.config_version = byte(r) % 16 ? FAKE_VERSION : 7,
	};

	fake_ioctl(d, HWT_IOC_SET_CONFIG, &s);
}

static void dev_config2(struct run *r, struct fake_dev *d)
{
	struct fake_config config = {byte(r), 0};
	struct hwt_set_config2 s = {
		.pause = byte(r) % 10,
		.config = byte(r) & 1 ? (uintptr_t)&config : 0,
		.config_size = sizeof(config),
		.config_version = FAKE_VERSION,
		.reserved = byte(r) == 1,
	};

	fake_ioctl(d, HWT_IOC_SET_CONFIG2, &s);
}

static void dev_service(struct run *r, struct fake_dev *d)
{
	struct fake_svc svc = {
		.buf_id = byte(r) & 1 ? any_tid(r) : byte(r) % 5,
		.tail = number(r),
	};
	struct hwt_svc_buf s = {
		.data = pointer(r, &svc),
		.data_size = byte(r) & 1 ? byte(r) : sizeof(svc),
		.data_version = byte(r) % 16 ? FAKE_VERSION : 7,
	};

	fake_ioctl(d, HWT_IOC_SVC_BUF, &s);
}

static void dev_bufptr(struct run *r, struct fake_dev *d)
{
	uint64_t data = 0;
	vm_offset_t offset = 0;
	int ident;
	struct hwt_bufptr_get ptr = {
		pointer(r, &ident), pointer(r, &offset), pointer(r, &data)};

	fake_ioctl(d, HWT_IOC_BUFPTR_GET, &ptr);
}

static void dev_plain(struct run *r, struct fake_dev *d)
{
	static const unsigned int cmds[] = {HWT_IOC_START, HWT_IOC_STOP, HWT_IOC_WAKEUP};

	fake_simple(d, cmds[byte(r) % 3]);
}

static void dev_wakeup_tid(struct run *r, struct fake_dev *d)
{
	fake_wakeup_tid(d, any_tid(r));
}

/* Any request with any bytes that hold no pointers. */
static void dev_unknown(struct run *r, struct fake_dev *d)
{
	char zero[sizeof(struct hwt_query)] = {0};

	fake_ioctl(d, (unsigned int)number(r) << 16 | HWT_MAGIC << 8 | byte(r), zero);
}

static void dev_mmap(struct run *r, struct fake_dev *d)
{
	struct hwt_pages *pages = NULL;
	uint64_t offset = number(r), length = number(r);

	if (hwt_node_mmap(r->h->core, &d->cred, d->ctx, d->buffer, offset, length,
			  byte(r) & 1, &pages))
		return;
	require(pages && offset + length <= pages->npages * FAKE_PAGE);
}

static void op_dev(struct run *r)
{
	static void (*const calls[])(struct run *r, struct fake_dev *d) = {
		dev_get2, dev_get, dev_config, dev_config2, dev_service, dev_bufptr,
		dev_plain, dev_wakeup_tid, dev_unknown, dev_mmap, dev_plain, dev_get2,
	};
	struct fake_dev *d = r->devs[byte(r) % NDEVS];
	uint8_t call = byte(r) % (sizeof(calls) / sizeof(calls[0]));

	if (d)
		calls[call](r, d);
}

/* The unit of a thread goes with it. */
static void threads_gone(struct run *r, int proc, bool keep_leader)
{
	struct fake_target *t = fake_target(r->h, PID(proc));
	int i;

	for (i = keep_leader; t && i < t->nthreads; i++)
		t->threads[i].unit = -1;
}

static void op_switch(struct run *r)
{
	int p = byte(r) % NPROCS, t = byte(r) % NTHREADS;

	if (byte(r) & 1)
		fake_switch_in(r->h, PID(p), TID(p, t), UNIT(p, t));
	else
		fake_switch_out(r->h, PID(p), TID(p, t));
}

static void op_unit(struct run *r)
{
	int p = byte(r) % NPROCS, t = byte(r) % NTHREADS;
	int unit = byte(r) & 1 ? UNIT(p, t) : byte(r) % FAKE_CPUS;

	fake_produce(r->h, unit, number(r) % (8 * FAKE_PAGE));
	hwt_hook_irq(r->h->core, PID(p), TID(p, t), unit);
	if (unit >= FAKE_CPUS && fake_target(r->h, PID(p))->threads[t].unit == unit)
		hwt_hook_irq_resume(r->h->core, PID(p), TID(p, t), unit);
}

static void op_thread(struct run *r)
{
	int p = byte(r) % NPROCS, t = byte(r) % NTHREADS;
	struct hwt_hook_where at = fake_at(PID(p), TID(p, t), -1);
	struct fake_thread *thr = &fake_target(r->h, PID(p))->threads[t];

	if (byte(r) & 1) {
		thr->unit = UNIT(p, t);
		hwt_hook_thread_create(r->h->core, &at, TID(p, t), UNIT(p, t));
	} else {
		thr->unit = -1;
		hwt_hook_thread_exit(r->h->core, &at, byte(r));
		/* Dead threads are not scheduled, also if the exit was refused. */
		hwt_hook_switch_out(r->h->core, PID(p), TID(p, t), UNIT(p, t));
	}
}

static void op_process(struct run *r)
{
	int p = byte(r) % NPROCS, t = byte(r) % NTHREADS;
	struct hwt_hook_where at = fake_at(PID(p), PID(p), -1);

	if (byte(r) & 1) {
		threads_gone(r, p, true);
		at.unit = fake_target(r->h, PID(p))->threads[0].unit;
		hwt_hook_exec(r->h->core, &at, TID(p, t), "/bin/next", number(r), 0);
	} else {
		threads_gone(r, p, false);
		hwt_hook_exit(r->h->core, &at, byte(r));
	}
}

static void op_map(struct run *r)
{
	int p = byte(r) % NPROCS, t = byte(r) % NTHREADS, n = byte(r);
	struct hwt_hook_where at = fake_at(PID(p), TID(p, t), -1);
	struct hwt_core *core = r->h->core;
	uint64_t addr = number(r);

	switch (n % 7) {
	case 0:
		hwt_hook_munmap(core, &at, addr, number(r));
		break;
	case 1:
		hwt_hook_mprotect(core, &at, addr, number(r), byte(r));
		break;
	case 2:
		hwt_hook_thread_name(core, &at, "name");
		break;
	case 3:
		hwt_hook_generation(core, &at, addr);
		break;
	case 4:
		hwt_hook_code(core, &at, addr, r->buffer, number(r) % sizeof(r->buffer));
		break;
	default:
		while (n-- > 0 && fake_mmap(r->h, PID(p), TID(p, t), addr, "/lib/x") >= 0)
			;
		break;
	}
}

static void op_fork(struct run *r)
{
	int p = byte(r) % NPROCS, c = byte(r) % NPROCS;
	struct hwt_hook_where at = fake_at(PID(p), PID(p), -1);

	hwt_hook_fork(r->h->core, &at, PID(c), PID(c));
	hwt_hook_is_paused(r->h->core, PID(c), PID(c));
}

static void op_owner(struct run *r)
{
	hwt_owner_exit(r->h->core, byte(r) & 1 ? 2000 : FAKE_OWNER);
}

static void op_fail(struct run *r)
{
	hwt_fault_arm(byte(r) % 32);
}

static void op_cpu(struct run *r)
{
	uint8_t b = byte(r);

	if (b & 0x80)
		hwt_hook_text_poke(r->h->core, number(r), r->buffer, byte(r));
	else
		r->h->kernel_objects = b % 4;
}

static void run(struct run *r)
{
	static void (*const ops[])(struct run *r) = {
		op_alloc, op_open, op_close, op_dev, op_dev, op_dev, op_switch, op_unit,
		op_thread, op_process, op_map, op_fork, op_owner, op_fail, op_cpu, op_dev,
	};

	while (r->left)
		ops[byte(r) % (sizeof(ops) / sizeof(ops[0]))](r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct run r;
	long live = hwt_alloc_live();
	int i;

	if (!size || size > 4096)
		return 0;
	memset(&r, 0, sizeof(r));
	r.h = fake_host_new(data[0] & 1);
	if (r.h && data[0] & 2)
		r.h->be.scope = HWT_SCOPE_CONTEXT;
	r.data = data + 1;
	r.left = size - 1;
	for (i = 0; i < NPROCS; i++)
		fake_target_add(r.h, PID(i), NTHREADS);
	run(&r);
	hwt_fault_arm(0);
	for (i = 0; i < NDEVS; i++)
		if (r.devs[i])
			fake_close(r.devs[i]);
	hwt_owner_exit(r.h->core, FAKE_OWNER);
	hwt_owner_exit(r.h->core, 2000);
	/* Those that were away come back once more, so that no unit runs on. */
	for (i = 0; i < NPROCS * NTHREADS; i++)
		hwt_hook_switch_out(r.h->core, PID(i / NTHREADS),
				    TID(i / NTHREADS, i % NTHREADS),
				    UNIT(i / NTHREADS, i % NTHREADS));
	require(fake_host_free(r.h));
	require(hwt_alloc_live() == live);
	return 0;
}
