/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A64 flow that is easy to get wrong: branches to the next instruction, every form
 * of a branch, exclusives and atomics before returns and loops, code that is
 * rewritten, ISB and WFE, svc; ret, tagged addresses.  No library, no relocation:
 * the same addresses in each run.  With an argument a second thread runs, too.
 */
	.arch	armv8.5-a+lse
	.text
	.globl	_start

	.macro	ALL
	.irp	cc, eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le, al
	b.\cc	9f
9:
	.endr
	.endm

/* Each condition to the next instruction, with each state of the flags. */
	.p2align 12
next:	mov	x9, #0
1:	lsl	x10, x9, #28
	msr	nzcv, x10
	ALL
	add	x9, x9, #1
	cmp	x9, #16
	b.ne	1b
	mov	x9, #4
2:	cbz	x9, 3f
3:	cbnz	x9, 4f
4:	lsl	x10, x9, #32
	cbz	w10, 5f
5:	cbnz	w10, 6f
6:	tbz	x10, #33, 7f
7:	tbnz	x10, #33, 8f
8:	tbz	w9, #1, 9f
9:	tbnz	w9, #1, 1f
1:	cbz	xzr, 1f
1:	tbnz	wzr, #3, 1f
1:	sub	x9, x9, #1
	cbnz	x9, 2b
	b	1f		/* and an unconditional one */
1:	ret

calls:	stp	x29, x30, [sp, #-16]!
	bl	do_syscall
	adr	x0, target
	blr	x0
	bl	1f		/* links, and goes on where it would anyway */
1:	adr	x0, 2f
	br	x0
	nop
2:	adr	x1, 3f
	ret	x1		/* a return by another register */
	nop
3:	adr	x0, 4f		/* the top byte is no part of an address */
	movk	x0, #0x5500, lsl #48
	br	x0
	nop
4:	ldp	x29, x30, [sp], #16
	ret

do_syscall:
	mov	x8, #172	/* getpid */
	svc	#0
	ret
target:	bti	c
	ret

/* Pointer authentication: with a modifier and without, both keys. */
auth:	paciasp
	stp	x29, x30, [sp, #-16]!
	mov	x2, #7
	adr	x0, 1f
	pacia	x0, x2
	braa	x0, x2
	nop
1:	adr	x0, 2f
	pacizb	x0
	brabz	x0
	nop
2:	adr	x0, target
	paciza	x0
	blraaz	x0
	adr	x0, target
	pacib	x0, x2
	blrab	x0, x2
	bl	auth_b
	ldp	x29, x30, [sp], #16
	retaa
auth_b:	pacibsp
	nop
	retab

/* What ends a block and is no branch. */
barriers:
	isb
	nop
	isb
	dsb	sy
	dmb	ish
	sb
	yield
	sevl
	wfe
	nop
	hint	#40
	mrs	x0, tpidr_el0
	msr	fpcr, xzr
	clrex
	ret

/* With a second thread QEMU runs pairs alone, cut out of their blocks. */
exclusives:
	adrp	x1, buffer
	add	x1, x1, :lo12:buffer
	mov	x9, #3
1:	ldxr	w2, [x1]
	add	w2, w2, #1
	stxr	w3, w2, [x1]
	cbnz	w3, 1b
2:	ldaxp	x2, x3, [x1]
	add	x3, x3, #1
	stlxp	w4, x2, x3, [x1]
	cbnz	w4, 2b
	ldadd	x9, x4, [x1]
	swpal	x9, x4, [x1]
	ldset	w9, w4, [x1]
	sub	x9, x9, #1
	cbnz	x9, 1b
	/* A loop that is one block, with a pair of words in its middle. */
	mov	x9, #4
3:	mov	x4, x9
	mov	x5, #0
	mov	x6, x9
	mov	x7, #1
	casp	x4, x5, x6, x7, [x1]
	sub	x9, x9, #1
	cbnz	x9, 3b
	cas	x9, x4, [x1]
	stp	x29, x30, [sp, #-16]!
	bl	exclusive_return
	bl	exclusive_branch
	ldp	x29, x30, [sp], #16
	ret
exclusive_return:
	nop
	casp	x4, x5, x6, x7, [x1]
	ret
exclusive_branch:
	adr	x0, 4f
	caspal	x4, x5, x6, x7, [x1]
	br	x0
	nop
4:	ret

/* A block over a page's end, and one that begins with the next page. */
	.p2align 12
	.skip	4088
cross:	nop
	nop
	cmp	x9, x9
	b.ne	1f
	nop
1:	ret

/* movz w0, #N; ret: written N times over, as the architecture wants it done. */
	.section .wx, "awx", @progbits
	.p2align 6
patch:	movz	w0, #0
	ret
	.text
rewrite:
	adrp	x1, patch
	add	x1, x1, :lo12:patch
	mov	x9, #5
	stp	x29, x30, [sp, #-16]!
1:	movz	w2, #0x5280, lsl #16
	orr	w2, w2, w9, lsl #5
	str	w2, [x1]
	dc	cvau, x1
	dsb	ish
	ic	ivau, x1
	dsb	ish
	isb
	blr	x1
	cmp	w0, w9
	b.ne	fail
	sub	x9, x9, #1
	cbnz	x9, 1b
	ldp	x29, x30, [sp], #16
	ret

fail:	mov	x0, #1
	mov	x8, #94		/* exit_group */
	svc	#0

thread_main:
	mov	x20, #10
1:	bl	exclusives
	sub	x20, x20, #1
	cbnz	x20, 1b
	adrp	x1, done
	mov	w0, #1
	str	w0, [x1, :lo12:done]
	mov	x0, #0
	mov	x8, #93		/* exit */
	svc	#0

start_thread:
	movz	x0, #0x0f00	/* VM, FS, FILES, SIGHAND */
	movk	x0, #0x0005, lsl #16	/* THREAD, SYSVSEM */
	adrp	x1, stack
	add	x1, x1, :lo12:stack
	add	x1, x1, #4096
	mov	x2, #0
	mov	x3, #0
	mov	x4, #0
	mov	x8, #220	/* clone */
	svc	#0
	cbz	x0, thread_main
	tbnz	x0, #63, fail
	ret

_start:	ldr	x19, [sp]	/* argc */
	mov	x29, #0
	cmp	x19, #1
	b.eq	1f
	bl	start_thread
1:	mov	x20, #20
2:	bl	next
	bl	calls
	bl	auth
	bl	barriers
	bl	exclusives
	bl	cross
	bl	rewrite
	sub	x20, x20, #1
	cbnz	x20, 2b
	cmp	x19, #1
	b.eq	4f
	adrp	x1, done
3:	ldr	w0, [x1, :lo12:done]
	cbz	w0, 3b
4:	mov	x0, #0
	mov	x8, #94
	svc	#0

	.bss
	.p2align 4
buffer:	.skip	64
done:	.skip	4
	.p2align 4
stack:	.skip	4096
	.section .note.GNU-stack,"",@progbits
