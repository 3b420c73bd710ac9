/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ioctl_table.h"

enum state { NONE, FRESH, CONFIGURED, RUNNING, STOPPED, DEAD, NSTATES };
static const char *const state_names[NSTATES] = {
	"no context", "fresh", "configured", "running", "stopped", "dead",
};

/* A context in a state, and memory for what a request points to. */
struct bench {
	const struct ioctl_host *h;
	enum state	state;
	void		*device, *node;
	int		pid, ident;

	union {
		struct hwt_alloc	alloc;
		struct hwt_start	plain;
		struct hwt_record_get	get;
		struct hwt_record_get2	get2;
		struct hwt_bufptr_get	ptr;
		struct hwt_set_config	config;
		struct hwt_set_config2	config2;
		struct hwt_wakeup_tid	tid;
		struct hwt_query	query;
		struct hwt_svc_buf	svc;
		struct hwt_kernel_read	kernel;
		char			bytes[256];
	} arg;
	struct hwt_record_user_entry entries[4];
	uint64_t	records[1024];
	int		n, out_ident;
	vm_offset_t	offset;
	uint64_t	data;
	char		svc[256];
	char		name[400];
};

#define BAD_POINTER	((void *)16)

static void fill_alloc(struct bench *b)
{
	b->arg.alloc = (struct hwt_alloc){
		.bufsize = 4 * b->h->page,
		.mode = HWT_MODE_THREAD,
		.pid = b->pid,
		.backend_name = b->h->backend,
		.ident = &b->out_ident,
		.kqueue_fd = -1,
	};
}

#define ALLOC_ROW(name, change)                                                          \
	static void alloc_##name(struct bench *b)                                        \
	{                                                                                \
		fill_alloc(b);                                                           \
		change;                                                                  \
	}
ALLOC_ROW(size_0, b->arg.alloc.bufsize = 0)
ALLOC_ROW(size_1, b->arg.alloc.bufsize = 1)
ALLOC_ROW(size_under, b->arg.alloc.bufsize = b->h->page - 1)
ALLOC_ROW(size_over, b->arg.alloc.bufsize = b->h->page + 1)
ALLOC_ROW(size_33g, b->arg.alloc.bufsize = ((size_t)32 << 30) + b->h->page)
ALLOC_ROW(size_huge, b->arg.alloc.bufsize = -b->h->page)
ALLOC_ROW(mode_0, b->arg.alloc.mode = 0)
ALLOC_ROW(mode_3, b->arg.alloc.mode = 3)
ALLOC_ROW(mode_minus, b->arg.alloc.mode = -1)
ALLOC_ROW(pid_0, b->arg.alloc.pid = 0)
ALLOC_ROW(pid_minus, b->arg.alloc.pid = -1)
ALLOC_ROW(pid_none, b->arg.alloc.pid = 0x3ffffff0)
ALLOC_ROW(backend_none, b->arg.alloc.backend_name = "no-such-backend")
ALLOC_ROW(backend_empty, b->arg.alloc.backend_name = "")
ALLOC_ROW(backend_null, b->arg.alloc.backend_name = NULL)
ALLOC_ROW(backend_bad, b->arg.alloc.backend_name = BAD_POINTER)
ALLOC_ROW(backend_long, b->arg.alloc.backend_name = b->name)
ALLOC_ROW(ident_null, b->arg.alloc.ident = NULL)
ALLOC_ROW(ident_bad, b->arg.alloc.ident = BAD_POINTER)
ALLOC_ROW(event_bad, b->arg.alloc.kqueue_fd = 99999)
ALLOC_ROW(event_minus, b->arg.alloc.kqueue_fd = -2)

static void plain(struct bench *b)
{
	memset(&b->arg, 0xa5, sizeof(b->arg));	/* reserved is never read */
}

static void query_0(struct bench *b)
{
	b->arg.query.index = 0;
}

static void query_many(struct bench *b)
{
	b->arg.query.index = 1000;
}

static void config_good(struct bench *b)
{
	b->arg.config = (struct hwt_set_config){
		.config = (void *)(uintptr_t)b->h->config,
		.config_size = b->h->config_size,
		.config_version = b->h->config_version,
	};
}

