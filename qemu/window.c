// SPDX-License-Identifier: BSD-2-Clause
#include "window.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process.h"

#define CLAIM_TRIES	100	/* times 10 ms */

struct vtu_block window_no_block;

static long futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static void wake(uint32_t *word)
{
	futex(word, FUTEX_WAKE, INT_MAX, NULL);
}

static void *map_file(int fd, int extra, uint64_t *size)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) < 0)
		return MAP_FAILED;
	*size = (uint64_t)st.st_size;
	p = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED | extra, fd, 0);
	if (p != MAP_FAILED)
		madvise(p, *size, MADV_DONTDUMP);
	return p;
}

int window_map(int window_fd, int dram_fd)
{
	struct vtu_header *h = map_file(window_fd, MAP_NORESERVE, &vtu.window_size);

	if (h == MAP_FAILED)
		return -errno;
	if (vtu.window_size < VTU_HEADER_SIZE || h->magic != VTU_MAGIC ||
	    h->version != VTU_VERSION || h->header_size != VTU_HEADER_SIZE ||
	    h->block_size != VTU_BLOCK_SIZE || h->nblocks > VTU_MAX_BLOCKS ||
	    vtu.window_size < VTU_WINDOW_SIZE(h->nblocks))
		return -EPROTO;
	vtu.window = h;
	vtu.flags = h->flags;
	vtu.dram = map_file(dram_fd, MAP_NORESERVE, &vtu.dram_size);
	if (vtu.dram == MAP_FAILED)
		return -errno;
	return 0;
}

/* State letter of /proc/PID/stat, behind the name's last ')'; 0: no process. */
static char proc_state(int pid)
{
	char path[64], text[512], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && kill(pid, 0) < 0 && errno == ESRCH ? 0 : '?';
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	p = strrchr(text, ')');
	return p && p[1] ? p[2] : '?';
}

bool window_owner_alive(void)
{
	char state;

	if (__atomic_load_n(&vtu.window->owner_gone, __ATOMIC_ACQUIRE))
		return false;
	state = proc_state(vtu.owner_pid);
	return state && state != 'Z' && state != 'X';
}

/* A block is zero but for its registers and payload, which users set. */
static void clean(struct vtu_block *b)
{
	size_t head = offsetof(struct vtu_block, ring);

	memset((char *)b + offsetof(struct vtu_block, pid), 0,
	       head - offsetof(struct vtu_block, pid));
	__atomic_store_n(&b->attention, 0, __ATOMIC_SEQ_CST);
}

struct vtu_block *window_claim(void)
{
	static uint32_t hint;
	uint32_t i, n = vtu.window->nblocks, tries;
	struct timespec pause = {0, 10000000};

	for (tries = 0; tries < CLAIM_TRIES; tries++) {
		for (i = 0; i < n; i++) {
			struct vtu_block *b = vtu_block(vtu.window, (hint + i) % n);
			uint32_t want = VTU_FREE;

			if (b->state != VTU_FREE ||
			    !__atomic_compare_exchange_n(&b->state, &want, VTU_CLAIMED, 0,
							 __ATOMIC_SEQ_CST,
							 __ATOMIC_SEQ_CST))
				continue;
			hint = 0;	/* low blocks first: pages touched stay few */
			clean(b);
			return b;
		}
		if (!window_owner_alive())
			break;
		nanosleep(&pause, NULL);
	}
	__atomic_add_fetch(&vtu.window->lost_threads, 1, __ATOMIC_RELAXED);
	return NULL;
}

uint32_t window_block_number(const struct vtu_block *b)
{
	return (uint32_t)(((const char *)b - (const char *)vtu.window - VTU_HEADER_SIZE) /
			  VTU_BLOCK_SIZE);
}

static void ring_service(const struct vtu_block *b)
{
	uint32_t n = window_block_number(b);

	__atomic_or_fetch(&vtu.window->pending[n / 64], 1ull << n % 64, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&vtu.window->service, 1, __ATOMIC_SEQ_CST);
	wake(&vtu.window->service);
}

void window_release(struct vtu_block *b)
{
	if (b == &window_no_block)
		return;
	window_set_state(b, VTU_GONE);
	ring_service(b);
}

/* The doorbell: register writes, in order, then the acknowledgement. */
static void serve(struct vcpu *v)
{
	struct vtu_block *b = v->block;
	uint32_t request = __atomic_load_n(&b->request, __ATOMIC_ACQUIRE);
	uint32_t tail, done = v->served;
	const struct vtu_command *c;

	if (request == b->ack)
		return;
	tail = __atomic_load_n(&b->ring_tail, __ATOMIC_ACQUIRE);
	if (tail - done > VTU_RING)	/* the host lapped itself */
		done = tail - VTU_RING;
	for (; done != tail; done++) {
		c = &b->ring[done % VTU_RING];
		if (vtu.unit->write(v, c->reg, c->value) < 0) {
			b->fault_reg = c->reg;
			b->faults++;
		}
	}
	v->served = done;
	__atomic_store_n(&b->ack, request, __ATOMIC_SEQ_CST);
	wake(&b->ack);
}

/*
 * True: the host answered.  False: nobody will.  Once the record is queued, a
 * thread that is kept keeps no other one from telling of its mappings.
 */
static bool await_done(struct vcpu *v, uint32_t seq)
{
	struct timespec piece = {.tv_nsec = VTU_LIVENESS_MS * 1000000l};
	struct vtu_block *b = v->block;
	uint32_t word;

	for (;;) {
		word = __atomic_load_n(&b->wake, __ATOMIC_SEQ_CST);
		serve(v);
		if (__atomic_load_n(&b->hook_done, __ATOMIC_SEQ_CST) == seq)
			return true;
		if (v->map_locked && __atomic_load_n(&b->hook_told, __ATOMIC_SEQ_CST) == seq) {
			pthread_mutex_unlock(&vtu.map_order);
			v->map_locked = false;
		}
		if (__atomic_load_n(&b->attention, __ATOMIC_SEQ_CST) & VTU_ATTN_QUIT &&
		    !v->quitting)
			return false;
		if (futex(&b->wake, FUTEX_WAIT, word, &piece) < 0 && errno == ETIMEDOUT &&
		    !window_owner_alive())
			return false;
	}
}

bool window_hook(struct vcpu *v, enum vtu_hook_type type, uint64_t a0, uint64_t a1,
		 uint64_t a2)
{
	/* Those that make records: time passes before and after. */
	bool event = type != VTU_HOOK_IRQ && type != VTU_HOOK_PARK;
	struct vtu_block *b = v->block;
	uint32_t seq, before;
	bool locked = v->map_locked;

	if (v->mode != VCPU_LIVE)
		return false;
	if (event)
		vcpu_clock_event(v);
	vtu.unit->flush(v, true);
	vcpu_publish(v);
	b->generation = v->generation;
	b->hook_type = type;
	b->hook_args[0] = a0;
	b->hook_args[1] = a1;
	b->hook_args[2] = a2;
	before = b->state;
	window_set_state(b, VTU_HOOK);
	seq = __atomic_add_fetch(&b->hook_seq, 1, __ATOMIC_SEQ_CST);
	ring_service(b);
	if (!await_done(v, seq)) {
		if (window_owner_alive())
			vcpu_detach(v);	/* the process ends */
		else
			process_detach();
		return false;
	}
	window_set_state(b, before);
	vcpu_clock_sync(v);
	if (event)
		vcpu_clock_event(v);
	/* The rest of its change is told in order again. */
	if (locked && !v->map_locked) {
		pthread_mutex_lock(&vtu.map_order);
		v->map_locked = true;
	}
	return true;
}
