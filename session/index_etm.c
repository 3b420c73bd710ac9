// SPDX-License-Identifier: BSD-2-Clause
/*
 * CoreSight: a buffer is a sink's, and holds the trace of all units that feed it; each
 * that is in there is a stream.  A thread that ran on several CPUs has one for each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../decode/etm/etm_frames.h"
#include "session_priv.h"

#define SCAN_BYTES (64u << 10)
#define LOOK_BACK 1024		/* bytes at once */
#define LOOK_BACK_ALL (256u << 20)	/* of all threads: a hostile file has many */

static void take_source(struct session_etm *to, const struct perfdata_etm *e)
{
	to->cpu = e->cpu;
	to->source = (struct etm_source){
		.configr = e->configr,
		.traceidr = e->traceidr,
		.idr = {[0] = e->idr0, [1] = e->idr1, [2] = e->idr2, [8] = e->idr8},
		.devarch = e->devarch,
		.ete = e->ete,
	};
}

/* The recording's units, from its head. 0, -ENOMEM. */
static int take_units(struct hwt_session *s)
{
	const struct perfdata_info *info = perfdata_info(s->file);
	uint32_t i;

	if (s->etm)
		return 0;
	s->etm = calloc(info->netm + 1, sizeof(*s->etm));
	if (!s->etm)
		return -ENOMEM;
	for (i = 0; i < info->netm; i++) {
		take_source(&s->etm[i], &info->etm[i]);
		/* The first one that is said to be the CPU's. */
		if (!idmap_get(&s->units, s->etm[i].cpu) &&
		    idmap_put(&s->units, s->etm[i].cpu, &s->etm[i]))
			return -ENOMEM;
	}
	s->netm = info->netm;
	return 0;
}

int index_etm_id(struct hwt_session *s, const struct perfdata_event *ev)
{
	struct session_etm *e;

	if (take_units(s))
		return -ENOMEM;
	e = idmap_get(&s->units, ev->cpu);
	if (!e || ev->hw.id & PERFDATA_HW_VERSION)
		return -EINVAL;
	e->source.traceidr = (uint32_t)(ev->hw.id & PERFDATA_HW_TRACE_ID);
	e->sink = (uint32_t)((ev->hw.id & PERFDATA_HW_SINK) / (PERFDATA_HW_TRACE_ID + 1));
	return 0;
}

/* Which trace IDs a buffer's frames have. 0, -errno. */
static int scan(struct hwt_stream *st, struct etm_frames *frames)
{
	struct etm_segment seg[ETM_FRAME_SEGMENTS];
	uint8_t *buf = malloc(SCAN_BYTES);
	uint64_t position, end;
	ssize_t got = 0;
	size_t i, at, n;

	if (!buf)
		return -ENOMEM;
	etm_frames_init(frames, 0);
	for (i = 0; i < st->nchunks && got >= 0; i++) {
		const struct stream_chunk *c = &st->chunks[i];

		if (c->position != frames->offset + frames->fill)
			etm_frames_reset(frames, c->position);
		end = c->position + c->size;
		for (position = c->position; position < end; position += (uint64_t)got) {
			n = end - position < SCAN_BYTES ? (size_t)(end - position)
							: SCAN_BYTES;
			got = stream_read(st, c->data_offset + (position - c->position),
					  buf, n);
			if (got <= 0)
				break;
			for (at = 0; at < (size_t)got; at += n) {
				n = (size_t)got - at;
				etm_frames_take(frames, ETM_FRAME_NO_ID, buf + at, &n,
						seg);
			}
		}
	}
	free(buf);
	return got < 0 ? (int)got : 0;
}

static int copy_cpus(struct hwt_stream *to, const struct hwt_stream *from)
{
	if (!from->ncpus)
		return 0;
	to->cpus = calloc(from->ncpus, sizeof(*to->cpus));
	if (!to->cpus)
		return -ENOMEM;
	memcpy(to->cpus, from->cpus, from->ncpus * sizeof(*to->cpus));
	to->ncpus = to->cpus_room = from->ncpus;
	return 0;
}

