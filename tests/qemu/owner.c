// SPDX-License-Identifier: BSD-2-Clause
#include "owner_units.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../hw/pt.h"
#include "../../vtu/launch.h"

#define NREGIONS	2u
#define TABLE		0x3ff000ull	/* in it: the ToPA table */

static void futex_wake(uint32_t *w)
{
	syscall(SYS_futex, w, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void *grow(void *p, size_t n, size_t size)
{
	if (n & (n - 1) && n)
		return p;
	p = realloc(p, (n ? 2 * n : 1) * size);
	if (!p)
		abort();
	return p;
}

struct process *owner_process(struct owner *w, int pid)
{
	struct process *p;

	for (p = w->processes; p && p->pid != pid; p = p->next)
		;
	return p;
}

static struct process *new_process(struct owner *w, int pid, struct process *before)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->pid = pid;
	p->before = before;
	p->program = before && before->pid == pid ? before->program + 1 : 0;
	p->next = w->processes;
	w->processes = p;
	return p;
}

static struct stream *get_stream(struct owner *w, struct process *p, int tid)
{
	struct stream *s;

	for (s = w->streams; s; s = s->next)
		if (s->process == p && s->tid == tid && !s->ended)
			return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		abort();
	s->process = p;
	s->tid = tid;
	s->next = w->streams;
	w->streams = s;
	return s;
}

static uint64_t reg(const struct vtu_block *b, uint32_t msr)
{
	return ((const uint64_t *)b->regs)[msr - MSR_RTIT_FIRST];
}

struct unit owner_units[NBLOCKS];

void owner_command(struct owner *w, uint32_t n, uint32_t msr, uint64_t value)
{
	struct vtu_block *b = vtu_block(w->window, n);
	struct vtu_command *c = &b->ring[b->ring_tail % VTU_RING];

	c->reg = msr;
	c->value = value;
	__atomic_store_n(&b->ring_tail, b->ring_tail + 1, __ATOMIC_SEQ_CST);
}

void owner_ring(struct owner *w, uint32_t n)
{
	struct vtu_block *b = vtu_block(w->window, n);
	uint32_t want = __atomic_add_fetch(&b->request, 1, __ATOMIC_SEQ_CST), seen;
	struct timespec t = {1, 0};
	int tries;

	__atomic_add_fetch(&b->wake, 1, __ATOMIC_SEQ_CST);
	futex_wake(&b->wake);
	for (tries = 0; tries < 20; tries++) {
		seen = __atomic_load_n(&b->ack, __ATOMIC_SEQ_CST);
		if (seen == want)
			return;
		syscall(SYS_futex, &b->ack, FUTEX_WAIT, seen, &t, NULL, 0);
	}
	fprintf(stderr, "owner: doorbell of block %u is not answered\n", n);
	abort();
}

static void program_feed(struct owner *w, uint32_t n)
{
	owner_command(w, n, FEED_REG_ON, 1);
	owner_ring(w, n);
}

static void program_pt(struct owner *w, uint32_t n)
{
	uint64_t base = n * BLOCK_DRAM, *table = (uint64_t *)(w->dram + base + TABLE);
	uint32_t size_field = 0, i;

	while (0x1000u << size_field < w->o.region)
		size_field++;
	for (i = 0; i < NREGIONS; i++)
		table[i] = (base + (uint64_t)i * w->o.region) |
			   (uint64_t)size_field << TOPA_SIZE_SHIFT | TOPA_INT;
	table[NREGIONS] = (base + TABLE) | TOPA_END;
	owner_command(w, n, MSR_RTIT_OUTPUT_BASE, base + TABLE);
	owner_command(w, n, MSR_RTIT_OUTPUT_MASK_PTRS, RTIT_MASK_LOWER);
	owner_command(w, n, MSR_RTIT_STATUS, 0);
	owner_command(w, n, MSR_RTIT_CTL,
		w->o.ctl | RTIT_CTL_TRACEEN | RTIT_CTL_USER | RTIT_CTL_BRANCHEN |
			RTIT_CTL_TOPA);
	owner_ring(w, n);
	owner_units[n].on = true;
	owner_units[n].taken = 0;
}

void owner_append(struct stream *s, const uint8_t *p, size_t n)
{
	if (s->size + n > s->room) {
		s->room = 2 * (s->size + n);
		s->data = realloc(s->data, s->room);
		if (!s->data)
			abort();
	}
	memcpy(s->data + s->size, p, n);
	s->size += n;
}

/* Takes what the unit has written since the last look. */
static void drain(struct owner *w, uint32_t n, bool parked)
{
	struct vtu_block *b = vtu_block(w->window, n);
	uint64_t ptrs, at, ring = (uint64_t)NREGIONS * w->o.region, from, len;

	if (w->o.kind == VTU_UNIT_FEED && n == 0) {
		w->taken = ((const uint64_t *)b->regs)[FEED_REG_TAKEN];
		w->not_taken = ((const uint64_t *)b->regs)[FEED_REG_NOT_TAKEN];
	}
	if (!owner_units[n].stream || !owner_units[n].on)
		return;
	if (w->o.kind == VTU_UNIT_CORESIGHT)
		owner_cs_drain(w, n, parked);
	if (w->o.kind != VTU_UNIT_PT)
		return;
	ptrs = reg(b, MSR_RTIT_OUTPUT_MASK_PTRS);
	at = ((ptrs & RTIT_MASK_TABLE_MASK) >> RTIT_MASK_TABLE_SHIFT) * w->o.region +
	     (ptrs >> RTIT_MASK_OFFSET_SHIFT);
	for (;;) {
		from = owner_units[n].taken % ring;
		if (from == at)
			break;
		len = (at > from ? at : ring) - from;
		owner_append(owner_units[n].stream, w->dram + n * BLOCK_DRAM + from, len);
		owner_units[n].taken += len;
	}
}

static size_t payload_size(const struct vtu_block *b)
{
	const char *path = (const char *)b->payload;

	switch (b->hook_type) {
	case VTU_HOOK_ATTACH:
		return sizeof(struct vtu_hook_attach);
	case VTU_HOOK_EXEC:
		return sizeof(struct vtu_hook_exec);
	case VTU_HOOK_MMAP:
		path = ((const struct vtu_hook_mmap *)b->payload)->path;
		return offsetof(struct vtu_hook_mmap, path) + strlen(path) + 1;
	case VTU_HOOK_THREAD_NAME:
		return 16;
	case VTU_HOOK_CODE:
		return b->hook_args[1];
	case VTU_HOOK_NATIVE:
		return strlen(path) + 1;
	default:
		return 0;
	}
}

static void note(struct process *p, const struct vtu_block *b, uint64_t position)
{
	struct event e = {
		.type = b->hook_type, .tid = b->tid, .generation = b->generation,
		.position = position, .clock = b->clock,
		.args = {b->hook_args[0], b->hook_args[1], b->hook_args[2]},
		.size = payload_size(b),
	};

	e.payload = malloc(e.size + 1);
	if (!e.payload)
		abort();
	memcpy(e.payload, b->payload, e.size);
	p->events = grow(p->events, p->nevents, sizeof(e));
	p->events[p->nevents++] = e;
}

/* How much there is of what its trace lies in. */
static uint64_t position_of(const struct stream *s)
{
	return s->sink ? s->sink->size : s->size;
}

static void mark(struct stream *s, uint64_t generation)
{
	if (s->nmarks && s->marks[s->nmarks - 1].generation == generation)
		return;
	s->marks = grow(s->marks, s->nmarks, sizeof(*s->marks));
	s->marks[s->nmarks++] = (struct mark){position_of(s), generation};
}

static struct process *attach(struct owner *w, struct vtu_block *b)
{
	const struct vtu_hook_attach *a = (const void *)b->payload;
	struct process *before = NULL;

	if (a->reason == VTU_ATTACH_EXEC)
		before = owner_process(w, b->pid);
	else if (a->reason == VTU_ATTACH_FORK)
		before = owner_process(w, (int)a->parent_pid);
	return new_process(w, b->pid, before);
}

static void program(struct owner *w, struct process *p, uint32_t n)
{
	if (w->o.kind == VTU_UNIT_FEED)
		program_feed(w, n);
	else if (w->o.kind == VTU_UNIT_CORESIGHT)
		owner_cs_program(w, p, n);
	else
		program_pt(w, n);
}

static void handle(struct owner *w, uint32_t n)
{
	struct vtu_block *b = vtu_block(w->window, n);
	struct process *p = owner_process(w, b->pid);

	w->hooks++;
	if (b->hook_type == VTU_HOOK_ATTACH)
		p = attach(w, b);
	if (b->hook_type == VTU_HOOK_ATTACH || b->hook_type == VTU_HOOK_THREAD_CREATE) {
		owner_units[n].stream = get_stream(w, p, b->tid);
		owner_units[n].on = false;
		program(w, p, n);
	}
	drain(w, n, true);
	if (b->hook_type != VTU_HOOK_IRQ) {
		note(p, b, position_of(owner_units[n].stream));
		mark(owner_units[n].stream, b->generation);
	}
	if (b->hook_type == VTU_HOOK_PARK) {
		w->parks++;
		if (w->o.own_stop && w->o.kind == VTU_UNIT_PT) {	/* a STOP and a START at one place */
			owner_command(w, n, MSR_RTIT_CTL,
				reg(b, MSR_RTIT_CTL) & ~RTIT_CTL_TRACEEN);
			owner_command(w, n, MSR_RTIT_STATUS, 0);
			owner_command(w, n, MSR_RTIT_CTL, reg(b, MSR_RTIT_CTL));
			owner_ring(w, n);
		}
	}
	if (b->hook_type == VTU_HOOK_EXIT) {
		p->exited = true;
		p->status = b->hook_args[0];
	}
	w->faults += b->faults;
	__atomic_store_n(&b->hook_done, b->hook_seq, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&b->wake, 1, __ATOMIC_SEQ_CST);
	futex_wake(&b->wake);
}

/* Others still feed it. */
static bool is_shared_sink(const struct owner *w, uint32_t n)
{
	return w->o.kind == VTU_UNIT_CORESIGHT && w->o.shared && owner_units[n].stream &&
	       owner_units[n].stream->sink == owner_units[n].stream;
}

static void reap(struct owner *w, uint32_t n)
{
	struct vtu_block *b = vtu_block(w->window, n);

	drain(w, n, false);
	if (owner_units[n].stream) {
		owner_units[n].stream->ended = true;
		owner_units[n].stream->end = position_of(owner_units[n].stream);
	}
	if (is_shared_sink(w, n))
		return;
	owner_units[n].stream = NULL;
	__atomic_store_n(&b->state, VTU_FREE, __ATOMIC_SEQ_CST);
}

static void serve(struct owner *w)
{
	uint64_t bits;
	uint32_t i, n;

	for (i = 0; i < NBLOCKS / 64; i++) {
		bits = __atomic_exchange_n(&w->window->pending[i], 0, __ATOMIC_SEQ_CST);
		for (; bits; bits &= bits - 1) {
			n = i * 64 + (uint32_t)__builtin_ctzll(bits);
			if (vtu_block(w->window, n)->state == VTU_HOOK)
				handle(w, n);
			else if (vtu_block(w->window, n)->state == VTU_GONE)
				reap(w, n);
		}
	}
}

static void ring_all(struct owner *w, uint32_t attention)
{
	uint32_t n;

	for (n = 0; n < NBLOCKS; n++)
		if (owner_units[n].stream)
			__atomic_or_fetch(&vtu_block(w->window, n)->attention, attention,
					  __ATOMIC_SEQ_CST);
}

static int map(const char *name, uint64_t size, void **p)
{
	int fd = memfd_create(name, 0);

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		return -errno;
	*p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	return *p == MAP_FAILED ? -errno : fd;
}

static int set_up(struct owner *w)
{
	struct vtu_header *h;
	void *p;

	w->window_fd = map("window", VTU_WINDOW_SIZE(NBLOCKS), &p);
	if (w->window_fd < 0)
		return w->window_fd;
	w->window = h = p;
	w->dram_fd = map("dram", NBLOCKS * BLOCK_DRAM, &p);
	if (w->dram_fd < 0)
		return w->dram_fd;
	w->dram = p;
	h->magic = VTU_MAGIC;
	h->version = VTU_VERSION;
	h->header_size = VTU_HEADER_SIZE;
	h->nblocks = NBLOCKS;
	h->block_size = VTU_BLOCK_SIZE;
	h->flags = w->o.flags;
	h->unit_kind = w->o.kind;
	h->dram_size = NBLOCKS * BLOCK_DRAM;
	h->owner_pid = getpid();
	h->owner_window_fd = w->window_fd;
	h->owner_dram_fd = w->dram_fd;
	snprintf(h->log_dir, sizeof(h->log_dir), "%s", w->o.log_dir ? w->o.log_dir : "");
	return 0;
}

static int spawn(struct owner *w)
{
	struct vtu_launch l = {
		.qemu = w->o.qemu, .plugin = w->o.plugin, .owner_pid = getpid(),
		.window_fd = w->window_fd, .dram_fd = w->dram_fd,
		.preload = getenv("HWT_EMULATOR_PRELOAD"),
		.path = w->o.argv[0], .argv = w->o.argv, .envp = w->o.envp,
	};
	int err = vtu_launch_resolve(&l);

	if (!err) {
		l.sysroot = vtu_sysroot(vtu_machine(l.elf));
		snprintf(w->window->sysroot, sizeof(w->window->sysroot), "%s",
			 l.sysroot ? l.sysroot : "");
		err = vtu_launch_build(&l);
	}
	if (!err) {
		w->child = fork();
		if (!w->child) {
			execve(l.qemu, l.qemu_argv, l.qemu_envp);
			_exit(127);
		}
		err = w->child < 0 ? -errno : 0;
	}
	vtu_launch_free(&l);
	return err;
}

/* Does any traced process still have a block in use? */
static bool blocks_live(const struct owner *w)
{
	uint32_t n;

	for (n = 0; n < NBLOCKS; n++) {
		const struct vtu_block *b = vtu_block(w->window, n);

		if (b->state != VTU_FREE && b->state != VTU_GONE && b->pid &&
		    !kill(b->pid, 0))
			return true;
	}
	return false;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Has any thread been seen to have executed something? */
static bool runs(const struct owner *w)
{
	uint32_t n;

	for (n = 0; n < NBLOCKS; n++)
		if (vtu_block(w->window, n)->insns)
			return true;
	return false;
}

/* What the options ask for at certain times; the first ones of the program's own time. */
static void act(struct owner *w, double *start, double *parked)
{
	const struct owner_options *o = &w->o;
	bool ends = o->detach_after_ms || o->kill_after_ms;
	int every = o->park_every_ms;

	if (ends && !runs(w)) {
		*start = now();
		every = 5;
	}
	if (every && now() - *parked > every * 1e-3) {
		ring_all(w, VTU_ATTN_PARK);
		*parked = now();
	}
	if (o->detach_after_ms && now() - *start > o->detach_after_ms * 1e-3)
		ring_all(w, VTU_ATTN_DETACH);
	if (o->kill_after_ms && now() - *start > o->kill_after_ms * 1e-3)
		kill(w->child, SIGKILL);
}

int owner_run(struct owner *w, const struct owner_options *o)
{
	struct timespec piece = {0, 2000000};
	double start = now(), parked = start;
	bool gone = false;
	uint32_t seen, n;
	int err;

	memset(w, 0, sizeof(*w));
	w->o = *o;
	err = set_up(w);
	if (!err)
		err = spawn(w);
	if (err)
		return err;
	while (!gone || blocks_live(w)) {
		if (o->die_after_hooks && w->hooks >= (uint32_t)o->die_after_hooks)
			__atomic_store_n(&w->window->owner_gone, 1, __ATOMIC_SEQ_CST);
		seen = __atomic_load_n(&w->window->service, __ATOMIC_SEQ_CST);
		if (!w->window->owner_gone)
			serve(w);
		if (!gone && waitpid(w->child, &w->wait_status, WNOHANG) == w->child)
			gone = true;
		if (!gone)
			act(w, &start, &parked);
		syscall(SYS_futex, &w->window->service, FUTEX_WAIT, seen, &piece, NULL,
			0);
	}
	serve(w);
	for (n = 0; n < NBLOCKS; n++)
		drain(w, n, false);
	return 0;
}

void owner_free(struct owner *w)
{
	munmap(w->window, VTU_WINDOW_SIZE(NBLOCKS));
	munmap(w->dram, NBLOCKS * BLOCK_DRAM);
	close(w->window_fd);
	close(w->dram_fd);
}

size_t owner_count(const struct owner *w, enum vtu_hook_type type)
{
	const struct process *p;
	size_t i, n = 0;

	for (p = w->processes; p; p = p->next)
		for (i = 0; i < p->nevents; i++)
			n += p->events[i].type == type;
	return n;
}
