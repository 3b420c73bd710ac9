/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The host contract: everything that core/ and backends/ need from the world
 * around them.  core/ calls nothing else: no libc, no <linux/...>.
 *
 * Each host puts a header <hwt_os_host.h> on the include path that defines
 *   struct hwt_mutex, hwt_spin, hwt_wait (a wait queue), atomics and the
 *   inline primitives declared below as "primitive";
 * and gives core a struct hwt_host_ops for the larger things.
 */
#ifndef HWT_OS_H
#define HWT_OS_H

#include <hwt_os_host.h>
/*
 * Types:       bool, size_t, uintN_t, intN_t, errno constants (positive)
 * Memory       void *hwt_alloc(size_t size, enum hwt_alloc_how how);  zeroed, or NULL
 *              void hwt_free(void *p);                               NULL is fine
 *              enum hwt_alloc_how { HWT_MAY_SLEEP, HWT_ATOMIC };
 *              (every host's allocator can be told to fail the n-th call)
 * Bytes        hwt_memcpy hwt_memset hwt_memcmp hwt_strlen hwt_strnlen hwt_strcmp
 * Mutex        struct hwt_mutex;  hwt_mutex_{init,destroy,lock,unlock}    may sleep
 * Spin lock    struct hwt_spin;   hwt_spin_{init,lock,unlock}  usable from hooks and
 *              irq: interrupts are off while it is held; hwt_spin_lock(s, flags) and
 *              hwt_spin_unlock(s, flags) with an hwt_irqflags_t, as a macro
 * Wait queue   struct hwt_wait;   hwt_wait_init, hwt_wait_wake(w) wakes all: callable
 *              from hooks and irq (a host that may not wake there defers it);
 *              int hwt_wait_event(w, condition expression) is a macro: sleeps until the
 *              condition holds (0) or a signal came (-EINTR); may sleep.
 *              int hwt_wait_event_killable(w, condition): only a fatal signal ends it.
 *              hwt_wait_event_uninterruptible(w, condition): nothing else ends it.
 * Counters     struct hwt_ref;  hwt_ref_init (1), hwt_ref_get,
 *              bool hwt_ref_put (true: it was the last),
 *              bool hwt_ref_get_live (false: it was 0)
 *              hwt_load_acquire(p), hwt_store_release(p, v)
 * User memory  int hwt_copyin(uint64_t uaddr, void *dst, size_t n);        0 or -EFAULT
 *              int hwt_copyout(const void *src, uint64_t uaddr, size_t n); 0 or -EFAULT
 *              int hwt_copyinstr(uint64_t uaddr, char *dst, size_t n);
 *                       0, -EFAULT, or -ENAMETOOLONG (no NUL in n bytes)
 * Pages        HWT_PAGE_SIZE
 * Log          hwt_warn(fmt, ...)   one line for the host's log; rate-limited
 * Misc         HWT_CONTAINER_OF(ptr, type, member), HWT_ASSERT(cond)
 */

/* What a unit needs of memory beyond pages. */
enum hwt_pages_how {
	HWT_PAGES_ANY,
	HWT_PAGES_CONTIGUOUS,	/* addresses that follow each other (page_addr) */
	HWT_PAGES_MAPPED,	/* at a virtual address of the host's (kva) */
};

/* One page-aligned block of memory that a trace unit writes to or reads. */
struct hwt_pages {
	size_t		npages;
	void		*kva;	/* contiguous virtual address, or NULL if the host has none */
	void		*host;	/* host's own */
};

struct hwt_context;
struct hwt_thread;
struct hwt_buffer;
struct hwt_backend;
struct hwt_node;	/* host's own: a device node */
struct hwt_event;	/* host's own: an eventfd handle */

/* Who calls: filled in by the host for each ioctl, open and mmap. */
struct hwt_cred {
	uint64_t	owner;	/* identity of the calling process (never reused while it lives) */
	int		pid;	/* in the host's own numbering */
	uint32_t	uid;
	bool		perfmon;	/* CAP_PERFMON or equivalent */
};

/* A thread of a target, as hwt_host_ops.target_threads lists it. */
struct hwt_target_thread {
	int	tid;
	int	unit;	/* embedded: its window block; kernel: -1 */
};

struct hwt_host_ops {
	const char *name;		/* "embedded", "kernel" */

