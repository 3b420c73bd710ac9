// SPDX-License-Identifier: BSD-2-Clause
/* Records of perf itself, in recordings made elsewhere: time is the order. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "session_priv.h"

#define NO_ID UINT32_MAX

static struct image_moment moment_of(struct hwt_session *s,
				     const struct perfdata_event *ev)
{
	struct image_moment at = {0, 0};

	/* What perf found when it began carries no time: it holds from the start. */
	if (ev->has_time && ev->time)
		at.time = perfdata_time_to_ticks(s->file, ev->time);
	return at;
}

static void changed(struct session_process *p, const struct image_moment *at)
{
	if (at->time > p->last_change)
		p->last_change = at->time;
}

static int on_mmap(struct hwt_session *s, const struct perfdata_event *ev)
{
	struct image_moment at = moment_of(s, ev);
	struct session_process *p;
	struct image_map map;

	if (ev->mmap.kernel || ev->pid == NO_ID)
		return 0;
	p = index_process(s, ev->pid);
	if (!p)
		return -ENOMEM;
	map = (struct image_map){
		.addr = ev->mmap.addr,
		.len = ev->mmap.len,
		.pgoff = ev->mmap.pgoff,
		.ino = ev->mmap.ino,
		.dev_major = ev->mmap.major,
		.dev_minor = ev->mmap.minor,
		.prot = ev->mmap.prot,
		.path = ev->mmap.path,
		.build_id = ev->mmap.build_id,
		.build_id_size = ev->mmap.build_id_size,
	};
	changed(p, &at);
	return image_space_map(p->space, at, &map);
}

static int on_comm(struct hwt_session *s, const struct perfdata_event *ev)
{
	struct hwt_stream *st = idmap_get(&s->tids, ev->tid);
	struct image_moment at = moment_of(s, ev);
	struct session_process *p;

	if (!st)
		st = index_add_stream(s, ev->pid, ev->tid, -1);
	if (!st)
		return -ENOMEM;
	snprintf(st->name, sizeof(st->name), "%s", ev->comm.comm);
	if (!ev->comm.exec)
		return 0;
	p = index_process(s, ev->pid);
	if (!p)
		return -ENOMEM;
	changed(p, &at);
	return image_space_clear(p->space, at);
}

static int on_fork(struct hwt_session *s, const struct perfdata_event *ev)
{
	struct hwt_stream *parent = idmap_get(&s->tids, ev->fork.ptid), *st;
	struct image_moment at = moment_of(s, ev);
	struct session_process *p, *child;
	struct image_space *space;

	st = index_add_stream(s, ev->pid, ev->tid, -1);
	if (!st)
		return -ENOMEM;
	if (parent)
		memcpy(st->name, parent->name, sizeof(st->name));
	/* A thread; or perf's own word for a process that was there before. */
	if (ev->pid == ev->fork.ppid || idmap_get(&s->pids, ev->pid))
		return 0;
	p = index_process(s, ev->fork.ppid);
	if (!p)
		return -ENOMEM;
	space = session_add_space(s, image_space_fork(p->space, at), ev->pid);
	child = space ? index_process(s, ev->pid) : NULL;
	if (!child)
		return -ENOMEM;
	child->space = space;
	return 0;
}

static int on_cpu(struct hwt_session *s, const struct perfdata_event *ev)
{
	struct hwt_stream *st;
	struct session_process *p;
	int ret;

	if (!perfdata_info(s->file)->per_cpu || ev->cpu == NO_ID || ev->pid == NO_ID)
		return 0;
	st = idmap_get(&s->cpus, ev->cpu);
	if (!st)
		st = index_add_stream(s, 0, 0, (int32_t)ev->cpu);
	p = st ? index_process(s, ev->pid) : NULL;
	if (!p)
		return -ENOMEM;
	ret = session_grow((void **)&st->cpus, st->ncpus, &st->cpus_room,
			   sizeof(*st->cpus));
	if (ret)
		return ret;
	st->cpus[st->ncpus] = (struct cpu_switch){moment_of(s, ev).time, st->ncpus, p};
	st->ncpus++;
	return 0;
}

static int on_start(struct hwt_session *s, const struct perfdata_event *ev)
{
	/* Its AUXTRACE records may name the thread, but not the process. */
	if (!idmap_get(&s->tids, ev->tid) && !index_add_stream(s, ev->pid, ev->tid, -1))
		return -ENOMEM;
	return on_cpu(s, ev);
}

static int on_exit(struct hwt_session *s, const struct perfdata_event *ev)
{
	struct hwt_stream *st = idmap_get(&s->tids, ev->tid);

	if (st)
		st->info.exited = true;
	return 0;
}

int index_perf(struct hwt_session *s, const struct perfdata_event *ev)
{
	switch (ev->type) {
	case PERFDATA_MMAP:
		return on_mmap(s, ev);
	case PERFDATA_COMM:
		return on_comm(s, ev);
	case PERFDATA_FORK:
		return on_fork(s, ev);
	case PERFDATA_EXIT:
		return on_exit(s, ev);
	case PERFDATA_ITRACE_START:
		return on_start(s, ev);
	case PERFDATA_SWITCH:
		return on_cpu(s, ev);
	case PERFDATA_HW_ID:
		return s->flow && s->flow->unit_id ? s->flow->unit_id(s, ev) : 0;
	default:
		return 0;
	}
}