/*
 * n chunks from the first one on.  They are as many as the file has pieces, and the
 * streams of a buffer may be many.
 */
static void lend(struct hwt_stream *to, const struct hwt_stream *from, size_t first,
		 size_t n)
{
	to->chunks = n ? from->chunks + first : NULL;
	to->nchunks = n;
	to->lent = true;
}

static void among_others(struct hwt_stream *st, uint32_t traceidr)
{
	st->info.trace_id = traceidr & TRCTRACEIDR_MASK;
}

/* Another stream of st's buffer, by that unit. */
static int add_unit(struct hwt_stream *st, const struct session_etm *e)
{
	struct hwt_session *s = st->session;
	bool by_cpu = st->info.cpu >= 0;
	struct hwt_stream *to, *cpu = by_cpu ? idmap_get(&s->cpus, e->cpu) : NULL;

	to = index_add_stream(s, st->info.pid, st->info.tid,
			      by_cpu ? (int32_t)e->cpu : -1);
	if (!to || copy_cpus(to, cpu ? cpu : st))
		return -ENOMEM;
	lend(to, st, 0, st->nchunks);
	memcpy(to->name, st->name, sizeof(to->name));
	to->info.bytes = st->info.bytes;
	to->info.lost = st->info.lost;
	to->info.gaps = st->info.gaps;
	to->info.exited = st->info.exited;
	to->info.status = st->info.status;
	to->process = st->process;
	to->etm = e->source;
	to->formatted = true;
	among_others(to, e->source.traceidr);
	return 0;
}

/* Of the units that may have trace in st's buffer those that have. */
static int split(struct hwt_stream *st)
{
	struct hwt_session *s = st->session;
	const struct session_etm *own, *first = NULL;
	struct etm_frames frames;
	bool shared = false;
	uint32_t id;
	size_t i;
	int ret;

	/* A thread's buffer is filled by the sinks of all CPUs that it ran on. */
	own = st->info.cpu >= 0 ? idmap_get(&s->units, (uint32_t)st->info.cpu) : NULL;
	st->formatted = !st->bare;
	if (s->netm == 1 || st->bare) {
		st->etm = own ? own->source : s->etm[0].source;
		return 0;
	}
	ret = scan(st, &frames);
	for (i = 0; i < s->netm && !ret; i++) {
		id = s->etm[i].source.traceidr & TRCTRACEIDR_MASK;
		if (!frames.seen[id] || (own && s->etm[i].sink != own->sink))
			continue;
		frames.seen[id] = false;
		shared |= first != NULL;
		if (first)
			ret = add_unit(st, &s->etm[i]);
		else
			first = &s->etm[i];
	}
	for (id = CS_ID_FIRST; id <= CS_ID_LAST; id++) {
		shared |= frames.seen[id];
		if (frames.seen[id] && !ret)
			session_warn(s,
				     "trace of source 0x%x is in the recording, which "
				     "does not describe it; it is left out",
				     id);
	}
	st->etm = first ? first->source : s->etm[0].source;
	if (shared)
		among_others(st, st->etm.traceidr);
	if (first && st->info.cpu >= 0)
		st->info.cpu = (int32_t)first->cpu;
	return ret;
}

/* Of chunks in order the first one that ends behind a position. */
static size_t chunk_behind(const struct hwt_stream *st, uint64_t position)
{
	size_t low = 0, high = st->nchunks, i;

	while (low < high) {
		i = low + (high - low) / 2;
		if (st->chunks[i].position + st->chunks[i].size > position)
			high = i;
		else
			low = i + 1;
	}
	return low;
}

/*
 * Which of the sink's bytes are between st's beginning and its end: how many; they are
 * in [*first, *n) of its chunks.
 */
