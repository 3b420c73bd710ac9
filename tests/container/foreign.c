/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "foreign.h"

void foreign_put(struct foreign *f, const void *bytes, size_t n)
{
	while (f->cap - f->n < n) {
		f->cap = f->cap ? f->cap * 2 : 4096;
		f->bytes = realloc(f->bytes, f->cap);
		if (!f->bytes)
			abort();
	}
	if (n)
		memcpy(f->bytes + f->n, bytes, n);
	f->n += n;
}

static void put64(struct foreign *f, uint64_t v)
{
	foreign_put(f, &v, sizeof(v));
}

static void put32(struct foreign *f, uint32_t v)
{
	foreign_put(f, &v, sizeof(v));
}

static void put_string(struct foreign *f, const char *s)
{
	const char zeros[8] = "";
	size_t n = strlen(s) + 1;

	foreign_put(f, s, n);
	foreign_put(f, zeros, ALIGN8(n) - n);
}

void foreign_of(struct foreign *f, const struct foreign_event *event)
{
	f->sample_type = event->sample_type;
	f->sample_id_all = event->sample_id_all;
	f->id = event->id;
}

void foreign_begin(struct foreign *f, const struct foreign_event *events, int n)
{
	struct perf_file_header h = {
		.magic = PERF_FILE_MAGIC,
		.size = sizeof(h),
		.attr_size = sizeof(struct perf_event_attr) + sizeof(struct perf_section),
	};
	struct perf_event_attr attr;
	int i;

	memset(f, 0, sizeof(*f));
	h.attrs.offset = sizeof(h) + 8 * (size_t)n;
	h.attrs.size = (size_t)n * h.attr_size;
	h.data.offset = f->data = h.attrs.offset + h.attrs.size;
	foreign_put(f, &h, sizeof(h));
	for (i = 0; i < n; i++)
		put64(f, events[i].id);
	for (i = 0; i < n; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		attr.type = events[i].type;
		attr.config = events[i].config;
		attr.sample_type = events[i].sample_type;
		attr.sample_id_all = !!events[i].sample_id_all;
		attr.exclude_kernel = 1;
		foreign_put(f, &attr, sizeof(attr));
		put64(f, sizeof(h) + 8 * (size_t)i);
		put64(f, 8);
	}
	foreign_of(f, &events[0]);
}

void foreign_record(struct foreign *f, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc};

	f->record = f->n;
	foreign_put(f, &h, sizeof(h));
}

void foreign_end_without_id(struct foreign *f)
{
	uint16_t size = (uint16_t)(f->n - f->record);

	memcpy(f->bytes + f->record + 6, &size, sizeof(size));
}

void foreign_end(struct foreign *f)
{
	if (f->sample_id_all) {
		if (f->sample_type & PERF_SAMPLE_TID) {
			put32(f, FOREIGN_PID);
			put32(f, FOREIGN_TID);
		}
		if (f->sample_type & PERF_SAMPLE_TIME)
			put64(f, FOREIGN_TIME);
		if (f->sample_type & PERF_SAMPLE_ID)
			put64(f, f->id);
		if (f->sample_type & PERF_SAMPLE_STREAM_ID)
			put64(f, f->id + 1000);
		if (f->sample_type & PERF_SAMPLE_CPU)
			put64(f, FOREIGN_CPU);
		if (f->sample_type & PERF_SAMPLE_IDENTIFIER)
			put64(f, f->id);
	}
	foreign_end_without_id(f);
}

void foreign_mmap2(struct foreign *f, uint64_t addr, const char *path)
{
	struct perf_mmap2 m = {
		.pid = 7,
		.tid = 8,
		.addr = addr,
		.len = 0x1000,
		.pgoff = 0x2000,
		.major = 8,
		.minor = 2,
		.ino = 99,
		.prot = 5,
		.flags = 2,
	};

	foreign_record(f, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	foreign_put(f, (char *)&m + sizeof(m.header), sizeof(m) - sizeof(m.header));
	put_string(f, path);
	foreign_end(f);
}

void foreign_comm(struct foreign *f, const char *comm)
{
	foreign_record(f, PERF_RECORD_COMM, PERF_RECORD_MISC_USER);
	put32(f, 7);
	put32(f, 8);
	put_string(f, comm);
	foreign_end(f);
}

void foreign_auxtrace(struct foreign *f, uint64_t offset, const void *bytes, size_t n,
		      uint32_t tid, uint32_t cpu)
{
	struct perf_auxtrace a = {
		.header = {.type = PERF_USER_AUXTRACE, .size = sizeof(a)},
		.size = n,
		.offset = offset,
		.idx = 5,
		.tid = tid,
		.cpu = cpu,
	};

	foreign_put(f, &a, sizeof(a));
	foreign_put(f, bytes, n);
}

void foreign_pt_info(struct foreign *f, uint32_t pmu, uint64_t shift, uint64_t mult,
		     uint64_t zero)
{
	uint64_t priv[PT_PRIV_COUNT] = {
		[PT_PRIV_PMU_TYPE] = pmu,
		[PT_PRIV_TIME_SHIFT] = shift,
		[PT_PRIV_TIME_MULT] = mult,
		[PT_PRIV_TIME_ZERO] = zero,
		[PT_PRIV_USER_TIME_ZERO] = 1,
		[PT_PRIV_TSC_BIT] = PT_CONFIG_TSC,
		[PT_PRIV_NORETCOMP_BIT] = PT_CONFIG_NORETCOMP,
		[PT_PRIV_PER_CPU] = 1,
		[PT_PRIV_MTC_BIT] = PT_CONFIG_MTC,
		[PT_PRIV_MTC_FREQ_BITS] = PT_CONFIG_MTC_PERIOD,
		[PT_PRIV_TSC_CTC_N] = 216,
		[PT_PRIV_TSC_CTC_D] = 2,
		[PT_PRIV_MAX_NONTURBO] = 26,
	};

	foreign_record(f, PERF_USER_AUXTRACE_INFO, 0);
	put32(f, PERF_AUXTRACE_INTEL_PT);
	put32(f, 0);
	foreign_put(f, priv, sizeof(priv));
	foreign_end_without_id(f);
}

void foreign_close(struct foreign *f)
{
	uint64_t size = f->n - f->data;

	memcpy(f->bytes + offsetof(struct perf_file_header, data.size), &size,
	       sizeof(size));
}

void foreign_save(const struct foreign *f, const char *path)
{
	FILE *out = fopen(path, "wb");

	if (!out || fwrite(f->bytes, 1, f->n, out) != f->n || fclose(out))
		abort();
}

void foreign_free(struct foreign *f)
{
	free(f->bytes);
	memset(f, 0, sizeof(*f));
}
