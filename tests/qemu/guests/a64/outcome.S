/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Branches to the next instruction, 110 of them taken and 80 not: no address
 * shows it.  There are no other conditional branches.
 */
	.text
	.globl	_start
_start:	mov	x9, #0
	.rept	10
	cmp	x9, x9
	b.eq	1f		/* taken */
1:	b.lt	1f
1:	b.cs	1f		/* taken: no borrow */
1:	movn	w1, #0
	adds	w1, w1, #1
	b.cs	1f		/* taken */
1:	b.mi	1f
1:	movz	w1, #0x7fff, lsl #16
	adds	w1, w1, w1
	b.vs	1f		/* taken */
1:	b.mi	1f		/* taken */
1:	b.hi	1f		/* carry is clear */
1:	b.al	1f		/* taken */
1:	cbz	x9, 1f		/* taken */
1:	cbnz	x9, 1f
1:	lsl	x2, x1, #32
	cbz	w2, 1f		/* taken */
1:	cbz	x2, 1f
1:	cbnz	x2, 1f		/* taken */
1:	tbz	x2, #0, 1f	/* taken */
1:	tbnz	x2, #63, 1f	/* taken */
1:	tbnz	w2, #31, 1f
1:	tbz	x2, #63, 1f
1:	tbnz	xzr, #63, 1f
1:	nop
	.endr
	mov	x0, #0
	mov	x8, #94
	svc	#0
	.section .note.GNU-stack,"",@progbits
