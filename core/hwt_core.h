/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a host calls.  One struct hwt_core is one instance of the framework.
 *
 * Life of a context (thread mode):
 *   ALLOC        hwt_ioctl on /dev/hwt: context, a buffer and node a thread
 *   SET_CONFIG   checked by the backend, kept; taken at the next switch-in
 *   START        threads that are on a CPU are switched in at once, the others
 *                when the host calls hwt_hook_switch_in
 *   hooks        records; a pause waits on a condition set before publishing
 *   STOP, START  keep buffer and position; START begins with a sync point
 *   owner gone   hwt_owner_exit: stopped, unpaused, freed
 */
#ifndef HWT_CORE_H
#define HWT_CORE_H

#include "hwt_backend.h"

/*
 * Locks.  core calls host ops and the wakeup callback without any lock that a
 * hook takes; thread_call, cpus_call, node_* and pages_* may be called with a
 * context's mutex held, which no hook takes.  A host must not hold, around
 * hwt_ioctl, hwt_node_close and hwt_owner_exit, a lock that its own ops or the
 * service of its hooks need: these calls wait for hooks in flight.
 */

/* May sleep. NULL: no memory. `host` is passed to every op. */
struct hwt_core *hwt_load(const struct hwt_host_ops *ops, void *host);
/*
 * -EBUSY while a context lives or a descriptor is open.  Buffers of ended
 * contexts whose threads never left their units are freed: the host has
 * quieted all units.
 */
int hwt_unload(struct hwt_core *core);

/* Borrowed until unregister. -EEXIST: the name is taken.  unregister: -EBUSY. */
int hwt_backend_register(struct hwt_core *core, struct hwt_backend *be);
int hwt_backend_unregister(struct hwt_core *core, struct hwt_backend *be);

/*
 * The ioctl entry.  `ctx` is NULL for /dev/hwt; `buffer` is the node's, NULL
 * for /dev/hwt and for the alias "..._0" (which means the first thread's).
 * `arg` points to the structure, already copied into kernel memory, and is
 * copied back by the host for _IOWR requests when 0, -EINVAL or -ENXIO is returned.
 * Returns 0 or -errno (table in hwt(4)).  May sleep.
 */
int hwt_ioctl(struct hwt_core *core, const struct hwt_cred *cred,
	      struct hwt_context *ctx, struct hwt_buffer *buffer,
	      unsigned int cmd, void *arg);

/*
 * Node opened and closed, ctx not NULL; a context dies with its owner's last
 * descriptor.  close gets the credentials of the open.  -EACCES: another user;
 * -ENXIO: the context has ended.  While a descriptor is open, ctx and buffer
 * stay valid (calls on an ended context answer -ENXIO).
 */
int hwt_node_open(struct hwt_core *core, const struct hwt_cred *cred,
		  struct hwt_context *ctx);
void hwt_node_close(struct hwt_core *core, const struct hwt_cred *cred,
		    struct hwt_context *ctx);
/* 0: the pages may be mapped read-only into this caller. -EACCES, -EINVAL. */
int hwt_node_mmap(struct hwt_core *core, const struct hwt_cred *cred,
		  struct hwt_context *ctx, struct hwt_buffer *buffer,
		  uint64_t offset, uint64_t length, bool writable,
		  struct hwt_pages **pages);
/*
 * Optional: the last descriptor and mapping of this buffer's node are gone.
 * Pages and node of an ended thread are given back, if its last record was
 * fetched; the leader's are kept for an exec by another thread.  To be called
 * before hwt_node_close of that descriptor.
 */
void hwt_buffer_idle(struct hwt_core *core, struct hwt_context *ctx,
		     struct hwt_buffer *buffer);
/* What hosts need to know of a thread; unit: where it last stood, or -1. */
int hwt_thread_pid(const struct hwt_thread *thr);
int hwt_thread_tid(const struct hwt_thread *thr);
int hwt_thread_unit(const struct hwt_thread *thr);
/*
 * True: records wait, or none will ever come.  *wait is what poll() sleeps on;
 * valid while the descriptor is open.
 */
bool hwt_node_poll(struct hwt_context *ctx, struct hwt_wait **wait);
/* The process `owner` is gone: ends all its contexts.  May sleep. */
void hwt_owner_exit(struct hwt_core *core, uint64_t owner);

/*
 * Hooks.  Each takes the pid it happened in; cheap when pid is not traced.
 * `may_sleep` variants are named so; all others run in any context.
 *
 * A thread that ends or execs while it is still on a unit is switched out then,
 * also if that unit is gone with it: the bus answers reads with the last values
 * and drops writes.
 */
struct hwt_hook_where {		/* which thread, and where it stands */
	int		pid, tid;
	int		unit;	/* unit it runs on, -1: not on one (saved) */
	uint64_t	time;	/* 0: ask the bus */
	uint32_t	generation;
};
struct hwt_hook_map {		/* MMAP; munmap and mprotect use addr, len, prot */
	uint64_t	addr, len, pgoff, ino;
	uint32_t	dev_major, dev_minor, prot, mapflags;
	const char	*path;
};

/*
 * Hook results: 0 or more of these bits; or -EAGAIN: the queue is full and the
 * host's may_hold is set: hold the thread, call again after the next record was
 * fetched (hwt_hook_room waits for it).  Calling again is harmless.
 */
#define HWT_HOOK_PAUSED		0x1	/* call hwt_hook_pause_wait before going on */
#define HWT_HOOK_TRACED		0x2	/* a context saw it */
#define HWT_HOOK_LAST		0x4	/* thread_exit: no thread of the context is left */

