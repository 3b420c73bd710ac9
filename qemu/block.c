// SPDX-License-Identifier: BSD-2-Clause
#include "block.h"

#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "execlog.h"
#include "maps.h"
#include "signals.h"
#include "system.h"

#define MAX_INSNS	512	/* QEMU: TCG_MAX_INSNS */
#define MAX_LENGTH	16
#define PAGE		4096u
#define TABLE_BITS	16
#define LINE		64u

/* By first address. vtu.lock */
static struct block_info *table[1u << TABLE_BITS];

static struct block_info **bucket(uint64_t start)
{
	return &table[start * 0x9e3779b97f4a7c15ull >> (64 - TABLE_BITS)];
}

/* One block as QEMU lists it, its bytes side by side. */
struct listing {
	uint64_t start;
	size_t n, bytes;
	uint8_t len[MAX_INSNS];
	uint8_t code[MAX_INSNS * MAX_LENGTH];
	uint8_t kind[MAX_INSNS];
	bool inner;		/* one that is not the last ends a run */
	struct insn_class last;
	bool atomic;
};

/*
 * QEMU lists an instruction that it backed out of because it crosses into the
 * next page, with those of its bytes that it had read by then.
 */
static bool is_phantom(uint64_t va, const uint8_t *code, size_t n)
{
	return (va & (PAGE - 1)) + MAX_LENGTH > PAGE && !vtu.guest->length(code, n);
}

static void list(struct listing *l, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb), size, at = 0, last = 0;

	l->start = qemu_plugin_tb_vaddr(tb);
	l->atomic = l->inner = false;
	l->n = n < MAX_INSNS ? n : MAX_INSNS;
	for (i = 0; i < l->n; i++) {
		const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		size = qemu_plugin_insn_size(insn);
		if (size > MAX_LENGTH)
			size = MAX_LENGTH;
		memcpy(l->code + at, qemu_plugin_insn_data(insn), size);
		if (i && i == l->n - 1 && is_phantom(l->start + at, l->code + at, size)) {
			l->n--;
			break;
		}
		l->len[i] = (uint8_t)size;
		vtu.guest->classify(l->code + at, size, l->start + at, &l->last);
		l->atomic |= (l->last.traits & INSN_ATOMIC) != 0;
		l->kind[i] = l->last.kind;
		l->inner |= i && l->kind[i - 1] != RUN_SEQ;
		last = at;
		at += size;
	}
	/* Again, if the last one looked at was no instruction of this block. */
	if (l->n)
		vtu.guest->classify(l->code + last, l->len[l->n - 1], l->start + last,
				    &l->last);
	l->bytes = at;
}

static void *allocate(size_t n)
{
	void *p = aligned_alloc(LINE, (n + LINE - 1) & ~(size_t)(LINE - 1));

	if (!p)
		plugin_refuse("no memory for a translated block");
	return p;
}

static struct run *copy(const struct run *r)
{
	size_t n = run_size(r->ninsn);

	return memcpy(allocate(n), r, n);
}

/* Gives the front something to hide: from now on `real` tells the truth. */
static void set_flags(struct block_info *b, uint32_t flags)
{
	b->flags |= flags;
	if (b->flags & (R_LEAVE | R_ENTER) && b->real == b->front)
		b->real = copy(b->front);
	if (b->flags & R_LEAVE) {
		b->front->fall = b->front->taken = RUN_NOWHERE;
		b->front->flags = R_LEAVE;
	}
	if (b->flags & R_ENTER)
		__atomic_store_n(&b->front->start, NO_START, __ATOMIC_RELEASE);
}

static struct block_info *make(const struct listing *l)
{
	struct run *r = allocate(run_size((uint32_t)l->n));
	struct block_info *b = calloc(1, sizeof(*b));

	if (!b)
		plugin_refuse("no memory for a translated block");
	run_init(r, l->start, (uint32_t)l->n, l->len, (enum run_end)l->last.kind,
		 l->last.target);
	r->priv = b;
	b->front = b->real = r;
	b->origin = b;
	b->rep = l->n == 1 && l->last.traits & INSN_REP;
	/* Nothing is executed of a block that only raises an exception. */
	if (!l->bytes)
		r->fall = RUN_NOWHERE;
	/* A call to be remembered, or a jump that may close a loop: out of line. */
	if (r->push || (r->kind == RUN_JMP && r->target < r->end)) {
		b->real = copy(r);
		r->fall = RUN_NOWHERE;
	}
	return b;
}

