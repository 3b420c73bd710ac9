/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flow that is easy to get wrong: branches to the next instruction, REP, an
 * instruction over a page's end, split locks before returns and loops,
 * blocks that rewrite themselves, syscall; ret, LOOP, the vsyscall page, a straight
 * run.  No library, no relocation: the same addresses in each run.
 */
	.text
	.globl	_start
	.p2align 12
/* Jcc +0 after each kind of flags, both outcomes; the counter is in r15. */
	.macro	NEXT cc
	j\cc	9f
9:
	.endm
	.macro	ALL
	.irp	cc, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	NEXT	\cc
	.endr
	.endm
jcc_next:
	mov	%r15, %rax
	and	$7, %eax
	sub	$4, %eax
	ALL
	mov	%r15, %rax
	add	$-3, %al
	ALL
	mov	%r15, %rax
	and	$3, %eax
	ALL
	mov	%r15, %rax
	shl	$61, %rax
	ALL
	mov	%r15, %rax
	sar	$2, %rax
	ALL
	mov	%r15b, %al
	inc	%al
	ALL
	dec	%ax
	ALL
	stc
	mov	%r15d, %eax
	adc	$0xfffffff0, %eax
	ALL
	mov	%r15w, %ax
	sbb	$6, %ax
	ALL
	mov	%r15, %rax
	imul	$0x10000000, %eax, %eax
	ALL
	bt	$1, %r15
	ALL
	xor	%eax, %eax
	ALL
	popcnt	%r15, %rax
	ALL
	neg	%rax
	ALL
	mov	%r15, %rcx
	and	$3, %ecx
	jrcxz	1f
1:	inc	%rcx
	loop	2f
2:	test	%r15, %r15
	inc	%rcx
	loopne	3f
3:	ret

rep_all:
	lea	buffer(%rip), %rdi
	lea	buffer+4096(%rip), %rsi
	mov	%r15, %rcx
	and	$63, %ecx
	rep movsb
	lea	buffer(%rip), %rdi
	mov	$5, %ecx
	rep stosq
	xor	%ecx, %ecx
	rep stosl
	lea	buffer(%rip), %rdi
	mov	$100, %ecx
	mov	$7, %al
	repne scasb
	lea	buffer(%rip), %rdi
	lea	buffer+4096(%rip), %rsi
	mov	$64, %ecx
	repe cmpsb
	.byte	0xf3
	ret

calls:
	mov	$39, %eax
	call	do_syscall
	lea	target(%rip), %rax
	call	*%rax
	call	1f		/* call of the next instruction is no call */
1:	pop	%rax
	lea	2f(%rip), %rax
	jmp	*%rax
	nop
2:	push	$0
	lea	3f(%rip), %rax
	mov	%rax, (%rsp)
	ret			/* a return that nothing called */
3:	ret
do_syscall:
	syscall
	ret
target:
	enter	$16, $0
	leave
	ret

/* mov $imm64 lies over the page's end. */
	.p2align 12
	.skip	4090
cross:
	mov	$0x1122334455667788, %rax
	dec	%rax
	jnz	1f
	nop
1:	ret
/* Indirect branches over a page's end: what QEMU saw of them is a branch, too. */
	.p2align 12
	.skip	4088
cross_call:
	nop
	nop
	nop
	call	*pointer(%rip)		/* at ...ffb */
	ret
	.p2align 12
	.skip	4090
cross_jump:
	nop
	jmp	*pointer(%rip)
	.p2align 12
	.skip	4091
cross_jcc:
	test	%r15, %r15
	.byte	0x0f, 0x84		/* jz target, at ...ffe */
	.long	target - . - 4
	ret
	.p2align 12
	.skip	4094
cross_branch:
	nop
	jmp	1f
	nop
1:	ret

/* The atomics cross a cache line: with threads QEMU restarts them alone. */
split_lock:
	lea	buffer+61(%rip), %rdi
	mov	$3, %ecx
1:	lock incl (%rdi)
	dec	%ecx
	jnz	1b
	mov	$2, %ecx
2:	mov	%ecx, %eax
	xchg	%eax, (%rdi)
	loop	2b
	call	split_return
	ret
split_return:
	nop
	lock addl $1, (%rdi)
	ret

/* Rewrites the instruction behind the store, in one block that returns. */
	.section .wx, "awx", @progbits
self_modify:
	nop
	mov	%r15b, 1f+1(%rip)
1:	mov	$0, %al
	ret
self_modify_loop:
	mov	$3, %ecx
2:	mov	%cl, 3f+1(%rip)
3:	mov	$0, %al
	dec	%ecx
	jnz	2b
	ret
	.text

/* No branch for longer than decoders and emulators hold in one block. */
straight:
	.rept	6000
	lea	1(%rax), %rax
	.endr
	ret

time_page:
	xor	%edi, %edi
	mov	$0xffffffffff600400, %rax
	call	*%rax
	ret

thread_main:
	call	split_lock
	movl	$1, done(%rip)
	mov	$60, %eax
	xor	%edi, %edi
	syscall

_start:
	call	straight
	xor	%r15d, %r15d
1:	call	jcc_next
	call	rep_all
	call	calls
	call	cross
	call	cross_branch
	call	cross_call
	call	cross_jump
	call	cross_jcc
	call	split_lock
	call	self_modify
	call	self_modify_loop
	call	time_page
	inc	%r15
	cmp	$40, %r15
	jne	1b
	cmpq	$1, (%rsp)	/* an argument: with a thread */
	je	9f
	/* clone(VM|FS|FILES|SIGHAND|THREAD|SYSVSEM) */
	mov	$56, %eax
	mov	$0x50f00, %edi
	lea	stack_end(%rip), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	syscall
	test	%rax, %rax
	jz	thread_main
	js	8f
2:	call	split_lock
	mov	$24, %eax	/* sched_yield */
	syscall
	cmpl	$0, done(%rip)
	je	2b
	mov	$200, %r14d
3:	call	split_lock
	dec	%r14d
	jnz	3b
9:	mov	$231, %eax
	xor	%edi, %edi
	syscall
8:	mov	$231, %eax
	mov	$1, %edi
	syscall

	.section .rodata
pointer: .quad	target
	.bss
	.p2align 12
buffer:	.skip	8192
done:	.skip	8
	.p2align 4
	.skip	16384
stack_end:
	.skip	64
	.section .note.GNU-stack,"",@progbits
