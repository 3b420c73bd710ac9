// SPDX-License-Identifier: BSD-2-Clause
/*
 * The framework's own records: code changes are ordered by generation, and a
 * thread goes over to a generation at a position of its stream.  Each record
 * of a thread says where that thread stood and which generation it has had
 * since, so that every record is a switch for the thread that made it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "session_priv.h"

/*
 * From when on a change holds.  The kernel host counts no generations: there time is
 * the order.
 */
static struct image_moment from(const struct hwt_session *s, struct session_process *p,
				const struct hwt_rec *rec)
{
	if (!s->by_time)
		return (struct image_moment){rec->generation, 0};
	if (rec->time > p->last_change)
		p->last_change = rec->time;
	return (struct image_moment){0, rec->time};
}

/* Everything up to the record: of its generation, whatever the time. */
static struct image_moment upto(const struct hwt_session *s, const struct hwt_rec *rec,
				uint64_t generation)
{
	if (s->by_time)
		return (struct image_moment){0, rec->time};
	return (struct image_moment){generation, UINT64_MAX};
}

/* The payload, if the record is long enough for it. */
static const void *payload(const struct hwt_rec *rec, size_t need)
{
	return rec->size >= sizeof(*rec) + need ? rec + 1 : NULL;
}

/* A string that fills the rest of a record; NULL: it has no end. */
static const char *tail_string(const struct hwt_rec *rec, const char *at)
{
	size_t room = (size_t)((const char *)rec + rec->size - at);

	return memchr(at, 0, room) ? at : NULL;
}

static void link_thread(struct hwt_stream **list, struct hwt_stream *st)
{
	st->sibling = *list;
	*list = st;
}

static struct hwt_stream *unlink_thread(struct hwt_stream **list)
{
	struct hwt_stream *st = *list;

	if (st)
		*list = st->sibling;
	return st;
}

/* p: NULL where there was no memory for it. */
static struct hwt_stream *add_thread(struct hwt_session *s, struct session_process *p,
				     uint32_t tid)
{
	struct hwt_stream *st = p ? index_add_stream(s, p->pid, tid, -1) : NULL;

	if (st)
		link_thread(&p->threads, st);
	return st;
}

static struct hwt_stream *thread_of(struct hwt_session *s, uint32_t pid, uint32_t tid)
{
	struct hwt_stream *st = idmap_get(&s->tids, tid);

	return st ? st : add_thread(s, index_process(s, pid), tid);
}

static struct hwt_stream *cpu_of(struct hwt_session *s, int32_t cpu)
{
	struct hwt_stream *st = idmap_get(&s->cpus, (uint32_t)cpu);

	return st ? st : index_add_stream(s, 0, 0, cpu);
}

static int on_mmap(struct hwt_session *s, const struct hwt_rec *rec,
		   const uint8_t *build_id, size_t build_id_size)
{
	const struct hwt_rec_mmap *m = payload(rec, sizeof(*m));
	struct session_process *p = index_process(s, rec->pid);
	const char *path = m ? tail_string(rec, m->path) : NULL;
	struct image_map map;

	if (!path)
		return -EINVAL;
	if (!p)
		return -ENOMEM;
	map = (struct image_map){
		.addr = m->addr,
		.len = m->len,
		.pgoff = m->pgoff,
		.ino = m->ino,
		.dev_major = m->dev_major,
		.dev_minor = m->dev_minor,
		.prot = m->prot,
		.path = path,
		.build_id = build_id,
		.build_id_size = build_id_size,
	};
	return image_space_map(p->space, from(s, p, rec), &map);
}

static int on_munmap(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_munmap *m = payload(rec, sizeof(*m));
	struct session_process *p = index_process(s, rec->pid);

	if (!m)
		return -EINVAL;
	return p ? image_space_unmap(p->space, from(s, p, rec), m->addr, m->len) : -ENOMEM;
}

static int on_code(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_code *c = payload(rec, sizeof(*c));
	struct session_process *p = index_process(s, rec->pid);

	if (!c || c->len > rec->size - sizeof(*rec) - sizeof(*c))
		return -EINVAL;
	return p ? image_space_code(p->space, from(s, p, rec), c->addr, c->bytes, c->len)
		 : -ENOMEM;
}

/*
 * exec names the thread after the file: 15 bytes.  Where it was executed by another
 * name, a link's or a script's, a THREAD_NAME follows.
 */
static int name_after(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_exec *exec = payload(rec, sizeof(*exec) + 1);
	const char *path = exec ? tail_string(rec, exec->path) : NULL;
	struct hwt_stream *st = thread_of(s, rec->pid, rec->tid);
	const char *base;

	if (!path)
		return -EINVAL;
	if (!st)
		return -ENOMEM;
	base = strrchr(path, '/');
	snprintf(st->name, sizeof(st->name), "%.15s", base ? base + 1 : path);
	return 0;
}

