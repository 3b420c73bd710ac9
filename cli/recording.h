/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every command that decodes has in common: which recording, which
 * threads, progress, and telling what is missing.
 */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "analyse/analysis.h"
#include "present/out.h"
#include "session/session.h"
#include "options.h"
#include "command.h"

#define RECORDING_UNSAMPLED	"no operation was sampled or passed the filters"
#define DEFAULT_RECORDING	"hwt.data"

struct recording_values {
	const char	*input, *sysroot, *raw;
	struct option_list maps;
	uint64_t	tid, cpu;	/* NO_TID: all */
	int		json;
};
#define NO_TID	UINT64_MAX
#define RECORDING_DEFAULTS	{ .tid = NO_TID, .cpu = NO_TID }

/* Rows for a command's table: `member` is its struct recording_values. */
#define RECORDING_ROWS(type, member)						\
	{ 'i', "input", "FILE", OPTION_STRING, OPTION_AT(type, member.input),	\
	  .help = "The recording (default: " DEFAULT_RECORDING ")" },			\
	{ 'R', "sysroot", "DIR", OPTION_STRING, OPTION_AT(type, member.sysroot), \
	  .help = "Look for binaries under DIR" },					\
	{ 0, "raw", "FILE", OPTION_STRING, OPTION_AT(type, member.raw),		\
	  .help = "Decode a bare Intel PT stream, with --map" },			\
	{ 0, "map", "ELF[@ADDR]", OPTION_LIST, OPTION_AT(type, member.maps),	\
	  .help = "Code for --raw: an ELF file, loaded at ADDR (hexadecimal)" },	\
	{ 0, "tid", "TID", OPTION_UINT, OPTION_AT(type, member.tid),		\
	  .help = "This thread only", .max = UINT32_MAX },				\
	{ 0, "cpu", "CPU", OPTION_UINT, OPTION_AT(type, member.cpu),		\
	  .help = "This CPU only", .max = INT32_MAX },					\
	{ 0, "json", NULL, OPTION_FLAG, OPTION_AT(type, member.json),		\
	  .help = "Machine-readable output (JSON)", .value = 1 }

struct recording {
	const struct recording_values *opt;
	struct hwt_session *session;
	struct summary	all;		/* of the streams visited */
	uint64_t	total, done;	/* bytes of trace */
	int		streams;	/* visited */
	struct hwt_raw_map maps[16];
	char		*map_paths[16];
};

/* Takes what stands behind the options for --input.  EXIT_OK, EXIT_FAILED. */
int recording_operand(struct recording_values *opt, int noperands, char **operands);
/* EXIT_OK, or EXIT_FAILED with a message. */
int recording_open(struct recording *r, const struct recording_values *opt);
/*
 * EXIT_OK, or EXIT_WITH_ERRORS with a message if trace is missing or could not
 * be decoded.
 */
int recording_close(struct recording *r);

/* Closes it without a word. */
void recording_discard(struct recording *r);

/*
 * Each may be NULL; 0, or to stop: -errno, or 1: the output failed, which
 * finish_out tells.
 */
struct recording_visitor {
	int (*begin)(void *ctx, struct hwt_stream *st);
	int (*feed)(void *ctx, const struct trace_event *ev, int n);
	/* What is fed next is another program's: exec. */
	void (*exec)(void *ctx);
	/* Recordings of samples; without it they are refused if there is a feed. */
	int (*samples)(void *ctx, const struct spe_event *ev, int n);
	int (*end)(void *ctx, struct hwt_stream *st, const struct summary *s);
	bool listing;	/* feed prints; begin and end may in any case */
};
/* All streams that were asked for, one after the other.  EXIT_*. */
int recording_visit(struct recording *r, const struct recording_visitor *v, void *ctx);
/* Does it hold samples (Arm SPE) instead of flow? */
bool recording_sampled(const struct recording *r);
/* Why its end is missing, though all is there that its header says; or NULL. */
const char *recording_unfinished(const struct hwt_session_info *info);
/* Were samples of the threads that were asked for lost, because others were in flight? */
bool recording_collided(const struct recording *r);
/* Text output says first whose figures it shows, and what no figure tells of. */
void recording_note(const struct recording *r, struct out *o);
/* The next stream at or after *index that was asked for, or NULL. */
struct hwt_stream *recording_stream(const struct recording *r, int *index);

/* Names at the moment that the stream (ctx) has reached. */
bool recording_symbol(void *ctx, uint64_t ip, struct image_symbol *out);
bool recording_line(void *ctx, uint64_t ip, struct image_line *out);

/* Ends a command's output: the first of: status, failure of `out`, EXIT_OK. */
int finish_out(struct out *o, int status);
int finish_file(struct out *o, const char *name, int status);

#endif
