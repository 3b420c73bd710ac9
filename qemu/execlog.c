// SPDX-License-Identifier: BSD-2-Clause
#include "execlog.h"

#include <Zydis/Zydis.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

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

/* 7.2's CPUX86State, as the log sees it. */
struct log_regs {
	uint64_t rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi;
};

static bool transfers_control(const uint8_t *bytes, size_t n)
{
	ZydisDecoder d;
	ZydisDecodedInstruction i;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, bytes, n, &i)))
		return false;
	switch (i.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
		return true;
	default:
		return false;
	}
}

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

/*
 * Did a signal bring us here?  Its frame: return address of "mov $15, %rax;
 * syscall", siginfo and ucontext where the registers say.  Signals that arrive
 * together stack their frames: down to the first.
 */
static bool signal_frame(const struct log_regs *now, uint64_t *ip, bool *fault)
{
	static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	struct log_regs r = *now;
	uint64_t saved[17], back;
	uint8_t code[sizeof(sigreturn)];
	int info[3], depth;

	for (depth = 0; depth < 64; depth++) {
		if (r.rax || !r.rdi || r.rdi > 64 || r.rdx != r.rsp + 8 ||
		    !guest_read(r.rsp, &back, 8) ||
		    !guest_read(back, code, sizeof(code)) ||
		    memcmp(code, sigreturn, sizeof(code)) ||
		    !guest_read(r.rsp + 48, saved, sizeof(saved)) ||
		    !guest_read(r.rsi, info, sizeof(info)))
			break;
		*ip = saved[16];
		*fault = info[2] > 0 && (info[0] == SIGSEGV || info[0] == SIGBUS ||
					 info[0] == SIGILL || info[0] == SIGFPE);
		r.rdi = saved[8];
		r.rsi = saved[9];
		r.rdx = saved[12];
		r.rax = saved[13];
		r.rsp = saved[15];
	}
	return depth > 0;
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
	if (i->first && l->pending)
		signal_frame((struct log_regs *)v->env, &next, &fault);
	settle(l, next, fault);
	l->pending = i;
}

void execlog_translate(struct qemu_plugin_tb *tb, size_t n)
{
	size_t k;

	for (k = 0; k < n; k++) {
		struct qemu_plugin_insn *q = qemu_plugin_tb_get_insn(tb, k);
		struct log_insn *i = malloc(sizeof(*i));

		if (!i)
			plugin_refuse("no memory for the execution log");
		i->addr = qemu_plugin_insn_vaddr(q);
		i->len = (uint8_t)qemu_plugin_insn_size(q);
		i->first = !k;
		i->falls_through =
			!transfers_control(qemu_plugin_insn_data(q), i->len);
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
