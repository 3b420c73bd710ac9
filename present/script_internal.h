/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PRESENT_SCRIPT_INTERNAL_H
#define PRESENT_SCRIPT_INTERNAL_H

#include "../analyse/analysis.h"
#include "json.h"
#include "script.h"

/* What one line says. */
struct row {
	const char	*event;
	const struct trace_event *ev;
	uint64_t	ip, to;		/* 0: none */
	const char	*note;		/* or NULL */
	uint32_t	depth;		/* SCRIPT_CALLS */
	enum analysis_way way;		/* SCRIPT_CALLS */
	const struct spe_sample *sample;	/* SCRIPT_SAMPLES */
};

/* A block's addresses as text, made once: "401000\n401004\n". */
struct block_text {
	char		*text;
	uint32_t	width;		/* bytes a line; 0: not all the same, no text */
	bool		made;
};

struct script {
	struct script_options opt;
	struct out	*out;
	struct json	json;
	struct script_thread thread;
	struct block_text *texts;	/* by block id */
	uint32_t	ntexts;
	size_t		text_bytes;
	struct image_symbol symbol;	/* of the last instruction line */
	bool		has_symbol;
	/* SCRIPT_CALLS */
	struct analysis	*analysis;
	struct analysis_thread *calls;
	struct trace_event left;	/* the last run or interruption */
	const struct trace_event *event;	/* that is being fed */
};

/* script_row.c */
void script_row(struct script *s, const struct row *row);
/* script_samples.c: what a sample has beyond a row's fields. */
void script_sample_text(struct script *s, const struct spe_sample *p);
void script_sample_json(struct script *s, const struct spe_sample *p);
/* script_insns.c: one line for each instruction of a run. */
int script_insns(struct script *s, const struct trace_event *ev);
void script_insns_reset(struct script *s);
/* script_calls.c */
int script_calls_begin(struct script *s);
int script_calls(struct script *s, const struct trace_event *ev);

#endif
