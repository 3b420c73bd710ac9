/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf.data, read and written: hwt's own file format.
 *
 * Written while recording: header.data.size is true after every flushed whole
 * record, so that a file whose writer was killed reads up to there.  What perf
 * has no record for (captured code, code generations, our end summary) sits in
 * records that perf skips.
 */
#ifndef CONTAINER_PERFDATA_H
#define CONTAINER_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <hwt/hwt_ext.h>
#include <hwt/coresight.h>
#include <hwt/spe.h>

/* ---- writing ---- */
struct perfdata_writer;

struct perfdata_params {
	const char	*backend;	/* "pt", "coresight", "spe" */
	const char	*const *argv;	/* command line, NULL-terminated; or NULL */
	uint64_t	rtit_ctl;	/* as programmed: for attr and AUXTRACE_INFO */
	const struct arm_spe_config2 *spe;	/* "spe": as programmed; NULL: defaults */
	const struct coresight_config *coresight;	/* the same of "coresight" */
	const uint32_t	*caps;		/* as struct hwt_query has them, ncaps of them */
	uint32_t	ncaps;
	uint64_t	time_hz;	/* ticks a second: time conversion; 0: 1 GHz */
	bool		per_cpu;	/* buffers are CPUs', not threads' */
	bool		shared;		/* coresight: many threads' or CPUs' trace is in a buffer */
	const char	*host;		/* "embedded", "kernel" */
	/*
	 * Copies the build-id of the file at path to out (at most max bytes)
	 * and returns its length; 0 or less: it has none.  May be NULL.
	 * Called once a file, and only from perfdata_write_record.
	 */
	int		(*build_id)(void *ctx, const char *path, uint8_t *out,
				    size_t max);
	void		*build_id_ctx;
	/*
	 * How many of n bytes, which begin at a packet, are whole packets.  perf
	 * takes a packet split between two AUXTRACE for a bad one, so that only
	 * whole ones are written.  NULL: only what precedes the last PSB is (then a
	 * killed writer loses up to a PSB period of each stream).
	 */
	size_t		(*whole_packets)(const uint8_t *bytes, size_t n);
	/*
	 * Grows with the bytes of trace that a reader finds in the file; true after
	 * each call, perfdata_close the last one.  May be NULL.
	 */
	uint64_t	*written;
};
/*
 * Creates (or empties) the file and writes what precedes the first record.
 * Nothing of *params is kept but copies, and build_id with its ctx.
 * 0, or -errno: what open(2) says; EBUSY: another writer has the file open;
 * ESPIPE: path is no file that one can seek in;
 * EOPNOTSUPP: a backend whose recordings this cannot describe; EINVAL; ENOMEM;
 * ENOSPC.
 */
int perfdata_create(const char *path, const struct perfdata_params *params,
		    struct perfdata_writer **out);
/*
 * Appends what one framework record (struct hwt_rec, as RECORD_GET2 gives it)
 * means to perf: COMM, MMAP2 with the build-id, FORK, EXIT, ITRACE_START; and
 * behind it the record itself, whole, in a record that perf skips.
 * 0 or -errno: EINVAL: rec is malformed (nothing was written); ENOMEM; and what
 * write(2) says.  After a write error the file reads up to the last flush, and
 * every further call returns the same error.
 */
int perfdata_write_record(struct perfdata_writer *w, const struct hwt_rec *rec);
/*
 * Appends trace bytes [position, position + n) of buffer buf_id (tid or cpu),
 * as PERF_RECORD_AUX + AUXTRACE.  truncated: a gap precedes them (a position
 * beyond the bytes before says the same); one before them begins a new stream.
 * n is any: the bytes of a packet that is not whole are kept back until the next
 * call, or the buffer's last one (final; n may be 0).  Errors as above.
 */
int perfdata_write_trace(struct perfdata_writer *w, uint32_t pid, uint32_t buf_id,
			 uint64_t position, const void *bytes, size_t n,
			 bool truncated, bool final);
/*
 * Symbols of the kernel that was traced, as lines of /proc/kallsyms; a later call adds
 * to them.  EINVAL: more than 16 MiB at once.
 */
