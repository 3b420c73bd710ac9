/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records to events: one small parser a type, in a table.  A parser gets the
 * record without its sample id and says 1 (an event), 0 (nothing to tell) or
 * -EBADMSG (shorter than its type must be).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "reader.h"

#define MISC_COMM_EXEC	    (1 << 13) /* the same bit, by record type */
#define MISC_SWITCH_OUT	    (1 << 13)
#define MISC_SWITCH_PREEMPT (1 << 14)
#define CPUMODE(misc)	    ((misc)&PERF_RECORD_MISC_CPUMODE_MASK)

/* The string from offset `at` to the end of a record of n bytes; NULL: no NUL. */
static const char *string_in(const struct perfdata *p, size_t at, size_t n)
{
	const char *s = (const char *)p->record + at;

	return n > at && memchr(s, 0, n - at) ? s : NULL;
}

static bool in_kernel(uint16_t misc)
{
	return CPUMODE(misc) == PERF_RECORD_MISC_KERNEL ||
	       CPUMODE(misc) == PERF_RECORD_MISC_GUEST_KERNEL;
}

static int parse_mmap(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
	} m;

	if (n < sizeof(m))
		return -EBADMSG;
	memcpy(&m, p->record, sizeof(m));
	ev->type = PERFDATA_MMAP;
	ev->pid = m.pid;
	ev->tid = m.tid;
	ev->mmap.addr = m.addr;
	ev->mmap.len = m.len;
	ev->mmap.pgoff = m.pgoff;
	ev->mmap.prot = PROT_READ;
	if (!(ev->misc & PERF_RECORD_MISC_MMAP_DATA))
		ev->mmap.prot |= PROT_EXEC;
	ev->mmap.kernel = in_kernel(ev->misc);
	ev->mmap.path = string_in(p, sizeof(m), n);
	return ev->mmap.path ? 1 : -EBADMSG;
}

