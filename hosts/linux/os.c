// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memory, wake-ups, the log and user memory: core/hwt_os.h's primitives. */
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/moduleparam.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "linux.h"

#ifdef HWT_TEST
static atomic_t fail_nth;
static atomic_long_t live;

/* Counts down; the one that comes to 0 fails. */
bool hwt_fault_hit(void)
{
	return atomic_read(&fail_nth) > 0 && atomic_dec_return(&fail_nth) == 0;
}

void hwt_live_add(long n)
{
	atomic_long_add(n, &live);
}

static int live_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%ld\n", atomic_long_read(&live));
}

static const struct kernel_param_ops live_ops = {.get = live_get};
module_param_named(fail_nth, fail_nth.counter, int, 0600);
MODULE_PARM_DESC(fail_nth, "fail the n-th allocation from now on, once; 0 when it has");
module_param_cb(live, &live_ops, NULL, 0400);
MODULE_PARM_DESC(live, "blocks of memory in use");
#endif

void *hwt_alloc(size_t size, enum hwt_alloc_how how)
{
	void *p;

	if (hwt_fault_hit())
		return NULL;
	p = how == HWT_ATOMIC ? kzalloc(size, GFP_ATOMIC | __GFP_NOWARN)
			      : kvzalloc(size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (p)
		hwt_live_add(1);
	return p;
}

void hwt_free(void *p)
{
	if (!p)
		return;
	hwt_live_add(-1);
	kvfree(p);
}

/* ---- wake-ups ---- */

#define WAIT_BITS	6

static struct wait_bucket {
	struct wait_queue_head	queue;
	struct irq_work		work;
} waits[1 << WAIT_BITS];

static void wait_work(struct irq_work *work)
{
	wake_up_all(&container_of(work, struct wait_bucket, work)->queue);
}

void hwt_wait_init(struct hwt_wait *w)
{
	w->queue = &waits[hash_ptr(w, WAIT_BITS)].queue;
}

/* With interrupts off a run queue's lock may be held, which a wake-up takes. */
void hwt_wait_wake(struct hwt_wait *w)
{
	if (irqs_disabled())
		irq_work_queue(&container_of(w->queue, struct wait_bucket, queue)->work);
	else
		wake_up_all(w->queue);
}

/* ---- the log ---- */

static DEFINE_RATELIMIT_STATE(warn_limit, 5 * HZ, 10);
static DEFINE_RAW_SPINLOCK(warn_lock);
static char warn_line[256];	/* waits for warn_work */

static void warn_print(struct irq_work *work)
{
	char line[sizeof(warn_line)];
	unsigned long flags;

	raw_spin_lock_irqsave(&warn_lock, flags);
	memcpy(line, warn_line, sizeof(line));
	warn_line[0] = 0;
	raw_spin_unlock_irqrestore(&warn_lock, flags);
	if (line[0])
		pr_warn("%s\n", line);
}
static struct irq_work warn_work;

/* The console may not be used under a run queue's lock either. */
void hwt_warn(const char *fmt, ...)
{
	unsigned long flags;
	va_list ap;

	if (!__ratelimit(&warn_limit))
		return;
	va_start(ap, fmt);
	raw_spin_lock_irqsave(&warn_lock, flags);
	vscnprintf(warn_line, sizeof(warn_line), fmt, ap);
	raw_spin_unlock_irqrestore(&warn_lock, flags);
	va_end(ap);
	irq_work_queue(&warn_work);
}

int hwt_linux_os_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(waits); i++) {
		init_waitqueue_head(&waits[i].queue);
		init_irq_work(&waits[i].work, wait_work);
	}
	init_irq_work(&warn_work, warn_print);
	return 0;
}

/* Nothing queues any more; what was queued runs out. */
void hwt_linux_os_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(waits); i++)
		irq_work_sync(&waits[i].work);
	irq_work_sync(&warn_work);
}

/* ---- user memory ---- */

int hwt_copyin(uint64_t uaddr, void *dst, size_t n)
{
	return copy_from_user(dst, u64_to_user_ptr(uaddr), n) ? -EFAULT : 0;
}

int hwt_copyout(const void *src, uint64_t uaddr, size_t n)
{
	return copy_to_user(u64_to_user_ptr(uaddr), src, n) ? -EFAULT : 0;
}

int hwt_copyinstr(uint64_t uaddr, char *dst, size_t n)
{
	long len = strncpy_from_user(dst, u64_to_user_ptr(uaddr), n);

	if (len < 0)
		return -EFAULT;
	return (size_t)len == n ? -ENAMETOOLONG : 0;
}