	/* Pages for buffers and tables; zeroed.  NULL, or the block.  May sleep. */
	struct hwt_pages *(*pages_alloc)(void *host, size_t npages,
					 enum hwt_pages_how how);
	void (*pages_free)(void *host, struct hwt_pages *pages);
	/* The host's address of page i; hwt_bus.buf_addr makes it the unit's. */
	uint64_t (*page_addr)(void *host, struct hwt_pages *pages, size_t i);
	/* Reads or writes 64-bit words of a block that has no kva (tables). */
	void (*page_write64)(void *host, struct hwt_pages *pages, uint64_t off,
			     uint64_t value);

	/*
	 * Device nodes.  `buffer` is NULL for the context's alias "..._0".
	 * mode 0600, owned by uid.  0 or -errno.  May sleep.
	 */
	int (*node_create)(void *host, const char *name, struct hwt_context *ctx,
			   struct hwt_buffer *buffer, uint32_t uid,
			   struct hwt_node **node);
	void (*node_destroy)(void *host, struct hwt_node *node);

	/* eventfd of the caller: get at ALLOC (-EBADF), signal from any context. */
	int (*event_get)(void *host, int fd, struct hwt_event **event);
	void (*event_signal)(void *host, struct hwt_event *event);
	void (*event_put)(void *host, struct hwt_event *event);

	/*
	 * May `cred` trace process pid?  0, -ESRCH (no such target), -EPERM.
	 * On 0 *target is a reference to give back with target_put; while it is
	 * held the pid is not reused.
	 */
	int (*target_get)(void *host, const struct hwt_cred *cred, int pid,
			  void **target);
	void (*target_put)(void *host, void *target);
	bool (*target_dead)(void *host, void *target);
	/*
	 * Optional, no sleep: may the owner still trace it, after the calling
	 * thread's exec?  NULL: always.
	 */
	bool (*target_allowed)(void *host, void *target);
	/*
	 * Fills at most max threads, returns how many there are.  New threads
	 * born meanwhile reach core by hwt_hook_thread_create; core takes a tid
	 * twice without harm.
	 */
	int (*target_threads)(void *host, void *target,
			      struct hwt_target_thread *out, int max);

	/*
	 * Runs fn(arg) while the thread's unit is quiescent on that thread's
	 * own CPU (kernel: IPI where it runs; embedded: its vCPU parked).  If
	 * the thread is off its CPU (scheduled out; in a system call) fn is not
	 * run and -EAGAIN comes back: the next hwt_hook_switch_in does it.
	 * core holds no lock that a hook takes.  Which thread it is:
	 * hwt_thread_pid, hwt_thread_tid, hwt_thread_unit.
	 */
	int (*thread_call)(void *host, struct hwt_thread *thr,
			   void (*fn)(void *arg, int cpu), void *arg);
	/* Runs fn(arg, cpu) on each CPU of the set, waits.  -ENXIO: one is offline. */
	int (*cpus_call)(void *host, const unsigned long *cpus, int ncpus,
			 void (*fn)(void *arg, int cpu), void *arg);
	int (*ncpus)(void *host);
	bool (*cpu_online)(void *host, int cpu);
	/*
	 * Emits KERNEL records for the kernel's text and modules into ctx; from
	 * before that until kernel_done the host tells of new objects
	 * (hwt_hook_kernel_new) and patches (hwt_hook_text_poke).  0 or -errno
	 * (then without kernel_done).  May sleep; kernel_done is optional.
	 */
	int (*kernel_objects)(void *host, struct hwt_context *ctx);
	void (*kernel_done)(void *host);
	/*
	 * Optional: copies the kernel's code at addr to user memory; stops early
	 * where code ends.  How much goes to *done.  0; -ENOENT: no code at addr;
	 * -EFAULT: ubuf; -ENOMEM.  May sleep.
	 */
	int (*kernel_read)(void *host, uint64_t addr, uint64_t ubuf, uint64_t len,
			   uint64_t *done);

	/*
	 * Translates pids from the caller's and to the owner's pid namespace (as
	 * it was at ALLOC; no sleep); NULL: they are the same.
	 */
	int (*pid_from_user)(void *host, const struct hwt_cred *cred, int pid);
	int (*pid_to_user)(void *host, void *target, int pid);

	/*
	 * Optional, no sleep: a context begins and ends to use a backend, which
	 * must not go away meanwhile (kernel: its module).  False: it is going.
	 */
	bool (*backend_get)(void *host, struct hwt_backend *be);
	void (*backend_put)(void *host, struct hwt_backend *be);

	/*
	 * True: a hook that finds the record queue full, or a unit that finds
	 * its buffer full, may be held until the reader has made room (the
	 * embedded host).  False: what does not fit is counted as lost.
	 */
	bool may_hold;
};

#endif