static int parse_mmap2(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	const struct perf_mmap2 *m = (const struct perf_mmap2 *)p->record;

	if (n < sizeof(*m))
		return -EBADMSG;
	ev->type = PERFDATA_MMAP;
	ev->pid = m->pid;
	ev->tid = m->tid;
	ev->mmap.addr = m->addr;
	ev->mmap.len = m->len;
	ev->mmap.pgoff = m->pgoff;
	ev->mmap.prot = m->prot;
	ev->mmap.flags = m->flags;
	ev->mmap.kernel = in_kernel(ev->misc);
	if (!(ev->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		ev->mmap.major = m->major;
		ev->mmap.minor = m->minor;
		ev->mmap.ino = m->ino;
	} else if (m->build_id_size && m->build_id_size <= sizeof(m->build_id)) {
		ev->mmap.build_id = m->build_id;
		ev->mmap.build_id_size = m->build_id_size;
	}
	ev->mmap.path = string_in(p, sizeof(*m), n);
	return ev->mmap.path ? 1 : -EBADMSG;
}

static int parse_pid_tid(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	const uint32_t *body = (const uint32_t *)(p->record + 1);

	if (n < 16)
		return -EBADMSG;
	ev->pid = body[0];
	ev->tid = body[1];
	return 1;
}

static int parse_comm(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	int err = parse_pid_tid(p, ev, n);

	if (err < 0)
		return err;
	ev->type = PERFDATA_COMM;
	ev->comm.exec = ev->misc & MISC_COMM_EXEC;
	ev->comm.comm = string_in(p, 16, n);
	return ev->comm.comm ? 1 : -EBADMSG;
}

static int parse_task(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	const struct perf_task *t = (const struct perf_task *)p->record;

	if (n < sizeof(*t))
		return -EBADMSG;
	ev->type = t->header.type == PERF_RECORD_FORK ? PERFDATA_FORK : PERFDATA_EXIT;
	ev->pid = t->pid;
	ev->tid = t->tid;
	ev->fork.ppid = t->ppid;
	ev->fork.ptid = t->ptid;
	if (!ev->has_time) {
		ev->time = t->time;
		ev->has_time = true;
	}
	return 1;
}

static int parse_itrace_start(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	ev->type = PERFDATA_ITRACE_START;
	return parse_pid_tid(p, ev, n);
}

static int parse_aux(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	const struct perf_aux *a = (const struct perf_aux *)p->record;

	if (n < sizeof(*a))
		return -EBADMSG;
	ev->type = PERFDATA_AUX;
	ev->aux.offset = a->offset;
	ev->aux.size = a->size;
	ev->aux.flags = a->flags;
	ev->aux.truncated = a->flags & PERF_AUX_FLAG_TRUNCATED;
	ev->aux.collided = a->flags & PERF_AUX_FLAG_COLLISION;
	ev->aux.bare = (a->flags & PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK) ==
		       PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW;
	return 1;
}

static int parse_hw_id(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	if (n < 16)
		return -EBADMSG;
	ev->type = PERFDATA_HW_ID;
	ev->hw.id = p->record[1];
	return 1;
}

static int parse_lost(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	if (n < 24)
		return -EBADMSG;
	ev->type = PERFDATA_LOST;
	ev->lost.count = p->record[2]; /* behind the header and the event's id */
	return 1;
}

static int parse_switch(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	ev->type = PERFDATA_SWITCH;
	ev->sched.out = ev->misc & MISC_SWITCH_OUT;
	ev->sched.preempt = ev->misc & MISC_SWITCH_PREEMPT;
	return 1;
}

static int parse_text_poke(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	const uint16_t *lens = (const uint16_t *)(p->record + 2);

	if (n < 20 || n - 20 < (size_t)lens[0] + lens[1])
		return -EBADMSG;
	ev->type = PERFDATA_TEXT_POKE;
	ev->poke.addr = p->record[1];
	ev->poke.old_len = lens[0];
	ev->poke.new_len = lens[1];
	ev->poke.bytes = (const uint8_t *)(lens + 2);
	return 1;
}

static int parse_auxtrace_info(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	reader_auxtrace_info(p, (const struct perf_auxtrace_info *)p->record);
	return 1;
}

static int parse_time_conv(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	reader_time_conv(p, (const struct perf_time_conv *)p->record);
	return 1;
}

/* The bytes follow the record, outside its size: the next one is behind them. */
static int parse_auxtrace(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	const struct perf_auxtrace *a = (const struct perf_auxtrace *)p->record;
	uint64_t there = p->data_end - p->next;

	if (n < sizeof(*a) || p->unpacked)
		return -EBADMSG;
	ev->type = PERFDATA_AUXTRACE;
	ev->tid = a->tid;
	ev->cpu = a->cpu;
	ev->auxtrace.offset = a->offset;
	ev->auxtrace.reference = a->reference;
	ev->auxtrace.idx = a->idx;
	ev->auxtrace.data_offset = p->next;
	ev->auxtrace.size = a->size;
	if (a->size > there) {
		ev->auxtrace.size = there;
		p->info.truncated_at = p->data_end;
	} else if (p->info.ours && a->padding <= PERF_PADDING_MAX && a->padding <= a->size) {
		ev->auxtrace.size -= a->padding;
	}
	p->next += a->size < there ? a->size : there;
	return 1;
}

/* ---- ours ---- */

static int gather_part(struct perfdata *p, const struct hwt_part *part, size_t n)
{
	uint64_t *bigger;

	if (!part->offset) {
		p->part_have = 0;
		p->part_total = part->total;
		p->part_kind = part->kind;
	}
	n -= sizeof(*part);
	if (part->offset != p->part_have || part->total != p->part_total ||
	    part->kind != p->part_kind || part->total > HWT_PART_MAX ||
	    !part->total)
		return -EBADMSG;
	if (n > part->total - p->part_have)
		n = part->total - p->part_have;
	if (p->part_have + n > p->part_cap) {
		bigger = realloc(p->part, ALIGN8(p->part_have + n) * 2);
		if (!bigger)
			return -ENOMEM;
		p->part = bigger;
		p->part_cap = ALIGN8(p->part_have + n) * 2;
	}
	if (n)
		memcpy((char *)p->part + p->part_have, part + 1, n);
	p->part_have += (uint32_t)n;
	return p->part_have == p->part_total;
}

static int parse_event_type(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	const struct hwt_part *part = (const struct hwt_part *)p->record;
	const struct hwt_rec *rec;
	int whole;

	if (n < sizeof(*part) || part->magic != HWT_PART_MAGIC)
		return 1;
	whole = gather_part(p, part, n);
	if (whole <= 0)
		return whole;
	rec = (const struct hwt_rec *)p->part;
	p->part_have = p->part_total = 0;
	if (part->kind == HWT_PART_INFO)
		reader_ours(p, p->part, part->total);
	if (part->kind == HWT_PART_SPE)
		reader_spe(p, p->part, part->total);
	if (part->kind == HWT_PART_SHOWN && reader_shown(p, p->part, part->total))
		return -ENOMEM;
	if (part->kind == HWT_PART_SYMBOLS) {
		ev->type = PERFDATA_SYMBOLS;
		ev->symbols.text = (const char *)p->part;
		ev->symbols.n = part->total;
		return 1;
	}
	if (part->kind != HWT_PART_REC)
		return 1;
	if (hwt_rec_check(rec, part->total))
		return -EBADMSG;
	ev->type = PERFDATA_HWT;
	ev->pid = rec->pid;
	ev->tid = rec->tid;
	ev->cpu = (uint32_t)rec->cpu;
	ev->time = perfdata_ticks_to_time(p, rec->time);
	ev->has_time = true;
	ev->rec = rec;
	return 1;
}

static int parse_compressed(struct perfdata *p, struct perfdata_event *ev, size_t n)
{
	if (p->unpacked) /* one within another */
		return -EBADMSG;
	return reader_zstd_feed(p, ev->file_offset);
}

#define NPARSERS 128
static int (*const parsers[NPARSERS])(struct perfdata *, struct perfdata_event *,
				      size_t) = {
	[PERF_RECORD_MMAP] = parse_mmap,
	[PERF_RECORD_LOST] = parse_lost,
	[PERF_RECORD_COMM] = parse_comm,
	[PERF_RECORD_EXIT] = parse_task,
	[PERF_RECORD_FORK] = parse_task,
	[PERF_RECORD_MMAP2] = parse_mmap2,
	[PERF_RECORD_AUX] = parse_aux,
	[PERF_RECORD_ITRACE_START] = parse_itrace_start,
	[PERF_RECORD_SWITCH] = parse_switch,
	[PERF_RECORD_SWITCH_CPU_WIDE] = parse_switch,
	[PERF_RECORD_TEXT_POKE] = parse_text_poke,
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = parse_hw_id,
	[PERF_USER_EVENT_TYPE] = parse_event_type,
	[PERF_USER_AUXTRACE_INFO] = parse_auxtrace_info,
	[PERF_USER_AUXTRACE] = parse_auxtrace,
	[PERF_USER_TIME_CONV] = parse_time_conv,
	[PERF_USER_COMPRESSED] = parse_compressed,
	[PERF_USER_COMPRESSED2] = parse_compressed,
};

/* Parses p->record, which stands at ev->file_offset. */
static int parse(struct perfdata *p, struct perfdata_event *ev)
{
	struct perf_event_header h;
	size_t n;

	memcpy(&h, p->record, sizeof(h));
	n = h.size;
	ev->raw_type = h.type;
	ev->misc = h.misc;
	ev->type = PERFDATA_SKIPPED;
	if (h.type < PERF_USER_FIRST && h.type != PERF_RECORD_SAMPLE)
		n -= reader_sample_id(p, n, ev);
	if (h.type >= NPARSERS || !parsers[h.type])
		return 1;
	return parsers[h.type](p, ev, n);
}

int perfdata_next(struct perfdata *p, struct perfdata_event *ev)
{
	uint64_t before;
	int more;

	do {
		memset(ev, 0, sizeof(*ev));
		ev->pid = ev->tid = ev->cpu = UINT32_MAX;
		before = p->next;
		more = reader_zstd_take(p, &ev->file_offset);
		p->unpacked = more > 0;
		if (!more)
			more = reader_raw(p, &ev->file_offset);
		if (more > 0)
			more = parse(p, ev);
		else if (!more)
			return 0;
	} while (!more);
	if (more < 0) {
		p->next = before; /* and there it stays */
		p->info.truncated_at = ev->file_offset;
	}
	return more;
}
