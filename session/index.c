// SPDX-License-Identifier: BSD-2-Clause
/* The first pass: who ran when with which code, and where the trace bytes are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "session_priv.h"

struct session_process *index_process(struct hwt_session *s, uint32_t pid)
{
	struct session_process *p = idmap_get(&s->pids, pid);
	struct image_space *space;

	if (p)
		return p;
	space = session_add_space(s, image_space_new(s->store), pid);
	p = space ? calloc(1, sizeof(*p)) : NULL;
	if (!p)
		return NULL;
	p->pid = pid;
	p->space = space;
	p->next = s->processes;
	s->processes = p;
	return idmap_put(&s->pids, pid, p) ? NULL : p;
}

struct hwt_stream *index_add_stream(struct hwt_session *s, uint32_t pid, uint32_t tid,
				    int32_t cpu)
{
	struct hwt_stream *st;

	if (session_grow((void **)&s->streams, s->nstreams, &s->streams_room,
			 sizeof(*s->streams)))
		return NULL;
	st = calloc(1, sizeof(*st));
	if (!st)
		return NULL;
	st->session = s;
	st->fd = -1;
	st->info = (struct hwt_stream_info){
		.pid = pid, .tid = tid, .cpu = cpu, .name = st->name, .status = -1};
	if (idmap_put(cpu < 0 ? &s->tids : &s->cpus, cpu < 0 ? tid : (uint32_t)cpu, st)) {
		free(st);
		return NULL;
	}
	s->streams[s->nstreams++] = st;
	return st;
}

static const struct hwt_code_switch *last_switch(const struct hwt_stream *st)
{
	return st->nswitches ? &st->switches[st->last_switch].is : NULL;
}

int index_add_switch(struct hwt_stream *st, uint64_t position, struct image_space *space,
		     struct image_moment at)
{
	const struct hwt_code_switch *last = last_switch(st);
	int ret;

	/* Generations do not go back while the program is the same. */
	if (last && last->space == space && !image_moment_before(&last->at, &at))
		return 0;
	ret = session_grow((void **)&st->switches, st->nswitches, &st->switches_room,
			   sizeof(*st->switches));
	if (ret)
		return ret;
	last = last_switch(st);
	if (!last || last->position <= position)
		st->last_switch = st->nswitches;
	st->switches[st->nswitches] =
		(struct stream_switch){{position, space, at}, st->nswitches};
	st->nswitches++;
	return 0;
}

