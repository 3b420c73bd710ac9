/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every decoder gives: events.  An event is a run of instructions, a
 * change of state, a gap or an error; never a single instruction.
 */
#ifndef DECODE_EVENT_H
#define DECODE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a block ends (the class of its last instruction). */
enum block_end {
	BLOCK_SEQ,		/* no branch: cut (page end, event, filter) */
	BLOCK_JCC,
	BLOCK_JMP,
	BLOCK_CALL,
	BLOCK_JMP_IND,
	BLOCK_CALL_IND,
	BLOCK_RET,
	BLOCK_SYSCALL,		/* SYSCALL, SYSENTER, INTn, SVC */
	BLOCK_FAR,		/* other far transfers: IRET, SYSRET, far CALL/JMP/RET */
	BLOCK_END_MAX
};

/*
 * A decoded basic block, owned by the decoder's cache.  Pointers stay valid
 * until the decoder is freed (invalidated blocks are kept, not reused), so
 * analyses may key on them.
 */
struct trace_block {
	uint64_t	ip;		/* first instruction */
	uint64_t	end;		/* after the last one */
	uint64_t	last;		/* address of the last one */
	uint64_t	target;		/* direct branch's, else 0 */
	uint32_t	ninsn;
	uint16_t	nbytes;		/* end - ip */
	uint8_t		kind;		/* enum block_end */
	uint8_t		flags;
	const uint8_t	*len;		/* ninsn instruction lengths, bytes */
	uint32_t	id;		/* dense: 0, 1, 2 ... in the order of decoding */
	void		*user;		/* analysis's own, NULL at first */
};

enum trace_event_type {
	/* ninsn instructions from `ip` were executed, all inside `block`. */
	TRACE_RUN = 1,
	/* Flow is known from `ip` on: tracing began, or came back. */
	TRACE_ENABLED,
	/* Flow ends before `ip` (0: unknown): system call, filter, STOP. */
	TRACE_DISABLED,
	/*
	 * Asynchronous event before the instruction at `ip`; goes on at `to` if not 0.
	 * Of an Arm unit an exception: ip is its preferred return address.
	 */
	TRACE_ASYNC,
	/* The unit lost data (OVF), or bytes are missing; flow resumes at next RUN. */
	TRACE_GAP,
	/* Undecodable: `error`, `offset`, `ip`; decoding resumed at a sync point. */
	TRACE_ERROR,
	TRACE_CBR,		/* value: core:bus ratio */
	TRACE_MODE,		/* value: bits of execution mode (16, 32, 64) */
	TRACE_PIP,		/* value: CR3 */
	TRACE_CONTEXT,		/* value: CONTEXTIDR */
	TRACE_PTWRITE,		/* value: payload; ip or 0 */
	TRACE_STOPPED,		/* TraceStop, buffer full */
	TRACE_SYNC,		/* a sync point (PSB) was met at `offset` */
	TRACE_OTHER,		/* known packet without meaning here; value: packet type */
	TRACE_EVENT_MAX
};

/* TRACE_RUN's flags */
#define TRACE_F_TAKEN	0x01	/* BLOCK_JCC: it was taken */
#define TRACE_F_BRANCH	0x02	/* the run's last instruction is the block's last: a branch executed */
#define TRACE_F_ENTRY	0x04	/* first run after ENABLED, ASYNC, GAP, ERROR */
/* any event */
#define TRACE_F_TIME	0x08	/* `time` is known (else 0, or the last known) */
#define TRACE_F_CYCLES	0x10	/* `cycles` is exact here */
/* TRACE_ASYNC */
#define TRACE_F_NUMBER	0x20	/* value: the exception's type (IHI 0064, table 6-15) */

enum trace_gap {		/* TRACE_GAP, TRACE_ERROR: .error */
	TRACE_GAP_NONE,
	TRACE_GAP_OVERFLOW,	/* OVF */
	TRACE_GAP_NO_CODE,	/* no code at `ip` (value: bytes of trace skipped) */
	TRACE_GAP_NO_SYNC,	/* no sync point in `value` bytes */
	TRACE_GAP_LOST,		/* the recording says bytes are missing: `value` of them */
	TRACE_GAP_REPEATED,	/* a loop without a packet was left at `ip`: told once */
	TRACE_ERR_PACKET,	/* unknown packet */
	TRACE_ERR_TRUNCATED,	/* stream ends inside a packet */
	TRACE_ERR_PSB,		/* PSB+ not closed or malformed */
	TRACE_ERR_UNEXPECTED,	/* packet does not fit the instruction at `ip` */
	TRACE_ERR_DISABLED,	/* flow packet while tracing is off */
	TRACE_ERR_RETURN,	/* return compression: bit not taken, or empty stack */
	TRACE_ERR_LOOP,		/* loop without trace at `ip` */
	TRACE_ERR_BAD_INSN,	/* bytes at `ip` are no instruction */
	TRACE_ERR_FUP,		/* the walk never met the address of an event */
	TRACE_ERR_MODE,		/* execution mode not supported */
	TRACE_ERR_OTHER,
	TRACE_GAP_MAX
};
/* One line of text for each, without a full stop. Never NULL. */
const char *trace_gap_text(enum trace_gap gap);
/* "data fault", of A-profile (IHI 0064, table 6-15). NULL: the architecture names none. */
const char *trace_exception_text(uint64_t number);

struct trace_event {
	uint8_t		type;		/* enum trace_event_type */
	uint8_t		flags;		/* TRACE_F_* */
	uint16_t	error;		/* enum trace_gap */
	uint32_t	ninsn;		/* RUN */
	uint64_t	ip;
	union {
		const struct trace_block *block;	/* RUN */
		uint64_t	value;
	};
	uint64_t	to;		/* RUN: address that flow goes on at, 0 unknown; ASYNC */
	uint64_t	offset;		/* absolute bytes in the stream: packet that settled it */
	uint64_t	time;		/* ticks of the unit's clock */
	uint64_t	cycles;		/* cycles counted so far in this stream */
};

/*
 * Code bytes for a decoder: copies at most len bytes at ip into buf; returns
 * how many (short at the end of known code), 0 if there is none.
 */
typedef size_t (*trace_code_fn)(void *ctx, uint64_t ip, uint8_t *buf, size_t len);

#endif