#define CONFIG_ROW(name, change)                                                         \
	static void config_##name(struct bench *b)                                       \
	{                                                                                \
		config_good(b);                                                          \
		change;                                                                  \
	}
CONFIG_ROW(short, b->arg.config.config_size--)
CONFIG_ROW(size_0, b->arg.config.config_size = 0)
CONFIG_ROW(larger, b->arg.config.config_size += 1 << 20)
CONFIG_ROW(null, b->arg.config.config = NULL)
CONFIG_ROW(bad, b->arg.config.config = BAD_POINTER)
CONFIG_ROW(version, b->arg.config.config_version = 77)
CONFIG_ROW(refused, b->arg.config.config = (void *)(uintptr_t)b->h->refused)

static void config2_good(struct bench *b)
{
	b->arg.config2 = (struct hwt_set_config2){
		.pause = HWT_PAUSE_EXEC,
		.config = (uintptr_t)b->h->config,
		.config_size = b->h->config_size,
		.config_version = b->h->config_version,
	};
}

#define CONFIG2_ROW(name, change)                                                        \
	static void config2_##name(struct bench *b)                                      \
	{                                                                                \
		config2_good(b);                                                         \
		change;                                                                  \
	}
CONFIG2_ROW(keep, b->arg.config2.config = 0)
CONFIG2_ROW(pause_bad, b->arg.config2.pause = HWT_PAUSE_ALL + 1)
CONFIG2_ROW(reserved, b->arg.config2.reserved = 1)
CONFIG2_ROW(short, b->arg.config2.config_size--)
CONFIG2_ROW(bad, b->arg.config2.config = 16)

static void get_good(struct bench *b)
{
	b->n = 4;
	b->arg.get = (struct hwt_record_get){.records = b->entries, .nentries = &b->n};
}

#define GET_ROW(name, change)                                                            \
	static void get_##name(struct bench *b)                                          \
	{                                                                                \
		get_good(b);                                                             \
		change;                                                                  \
	}
GET_ROW(records_null, b->arg.get.records = NULL)
GET_ROW(records_bad, b->arg.get.records = BAD_POINTER)
GET_ROW(n_null, b->arg.get.nentries = NULL)
GET_ROW(n_bad, b->arg.get.nentries = BAD_POINTER)
GET_ROW(n_0, b->n = 0)
GET_ROW(n_minus, b->n = -1)

static void get2_good(struct bench *b)
{
	b->arg.get2 = (struct hwt_record_get2){
		.buf = (uintptr_t)b->records,
		.size = sizeof(b->records),
	};
}

#define GET2_ROW(name, change)                                                           \
	static void get2_##name(struct bench *b)                                         \
	{                                                                                \
		get2_good(b);                                                            \
		change;                                                                  \
	}
GET2_ROW(flag, b->arg.get2.flags = 2)
GET2_ROW(reserved, b->arg.get2.reserved = 1)
GET2_ROW(size_0, b->arg.get2.size = 0)
GET2_ROW(size_small, b->arg.get2.size = 39)
GET2_ROW(null, b->arg.get2.buf = 0)
GET2_ROW(bad, b->arg.get2.buf = 16)
GET2_ROW(wait, b->arg.get2.flags = HWT_GET_WAIT)

static void ptr_good(struct bench *b)
{
	b->arg.ptr = (struct hwt_bufptr_get){&b->out_ident, &b->offset, &b->data};
}

static void ptr_none(struct bench *b)
{
	memset(&b->arg.ptr, 0, sizeof(b->arg.ptr));
}

#define PTR_ROW(name, change)                                                            \
	static void ptr_##name(struct bench *b)                                          \
	{                                                                                \
		ptr_none(b);                                                             \
		change;                                                                  \
	}
PTR_ROW(ident, b->arg.ptr.ident = BAD_POINTER)
PTR_ROW(offset, b->arg.ptr.offset = BAD_POINTER)
PTR_ROW(data, b->arg.ptr.data = BAD_POINTER)

static void tid_good(struct bench *b)
{
	b->arg.tid = (struct hwt_wakeup_tid){.tid = b->pid};
}

