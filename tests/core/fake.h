/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host and a trace unit for the tests of core: targets, threads, CPUs and
 * device nodes are table entries; a unit is a byte count that the test moves.
 */
#ifndef TESTS_CORE_FAKE_H
#define TESTS_CORE_FAKE_H

#include "core/hwt_core.h"

#define FAKE_CPUS	4
#define FAKE_UNITS	32
#define FAKE_TARGETS	16
#define FAKE_THREADS	64
#define FAKE_NODES	4096
#define FAKE_PAGE	4096u
#define FAKE_OWNER	1000u		/* the default caller */

/* Configuration of the backend "fake". */
struct fake_config {
	uint64_t	value;
	uint64_t	flags;
};
#define FAKE_LACKS	0x1u	/* -EOPNOTSUPP */
#define FAKE_ROOT	0x2u	/* -EPERM without perfmon */
#define FAKE_BAD	0x4u	/* -EINVAL */
#define FAKE_VERSION	1

struct fake_svc {
	int		buf_id;
	int		reserved;
	uint64_t	tail;
};

/* What the backend remembers of a buffer (hwt_buffer.priv). */
struct fake_area {
	uint64_t	config;		/* as of the last set_config */
	uint64_t	programmed;	/* as of the last switch_in */
	uint64_t	pos;		/* saved position, bytes */
	uint64_t	seen;		/* of it in the sink's head */
	uint32_t	marks;		/* a sink's that are taken, bits */
	int		ins, outs, fresh, configs;
	int		unit;		/* -1: saved */
};

struct fake_unit {
	struct hwt_buffer *buffer;
	uint64_t	pos;
};

struct fake_thread {
	int		tid;
	int		unit;		/* -1: off its CPU */
};

struct fake_target {
	int		pid;
	bool		dead, forbidden;
	int		refs;
	int		nthreads;
	struct fake_thread threads[FAKE_THREADS];
};

#define FAKE_CODE	0x5000ull	/* the kernel's code */
#define FAKE_CODE_LEN	100u

struct fake_node {
	char			name[32];
	struct hwt_context	*ctx;
	struct hwt_buffer	*buffer;
};

struct fake_host {
	struct hwt_core		*core;
	struct hwt_host_ops	ops;
	struct hwt_bus		bus;
	struct hwt_backend	be;
	pthread_mutex_t		lock;
	struct fake_target	targets[FAKE_TARGETS];
	struct fake_node	*nodes[FAKE_NODES];
	struct fake_unit	units[FAKE_UNITS];
	bool			online[FAKE_CPUS];
	long			pages, events;	/* live */
	unsigned long		signals;	/* event_signal calls */
	unsigned long		wakeups;	/* wakeup callbacks */
	uint64_t		clock;
	int			thread_calls;
	/* Called before thread_call runs or refuses; may use hooks from elsewhere. */
	void			(*in_thread_call)(struct fake_host *h);
	/* Called once a node was made: what runs meanwhile. */
	void			(*in_node_create)(struct fake_host *h);
	/* Called once a unit's interrupt has looked, and before core hears of it. */
	void			(*in_irq)(struct fake_host *h, struct hwt_buffer *b);
	int			kernel_objects;	/* KERNEL records made at ALLOC */
	int			kernel_users;	/* contexts that kernel_done is due for */
	bool			forbid;		/* target_allowed says no */
	int			forbid_after;	/* calls of target_get; 0: never */
};

/* A descriptor of a node. */
struct fake_dev {
	struct fake_host	*host;
	struct hwt_cred		cred;
	struct hwt_context	*ctx;
	struct hwt_buffer	*buffer;
};

/* NULL only when an allocation was made to fail. */
struct fake_host *fake_host_new(bool may_hold);
/* Unloads core, which must be idle; true if nothing leaked. */
bool fake_host_free(struct fake_host *h);

void fake_target_add(struct fake_host *h, int pid, int nthreads);
struct fake_target *fake_target(struct fake_host *h, int pid);
/* The thread goes on or off a unit, and the hook says so. */
void fake_switch_in(struct fake_host *h, int pid, int tid, int unit);
void fake_switch_out(struct fake_host *h, int pid, int tid);
/* The unit writes as much as there is room for; how much. */
uint64_t fake_produce(struct fake_host *h, int unit, uint64_t bytes);
struct fake_area *fake_area(struct hwt_buffer *b);
/* Scope context: so many sources share a buffer, with marks from 1 on. */
#define FAKE_MARKS	3

struct hwt_cred fake_cred(uint64_t owner);
/* "/dev/hwt" or a node's name; -ENOENT. */
int fake_open(struct fake_host *h, const char *name, const struct hwt_cred *cred,
	      struct fake_dev **out);
int fake_open_node(struct fake_host *h, int ident, int d, struct fake_dev **out);
int fake_ioctl(struct fake_dev *dev, unsigned int cmd, void *arg);
void fake_close(struct fake_dev *dev);
int fake_node_count(struct fake_host *h);

/* ALLOC for FAKE_OWNER; the errno, *ident. */
int fake_alloc(struct fake_host *h, int pid, size_t bufsize, int *ident);
int fake_alloc_cpus(struct fake_host *h, unsigned long set, int *ident);
int fake_config(struct fake_dev *dev, uint64_t value, uint64_t flags);
int fake_config2(struct fake_dev *dev, uint32_t pause, bool with_config);
int fake_simple(struct fake_dev *dev, unsigned int cmd);
int fake_wakeup_tid(struct fake_dev *dev, int tid);
int fake_service(struct fake_dev *dev, int buf_id, uint64_t tail);
/* Next record (a copy, in buf): its type, 0 for none, or -errno. */
int fake_record(struct fake_dev *dev, void *buf, uint32_t size);
/* Skips records until one of this type: true, with it in buf. */
bool fake_record_of(struct fake_dev *dev, int type, void *buf, uint32_t size);
/* A hook's place. */
struct hwt_hook_where fake_at(int pid, int tid, int unit);
int fake_mmap(struct fake_host *h, int pid, int tid, uint64_t addr, const char *path);

#endif
