/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel host: hwt.ko's own parts.
 *
 *   main.c      load and unload, in order; backends' registration
 *   os.c        the contract's primitives (memory, wake-ups, log)
 *   hostops.c   the contract's ops that are one call of the kernel's
 *   pages.c     buffers: pages, and mapping them
 *   nodes.c     /dev/hwt and contexts' nodes
 *   owners.c    processes that own contexts, and their death
 *   targets.c   processes that are traced: who may, which threads
 *   hooks.c     arming and disarming everything below
 *   sched.c     scheduler: switch, thread and process creation, exit, name
 *   exec.c      a new program
 *   maps.c      executable mappings
 *   later.c     what hooks leave to the thread to do
 *   pause.c     threads that wait for their client
 *   kobj.c      the kernel's own code: objects, patches, bytes
 *   symbols.c   what the kernel does not export
 *   cpus.c      running something on CPUs
 *
 * Modules of their own (hwt_module.h): pt_main.c, spe_main.c, coresight_main.c for
 * silicon, vtu_main.c.  What an architecture has of its own is there, and in compat.h.
 *
 * Locks.  core's are in core/hwt_var.h.  hooks.c's mutex and owners.c's are
 * taken with none of core's held but a context's mutex; node_lock (nodes.c) is
 * taken under a context's mutex, and core's spin locks under it.
 */
#ifndef HWT_LINUX_H
#define HWT_LINUX_H

#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/mm_types.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "../../core/hwt_core.h"
#include "hwt_module.h"

/* The one instance; NULL only while the module comes and goes. */
extern struct hwt_core *hwt_linux_core;
extern const struct hwt_host_ops hwt_linux_ops;

/* ---- os.c ---- */
int hwt_linux_os_init(void);
void hwt_linux_os_exit(void);

/* ---- pages.c ---- */
struct hwt_pages *hwt_linux_pages_alloc(void *host, size_t npages,
					enum hwt_pages_how how);
void hwt_linux_pages_free(void *host, struct hwt_pages *pages);
uint64_t hwt_linux_page_addr(void *host, struct hwt_pages *pages, size_t i);
void hwt_linux_page_write64(void *host, struct hwt_pages *pages, uint64_t off,
			    uint64_t value);
/* Maps the block from vma->vm_pgoff on: 0 or -errno. */
int hwt_linux_pages_map(struct hwt_pages *pages, struct vm_area_struct *vma);

/* ---- nodes.c ---- */
int hwt_linux_nodes_init(void);
void hwt_linux_nodes_exit(void);
int hwt_linux_node_create(void *host, const char *name, struct hwt_context *ctx,
			  struct hwt_buffer *buffer, uint32_t uid, struct hwt_node **node);
void hwt_linux_node_destroy(void *host, struct hwt_node *node);

/* ---- owners.c ---- */
/* Who calls. */
void hwt_linux_cred(struct hwt_cred *cred);
/* The calling process may own contexts from now on; its death ends them. */
int hwt_linux_owner_watch(void);
/* The calling process dies: ends its contexts now. */
void hwt_linux_owner_dies(const struct hwt_cred *cred);
int hwt_linux_owners_init(void);
void hwt_linux_owners_exit(void);
/* The last thread of the process has begun to exit. */
bool hwt_linux_process_dead(struct pid *pid);

/* ---- targets.c ---- */
int hwt_linux_target_get(void *host, const struct hwt_cred *cred, int pid, void **target);
void hwt_linux_target_put(void *host, void *target);
bool hwt_linux_target_dead(void *host, void *target);
bool hwt_linux_target_allowed(void *host, void *target);
int hwt_linux_target_threads(void *host, void *target, struct hwt_target_thread *out,
			     int max);
int hwt_linux_pid_from_user(void *host, const struct hwt_cred *cred, int pid);
int hwt_linux_pid_to_user(void *host, void *target, int pid);

/*
 * ---- hooks.c ----
 * Process hooks are armed with the first context in thread mode and disarmed
 * with the last.  get: 0 or -errno (-EOPNOTSUPP: built without); may sleep.
 */