int perfdata_write_symbols(struct perfdata_writer *w, const char *text, size_t n);
/*
 * The address filter in perf's syntax ("filter 0x1130/0x40@/bin/x", offsets in
 * the file), for decoders that must know where tracing stops.  Replaces the one
 * before.  ENAMETOOLONG: more than PERFDATA_FILTER_MAX - 1 bytes;
 * EOPNOTSUPP: the technology has none.
 */
#define PERFDATA_FILTER_MAX	2048
int perfdata_set_filter(struct perfdata_writer *w, const char *filter);
/*
 * What of the trace was asked for, in the same syntax, where the unit could only
 * trace more.  perf does not know it.  Replaces the one before; whatever its
 * length.  Errors as of perfdata_write_record.
 */
int perfdata_set_shown(struct perfdata_writer *w, const char *shown);
/*
 * All that was appended is in the file, and header.data.size says so; except the
 * bytes that write_trace keeps back.
 */
int perfdata_flush(struct perfdata_writer *w);
/*
 * Bytes kept back go out, threads that are still there get an EXIT, the feature
 * sections follow; fsyncs nothing, frees w.  0 or the first error of w.
 */
int perfdata_close(struct perfdata_writer *w);

/* ---- reading ---- */
struct perfdata;

enum perfdata_kind {		/* perfdata_open's *kind on -EINVAL, and open's answer */
	PERFDATA_FILE, PERFDATA_PIPE, PERFDATA_OTHER_ENDIAN, PERFDATA_RAW_PT,
	PERFDATA_EMPTY, PERFDATA_ELF, PERFDATA_DIRECTORY, PERFDATA_UNKNOWN
};
const char *perfdata_kind_text(enum perfdata_kind kind);

/*
 * 0, -errno, or -EINVAL with *kind saying what it is instead.  PERFDATA_FILE
 * with -EINVAL: perf.data, but its header is damaged.
 * Reads with pread(2), never through a mapping: a file that shrinks meanwhile
 * ends early instead of raising SIGBUS.
 */
int perfdata_open(const char *path, struct perfdata **out, enum perfdata_kind *kind);
void perfdata_close_reader(struct perfdata *p);

/*
 * An event of the file, in file order; pointers live until the next call.
 * In files of ours each framework record appears as PERFDATA_HWT, directly
 * behind the perf record that it was turned into, if any: PERFDATA_MMAP gives
 * the build-id, the PERFDATA_HWT behind it everything else.
 */
enum perfdata_type {
	PERFDATA_MMAP, PERFDATA_COMM, PERFDATA_FORK, PERFDATA_EXIT,
	PERFDATA_ITRACE_START, PERFDATA_AUX, PERFDATA_AUXTRACE, PERFDATA_LOST,
	PERFDATA_SWITCH, PERFDATA_TEXT_POKE,
	PERFDATA_HW_ID,		/* what the unit of `cpu` calls itself in the trace */
	PERFDATA_HWT,		/* our record: rec */
	PERFDATA_SYMBOLS,	/* ours: lines of /proc/kallsyms */
	PERFDATA_SKIPPED,	/* known or unknown, of no use here: raw_type */
	PERFDATA_TYPE_MAX
};
struct perfdata_event {
	enum perfdata_type type;
	uint32_t	raw_type;
	uint16_t	misc;		/* PERF_RECORD_MISC_* */
	uint64_t	file_offset;
	uint32_t	pid, tid;	/* -1: the file does not say */
	uint32_t	cpu;		/* -1: the file does not say */
	uint64_t	time;		/* perf's time (ns); see perfdata_time_to_ticks */
	bool		has_time;
	union {
		struct {
			uint64_t addr, len, pgoff, ino;
			uint32_t major, minor, prot, flags;
			const char *path;
			const uint8_t *build_id;
			uint32_t build_id_size;
			bool kernel;
		} mmap;
		struct { const char *comm; bool exec; } comm;
		struct { uint32_t ppid, ptid; } fork;	/* and EXIT */
		struct {
			uint64_t offset, size, flags;	/* PERF_AUX_FLAG_* */
			bool truncated;
			bool collided;	/* samples were lost to others in flight */
			bool bare;	/* cs_etm: one source's own bytes, no frames */
		} aux;
		struct { uint64_t id; } hw;	/* HW_ID; cs_etm: PERFDATA_HW_* */
		struct {
			uint64_t offset, size;	/* position in its stream; bytes */
			/* (size without perf's padding where the file tells) */
			uint64_t reference;
			uint32_t idx;
			uint64_t data_offset;	/* of the bytes, in the file */
		} auxtrace;
		struct { uint64_t count; } lost;
		struct { const char *text; size_t n; } symbols;	/* no NUL */
		struct { bool out, preempt; } sched;	/* SWITCH */
		struct {	/* TEXT_POKE: bytes holds the old ones, then the new */
			uint64_t addr;
			const uint8_t *bytes;
			uint16_t old_len, new_len;
		} poke;
		const struct hwt_rec *rec;
	};
};
/* Of cs_etm (linux/coresight-pmu.h): other versions mean something else. */
#define PERFDATA_HW_TRACE_ID	0xffull
#define PERFDATA_HW_SINK	(0xffffffffull << 8)	/* which sink it feeds, version 0.1 */
#define PERFDATA_HW_VERSION	(0xfull << 60)
/*
 * 1: *ev filled; 0: the end (info.truncated_at says whether it came early);
 * -errno with ev->file_offset: cannot go on there.  EBADMSG: what is there is no
 * record; EOPNOTSUPP: compressed records, and no zstd was built in; ENOMEM; EIO.
 */