static void tid_none(struct bench *b)
{
	b->arg.tid = (struct hwt_wakeup_tid){.tid = 0x3ffffff0};
}

static void tid_0(struct bench *b)
{
	b->arg.tid = (struct hwt_wakeup_tid){.tid = 0};
}

static void tid_reserved(struct bench *b)
{
	b->arg.tid = (struct hwt_wakeup_tid){.tid = b->pid, .reserved = 1};
}

static void svc(struct bench *b, int buf_id, uint64_t tail)
{
	b->arg.svc.data = b->svc;
	b->arg.svc.data_size = b->h->service(b->svc, buf_id, tail);
	b->arg.svc.data_version = b->h->service_version;
}

#define SVC_ROW(name, id, tail, change)                                                  \
	static void svc_##name(struct bench *b)                                          \
	{                                                                                \
		svc(b, id, tail);                                                        \
		change;                                                                  \
	}
SVC_ROW(good, b->pid, 0, )
SVC_ROW(larger, b->pid, 0, b->arg.svc.data_size += 64)
SVC_ROW(ahead, b->pid, 1ull << 40, )
SVC_ROW(no_buffer, 0x3ffffff0, 0, )
SVC_ROW(version, b->pid, 0, b->arg.svc.data_version = 77)
SVC_ROW(short, b->pid, 0, b->arg.svc.data_size--)
SVC_ROW(size_0, b->pid, 0, b->arg.svc.data_size = 0)
SVC_ROW(null, b->pid, 0, b->arg.svc.data = NULL)
SVC_ROW(bad, b->pid, 0, b->arg.svc.data = BAD_POINTER)

static void kernel_read(struct bench *b)
{
	b->arg.kernel = (struct hwt_kernel_read){.addr = 16, .len = 1,
						 .buf = (uintptr_t)b->records};
}

#define FEWEST	301	/* lines that every host is asked */
#define DEVICE	0x1	/* asked of /dev/hwt; others of the context's node */
#define CHANGES	0x2	/* may change the state: in a context of its own */
#define REFUSED	0x4	/* only if the host has a configuration to refuse */

/* In no state of this: the row is not for it. */
#define NA	1

struct row {
	unsigned long	request;
	const char	*what;
	void		(*fill)(struct bench *b);
	int		flags;
	int		want[NSTATES];	/* 0 or errno; NA */
};

/* Wanted on a node: no context is no node; the same in all other states. */
#define ALL(e)		{NA, e, e, e, e, e}
#define ALIVE(e, dead)	{NA, e, e, e, e, dead}
/* On the device, whatever the context does. */
#define DEV(e)		{e, NA, NA, NA, NA, NA}

