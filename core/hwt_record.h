/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The record queue of a context.
 *
 * Most records lie whole in a ring of bytes that is made with the context, so
 * that publishing one never allocates.  Two kinds need no room in it: the
 * newest BUFFER record of each buffer, and the EXIT record, which always comes
 * last.  What found no room is counted, and a LOST record stands where it
 * would have been.
 *
 * The queue also holds the pauses: a pause is set in the same critical section
 * that publishes its record, so no WAKEUP can come too early.
 */
#ifndef HWT_CORE_RECORD_H
#define HWT_CORE_RECORD_H

#include "hwt_var.h"

#define HWT_RECORD_RING		(256u << 10)	/* bytes; power of two */
#define HWT_RECORD_CODE_MAX	16384u		/* bytes of code a record */
/* The largest: CODE; one with a path is smaller. */
#define HWT_RECORD_MAX		(HWT_RECORD_CODE_MAX + 256u)

struct hwt_pause {
	bool			on;
	uint64_t		order;	/* of the record that announced it */
	struct hwt_wait		wait;
};

struct hwt_record_queue {
	struct hwt_spin		lock;
	struct hwt_wait		wait;	/* readers */
	struct hwt_wait		room;	/* hooks that were refused */
	struct hwt_mutex	reader;
	uint8_t			*ring;
	uint64_t		put, get;	/* bytes ever put and taken */
	uint64_t		nput, nget;	/* records, likewise */
	uint64_t		lost;
	uint32_t		wanted;		/* bytes that a refused hook needs */
	struct hwt_buffer	*buffers;	/* with a BUFFER record, oldest first */
	struct hwt_buffer	**buffers_end;
	bool			closed;		/* the context has ended */
	bool			exit_queued;
	bool			exit_fetched;
	struct hwt_rec		exit;
	struct hwt_rec_exit	exit_status;
	uint8_t			*scratch;	/* reader's: a record, an old entry */
};

/* A record to publish: header, fixed part, variable part. */
struct hwt_record_parts {
	struct hwt_rec		rec;	/* size and PAUSED are filled in */
	const void		*fixed;
	size_t			nfixed;
	const void		*var;	/* a string without its NUL, or bytes */
	size_t			nvar;
	bool			string;
	bool			never_hold; /* nobody could make room: count it as lost */
};

int hwt_record_load(struct hwt_record_queue *q);
void hwt_record_unload(struct hwt_record_queue *q);
/*
 * Publishes; with a pause, sets it.  No sleep.  0, or: -EAGAIN, the queue is
 * full and the host may hold; -ENOSPC, full and counted as lost.  The caller
 * calls hwt_record_notify afterwards, without a spin lock held.
 */
int hwt_record_put(struct hwt_context *ctx, struct hwt_record_parts *parts,
		   struct hwt_pause *pause);
void hwt_record_notify(struct hwt_context *ctx);
/* Counts one that could not even be made. */
void hwt_record_lose(struct hwt_context *ctx);
/* Queues or refreshes the buffer's BUFFER record and notifies. */
void hwt_record_buffer(struct hwt_buffer *b, const struct hwt_buffer_record *r);
/* True: the buffer's last BUFFER record was fetched. */
bool hwt_record_buffer_fetched(struct hwt_buffer *b);
/* The EXIT record. */
void hwt_record_exit(struct hwt_context *ctx, const struct hwt_rec *rec, int status);
/* No more records: readers and held hooks go home. */
void hwt_record_close(struct hwt_record_queue *q);

/* Ends a pause; `fetched`: only if its record was fetched. True: it was on. */
bool hwt_pause_end(struct hwt_record_queue *q, struct hwt_pause *p, bool fetched);
bool hwt_pause_is_on(struct hwt_record_queue *q, struct hwt_pause *p);
bool hwt_record_fetched(struct hwt_record_queue *q, uint64_t order);

/* True: room for what was refused, or no use in waiting. */
bool hwt_record_has_room(struct hwt_record_queue *q);
/* True: a record waits, or none will ever come. */
bool hwt_record_ready(struct hwt_record_queue *q);

/* HWT_IOC_RECORD_GET2 and HWT_IOC_RECORD_GET. */
int hwt_record_get2(struct hwt_context *ctx, struct hwt_record_get2 *get);
int hwt_record_get_old(struct hwt_context *ctx, const struct hwt_record_get *get);

/*
 * For the two above, reader held.  peek copies the next record to scratch: its
 * size, or 0 for none.  take drops the one that was peeked.
 */
struct hwt_record_next {
	struct hwt_buffer	*buffer;
	uint64_t		lost;
	uint32_t		version; /* of the buffer's record, to see a change */
	bool			exit;
};
uint32_t hwt_record_peek(struct hwt_context *ctx, struct hwt_record_next *next);
void hwt_record_take(struct hwt_context *ctx, const struct hwt_record_next *next);

#endif