/*
 * A conditional branch to what follows: two runs, of which the one can only
 * fall through and the other only be taken.
 */
static void split_outcomes(struct block_info *b, const struct listing *l)
{
	size_t n = l->len[l->n - 1];

	if (b->real->kind != RUN_JCC || b->real->target != b->real->end)
		return;
	set_flags(b, R_NEXT | R_LEAVE);
	b->taken = copy(b->real);
	b->taken->fall = RUN_NOWHERE;
	b->real->taken = RUN_NOWHERE;
	memcpy(b->last_insn, l->code + l->bytes - n, n);
}

static struct run *make_part(const struct listing *l, uint64_t start, size_t from,
			     size_t n)
{
	struct run *r = allocate(run_size((uint32_t)n));
	uint8_t kind = l->kind[from + n - 1];

	run_init(r, start, (uint32_t)n, l->len + from, (enum run_end)kind,
		 from + n == l->n ? l->last.target : 0);
	return r;
}

/* Of n, and the last one's twin. */
static struct run **new_parts(uint32_t n)
{
	struct run **parts = calloc(n + 1, sizeof(*parts));

	if (!parts)
		plugin_refuse("no memory for a translated block");
	return parts;
}

/* Runs that end where an end is, and the last one's twin if its branch is taken. */
static void split_parts(struct block_info *b, const struct listing *l)
{
	uint64_t start = l->start;
	size_t i, from = 0;

	if (!l->inner)
		return;
	b->parts = new_parts((uint32_t)l->n);
	for (i = 0; i < l->n; i++) {
		if (l->kind[i] == RUN_SEQ && i + 1 < l->n)
			continue;
		b->parts[b->nparts] = make_part(l, start, from, i + 1 - from);
		b->parts[b->nparts]->priv = b;
		start = b->parts[b->nparts++]->end;
		from = i + 1;
	}
	set_flags(b, R_LEAVE);
	if (!b->taken)
		return;
	b->parts[b->nparts] = copy(b->parts[b->nparts - 1]);
	b->parts[b->nparts]->fall = RUN_NOWHERE;
	b->parts[b->nparts - 1]->taken = RUN_NOWHERE;
}

static void free_parts(struct block_info *b)
{
	uint32_t i;

	for (i = 0; b->parts && i <= b->nparts; i++)
		free(b->parts[i]);
	free(b->parts);
}

static void release(struct block_info *b)
{
	struct block_info *a;

	while ((a = b->aliases)) {
		b->aliases = a->aliases;
		a->aliases = NULL;
		release(a);
	}
	if (b->real != b->front)
		free(b->real);
	free(b->front);
	free(b->taken);
	free_parts(b);
	if (b->origin == b)
		free(b->of_unit);
	free(b);
}

/* A run of b's, `by` bytes further on, of n's; NULL of NULL. */
static struct run *moved_run(const struct run *r, struct block_info *n, uint64_t by)
{
	struct run *m;

	if (!r)
		return NULL;
	m = copy(r);
	m->priv = n;
	m->start += m->start == NO_START ? 0 : by;
	m->end += by;
	m->last += by;
	m->target += m->target ? by : 0;
	m->fall += m->fall == RUN_NOWHERE ? 0 : by;
	m->taken += m->taken == RUN_NOWHERE ? 0 : by;
	return m;
}

/* As make and translate made it, `by` bytes further on. */
static struct block_info *moved(const struct block_info *b, uint64_t by)
{
	struct block_info *n = calloc(1, sizeof(*n));
	uint32_t i;

	if (!n)
		plugin_refuse("no memory for a translated block");
	*n = *b;
	n->aliases = NULL;
	n->front = moved_run(b->front, n, by);
	n->real = b->real == b->front ? n->front : moved_run(b->real, n, by);
	n->taken = moved_run(b->taken, n, by);
	if (!b->parts)
		return n;
	n->parts = new_parts(b->nparts);
	for (i = 0; i <= b->nparts; i++)
		n->parts[i] = moved_run(b->parts[i], n, by);
	return n;
}

struct run *block_at(struct run *front, uint64_t start)
{
	struct block_info *b = run_info(front), *a;

	if (b->real->start == start)
		return front;
	for (a = __atomic_load_n(&b->aliases, __ATOMIC_ACQUIRE); a; a = a->aliases)
		if (a->real->start == start)
			return a->front;
	pthread_mutex_lock(&vtu.lock);
	a = moved(b, start - b->real->start);
	a->aliases = b->aliases;
	__atomic_store_n(&b->aliases, a, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&vtu.lock);
	return a->front;
}

