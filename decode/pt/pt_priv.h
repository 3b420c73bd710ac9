/* SPDX-License-Identifier: BSD-2-Clause */
/* The decoder's state, shared by pt_decoder.c, pt_flow.c and pt_walk.c. */
#ifndef DECODE_PT_PRIV_H
#define DECODE_PT_PRIV_H

#include <errno.h>

#include "pt_block.h"
#include "pt_decoder.h"
#include "pt_packet.h"
#include "pt_time.h"

#define PT_RET_STACK	64		/* 33.4.2.2 */
#define PT_QUEUE	32		/* events that one packet makes, runs apart */
#define PT_BOUND	8		/* packets that wait for one FUP */
#define PT_CARRY	64		/* > two packets */
#define PT_FLAG_WORDS	8		/* TRACE_F_ENTRY, TIME, CYCLES */
#define PT_FAST_BYTES	9		/* no TNT or TIP is longer */

enum pt_state {
	PT_STATE_SYNC,		/* looking for a PSB */
	PT_STATE_OFF,		/* tracing is off (TIP.PGD) */
	PT_STATE_ON,		/* flow is known: next is cur_ip */
	PT_STATE_OVF,		/* after OVF: FUP or TIP.PGE follows */
	PT_STATE_GAP,		/* flow is lost until a packet with an address */
};

enum pt_walk_kind {
	PT_WALK_NONE,
	PT_WALK_TIP,		/* to the branch that needs a TIP, and over it */
	PT_WALK_IP,		/* to an address */
	PT_WALK_PGD_IP,		/* to an address, or over the branch that went there */
	PT_WALK_PGD,		/* over the branch that left, address unknown */
	PT_WALK_SPECIAL,	/* over the instruction that the packet binds to */
};

struct pt_walk {
	uint8_t		kind;		/* enum pt_walk_kind */
	uint8_t		special;
	bool		sure;		/* it was looked at and gets there */
	uint64_t	ip;
	/* Called once when it is over: 0, or an enum trace_gap. */
	void		(*then)(struct pt_decoder *d, int error);
};

struct pt_decoder {
	struct pt_decoder_config config;
	struct pt_blocks *blocks;
	struct pt_time	time;

	/* Input: p..end is decoded next; it lies in the feed or in carry. */
	const uint8_t	*p, *end;
	uint64_t	offset;			/* of p */
	const uint8_t	*feed, *feed_end;	/* not yet taken over */
	size_t		carry_taken;		/* bytes of carry that came from feed */
	bool		in_carry, finished, over, hungry;
	uint8_t		carry[PT_CARRY];
	struct pt_packet_state packets;

	/* Output. */
	struct trace_event *ev, *ev_end;
	struct trace_event queue[PT_QUEUE];
	unsigned int	queue_head, queue_n;
	int		fault;			/* -ENOMEM */
	uint64_t	flag_words[PT_FLAG_WORDS]; /* flags, where heads of runs have them */

	/* Flow. */
	uint8_t		state;			/* enum pt_state */
	uint8_t		mode, mode_next;	/* 16, 32, 64; 0: no MODE.Exec waits */
	bool		mode_told;
	bool		entry;			/* next RUN has TRACE_F_ENTRY */
	bool		cyc, fresh_cyc;		/* a CYC came since, just before, this packet */
	bool		gap_calls;		/* a gap hides calls: returns may miss */
	struct pt_block	*cur;			/* at cur_ip, or NULL: not looked up */
	uint64_t	cur_ip;
	uint64_t	last_insn;		/* of the last careful step */
	uint64_t	stuck_ip;		/* the branch that waits, or did not fit */
	uint64_t	at;			/* offset of the packet at work */
	uint64_t	tnt;			/* bits not used yet, the next highest */
	unsigned int	tnt_n;
	bool		tnt_wait;		/* the next bit is behind a deferred TIP */
	struct pt_walk	walk;
	uint64_t	tip;			/* PT_WALK_TIP: where it goes */
	uint64_t	pgd_ip;			/* TIP.PGD's address, or 0 */
	bool		async;			/* FUP seen, its TIP is to come */
	bool		async_sure;		/* ... must come */
	bool		after_cr3;		/* a PIP just ended a walk at MOV CR3 */

	/* Packets that are bound to the next FUP. */
	struct trace_event bound[PT_BOUND];
	unsigned int	bound_n;
	uint8_t		bind;			/* enum pt_bind bits */

	/* PSB+. */
	bool		in_psb, psb_has_ip;
	uint64_t	psb_at, psb_ip;

	/* The gap that is open: bytes skipped, or flow lost. */
	uint64_t	gap_at, gap_ip;
	uint8_t		gap_error;		/* 0: nothing more to tell */
	bool		skip_nonzero;		/* the bytes skipped were not all PAD */

	/* Return compression: blocks that end in calls. */
	struct pt_block	*stack[PT_RET_STACK];
	unsigned int	stack_top, stack_n;
};

/* A walk's error: the call that this return needs was made inside a gap. */
#define PT_STUCK_CALL	(-ENODATA)

enum pt_bind {
	PT_BIND_ALONE = 1,	/* the FUP says where; nothing follows it */
	PT_BIND_ASYNC = 2,	/* a TIP may follow the FUP */
};

/* pt_decoder.c */
/* A new event in the queue, with offset, time and cycles of now. */
struct trace_event *pt_emit(struct pt_decoder *d, enum trace_event_type type);

/* pt_walk.c: these fill d->ev; they stop when it is full. */
void pt_walk_tnt(struct pt_decoder *d);
void pt_walk_on(struct pt_decoder *d);
/* Many packets at once, while nothing out of the ordinary turns up; false: none. */
bool pt_walk_fast(struct pt_decoder *d);
void pt_walk_init(struct pt_decoder *d);
/* Sets the walk up; then() comes after it. */
void pt_walk_start(struct pt_decoder *d, enum pt_walk_kind kind, uint64_t ip,
		   void (*then)(struct pt_decoder *d, int error));
/* Does flow from ip come back to it without a packet (within PT_LOOP_BLOCKS)? */
#define PT_LOOP_BLOCKS	4096
bool pt_walk_returns(struct pt_decoder *d, uint64_t ip);
void pt_stack_clear(struct pt_decoder *d);

/* pt_flow.c */
void pt_flow_packet(struct pt_decoder *d, const struct pt_packet *pkt);
/* The end of a PT_WALK_TIP. */
void pt_flow_then_tip(struct pt_decoder *d, int error);
/* Flow is undecodable: an event, and on to the next PSB. */
void pt_flow_error(struct pt_decoder *d, enum trace_gap error, uint64_t ip);
/* The walk could not go on at ip: an enum trace_gap, PT_STUCK_CALL or -ENOMEM. */
void pt_flow_stuck(struct pt_decoder *d, int error, uint64_t ip);
/* Tells of the gap that is open, if any: it ends here. */
void pt_flow_close_gap(struct pt_decoder *d);
/* A PSB was found after bytes were skipped, or there was none. */
void pt_flow_end_skip(struct pt_decoder *d);
/* Forgets all that an unbroken stream carries over. */
void pt_flow_reset(struct pt_decoder *d);

#endif