static const struct row rows[] = {
	{HWT_IOC_ALLOC, "size 0", alloc_size_0, DEVICE, DEV(EINVAL)},
	{HWT_IOC_ALLOC, "size 1", alloc_size_1, DEVICE, DEV(EINVAL)},
	{HWT_IOC_ALLOC, "size page - 1", alloc_size_under, DEVICE, DEV(EINVAL)},
	{HWT_IOC_ALLOC, "size page + 1", alloc_size_over, DEVICE, DEV(EINVAL)},
	{HWT_IOC_ALLOC, "size 32G + page", alloc_size_33g, DEVICE, DEV(EINVAL)},
	{HWT_IOC_ALLOC, "size huge", alloc_size_huge, DEVICE, DEV(EINVAL)},
	{HWT_IOC_ALLOC, "mode 0", alloc_mode_0, DEVICE, DEV(EINVAL)},
	{HWT_IOC_ALLOC, "mode 3", alloc_mode_3, DEVICE, DEV(EINVAL)},
	{HWT_IOC_ALLOC, "mode -1", alloc_mode_minus, DEVICE, DEV(EINVAL)},
	{HWT_IOC_ALLOC, "pid 0", alloc_pid_0, DEVICE, DEV(EINVAL)},
	{HWT_IOC_ALLOC, "pid -1", alloc_pid_minus, DEVICE, DEV(EINVAL)},
	{HWT_IOC_ALLOC, "no such pid", alloc_pid_none, DEVICE, DEV(ESRCH)},
	{HWT_IOC_ALLOC, "no such backend", alloc_backend_none, DEVICE, DEV(ENODEV)},
	{HWT_IOC_ALLOC, "backend \"\"", alloc_backend_empty, DEVICE, DEV(ENODEV)},
	{HWT_IOC_ALLOC, "backend NULL", alloc_backend_null, DEVICE, DEV(EFAULT)},
	{HWT_IOC_ALLOC, "backend pointer", alloc_backend_bad, DEVICE, DEV(EFAULT)},
	{HWT_IOC_ALLOC, "backend too long", alloc_backend_long, DEVICE, DEV(ENODEV)},
	{HWT_IOC_ALLOC, "ident NULL", alloc_ident_null, DEVICE, DEV(EFAULT)},
	{HWT_IOC_ALLOC, "ident pointer", alloc_ident_bad, DEVICE, DEV(EFAULT)},
	{HWT_IOC_ALLOC, "no such event", alloc_event_bad, DEVICE, DEV(EBADF)},
	{HWT_IOC_ALLOC, "event -2", alloc_event_minus, DEVICE, DEV(EBADF)},
	{HWT_IOC_ALLOC, "again", fill_alloc, DEVICE,
	 {NA, EEXIST, EEXIST, EEXIST, EEXIST, ESRCH}},
	{HWT_IOC_ALLOC, "on a node", fill_alloc, 0, ALL(ENOTTY)},
	{HWT_IOC_QUERY, "first", query_0, DEVICE, DEV(0)},
	{HWT_IOC_QUERY, "beyond", query_many, DEVICE, DEV(ENOENT)},
	{HWT_IOC_QUERY, "on a node", query_0, 0, ALL(ENOTTY)},

	{HWT_IOC_START, "", plain, CHANGES, {NA, EINVAL, 0, EBUSY, 0, ESRCH}},
	{HWT_IOC_STOP, "", plain, CHANGES, {NA, EINVAL, EINVAL, 0, EINVAL, 0}},
	{HWT_IOC_SET_CONFIG, "good", config_good, CHANGES, ALIVE(0, ESRCH)},
	{HWT_IOC_SET_CONFIG, "larger", config_larger, CHANGES, ALIVE(0, ESRCH)},
	{HWT_IOC_SET_CONFIG, "short", config_short, 0, ALIVE(EINVAL, ESRCH)},
	{HWT_IOC_SET_CONFIG, "size 0", config_size_0, 0, ALIVE(EINVAL, ESRCH)},
	{HWT_IOC_SET_CONFIG, "NULL", config_null, 0, ALIVE(EFAULT, ESRCH)},
	{HWT_IOC_SET_CONFIG, "pointer", config_bad, 0, ALIVE(EFAULT, ESRCH)},
	{HWT_IOC_SET_CONFIG, "version", config_version, 0, ALIVE(EINVAL, ESRCH)},
	{HWT_IOC_SET_CONFIG, "unsupported", config_refused, REFUSED,
	 ALIVE(EOPNOTSUPP, ESRCH)},
	{HWT_IOC_SET_CONFIG2, "good", config2_good, CHANGES, ALIVE(0, ESRCH)},
	{HWT_IOC_SET_CONFIG2, "keep", config2_keep, CHANGES, ALIVE(0, ESRCH)},
	{HWT_IOC_SET_CONFIG2, "pause", config2_pause_bad, 0, ALIVE(EINVAL, ESRCH)},
	{HWT_IOC_SET_CONFIG2, "reserved", config2_reserved, 0, ALL(EINVAL)},
	{HWT_IOC_SET_CONFIG2, "short", config2_short, 0, ALIVE(EINVAL, ESRCH)},
	{HWT_IOC_SET_CONFIG2, "pointer", config2_bad, 0, ALIVE(EFAULT, ESRCH)},

	/* Records wait here: at least the one of the first thread. */
	{HWT_IOC_RECORD_GET, "records NULL", get_records_null, 0, ALL(EFAULT)},
	{HWT_IOC_RECORD_GET, "records pointer", get_records_bad, 0, ALL(EFAULT)},
	{HWT_IOC_RECORD_GET, "n NULL", get_n_null, 0, ALL(EFAULT)},
	{HWT_IOC_RECORD_GET, "n pointer", get_n_bad, 0, ALL(EFAULT)},
	{HWT_IOC_RECORD_GET, "n 0", get_n_0, 0, ALL(EINVAL)},
	{HWT_IOC_RECORD_GET, "n -1", get_n_minus, 0, ALL(EINVAL)},
	{HWT_IOC_RECORD_GET2, "flag", get2_flag, 0, ALL(EINVAL)},
	{HWT_IOC_RECORD_GET2, "reserved", get2_reserved, 0, ALL(EINVAL)},
	{HWT_IOC_RECORD_GET2, "size 0", get2_size_0, 0, ALL(EINVAL)},
	{HWT_IOC_RECORD_GET2, "size 39", get2_size_small, 0, ALL(EINVAL)},
	{HWT_IOC_RECORD_GET2, "NULL", get2_null, 0, ALL(EFAULT)},
	{HWT_IOC_RECORD_GET2, "pointer", get2_bad, 0, ALL(EFAULT)},
	{HWT_IOC_RECORD_GET2, "wait", get2_wait, CHANGES, ALL(0)},
	{HWT_IOC_RECORD_GET2, "good", get2_good, CHANGES, ALL(0)},
	{HWT_IOC_RECORD_GET, "good", get_good, CHANGES, ALL(0)},

	{HWT_IOC_BUFPTR_GET, "none", ptr_none, 0, ALL(0)},
	{HWT_IOC_BUFPTR_GET, "good", ptr_good, 0, ALL(0)},
	{HWT_IOC_BUFPTR_GET, "ident", ptr_ident, 0, ALL(EFAULT)},
	{HWT_IOC_BUFPTR_GET, "offset", ptr_offset, 0, ALL(EFAULT)},
	{HWT_IOC_BUFPTR_GET, "data", ptr_data, 0, ALL(EFAULT)},
	{HWT_IOC_POSITION_GET, "", plain, 0, ALL(0)},
	{HWT_IOC_WAKEUP, "", plain, 0, ALL(0)},
	{HWT_IOC_WAKEUP_TID, "good", tid_good, 0, ALIVE(0, ESRCH)},
	{HWT_IOC_WAKEUP_TID, "none", tid_none, 0, ALL(ESRCH)},
	{HWT_IOC_WAKEUP_TID, "0", tid_0, 0, ALL(ESRCH)},
	{HWT_IOC_WAKEUP_TID, "reserved", tid_reserved, 0, ALL(EINVAL)},
	{HWT_IOC_SVC_BUF, "good", svc_good, CHANGES, ALL(0)},
	{HWT_IOC_SVC_BUF, "larger", svc_larger, CHANGES, ALL(0)},
	{HWT_IOC_SVC_BUF, "ahead", svc_ahead, 0, ALL(EINVAL)},
	{HWT_IOC_SVC_BUF, "no buffer", svc_no_buffer, 0, ALL(ENOENT)},
	{HWT_IOC_SVC_BUF, "version", svc_version, 0, ALL(EINVAL)},
	{HWT_IOC_SVC_BUF, "short", svc_short, 0, ALL(EINVAL)},
	{HWT_IOC_SVC_BUF, "size 0", svc_size_0, 0, ALL(EINVAL)},
	{HWT_IOC_SVC_BUF, "NULL", svc_null, 0, ALL(EFAULT)},
	{HWT_IOC_SVC_BUF, "pointer", svc_bad, 0, ALL(EFAULT)},

	{HWT_IOC_KERNEL_READ, "thread mode", kernel_read, 0, ALL(EOPNOTSUPP)},

	{_IO(HWT_MAGIC, 0x3f), "unknown", plain, 0, ALL(ENOTTY)},
	{_IO(HWT_MAGIC, 0x3f), "unknown", plain, DEVICE, DEV(ENOTTY)},
	{_IOW(HWT_MAGIC, 0x01, char), "START of another size", plain, 0, ALL(ENOTTY)},
	{_IOW('T', 0x01, struct hwt_start), "foreign", plain, 0, ALL(ENOTTY)},
	{0, "zero", plain, 0, ALL(ENOTTY)},
	{0, "zero", plain, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_START, "on the device", plain, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_STOP, "on the device", plain, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_SET_CONFIG, "on the device", config_good, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_SET_CONFIG2, "on the device", config2_good, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_RECORD_GET, "on the device", get_good, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_RECORD_GET2, "on the device", get2_good, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_BUFPTR_GET, "on the device", ptr_good, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_POSITION_GET, "on the device", plain, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_WAKEUP, "on the device", plain, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_WAKEUP_TID, "on the device", tid_good, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_SVC_BUF, "on the device", svc_good, DEVICE, DEV(ENOTTY)},
	{HWT_IOC_KERNEL_READ, "on the device", kernel_read, DEVICE, DEV(ENOTTY)},
};

