/* SPDX-License-Identifier: BSD-2-Clause */
/* The writer's inside: how records are put together, and what it remembers. */
#ifndef CONTAINER_WRITER_H
#define CONTAINER_WRITER_H

#include <sys/uio.h>
#include "perf_format.h"
#include "perfdata.h"

#define PDW_FLUSH_AT		(64u << 10)	/* bytes of records in memory, at most */

/* A hash from 64-bit keys to indices; index NONE: not there. */
struct pdw_map {
	uint64_t	*keys;
	uint32_t	*values;	/* index + 1; 0: free */
	size_t		cap, n;
};
#define PDW_NONE		UINT32_MAX

struct pdw_thread {
	uint32_t	pid, tid;
	bool		alive, started;	/* started: ITRACE_START is written */
};
struct pdw_draft {		/* records in the file, until a piece takes their place */
	uint64_t	at, size;	/* file offset, bytes */
};
struct pdw_stream {		/* one buffer's bytes, one queue of perf's */
	uint32_t	pid, id;
	uint32_t	idx;		/* of perf's queue */
	uint8_t		*kept;		/* bytes behind the last cut */
	size_t		nkept, cap;
	struct pdw_draft *drafts;	/* of the first ndrafted of them */
	size_t		ndrafts, drafts_cap, ndrafted;
	uint64_t	next;		/* position behind the last byte taken */
	uint64_t	time;		/* ticks, of its newest record */
	bool		wrapped;	/* ring mode lost its oldest bytes */
	bool		collided;	/* samples were lost in what comes next */
	bool		truncated;	/* a gap precedes what comes next */
};
struct pdw_file {		/* a mapped file: its build-id is asked for once */
	char		*path;
	uint64_t	ino;
	uint32_t	major, minor;
	uint8_t		build_id[20];
	uint8_t		size;
};

struct pdw_tech;

struct perfdata_writer {
	int		fd;
	int		error;		/* of a write: no more follows it */
	bool		nomem;		/* the unit under way found no room */
	uint64_t	data_offset, data_size;
	uint64_t	filter_offset;	/* of AUXTRACE_INFO's filter length; 0: none */
	uint64_t	units_offset;	/* of AUXTRACE_INFO's units; 0: none */
	uint8_t		*buf;		/* whole records not yet in the file */
	size_t		used, cap;
	uint64_t	unwritten;	/* bytes of trace in there */
	uint64_t	*written;	/* and in the file; NULL: nobody asks */

	char		**argv;
	const struct pdw_tech *tech;
	struct arm_spe_config2 spe;
	struct coresight_config coresight;
	char		*backend, *host;
	uint64_t	rtit_ctl, time_hz;
	uint32_t	caps[32], ncaps;
	bool		per_cpu, shared;
	int		(*build_id)(void *ctx, const char *path, uint8_t *out,
				    size_t max);
	void		*build_id_ctx;
	size_t		(*whole_packets)(const uint8_t *bytes, size_t n);

	struct time_conv tc;
	uint64_t	first_time, now;	/* ticks; first: UINT64_MAX if none */
	struct pdw_map	by_tid, by_stream, by_file;
	struct pdw_thread *threads;
	struct pdw_stream *streams;
	struct pdw_file	*files;
	uint64_t	*traces;	/* file offsets of the AUXTRACE records */
	size_t		nthreads, nstreams, nfiles, ntraces;
	uint32_t	nqueues;
};

/* The two events that the file knows: the trace, and the rest. */
enum pdw_event { PDW_TRACE, PDW_DUMMY, PDW_EVENTS };

