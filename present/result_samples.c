// SPDX-License-Identifier: BSD-2-Clause
#include "result_samples.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *list, *heading;
} groups[SAMPLES_GROUPS] = {
	[SAMPLES_FUNCTION] = {"function", "functions", "function"},
	[SAMPLES_OPERATION] = {"operation", "operations", "operation"},
	[SAMPLES_SOURCE] = {"source", "sources", "data source of loads"},
	[SAMPLES_LATENCY] = {"latency", "latencies", "total latency, cycles"},
	[SAMPLES_ADDRESS] = {"address", "addresses", "data, lines of 64 bytes"},
};

const char *result_samples_group(enum samples_group group)
{
	return groups[group].name;
}

static double percent_of(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static double mean(const struct samples_row *r)
{
	return r->timed ? (double)r->latency / (double)r->timed : 0;
}

/* The last cycle of a latency's bucket. */
static uint64_t bucket_end(uint64_t key)
{
	return key ? 2 * key - 1 : 0;
}

static void operation(char *buf, size_t size, uint64_t key)
{
	spe_operation_format((unsigned int)(key >> 8), (uint8_t)key, buf, size);
}

static void label(struct out *o, enum samples_group group, const struct samples_row *r)
{
	const char *slash, *name;
	char text[128];

	switch (group) {
	case SAMPLES_FUNCTION:
		if (r->name)
			out_printable(o, r->name);
		else if (r->address)
			out_printf(o, "[0x%" PRIx64 "]", r->address);
		else
			out_str(o, "[unknown]");
		slash = strrchr(r->image, '/');
		out_str(o, "  (");
		out_printable(o, slash ? slash + 1 : r->image);
		out_char(o, ')');
		return;
	case SAMPLES_OPERATION:
		operation(text, sizeof(text), r->key);
		out_str(o, text);
		return;
	case SAMPLES_SOURCE:
		name = spe_source_name(r->key);
		out_printf(o, "0x%" PRIx64 "%s%s", r->key, name ? " " : "", name ? name : "");
		return;
	case SAMPLES_LATENCY:
		out_printf(o, "%" PRIu64 "-%" PRIu64, r->key, bucket_end(r->key));
		return;
	default:
		out_printf(o, "0x%" PRIx64, r->key);
	}
}

static void line(struct out *o, enum samples_group group, const struct samples_row *r,
		 uint64_t total)
{
	char samples[32], loads[32], stores[32], branches[32];

	out_printf(o, "%6.2f%% %12s %12s %12s %12s %9.1f %6.2f%%  ",
		   percent_of(r->samples, total),
		   text_count(samples, sizeof(samples), r->samples),
		   text_count(loads, sizeof(loads), r->loads),
		   text_count(stores, sizeof(stores), r->stores),
		   text_count(branches, sizeof(branches), r->branches), mean(r),
		   percent_of(r->l1_misses, r->loads + r->stores));
	label(o, group, r);
	out_char(o, '\n');
}

void result_samples(struct out *o, enum samples_group group,
		    const struct samples_row *const *rows, long n, uint64_t total,
		    uint64_t max)
{
	long i, shown = max && (uint64_t)n > max ? (long)max : n;

	out_printf(o, "\n%7s %12s %12s %12s %12s %9s %7s  %s\n", "samples", "", "loads",
		   "stores", "branches", "latency", "l1 miss", groups[group].heading);
	for (i = 0; i < shown; i++)
		line(o, group, rows[i], total);
	if (shown < n)
		out_printf(o, "# %ld more\n", n - shown);
}

static void key_json(struct json *j, enum samples_group group, const struct samples_row *r)
{
	char text[128];

	switch (group) {
	case SAMPLES_FUNCTION:
		json_string(j, "name", r->name);
		json_string(j, "image", r->image);
		json_hex(j, "address", r->address);
		break;
	case SAMPLES_OPERATION:
		operation(text, sizeof(text), r->key);
		json_string(j, "operation", text);
		break;
	case SAMPLES_SOURCE:
		json_uint(j, "source", r->key);
		if (spe_source_name(r->key))
			json_string(j, "source_name", spe_source_name(r->key));
		break;
	case SAMPLES_LATENCY:
		json_uint(j, "from", r->key);
		json_uint(j, "to", bucket_end(r->key));
		break;
	default:
		json_hex(j, "address", r->key);
	}
}

void result_samples_json(struct json *j, enum samples_group group,
			 const struct samples_row *const *rows, long n)
{
	long i;

	json_array(j, groups[group].list);
	for (i = 0; i < n; i++) {
		json_object(j, NULL);
		key_json(j, group, rows[i]);
		json_uint(j, "samples", rows[i]->samples);
		json_uint(j, "loads", rows[i]->loads);
		json_uint(j, "stores", rows[i]->stores);
		json_uint(j, "branches", rows[i]->branches);
		json_uint(j, "timed", rows[i]->timed);
		json_uint(j, "latency", rows[i]->latency);
		json_uint(j, "l1_misses", rows[i]->l1_misses);
		json_uint(j, "llc_misses", rows[i]->llc_misses);
		json_uint(j, "tlb_walks", rows[i]->tlb_walks);
		json_uint(j, "mispredicted", rows[i]->mispredicted);
		json_object_end(j);
	}
	json_array_end(j);
}
