/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Framework records as perf's: what each type of struct hwt_rec means to perf.
 * The record itself follows in a part that perf skips; where perf has no word
 * for it (MUNMAP, MPROTECT, CODE, GENERATION, BUFFER) that is all there is.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "writer.h"

static const void *payload_of(const struct hwt_rec *rec)
{
	return rec + 1;
}

static void put_rec_id(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	pdw_put_id(w, PDW_DUMMY, rec->pid, rec->tid, rec->time, rec->cpu);
}

static void put_comm(struct perfdata_writer *w, const struct hwt_rec *rec,
		     const char *name, size_t max, uint16_t misc)
{
	uint32_t task[2] = {rec->pid, rec->tid};
	size_t start = pdw_begin(w, PERF_RECORD_COMM, misc | PERF_RECORD_MISC_USER);
	char comm[16] = "";

	memcpy(comm, name, strnlen(name, max < 15 ? max : 15));
	pdw_put(w, task, sizeof(task));
	pdw_put_string(w, comm);
	put_rec_id(w, rec);
	pdw_end(w, start);
}

static void put_task(struct perfdata_writer *w, uint32_t type,
		     const struct perf_task *task, uint64_t time)
{
	uint32_t who[4] = {task->pid, task->ppid, task->tid, task->ptid};
	uint64_t ns = time_conv_ns(&w->tc, time);
	size_t start = pdw_begin(w, type, PERF_RECORD_MISC_USER);

	pdw_put(w, who, sizeof(who));
	pdw_put(w, &ns, sizeof(ns));
	pdw_put_id(w, PDW_DUMMY, task->ppid, task->ptid, time, -1);
	pdw_end(w, start);
}

/* A thread seen for the first time: perf wants to hear that its trace begins. */
static void start_thread(struct perfdata_writer *w, uint32_t pid, uint32_t tid,
			 uint64_t time)
{
	struct pdw_thread *t = pdw_thread(w, pid, tid);
	uint32_t task[2] = {pid, tid};
	size_t start;

	if (!t) {
		w->nomem = true;
		return;
	}
	if (t->started || w->per_cpu)
		return;
	t->started = true;
	start = pdw_begin(w, PERF_RECORD_ITRACE_START, PERF_RECORD_MISC_USER);
	pdw_put(w, task, sizeof(task));
	pdw_put_id(w, PDW_TRACE, pid, tid, time, -1);
	pdw_end(w, start);
}

/* ---- one function a type ---- */

static void put_mmap2(struct perfdata_writer *w, const struct hwt_rec *rec,
		      const struct perf_mmap2 *m, const char *path)
{
	size_t start = pdw_begin(w, PERF_RECORD_MMAP2, m->header.misc);

	pdw_put(w, (const char *)m + sizeof(m->header), sizeof(*m) - sizeof(m->header));
	pdw_put_string(w, path);
	put_rec_id(w, rec);
	pdw_end(w, start);
}

/*
 * File mappings whatever their protection: perf has no record for a later
 * mprotect to PROT_EXEC.  Anonymous memory only where it can hold code.
 */
static void write_mmap(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_mmap *map = payload_of(rec);
	struct perf_mmap2 m = {
		.header.misc = PERF_RECORD_MISC_USER,
		.pid = rec->pid,
		.tid = rec->tid,
		.addr = map->addr,
		.len = map->len,
		.pgoff = map->pgoff,
		.major = map->dev_major,
		.minor = map->dev_minor,
		.ino = map->ino,
		.prot = map->prot,
		.flags = map->mapflags,
	};
	bool exec = map->prot & PROT_EXEC, file = map->path[0] == '/';
	const struct pdw_file *f;

	if (!exec && !file)
		return;
	if (!exec)
		m.header.misc |= PERF_RECORD_MISC_MMAP_DATA;
	if (file) {
		f = pdw_file(w, map);
		if (!f) {
			w->nomem = true;
			return;
		}
		if (f->size) {
			m.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
			m.build_id_size = f->size;
			memset(m.reserved, 0, sizeof(m.reserved));
			memcpy(m.build_id, f->build_id, sizeof(m.build_id));
		}
	}
	put_mmap2(w, rec, &m, map->path[0] ? map->path : "//anon");
}

static void write_kernel(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_kernel *k = payload_of(rec);
	bool text = !strcmp(k->path, "kernel");
	struct perf_mmap2 m = {
		.header.misc = PERF_RECORD_MISC_KERNEL,
		.pid = UINT32_MAX,
		.addr = k->addr,
		.len = k->len,
		.pgoff = text ? k->addr : 0,
		.prot = PROT_READ | PROT_EXEC,
	};

	put_mmap2(w, rec, &m, text ? "[kernel.kallsyms]_text" : k->path);
}

static void write_exec(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_exec *exec = payload_of(rec);
	const char *slash = strrchr(exec->path, '/');

	put_comm(w, rec, slash ? slash + 1 : exec->path, 15, PERF_RECORD_MISC_COMM_EXEC);
}

static void write_name(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_name *name = payload_of(rec);

	put_comm(w, rec, name->name, sizeof(name->name), 0);
}