/* What depends on the technology. */
struct pdw_tech {
	const char	*backend, *pmu, *event, *arch;
	const char	*cpu, *cpuid;	/* of the embedded host's virtual unit */
	/* Not 0: pieces of trace end at multiples of it instead of before sync points. */
	uint32_t	align;
	/* And have so many bytes, but the last one; where threads share a buffer. */
	uint32_t	piece, shared_piece;
	/* Ends each piece, and is no trace: ntail bytes, at most PERF_PADDING_MAX. */
	const uint8_t	*tail;
	uint32_t	ntail;
	/*
	 * A thread's AUXTRACE names a CPU, its queue's number: perf 6.1 notes the
	 * thread of SPE's Context packets by CPU, and gives up without one.
	 */
	bool		cpu_of_queue;
	/* Its part of the trace's event; all else is there. */
	void (*attr)(const struct perfdata_writer *w, struct perf_event_attr *attr);
	/* PERF_RECORD_AUXTRACE_INFO. */
	void (*info)(struct perfdata_writer *w);
	/* The CPU's trace has that mark.  -errno; NULL: there are none. */
	int (*source)(struct perfdata_writer *w, uint32_t cpu, uint32_t source);
};
extern const struct pdw_tech pdw_pt, pdw_coresight, pdw_spe;
#define PDW_ATTR_SIZE		128	/* PERF_ATTR_SIZE_VER7 */
#define PDW_FIRST_ID		100
#define PDW_PMU_TYPE		8	/* of the trace's PMU, in AUXTRACE_INFO and attr */
void pdw_attr(const struct perfdata_writer *w, enum pdw_event event,
	      struct perf_event_attr *attr);

/*
 * Records are appended between pdw_mark and pdw_commit: all of them or none.
 * Running out of memory in between is remembered until the commit.
 */
size_t pdw_mark(struct perfdata_writer *w);
int pdw_commit(struct perfdata_writer *w, size_t mark);
/* Opens a record and returns its place; puts add to it; end sets its size. */
size_t pdw_begin(struct perfdata_writer *w, uint32_t type, uint16_t misc);
void pdw_put(struct perfdata_writer *w, const void *bytes, size_t n);
void pdw_zeros(struct perfdata_writer *w, size_t n);
/* A string with its NUL, filled with NULs to a multiple of 8. */
void pdw_put_string(struct perfdata_writer *w, const char *s);
/* The sample id behind a record's body (attr.sample_id_all); time in ticks. */
void pdw_put_id(struct perfdata_writer *w, enum pdw_event event, uint32_t pid,
		uint32_t tid, uint64_t time, int32_t cpu);
void pdw_end(struct perfdata_writer *w, size_t start);
/* A payload that perf skips, in as many parts as it takes. */
void pdw_put_part(struct perfdata_writer *w, uint32_t kind, const void *payload,
		  uint32_t total);

uint32_t pdw_map_get(const struct pdw_map *m, uint64_t key);
/* 0 or -ENOMEM.  Replaces what was there. */
int pdw_map_set(struct pdw_map *m, uint64_t key, uint32_t index);
/* These three: the entry, made if need be; NULL: no memory. */
struct pdw_thread *pdw_thread(struct perfdata_writer *w, uint32_t pid, uint32_t tid);
struct pdw_stream *pdw_stream(struct perfdata_writer *w, uint32_t pid, uint32_t id);
const struct pdw_file *pdw_file(struct perfdata_writer *w,
				const struct hwt_rec_mmap *map);
/* Remembers an AUXTRACE record's place; sets nomem if it cannot. */
void pdw_note_trace(struct perfdata_writer *w, uint64_t file_offset);
void pdw_free_tables(struct perfdata_writer *w);

/*
 * The records AUX and AUXTRACE (if n) of n bytes from that position; what has to follow
 * the bytes: *end, of static storage.
 */
void pdw_put_piece(struct perfdata_writer *w, const struct pdw_stream *s,
		   uint64_t position, uint64_t n, struct iovec *end);

/*
 * writer_draft.c.  Of each stream what waits for a piece to become whole; all records
 * are in the file.
 */
int pdw_write_drafts(struct perfdata_writer *w);
/* The piece was written that holds what the stream's drafts do. */
int pdw_drop_drafts(struct perfdata_writer *w, struct pdw_stream *s);

/* What was collected, and the size.  perfdata_flush writes drafts, too. */
int pdw_flush(struct perfdata_writer *w);
/* What a stream still keeps back, as it is. */
int pdw_end_stream(struct perfdata_writer *w, struct pdw_stream *s);
/* What was collected, then these bytes, without a copy; then the size. */
int pdw_write_through(struct perfdata_writer *w, const struct iovec *iov, int n);
/* PERF_RECORD_EXIT of a thread, unless it has one. */
void pdw_put_exit(struct perfdata_writer *w, struct pdw_thread *t, uint64_t time);
/* Puts the features behind the data and names them in the header. 0 or -errno. */
int pdw_write_features(struct perfdata_writer *w);
/* pwrite(2) until all n bytes are written. 0 or -errno. */
int pdw_pwrite(int fd, const void *bytes, size_t n, uint64_t offset);

#endif
