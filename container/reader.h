/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader's inside. */
#ifndef CONTAINER_READER_H
#define CONTAINER_READER_H

#include "perf_format.h"
#include "perfdata.h"

#define READER_WINDOW		(128u << 10)	/* bytes of records read at once */
#define READER_RECORD_MAX	65536

/* What a sample id of one event's records holds. */
struct reader_attr {
	uint64_t	sample_type, config, config1, config2, period;
	uint32_t	type;
	bool		sample_id_all, exclude_kernel, exclude_user;
	struct perf_section ids;
};
struct reader_id {
	uint64_t	id;
	uint32_t	attr;
};
struct reader_zstd;

struct perfdata {
	int		fd;
	uint64_t	file_size;
	uint64_t	data_start, data_end;
	struct perf_file_header header;

	struct reader_attr *attrs;
	uint32_t	nattrs;
	bool		uniform;	/* all attrs describe the same sample id */
	uint32_t	id_slot;	/* not uniform: id's place, u64 from the end */
	struct reader_id *ids;		/* sorted */
	size_t		nids;

	uint64_t	next;		/* file offset of the next record */
	uint8_t		*window;
	uint64_t	window_at;
	size_t		window_len;
	uint64_t	*record;	/* the record under way, aligned */
	struct reader_zstd *zstd;
	bool		unpacked;	/* the record comes from a compressed one */

	uint64_t	*part;		/* our payload, put together again */
	size_t		part_cap;	/* bytes */
	uint32_t	part_have, part_total, part_kind;

	struct perfdata_info info;
	struct time_conv tc;
	bool		have_auxtrace_info;
	char		*filter, *shown;
	struct perfdata_etm *etm;
	struct hwt_part_info ours;
	char		*features[PERF_FEAT_EVENT_DESC];	/* by bit */
};

/* Reads exactly n bytes: 0; -ENODATA: the file ends before; -errno. */
int reader_pread(struct perfdata *p, void *buf, size_t n, uint64_t offset);
/*
 * The next record as the file has it: 1, 0 at the end, -errno.  *offset is where
 * it is; p->next is behind it.
 */
int reader_raw(struct perfdata *p, uint64_t *offset);

/* Attributes and features; 0 or -errno (-EINVAL: damaged). */
int reader_load_attrs(struct perfdata *p);
int reader_load_features(struct perfdata *p);
/* The attribute of a PMU's event; NULL: there is none. */
const struct reader_attr *reader_attr_of_pmu(const struct perfdata *p, uint64_t pmu_type);
void reader_auxtrace_info(struct perfdata *p, const struct perf_auxtrace_info *info);
void reader_time_conv(struct perfdata *p, const struct perf_time_conv *conv);
void reader_spe(struct perfdata *p, const void *payload, uint32_t n);
void reader_coresight(struct perfdata *p, const uint64_t *priv, size_t n);
void reader_ours(struct perfdata *p, const void *payload, uint32_t n);
int reader_shown(struct perfdata *p, const void *text, uint32_t n);	/* 0, -ENOMEM */

/* Fills time, pid, tid and cpu of an event from p->record's sample id; its size. */
size_t reader_sample_id(const struct perfdata *p, size_t size, struct perfdata_event *ev);

/*
 * Compressed records.  feed: takes p->record's payload; take: moves one record
 * that it held to p->record: 1, 0 when it needs to be fed, -errno.
 * -EOPNOTSUPP: built without zstd.
 */
int reader_zstd_feed(struct perfdata *p, uint64_t offset);
int reader_zstd_take(struct perfdata *p, uint64_t *offset);
void reader_zstd_reset(struct perfdata *p);
void reader_zstd_free(struct perfdata *p);

#endif
