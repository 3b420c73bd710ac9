/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of session/ share. */
#ifndef SESSION_SESSION_PRIV_H
#define SESSION_SESSION_PRIV_H

#include <sys/types.h>
#include "../container/perfdata.h"
#include "../decode/etm/etm_decoder.h"
#include "../decode/spe/spe_decoder.h"
#include "filter.h"
#include "flow.h"
#include "packets.h"
#include "session.h"

/* Maps a pid, tid or buffer number to what it stands for now. */
struct idmap {
	uint32_t	*keys;
	void		**values;	/* NULL: free */
	size_t		n, room;	/* room: power of two */
	uint64_t	factor;		/* odd, of the hash; no file can know it */
};
void *idmap_get(const struct idmap *m, uint32_t key);
int idmap_put(struct idmap *m, uint32_t key, void *value);	/* replaces; -ENOMEM */
void idmap_free(struct idmap *m);

struct session_process {
	struct session_process *next;
	uint32_t	pid;
	struct image_space *space;	/* what the process has now, while indexing */
	uint64_t	last_change;	/* time of its latest, in ticks (where that is the order) */
	/* Ours, while indexing: its threads, and those that an exec ended. */
	struct hwt_stream *threads, *ended;
};

struct session_space {
	struct session_space *next;
	struct image_space *space;
};

/* Of recordings of samples by CPU: whose thread an id is. */
struct session_thread {
	struct session_thread *next;
	uint32_t	pid, tid;
	struct session_process *process;
	char		name[64];
};

/* From `time` on, a CPU runs that process (CPU recordings of perf's). */
struct cpu_switch {
	uint64_t	time;		/* ticks */
	size_t		order;		/* in the file: of equal times the later one holds */
	struct session_process *process;
};

/* From a position on, a thread has that code. */
struct stream_switch {
	struct hwt_code_switch is;
	size_t		order;		/* as above */
};

struct stream_chunk {
	uint64_t	position, size;	/* in the stream, bytes */
	uint64_t	data_offset;	/* in the file */
	uint64_t	before;		/* bytes in the chunks before it; once all are there */
};

/* Finds times ahead of the decoder (where time is the order). */
struct stream_clock {
	uint64_t	position;	/* of what is looked at next */
	uint64_t	cut, ticks;	/* the last one found: its position and value */
	uint64_t	begin;		/* value of the one before */
	size_t		chunk;
	void		*reader;	/* the flow's; NULL: not begun */
	bool		ended;
};

/* CoreSight: a trace unit, as the recording describes it. */
struct session_etm {
	uint32_t	cpu;
	uint32_t	sink;		/* that it feeds; 0: not known */
	struct etm_source source;
};

struct hwt_stream {
	struct hwt_session *session;
	struct hwt_stream_info info;
	char		name[64];
	char		*native;	/* info's, or NULL */
	bool		has_idx;	/* bytes were found for it */
	uint32_t	idx;		/* perf's queue */
	struct stream_chunk *chunks;
	size_t		nchunks, chunks_room;
	bool		lent;		/* chunks: another stream's, which outlives it */
	bool		shares;		/* its bytes are counted at another stream */
	struct stream_switch *switches;	/* as the file has them; sorted at its end */
	size_t		nswitches, switches_room;
	size_t		last_switch;	/* while they are read: the one of the highest position */
	struct cpu_switch *cpus;	/* per_cpu, foreign */
	size_t		ncpus, cpus_room;
	uint64_t	aux_truncated, full_stops;
	struct session_process *process;
	struct hwt_stream *sibling;	/* in the process's list */
	int		fd;		/* where its bytes are; -1: in the session's file */
	struct etm_source etm;		/* CoreSight: whose trace it is */
	bool		formatted;	/* in frames, with that of others */
	bool		bare;		/* its buffer is without frames (TRBE) */
	/* Ours, shared buffers: in whose, from where to where, under which trace ID. */
	struct hwt_stream *sink;
	uint64_t	begin, end;	/* end 0: the sink's */
	uint32_t	source;
	uint8_t		first_id;	/* in force at `begin`; 0: not known */
	uint64_t	sink_bytes, sink_lost;	/* a sink: of the whole buffer */

	/* Decoding; NULL decoder: not begun. */
	void		*decoder;	/* of the session's flow */
	struct spe_decoder *samples;
	struct image_view *view;
	struct image_view *ahead;	/* by time: what is mapped by the stretch's end */
	struct image_space *space;	/* that the views are of */
	struct image_moment at;
	uint64_t	position;	/* of the next byte to feed */
	uint64_t	done;		/* bytes fed: what is missing does not count */
	size_t		chunk, next_switch, next_cpu;
	bool		finished;
	uint32_t	programs;
	uint8_t		*buffer;
	size_t		buffer_size;
	struct stream_clock clock;
	/* Where the session has a filter of what is shown. */
	struct filter_ranges shown;
	struct filter_cut cut;
	struct trace_event *whole;	/* decoded; NULL: no such filter */
	int		nwhole, whole_at;

	/* hwt_stream_chunk */
	size_t		dump_chunk;
	uint64_t	dump_position;
	uint8_t		*dump_buffer;
};

