// SPDX-License-Identifier: BSD-2-Clause
/*
 * The independent log of a machine's CPUs: addresses of retired instructions, from
 * callbacks before each one.  Whether the last one of a block retired is told by
 * what follows and, in the kernel, by what the CPU left there.
 */
#include "system_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addrlog.h"
#include "system.h"
#include "system_log_file.h"
#include "thunk.h"

struct system_log {
	struct addrlog file, accesses; /* the second one: with the first access */
	bool on;
	bool skips; /* this block: in a mode that no unit traces */
	const struct system_log_insn *pending; /* began; whether it retired shows later */
	uint64_t shift;			       /* of this block: runs at addr + shift */
	uint64_t pending_shift;
	uint64_t space, thread; /* as told last */
};

/* Order of marks over all CPUs. */
static uint64_t sequence;

static const struct system_log_arch *arch;

static void append(struct system_log *l, uint64_t word)
{
	if (!addrlog_append(&l->file, word))
		l->on = false;
}

static void mark(struct system_log *l, enum system_log_mark what)
{
	append(l, SYSTEM_LOG_MARK | what);
	append(l, __atomic_add_fetch(&sequence, 1, __ATOMIC_SEQ_CST));
	append(l, l->space);
	append(l, l->thread);
}

/* Did the instruction that began last retire, with the one at `next` after it? */
static bool retired(const struct guest_env *env, const struct system_log_insn *i,
		    uint64_t addr, uint64_t next)
{
	/* Nothing was translated: a block that raises an exception. */
	if (!i->len)
		return false;
	if (i->kind == LOG_SEQ)
		return next == addr + i->len || arch->interrupted_at(env, addr + i->len);
	if (i->kind == LOG_DIRECT && i->target == i->addr)
		return true;
	return !arch->interrupted_at(env, addr);
}

static void settle(struct system_log *l, const struct guest_env *env, uint64_t next,
		   bool first)
{
	const struct system_log_insn *i = l->pending;
	uint64_t addr;

	l->pending = NULL;
	if (!i)
		return;
	addr = i->addr + l->pending_shift;
	if (!first || retired(env, i, addr, next))
		append(l, addr);
}

/* Address space and thread, where they changed. */
static void tag(struct system_log *l, const struct guest_env *env,
		const struct guest_where *w)
{
	uint64_t thread = vtu.guest->system->thread(env);

	if (w->at.space == l->space && thread == l->thread)
		return;
	l->space = w->at.space;
	l->thread = thread;
	mark(l, SYSTEM_LOG_TAG);
}

/* The first instruction of a block: what led here, and where that is. */
static void enter_block(struct system_log *l, const struct system_log_insn *i,
			const struct guest_env *env)
{
	struct guest_where w;

	vtu.guest->system->where(env, &w);
	l->skips = !w.traceable;
	l->shift = w.at.ip - i->addr;
	settle(l, env, w.at.ip, true);
	if (!l->skips)
		tag(l, env, &w);
}

__attribute__((visibility("hidden"), used)) void
system_log_insn(unsigned int index, void *udata, const struct guest_env *env);
void system_log_insn_thunk(unsigned int index, void *udata);

void system_log_insn(unsigned int index, void *udata, const struct guest_env *env)
{
	const struct system_log_insn *i = udata;
	struct system_log *l = system_cpus[index]->log;

	if (!l || !l->on)
		return;
	if (i->first)
		enter_block(l, i, env);
	if (l->skips)
		return;
	settle(l, env, i->addr + l->shift, false);
	l->pending = i;
	l->pending_shift = l->shift;
}

EXEC_THUNK(system_log_insn)

void system_log_translate(struct qemu_plugin_tb *tb, size_t n)
{
	size_t k;

	if (!arch)
		arch = vtu.guest == &guest_x86_64 ? &system_log_x86_64
						  : &system_log_aarch64;
	for (k = 0; k < n; k++) {
		struct qemu_plugin_insn *q = qemu_plugin_tb_get_insn(tb, k);
		struct system_log_insn *i = calloc(1, sizeof(*i));

		if (!i)
			plugin_refuse("no memory for the execution log");
		i->addr = qemu_plugin_insn_vaddr(q);
		i->len = (uint8_t)qemu_plugin_insn_size(q);
		i->first = !k;
		arch->describe(i, qemu_plugin_insn_data(q), i->len);
		qemu_plugin_register_vcpu_insn_exec_cb(q, system_log_insn_thunk,
						       QEMU_PLUGIN_CB_NO_REGS, i);
	}
}

static void create_file(struct addrlog *file, const char *name, unsigned int index)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/%s.cpu%u", system_log_dir, name, index);
	if (!addrlog_open_path(file, path, SYSTEM_LOG_MAGIC))
		plugin_refuse("no execution log");
}

static struct system_log *create(unsigned int index)
{
	struct system_log *l = calloc(1, sizeof(*l));

	if (!l)
		plugin_refuse("no memory for the execution log");
	create_file(&l->file, "log", index);
	return l;
}

void system_log_access(unsigned int index, uint64_t pc, uint64_t vaddr)
{
	struct system_log *l = system_cpus[index]->log;

	if (!l || !l->on || l->skips)
		return;
	if (!l->accesses.header)
		create_file(&l->accesses, "mem", index);
	if (!addrlog_append(&l->accesses, pc + l->shift) ||
	    !addrlog_append(&l->accesses, vaddr))
		l->on = false;
}

void system_log_resume(struct system_cpu *s, const struct guest_where *w)
{
	struct system_log *l = s->log;

	if ((l ? l->on : false) == s->on)
		return;
	if (!system_log_ready)
		plugin_refuse("traced at the first request: nothing would be in the log");
	if (!l)
		l = s->log = create(s->v.index);
	if (!s->on) {
		settle(l, s->v.env, w->at.ip, true);
		mark(l, SYSTEM_LOG_OFF);
	}
	l->pending = NULL;
	l->on = s->on;
	if (s->on) {
		l->space = w->at.space;
		l->thread = vtu.guest->system->thread(s->v.env);
		mark(l, SYSTEM_LOG_ON);
	}
}