int hwt_linux_hooks_get(void);
void hwt_linux_hooks_put(void);
bool hwt_linux_hooks_built(void);
/* Runs probe by tracepoint's name: 0, -ENOENT, or what the kernel says. */
struct hwt_linux_probe {
	const char		*name;
	void			*fn;
	struct tracepoint	*tp;	/* hooks.c's */
};
/* All n or none. */
int hwt_linux_probes_register(struct hwt_linux_probe *probes, int n);
void hwt_linux_probes_unregister(struct hwt_linux_probe *probes, int n);
/* The same for probes of functions; may sleep. */
int hwt_linux_kprobes_register(struct kprobe *probes, int n);
void hwt_linux_kprobes_unregister(struct kprobe *probes, int n);
/* Where a thread (of any process) is now; current's only. */
void hwt_linux_where(struct hwt_hook_where *at);

/* ---- sched.c ---- */
int hwt_linux_sched_arm(void);
void hwt_linux_sched_disarm(void);
/* The current thread takes what the context wants of it, here and now. */
void hwt_linux_sched_sync(void);

#ifdef HWT_HOOKS
int hwt_linux_thread_call(void *host, struct hwt_thread *thr,
			  void (*fn)(void *arg, int cpu), void *arg);
#else
#define hwt_linux_thread_call NULL	/* no threads are traced */
#endif

/* ---- exec.c ---- */
int hwt_linux_exec_arm(void);
void hwt_linux_exec_disarm(void);

/* ---- maps.c ---- */
int hwt_linux_maps_arm(void);
void hwt_linux_maps_disarm(void);
/* path: PATH_MAX bytes that map->path may point into. */
void hwt_linux_map_describe(struct vm_area_struct *vma, struct hwt_hook_map *map,
			    char *path);
/*
 * Tells of the calling thread's executable mappings in [from, to), each with its
 * pause; path: PATH_MAX bytes.  May sleep.
 */
void hwt_linux_maps_tell(unsigned long from, unsigned long to, char *path);

/* ---- later.c ---- */
struct hwt_linux_later {
	struct callback_head	work;
	void			(*fn)(struct hwt_linux_later *later);
};
/*
 * size bytes that begin with a struct hwt_linux_later; the thread that they are
 * queued on calls fn before its next user instruction, if it has one.  NULL: no
 * memory.  Freed after fn, or where queueing fails (-ESRCH: it is on its way out).
 */
void *hwt_linux_later_alloc(size_t size, void (*fn)(struct hwt_linux_later *later));
int hwt_linux_later_queue(struct task_struct *task, struct hwt_linux_later *later);

/* ---- pause.c ---- */
/*
 * result: of the hook.  If that paused the task, it waits before its next user
 * instruction.  For the current task, or a child that did not run yet; no sleep.
 */
void hwt_linux_pause(struct task_struct *task, int result);
/* The same for the current task where it may sleep: waits now.  result, or -EINTR. */
int hwt_linux_pause_now(int result);
/* Publishes where the thread's unit may be asked; then waits if it has to. */
#define hwt_linux_tell(hook, ...)                                                        \
	({                                                                               \
		struct hwt_hook_where tell_at_;                                          \
		int tell_rc_;                                                            \
		preempt_disable();                                                       \
		hwt_linux_where(&tell_at_);                                              \
		tell_rc_ = hook(hwt_linux_core, &tell_at_, ##__VA_ARGS__);               \
		preempt_enable();                                                        \
		hwt_linux_pause_now(tell_rc_);                                           \
	})

/* ---- kobj.c ---- */
int hwt_linux_kernel_objects(void *host, struct hwt_context *ctx);
void hwt_linux_kernel_done(void *host);
int hwt_linux_kernel_read(void *host, uint64_t addr, uint64_t ubuf, uint64_t len,
			  uint64_t *done);

/* ---- symbols.c ---- */
/* Before anything else here is used: 0 or -errno.  May sleep. */
int hwt_linux_symbols_init(void);
/* The address of something that the kernel does not export, or 0; may sleep. */
unsigned long hwt_linux_symbol(const char *name);
/* task_work_add with TWA_RESUME. */
int hwt_linux_task_work_add(struct task_struct *task, struct callback_head *work);

/* ---- cpus.c ---- */
int hwt_linux_cpus_call(void *host, const unsigned long *cpus, int ncpus,
			void (*fn)(void *arg, int cpu), void *arg);
int hwt_linux_ncpus(void *host);
bool hwt_linux_cpu_online(void *host, int cpu);

#endif
