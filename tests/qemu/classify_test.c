// SPDX-License-Identifier: BSD-2-Clause
/*
 * The plugin's classifier against Zydis, on random instructions; its reading of
 * QEMU's lazy flags against this machine's.
 */
#include <Zydis/Zydis.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../qemu/classify_x86.h"
#include "../../qemu/guest_x86.h"

#define ROUNDS 2000000

static uint64_t seed = 42;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static bool is_string(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_MOVSB:
	case ZYDIS_MNEMONIC_MOVSW:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVSQ:
	case ZYDIS_MNEMONIC_STOSB:
	case ZYDIS_MNEMONIC_STOSW:
	case ZYDIS_MNEMONIC_STOSD:
	case ZYDIS_MNEMONIC_STOSQ:
	case ZYDIS_MNEMONIC_LODSB:
	case ZYDIS_MNEMONIC_LODSW:
	case ZYDIS_MNEMONIC_LODSD:
	case ZYDIS_MNEMONIC_LODSQ:
	case ZYDIS_MNEMONIC_SCASB:
	case ZYDIS_MNEMONIC_SCASW:
	case ZYDIS_MNEMONIC_SCASD:
	case ZYDIS_MNEMONIC_SCASQ:
	case ZYDIS_MNEMONIC_CMPSB:
	case ZYDIS_MNEMONIC_CMPSW:
	case ZYDIS_MNEMONIC_CMPSD:
	case ZYDIS_MNEMONIC_CMPSQ:
	case ZYDIS_MNEMONIC_INSB:
	case ZYDIS_MNEMONIC_INSW:
	case ZYDIS_MNEMONIC_INSD:
	case ZYDIS_MNEMONIC_OUTSB:
	case ZYDIS_MNEMONIC_OUTSW:
	case ZYDIS_MNEMONIC_OUTSD:
		return true;
	default:
		return false;
	}
}

static bool is_far_branch(const ZydisDecodedInstruction *i)
{
	return i->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
}

/* What Zydis thinks that the instruction is; -1: not ours to judge. */
static int zydis_kind(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *op)
{
	bool direct = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	/* In no user program under QEMU: SMM, user interrupts, Knights Corner. */
	if (i->mnemonic == ZYDIS_MNEMONIC_RSM || i->mnemonic == ZYDIS_MNEMONIC_UIRET ||
	    i->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return -1;

	switch (i->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		/* Transactions do not exist under QEMU. */
		return i->mnemonic == ZYDIS_MNEMONIC_XBEGIN ||
				       i->mnemonic == ZYDIS_MNEMONIC_XEND ?
			       -1 :
			       RUN_JCC;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (i->mnemonic == ZYDIS_MNEMONIC_XABORT)
			return -1;
		if (is_far_branch(i))
			return RUN_FAR;
		return direct ? RUN_JMP : RUN_JMP_IND;
	case ZYDIS_CATEGORY_CALL:
		if (is_far_branch(i))
			return RUN_FAR;
		return direct ? RUN_CALL : RUN_CALL_IND;
	case ZYDIS_CATEGORY_RET:
		return i->mnemonic == ZYDIS_MNEMONIC_RET && !is_far_branch(i) ? RUN_RET :
										 RUN_FAR;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
		return RUN_FAR;
	default:
		return RUN_SEQ;
	}
}

static void check_one(const uint8_t *bytes, const ZydisDecodedInstruction *i,
		      const ZydisDecodedOperand *op, uint64_t va)
{
	bool rep = i->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
				    ZYDIS_ATTRIB_HAS_REPNE);
	struct insn_class c;
	uint64_t target = 0;
	int kind = zydis_kind(i, op);

	if (kind < 0)
		return;
	x86_classify(bytes, i->length, va, &c);
	if (c.kind != kind)
		fail_msg("%s (%02x %02x %02x %02x): %d, not %d",
			 ZydisMnemonicGetString(i->mnemonic), bytes[0], bytes[1],
			 bytes[2], bytes[3], c.kind, kind);
	if (kind == RUN_JCC || kind == RUN_JMP || kind == RUN_CALL) {
		ZydisCalcAbsoluteAddress(i, &op[0], va, &target);
		assert_int_equal(c.target, target);
	}
	if (is_string(i->mnemonic) && i->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    i->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		assert_int_equal(!!(c.traits & INSN_REP), rep);
	if (i->attributes & ZYDIS_ATTRIB_HAS_LOCK ||
	    (i->mnemonic == ZYDIS_MNEMONIC_XCHG &&
	     (op[0].type == ZYDIS_OPERAND_TYPE_MEMORY ||
	      op[1].type == ZYDIS_OPERAND_TYPE_MEMORY)))
		assert_true(c.traits & INSN_ATOMIC);
}

/* Random bytes, with prefixes and the interesting opcodes more often. */
static void make_bytes(uint8_t *b)
{
	static const uint8_t likely[] = {
		0x0f, 0xff, 0xe8, 0xe9, 0xeb, 0xc3, 0xf3, 0xf2, 0xf0, 0x66, 0x48, 0x86,
		0x87, 0xa4, 0xab, 0xe3, 0x74, 0xcc, 0xcd, 0xca, 0xc4, 0x62, 0x67, 0x2e,
	};
	uint64_t r = next_random();
	int i, n = r & 3;

	for (i = 0; i < 15; i++)
		b[i] = (uint8_t)next_random();
	for (i = 0; i < n; i++)
		b[i] = likely[next_random() % sizeof(likely)];
}

static void test_classify(void **state)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder d;
	uint8_t b[15];
	int i, good = 0;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (i = 0; i < ROUNDS; i++) {
		make_bytes(b);
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, b, sizeof(b), &insn,
							 op)))
			continue;
		check_one(b, &insn, op, 0x400000 + (uint64_t)i);
		good++;
	}
	assert_true(good > ROUNDS / 4);
}