/*
 * old_tid called execve, at->tid (the pid) goes on; all other threads end.
 * at->unit: where it goes on.  If the owner may not trace it any more
 * (host's target_allowed), the context ends with an EXIT record.
 */
int hwt_hook_exec(struct hwt_core *core, const struct hwt_hook_where *at,
		  int old_tid, const char *path, uint64_t addr, uint64_t base);
int hwt_hook_mmap(struct hwt_core *core, const struct hwt_hook_where *at,
		  const struct hwt_hook_map *map);
int hwt_hook_munmap(struct hwt_core *core, const struct hwt_hook_where *at,
		    uint64_t addr, uint64_t len);
int hwt_hook_mprotect(struct hwt_core *core, const struct hwt_hook_where *at,
		      uint64_t addr, uint64_t len, uint32_t prot);
int hwt_hook_thread_name(struct hwt_core *core, const struct hwt_hook_where *at,
			 const char *name);
/* HWT_HOOK_PAUSED: the child (not the caller) waits before it runs. */
int hwt_hook_fork(struct hwt_core *core, const struct hwt_hook_where *at,
		  int child_pid, int child_tid);
int hwt_hook_code(struct hwt_core *core, const struct hwt_hook_where *at,
		  uint64_t addr, const void *bytes, uint32_t len);
int hwt_hook_generation(struct hwt_core *core, const struct hwt_hook_where *at,
			uint64_t generation);
/*
 * May sleep: makes buffer, node and save area of the new thread.  unit >= 0: it
 * stands there (parked) and is switched in at once if the context runs.
 * -ENOMEM etc.: the thread goes on untraced; a LOST record says so.
 */
int hwt_hook_thread_create(struct hwt_core *core, const struct hwt_hook_where *at,
			   int new_tid, int unit);
int hwt_hook_thread_exit(struct hwt_core *core, const struct hwt_hook_where *at,
			 int status);
/* A thread or event of the process could not be followed: counted as lost. */
void hwt_hook_lost(struct hwt_core *core, int pid);
/* Does a context trace the process? */
bool hwt_hook_is_traced(struct hwt_core *core, int pid);
/* Before hwt_hook_exit: it had executed what the unit cannot follow. */
int hwt_hook_native(struct hwt_core *core, const struct hwt_hook_where *at,
		    const char *path, uint32_t machine);
/*
 * The whole process is gone (status as wait(2) gives it; -1: not known).  The EXIT
 * record comes last of all and is never lost.  A paused child that dies untraced is
 * reported here too.
 */
int hwt_hook_exit(struct hwt_core *core, const struct hwt_hook_where *at,
		  int status);
/* Kernel objects and patched kernel text, for contexts that trace the kernel. */
int hwt_hook_kernel(struct hwt_core *core, struct hwt_context *ctx, uint64_t addr,
		    uint64_t len, const char *path);
/* The same, for all of them: an object that came after their ALLOC. */
void hwt_hook_kernel_new(struct hwt_core *core, uint64_t addr, uint64_t len,
			 const char *path);
int hwt_hook_text_poke(struct hwt_core *core, uint64_t addr, const void *bytes,
		       uint32_t len);

/* Sleeps until the queue has room for what a hook of pid was refused: 0, -EINTR. */
int hwt_hook_room(struct hwt_core *core, int pid);

/*
 * Scheduler: the thread goes on and off unit `unit`.  No sleep.  switch_in of
 * one that is on the unit already takes what START, STOP and SET_CONFIG left.
 */
void hwt_hook_switch_in(struct hwt_core *core, int pid, int tid, int unit);
void hwt_hook_switch_out(struct hwt_core *core, int pid, int tid, int unit);
/*
 * CPU mode: the CPU goes offline, or is back; called on that CPU.  Its trace
 * stops, and goes on in the same buffer with a sync point.
 */
void hwt_hook_cpu_offline(struct hwt_core *core, int cpu);
void hwt_hook_cpu_online(struct hwt_core *core, int cpu);
/*
 * The unit's interrupt.  HWT_IRQ_* bits; with HWT_IRQ_FULL and may_hold the
 * host keeps the vCPU until hwt_hook_irq_resume says 0 (-EAGAIN: no room yet).
 * A switch (also by SET_CONFIG, STOP, START) may end full as well: a host that
 * holds asks hwt_hook_irq_resume before it lets any parked thread go on.
 */
int hwt_hook_irq(struct hwt_core *core, int pid, int tid, int unit);
int hwt_hook_irq_resume(struct hwt_core *core, int pid, int tid, int unit);

/*
 * Sleeps while the thread is paused: 0 when woken, also by the owner's death;
 * -EINTR: a fatal signal, the pause is over.
 * Hosts whose service thread may not sleep poll hwt_hook_is_paused instead and
 * get told by the host callback below.
 */
int hwt_hook_pause_wait(struct hwt_core *core, int pid, int tid);
bool hwt_hook_is_paused(struct hwt_core *core, int pid, int tid);
/* The host cannot hold the thread: its pause is over. */
void hwt_hook_pause_cancel(struct hwt_core *core, int pid, int tid);
/*
 * Called, from any context, whenever a pause ended, room appeared in a record
 * queue, or SVC_BUF gave space back: hosts that hold threads look again.
 */
void hwt_set_wakeup_callback(struct hwt_core *core, void (*fn)(void *host));

#endif
