/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The embedded host: core and backends inside the hwt process, targets under
 * QEMU with the vtu plugin.
 *
 *   dram.c     the units' memory
 *   blocks.c   window blocks: parking, release, doorbells
 *   targets.c  processes of the traced tree, their birth and death
 *   hooks.c    what a parked vCPU says, handed to core
 *   service.c  the one thread that answers hooks
 *   hostops.c  core's host contract
 *   spawn.c    starting a program under the plugin
 *   technologies.c  drivers and the kinds of units that they drive
 *   devices.c  hwt(4)'s nodes by name
 *
 * Locks.  `lock` guards targets, blocks' host-side state and nodes; it is
 * never held while core is called.  Core's locks come first, then `lock`.
 */
#ifndef EMBEDDED_EMBEDDED_H
#define EMBEDDED_EMBEDDED_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#include <hwt/libhwt.h>
#include "../../backends/coresight/cs_backend.h"
#include "../../core/hwt_core.h"
#include "../../vtu/bus.h"
#include "dram.h"

struct embedded;
struct target;

/* Why a vCPU is kept in its hook; looked at again whenever something changed. */
enum hold {
	HOLD_NONE,
	HOLD_ATTACH,		/* until hwt_target_run */
	HOLD_PAUSE,		/* until WAKEUP */
	HOLD_ROOM,		/* until records were fetched: the hook is called again */
	HOLD_IRQ,		/* until SVC_BUF made room */
	HOLD_PIN,		/* until the last thread_call is done with it */
};

/* Host's side of a window block. */
struct block {
	struct target	*target;	/* NULL: not in use */
	int		pid, tid;
	int		unit;
	bool		parked;		/* in a hook, not yet released */
	bool		dead;		/* its process is gone: doorbells are void */
	bool		deferred;	/* something waits for its next park */
	bool		exited;		/* THREAD_EXIT was told to core */
	bool		turned_away;	/* of a process that goes on untraced: no target */
	int		pins;		/* thread_calls that need it parked */
	int		users;		/* of what belongs to its unit, without its vCPU */
	enum hold	hold;		/* written by the service thread */
	uint64_t	time;		/* of the hook, the unit's clock */
	int		old_tid;	/* the thread that called execve */
	uint32_t	code_next;	/* piece of a CODE hook to go on at */
};

/* Only the service thread holds and releases; park() looks from others. */
static inline void block_hold(struct block *b, enum hold hold)
{
	__atomic_store_n(&b->hold, hold, __ATOMIC_RELAXED);
}

struct target {
	int		pid, pidfd;
	bool		child;		/* ours: waitpid gives its status */
	bool		ready;		/* its first ATTACH came */
	bool		run;		/* hwt_target_run was called */
	bool		exited;
	bool		know_status;
	int		status;		/* as wait(2) gives it; -1: not known */
	struct timespec	patience;	/* to wait for who reaps it until then; 0: not yet */
	char		*native;	/* executed, and the unit cannot follow; or NULL */
	uint32_t	native_machine;
	int		native_tid;	/* who did; unless it comes back from execve */
	int		refs;
	int		exit_fd;	/* eventfd, readable once it ended; -1: nobody asked */
	struct target	*next;
};

struct node;

struct trace_unit;

/* A kind of trace unit: its driver, and how the window shows it. */
struct technology {
	const char	*backend;
	enum vtu_unit_kind kind;
	unsigned int	elf;		/* e_machine of the programs that it traces */
	const char	*name;
	void		(*init)(struct trace_unit *u);
	int		(*reg_offset)(uint32_t reg);
	bool		words;		/* its registers have 32 bits */
};
#define NTECHNOLOGIES	3

struct trace_unit {
	union {
		struct hwt_backend backend;
		struct cs_backend cs;	/* begins with one */
	};
	struct vtu_bus		bus;
	struct embedded		*embedded;
};

struct embedded {
	struct hwt_core		*core;
	struct trace_unit	units[NTECHNOLOGIES];
	char			*backend;	/* that targets are started for, or NULL */
	struct dram		dram;
	int			window_fd;
	struct vtu_header	*window;
	struct block		*blocks;	/* window->nblocks of them */
	uint32_t		high;		/* blocks used so far: < high */
	pthread_mutex_t		lock;
	pthread_cond_t		cond;		/* something below `lock` changed */
	struct target		*targets;
	struct node		*nodes;
	pthread_t		service;
	atomic_bool		stopping;
	atomic_bool		recheck;	/* held vCPUs may go on */
	char			*qemu, *plugin;
	bool			qemu_given;	/* by the user: for any program */
	struct rlimit		files;		/* the targets' limit of descriptors */
};