static int by_switch(const void *pa, const void *pb)
{
	const struct stream_switch *a = pa, *b = pb;

	if (a->is.position != b->is.position)
		return a->is.position < b->is.position ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int by_cpu_time(const void *pa, const void *pb)
{
	const struct cpu_switch *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_switches(struct hwt_stream *st)
{
	if (st->nswitches)
		qsort(st->switches, st->nswitches, sizeof(*st->switches), by_switch);
	if (st->ncpus)
		qsort(st->cpus, st->ncpus, sizeof(*st->cpus), by_cpu_time);
}

int index_add_chunk(struct hwt_stream *st, const struct stream_chunk *chunk)
{
	int ret;

	if (!chunk->size)
		return 0;
	if (chunk->position > UINT64_MAX - chunk->size)
		return -EBADMSG;
	ret = session_grow((void **)&st->chunks, st->nchunks, &st->chunks_room,
			   sizeof(*st->chunks));
	if (!ret)
		st->chunks[st->nchunks++] = *chunk;
	return ret;
}

/* The stream that a queue of perf's belongs to; made where there is none. */
static struct hwt_stream *queue_stream(struct hwt_session *s,
				       const struct perfdata_event *ev)
{
	/* perf says the CPU of CoreSight's records also where it traces by thread. */
	bool per_cpu = perfdata_info(s->file)->per_cpu && ev->cpu != UINT32_MAX;
	struct hwt_stream *st = idmap_get(&s->queues, ev->auxtrace.idx), *old;
	const struct hwt_code_switch *last;

	if (st)
		return st;
	if (per_cpu)
		st = idmap_get(&s->cpus, ev->cpu);
	else
		st = idmap_get(&s->tids, ev->tid);
	old = st;
	/* A second queue of one thread: its positions begin anew. */
	if (!st || st->has_idx) {
		st = index_add_stream(s, old ? old->info.pid : ev->pid,
				      per_cpu ? 0 : ev->tid,
				      per_cpu ? (int32_t)ev->cpu : -1);
		if (!st)
			return NULL;
		if (old)
			memcpy(st->name, old->name, sizeof(st->name));
		last = old ? last_switch(old) : NULL;
		if (last && index_add_switch(st, 0, last->space, last->at))
			return NULL;
	}
	st->has_idx = true;
	st->idx = ev->auxtrace.idx;
	return idmap_put(&s->queues, st->idx, st) ? NULL : st;
}

static int index_auxtrace(struct hwt_session *s, const struct perfdata_event *ev)
{
	struct stream_chunk chunk = {ev->auxtrace.offset, ev->auxtrace.size,
				     ev->auxtrace.data_offset, 0};
	struct hwt_stream *st = queue_stream(s, ev);

	return st ? index_add_chunk(st, &chunk) : -ENOMEM;
}

static void note_aux(struct hwt_stream *st, const struct perfdata_event *ev)
{
	if (!st)
		return;
	st->aux_truncated += ev->aux.truncated;
	st->bare |= ev->aux.bare;
	st->info.collided |= ev->aux.collided;
}

/* Whether it is the CPU's buffer or the thread's shows later; the other has no trace. */
static void index_aux(struct hwt_session *s, const struct perfdata_event *ev)
{
	if (perfdata_info(s->file)->per_cpu)
		note_aux(idmap_get(&s->cpus, ev->cpu), ev);
	note_aux(idmap_get(&s->tids, ev->tid), ev);
}

static void note_time(struct hwt_session *s, uint64_t ticks)
{
	if (ticks && ticks < s->first_time)
		s->first_time = ticks;
}

static int index_event(struct hwt_session *s, const struct perfdata_event *ev,
		       struct perfdata_event *mmap, uint8_t *build_id)
{
	bool twin;

	switch (ev->type) {
	case PERFDATA_AUX:
		index_aux(s, ev);
		return 0;
	case PERFDATA_AUXTRACE:
		s->tracing = true;
		return index_auxtrace(s, ev);
	case PERFDATA_SYMBOLS:
		return image_store_add_symbols(s->store, ev->symbols.text, ev->symbols.n);
	case PERFDATA_LOST:
		if (!s->info.ours)
			s->info.lost_records += ev->lost.count;
		return 0;
	case PERFDATA_HWT:
		note_time(s, ev->rec->time);
		/* perf's MMAP before it knows the build-id of the same mapping. */
		twin = ev->rec->type == HWT_REC_MMAP && mmap->type == PERFDATA_MMAP &&
		       mmap->pid == ev->rec->pid;
		return index_hwt(s, ev->rec, twin ? build_id : NULL,
				 twin ? mmap->mmap.build_id_size : 0);
	default:
		if (ev->has_time)
			note_time(s, perfdata_time_to_ticks(s->file, ev->time));
		return s->info.ours ? 0 : index_perf(s, ev);
	}
}

static int by_position(const void *pa, const void *pb)
{
	const struct stream_chunk *a = pa, *b = pb;

	if (a->position != b->position)
		return a->position < b->position ? -1 : 1;
	/* A piece before its draft: of that parts may be gone. */
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->data_offset < b->data_offset ? -1 : a->data_offset > b->data_offset;
}

/* Order, bytes and what is missing between them. */
static void sum_up(struct hwt_stream *st)
{
	uint64_t next = 0, end;
	size_t i, n = 0;

	qsort(st->chunks, st->nchunks, sizeof(*st->chunks), by_position);
	for (i = 0; i < st->nchunks; i++) {
		struct stream_chunk c = st->chunks[i];

		end = c.position + c.size;
		if (n && end <= next)
			continue;
		/* Snapshots overlap, drafts and their piece: each byte is decoded once. */
		if (n && c.position < next) {
			c.data_offset += next - c.position;
			c.size = end - next;
			c.position = next;
		}
		if (c.position > next)
			st->info.lost += c.position - next;
		c.before = st->info.bytes;
		st->info.bytes += c.size;
		next = end;
		st->chunks[n++] = c;
	}
	st->nchunks = n;
	/* Ours say it; in others' a cut of the AUX data is all there is to see. */
	st->info.gaps = st->session->info.ours ? st->full_stops : st->aux_truncated;
}

/* perf names every thread of the system; those without trace are none of ours. */
static void drop_empty(struct hwt_session *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->nstreams; i++) {
		struct hwt_stream *st = s->streams[i];

		if (st->nchunks || s->info.ours) {
			s->streams[n++] = st;
			continue;
		}
		free(st->switches);
		free(st->cpus);
		free(st);
	}
	s->nstreams = n;
}

static int finish_index(struct hwt_session *s)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < s->nstreams; i++) {
		struct hwt_stream *st = s->streams[i];

		sort_switches(st);
		if (st->nchunks)
			sum_up(st);
		if (!s->info.ours && st->info.cpu < 0)
			st->process = idmap_get(&s->pids, st->info.pid == UINT32_MAX
								  ? st->info.tid
								  : st->info.pid);
	}
	if (s->flow && s->flow->index)
		ret = s->flow->index(s);
	else if (s->samples)
		ret = threads_index(s);
	drop_empty(s);
	idmap_free(&s->tids);
	idmap_free(&s->queues);
	idmap_free(&s->cpus);
	idmap_free(&s->pids);
	idmap_free(&s->units);
	return ret;
}

int index_file(struct hwt_session *s)
{
	struct perfdata_event ev, before = {.type = PERFDATA_SKIPPED};
	uint8_t build_id[64];
	int n, ret = 0;

	while (!ret && (n = perfdata_next(s->file, &ev)) != 0) {
		if (n < 0) {
			if (n == -ENOMEM)
				return n;
			s->info.truncated_at = ev.file_offset;
			session_warn(
				s,
				"the recording cannot be read beyond offset 0x%llx (%s); "
				"what precedes it is shown",
				(unsigned long long)ev.file_offset, strerror(-n));
			break;
		}
		ret = index_event(s, &ev, &before, build_id);
		before = ev;
		if (ev.type == PERFDATA_MMAP && ev.mmap.build_id &&
		    ev.mmap.build_id_size <= sizeof(build_id))
			memcpy(build_id, ev.mmap.build_id, ev.mmap.build_id_size);
		else if (ev.type == PERFDATA_MMAP)
			before.mmap.build_id_size = 0;
		/* One record's nonsense does not spoil the rest. */
		if (ret == -EINVAL || ret == -EBADMSG) {
			session_warn(s,
				     "a record at offset 0x%llx makes no sense; it is "
				     "left out",
				     (unsigned long long)ev.file_offset);
			ret = 0;
		}
	}
	if (!s->info.truncated_at)
		s->info.truncated_at = perfdata_info(s->file)->truncated_at;
	n = finish_index(s);
	return ret ? ret : n;
}