int perfdata_next(struct perfdata *p, struct perfdata_event *ev);
void perfdata_rewind(struct perfdata *p);
/*
 * Copies up to n trace bytes from file offset data_offset (auxtrace.data_offset
 * plus something).  Returns how many: fewer only at the end of the file; -errno.
 */
ssize_t perfdata_read(struct perfdata *p, uint64_t data_offset, void *buf, size_t n);

/* A CPU's trace unit, by its registers. */
struct perfdata_etm {
	uint32_t	cpu;
	uint32_t	configr, traceidr;	/* TRCCONFIGR, TRCTRACEIDR */
	uint32_t	idr0, idr1, idr2, idr8;	/* TRCIDRn */
	uint32_t	devarch;		/* ETE: TRCDEVARCH, 0 unknown */
	bool		ete;
};

/* What the file says of itself. Strings live as long as p. */
struct perfdata_info {
	const char	*backend;	/* "pt", "coresight", "spe"; NULL: no trace */
	uint64_t	rtit_ctl;
	uint32_t	tsc_ratio_den, tsc_ratio_num, mtc_freq;
	uint32_t	nominal_ratio;
	uint64_t	time_zero;	/* ns = zero + (ticks * mult >> shift) */
	uint32_t	time_mult;
	uint16_t	time_shift;
	bool		has_time_conv;
	struct arm_spe_config2 spe;	/* "spe": as it was programmed, if that is known */
	const struct perfdata_etm *etm;	/* "coresight": netm of them */
	uint32_t	netm;
	const uint32_t	*caps;		/* ours: as struct hwt_query has them */
	uint32_t	ncaps;
	bool		per_cpu;
	bool		ours;		/* written by hwt: generations are there */
	bool		complete;	/* closed in good order; else cut at data.size */
	bool		busy;		/* when it was opened, a writer had it open */
	const char	*host;		/* ours: "embedded", "kernel"; else NULL */
	const char	*filter;	/* address filter, perf's syntax, or NULL */
	/* What of that was asked for (the last one read so far); NULL: all of it. */
	const char	*shown;
	/* From the feature sections: NULL where the file was cut before them. */
	const char	*cmdline, *cpuid, *cpudesc, *hostname, *arch, *os_release;
	uint64_t	truncated_at;	/* 0, or the offset where reading had to stop */
};
const struct perfdata_info *perfdata_info(struct perfdata *p);
/* Saturates instead of wrapping (0 for times before time_zero). */
uint64_t perfdata_time_to_ticks(struct perfdata *p, uint64_t ns);
uint64_t perfdata_ticks_to_time(struct perfdata *p, uint64_t ticks);

#endif
