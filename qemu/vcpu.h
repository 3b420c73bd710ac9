/* SPDX-License-Identifier: BSD-2-Clause */
/* One virtual CPU: a thread of the guest. */
#ifndef QEMU_VCPU_H
#define QEMU_VCPU_H

#include "plugin.h"

enum vcpu_mode {
	VCPU_FRESH,	/* made, its thread has not run yet */
	VCPU_LIVE,	/* has a block in the window */
	VCPU_FORKED,	/* in a child, where its system call has not returned yet */
	VCPU_OFF,	/* not traced, or ended */
};

struct vcpu {
	/* Used at each block, as are the unit's first fields: one cache line. */
	struct run *prev;		/* front of the block that is being executed */
	struct vtu_block *block;	/* never NULL: a private one when it has none */
	struct pt_unit pt;		/* vtu.unit == &unit_pt */
	void *unit;			/* what another kind of unit keeps */
	struct guest_env *env;		/* the emulator's state of this vCPU */
	bool in;			/* the unit was told that we are in guest code */
	bool reached;			/* prev (R_CUT) got to its last instruction */
	uint8_t mode;			/* enum vcpu_mode */
	bool map_locked;		/* holds map_order from callback to return */
	bool native;			/* was to go on as a program that is not ours */
	bool quitting;			/* the process ends: hooks do not wait */
	uint32_t index;
	uint32_t served;		/* doorbell request served last */
	uint64_t generation;		/* of the code, that the host was told last */
	int tid;
	int64_t call;			/* enum guest_call being made */
	uint64_t arg[6];
	struct execlog *log;
};

/* The calling thread's, once it has run. */
extern __thread struct vcpu *vcpu_self;

/* The block that stands for "outside of guest code". */
extern struct run vcpu_outside;

/*
 * Stands for a vCPU whose attention the plugin itself has set: nothing follows
 * its prev, so that the next callback leaves the fast path.  What the host sets
 * is seen there, too: the fast path ends with each TNT packet, indirect branch,
 * call and jump back, so no loop stays in it.
 */
extern struct vcpu vcpu_attending;

static inline struct block_info *run_info(const struct run *r)
{
	return r->priv;
}

static inline const struct run *run_real(const struct run *r)
{
	return run_info(r)->real;
}

void vcpu_init(qemu_plugin_id_t id, unsigned int index);
/* The exec callback, before the thunk: entry of QEMU. */
void vcpu_exec_thunk(unsigned int index, void *run);
/* The same for a block that is one REP string instruction and nothing else. */
void vcpu_exec_rep_thunk(unsigned int index, void *run);
/* The same for any unit, by calls. */
void vcpu_exec_any_thunk(unsigned int index, void *run);
void vcpu_reached(unsigned int index, void *unused);

/* Claims a block and powers the unit on; false: none free, runs untraced. */
bool vcpu_attach(struct vcpu *v);
/* Gives up tracing on this vCPU; its block goes to GONE. */
void vcpu_detach(struct vcpu *v);

/* Did the unit's driver turn it on? */
static inline bool vcpu_tracing(const struct vcpu *v)
{
	return vtu.unit->tracing(v);
}

/*
 * prev retired with `next` the following instruction; for prev that was cut
 * short, as many of its instructions as led to next.
 */
void vcpu_retire(struct vcpu *v, uint64_t next);
/* n instructions of r, a real one or its taken twin, into the unit. */
void vcpu_feed(struct vcpu *v, const struct run *r, uint32_t n, uint64_t next);
/* All of r, whose end leads to another level. */
void vcpu_feed_far(struct vcpu *v, const struct run *r, const struct unit_place *to);
/* Stops the stream before the instruction at `at`, which was not executed. */
void vcpu_leave(struct vcpu *v, uint64_t at, enum unit_event why);
/* Index of the instruction at ip in r (a real one), or -1. */
int vcpu_index_of(const struct run *r, uint64_t ip);
/* A system call was made: prev's last instruction. */
void vcpu_syscall(struct vcpu *v);
/* This vCPU's clock to the tree's, and back. */
void vcpu_publish(struct vcpu *v);
void vcpu_clock_sync(struct vcpu *v);
/* An event that makes a record: time passes. */
void vcpu_clock_event(struct vcpu *v);

/* Sets bits in v's attention; they are seen before its next block. */
void vcpu_attention(struct vcpu *v, uint32_t bits);
/* The same for every live vCPU of the process but `but`. */
void vcpus_attention(const struct vcpu *but, uint32_t bits);

#endif
