/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The feature sections: what perf says of machine, command line and events.
 * A table of {offset, size} follows the data, the sections follow the table.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "writer.h"

#ifndef HWT_VERSION
#define HWT_VERSION "0"
#endif

/* struct perf_header_string: length with padding, then the bytes. */
static void put_string(struct perfdata_writer *w, const char *s)
{
	size_t n = strlen(s) + 1;
	uint32_t len = (uint32_t)((n + PERF_STRING_ALIGN - 1) &
				  ~(size_t)(PERF_STRING_ALIGN - 1));

	pdw_put(w, &len, sizeof(len));
	pdw_put(w, s, n);
	pdw_zeros(w, len - n);
}

static void put_u32(struct perfdata_writer *w, uint32_t v)
{
	pdw_put(w, &v, sizeof(v));
}

static bool is_embedded(const struct perfdata_writer *w)
{
	return !strcmp(w->host, "embedded");
}

/* What `perf buildid-list` lists: the files of which there is one. */
static void feat_build_id(struct perfdata_writer *w)
{
	struct perf_build_id id = {
		.header.misc = PERF_RECORD_MISC_USER | PERF_MISC_BUILD_ID_SIZE,
		.pid = -1,
	};
	const struct pdw_file *f;
	size_t start, i;

	for (i = 0; i < w->nfiles; i++) {
		f = &w->files[i];
		if (!f->size)
			continue;
		memcpy(id.build_id, f->build_id, sizeof(id.build_id));
		id.size = f->size;
		start = w->used;
		pdw_put(w, &id, sizeof(id));
		pdw_put_string(w, f->path);
		pdw_zeros(w, 4); /* 36 bytes precede the string */
		pdw_end(w, start);
	}
}

static void feat_hostname(struct perfdata_writer *w)
{
	struct utsname u;

	put_string(w, uname(&u) ? "" : u.nodename);
}

static void feat_osrelease(struct perfdata_writer *w)
{
	struct utsname u;

	put_string(w, uname(&u) ? "" : u.release);
}

static void feat_version(struct perfdata_writer *w)
{
	put_string(w, "hwt " HWT_VERSION);
}

/* Of the traced program, not of the machine below it: perf picks rules by it. */
static void feat_arch(struct perfdata_writer *w)
{
	put_string(w, w->tech->arch);
}

static void feat_nrcpus(struct perfdata_writer *w)
{
	long all = sysconf(_SC_NPROCESSORS_CONF), online = sysconf(_SC_NPROCESSORS_ONLN);

	put_u32(w, all > 0 ? (uint32_t)all : 1);
	put_u32(w, online > 0 ? (uint32_t)online : 1);
}

/* The value of a /proc/cpuinfo line; "" if there is none. */
static void cpuinfo(const char *key, char *value, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	size_t n = strlen(key);
	char line[512], *colon;

	value[0] = 0;
	while (f && !value[0] && fgets(line, sizeof(line), f)) {
		colon = strchr(line, ':');
		if (!colon || strncmp(line, key, n) ||
		    (line[n] != '\t' && line[n] != ' '))
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(value, size, "%s", colon[1] ? colon + 2 : "");
	}
	if (f)
		fclose(f);
}

static void feat_cpudesc(struct perfdata_writer *w)
{
	char model[256];

	snprintf(model, sizeof(model), "%s", w->tech->cpu);
	if (!is_embedded(w))
		cpuinfo("model name", model, sizeof(model));
	put_string(w, model);
}

/* perf's form: vendor,family,model,stepping.  The virtual unit's CPU has none. */
static void feat_cpuid(struct perfdata_writer *w)
{
	char v[4][64], id[300];

	snprintf(id, sizeof(id), "%s", w->tech->cpuid);
	if (!is_embedded(w) && w->tech == &pdw_pt) {
		cpuinfo("vendor_id", v[0], sizeof(v[0]));
		cpuinfo("cpu family", v[1], sizeof(v[1]));
		cpuinfo("model", v[2], sizeof(v[2]));
		cpuinfo("stepping", v[3], sizeof(v[3]));
		snprintf(id, sizeof(id), "%s,%s,%s,%s", v[0], v[1], v[2], v[3]);
	}
	put_string(w, id);
}

