/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One instance of the framework, and the order of its locks.
 *
 *   ctx->mutex            sleeps; ioctls only, no hook takes it.  Held while
 *                         host ops run, also thread_call, which on the embedded
 *                         host waits for hooks to be served
 *     core->lock          backends, owners, contexts, CPUs, paused children
 *     bucket->lock        contexthash
 *     buf->unit_lock      held around the backend's switch_in, switch_out, irq, read
 *       ctx->lock         state, configuration, list of threads
 *         buf->lock       the backend's: positions
 *     queue->lock         records and pauses; innermost
 *   queue->reader         sleeps; one reader at a time; nothing is taken under it
 *                         but queue->lock
 *
 * core->lock may be held while ctx->lock or queue->lock is taken.
 */
#ifndef HWT_VAR_H
#define HWT_VAR_H

#include "hwt_core.h"

#define HWT_CONTEXTHASH	256u	/* power of two */
#define HWT_OWNERHASH	64u

struct hwt_contexthash {
	struct hwt_spin		lock;
	struct hwt_context	*first;
};

struct hwt_core {
	const struct hwt_host_ops *ops;
	void			*host;
	void			(*wakeup)(void *host);

	struct hwt_spin		lock;
	struct hwt_backend	*backends;
	struct hwt_owner	*owners[HWT_OWNERHASH];
	struct hwt_context	*contexts;	/* all, for idents */
	struct hwt_context	*lingering;	/* ended, but a unit still runs */
	struct hwt_child	*children;	/* paused after fork */
	struct hwt_cpu		**cpus;		/* CPU mode: by CPU, all backends */
	int			ncpus;

	struct hwt_wait		drained;	/* a context's last hook has left */
	struct hwt_wait		child_wait;
	struct hwt_contexthash	hash[HWT_CONTEXTHASH];
};

/* Tells the host to look again at the threads that it holds.  No spin lock held. */
void hwt_core_wakeup(struct hwt_core *core);
/* The owner's name for a pid of the host. */
int hwt_core_pid_to_user(struct hwt_core *core, void *target, int pid);

/* Finds by name and takes a use of it, or NULL. */
struct hwt_backend *hwt_backend_use(struct hwt_core *core, const char *name);
void hwt_backend_unuse(struct hwt_core *core, struct hwt_backend *be);
/* HWT_IOC_QUERY. */
int hwt_backend_query(struct hwt_core *core, struct hwt_query *q);

#endif
