/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions for filters, each with its end and points whose executions are
 * known.  Position-independent: part of a program, or of a library.
 */
	.text

.macro function name
	.globl	\name
	.type	\name, @function
\name:
.L\name:
.endm
/* The last byte of the range. */
.macro done name
	.globl	\name\()_end
	.hidden	\name\()_end
\name\()_end:
	.size	\name, . - \name
.endm
.macro point name
	.globl	\name
	.hidden	\name
\name:
.endm

/* A loop of its own, nothing else. */
function leaf
	mov	$5, %eax
1:
	point leaf_loop
	dec	%eax
	jnz	1b
	point leaf_ret
	ret
done leaf

/* Runs out of its end into the next one. */
function falls
	mov	$1, %eax
	test	%eax, %eax
	jz	.Lnext
	point falls_last
	add	$2, %eax
done falls
function next
	add	$3, %eax
	ret
done next

/* Calls outside, directly and through the PLT, and comes back. */
function outcalls
	push	%rbx
	xor	%ebx, %ebx
	call	.Lnext
	point outcalls_direct
	add	%eax, %ebx
	lea	text(%rip), %rdi
	call	atoi@PLT
	point outcalls_plt
	add	%eax, %ebx
	call	getppid@PLT
	point outcalls_system
	mov	%ebx, %eax
	pop	%rbx
	ret
done outcalls

/* `inner` is a range that begins and ends inside one straight run. */
function outer
	mov	$1, %eax
	add	$1, %eax
function inner
	add	$2, %eax
	point inner_last
	add	$4, %eax
done inner
	add	$8, %eax
	ret
done outer

/* Entered by a jump to its middle, and by a call; leaves by a tail call. */
function middle
	mov	$3, %eax
	point middle_inside
	dec	%eax
	jmp	.Lnext
done middle
function jumps
	test	%edi, %edi
	jmp	middle_inside
done jumps

/* Calls itself; a signal handler's return and recursion look alike to it. */
function recurse
	test	%edi, %edi
	jz	1f
	dec	%edi
	call	.Lrecurse
	point recurse_back
	nop
1:	ret
done recurse

	.section .rodata
text:	.asciz	"42"

	.section .note.GNU-stack, "", @progbits