static void write_child(struct perfdata_writer *w, const struct hwt_rec *rec,
			uint32_t pid, uint32_t tid)
{
	/* Where a thread tells of itself, its process's first one is the parent. */
	bool itself = pid == rec->pid && tid == rec->tid;
	struct perf_task task = {
		.pid = pid,
		.ppid = rec->pid,
		.tid = tid,
		.ptid = itself ? rec->pid : rec->tid,
	};
	struct pdw_thread *t = pdw_thread(w, pid, tid);

	if (!t) {
		w->nomem = true;
		return;
	}
	t->alive = true;
	t->started = false;
	if (!itself || tid != pid)
		put_task(w, PERF_RECORD_FORK, &task, rec->time);
	start_thread(w, pid, tid, rec->time);
}

static void write_thread_create(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_thread *t = payload_of(rec);

	write_child(w, rec, rec->pid, t->tid);
}

static void write_fork(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_fork *fork = payload_of(rec);

	write_child(w, rec, fork->child_pid, fork->child_tid);
}

void pdw_put_exit(struct perfdata_writer *w, struct pdw_thread *t, uint64_t time)
{
	struct perf_task task = {
		.pid = t->pid,
		.ppid = t->pid,
		.tid = t->tid,
		.ptid = t->tid,
	};

	if (!t->alive)
		return;
	t->alive = false;
	put_task(w, PERF_RECORD_EXIT, &task, time);
}

static void exit_thread(struct perfdata_writer *w, uint32_t pid, uint32_t tid,
			uint64_t time)
{
	struct pdw_thread *t = pdw_thread(w, pid, tid);

	if (t)
		pdw_put_exit(w, t, time);
	else
		w->nomem = true;
}

static void write_thread_exit(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_thread *t = payload_of(rec);

	exit_thread(w, rec->pid, t->tid, rec->time);
}

static void write_exit(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	exit_thread(w, rec->pid, rec->pid, rec->time);
}

static void write_text_poke(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_code *code = payload_of(rec);
	uint16_t lens[2] = {0, (uint16_t)code->len}; /* the old bytes are not known */
	size_t start, n = sizeof(lens) + code->len;

	if (code->len > 4096) /* perf's own are a few bytes */
		return;
	start = pdw_begin(w, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL);
	pdw_put(w, &code->addr, sizeof(code->addr));
	pdw_put(w, lens, sizeof(lens));
	pdw_put(w, code->bytes, code->len);
	pdw_zeros(w, ALIGN8(n) - n);
	put_rec_id(w, rec);
	pdw_end(w, start);
}

static void write_lost(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_lost *lost = payload_of(rec);
	uint64_t body[2] = {PDW_FIRST_ID + PDW_DUMMY, lost->count};
	size_t start = pdw_begin(w, PERF_RECORD_LOST, 0);

	pdw_put(w, body, sizeof(body));
	put_rec_id(w, rec);
	pdw_end(w, start);
}

static void write_buffer(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_buffer *b = payload_of(rec);
	struct pdw_stream *s = pdw_stream(w, rec->pid, b->buf_id);

	if (!s) {
		w->nomem = true;
		return;
	}
	s->time = rec->time;
	s->wrapped |= !!(b->flags & HWT_BUF_WRAPPED);
	s->collided |= !!(b->flags & HWT_BUF_COLLISION);
}

static void write_source(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	const struct hwt_rec_source *s = payload_of(rec);

	if (rec->cpu >= 0 && w->tech->source)
		w->error = w->tech->source(w, (uint32_t)rec->cpu, s->source);
}

static void (*const writers[HWT_REC_TYPE_MAX])(struct perfdata_writer *,
					       const struct hwt_rec *) = {
	[HWT_REC_MMAP] = write_mmap,
	[HWT_REC_EXEC] = write_exec,
	[HWT_REC_THREAD_CREATE] = write_thread_create,
	[HWT_REC_THREAD_EXIT] = write_thread_exit,
	[HWT_REC_THREAD_NAME] = write_name,
	[HWT_REC_FORK] = write_fork,
	[HWT_REC_BUFFER] = write_buffer,
	[HWT_REC_KERNEL] = write_kernel,
	[HWT_REC_TEXT_POKE] = write_text_poke,
	[HWT_REC_LOST] = write_lost,
	[HWT_REC_SOURCE] = write_source,
	[HWT_REC_EXIT] = write_exit,
};

/* Records that are no thread's own: the kernel's, and what concerns a buffer. */
static bool of_thread(const struct hwt_rec *rec)
{
	return rec->tid && rec->type != HWT_REC_KERNEL &&
	       rec->type != HWT_REC_TEXT_POKE && rec->type != HWT_REC_LOST &&
	       rec->type != HWT_REC_EXIT && rec->type != HWT_REC_THREAD_EXIT &&
	       rec->type != HWT_REC_BUFFER &&
	       rec->type != HWT_REC_THREAD_CREATE;
}

int perfdata_write_record(struct perfdata_writer *w, const struct hwt_rec *rec)
{
	size_t mark;

	if (w->error)
		return w->error;
	if (hwt_rec_check(rec, rec->size) || rec->type >= HWT_REC_TYPE_MAX)
		return -EINVAL;
	mark = pdw_mark(w);
	if (rec->time > w->now)
		w->now = rec->time;
	if (rec->time < w->first_time)
		w->first_time = rec->time;
	if (of_thread(rec))
		start_thread(w, rec->pid, rec->tid, rec->time);
	if (writers[rec->type])
		writers[rec->type](w, rec);
	pdw_put_part(w, HWT_PART_REC, rec, rec->size);
	return w->error ? w->error : pdw_commit(w, mark);
}
