/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What runs under trace: programs at level 3, by the names of their rows, and as
 * BOTH(...) what also runs in the kernel, where KERNEL is defined (it ends in RET).
 * Programs end in system call 1.  %rdi is a page that comes and goes.
 */
	.macro leave_program
	mov $1, %eax
	syscall
	ud2
	.endm

#ifdef KERNEL
#define BOTH(name) kernel_##name
	.section .text.kernel, "ax"
#else
#define BOTH(name) user_##name##_
	.section .user, "awx"
#endif

	/* A loop of all kinds of branches, none of them special. */
	.globl BOTH(branches)
BOTH(branches):
	mov $5000, %ebx
1:	mov %ebx, %eax
	and $3, %eax
	lea 9f(%rip), %rdx
	movslq (%rdx, %rax, 4), %rcx
	add %rdx, %rcx
	jmp *%rcx
2:	call 6f
	jmp 5f
3:	lea 6f(%rip), %rcx
	call *%rcx
	test $4, %ebx
	jz 5f
	nop
4:	test $8, %ebx
	jz 7f			/* to what follows */
7:	call 8f
	jmp 5f
5:	dec %ebx
	jnz 1b
	ret
6:	test $1, %bl
	jz 1f
	ret
1:	nop
	ret
8:	call 6b
	call 6b
	ret
	.align 4
9:	.long 2b - 9b, 3b - 9b, 4b - 9b, 5b - 9b

	/* Blocks that return into themselves, spins, a loop of one instruction. */
	.globl BOTH(tight)
BOTH(tight):
	mov $600, %ebx
1:	lea 2f(%rip), %rax
	mov $20, %ecx
2:	dec %ecx
	jz 3f
	push %rax
	ret
3:	mov $50, %ecx
4:	loop 4b
	mov $20, %ecx
5:	lea 5b(%rip), %rdx
	lea 6f(%rip), %rax
	dec %ecx
	cmovnz %rdx, %rax
	jmp *%rax
6:	mov $10, %ecx
7:	pause
	dec %ecx
	jnz 7b
	dec %ebx
	jnz 1b
	ret

	/* Branches to what follows, of either outcome. */
	.globl BOTH(next)
BOTH(next):
	mov $4000, %ebx
1:	test $1, %bl
	jz 2f
2:	cmp $2000, %ebx
	jb 3f
3:	imul $77777, %ebx, %eax
	test %eax, %eax
	js 4f
4:	jp 5f
5:	dec %ebx
	jnz 1b
	ret

	/* REP: whole ones, none, long ones in the middle of a block and alone. */
	.globl BOTH(rep)
BOTH(rep):
	sub $8192, %rsp
	mov $100, %ebx
	cld
1:	mov %rsp, %rdi
	xor %ecx, %ecx
	rep stosb
	mov $1, %ecx
	rep stosb
	mov %rsp, %rdi
	mov $1000, %ecx
	mov $7, %eax
	rep stosq
	mov %rsp, %rdi
	mov $4000, %ecx
	repe scasb
	mov %rsp, %rsi
	lea 4096(%rsp), %rdi
	mov $4000, %ecx
	jmp 2f
2:	rep movsb
	dec %ebx
	jnz 1b
	add $8192, %rsp
	ret

	/* Writes into the block that runs: before it, behind it, at its loop's start. */
	.globl BOTH(rewrite)
BOTH(rewrite):
	mov $200, %ebx
1:	lea 3f(%rip), %rdx
	mov %ebx, 1(%rdx)
	nop
3:	mov $0x11111111, %eax
	lea 1b(%rip), %rdx
	movb $0x48, (%rdx)
	add %ebx, %eax
	dec %ebx
	jnz 1b
	mov $200, %ebx
	lea 5f(%rip), %rdx
5:	movb $0xc6, (%rdx)
	dec %ebx
	lea 5b(%rip), %rdx
	jnz 5b
	ret

	/* Faults in the middle of blocks: the page is there again when they return. */
	.globl BOTH(faults)
BOTH(faults):
	mov $150, %ebx
1:	mov $3, %ecx
	int $0x30		/* the page goes */
	inc %ecx
	mov (%rdi), %eax
	add $4, %ecx
	mov %ecx, 8(%rdi)
	dec %ebx
	jz 2f
	mov (%rdi), %rdx
	jmp 1b
2:	mov (%rdi), %edx
	ret

#ifndef KERNEL
	.globl user_branches, user_tight, user_next, user_rep, user_rewrite
user_branches:
	call BOTH(branches)
	leave_program
user_tight:
	call BOTH(tight)
	leave_program
user_next:
	call BOTH(next)
	leave_program
user_rep:
	call BOTH(rep)
	leave_program
user_rewrite:
	call BOTH(rewrite)
	leave_program

	.globl user_calls
user_calls:
	mov $600, %ebx
1:	xor %eax, %eax
	syscall
	dec %ebx
	jnz 1b
	leave_program

	.globl user_faults
user_faults:
	call BOTH(faults)
	leave_program

	/* REP over the page's border. */
	.globl user_rep_faults
user_rep_faults:
	mov %rdi, %r12
	mov $200, %ebx
	cld
1:	int $0x30
	lea -100(%r12), %rdi
	mov $300, %ecx
	rep stosb
	dec %ebx
	jnz 1b
	leave_program

	/* Software interrupts, and instructions that the handler steps over. */
	.globl user_traps
user_traps:
	mov $200, %ebx
1:	int3
	nop
	int $0x30
	xor %ecx, %ecx
	mov %ebx, %eax
	xor %edx, %edx
	div %ecx
	ud2
	int $0x31		/* no gate for us: #GP at it */
	hlt			/* nor this */
	dec %ebx
	jnz 1b
	leave_program

	/* Code on a page that comes and goes; the instruction lies on its border too. */
	.globl user_fetch
user_fetch:
	mov $100, %ebx
1:	int $0x30
	call fetch_far
	int $0x30
	call fetch_border
	lea fetch_far(%rip), %rax
	call *%rax
	dec %ebx
	jnz 1b
	leave_program

	.align 4096
	.skip 4096 - 6
fetch_border:
	nop
	mov %ebx, %ecx
	mov $0x12345678, %edx
	/* the page of user_fetch */
	.globl fetch_page
	.set fetch_page, fetch_border + 6
	add %ecx, %edx
	ret
	.align 64
fetch_far:
	lea 1(%rbx), %eax
	ret
	.align 4096
#endif

	.section .note.GNU-stack, "", @progbits