static void insert(struct block_info *b)
{
	struct block_info **head = bucket(b->real->start);

	b->next_by_start = *head;
	*head = b;
}

static bool being_executed(const struct block_info *b)
{
	uint32_t i;

	for (i = 0; i < vtu.nvcpus; i++)
		if (vtu.vcpus[i] && run_info(vtu.vcpus[i]->prev)->origin == b)
			return true;
	return false;
}

void block_flush(qemu_plugin_id_t id)
{
	struct block_info **link, *b;
	size_t i;

	pthread_mutex_lock(&vtu.lock);
	code_forget_blocks();
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		for (link = &table[i]; (b = *link);) {
			if (being_executed(b)) {
				link = &b->next_by_start;
				continue;
			}
			*link = b->next_by_start;
			release(b);
		}
	}
	pthread_mutex_unlock(&vtu.lock);
	execlog_flush();
}

void block_mark_handler(uint64_t start)
{
	struct block_info *b;

	for (b = *bucket(start); b; b = b->next_by_start)
		if (b->real->start == start)
			set_flags(b, R_HANDLER | R_ENTER);
}

/*
 * A block that is cut short goes on at an instruction of its own.  Could its end
 * have led there, too?
 */
static bool hides_a_cut(const struct run *r)
{
	return run_is_indirect(r->kind) || r->kind == RUN_FAR ||
	       (r->target && r->target - r->start < r->end - r->start);
}

/* The flags that where the code lies gives it. vtu.lock */
static void place(struct block_info *b, const struct listing *l)
{
	uint64_t start = b->real->start;
	uint32_t where = maps_flags(start, b->real->end - start);
	bool cut = (l->atomic && vtu.parallel) || !(where & MAP_KNOWN) ||
		   where & MAP_WRITABLE;

	if (cut && hides_a_cut(b->real))
		set_flags(b, R_CUT | R_LEAVE | R_ENTER);
	if (signals_is_handler(start))
		set_flags(b, R_HANDLER | R_ENTER);
	if (!(where & MAP_KNOWN) || !(where & MAP_CLEAN))
		code_capture(b, l->code);
}

static struct block_info *translate_kernel(uint64_t start)
{
	static const struct listing l = {.n = 1, .len = {1}};
	struct listing *one = memcpy(allocate(sizeof(l)), &l, sizeof(l));
	struct block_info *b;

	one->start = start;
	b = make(one);
	free(one);
	set_flags(b, R_KERNEL | R_ENTER);
	return b;
}

static struct block_info *translate(struct qemu_plugin_tb *tb)
{
	static struct listing l;	/* vtu.lock */
	struct block_info *b;

	list(&l, tb);
	b = make(&l);
	split_outcomes(b, &l);
	split_parts(b, &l);
	if (l.last.traits & INSN_SPACE)
		set_flags(b, R_LEAVE);
	if (vtu.system) {
		/* What is left of a block that was cut: where it began may tell. */
		if (l.n == 1 && !b->rep && b->real->kind == RUN_SEQ)
			set_flags(b, R_ENTER);
		if (system_log_ready)
			system_log_translate(tb, l.n);
	} else {
		place(b, &l);
		if (vtu.flags & VTU_F_LOG)
			execlog_translate(tb, l.n);
	}
	if (vtu.unit->translate)
		vtu.unit->translate(b, tb, l.n);
	if (b->flags & R_CUT)
		qemu_plugin_register_vcpu_insn_exec_cb(
			qemu_plugin_tb_get_insn(tb, l.n - 1), vcpu_reached,
			QEMU_PLUGIN_CB_NO_REGS, NULL);
	return b;
}

/* What is called before each execution of b. */
static qemu_udata_cb choose_callback(const struct block_info *b)
{
	if (vtu.unit != &unit_pt)
		return vtu.system ? system_exec_any_thunk : vcpu_exec_any_thunk;
	if (vtu.system)
		return b->rep ? system_exec_rep_thunk : system_exec_thunk;
	return b->rep ? vcpu_exec_rep_thunk : vcpu_exec_thunk;
}

void block_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t start = qemu_plugin_tb_vaddr(tb);
	struct block_info *b;

	if (vtu.inert)
		return;
	pthread_mutex_lock(&vtu.lock);
	b = !vtu.system && vtu.guest->is_kernel_page(start) ? translate_kernel(start) :
							     translate(tb);
	insert(b);
	pthread_mutex_unlock(&vtu.lock);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, choose_callback(b),
					     QEMU_PLUGIN_CB_NO_REGS, b->front);
}
