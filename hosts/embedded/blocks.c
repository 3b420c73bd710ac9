// SPDX-License-Identifier: BSD-2-Clause
#include "embedded.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE	50		/* polls */
#define POLL_MS		1		/* a running vCPU may enter a system call unseen */

long futex_wait(uint32_t *word, uint32_t value, int timeout_ms)
{
	struct timespec ts = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};

	return syscall(SYS_futex, word, FUTEX_WAIT, value, timeout_ms < 0 ? NULL : &ts, NULL,
		       0);
}

void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void deadline(struct timespec *ts, int timeout_ms)
{
	clock_gettime(CLOCK_MONOTONIC, ts);
	ts->tv_sec += timeout_ms / 1000;
	ts->tv_nsec += timeout_ms % 1000 * 1000000L;
	if (ts->tv_nsec >= 1000000000L) {
		ts->tv_nsec -= 1000000000L;
		ts->tv_sec++;
	}
}

int blocks_init(struct embedded *e)
{
	uint64_t size = VTU_WINDOW_SIZE(VTU_MAX_BLOCKS);
	struct vtu_header *h;
	uint32_t i;
	int err;

	e->window_fd = memfd_create("hwt-window", MFD_CLOEXEC);
	if (e->window_fd < 0)
		return -errno;
	if (ftruncate(e->window_fd, (off_t)size) < 0)
		goto err_fd;
	h = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, e->window_fd,
		 0);
	if (h == MAP_FAILED)
		goto err_fd;
	e->blocks = calloc(VTU_MAX_BLOCKS, sizeof(*e->blocks));
	if (!e->blocks) {
		munmap(h, size);
		errno = ENOMEM;
		goto err_fd;
	}
	for (i = 0; i < VTU_MAX_BLOCKS; i++)
		e->blocks[i].unit = (int)i;
	h->version = VTU_VERSION;
	h->header_size = VTU_HEADER_SIZE;
	h->nblocks = VTU_MAX_BLOCKS;
	h->block_size = VTU_BLOCK_SIZE;
	h->dram_size = DRAM_SIZE;
	h->owner_pid = getpid();
	h->owner_window_fd = e->window_fd;
	h->owner_dram_fd = e->dram.fd;
	h->magic = VTU_MAGIC;
	e->window = h;
	return 0;

err_fd:
	err = -errno;
	close(e->window_fd);
	return err;
}

void blocks_fini(struct embedded *e)
{
	munmap(e->window, VTU_WINDOW_SIZE(VTU_MAX_BLOCKS));
	close(e->window_fd);
	free(e->blocks);
}

struct vtu_block *block_window(struct embedded *e, const struct block *b)
{
	return vtu_block(e->window, (uint32_t)b->unit);
}

void service_kick(struct embedded *e)
{
	__atomic_add_fetch(&e->window->service, 1, __ATOMIC_SEQ_CST);
	futex_wake(&e->window->service);
}

void service_recheck(struct embedded *e)
{
	atomic_store(&e->recheck, true);
	service_kick(e);
}

static void wake_vcpu(struct vtu_block *w)
{
	__atomic_add_fetch(&w->wake, 1, __ATOMIC_SEQ_CST);
	futex_wake(&w->wake);
}

void block_keep(struct embedded *e, struct block *b)
{
	struct vtu_block *w = block_window(e, b);

	__atomic_store_n(&w->hook_told, w->hook_seq, __ATOMIC_SEQ_CST);
	wake_vcpu(w);
}

bool block_release(struct embedded *e, struct block *b)
{
	struct vtu_block *w = block_window(e, b);
	bool pinned;

	pthread_mutex_lock(&e->lock);
	pinned = b->pins != 0;
	if (!pinned) {
		b->parked = false;
		block_hold(b, HOLD_NONE);
		/* Whoever asked for the park is served: there are no pins. */
		__atomic_and_fetch(&w->attention, ~VTU_ATTN_PARK, __ATOMIC_SEQ_CST);
		__atomic_store_n(&w->hook_done, w->hook_seq, __ATOMIC_SEQ_CST);
		wake_vcpu(w);
	}
	pthread_mutex_unlock(&e->lock);
	return !pinned;
}

/* Waits a little for `cond`; the lock is held. */
static void wait_change(struct embedded *e)
{
	struct timespec ts;

	deadline(&ts, POLL_MS);
	pthread_cond_timedwait(&e->cond, &e->lock, &ts);
}

