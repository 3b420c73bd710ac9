/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The host contract's primitives (core/hwt_os.h) in a Linux kernel.
 *
 * Hooks run where nothing may sleep, some with a run queue's lock held: spin
 * locks are raw, and hwt_wait_wake and hwt_warn defer what they cannot do there.
 */
#ifndef HWT_OS_HOST_H
#define HWT_OS_HOST_H

#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/wait.h>

#define HWT_PAGE_SIZE PAGE_SIZE

enum hwt_alloc_how { HWT_MAY_SLEEP, HWT_ATOMIC };
void *hwt_alloc(size_t size, enum hwt_alloc_how how);
void hwt_free(void *p);

/*
 * Test builds (HWT_TEST=y): the n-th allocation from when the module parameter
 * fail_nth was written fails, once.  Host allocators ask too.
 */
#ifdef HWT_TEST
bool hwt_fault_hit(void);
void hwt_live_add(long n);
#else
static inline bool hwt_fault_hit(void)
{
	return false;
}
static inline void hwt_live_add(long n)
{
}
#endif

__printf(1, 2) void hwt_warn(const char *fmt, ...);

#define hwt_memcpy(d, s, n)	memcpy((d), (s), (n))
#define hwt_memset(d, c, n)	memset((d), (c), (n))
#define hwt_memcmp(a, b, n)	memcmp((a), (b), (n))
#define hwt_strlen(s)		strlen(s)
#define hwt_strnlen(s, n)	strnlen((s), (n))
#define hwt_strcmp(a, b)	strcmp((a), (b))

struct hwt_mutex {
	struct mutex m;
};
#define hwt_mutex_init(l)	mutex_init(&(l)->m)
#define hwt_mutex_destroy(l)	mutex_destroy(&(l)->m)
#define hwt_mutex_lock(l)	mutex_lock(&(l)->m)
#define hwt_mutex_unlock(l)	mutex_unlock(&(l)->m)

typedef unsigned long hwt_irqflags_t;
struct hwt_spin {
	raw_spinlock_t s;
};
#define hwt_spin_init(l)	raw_spin_lock_init(&(l)->s)
#define hwt_spin_lock(l, flags)	raw_spin_lock_irqsave(&(l)->s, (flags))
#define hwt_spin_unlock(l, flags) raw_spin_unlock_irqrestore(&(l)->s, (flags))

/*
 * A wait queue is one of a few that the module keeps (as wait_on_bit does), so
 * that a wake-up that was deferred never finds it freed.  Sleepers look at their
 * condition; waking a few too many does no harm.
 */
struct hwt_wait {
	struct wait_queue_head *queue;
};
void hwt_wait_init(struct hwt_wait *w);
void hwt_wait_wake(struct hwt_wait *w);

#define hwt_wait_event(w, condition) \
	(wait_event_interruptible(*(w)->queue, (condition)) ? -EINTR : 0)
#define hwt_wait_event_killable(w, condition)                             \
	(wait_event_state(*(w)->queue, (condition),                       \
			  (TASK_KILLABLE | TASK_FREEZABLE)) ? -EINTR : 0)
#define hwt_wait_event_uninterruptible(w, condition) \
	wait_event(*(w)->queue, (condition))

struct hwt_ref {
	refcount_t n;
};
static inline void hwt_ref_init(struct hwt_ref *r)
{
	refcount_set(&r->n, 1);
}
static inline void hwt_ref_get(struct hwt_ref *r)
{
	refcount_inc(&r->n);
}
static inline bool hwt_ref_put(struct hwt_ref *r)
{
	return refcount_dec_and_test(&r->n);
}
static inline bool hwt_ref_get_live(struct hwt_ref *r)
{
	return refcount_inc_not_zero(&r->n);
}
#define hwt_load_acquire(p)	smp_load_acquire(p)
#define hwt_store_release(p, v)	smp_store_release((p), (v))

int hwt_copyin(uint64_t uaddr, void *dst, size_t n);
int hwt_copyout(const void *src, uint64_t uaddr, size_t n);
int hwt_copyinstr(uint64_t uaddr, char *dst, size_t n);

#define HWT_CONTAINER_OF(ptr, type, member) container_of(ptr, type, member)
#define HWT_ASSERT(cond)	BUG_ON(!(cond))

/*
 * The kernel has some of the manual's names for Intel PT itself (asm/msr-index.h);
 * backends go by hw/pt.h, which comes after this.
 */
#undef RTIT_CTL_DISRETC
#undef RTIT_CTL_OS
#undef RTIT_CTL_TOPA
#undef RTIT_CTL_TRACEEN
#undef RTIT_STATUS_CONTEXTEN
#undef RTIT_STATUS_ERROR
#undef RTIT_STATUS_FILTEREN
#undef RTIT_STATUS_STOPPED
#undef RTIT_STATUS_TRIGGEREN

#endif