static int on_native(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_native *n = payload(rec, sizeof(*n) + 1);
	const char *path = n ? tail_string(rec, n->path) : NULL;
	struct hwt_stream *st = thread_of(s, rec->pid, rec->tid);

	if (!path)
		return -EINVAL;
	if (!st)
		return -ENOMEM;
	free(st->native);
	st->info.native = st->native = strdup(path);
	return st->native ? 0 : -ENOMEM;
}

/* Of the process's threads only tid is left. */
static void end_others(struct hwt_session *s, struct session_process *p, uint32_t tid)
{
	struct hwt_stream *all = p->threads, *st;

	p->threads = NULL;
	while ((st = unlink_thread(&all))) {
		/* Its number may be another's by now. */
		if (idmap_get(&s->tids, st->info.tid) != st)
			continue;
		if (st->info.tid != tid)
			st->info.exited = true;
		link_thread(st->info.tid == tid ? &p->threads : &p->ended, st);
	}
}

/* The program's other threads are gone; its memory is a new one. */
static int on_exec(struct hwt_session *s, const struct hwt_rec *rec)
{
	struct session_process *p = index_process(s, rec->pid);
	struct image_space *space;

	if (!p)
		return -ENOMEM;
	space = session_add_space(s, image_space_new(s->store), rec->pid);
	if (!space)
		return -ENOMEM;
	p->space = space;
	end_others(s, p, rec->tid);
	return name_after(s, rec);
}

/*
 * A thread begins with its creator's name.  Where it tells of itself its process's
 * first one takes the creator's place, as in the FORK that the container writes.
 */
static const char *inherited_name(struct hwt_session *s, const struct hwt_rec *rec,
				  uint32_t tid)
{
	struct hwt_stream *creator =
		idmap_get(&s->tids, rec->tid == tid ? rec->pid : rec->tid);

	return creator && creator->info.pid == rec->pid ? creator->name : NULL;
}

static int new_thread(struct hwt_session *s, uint32_t pid, uint32_t tid,
		      struct image_space *space, struct image_moment at, const char *name)
{
	struct session_process *p = index_process(s, pid);
	struct hwt_stream *st = add_thread(s, p, tid);

	if (!st)
		return -ENOMEM;
	if (name)
		memcpy(st->name, name, sizeof(st->name));
	st->process = p;
	return index_add_switch(st, 0, space, at);
}

static int on_thread_create(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_thread *t = payload(rec, sizeof(*t));
	struct session_process *p = index_process(s, rec->pid);
	struct hwt_stream *st;
	const char *name;

	if (!t)
		return -EINVAL;
	if (!p)
		return -ENOMEM;
	name = inherited_name(s, rec, t->tid);
	/* A record of the thread itself may have come first. */
	st = idmap_get(&s->tids, t->tid);
	if (st && st->info.pid == rec->pid && !st->info.exited) {
		if (name && !st->name[0])
			memcpy(st->name, name, sizeof(st->name));
		return 0;
	}
	return new_thread(s, rec->pid, t->tid, p->space, upto(s, rec, rec->generation), name);
}

static int on_thread_exit(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_thread *t = payload(rec, sizeof(*t));
	struct hwt_stream *st;

	if (!t)
		return -EINVAL;
	st = idmap_get(&s->tids, t->tid);
	if (st) {
		st->info.exited = true;
		st->end = rec->position;
	}
	return 0;
}

static int on_name(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_name *n = payload(rec, sizeof(*n));
	struct hwt_stream *st = thread_of(s, rec->pid, rec->tid);

	if (!n)
		return -EINVAL;
	if (!st)
		return -ENOMEM;
	memcpy(st->name, n->name, sizeof(n->name));
	st->name[sizeof(n->name)] = 0;
	return 0;
}

static int on_fork(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_fork *f = payload(rec, sizeof(*f));
	struct session_process *parent = index_process(s, rec->pid), *child;
	struct hwt_stream *st = idmap_get(&s->tids, rec->tid);
	struct image_space *space;

	if (!f)
		return -EINVAL;
	if (!parent)
		return -ENOMEM;
	child = index_process(s, f->child_pid);
	space = session_add_space(
		s, image_space_fork(parent->space, upto(s, rec, rec->generation)),
		f->child_pid);
	if (!child || !space)
		return -ENOMEM;
	child->space = space;
	return new_thread(s, f->child_pid, f->child_tid, space, upto(s, rec, 0),
			  st ? st->name : NULL);
}

static void exit_all(struct hwt_session *s, struct hwt_stream **list, bool revoked,
		     int32_t status)
{
	struct hwt_stream *st;

	while ((st = unlink_thread(list))) {
		/* Not those of an earlier process of that number. */
		if (idmap_get(&s->tids, st->info.tid) != st)
			continue;
		st->info.exited = true;
		st->info.revoked = revoked;
		st->info.status = revoked ? -1 : status;
	}
}

