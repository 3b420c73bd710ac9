/* SPDX-License-Identifier: BSD-2-Clause */
/* What the recorder's files share. */
#ifndef RECORD_INTERNAL_H
#define RECORD_INTERNAL_H

#include "record.h"
#include "sink.h"
#include "technology.h"

struct recorder;
struct context;

/* A thread's or a CPU's trace buffer, mapped. */
struct buffer {
	struct buffer	*next;
	struct context	*ctx;
	struct hwt_dev	*dev;
	const uint8_t	*map;
	uint32_t	tid;		/* or CPU */
	uint64_t	tail;		/* written to the file up to here */
	uint64_t	events_lost;	/* as the last BUFFER record counted */
	bool		gap;		/* one precedes the next bytes */
};

/*
 * What filters look for functions in: a mapping, or an object of the kernel (pgoff is
 * addr then, and path "").
 */
struct filter_place {
	uint64_t	addr, len, pgoff;
	const char	*path;
};

/* A place in which filters found something; lives as long as the recorder. */
struct filter_map {
	struct filter_map *next;
	uint64_t	addr, len, pgoff;
	char		path[];
};

/* What a filter asks for, as addresses of a process. */
struct range {
	const struct filter_map *map;
	uint64_t	start, end;	/* inclusive */
};

/* Bytes of a file. */
struct filter_piece {
	const char	*path;		/* a filter_map's */
	uint64_t	offset, len;
};
struct filter_pieces {
	struct filter_piece *item;
	int		n, room;
};

/* What the recording says of its filters; of all processes together. */
struct filter_notes {
	struct filter_map *maps;
	struct filter_pieces traced;	/* what units let through */
	struct filter_pieces shown;	/* what was asked for */
	bool		covering;	/* traced is more than shown, somewhere */
	bool		told_shown;	/* the file has it */
	bool		unplaced;	/* a unit's range reaches beyond a mapping */
};

/* A traced process, or the traced CPUs. */
struct context {
	struct context	*next;
	struct recorder	*r;
	struct hwt_dev	*dev;		/* for its ioctls */
	struct buffer	*buffers;
	uint32_t	wake[32];	/* threads whose records are being handled */
	int		nwake;
	uint32_t	pid;		/* CPU mode: 0 */
	int		ident;
	bool		started;
	bool		ended;		/* its EXIT was seen */
	bool		exec_seen;	/* the next mapping of a file is the program's */
	bool		existing;	/* attached to: it had mappings and threads before */
	bool		told_existing;
	struct range	*wanted;	/* by filters, as far as it is mapped */
	int		nwanted, wanted_room;
	struct ipf_range ranges[PT_IP_FILTER_MAX_RANGES2];	/* the unit's */
	int		nranges;
	char		program[HWT_PATH_MAX];	/* "": not known yet */
};

/* keep.c: files that may be deleted while they are traced. */
struct keep {
	struct kept_file *files;
	struct kept_map	*maps;		/* children inherit them */
	struct kept_map	*past;		/* not mapped any more */
	unsigned int	nfiles, nmaps;
};

struct recorder {
	const struct record_options *opt;
	struct record_result *result;
	struct sink	sink;
	struct hwt_dev	*hwt;		/* /dev/hwt */
	const struct technology *technology;	/* what is recorded, */
	struct hwt_query query;		/* and its unit */
	struct context	*contexts;
	size_t		bufsize;	/* bytes a buffer */
	int		event_fd;	/* signalled by every context's records */
	pid_t		pid;		/* the target */
	bool		exec_pending;	/* it is not yet the program */
	bool		told_ready;
	bool		output_open;
	bool		ended;		/* the target has */
	uint32_t	kernel_objects;	/* KERNEL records that came */
	uint32_t	symbols_of;	/* how many of them had come when symbols were saved */
	uint64_t	images_met;	/* bit i: filter i's image was mapped */
	uint64_t	filters_met;	/* bit i: filter i got a range */
	struct filter_notes notes;
	struct keep	keep;
	void		*records;	/* room for RECORD_GET2 */
	size_t		records_size;
	char		*error;
};

/* Keeps the first sentence; returns err. */
__attribute__((format(printf, 3, 4)))
int recorder_fail(struct recorder *r, int err, const char *fmt, ...);

/*
 * ESRCH is no error of ours: the process was killed meanwhile, and its EXIT record
 * comes.  said: r->error as it was before.
 */
int recorder_unless_gone(struct recorder *r, int err, char *said);

/*
 * Opens the output, once: a context was made and configured, so that little is left
 * to go wrong, and nothing was written yet. -errno, said.
 */
int recorder_output(struct recorder *r);

#define RECORD_LARGEST	(32u << 10)	/* bytes; more than any record that hosts make */

/* CLOCK_MONOTONIC, ns. */
uint64_t recorder_now(void);