struct hwt_session {
	struct perfdata	*file;		/* NULL: raw */
	int		raw_fd;
	struct image_store *store;
	void		(*warn)(void *ctx, const char *text);
	void		*warn_ctx;
	size_t		feed_max;	/* bytes fed at once */
	const struct flow_ops *flow;	/* how its trace is decoded; NULL: samples */
	struct session_etm *etm;	/* CoreSight: netm units, from index on */
	size_t		netm;
	uint64_t	etm_look_back;	/* bytes that may be read for threads' first IDs */
	struct idmap	units;		/* the same, by CPU */
	bool		samples;	/* of SPE: hwt_stream_samples instead of events */
	struct idmap	threads;	/* of samples, by CONTEXTIDR */
	struct session_thread *thread_list;
	uint32_t	align;		/* of SPE records, bytes; 0: not known */
	struct filter	traced, shown;	/* by the unit; of that, what was asked for */
	struct session_space *spaces;
	struct image_space *nowhere;	/* empty */
	struct image_space *kernel;	/* NULL: none was recorded */
	uint64_t	kernel_change;	/* time of its latest, in ticks */
	bool		by_time;	/* ours, of a kernel: it counts no generations */
	bool		tracing;	/* trace bytes were met in the file */
	struct session_process *processes;
	struct idmap	pids, tids, queues, cpus;	/* to process, stream, stream, stream */
	struct hwt_stream **streams;
	size_t		nstreams, streams_room;
	uint64_t	first_time;	/* ticks; UINT64_MAX: no time seen */
	struct timespec	written;	/* mtime of the recording */
	struct hwt_session_info info;
};

/* One sentence through the caller's warn. */
void session_warn(struct hwt_session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Up to n bytes of the recording; how many, or -errno. */
ssize_t session_read(struct hwt_session *s, uint64_t data_offset, void *buf, size_t n);
/* The same from where the stream's bytes are. */
ssize_t stream_read(struct hwt_stream *st, uint64_t data_offset, void *buf, size_t n);
/* Appends room for one element of `size` to a growing array: 0 or -ENOMEM. */
int session_grow(void **array, size_t n, size_t *room, size_t size);
/* A new space of this session, or NULL. */
struct image_space *session_add_space(struct hwt_session *s, struct image_space *space,
				      uint32_t pid);

/* index.c: reads the whole file once. 0, -errno. */
int index_file(struct hwt_session *s);
struct hwt_stream *index_add_stream(struct hwt_session *s, uint32_t pid, uint32_t tid,
				    int32_t cpu);
int index_add_chunk(struct hwt_stream *st, const struct stream_chunk *chunk);
int index_add_switch(struct hwt_stream *st, uint64_t position, struct image_space *space,
		     struct image_moment at);
struct session_process *index_process(struct hwt_session *s, uint32_t pid);
/* index_hwt.c: one framework record. index_perf.c: one record of perf's. */
int index_hwt(struct hwt_session *s, const struct hwt_rec *rec, const uint8_t *build_id,
	      size_t build_id_size);
int index_perf(struct hwt_session *s, const struct perfdata_event *ev);

/* stream.c: at the first byte. 0, -ENOMEM. */
int stream_start(struct hwt_stream *st);
/* Where the stream's part of a chunk ends. */
uint64_t stream_chunk_end(const struct hwt_stream *st, const struct stream_chunk *c);
/*
 * The next bytes of the stream in st->buffer, all under one view: how many.  0:
 * *lost are missing there, or (0) it ends.  -errno.
 */
ssize_t stream_bytes(struct hwt_stream *st, uint64_t *lost);
/*
 * The decoder is dry: what it decodes from here on is what `space` is at `at`.
 * 1: that is another view than before; 0; -ENOMEM.
 */
int stream_move(struct hwt_stream *st, struct image_space *space, struct image_moment at);
/* samples.c: the threads that there were, before those without bytes are gone. -ENOMEM. */
int threads_index(struct hwt_session *s);
void threads_free(struct hwt_session *s);
/* Samples of which each has its own time, and on a CPU its own process. */
bool stream_by_sample(const struct hwt_stream *st);

/*
 * index_etm.c: flow_ops.index of CoreSight; a record that says what a unit's trace ID
 * is; streams of a buffer, one a unit that has trace in it.
 */
int index_etm(struct hwt_session *s);
int index_etm_id(struct hwt_session *s, const struct perfdata_event *ev);

/* packets.c: flow_ops.packets of Intel PT. */
int pt_stream_packets(struct hwt_stream *st,
		      int (*fn)(void *ctx, const struct hwt_packet *packet), void *ctx);

/* snapshot.c: a folder as a session. */
int snapshot_session(struct hwt_session *s, const char *folder, char **error);

/* raw.c */
int raw_open(struct hwt_session *s, const struct hwt_session_options *o, char **error);

/* index_kernel.c: KERNEL, TEXT_POKE, and CODE of no process. */
int index_kernel(struct hwt_session *s, const struct hwt_rec *rec);
struct image_space *index_kernel_space(struct hwt_session *s);

/*
 * bytime.c: the position at which a stream is to be cut next, and the times of the
 * stretch before it.  changes: none after this time, so that no cut is needed.
 */
uint64_t bytime_cut(struct hwt_stream *st, uint64_t changes, struct image_moment *begin,
		    struct image_moment *end);
/* Looks from the stream's first byte on again; frees what it had. */
void bytime_free(struct hwt_stream *st);
/* What a CPU runs at `time`; NULL: nobody tells. */
struct session_process *bytime_cpu_process(struct hwt_stream *st, uint64_t time);
/* Its code, else the kernel's; and when that changes last. */
struct image_space *bytime_cpu(struct hwt_stream *st, uint64_t time);
uint64_t bytime_cpu_changes(const struct hwt_stream *st);

#endif