static int on_process_exit(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_exit *e = payload(rec, sizeof(*e));
	struct session_process *p = idmap_get(&s->pids, rec->pid);
	bool revoked = rec->flags & HWT_REC_REVOKED;

	if (!e)
		return -EINVAL;
	if (!p)
		return 0;
	exit_all(s, &p->threads, revoked, e->status);
	exit_all(s, &p->ended, revoked, e->status);
	return 0;
}

static int on_buffer(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_buffer *b = payload(rec, sizeof(*b));
	struct hwt_stream *st;

	if (!b)
		return -EINVAL;
	st = rec->cpu < 0 ? idmap_get(&s->tids, b->buf_id) : cpu_of(s, rec->cpu);
	if (!st && rec->cpu >= 0)
		return -ENOMEM;
	if (st)
		st->info.collided |= !!(b->flags & HWT_BUF_COLLISION);
	/* `lost` is bytes where a ring wrapped, times that the unit lost data else. */
	if (st && !(b->flags & HWT_BUF_WRAPPED))
		st->full_stops = b->lost > st->full_stops ? b->lost : st->full_stops;
	return 0;
}

static int on_source(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_source *from = payload(rec, sizeof(*from));
	struct hwt_stream *st;

	if (!from)
		return -EINVAL;
	st = rec->cpu < 0 ? thread_of(s, rec->pid, rec->tid) : cpu_of(s, rec->cpu);
	if (!st)
		return -ENOMEM;
	/* An exec by another thread: the leader's stream goes on. */
	st->end = 0;
	if (st->sink && st->source == from->source)
		return 0;
	st->sink = idmap_get(rec->cpu < 0 ? &s->tids : &s->cpus, from->buf_id);
	st->source = from->source;
	st->begin = rec->position;
	return st->sink ? 0 : -EINVAL;
}

static int on_lost(struct hwt_session *s, const struct hwt_rec *rec)
{
	const struct hwt_rec_lost *l = payload(rec, sizeof(*l));

	if (!l)
		return -EINVAL;
	s->info.lost_records += l->count;
	return 0;
}

static int act(struct hwt_session *s, const struct hwt_rec *rec, const uint8_t *build_id,
	       size_t build_id_size)
{
	switch (rec->type) {
	case HWT_REC_MMAP:
		return on_mmap(s, rec, build_id, build_id_size);
	case HWT_REC_MUNMAP:
		return on_munmap(s, rec);
	case HWT_REC_EXEC:
		return on_exec(s, rec);
	case HWT_REC_CODE:
		return rec->pid ? on_code(s, rec) : index_kernel(s, rec);
	case HWT_REC_KERNEL:
	case HWT_REC_TEXT_POKE:
		return index_kernel(s, rec);
	case HWT_REC_THREAD_CREATE:
		return on_thread_create(s, rec);
	case HWT_REC_THREAD_EXIT:
		return on_thread_exit(s, rec);
	case HWT_REC_THREAD_NAME:
		return on_name(s, rec);
	case HWT_REC_FORK:
		return on_fork(s, rec);
	case HWT_REC_EXIT:
		return on_process_exit(s, rec);
	case HWT_REC_BUFFER:
		return on_buffer(s, rec);
	case HWT_REC_SOURCE:
		return on_source(s, rec);
	case HWT_REC_LOST:
		return on_lost(s, rec);
	case HWT_REC_NATIVE:
		return on_native(s, rec);
	default:
		/* MPROTECT: code stays what it is; what is written there is captured. */
		return 0;
	}
}

/* Records whose thread, position and generation are one moment of one thread. */
static bool is_switch(const struct hwt_rec *rec)
{
	static const uint32_t types = 1u << HWT_REC_MMAP | 1u << HWT_REC_MUNMAP |
				      1u << HWT_REC_MPROTECT | 1u << HWT_REC_EXEC |
				      1u << HWT_REC_THREAD_NAME | 1u << HWT_REC_FORK |
				      1u << HWT_REC_CODE | 1u << HWT_REC_GENERATION;

	return rec->tid && rec->cpu < 0 && rec->type < 32 && types >> rec->type & 1;
}

int index_hwt(struct hwt_session *s, const struct hwt_rec *rec, const uint8_t *build_id,
	      size_t build_id_size)
{
	const struct hwt_rec_generation *g;
	uint64_t generation = rec->generation;
	struct session_process *p;
	struct hwt_stream *st;
	int ret;

	ret = act(s, rec, build_id, build_id_size);
	if (ret || !is_switch(rec))
		return ret;
	p = index_process(s, rec->pid);
	st = thread_of(s, rec->pid, rec->tid);
	if (!p || !st)
		return -ENOMEM;
	st->process = p;
	g = rec->type == HWT_REC_GENERATION ? payload(rec, sizeof(*g)) : NULL;
	if (g && g->generation > generation)
		generation = g->generation;
	return index_add_switch(st, rec->position, p->space, upto(s, rec, generation));
}