#define ARITHMETIC	0x8d5u	/* O, S, Z, A, P, C */
#define ADJUST		0x010u

enum { ADD, ADC, SUB, SBB, AND, INC, DEC, SHL, SAR, OPS };
static const uint8_t cc_base[OPS] = {6, 10, 14, 18, 22, 26, 30, 34, 38};

/* The machine's flags after the operation, and its result. */
#define EXECUTE(type, x, y, carry, f) do {						\
	type r_ = (type)(x);								\
	switch (op) {									\
	case ADD: STEP("add %2, %0", r_, y, 0, f); break;				\
	case ADC: STEP("adc %2, %0", r_, y, carry, f); break;				\
	case SUB: STEP("sub %2, %0", r_, y, 0, f); break;				\
	case SBB: STEP("sbb %2, %0", r_, y, carry, f); break;				\
	case AND: STEP("and %2, %0", r_, y, 0, f); break;				\
	case INC: STEP("inc %0", r_, y, carry, f); break;				\
	case DEC: STEP("dec %0", r_, y, carry, f); break;				\
	case SHL: STEP("shl $1, %0", r_, y, 0, f); break;				\
	default: STEP("sar $1, %0", r_, y, 0, f); break;				\
	}										\
	result = r_;									\
} while (0)
#define STEP(text, r, y, carry, f) \
	__asm__ volatile("bt $0, %k3\n" text "\npushfq\npop %1" \
			 : "+q"(r), "=&r"(f) : "q"((__typeof__(r))(y)), "q"(carry) \
			 : "cc", "memory")

static void check_flags(int op, int width)
{
	uint64_t x = next_random(), y = next_random(), carry = next_random() & 1;
	uint64_t result, f;
	struct guest_env env;

	if (next_random() % 4 == 0)	/* borders: equal, zero, sign */
		x = y;
	if (next_random() % 4 == 0)
		y = (uint64_t)(int64_t)(int)(next_random() % 3) - 1;
	switch (width) {
	case 0:
		EXECUTE(uint8_t, x, y, carry, f);
		break;
	case 1:
		EXECUTE(uint16_t, x, y, carry, f);
		break;
	case 2:
		EXECUTE(uint32_t, x, y, carry, f);
		break;
	default:
		EXECUTE(uint64_t, x, y, carry, f);
		break;
	}
	memset(&env, 0, sizeof(env));
	env.cc_op = cc_base[op] + (uint32_t)width;
	env.cc_dst = result;
	env.cc_src = op == INC || op == DEC ? carry : op == SHL || op == SAR ? x : y;
	env.cc_src2 = carry;
	assert_int_equal(x86_flags(&env), f & ARITHMETIC & ~ADJUST);
}

static void test_flags(void **state)
{
	int i;

	for (i = 0; i < 400000; i++)
		check_flags(i % OPS, i / OPS % 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classify),
		cmocka_unit_test(test_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
