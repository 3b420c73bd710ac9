/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Branches to the next instruction, 100 of them taken and 60 not: no address
 * shows it, only the TNT bits do.  There are no other conditional branches.
 */
	.text
	.globl	_start
_start:
	xor	%r15d, %r15d
	.rept	10
	cmp	%r15, %r15
	je	1f		/* taken */
1:	jl	1f
1:	mov	$-1, %eax
	sub	$1, %al
	js	1f		/* taken */
1:	jb	1f
1:	add	$2, %al
	jc	1f		/* taken */
1:	inc	%r15
	jb	1f		/* INC leaves the carry: taken */
1:	test	%r15, %r15
	jg	1f		/* taken */
1:	jo	1f
1:	mov	$0x7fffffff, %eax
	add	$1, %eax
	jo	1f		/* taken */
1:	shl	$1, %eax
	jc	1f		/* taken */
1:	jne	1f
1:	mov	$3, %eax
	sar	$1, %eax
	jb	1f		/* taken */
1:	jp	1f
1:	popcnt	%r15, %rax
	jz	1f
1:	xor	%ecx, %ecx
	jrcxz	1f		/* taken */
1:	mov	$2, %ecx
	loop	1f		/* taken */
1:	nop
	.endr
	mov	$231, %eax
	xor	%edi, %edi
	syscall
	.section .note.GNU-stack,"",@progbits
