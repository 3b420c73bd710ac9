// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arithmetic flags from QEMU's lazy form: the last operation that set them
 * (cc_op), its result and operands.  Only needed for a conditional branch to
 * the next instruction, whose outcome no address shows.
 */
#include "guest_x86.h"

#include "classify_x86.h"

#define F_C	0x001u
#define F_P	0x004u
#define F_Z	0x040u
#define F_S	0x080u
#define F_O	0x800u

/* cc_op: two that stand alone, ten operations in four widths, five that stand alone. */
enum cc_group {
	CC_MUL, CC_ADD, CC_ADC, CC_SUB, CC_SBB, CC_LOGIC, CC_INC, CC_DEC, CC_SHL, CC_SAR,
	CC_BMILG, CC_GROUPS,
};
enum { CC_EFLAGS = 1, CC_FIRST_GROUP = 2, CC_ADCX = CC_FIRST_GROUP + 4 * CC_GROUPS,
       CC_ADOX, CC_ADCOX, CC_CLR, CC_POPCNT };

struct operands {
	uint64_t dst, src, src2, mask, sign;
};

/* Carry and overflow of a sum dst = a + b (+ carry in). */
static uint32_t sum(const struct operands *o, uint64_t a, uint64_t carry)
{
	uint64_t b = (o->dst - a - carry) & o->mask;
	uint32_t f = (carry ? o->dst <= a : o->dst < a) ? F_C : 0;

	return f | (~(a ^ b) & (a ^ o->dst) & o->sign ? F_O : 0);
}

/* The same of a difference dst = a - b (- borrow in). */
static uint32_t difference(const struct operands *o, uint64_t b, uint64_t borrow)
{
	uint64_t a = (o->dst + b + borrow) & o->mask;
	uint32_t f = (borrow ? a <= b : a < b) ? F_C : 0;

	return f | ((a ^ b) & (a ^ o->dst) & o->sign ? F_O : 0);
}

static uint32_t carry_overflow(enum cc_group group, const struct operands *o)
{
	switch (group) {
	case CC_MUL:
		return o->src ? F_C | F_O : 0;
	case CC_ADD:
		return sum(o, o->src, 0);
	case CC_ADC:
		return sum(o, o->src, o->src2);
	case CC_SUB:
		return difference(o, o->src, 0);
	case CC_SBB:
		return difference(o, o->src, o->src2);
	case CC_INC:
		return (o->src ? F_C : 0) | (o->dst == o->sign ? F_O : 0);
	case CC_DEC:
		return (o->src ? F_C : 0) | (o->dst == o->sign - 1 ? F_O : 0);
	case CC_SHL:
		return (o->src & o->sign ? F_C : 0) |
		       ((o->src ^ o->dst) & o->sign ? F_O : 0);
	case CC_SAR:
		return (o->src & 1 ? F_C : 0) | ((o->src ^ o->dst) & o->sign ? F_O : 0);
	case CC_BMILG:
		return o->src ? 0 : F_C;
	default:
		return 0;
	}
}

static uint32_t special(const struct guest_env *env)
{
	uint32_t src = (uint32_t)env->cc_src;

	switch (env->cc_op) {
	case CC_ADCX:
		return (src & ~F_C) | (env->cc_dst ? F_C : 0);
	case CC_ADOX:
		return (src & ~F_O) | (env->cc_src2 ? F_O : 0);
	case CC_ADCOX:
		return (src & ~(F_C | F_O)) | (env->cc_dst ? F_C : 0) |
		       (env->cc_src2 ? F_O : 0);
	case CC_CLR:
		return F_Z | F_P;
	case CC_POPCNT:
		return src ? 0 : F_Z;
	default:
		return src;	/* CC_EFLAGS: the flags themselves */
	}
}

uint32_t x86_flags(const struct guest_env *env)
{
	uint32_t op = env->cc_op - CC_FIRST_GROUP;
	unsigned int bits = 8u << (op & 3);
	struct operands o;
	uint32_t f;

	if (op >= 4 * CC_GROUPS)
		return special(env);
	o.sign = 1ull << (bits - 1);
	o.mask = o.sign | (o.sign - 1);
	o.dst = env->cc_dst & o.mask;
	o.src = env->cc_src & o.mask;
	o.src2 = env->cc_src2 & o.mask;
	f = carry_overflow((enum cc_group)(op >> 2), &o);
	f |= __builtin_parity((unsigned int)(o.dst & 0xff)) ? 0 : F_P;
	f |= o.dst ? 0 : F_Z;
	f |= o.dst & o.sign ? F_S : 0;
	return f;
}

/* Jcc's sixteen conditions (SDM volume 1, appendix B). */
static bool condition(uint32_t f, unsigned int cc)
{
	bool lt = !(f & F_S) != !(f & F_O);
	bool yes;

	switch (cc >> 1) {
	case 0:
		yes = f & F_O;
		break;
	case 1:
		yes = f & F_C;
		break;
	case 2:
		yes = f & F_Z;
		break;
	case 3:
		yes = f & (F_C | F_Z);
		break;
	case 4:
		yes = f & F_S;
		break;
	case 5:
		yes = f & F_P;
		break;
	case 6:
		yes = lt;
		break;
	default:
		yes = lt || f & F_Z;
		break;
	}
	return yes != (cc & 1);
}

/* LOOPNE, LOOPE, LOOP, JRCXZ: the counter is already counted down. */
static bool loop_taken(const struct guest_env *env, uint8_t op, bool addr32)
{
	uint64_t cx = env->regs[X86_RCX];

	if (addr32)
		cx = (uint32_t)cx;
	if (op == 0xe3)
		return !cx;
	if (op == 0xe2)
		return cx;
	return cx && !(x86_flags(env) & F_Z) == (op == 0xe0);
}

bool x86_branch_taken(const struct guest_env *env, const uint8_t *insn, size_t n)
{
	struct x86_prefix p;
	size_t i = x86_prefixes(insn, n, &p);

	if (i >= n)
		return false;
	if ((insn[i] & 0xfc) == 0xe0)
		return loop_taken(env, insn[i], p.addr32);
	if (insn[i] == 0x0f && i + 1 < n)
		i++;
	return condition(x86_flags(env), insn[i] & 15);
}
