/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake_perfdata.h"
#include "fake_host.h"
#include "container/perfdata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_file fake_file;

struct fake_stream *fake_stream(uint32_t tid)
{
	int i;

	for (i = 0; i < fake_file.nstreams; i++)
		if (fake_file.stream[i].tid == tid)
			return &fake_file.stream[i];
	fake_file.stream[i].tid = tid;
	fake_file.nstreams++;
	return &fake_file.stream[i];
}

static int call(void)
{
	if (!fake_file.write_error)
		return 0;
	if (fake_file.write_calls_left > 0) {
		fake_file.write_calls_left--;
		return 0;
	}
	return fake_file.write_error;
}

int perfdata_create(const char *path, const struct perfdata_params *params,
		    struct perfdata_writer **out)
{
	if (fake_file.create_error)
		return fake_file.create_error;
	fake_file.created = true;
	fake_file.per_cpu = params->per_cpu;
	fake_file.written = params->written;
	*out = (struct perfdata_writer *)&fake_file;
	return 0;
}

static void take_code(const struct hwt_rec_code *c)
{
	uint32_t i;

	for (i = 0; i < c->len; i++)
		fake_file.code += c->bytes[i] == fake_code(c->addr + i);
}

int perfdata_write_symbols(struct perfdata_writer *w, const char *text, size_t n)
{
	fake_file.symbols += n;
	return call();
}

int perfdata_write_record(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	fake_file.records++;
	fake_file.of_type[rec->type % 32]++;
	if (rec->type == HWT_REC_CODE)
		take_code((const struct hwt_rec_code *)(rec + 1));
	return call();
}

int perfdata_write_trace(struct perfdata_writer *w, uint32_t pid, uint32_t buf_id,
			 uint64_t position, const void *bytes, size_t n,
			 bool truncated, bool final)
{
	struct fake_stream *s = fake_stream(buf_id);
	const uint8_t *p = bytes;
	size_t i;
	int err = call();

	if (err)
		return err;
	if (s->bytes == 0)
		s->first = s->next = position;
	s->gaps += truncated;
	for (i = 0; i < n; i++)
		s->wrong += p[i] != fake_byte(buf_id, position + i);
	/* Nothing twice; holes only where a gap says so. */
	s->wrong += position < s->next || (position > s->next && !truncated);
	s->next = position + n;
	s->bytes += n;
	*fake_file.written += n;
	s->finals += final;
	return 0;
}

int perfdata_set_filter(struct perfdata_writer *w, const char *filter)
{
	snprintf(fake_file.filter, sizeof(fake_file.filter), "%s", filter);
	return 0;
}

int perfdata_set_shown(struct perfdata_writer *w, const char *shown)
{
	snprintf(fake_file.shown, sizeof(fake_file.shown), "%s", shown);
	return 0;
}

int perfdata_flush(struct perfdata_writer *w)
{
	fake_file.flushes++;
	return call();
}

int perfdata_close(struct perfdata_writer *w)
{
	fake_file.closed = true;
	return call();
}