/* ---- blocks.c ---- */
int blocks_init(struct embedded *e);
void blocks_fini(struct embedded *e);
struct vtu_block *block_window(struct embedded *e, const struct block *b);
/* Wakes the service thread; recheck: it looks at held vCPUs again. */
void service_kick(struct embedded *e);
void service_recheck(struct embedded *e);
/* Its record is queued, it is kept for a client: others may go on meanwhile. */
void block_keep(struct embedded *e, struct block *b);
/* Lets a parked vCPU go on; false: a thread_call still needs it parked. */
bool block_release(struct embedded *e, struct block *b);
/* hwt_host_ops.thread_call's work for a unit. */
int block_call(struct embedded *e, int unit, void (*fn)(void *arg, int cpu), void *arg);
void block_doorbell(struct vtu_bus *vb, struct vtu_block *w, uint32_t seq);
/* vtu_bus.hold: a block that is used is not freed. */
void block_used(struct vtu_bus *vb, struct vtu_block *w, bool on);
/* Frees a block of which the vCPU is gone. Caller holds the lock. */
void block_free(struct embedded *e, struct block *b);
long futex_wait(uint32_t *word, uint32_t value, int timeout_ms);
void futex_wake(uint32_t *word);
/* timeout_ms (not negative) from now, by CLOCK_MONOTONIC. */
void deadline(struct timespec *ts, int timeout_ms);

/* ---- targets.c ---- (callers hold the lock unless it says otherwise) */
struct target *target_add(struct embedded *e, int pid, bool child);
struct target *target_find(struct embedded *e, int pid);
void target_unref(struct embedded *e, struct target *t);
/* Polls readable once it ended; or -errno. */
int target_exit_fd(struct target *t);
/* The service thread's; path NULL: it goes on under the unit, or ended there. */
void target_set_native(struct target *t, const char *path, uint32_t machine, int tid);
/* Looks for targets that ended and tells core. Called without the lock. */
void targets_reap(struct embedded *e);
void targets_fini(struct embedded *e);

/* ---- hooks.c ---- */
/* A vCPU came into a hook: hands it to core; releases it or holds it. */
void hook_handle(struct embedded *e, struct block *b);
/*
 * In place of hook_handle where there is no target, for want of memory or descriptors:
 * the process runs on untraced, and core is told that it was forked.  false: there is no
 * room for the record; to be tried again.
 */
bool hook_turn_away(struct embedded *e, struct block *b);
/* Looks again at a held vCPU. */
void hook_recheck(struct embedded *e, struct block *b);

/* ---- service.c ---- */
int service_start(struct embedded *e);
void service_stop(struct embedded *e);

/* ---- hostops.c ---- */
extern const struct hwt_host_ops embedded_ops;
void embedded_cred(struct hwt_cred *cred);

/* ---- technologies.c ---- */
int technologies_load(struct embedded *e);
void technologies_unload(struct embedded *e);
/* The first for a machine (0: any) with a backend of that name (NULL: any); or NULL. */
const struct technology *technology_for(unsigned int elf, const char *backend);

/* ---- devices.c ---- */
int embedded_node_create(void *host, const char *name, struct hwt_context *ctx,
			 struct hwt_buffer *buffer, uint32_t uid, struct hwt_node **out);
void embedded_node_destroy(void *host, struct hwt_node *node);

/* ---- the host's methods (hosts/libhwt.c) ---- */
int embedded_open(const struct hwt_host_options *options, void **out, char **error);
void embedded_close(void *host);
/* *file is the caller's.  -ENOENT, -ENOMEM: *error says so, *file is NULL. */
int embedded_find_qemu(const char *name, char **file, char **error);
int embedded_spawn(void *host, const char *path, char *const argv[], pid_t *pid,
		   char **error);
int embedded_run(void *host, pid_t pid);
int embedded_wait(void *host, pid_t pid, int timeout_ms, int *status);
int embedded_fd(void *host, pid_t pid);
int embedded_dev_open(void *host, const char *name, void **dev);
int embedded_dev_ioctl(void *dev, unsigned long request, void *arg);
int embedded_dev_mmap(void *dev, size_t length, off_t offset, void **out);
int embedded_dev_munmap(void *dev, void *addr, size_t length);
int embedded_dev_poll(void *dev, int timeout_ms);
void embedded_dev_close(void *dev);

#endif