/*
 * Does another vCPU of the target stand still at a block's beginning until this
 * very client makes room?  Whoever waits for the emulator to stop all vCPUs
 * then waits for it, and would never come here.
 */
static bool held_for_room(struct embedded *e, const struct block *but)
{
	const struct block *b;
	uint32_t i;

	for (i = 0; i < e->high; i++) {
		b = &e->blocks[i];
		if (b != but && b->target == but->target &&
		    __atomic_load_n(&b->hold, __ATOMIC_RELAXED) == HOLD_IRQ)
			return true;
	}
	return false;
}

/*
 * Brings the vCPU into a hook.  0: it is parked; -EAGAIN: it is in a system
 * call, quiet, and comes into hook PARK before its next instruction.  Lock held.
 */
static int park(struct embedded *e, struct block *b)
{
	struct vtu_block *w = block_window(e, b);
	int tries = 0;

	while (!b->parked) {
		if (b->dead || !b->target)
			return -EAGAIN;
		__atomic_or_fetch(&w->attention, VTU_ATTN_PARK, __ATOMIC_SEQ_CST);
		switch (__atomic_load_n(&w->state, __ATOMIC_SEQ_CST)) {
		case VTU_SYSCALL:
			b->deferred = true;
			return -EAGAIN;
		case VTU_GONE:
		case VTU_FREE:
			return -EAGAIN;
		}
		if (tries++ >= PATIENCE && held_for_room(e, b)) {
			b->deferred = true;
			return -EAGAIN;
		}
		wait_change(e);
	}
	return 0;
}

int block_call(struct embedded *e, int unit, void (*fn)(void *arg, int cpu), void *arg)
{
	struct block *b;
	bool last;
	int err;

	if (unit < 0 || (uint32_t)unit >= e->window->nblocks)
		return -EAGAIN;
	b = &e->blocks[unit];
	pthread_mutex_lock(&e->lock);
	b->pins++;
	err = park(e, b);
	pthread_mutex_unlock(&e->lock);
	if (!err)
		fn(arg, unit);
	pthread_mutex_lock(&e->lock);
	last = !--b->pins;
	pthread_cond_broadcast(&e->cond);
	pthread_mutex_unlock(&e->lock);
	if (last && !err)
		service_recheck(e);
	return err;
}

void block_doorbell(struct vtu_bus *vb, struct vtu_block *w, uint32_t seq)
{
	struct embedded *e = HWT_CONTAINER_OF(vb, struct trace_unit, bus)->embedded;
	uint32_t unit = (uint32_t)(((char *)w - (char *)e->window - VTU_HEADER_SIZE) /
				   VTU_BLOCK_SIZE);
	struct block *b = &e->blocks[unit];
	uint32_t ack;

	wake_vcpu(w);
	for (;;) {
		ack = __atomic_load_n(&w->ack, __ATOMIC_ACQUIRE);
		if ((int32_t)(ack - seq) >= 0)
			return;
		/* Not parked: the commands wait in the ring for its next park. */
		if (__atomic_load_n(&w->state, __ATOMIC_SEQ_CST) != VTU_HOOK)
			return;
		if (__atomic_load_n(&b->dead, __ATOMIC_RELAXED))
			return;
		futex_wait(&w->ack, ack, VTU_LIVENESS_MS / 4);
		if (syscall(SYS_tgkill, b->pid, b->tid, 0) < 0 && errno == ESRCH)
			return;
	}
}

void block_used(struct vtu_bus *vb, struct vtu_block *w, bool on)
{
	struct embedded *e = HWT_CONTAINER_OF(vb, struct trace_unit, bus)->embedded;
	uint32_t unit = (uint32_t)(((char *)w - (char *)e->window - VTU_HEADER_SIZE) /
				   VTU_BLOCK_SIZE);

	__atomic_add_fetch(&e->blocks[unit].users, on ? 1 : -1, __ATOMIC_SEQ_CST);
	if (!on)
		service_kick(e);
}

void block_free(struct embedded *e, struct block *b)
{
	struct vtu_block *w = block_window(e, b);
	int unit = b->unit;

	*b = (struct block){.unit = unit};
	__atomic_and_fetch(&e->window->pending[unit / 64], ~(1ull << (unit % 64)),
			   __ATOMIC_SEQ_CST);
	w->attention = 0;
	w->hook_type = VTU_HOOK_NONE;
	w->hook_seq = w->hook_done = w->hook_told = 0;
	w->request = w->ack = w->ring_tail = w->ring_done = 0;
	__atomic_store_n(&w->state, VTU_FREE, __ATOMIC_SEQ_CST);
}
