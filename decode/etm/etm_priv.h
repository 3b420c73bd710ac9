/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of the ETM decoder.
 *
 *	etm_decoder.c	the caller's side, and what becomes of each packet
 *	etm_scan.c	bytes to packets
 *	etm_spec.c	packets to those that are committed
 *	etm_address.c	addresses that are told by those before
 *	etm_feed.c	those to OpenCSD
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
#include "etm_scan.h"

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

struct etm_atoms {
	uint32_t n;
	uint32_t taken;			/* a bit an atom, the oldest lowest */
};

struct etm_addresses {			/* as packets told them, the newest first */
	uint64_t address[3];
	uint8_t is[3];			/* instruction set: 1 is T32 */
	bool sf;			/* context: 64-bit state */
};

struct etm_spec {
	uint32_t depth;			/* TRCIDR8.MAXSPEC: P0 elements that may be cancelled */
	bool transactions;		/* their start is a P0 element */
	bool open;			/* an exception's address is to come */
	struct etm_held *held;		/* [first, n): packets that wait */
	uint32_t first, n, room;
	uint32_t uncommitted;		/* P0 elements of these */
	uint32_t unseen;		/* older ones, from before the first sync point */
	struct etm_addresses addresses;
};

enum etm_state {
	ETM_WAITS_ASYNC,
	ETM_WAITS_INFO,
	ETM_DECODES,
};

struct etm_decoder {
	struct etm_decoder_config config;
	dcd_tree_handle_t tree;
	struct etm_frames frames;
	struct etm_scan scan;
	struct etm_spec spec;
	struct etm_blocks blocks;

	const uint8_t *bytes;		/* not given to OpenCSD yet */
	size_t nbytes;
	uint64_t offset;		/* of bytes[0]; unformatted */
	uint64_t taken;			/* bytes of the source so far */
	bool finishing, ended, nomem;
	uint64_t walked;		/* bytes of code asked for since the last element */

	struct trace_event *queue;
	uint32_t head, n, room;

	/* State of the flow. */
	bool flow;			/* known: between ENABLED and DISABLED */
	bool held_run;			/* `run` waits for where it leads */
	struct trace_event run;
	bool held_exception;		/* so does `exception` */
	struct trace_event exception;
	bool held_gap;			/* and `gap` for the bytes that it spans */
	struct trace_event gap;
	uint64_t gap_before;		/* bytes of the source before it */
	bool time_known, cycles_known;
	uint64_t time, cycles;
	uint32_t cid;
	bool cid_known;
	bool overflow_told;		/* by the unsync, not again by the trace on */

	/* Of OpenCSD. */
	enum etm_state state;
	uint8_t feeding;		/* kind of the packet that it has now */
	uint64_t fed_offset, fed_before;	/* of that or of a newer one: see etm_piece */
	bool addressed, contexted;	/* an address, a context came since the reset */
	bool lost;			/* in code that is not there, up to the next address */
	bool astray;			/* it had an address that the trace has not */
	uint32_t waiting;		/* packets that wait for a P0 element */

	/* What its return stack has, where TRCCONFIGR.RS is set. */
	bool pop_pending;		/* the last atom was an indirect branch */
	bool eret_pending;		/* of that kind */
	/*
	 * Code that is missing has called and returned, nobody knows how often: what
	 * OpenCSD has on its stack is true only for `sure` entries, pushed since.
	 * Nothing is taken from below.
	 */
	bool unsure;
	uint32_t sure;
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
	d->sure = 0;
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
/* Everything that waits goes out; flow is not known any more. */
void etm_flow_end(struct etm_decoder *d);
void etm_push(struct etm_decoder *d, const struct trace_event *ev);
/* From `offset` on the flow is in code that is not there, at ip (0: unknown). */
void etm_no_code(struct etm_decoder *d, uint64_t ip, uint64_t offset);
void etm_error(struct etm_decoder *d, enum trace_gap error, uint64_t offset);
void etm_skipped_out(struct etm_decoder *d);
/* The gap that goes on up to the end, if there is one. */
void etm_last_gap_out(struct etm_decoder *d);
/* An A-sync at `offset`. */
void etm_synced(struct etm_decoder *d, uint64_t offset);
/* OpenCSD took the newest entry of its return stack. */
void etm_pop(struct etm_decoder *d);

/* Elements, gaps and errors are told of this packet, or of one before it. */
static inline void etm_now(struct etm_decoder *d, const struct etm_piece *p)
{
	d->fed_offset = p->offset;
	d->fed_before = p->before;
}

/* etm_decoder.c: drops what was decoded so far; the next A-sync goes on. */
void etm_give_up(struct etm_decoder *d, enum trace_gap why, uint64_t offset);

/* etm_address.c */
#define ETM_ADDRESS_SIZE	9
/* The address of a packet: how many bytes it and its header have. */
uint8_t etm_address_take(struct etm_addresses *s, const uint8_t *b);
/* The newest one as a packet of 64 bits, whose header of IS0 this is. */
void etm_address_put(const struct etm_addresses *s, uint8_t header, uint8_t *b);
/* A context's information byte: what addresses of 32 bits are from here on. */
void etm_address_context(struct etm_addresses *s, uint8_t info);
/* At a trace info. */
void etm_address_restart(struct etm_addresses *s);

/* etm_spec.c */
void etm_spec_init(struct etm_spec *s, const struct etm_source *source);
/* If something waits that came before p, where that is: offset and before. */
void etm_spec_oldest(const struct etm_spec *s, struct etm_piece *p);
/* Nothing waits any more. */
void etm_spec_reset(struct etm_spec *s);
void etm_spec_free(struct etm_spec *s);
/* From a trace info on: a packet that is no A-sync. */
void etm_spec_packet(struct etm_decoder *d, const struct etm_piece *p);

/* etm_feed.c.  False: decoding was given up, and whatever waited is dropped. */
bool etm_feed(struct etm_decoder *d, const struct etm_piece *p);
/* The packet, of which these atoms are left. */
bool etm_feed_atoms(struct etm_decoder *d, const struct etm_piece *whole,
		    struct etm_atoms a);
uint32_t etm_atoms_room(const struct etm_decoder *d);
/*
 * Gives up because of p, which counts as skipped, and so does what waits.  Always
 * false.
 */
bool etm_refuse(struct etm_decoder *d, enum trace_gap why, const struct etm_piece *p);

#endif