/* target.c: starts the program, held, or finds the process. -errno, said. */
int target_begin(struct recorder *r);
/* Lets it go. */
int target_release(struct recorder *r);
/* Tracing is on: whoever waits for that is told. */
void target_ready(struct recorder *r);
/* Polls readable at its end; -1: that came. */
int target_fd(const struct recorder *r);
/* Has it ended?  0, or -errno of its execve, said. */
int target_look(struct recorder *r);
bool target_context_open(const struct recorder *r);
/* True: nothing more is to be recorded. */
bool target_finished(const struct recorder *r);
/* Nothing of it has run yet, and shall not. */
void target_kill_held(struct recorder *r);
/* The recording is over, its target is not: it goes on by itself. */
void target_let_run(struct recorder *r);

/* existing.c: what a process had at the moment of its first record. -errno. */
int existing_maps(struct context *ctx, const struct hwt_rec *like);
int existing_thread(struct context *ctx, const struct hwt_rec *like, uint32_t tid);

/* buffer.c: opens and maps the node of a thread, unless another one's is its. -errno. */
int buffer_open(struct context *ctx, uint32_t tid);
struct buffer *buffer_find(struct context *ctx, uint32_t tid);
/* Where the unit stands now. -errno. */
int buffer_head(struct buffer *b, uint64_t *head);
/* Writes what is there up to head and gives the room back (not in ring mode). */
int buffer_save(struct buffer *b, uint64_t head);
/* The last bytes; then unmaps, closes, frees.  end: where the stream ends at least. */
int buffer_finish(struct buffer *b, uint64_t end);

/*
 * context.c: allocates and configures; starts unless filters are to come first.
 * parent: whose forked child it is, or NULL.
 */
int context_open(struct recorder *r, uint32_t pid, const struct context *parent);
/* Likewise for options->cpus; kernel code and symbols are in the file before START. */
int context_open_cpus(struct recorder *r);
int context_configure(struct context *ctx);
int context_start(struct context *ctx);
int context_stop(struct context *ctx);
/* Lets a paused thread go on. */
int context_wake(struct context *ctx, uint32_t tid);
/* All whose records were handled; the first error goes to *err, if it is 0. */
void context_wake_all(struct context *ctx, int *err);
/* Saves and closes all buffers, then the context. */
int context_finish(struct context *ctx);
/* Closes without saving: its threads run on, untraced. */
void context_abandon(struct context *ctx);

/* events.c: takes all queued records of a context. -errno. */
int events_drain(struct context *ctx);

/*
 * code.c: [addr, addr + len) of what `read` gives, as CODE records like `like`.  read:
 * how many bytes, 0: that is all, -errno.
 */
#define CODE_PIECE	(1u << 20)	/* bytes a record, at most */
typedef ssize_t (*code_read_fn)(void *from, uint64_t addr, void *out, size_t n);
int code_save(struct recorder *r, const struct hwt_rec *like, uint64_t addr, uint64_t len,
	      code_read_fn read, void *from);
/* What a process has in a mapping without a file (the vDSO, a JIT's), as far as it may be read. */
#define CODE_OF_PROCESS_MAX	(16u << 20)
int code_of_process(struct context *ctx, const struct hwt_rec *like,
		    const struct hwt_rec_mmap *map);

/*
 * keep.c: what a process has mapped, so that keep_save has the code of those files
 * that are deleted by then. 0, or -errno of the output.  The others do what they can.
 */
void keep_map(struct keep *k, const struct hwt_rec *rec, const struct hwt_rec_mmap *map);
void keep_unmap(struct keep *k, uint32_t pid, uint64_t addr, uint64_t len);
/* At an exec, or its end. */
void keep_unmap_all(struct keep *k, uint32_t pid);
void keep_fork(struct keep *k, uint32_t parent, uint32_t child);
int keep_save(struct recorder *r);
void keep_free(struct keep *k);

/* kernel.c: an object's code into the file, and its filters. -errno. */
int kernel_object(struct context *ctx, const struct hwt_rec *rec);
/* The symbols of all objects into the file. */
int kernel_symbols(struct recorder *r);

/* filter.c: the context's ranges after a change of its maps. -errno. */
int filter_map(struct context *ctx, const struct hwt_rec_mmap *map);
int filter_unmap(struct context *ctx, uint64_t addr, uint64_t len);
int filter_exec(struct context *ctx);
int filter_kernel(struct context *ctx, const struct hwt_rec_kernel *object);
/* A child's ranges are its parent's. 0, -ENOMEM. */
int filter_inherit(struct context *ctx, const struct context *parent);

/*
 * ranges.c: the ranges in place in ascending order, those that touch joined;
 * then, while there are more than max (> 0), the two with the smallest gap
 * between them become one.  How many are left; *covering: joined over a gap.
 */
int ranges_fit(struct ipf_range *range, int n, int max, bool *covering);

/*
 * filter_notes.c: tells the file what a context's ranges are, before trace bytes
 * depend on it. 0, -errno.
 */
int filter_notes_update(struct context *ctx);
/* NULL: no memory. */
const struct filter_map *filter_notes_map(struct recorder *r, const struct filter_place *map);
void filter_notes_free(struct recorder *r);

#endif
