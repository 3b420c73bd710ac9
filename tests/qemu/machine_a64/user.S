/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What runs under trace: programs at EL0, by the names of their rows, and as
 * BOTH(...) what also runs in the kernel, where KERNEL is defined (it ends in RET).
 * x0 is a page that comes and goes; SVC 0 does little, 1 ends the program, 2 lets
 * the page go, 3 takes floating point away.
 */
	.macro leave_program
	svc #1
	udf #0
	.endm

#ifdef KERNEL
#define BOTH(name) kernel_##name
	.section .text.kernel, "ax"
#else
#define BOTH(name) user_##name##_
	.section .user, "awx"
#endif
	.arch armv8.5-a

	/* A loop of all kinds of branches, none of them special. */
	.globl BOTH(branches)
BOTH(branches):
	mov x15, x30
	mov w10, #4000
1:	and x1, x10, #3
	adr x2, 9f
	ldrsw x3, [x2, x1, lsl #2]
	add x2, x2, x3
	br x2
2:	bl 6f
	b 5f
3:	adr x3, 6f
	blr x3
	tbz w10, #2, 5f
	nop
4:	tbz w10, #3, 7f			/* to what follows */
7:	bl 8f
	b 5f
5:	subs w10, w10, #1
	b.ne 1b
	ret x15
6:	tbnz w10, #0, 1f
	ret
1:	nop
	ret
8:	mov x16, x30
	bl 6b
	bl 6b
	ret x16
	.balign 4
9:	.word 2b - 9b, 3b - 9b, 4b - 9b, 5b - 9b

	/* Blocks that lead to themselves by each kind of branch. */
	.globl BOTH(tight)
BOTH(tight):
	mov x15, x30
	mov w10, #400
1:	mov w1, #20
2:	subs w1, w1, #1
	b.ne 2b
	mov w1, #20
3:	sub w1, w1, #1
	cbnz w1, 3b
	mov w1, #20
	adr x30, 4f
	adr x3, 5f
4:	subs w1, w1, #1
	csel x30, x30, x3, ne
	ret
5:	mov w1, #20
	adr x2, 6f
	adr x3, 7f
6:	subs w1, w1, #1
	csel x2, x2, x3, ne
	br x2
7:	mov w1, #20
8:	yield
	sub w1, w1, #1
	tbz w1, #31, 8b
	subs w10, w10, #1
	b.ne 1b
	ret x15

	/* One instruction that is a block and leads to itself, until an interrupt. */
	.globl BOTH(spin), BOTH(spinning)
BOTH(spin):
	mov w10, #5
1:	mov x9, #0
BOTH(spinning):
	cbz x9, BOTH(spinning)
	subs w10, w10, #1
	b.ne 1b
	ret

	/* Branches to what follows, of either outcome. */
	.globl BOTH(next)
BOTH(next):
	mov w10, #4000
	mov w11, #31717
0:	tbz w10, #0, 2f
2:	cmp w10, #2000
	b.lo 3f
3:	mul w1, w10, w11
	tst w1, #0xff00
	b.mi 4f
4:	b.eq 5f
5:	and x1, x10, #4
	cbz x1, 6f
6:	cbnz w1, 7f
7:	adds w1, w1, w11, lsl #20
	b.gt 8f
8:	b.vs 9f
9:	tbnz x1, #30, 1f
1:	subs w10, w10, #1
	b.ne 0b
	ret

	/* Exclusive and atomic instructions, in the middle and at the end of blocks. */
	.globl BOTH(atomics)
BOTH(atomics):
	sub sp, sp, #64
	mov x1, sp
	stp xzr, xzr, [x1]
	stp xzr, xzr, [x1, #16]
	mov w10, #600
1:	ldxr x2, [x1]
	add x2, x2, #1
	stxr w3, x2, [x1]
	cbnz w3, 1b
2:	ldaxp x4, x5, [x1]
	add x4, x4, #1
	stlxp w3, x4, x5, [x1]
	cbnz w3, 2b
	ldadd x10, x3, [x1]
	swpal x3, x3, [x1]
	mov x4, #0
	mov x5, #0
	mov x6, #1
	mov x7, #2
	caspal x4, x5, x6, x7, [x1]
	casal x3, x4, [x1]
	subs w10, w10, #1
	b.ne 1b
	add sp, sp, #64
	ret

	/* Barriers, and waits for nothing and for the timer. */
	.globl BOTH(waits)
BOTH(waits):
	mov w10, #300
1:	isb
	sevl
	wfe
	add w1, w10, #1
	sevl
	wfe
	tbz w10, #0, 2f
	sb
	dsb ish
2:	isb
	cbnz w10, 3f			/* behind a wait in the middle of a block */
3:	subs w10, w10, #1
	b.ne 1b
	mov w10, #20
4:	wfi
	subs w10, w10, #1
	b.ne 4b
	ret

	/* Writes to code that runs next. */
	.globl BOTH(rewrite)
BOTH(rewrite):
	mov w10, #200
	adr x1, 3f
1:	ldr w2, [x1]
	and w3, w10, #0xff
	bfi w2, w3, #5, #16
	str w2, [x1]
#ifdef KERNEL
	ic ivau, x1
#endif
	dsb ish
	isb
3:	mov w4, #0x1111
	add w4, w4, w10
	subs w10, w10, #1
	b.ne 1b
	ret

	/* Faults in the middle of blocks: the page is there again when they return. */
	.globl BOTH(faults)
BOTH(faults):
	mov w10, #150
1:	mov w1, #3
	svc #2
	add w1, w1, #1
	ldr w2, [x0]
	add w1, w1, #4
	str w1, [x0, #8]
	subs w10, w10, #1
	b.eq 2f
	ldp x2, x3, [x0, #-8]
	b 1b
2:	ldxr x2, [x0]
	stxr w3, x2, [x0]
	ret

	/* Instructions that are not allowed, and then are. */
	.globl BOTH(fp)
BOTH(fp):
	mov w10, #100
1:	svc #3
	mov w1, #1
	fmov s0, #1.0
	add w1, w1, #1
	fadd s0, s0, s0
	subs w10, w10, #1
	b.ne 1b
	ret

#ifndef KERNEL
	.globl user_branches, user_tight, user_next, user_atomics, user_waits, user_rewrite
	.globl user_faults, user_fp, user_spin
user_branches:
	bl BOTH(branches)
	leave_program
user_tight:
	bl BOTH(tight)
	leave_program
user_spin:
	bl BOTH(spin)
	leave_program
user_next:
	bl BOTH(next)
	leave_program
user_atomics:
	bl BOTH(atomics)
	leave_program
user_waits:
	bl BOTH(waits)
	leave_program
user_rewrite:
	bl BOTH(rewrite)
	leave_program
user_faults:
	bl BOTH(faults)
	leave_program
user_fp:
	bl BOTH(fp)
	leave_program

	.globl user_calls
user_calls:
	mov w10, #600
1:	svc #0
	subs w10, w10, #1
	b.ne 1b
	leave_program

	/* The handler goes on behind them, and where x8 says if the PC is not aligned. */
	.globl user_traps
user_traps:
	mov w10, #150
1:	brk #7
	nop
	udf #1
	mov w1, #1
	hvc #0
	smc #0
	mrs x1, sctlr_el1
	msr daifset, #2
	mov x7, sp
	sub sp, sp, #8
	ldr x1, [sp]
	mov sp, x7
	adr x8, 2f
	adr x1, 1b + 2
	br x1
2:	subs w10, w10, #1
	b.ne 1b
	leave_program

	/* Each instruction of it is stepped for a while. */
	.globl user_steps
user_steps:
	mov w10, #100
1:	tbz w10, #0, 2f
2:	svc #0
	bl 3f
	cbz w10, 2b
	subs w10, w10, #1
	b.ne 1b
	leave_program
3:	nop
	ret

	/* Code on a page that comes and goes, entered by a branch and by its border. */
	.globl user_fetch
user_fetch:
	mov w10, #100
1:	svc #2
	bl fetch_far
	svc #2
	bl fetch_border
	adr x1, fetch_far
	blr x1
	subs w10, w10, #1
	b.ne 1b
	leave_program

	.globl user_a32, user_a32_code
user_a32_code:
	.word 0xe3a00064		/* mov r0, #100 */
	.word 0xe2500001		/* subs r0, r0, #1 */
	.word 0x1afffffd		/* bne */
	.word 0xef000004		/* svc 4 */
	.word 0xeafffffe		/* b . */

	.balign 4096
	.skip 4096 - 8
fetch_border:
	nop
	mov w1, w10
	/* the page of user_fetch */
	.globl fetch_page
fetch_page:
	add w1, w1, #3
	ret
	.balign 64
fetch_far:
	add w1, w10, #1
	ret
	.balign 4096
#endif

	.section .note.GNU-stack, "", @progbits
