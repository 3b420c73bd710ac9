// SPDX-License-Identifier: BSD-2-Clause
#include "execlog.h"

#include <stdlib.h>

#include "addrlog.h"

struct log_insn {
	uint64_t addr;
	uint8_t len;
	bool first;		/* of its block */
	bool falls_through;	/* transfers no control: retires into addr + len */
};

struct execlog {
	bool on;
	const struct log_insn *pending;	/* began; whether it retired shows later */
	struct addrlog file;
};

static const struct execlog_arch *arch;

static void close_files(struct execlog *l)
{
	addrlog_close(&l->file);
	free(l);
}

static struct execlog *create(struct vcpu *v)
{
	struct execlog *l = calloc(1, sizeof(*l));

	if (l && addrlog_open(&l->file, "log", v))
		return l;
	free(l);
	return NULL;
}

static void append(struct execlog *l, uint64_t addr)
{
	if (!addrlog_append(&l->file, addr))
		l->on = false;
}

/* The pending instruction retired if `next`, without a fault at it, follows. */
static void settle(struct execlog *l, uint64_t next, bool fault)
{
	const struct log_insn *p = l->pending;

	l->pending = NULL;
	if (!p)
		return;
	if (p->falls_through ? next == p->addr + p->len : !(fault && next == p->addr))
		append(l, p->addr);
}

static void on_insn(unsigned int index, void *udata)
{
	struct vcpu *v = vtu.vcpus[index];
	const struct log_insn *i = udata;
	struct execlog *l = v->log;
	uint64_t next = i->addr;
	bool fault = false;

	if (!l || !l->on)
		return;
	/* Not where it would have gone by itself: a signal, or a branch. */
	if (i->first && l->pending &&
	    !(l->pending->falls_through && next == l->pending->addr + l->pending->len))
		arch->signal_frame(v->env, &next, &fault);
	settle(l, next, fault);
	l->pending = i;
}

void execlog_translate(struct qemu_plugin_tb *tb, size_t n)
{
	size_t k;

	if (!arch)
		arch = vtu.guest == &guest_x86_64 ? &execlog_x86_64 : &execlog_aarch64;
	for (k = 0; k < n; k++) {
		struct qemu_plugin_insn *q = qemu_plugin_tb_get_insn(tb, k);
		struct log_insn *i = malloc(sizeof(*i));

		if (!i)
			plugin_refuse("no memory for the execution log");
		i->addr = qemu_plugin_insn_vaddr(q);
		i->len = (uint8_t)qemu_plugin_insn_size(q);
		i->first = !k;
		i->falls_through =
			!arch->transfers_control(qemu_plugin_insn_data(q), i->len);
		qemu_plugin_register_vcpu_insn_exec_cb(q, on_insn, QEMU_PLUGIN_CB_NO_REGS,
						       i);
	}
}

void execlog_flush(void)
{
	/* The records of instructions stay: a log is for tests. */
}

void execlog_resume(struct vcpu *v, const struct run *c)
{
	bool on = vcpu_tracing(v);

	if (!(vtu.flags & VTU_F_LOG) || (v->log ? v->log->on : false) == on)
		return;
	if (!v->log)
		v->log = create(v);
	if (!v->log)
		return;
	if (!on)
		settle(v->log, c->start, false);
	v->log->pending = NULL;
	v->log->on = on;
}

void execlog_syscall(struct vcpu *v)
{
	if (v->log && v->log->on && v->log->pending) {
		append(v->log, v->log->pending->addr);
		v->log->pending = NULL;
	}
}

void execlog_end(struct vcpu *v, uint64_t next, bool fault)
{
	if (v->log && v->log->on)
		settle(v->log, next, fault);
}

void execlog_close(struct vcpu *v)
{
	if (v->log)
		close_files(v->log);
	v->log = NULL;
}

void execlog_forked(void)
{
	uint32_t i;

	for (i = 0; i < vtu.nvcpus; i++)
		if (vtu.vcpus[i])
			execlog_close(vtu.vcpus[i]);
}
