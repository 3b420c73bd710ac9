/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Backends: a const ops table looked up by name, and the buffer that a trace
 * unit fills.  CPU mode and thread mode differ only in who calls switch_in.
 */
#ifndef HWT_BACKEND_H
#define HWT_BACKEND_H

#include "hwt_os.h"
#include <hwt/bus.h>
#include <hwt/hwt_ext.h>

struct hwt_core;
struct hwt_backend;

/*
 * A BUFFER record that waits to be fetched: core keeps at most one a buffer, so
 * they need no room in the record queue and are never lost.  Queue's lock.
 */
struct hwt_buffer_record {
	bool			queued;
	uint64_t		order;		/* comes before the record with that number */
	uint64_t		time, head, tail, lost;
	uint32_t		flags, generation, version;
	struct hwt_buffer	*next;
};

/*
 * A buffer: pages that one thread's or CPU's unit writes trace into.
 * core owns it; the backend keeps its save area in `priv` and maintains head
 * and tail, absolute 64-bit byte counts since the buffer was made.
 *
 * ring is true until the first SVC_BUF of the context (of a backend that can
 * overwrite): a reader that must not lose the first bytes sends one with tail
 * 0 before START; buffers made later start as the context then is.
 */
struct hwt_buffer {
	struct hwt_core		*core;
	struct hwt_backend	*backend;
	struct hwt_context	*ctx;
	struct hwt_thread	*thr;		/* thread mode, else NULL */
	int			cpu;		/* CPU mode, else -1 */
	int			buf_id;		/* tid or cpu id */
	uint64_t		bufsize;	/* bytes */
	struct hwt_pages	*pages;
	struct hwt_spin		lock;		/* guards what follows; taken from irq */
	uint64_t		head;		/* written so far (as of the last look) */
	uint64_t		tail;		/* given back by SVC_BUF (full mode) */
	uint64_t		gaps;		/* the unit stopped for room, or could not write: trace is missing */
	bool			collided;	/* HWT_BUF_COLLISION is to be told */
	bool			ring;		/* core: no SVC_BUF ever came: overwrite */
	bool			stopped_full;	/* core: off its unit until SVC_BUF makes room, */
	bool			held;		/* or on it, and its CPU stands still */
	void			*priv;		/* backend's save area */
	/*
	 * Where the trace goes: to b itself, or (scope context) to an earlier thread's or
	 * CPU's buffer.  Pages, head, tail, gaps and ring are that one's, and its lock guards
	 * them.  source: what marks b's trace there; 0: nothing does, or needs to.
	 */
	struct hwt_buffer	*sink;
	int			source;

	/* core's own */
	uint32_t		nsources;	/* a sink's, that have a mark; its lock */
	int			told;		/* the source that a SOURCE record told of */
	struct hwt_spin		unit_lock;	/* serialises the ops that touch the unit */
	int			unit;		/* that it is switched in on, -1: none */
	uint32_t		start_seq;	/* of the context's, that it has taken */
	uint32_t		config_seq;
	bool			final;		/* never switched in again */
	bool			retired;	/* pages were given back */
	uint64_t		last_offset, last_data; /* final: read()'s last answer */
	struct hwt_node		*node;
	struct hwt_buffer_record record;
};

/* irq()'s and switch_out()'s answer, bits. */
#define HWT_IRQ_NONE		0	/* not this unit's interrupt */
#define HWT_IRQ_PROGRESS	0x1	/* head moved: queue a BUFFER record */
#define HWT_IRQ_FULL		0x2	/* no room before tail: unit is stopped */
/*
 * With FULL, where the host may hold: the unit stays on (it may be in the middle of
 * output) and its CPU must not go on; irq() is called again when there is room.
 */
#define HWT_IRQ_HELD		0x8
#define HWT_IRQ_TELL		0x4	/* bufptr() has news: signal the eventfd in any case */

struct hwt_backend_ops {
	/*
	 * Save area and tables for a buffer whose pages, if it is a sink, are in
	 * place.  May sleep.  0; -ENOMEM; -EINVAL: of this size none can be;
	 * -ENXIO, -EBUSY: no unit for it, or others have it.  fini gets what init
	 * left, also half of it; not if that is not even priv.
	 */
	int (*buffer_init)(struct hwt_buffer *b);
	void (*buffer_fini)(struct hwt_buffer *b);

