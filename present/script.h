/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as lines: one an instruction, a branch or a call; text or JSON Lines
 * (doc/output.md is the grammar).
 */
#ifndef PRESENT_SCRIPT_H
#define PRESENT_SCRIPT_H

#include "../decode/event.h"
#include "../decode/spe/spe_decoder.h"
#include "../image/image.h"
#include "out.h"

enum script_mode { SCRIPT_BRANCHES, SCRIPT_INSNS, SCRIPT_CALLS, SCRIPT_SAMPLES };

#define SCRIPT_PID	0x0001u
#define SCRIPT_TID	0x0002u
#define SCRIPT_COMM	0x0004u
#define SCRIPT_TIME	0x0008u
#define SCRIPT_CYCLES	0x0010u
#define SCRIPT_OFFSET	0x0020u
#define SCRIPT_EVENT	0x0040u
#define SCRIPT_IP	0x0080u
#define SCRIPT_SYM	0x0100u
#define SCRIPT_IMAGE	0x0200u
#define SCRIPT_LINE	0x0400u
#define SCRIPT_TO	0x0800u
#define SCRIPT_ADDR	0x1000u		/* samples: data address and source */
#define SCRIPT_LAT	0x2000u		/* samples: latencies */
#define SCRIPT_EVENTS	0x4000u		/* samples: operation and events */

#define SCRIPT_OF_SAMPLES	(SCRIPT_ADDR | SCRIPT_LAT | SCRIPT_EVENTS)

/* Names of the fields, as in -F: ends with name NULL. */
extern const struct script_field {
	const char	*name;
	uint32_t	bit;
} script_fields[];
/* A list "ip,sym" to bits; 0: *bad (of *bad_len bytes) is no field. */
uint32_t script_parse_fields(const char *list, const char **bad, int *bad_len);
uint32_t script_default_fields(enum script_mode mode);

struct script_options {
	enum script_mode mode;
	uint32_t	fields;		/* SCRIPT_*; 0: the mode's default */
	bool		json;
};

/* Whose events come, and how to name addresses at this moment. */
struct script_thread {
	uint32_t	pid, tid;
	int32_t		cpu;		/* -1: a thread's */
	const char	*comm;		/* or NULL */
	void		*ctx;
	bool (*symbol)(void *ctx, uint64_t ip, struct image_symbol *out);
	bool (*line)(void *ctx, uint64_t ip, struct image_line *out);
	uint64_t (*ns)(void *ctx, uint64_t ticks);
};

/* "run", "gap", "ptwrite"; never NULL. */
const char *script_event_name(const struct trace_event *ev);

struct script;
/* NULL: no memory.  out outlives it. */
struct script *script_new(const struct script_options *options, struct out *out);
void script_free(struct script *s);
/* The events that follow are this thread's, until script_end.  0 or -ENOMEM. */
int script_begin(struct script *s, const struct script_thread *thread);
/* 0; -ENOMEM; or the first error of out. */
int script_feed(struct script *s, const struct trace_event *ev, int n);
/* What follows is another program: exec. */
void script_exec(struct script *s);
void script_end(struct script *s);
/* "load", "not-taken"; never NULL. */
const char *script_sample_name(const struct spe_sample *p);
/* The same for samples (SCRIPT_SAMPLES); of a CPU: pid and tid, if that is known. */
void script_owner(struct script *s, uint32_t pid, uint32_t tid);
int script_samples(struct script *s, const struct spe_event *ev, int n);

#endif
