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
#include <hwt/hwt_ext.h>

/* ---- writing ---- */
struct perfdata_writer;

struct perfdata_params {
	const char	*backend;	/* "pt" */
	const char	*const *argv;	/* command line, NULL-terminated */
	uint64_t	rtit_ctl;	/* as programmed, for the attr and AUXTRACE_INFO */
	const uint32_t	*caps;		/* CPUID words (hw/pt.h), ncaps of them */
	uint32_t	ncaps;
	uint64_t	time_hz;	/* ticks a second: time conversion */
	bool		per_cpu;	/* buffers are CPUs', not threads' */
	const char	*host;		/* "embedded", "kernel" */
};
/* *err is a malloc'd line on failure.  0 or -errno. */
int perfdata_create(const char *path, const struct perfdata_params *params,
		    struct perfdata_writer **out);
/*
 * Appends what one framework record (struct hwt_rec, as RECORD_GET2 gives it)
 * means to perf: COMM, MMAP2 with the build-id, FORK, EXIT, ITRACE_START, or
 * our own records.  0 or -errno; after an error the file stays readable.
 */
int perfdata_write_record(struct perfdata_writer *w, const struct hwt_rec *rec);
/*
 * Appends trace bytes [position, position + n) of buffer buf_id (tid or cpu),
 * as PERF_RECORD_AUX + AUXTRACE.  truncated: a gap precedes them.
 * n need not be a multiple of 8: the rest is kept back until the next call or
 * the buffer's final flush.
 */
int perfdata_write_trace(struct perfdata_writer *w, uint32_t pid, uint32_t buf_id,
			 uint64_t position, const void *bytes, size_t n,
			 bool truncated, bool final);
int perfdata_flush(struct perfdata_writer *w);
/* Writes the feature sections, fsyncs nothing, frees w. 0 or the first error. */
int perfdata_close(struct perfdata_writer *w);

/* ---- reading ---- */
struct perfdata;

enum perfdata_kind {		/* perfdata_open's *kind on -EINVAL, and open's answer */
	PERFDATA_FILE, PERFDATA_PIPE, PERFDATA_OTHER_ENDIAN, PERFDATA_RAW_PT,
	PERFDATA_EMPTY, PERFDATA_ELF, PERFDATA_DIRECTORY, PERFDATA_UNKNOWN
};
const char *perfdata_kind_text(enum perfdata_kind kind);

/* 0, -errno, or -EINVAL with *kind saying what it is instead. */
int perfdata_open(const char *path, struct perfdata **out, enum perfdata_kind *kind);
void perfdata_close_reader(struct perfdata *p);

/* An event of the file, in file order; pointers live until the next call. */
enum perfdata_type {
	PERFDATA_MMAP, PERFDATA_COMM, PERFDATA_FORK, PERFDATA_EXIT,
	PERFDATA_ITRACE_START, PERFDATA_AUX, PERFDATA_AUXTRACE, PERFDATA_LOST,
	PERFDATA_SWITCH, PERFDATA_TEXT_POKE,
	PERFDATA_HWT,		/* our record: rec */
	PERFDATA_SKIPPED,	/* known or unknown, of no use here: raw_type */
	PERFDATA_TYPE_MAX
};
struct perfdata_event {
	enum perfdata_type type;
	uint32_t	raw_type;
	uint64_t	file_offset;
	uint32_t	pid, tid;
	uint32_t	cpu;
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
		struct { uint64_t offset, size, flags; } aux;	/* PERF_AUX_FLAG_* */
		struct {
			uint64_t offset, size;	/* position in its stream; bytes */
			uint64_t reference;
			uint32_t idx;
			uint64_t data_offset;	/* of the bytes, in the file */
		} auxtrace;
		struct { uint64_t count; } lost;
		struct { uint64_t addr; const uint8_t *bytes; uint16_t old_len, new_len; } poke;
		const struct hwt_rec *rec;
	};
};
/* 1: *ev filled; 0: the end; -errno with *ev->file_offset: cannot go on there. */
int perfdata_next(struct perfdata *p, struct perfdata_event *ev);
void perfdata_rewind(struct perfdata *p);
/* Trace bytes by file offset (mapped; NULL if outside the file). */
const uint8_t *perfdata_bytes(struct perfdata *p, uint64_t data_offset, uint64_t size);

/* What the file says of itself. Strings live as long as p. */
struct perfdata_info {
	const char	*backend;	/* "pt", "coresight", "spe", or NULL: no trace in it */
	uint64_t	rtit_ctl;
	uint32_t	tsc_ratio_den, tsc_ratio_num, mtc_freq;
	uint32_t	nominal_ratio;
	uint64_t	time_zero;	/* time conversion: ns = zero + ticks * mult >> shift */
	uint32_t	time_mult;
	uint16_t	time_shift;
	bool		has_time_conv;
	bool		per_cpu;
	bool		ours;		/* written by hwt: generations are there */
	bool		complete;	/* closed in good order; else cut at data.size */
	const char	*cmdline, *cpuid, *hostname, *arch, *os_release;
	uint64_t	truncated_at;	/* 0, or the offset where reading had to stop */
};
const struct perfdata_info *perfdata_info(struct perfdata *p);
/* Saturates instead of wrapping (0 for times before time_zero). */
uint64_t perfdata_time_to_ticks(struct perfdata *p, uint64_t ns);
uint64_t perfdata_ticks_to_time(struct perfdata *p, uint64_t ticks);

#endif
