// SPDX-License-Identifier: BSD-2-Clause
#include "block.h"

#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "execlog.h"
#include "maps.h"
#include "signals.h"
#include "vcpu.h"

#define MAX_INSNS	512	/* QEMU: TCG_MAX_INSNS */
#define MAX_LENGTH	16
#define PAGE		4096u
#define TABLE_BITS	16

/* Runs by first address. vtu.lock */
static struct run *table[1u << TABLE_BITS];

static struct run **bucket(uint64_t start)
{
	return &table[start * 0x9e3779b97f4a7c15ull >> (64 - TABLE_BITS)];
}

/* One block as QEMU lists it, its bytes side by side. */
struct listing {
	uint64_t start;
	size_t n, bytes;
	uint8_t len[MAX_INSNS];
	uint8_t code[MAX_INSNS * MAX_LENGTH];
	struct insn_class last;
	bool atomic;
};

/*
 * QEMU lists an instruction that it backed out of because it crosses into the
 * next page: its bytes end at the page.
 */
static bool is_phantom(uint64_t va, const uint8_t *code, size_t n)
{
	return ((va + n) & (PAGE - 1)) == 0 && !vtu.guest->length(code, n);
}

static void list(struct listing *l, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb), size, at = 0, last = 0;

	l->start = qemu_plugin_tb_vaddr(tb);
	l->atomic = false;
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
		last = at;
		at += size;
	}
	/* Again, if the last one looked at was no instruction of this block. */
	if (l->n)
		vtu.guest->classify(l->code + last, l->len[l->n - 1], l->start + last,
				    &l->last);
	l->bytes = at;
}

static struct run *run_make(const struct listing *l)
{
	struct run *r = calloc(1, run_size((uint32_t)l->n) + sizeof(struct block_info) + 16);
	struct block_info *info;

	if (!r)
		plugin_refuse("no memory for a translated block");
	run_init(r, l->start, (uint32_t)l->n, l->len, (enum run_end)l->last.kind,
		 l->last.target);
	info = (struct block_info *)(((uintptr_t)r + run_size((uint32_t)l->n) + 7) &
				     ~(uintptr_t)7);
	r->priv = info;
	return r;
}

/*
 * A conditional branch to what follows: two runs, of which the one can only
 * fall through and the other only be taken.
 */
static void split_outcomes(struct run *r, const struct listing *l)
{
	struct block_info *info = block_info(r);
	size_t n = l->len[l->n - 1];

	if (r->kind != RUN_JCC || r->target != r->end)
		return;
	info->taken = run_make(l);
	info->taken->fall = RUN_NOWHERE;
	r->taken = RUN_NOWHERE;
	memcpy(info->last_insn, l->code + l->bytes - n, n);
	r->flags |= R_NEXT | R_LEAVE;
}

static void run_free(struct run *r)
{
	free(block_info(r)->taken);
	free(r);
}

static void insert(struct run *r)
{
	struct run **head = bucket(r->start);

	block_info(r)->next_by_start = *head;
	*head = r;
}

static bool being_executed(const struct run *r)
{
	uint32_t i;

	for (i = 0; i < vtu.nvcpus; i++)
		if (vtu.vcpus[i] && vtu.vcpus[i]->prev == r)
			return true;
	return false;
}

void block_flush(qemu_plugin_id_t id)
{
	size_t i;

	pthread_mutex_lock(&vtu.lock);
	code_forget_runs();
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct run **link = &table[i], *r;

		while ((r = *link)) {
			if (being_executed(r)) {
				link = &block_info(r)->next_by_start;
				continue;
			}
			*link = block_info(r)->next_by_start;
			run_free(r);
		}
	}
	pthread_mutex_unlock(&vtu.lock);
	execlog_flush();
}

void block_mark_handler(uint64_t start)
{
	struct run *r;

	for (r = *bucket(start); r; r = block_info(r)->next_by_start)
		if (r->start == start)
			r->flags |= R_HANDLER | R_ENTER;
}

/* The flags that where the code lies gives it. vtu.lock */
static void place(struct run *r, const struct listing *l)
{
	uint32_t where = maps_flags(r->start, r->end - r->start);

	if ((l->atomic && vtu.parallel) || !(where & MAP_KNOWN) || where & MAP_WRITABLE)
		r->flags |= R_CUT | R_LEAVE | R_ENTER;
	if (signals_is_handler(r->start))
		r->flags |= R_HANDLER | R_ENTER;
	if (!(where & MAP_KNOWN) || !(where & MAP_CLEAN))
		code_capture(r, l->code);
}

static void translate_kernel(struct qemu_plugin_tb *tb)
{
	static const uint8_t one = 1;
	struct run *r = calloc(1, run_size(1) + sizeof(struct block_info) + 16);

	if (!r)
		plugin_refuse("no memory for a translated block");
	run_init(r, qemu_plugin_tb_vaddr(tb), 1, &one, RUN_SEQ, 0);
	r->priv = (void *)(((uintptr_t)r + run_size(1) + 7) & ~(uintptr_t)7);
	r->flags = R_KERNEL | R_ENTER;
	pthread_mutex_lock(&vtu.lock);
	insert(r);
	pthread_mutex_unlock(&vtu.lock);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, vcpu_exec_thunk, QEMU_PLUGIN_CB_NO_REGS, r);
}

void block_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static struct listing l;	/* translation is serialised by vtu.lock */
	struct run *r;

	if (vtu.inert)
		return;
	if (vtu.guest->is_kernel_page(qemu_plugin_tb_vaddr(tb))) {
		translate_kernel(tb);
		return;
	}
	pthread_mutex_lock(&vtu.lock);
	list(&l, tb);
	r = run_make(&l);
	split_outcomes(r, &l);
	place(r, &l);
	insert(r);
	if (vtu.flags & VTU_F_LOG)
		execlog_translate(tb, l.n);
	if (r->flags & R_CUT)
		qemu_plugin_register_vcpu_insn_exec_cb(
			qemu_plugin_tb_get_insn(tb, l.n - 1), vcpu_reached,
			QEMU_PLUGIN_CB_NO_REGS, NULL);
	pthread_mutex_unlock(&vtu.lock);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, vcpu_exec_thunk, QEMU_PLUGIN_CB_NO_REGS, r);
}