static void count(struct hwt_stream *st, const struct hwt_stream *sink, size_t *first,
		  size_t *n)
{
	const struct stream_chunk *from, *last;
	uint64_t end;

	st->info.bytes = st->info.lost = 0;
	st->dump_position = st->begin;
	*first = chunk_behind(sink, st->begin);
	*n = st->end ? chunk_behind(sink, st->end) : sink->nchunks;
	if (*n < sink->nchunks && sink->chunks[*n].position < st->end)
		++*n;
	if (*first >= *n || (st->end && st->end <= st->begin)) {
		*n = *first;
		return;
	}
	from = &sink->chunks[*first];
	last = &sink->chunks[*n - 1];
	end = stream_chunk_end(st, last);
	st->info.bytes = last->before + (end - last->position) - from->before;
	if (st->begin > from->position)
		st->info.bytes -= st->begin - from->position;
	st->info.lost = end - st->begin - st->info.bytes;
}

/* A sink has no other sink: nonsense is left out. */
static void check_sinks(struct hwt_session *s)
{
	struct hwt_stream *st;
	size_t i;

	for (i = 0; i < s->nstreams; i++) {
		st = s->streams[i];
		if (st->sink && st->sink->sink && st->sink->sink != st->sink)
			st->sink = NULL;
	}
}

/*
 * The ID in force where a thread begins; 0: not known.  The formatter writes one when it
 * changes only, and the thread may have that of one which ended just before.
 */
static uint8_t id_before(struct hwt_stream *sink, uint64_t position)
{
	uint64_t *left = &sink->session->etm_look_back;
	uint8_t block[LOOK_BACK], id = 0;
	const struct stream_chunk *c;
	size_t i, n;

	while (!id && position && position % CS_FRAME == 0) {
		i = chunk_behind(sink, position - 1);
		c = &sink->chunks[i];
		if (i == sink->nchunks || c->position >= position)
			break;
		n = position - c->position < sizeof(block) ? position - c->position :
							     sizeof(block);
		n -= n % CS_FRAME;
		if (!n || n > *left)
			break;
		*left -= n;
		position -= n;
		if (stream_read(sink, c->data_offset + (position - c->position), block, n) !=
		    (ssize_t)n)
			break;
		for (i = n; i && !id; i -= CS_FRAME)
			id = etm_frame_id(block + i - CS_FRAME);
	}
	return id;
}

/* A thread whose trace is in a buffer with that of others. */
static void share(struct hwt_stream *st)
{
	struct hwt_stream *sink = st->sink;
	size_t first, n;

	st->etm = st->session->etm[0].source;
	st->etm.traceidr = st->source;
	st->formatted = true;
	if (sink == st)
		return;
	among_others(st, st->source);
	among_others(sink, sink->source);
	count(st, sink, &first, &n);
	st->first_id = id_before(sink, st->begin);
	free(st->chunks);
	lend(st, sink, first, n - first);
	st->info.gaps = sink->info.gaps;
}

static void index_shared(struct hwt_session *s)
{
	struct hwt_stream *st;
	size_t i, first, n;

	s->etm_look_back = LOOK_BACK_ALL;
	for (i = 0; i < s->nstreams; i++)
		if (s->streams[i]->sink)
			share(s->streams[i]);
	/* All the others know of all its chunks. */
	for (i = 0; i < s->nstreams; i++) {
		st = s->streams[i];
		if (st->sink != st)
			continue;
		st->sink_bytes = st->info.bytes;
		st->sink_lost = st->info.lost;
		count(st, st, &first, &n);
		st->nchunks = n;
	}
}

int index_etm(struct hwt_session *s)
{
	size_t i, n = s->nstreams;
	int ret = take_units(s);

	if (!ret && !s->netm)
		return -EBADMSG;
	check_sinks(s);
	/* Those that are added are done. */
	for (i = 0; i < n && !ret; i++)
		if (s->streams[i]->nchunks && !s->streams[i]->sink)
			ret = split(s->streams[i]);
	if (!ret)
		index_shared(s);
	return ret;
}
