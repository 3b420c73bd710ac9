// SPDX-License-Identifier: BSD-2-Clause
/* Instruction words from standard input, one line each: kind, atomic, target. */
#include <inttypes.h>
#include <stdio.h>

#include "../../qemu/classify_a64.h"

int main(void)
{
	static const char *const kinds[] = {
		[RUN_SEQ] = "seq",	   [RUN_JCC] = "jcc",
		[RUN_JMP] = "jmp",	   [RUN_CALL] = "call",
		[RUN_JMP_IND] = "jmp-ind", [RUN_CALL_IND] = "call-ind",
		[RUN_RET] = "ret",	   [RUN_FAR] = "far",
		[RUN_ERET] = "eret",	   [RUN_ISB] = "isb",
		[RUN_WFX] = "wfx",
	};
	uint64_t va = 0x10000000; /* as the test has it */
	struct insn_class c;
	uint8_t word[4];

	for (; fread(word, 1, 4, stdin) == 4; va += 4) {
		a64_classify(word, 4, va, &c);
		printf("%s %d %" PRIx64 "\n", kinds[c.kind], !!(c.traits & INSN_ATOMIC),
		       c.target);
	}
	return 0;
}