static int on_node(struct bench *b, unsigned long request, void (*fill)(struct bench *b))
{
	fill(b);
	return b->h->ioctl(b->h->arg, b->node, request, &b->arg);
}

static int to_state(struct bench *b)
{
	int rc = 0;

	if (b->state >= CONFIGURED)
		rc = on_node(b, HWT_IOC_SET_CONFIG, config_good);
	if (!rc && b->state >= RUNNING)
		rc = on_node(b, HWT_IOC_START, plain);
	if (!rc && b->state == STOPPED)
		rc = on_node(b, HWT_IOC_STOP, plain);
	if (!rc && b->state == DEAD)
		rc = b->h->kill(b->h->arg, b->pid);
	return rc;
}

static void bench_free(struct bench *b)
{
	if (b->node)
		b->h->close(b->h->arg, b->node);
	if (b->device)
		b->h->close(b->h->arg, b->device);
	if (b->pid && b->state != DEAD)
		b->h->kill(b->h->arg, b->pid);
	free(b);
}

/* A target, and unless state is NONE a context for it. */
static struct bench *bench_new(const struct ioctl_host *h, enum state state)
{
	struct bench *b = calloc(1, sizeof(*b));
	char name[40];
	int rc;

	b->h = h;
	b->state = state;
	memset(b->name, 'n', sizeof(b->name) - 1);
	rc = h->open(h->arg, "/dev/hwt", &b->device);
	if (!rc)
		rc = h->spawn(h->arg, &b->pid);
	if (!rc && state != NONE) {
		fill_alloc(b);
		rc = h->ioctl(h->arg, b->device, HWT_IOC_ALLOC, &b->arg);
		b->ident = b->out_ident;
		snprintf(name, sizeof(name), "/dev/hwt_%d_%d", b->ident, b->pid);
		if (!rc)
			rc = h->open(h->arg, name, &b->node);
		if (!rc)
			rc = to_state(b);
	}
	if (!rc)
		return b;
	printf("%s: cannot be set up: %d\n", state_names[state], rc);
	bench_free(b);
	return NULL;
}

static int row_check(struct bench *b, const struct row *r)
{
	int got;

	r->fill(b);
	got = b->h->ioctl(b->h->arg, r->flags & DEVICE ? b->device : b->node, r->request,
			  &b->arg);
	if (got == -r->want[b->state])
		return 0;
	printf("%s: request %#lx, %s: %d instead of %d\n", state_names[b->state], r->request,
	       r->what, got, -r->want[b->state]);
	return 1;
}

static int state_run(const struct ioctl_host *h, enum state state, int *checked)
{
	struct bench *shared = bench_new(h, state), *own;
	int wrong = 0;
	size_t i;

	if (!shared)
		return 1;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].want[state] == NA || (rows[i].flags & REFUSED && !h->refused))
			continue;
		++*checked;
		own = rows[i].flags & CHANGES ? bench_new(h, state) : shared;
		wrong += own ? row_check(own, &rows[i]) : 1;
		if (own && own != shared)
			bench_free(own);
	}
	bench_free(shared);
	return wrong;
}

int ioctl_table_run(const struct ioctl_host *host)
{
	int wrong = 0, checked = 0;
	enum state s;

	for (s = NONE; s < NSTATES; s++)
		wrong += state_run(host, s, &checked);
	return wrong + (checked < FEWEST);
}
