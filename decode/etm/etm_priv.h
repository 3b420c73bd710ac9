/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of the ETM decoder.
 *
 *	etm_decoder.c	bytes to OpenCSD, errors, the caller's side
 *	etm_elem.c	OpenCSD's elements to events
 *	etm_block.c	blocks by address, and what A64 instructions are
 *	etm_frames.c	the formatter's frames
 *	etm_source.c	a source's registers to OpenCSD
 *	etm_packet.c	packets as a list
 */
#ifndef DECODE_ETM_PRIV_H
#define DECODE_ETM_PRIV_H

#include <opencsd/c_api/opencsd_c_api.h>
#include "etm_decoder.h"
#include "etm_frames.h"

#define ETM_MAX_RUN	4096u		/* instructions; longer ranges are cut */

struct etm_block {
	struct trace_block b;
	bool overrun;			/* has branches in it */
	struct etm_block *next;		/* hash chain */
	struct etm_block *all;
};

struct etm_blocks {
	struct etm_block **hash;
	uint32_t mask;
	struct etm_block *all;		/* also those that were dropped */
	uint32_t n, live;
};

struct etm_decoder {
	struct etm_decoder_config config;
	dcd_tree_handle_t tree;
	struct etm_frames frames;
	struct etm_blocks blocks;

	const uint8_t *bytes;		/* not given to OpenCSD yet */
	size_t nbytes;
	uint64_t offset;		/* of bytes[0]; unformatted */
	bool finishing, ended, nomem;
	uint64_t walked;		/* bytes of code asked for since the last element */

	struct trace_event *queue;
	uint32_t head, n, room;

	/* State of the flow. */
	bool flow;			/* known: between ENABLED and DISABLED */
	bool synced;			/* an A-sync was seen since the last trouble */
	bool held_run;			/* `run` waits for where it leads */
	struct trace_event run;
	bool held_exception;		/* so does `exception` */
	struct trace_event exception;
	bool held_gap;			/* and `gap` for the bytes that it spans */
	struct trace_event gap;
	uint64_t skipped, skipped_at;	/* bytes without sync, and where they began */
	bool time_known, cycles_known;
	uint64_t time, cycles;
	uint32_t cid;
	bool cid_known;
	bool overflow_told;		/* by the unsync, not again by the trace on */

	/*
	 * What OpenCSD's return stack does, where TRCCONFIGR.RS is set: before 1.5.2 it
	 * dies of an exception that follows an indirect branch without a target while
	 * the stack is empty (as after ERET); see guard().
	 */
	bool pop_pending;		/* the last atom was an indirect branch */
	bool eret_pending;		/* of that kind */
	/*
	 * Code that is missing has called and returned, nobody knows how often: what
	 * OpenCSD has on its stack is true only for `sure` entries, pushed since.
	 * What it takes from below is left out, and the rest up to the next A-sync.
	 */
	bool unsure, stale;
	uint32_t sure;
	uint64_t stale_at;		/* offset of the packet that made it do so */
	/*
	 * Since the last reset came a trace info, and behind it an address.  What comes
	 * before the first is packets that OpenCSD takes, and makes no elements of.
	 */
	bool informed, addressed;
	/*
	 * Behind the last atom came an address.  OpenCSD 1.3.3 takes it back where that
	 * atom was mispredicted, and dies of it if no atom is left; see guard().
	 */
	bool address_newest;
	/*
	 * A packet that is none: OpenCSD waits for an A-sync then, but takes what comes
	 * before for packets, one of which may swallow the A-sync's beginning.  So it is
	 * reset behind that packet.
	 */
	bool bad;
	uint64_t bad_at;		/* offset */
	bool at_header;			/* what comes next begins a packet */
	uint32_t stack;			/* entries */
};

/* Does OpenCSD's next step take its target from the return stack? */
static inline bool etm_pops(const struct etm_decoder *d)
{
	return d->pop_pending && d->config.source.configr & TRCCONFIGR_RS;
}

/* OpenCSD's return stack is empty now. */
static inline void etm_stack_empty(struct etm_decoder *d)
{
	d->pop_pending = d->unsure = false;
	d->stack = d->sure = 0;
}

/* etm_source.c: makes the decoder, or (by flags) its packet layer alone: -errno. */
int etm_create(dcd_tree_handle_t tree, const struct etm_source *s, int flags,
	       unsigned char *id);

/* etm_block.c */
struct etm_range {
	uint64_t start, end;
	uint32_t ninsn;
	uint8_t kind;			/* enum block_end */
	bool a64;
};
/* The block of a range; NULL: no memory. */
const struct trace_block *etm_block_get(struct etm_decoder *d, const struct etm_range *r);
/* Was it walked across branches that have no atoms, to an address that is not there? */
bool etm_block_overrun(const struct trace_block *b);
void etm_blocks_drop(struct etm_blocks *b, uint64_t addr, uint64_t len);
void etm_blocks_free(struct etm_blocks *b);
/* Is the instruction at ip SVC, HVC or SMC? */
bool etm_is_call(struct etm_decoder *d, uint64_t ip);

/* etm_elem.c */
ocsd_datapath_resp_t etm_element(const void *ctx, const ocsd_trc_index_t index,
				 const uint8_t id, const ocsd_generic_trace_elem *elem);
void etm_monitor(const void *ctx, const ocsd_datapath_op_t op,
		 const ocsd_trc_index_t index, const void *packet, const uint32_t size,
		 const uint8_t *bytes);
/* Everything that waits goes out; flow is not known any more. */
void etm_flow_end(struct etm_decoder *d);
void etm_push(struct etm_decoder *d, const struct trace_event *ev);
/* The flow returns to code that is not there, and goes on unseen from `offset`. */
void etm_return_lost(struct etm_decoder *d, uint64_t offset);
void etm_error(struct etm_decoder *d, enum trace_gap error, uint64_t offset);
void etm_skipped_out(struct etm_decoder *d);

#endif