	/*
	 * Checks a configuration (already copied in; size is the caller's) for
	 * a mode and a caller against the unit's capabilities and returns an
	 * object of core's hwt_alloc for set_config.  May sleep.
	 * -EINVAL malformed, -EOPNOTSUPP the unit or the mode lacks it,
	 * -EPERM needs privilege.
	 */
	int (*config_check)(struct hwt_backend *be, int mode,
			    const struct hwt_cred *cred, const void *config,
			    size_t size, int version, void **out);
	size_t config_size;		/* bytes to copy in; caller may pass more */
	size_t config_size2;		/* of a configuration of version 2; 0: none */
	/*
	 * Makes `config` (checked, copied into the save area) the one that the
	 * next switch_in programs.  The unit is not running this buffer.
	 */
	void (*set_config)(struct hwt_buffer *b, const void *config);

	/*
	 * Scope context: a mark for one more source of the sink, > 0; -EAGAIN: it has as
	 * many as there are marks, and the source gets a buffer of its own.  put: nothing
	 * more comes under that mark.  No sleep; sink->lock is not held.
	 */
	int (*source_get)(struct hwt_buffer *sink);
	void (*source_put)(struct hwt_buffer *sink, int source);

	/* Address ranges that the unit has, as far as it is known yet. NULL: nranges. */
	uint32_t (*ranges)(struct hwt_backend *be);

	/*
	 * Start and end of a stretch on `unit`, on that CPU, interrupts off:
	 * no sleep, no allocation; core serialises them a buffer.  HWT_IRQ_FULL
	 * from switch_out or irq means that the unit is stopped and saved as by
	 * switch_out; core calls switch_in again once there is room.  switch_in restores the save area (the
	 * first one after fresh == true begins with a sync point);
	 * switch_out saves it, drains, and updates head: HWT_IRQ_* bits.
	 */
	void (*switch_in)(struct hwt_buffer *b, int unit, bool fresh);
	int (*switch_out)(struct hwt_buffer *b, int unit);
	/* The unit's interrupt, on its CPU: HWT_IRQ_* bits. */
	int (*irq)(struct hwt_buffer *b, int unit);

	/*
	 * Looks where the running unit (or, unit < 0, the save area) is and
	 * updates head.  *offset is inside the buffer, *data the absolute
	 * position.  Callable at any time with b->lock not held.
	 */
	int (*read)(struct hwt_buffer *b, int unit, uint64_t *offset,
		    uint64_t *data);

	/*
	 * HWT_IOC_SVC_BUF on a context: `data` is copied in, svc_size bytes.
	 * Finds the buffer by core's hwt_context_buffer(ctx, buf_id), moves its
	 * tail.  -EINVAL: unknown version, size, a tail that goes back or
	 * passes head.  -ENOENT: no such buffer.  *out is the buffer.
	 * core then clears b->ring and resumes a unit that had stopped full.
	 */
	int (*svc_buf)(struct hwt_context *ctx, const void *data, size_t size,
		       int version, struct hwt_buffer **out);
	size_t svc_size;
	size_t svc_size2;		/* of version 2; 0: none */

	/*
	 * HWT_IOC_BUFPTR_GET where it is not read(): something of b that waits to
	 * be told, or -ENOENT.  idle: no more comes for now (stopped, or ended).
	 * Asked of each buffer of the context, the first one first.
	 */
	int (*bufptr)(struct hwt_buffer *b, bool idle, uint64_t *offset, uint64_t *data);

	/*
	 * Is there room enough that switch_in of a stopped buffer makes sense?
	 * NULL: a quarter of the buffer has to be free.
	 */
	bool (*room)(struct hwt_buffer *b);
};

struct hwt_backend {
	const char	*name;			/* "pt" */
	const struct hwt_backend_ops *ops;
	struct hwt_bus	*bus;			/* NULL: no unit here */
	uint32_t	scope;			/* HWT_SCOPE_* */
	uint32_t	modes;			/* 1 << HWT_MODE_* */
	uint32_t	nranges;		/* unless ops->ranges tells */
	uint32_t	flags;			/* HWT_QUERY_RING */
	enum hwt_pages_how pages;		/* of buffers */
	void		*owner;			/* host's own: what holds its code */
	struct hwt_backend *next;		/* core's list */
	int		users;			/* contexts; core's lock */
};

/* What hwt_load was given: the host's ops and its own pointer. */
const struct hwt_host_ops *hwt_core_host_ops(const struct hwt_core *core);
void *hwt_core_host(const struct hwt_core *core);

/* The buffer of a context by its id, or NULL. For svc_buf, in ioctl context. */
struct hwt_buffer *hwt_context_buffer(struct hwt_context *ctx, int buf_id);

#endif