static void feat_cmdline(struct perfdata_writer *w)
{
	uint32_t n = 0, i;

	while (w->argv[n])
		n++;
	put_u32(w, n);
	for (i = 0; i < n; i++)
		put_string(w, w->argv[i]);
}

static void feat_event_desc(struct perfdata_writer *w)
{
	const char *const names[PDW_EVENTS] = {w->tech->event, "dummy:HG"};
	struct perf_event_attr attr;
	uint64_t id;
	int i;

	put_u32(w, PDW_EVENTS);
	put_u32(w, PDW_ATTR_SIZE);
	for (i = 0; i < PDW_EVENTS; i++) {
		pdw_attr(w, i, &attr);
		pdw_put(w, &attr, PDW_ATTR_SIZE);
		put_u32(w, 1);
		put_string(w, names[i]);
		id = (uint64_t)(PDW_FIRST_ID + i);
		pdw_put(w, &id, sizeof(id));
	}
}

static void feat_pmu_mappings(struct perfdata_writer *w)
{
	put_u32(w, 2);
	put_u32(w, PERF_TYPE_SOFTWARE);
	put_string(w, "software");
	put_u32(w, PDW_PMU_TYPE);
	put_string(w, w->tech->pmu);
}

static void feat_sample_time(struct perfdata_writer *w)
{
	uint64_t t[2] = {
		w->first_time == UINT64_MAX ? 0 : time_conv_ns(&w->tc, w->first_time),
		time_conv_ns(&w->tc, w->now)};

	pdw_put(w, t, sizeof(t));
}

/* Where the AUXTRACE records are.  Without it perf script refuses -F addr. */
static void feat_auxtrace(struct perfdata_writer *w)
{
	uint64_t n = w->ntraces, entry[2] = {0, sizeof(struct perf_auxtrace)};
	size_t i;

	pdw_put(w, &n, sizeof(n));
	for (i = 0; i < w->ntraces; i++) {
		entry[0] = w->traces[i];
		pdw_put(w, entry, sizeof(entry));
	}
}

/* In the order of their bits, as the table must be. */
static const struct {
	uint32_t bit;
	void (*put)(struct perfdata_writer *w);
} features[] = {
	{PERF_FEAT_BUILD_ID, feat_build_id},
	{PERF_FEAT_HOSTNAME, feat_hostname},
	{PERF_FEAT_OSRELEASE, feat_osrelease},
	{PERF_FEAT_VERSION, feat_version},
	{PERF_FEAT_ARCH, feat_arch},
	{PERF_FEAT_NRCPUS, feat_nrcpus},
	{PERF_FEAT_CPUDESC, feat_cpudesc},
	{PERF_FEAT_CPUID, feat_cpuid},
	{PERF_FEAT_CMDLINE, feat_cmdline},
	{PERF_FEAT_EVENT_DESC, feat_event_desc},
	{PERF_FEAT_PMU_MAPPINGS, feat_pmu_mappings},
	{PERF_FEAT_AUXTRACE, feat_auxtrace},
	{PERF_FEAT_SAMPLE_TIME, feat_sample_time},
};
#define NFEATURES (sizeof(features) / sizeof(features[0]))

int pdw_write_features(struct perfdata_writer *w)
{
	uint64_t end = w->data_offset + w->data_size, bits[4] = {0};
	struct perf_section table[NFEATURES] = {0};
	size_t i;
	int err;

	pdw_mark(w); /* nothing is waiting: all was flushed */
	pdw_zeros(w, sizeof(table));
	for (i = 0; i < NFEATURES; i++) {
		table[i].offset = end + w->used;
		features[i].put(w);
		table[i].size = end + w->used - table[i].offset;
		bits[features[i].bit / 64] |= 1ull << features[i].bit % 64;
	}
	if (w->nomem)
		return -ENOMEM;
	memcpy(w->buf, table, sizeof(table));
	err = pdw_pwrite(w->fd, w->buf, w->used, end);
	if (err)
		return err;
	return pdw_pwrite(w->fd, bits, sizeof(bits),
			  offsetof(struct perf_file_header, features));
}
