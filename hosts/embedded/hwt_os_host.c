/* SPDX-License-Identifier: BSD-2-Clause */
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "hwt_os_host.h"

static unsigned int fault_left;
static bool fault_done;
static long live;
static void (*log_fn)(const char *line);

void hwt_fault_arm(unsigned int nth)
{
	__atomic_store_n(&fault_done, false, __ATOMIC_RELAXED);
	__atomic_store_n(&fault_left, nth, __ATOMIC_SEQ_CST);
}

bool hwt_fault_hit(void)
{
	unsigned int left = __atomic_load_n(&fault_left, __ATOMIC_RELAXED);

	do {
		if (!left)
			return false;
	} while (!__atomic_compare_exchange_n(&fault_left, &left, left - 1, true,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	if (left != 1)
		return false;
	__atomic_store_n(&fault_done, true, __ATOMIC_SEQ_CST);
	return true;
}

bool hwt_fault_fired(void)
{
	return __atomic_load_n(&fault_done, __ATOMIC_SEQ_CST);
}

void *hwt_alloc(size_t size, enum hwt_alloc_how how)
{
	void *p;

	(void)how;
	if (hwt_fault_hit())
		return NULL;
	p = calloc(1, size ? size : 1);
	if (p)
		__atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
	return p;
}

void hwt_free(void *p)
{
	if (!p)
		return;
	__atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED);
	free(p);
}

long hwt_alloc_live(void)
{
	return __atomic_load_n(&live, __ATOMIC_RELAXED);
}

void hwt_set_log(void (*fn)(const char *line))
{
	__atomic_store_n(&log_fn, fn, __ATOMIC_RELEASE);
}

void hwt_warn(const char *fmt, ...)
{
	void (*fn)(const char *) = __atomic_load_n(&log_fn, __ATOMIC_ACQUIRE);
	char line[512];
	va_list ap;

	if (!fn)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fn(line);
}

void hwt_assert_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "hwt: %s:%d: assertion failed: %s\n", file, line, what);
	abort();
}

void hwt_wait_wake(struct hwt_wait *w)
{
	__atomic_fetch_add(&w->wakes, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&w->sleepers, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &w->wakes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

int hwt_wait_sleep_ms(struct hwt_wait *w, uint32_t seen, int ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000L};
	long rc;
	int err;

	__atomic_fetch_add(&w->sleepers, 1, __ATOMIC_SEQ_CST);
	rc = syscall(SYS_futex, &w->wakes, FUTEX_WAIT_PRIVATE, seen, ms < 0 ? NULL : &ts,
		     NULL, 0);
	err = rc ? errno : 0;
	__atomic_fetch_sub(&w->sleepers, 1, __ATOMIC_SEQ_CST);
	return err == EINTR ? -EINTR : 0;
}

int hwt_wait_sleep(struct hwt_wait *w, uint32_t seen)
{
	return hwt_wait_sleep_ms(w, seen, -1);
}

/*
 * The kernel copies, so that a bad address is an answer and not a fault.
 * Where a sandbox forbids the call, a plain copy is what is left.
 */
static int copy_user(bool in, uint64_t uaddr, void *mem, size_t n)
{
	struct iovec local = {mem, n};
	struct iovec remote = {(void *)(uintptr_t)uaddr, n};
	ssize_t done;

	if (!n)
		return 0;
	if (!uaddr)
		return -EFAULT;
	done = in ? process_vm_readv(getpid(), &local, 1, &remote, 1, 0)
		  : process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
	if (done == (ssize_t)n)
		return 0;
	if (done >= 0 || (errno != EPERM && errno != ENOSYS))
		return -EFAULT;
	if (in)
		memcpy(mem, (const void *)(uintptr_t)uaddr, n);
	else
		memcpy((void *)(uintptr_t)uaddr, mem, n);
	return 0;
}

int hwt_copyin(uint64_t uaddr, void *dst, size_t n)
{
	return copy_user(true, uaddr, dst, n);
}

int hwt_copyout(const void *src, uint64_t uaddr, size_t n)
{
	return copy_user(false, uaddr, (void *)(uintptr_t)src, n);
}

/* Page by page: the string may end just before memory that is not there. */
int hwt_copyinstr(uint64_t uaddr, char *dst, size_t n)
{
	size_t done = 0, part;

	while (done < n) {
		part = HWT_PAGE_SIZE - (uaddr + done) % HWT_PAGE_SIZE;
		if (part > n - done)
			part = n - done;
		if (copy_user(true, uaddr + done, dst + done, part))
			return -EFAULT;
		if (memchr(dst + done, 0, part))
			return 0;
		done += part;
	}
	return -ENAMETOOLONG;
}
