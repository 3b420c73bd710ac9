/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds perf.data files as `perf record` lays them out, and broken ones. */
#ifndef TESTS_CONTAINER_FOREIGN_H
#define TESTS_CONTAINER_FOREIGN_H

#include <stddef.h>
#include <stdint.h>
#include "container/perf_format.h"

struct foreign {
	uint8_t		*bytes;
	size_t		n, cap;
	size_t		data;		/* offset of the data section */
	uint64_t	sample_type;	/* of the ids that foreign_id appends */
	uint64_t	id;
	int		sample_id_all;
	size_t		record;		/* offset of the record under way */
};

struct foreign_event {
	uint32_t	type;
	uint64_t	config, sample_type;
	int		sample_id_all;
	uint64_t	id;
};
/* The pid, tid, time and cpu that every sample id has. */
#define FOREIGN_PID	1234
#define FOREIGN_TID	1235
#define FOREIGN_TIME	0x123456789abcull
#define FOREIGN_CPU	3

/* Header, attributes and ids; records follow.  Ids are then the first event's. */
void foreign_begin(struct foreign *f, const struct foreign_event *events, int n);
/* Records that follow belong to that event. */
void foreign_of(struct foreign *f, const struct foreign_event *event);
void foreign_put(struct foreign *f, const void *bytes, size_t n);
/* A record: header; whatever is put between; its sample id, if any; its size. */
void foreign_record(struct foreign *f, uint32_t type, uint16_t misc);
void foreign_end(struct foreign *f);
void foreign_end_without_id(struct foreign *f);
/* Whole records. */
void foreign_mmap2(struct foreign *f, uint64_t addr, const char *path);
void foreign_comm(struct foreign *f, const char *comm);
void foreign_auxtrace(struct foreign *f, uint64_t offset, const void *bytes, size_t n,
		      uint32_t tid, uint32_t cpu);
void foreign_pt_info(struct foreign *f, uint32_t pmu, uint64_t shift, uint64_t mult,
		     uint64_t zero);
/* Says the size of the data (not called: 0) and that there are no features. */
void foreign_close(struct foreign *f);
void foreign_save(const struct foreign *f, const char *path);
void foreign_free(struct foreign *f);

#endif
