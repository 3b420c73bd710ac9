/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads of a context in thread mode, and children that wait after fork. */
#ifndef HWT_THREAD_H
#define HWT_THREAD_H

#include "hwt_record.h"

/* Lives until its context is freed; buffers of dead threads stay readable. */
struct hwt_thread {
	struct hwt_context	*ctx;
	struct hwt_thread	*next;		/* in the order they came */
	struct hwt_thread	*hash_next;
	int			tid;		/* host's numbering; buf.buf_id is the owner's */
	int			unit;		/* where it last stood, -1: unknown */
	uint32_t		generation;
	bool			dead;		/* ctx->lock */
	bool			announced;	/* ctx->lock: THREAD_CREATE is out */
	bool			told;		/* it is in the queue; before, no unit runs */
	struct hwt_pause	pause;
	struct hwt_buffer	buf;
};

/* A paused child that may have no context of its own yet; core->lock. */
struct hwt_child {
	struct hwt_child	*next;
	struct hwt_context	*ctx;		/* the parent's */
	int			pid, tid;	/* host's numbering */
	int			user_tid;	/* parent's owner's */
	struct hwt_pause	pause;
};

/* Lookup by the host's tid, dead ones too; NULL: none. */
struct hwt_thread *hwt_thread_lookup(struct hwt_context *ctx, int tid);
/* The next one after `prev`, NULL: the first.  Threads are never removed. */
struct hwt_thread *hwt_thread_next(struct hwt_context *ctx, struct hwt_thread *prev);
/*
 * Thread with buffer and node, or the one that has this tid already (revived if
 * it was dead).  May sleep; takes no sleeping lock.  `pid_node`: its node is
 * named after the pid.  0; -EEXIST: it was there, alive (*out is set); -ENXIO: the
 * context ends; -ENOMEM; the host's errors.
 */
int hwt_thread_add(struct hwt_context *ctx, int tid, int unit, bool pid_node,
		   struct hwt_thread **out);
/* Frees what hwt_thread_add made; node destroyed before. */
void hwt_thread_free(struct hwt_thread *thr);
/* Marks it dead; true: it was not. */
bool hwt_thread_kill(struct hwt_thread *thr);
/* It goes on at `unit`; true: it was dead. */
bool hwt_thread_revive(struct hwt_thread *thr, int unit);
/* True: the caller is the one to publish its THREAD_CREATE; false gives that back. */
bool hwt_thread_announce(struct hwt_thread *thr, bool publish);
/* Its THREAD_CREATE is in the queue; records of its buffer may follow. */
void hwt_thread_tell(struct hwt_thread *thr);
/*
 * exec makes the caller's tid the pid.  If no thread has that tid (the leader had
 * ended before ALLOC), the caller goes on under it, in its own buffer.
 */
bool hwt_thread_rename(struct hwt_context *ctx, int from, int to);
/* Its buffer is of no more use: a tid that comes again gets a new one. */
void hwt_thread_retire(struct hwt_thread *thr);
bool hwt_thread_is_dead(struct hwt_thread *thr);
/* The calling thread or CPU is it, at `unit`: hwt_buffer_sync, once it was told. */
void hwt_thread_sync_here(struct hwt_thread *thr, int unit);
/* Runs hwt_thread_sync_here on it where it stands.  Mutex held. */
void hwt_thread_sync(struct hwt_thread *thr);

/*
 * Publishes a FORK record and pauses the child with it.  As hwt_record_put;
 * without memory the record goes out, and the child runs on.
 */
int hwt_child_put(struct hwt_context *ctx, struct hwt_record_parts *parts, int pid,
		  int tid, int user_tid);
bool hwt_child_is_paused(struct hwt_core *core, int pid, int tid);
/*
 * Ends pauses of children: of ctx (NULL: any), of that pid and tid (0: any);
 * fetched: only where the FORK record was fetched.  How many.
 */
int hwt_child_wake(struct hwt_core *core, struct hwt_context *ctx, int pid, int tid,
		   bool fetched);
/* WAKEUP_TID through the parent's context, by its owner's number. How many. */
int hwt_child_wake_user(struct hwt_context *ctx, int user_tid);

#endif
