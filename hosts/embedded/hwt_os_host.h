/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host contract's primitives (core/hwt_os.h) on POSIX threads and Linux
 * futexes: for the embedded host and for the tests.
 *
 * There are no interrupts here, so a spin lock is a plain mutex, and a "user
 * address" is an address of this process; hwt_copyin and hwt_copyout still
 * answer -EFAULT for a bad one.
 */
#ifndef HWT_OS_HOST_H
#define HWT_OS_HOST_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HWT_PAGE_SIZE 4096u

/* Memory: zeroed, or NULL.  Never fails by itself with HWT_ATOMIC. */
enum hwt_alloc_how { HWT_MAY_SLEEP, HWT_ATOMIC };
void *hwt_alloc(size_t size, enum hwt_alloc_how how) __attribute__((malloc));
void hwt_free(void *p);

/*
 * Fault injection, for tests: the n-th allocation from now on fails, once;
 * 0 switches it off.  The host's own allocators (pages, nodes, events) ask
 * hwt_fault_hit() so that they are counted too.
 */
void hwt_fault_arm(unsigned int nth);
/* True: this one is to fail. */
bool hwt_fault_hit(void);
/* True since hwt_fault_arm if the armed failure happened. */
bool hwt_fault_fired(void);
/* Blocks of hwt_alloc that live now. */
long hwt_alloc_live(void);

/* Where hwt_warn's lines go; NULL (the default): nowhere. */
void hwt_set_log(void (*fn)(const char *line));
void hwt_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define hwt_memcpy(d, s, n)	memcpy((d), (s), (n))
#define hwt_memset(d, c, n)	memset((d), (c), (n))
#define hwt_memcmp(a, b, n)	memcmp((a), (b), (n))
#define hwt_strlen(s)		strlen(s)
#define hwt_strnlen(s, n)	strnlen((s), (n))
#define hwt_strcmp(a, b)	strcmp((a), (b))

struct hwt_mutex {
	pthread_mutex_t m;
};
static inline void hwt_mutex_init(struct hwt_mutex *l)
{
	pthread_mutex_init(&l->m, NULL);
}
static inline void hwt_mutex_destroy(struct hwt_mutex *l)
{
	pthread_mutex_destroy(&l->m);
}
static inline void hwt_mutex_lock(struct hwt_mutex *l)
{
	pthread_mutex_lock(&l->m);
}
static inline void hwt_mutex_unlock(struct hwt_mutex *l)
{
	pthread_mutex_unlock(&l->m);
}

typedef int hwt_irqflags_t;
struct hwt_spin {
	pthread_mutex_t m;
};
static inline void hwt_spin_init(struct hwt_spin *s)
{
	pthread_mutex_init(&s->m, NULL);
}
#define hwt_spin_lock(s, flags)                                                          \
	do {                                                                             \
		pthread_mutex_lock(&(s)->m);                                             \
		(flags) = 0;                                                             \
	} while (0)
#define hwt_spin_unlock(s, flags)                                                        \
	do {                                                                             \
		(void)(flags);                                                           \
		pthread_mutex_unlock(&(s)->m);                                           \
	} while (0)

/*
 * A wait queue is a futex that counts wake-ups.  The sleeper reads the count
 * before it looks at its condition, so a wake-up in between ends the sleep.
 */
struct hwt_wait {
	uint32_t wakes;
	uint32_t sleepers;
};
static inline void hwt_wait_init(struct hwt_wait *w)
{
	w->wakes = 0;
	w->sleepers = 0;
}
void hwt_wait_wake(struct hwt_wait *w);
/* Sleeps while the count is `seen`: 0, or -EINTR. */
int hwt_wait_sleep(struct hwt_wait *w, uint32_t seen);
/* The same, at most `ms` milliseconds (-1: no limit). */
int hwt_wait_sleep_ms(struct hwt_wait *w, uint32_t seen, int ms);

#define HWT_WAIT_LOOP_(w, condition, on_signal)                                          \
	({                                                                               \
		int hwt_wait_rc_ = 0;                                                    \
		for (;;) {                                                               \
			uint32_t hwt_wait_seen_ =                                        \
				__atomic_load_n(&(w)->wakes, __ATOMIC_SEQ_CST);          \
			if (condition)                                                   \
				break;                                                   \
			hwt_wait_rc_ = (on_signal)(hwt_wait_sleep((w), hwt_wait_seen_)); \
			if (hwt_wait_rc_)                                                \
				break;                                                   \
		}                                                                        \
		hwt_wait_rc_;                                                            \
	})
static inline int hwt_wait_interrupted_(int rc)
{
	return rc;
}
static inline int hwt_wait_goes_on_(int rc)
{
	(void)rc;
	return 0;
}
#define hwt_wait_event(w, condition) HWT_WAIT_LOOP_(w, condition, hwt_wait_interrupted_)
/* A fatal signal ends the process here, so nothing else needs to end the wait. */
#define hwt_wait_event_killable(w, condition) \
	HWT_WAIT_LOOP_(w, condition, hwt_wait_goes_on_)
#define hwt_wait_event_uninterruptible(w, condition) \
	((void)HWT_WAIT_LOOP_(w, condition, hwt_wait_goes_on_))

struct hwt_ref {
	uint32_t n;
};
static inline void hwt_ref_init(struct hwt_ref *r)
{
	__atomic_store_n(&r->n, 1, __ATOMIC_RELAXED);
}
static inline void hwt_ref_get(struct hwt_ref *r)
{
	__atomic_fetch_add(&r->n, 1, __ATOMIC_RELAXED);
}
static inline bool hwt_ref_put(struct hwt_ref *r)
{
	return __atomic_fetch_sub(&r->n, 1, __ATOMIC_ACQ_REL) == 1;
}
static inline bool hwt_ref_get_live(struct hwt_ref *r)
{
	uint32_t n = __atomic_load_n(&r->n, __ATOMIC_RELAXED);

	while (n && !__atomic_compare_exchange_n(&r->n, &n, n + 1, true, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
		;
	return n != 0;
}
#define hwt_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define hwt_store_release(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELEASE)

int hwt_copyin(uint64_t uaddr, void *dst, size_t n);
int hwt_copyout(const void *src, uint64_t uaddr, size_t n);
int hwt_copyinstr(uint64_t uaddr, char *dst, size_t n);

#define HWT_CONTAINER_OF(ptr, type, member) \
	((type *)(void *)((char *)(ptr) - offsetof(type, member)))
void hwt_assert_failed(const char *what, const char *file, int line)
	__attribute__((noreturn));
#define HWT_ASSERT(cond) \
	((cond) ? (void)0 : hwt_assert_failed(#cond, __FILE__, __LINE__))

#endif
