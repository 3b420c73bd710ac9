/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contexts (CTX): one target or set of CPUs, its buffers, records and owner. */
#ifndef HWT_CONTEXT_H
#define HWT_CONTEXT_H

#include "hwt_record.h"
#include "hwt_var.h"

#define HWT_TIDHASH 64u

struct hwt_context {
	struct hwt_core		*core;
	struct hwt_context	*next;		/* core->contexts */
	struct hwt_context	*owner_next;
	struct hwt_context	*hash_next;
	struct hwt_context	*linger_next;
	struct hwt_ref		ref;		/* core's own, and descriptors */
	struct hwt_ref		users;		/* core's own, and hooks in flight */
	bool			is_drained;	/* no hook will touch it any more */
	int			opens;		/* owner's descriptors; core->lock */
	bool			killed;		/* core->lock */
	bool			hashed;		/* contexthash's lock */

	int			ident;
	int			mode;
	uint64_t		owner;
	uint32_t		uid;
	struct hwt_backend	*backend;
	uint64_t		bufsize;
	struct hwt_event	*event;
	int			pid, user_pid;	/* thread mode: host's numbering, owner's */
	void			*target;
	struct hwt_node		*alias;

	struct hwt_mutex	mutex;		/* ioctls that change the state */

	struct hwt_spin		lock;		/* what follows */
	bool			dying, running, configured, exited;
	bool			full;		/* SVC_BUF came: buffers are no rings */
	bool			kernel;		/* has KERNEL records: wants TEXT_POKE */
	bool			kernel_hooks;	/* host's kernel_done is due */
	uint32_t		pause;		/* HWT_PAUSE_* */
	uint32_t		start_seq, config_seq;
	void			*config;	/* backend's checked object */
	struct hwt_thread	*threads, **threads_end;
	struct hwt_thread	*tids[HWT_TIDHASH];
	struct hwt_cpu		*cpus;		/* CPU mode; fixed after ALLOC */
	unsigned long		*cpu_set;	/* CPU mode; bits */

	struct hwt_record_queue	queue;
};

/* What a unit that works for the context should do. */
struct hwt_context_wants {
	bool		running;
	uint32_t	start_seq, config_seq;
};
void hwt_context_wants(struct hwt_context *ctx, struct hwt_context_wants *out);
/* Gives b the newest configuration, if it has not taken it. */
void hwt_context_configure(struct hwt_context *ctx, struct hwt_buffer *b);
/* Does a buffer that is made now overwrite? */
bool hwt_context_ring(struct hwt_context *ctx);
bool hwt_context_is_dying(struct hwt_context *ctx);
bool hwt_context_is_running(struct hwt_context *ctx);
/* The pause conditions, HWT_PAUSE_*. */
uint32_t hwt_context_pauses(struct hwt_context *ctx);
/* Thread mode: the target is gone. */
bool hwt_context_is_dead(struct hwt_context *ctx);
/* The buffer of the first node, NULL: it has none. */
struct hwt_buffer *hwt_context_first(struct hwt_context *ctx);
/* The next buffer after prev (NULL: first). */
struct hwt_buffer *hwt_context_next(struct hwt_context *ctx, struct hwt_buffer *prev);
/* Every unit takes the context's state now or at the next switch-in; mutex held. */
int hwt_context_sync(struct hwt_context *ctx);
/* hwt_${ident}_${d}; true: `name` is HWT_NODE_NAME bytes. */
#define HWT_NODE_NAME 32
void hwt_context_node_name(char *name, int ident, int d);

/*
 * Makes one with an ident, without target, CPUs or buffers; nobody but the
 * caller sees it.  Takes over be's use and event.  NULL: no memory.
 */
struct hwt_context *hwt_context_alloc(struct hwt_core *core, const struct hwt_cred *cred,
				      struct hwt_backend *be, struct hwt_event *event,
				      uint64_t bufsize, int mode);
/* Belongs to its owner now.  -ENOMEM. */
int hwt_context_own(struct hwt_context *ctx);
/* Ends it: stopped, unpaused, nodes gone; freed with the last descriptor. */
void hwt_context_kill(struct hwt_context *ctx);
void hwt_context_get(struct hwt_context *ctx);
void hwt_context_put(struct hwt_context *ctx);
/* A hook leaves. */
void hwt_context_leave(struct hwt_context *ctx);
/* Frees ended contexts whose units are off now (or all); sleeps. */
void hwt_context_reap(struct hwt_core *core, bool all);

#endif
