/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording opened for decoding: joins container, images and decoders.
 * Part of libhwt; never prints.
 *
 * A session holds streams (one a thread, or one a CPU); a stream is pulled for
 * events and, at any event, asked for names.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "../decode/event.h"
#include "../decode/spe/spe_decoder.h"
#include "../image/image.h"

struct hwt_session;
struct hwt_stream;

struct hwt_session_options {
	const char	*path;		/* perf.data of ours or of perf's */
	const char	*sysroot;	/* -R */
	/* A bare PT stream instead of perf.data: raw_path, and code by maps. */
	const char	*raw_path;
	const struct hwt_raw_map { const char *path; uint64_t addr; bool has_addr; } *maps;
	int		nmaps;
	size_t		chunk;		/* feed at most this many bytes at once; 0: default (tests) */
};
/*
 * 0 or -errno; *error is then a malloc'd sentence that says what, where, and
 * what to do.  Warnings (binaries that differ or are missing) come through warn.
 */
int hwt_session_open(const struct hwt_session_options *options,
		     void (*warn)(void *ctx, const char *text), void *warn_ctx,
		     struct hwt_session **out, char **error);
void hwt_session_close(struct hwt_session *s);

struct hwt_stream_info {
	uint32_t	pid, tid;	/* CPU streams: tid 0; of the last sample, if that tells */
	int32_t		cpu;		/* -1: a thread's */
	const char	*name;		/* the thread's last name */
	uint64_t	bytes;		/* trace bytes in the file: of a shared buffer all */
	uint64_t	lost;		/* bytes that the recording says are missing */
	uint64_t	gaps;		/* stops for room that the unit counted */
	uint8_t		trace_id;	/* under which it is in a buffer with trace of others;
					   0: it is in none */
	bool		collided;	/* samples fell due while others were in flight */
	bool		exited;
	bool		revoked;	/* its end is that of its trace: an exec of a
					   program privileged beyond the tracer */
	const char	*native;	/* as what it ran on where its trace ends: a program
					   that the unit cannot follow; or NULL */
	int32_t		status;		/* process's, as wait(2) gives it; -1 unknown */
};
/*
 * What of a stream counts for the recording: of a buffer that many share the whole, at
 * the one that has it, and nothing at the others.
 */
struct hwt_stream_counts {
	uint64_t	bytes, lost, gaps;	/* as in struct hwt_stream_info */
};
struct hwt_stream_counts hwt_stream_counted(const struct hwt_stream *st);
int hwt_session_nstreams(const struct hwt_session *s);
struct hwt_stream *hwt_session_stream(struct hwt_session *s, int index);
const struct hwt_stream_info *hwt_stream_info(const struct hwt_stream *st);

/* Fills at most max events; > 0 how many, 0 the end, -errno. */
int hwt_stream_next(struct hwt_stream *st, struct trace_event *ev, int max);
/*
 * The same for recordings of samples (hwt_session_info.samples), of which
 * hwt_stream_next says -EOPNOTSUPP.  All samples of one call are one thread's, and
 * names those of their time, where the recording is one of CPUs or was made elsewhere.
 */
int hwt_stream_samples(struct hwt_stream *st, struct spe_event *ev, int max);
/* Starts the stream again from its first byte. */
int hwt_stream_rewind(struct hwt_stream *st);
/* Frees decoder and view; info stays. */
void hwt_stream_close(struct hwt_stream *st);
/* Names at the moment that the stream has reached.  NULL: no memory. */
struct image_view *hwt_stream_view(struct hwt_stream *st);
uint32_t hwt_stream_nblocks(const struct hwt_stream *st);
/*
 * Programs begun so far: 1, and one more with every exec.  All events of one
 * hwt_stream_next are of the program that this counts after it.
 */
uint32_t hwt_stream_programs(const struct hwt_stream *st);
/* Progress: bytes decoded so far. */
uint64_t hwt_stream_position(const struct hwt_stream *st);
/*
 * Bytes of its own trace: of a buffer that is shared, those under its trace ID in what
 * was decoded so far.
 */
uint64_t hwt_stream_own_bytes(const struct hwt_stream *st);
/* Ticks of the unit's clock to nanoseconds since the recording began. */
uint64_t hwt_session_ns(const struct hwt_session *s, uint64_t ticks);

/*
 * Makes a folder that perf takes for a recording with the kernel's code.  0, and else
 * nothing is left behind: -ENODATA: the recording has none; -ENOMEM; -EEXIST and what
 * else reading and writing say.
 */
int hwt_session_export(struct hwt_session *s, const char *path);

/* Packets, for `hwt dump`: raw chunks of a stream's bytes, in order. */
int hwt_stream_chunk(struct hwt_stream *st, const uint8_t **bytes, size_t *n,
		     uint64_t *position, uint64_t *lost_before);

/*
 * Whose code a stream runs, for other decoders of the same bytes: from
 * `position` on it is what `space` was at `at`.  Recordings of our own only; on a
 * kernel, where time is the order, code goes on changing with the stream's TSCs.
 * 1: *out is the index-th change; 0: there are no more.
 */
struct hwt_code_switch {
	uint64_t	position;	/* bytes in the stream */
	struct image_space *space;	/* lives as long as the session */
	struct image_moment at;
};
int hwt_stream_code_switch(const struct hwt_stream *st, size_t index,
			   struct hwt_code_switch *out);

struct hwt_session_info {
	const char	*backend, *host, *cmdline, *cpuid, *arch, *os_release;
	const char	*writer;	/* of a perf.data file: "hwt", "perf" */
	bool		ours, complete;
	bool		busy;		/* not complete: it is still being recorded */
	uint64_t	truncated_at;	/* 0 or file offset */
	uint64_t	lost_records;
	uint64_t	file_size;
	uint64_t	rtit_ctl;	/* Intel PT */
	uint32_t	trcconfigr;	/* CoreSight: the first trace unit's */
	bool		samples;	/* Arm SPE: samples of operations, no flow */
	/*
	 * Latencies, cache levels and mispredictions are those of a model
	 * (doc/spe-model.md), not of a processor.
	 */
	bool		modelled;
	struct {			/* samples: as it was programmed */
		uint32_t interval;	/* operations; 0: not known */
		bool	jitter, time, kernel, user;
		uint64_t pmsfcr, pmsevfr, pmsnevfr, pmslatfr;
	} spe;
};
const struct hwt_session_info *hwt_session_info(const struct hwt_session *s);

#endif
