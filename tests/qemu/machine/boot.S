/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The test machine's start (PVH: 32-bit protected mode, no paging), its vectors,
 * and the ways between its kernel and user code.
 */
#define PHYS(x) (x - 0xffffffff80000000)

	.section .note.Xen, "a"
	.align 4
	.long 4, 4, 18			/* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz "Xen"
	.long PHYS(pvh_start)

	.section .boot, "ax"
	.code32
	.globl pvh_start
pvh_start:
	cld
	mov $PHYS(stack_end), %esp
	/* Two-megabyte pages: 4 GiB at 0, 1 GiB of it at KERNEL_BASE. */
	mov $PHYS(directories), %edi
	mov $0x83, %eax
	xor %edx, %edx
1:	mov %eax, (%edi)
	mov %edx, 4(%edi)
	add $8, %edi
	add $0x200000, %eax
	jnc 1b
	mov $PHYS(pointers), %edi
	mov $PHYS(directories) + 3, %eax
	mov $4, %ecx
2:	mov %eax, (%edi)
	add $0x1000, %eax
	add $8, %edi
	loop 2b
	movl $PHYS(directories) + 3, PHYS(high_pointers) + 510 * 8
	movl $PHYS(pointers) + 7, PHYS(root)
	movl $PHYS(high_pointers) + 3, PHYS(root) + 511 * 8
	mov $0x620, %eax		/* PAE, OSFXSR, OSXMMEXCPT */
	mov %eax, %cr4
	mov $PHYS(root), %eax
	mov %eax, %cr3
	mov $0xc0000080, %ecx		/* EFER: SCE, LME */
	rdmsr
	or $0x101, %eax
	wrmsr
	mov $0x80010033, %eax		/* PG, WP, NE, ET, MP, PE */
	mov %eax, %cr0
	lgdt PHYS(boot_gdt)
	ljmp $0x10, $PHYS(1f)
	.code64
1:	movabs $2f, %rax
	jmp *%rax
2:	lgdt gdt_pointer
	mov $0x18, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	mov $stack_end, %rsp
	call machine_main
3:	hlt
	jmp 3b

	.section .data
	.align 16
	.globl gdt
gdt:	.quad 0, 0
	.quad 0x00af9b000000ffff	/* 10: kernel code */
	.quad 0x00cf93000000ffff	/* 18: kernel data */
	.quad 0x00cffb000000ffff	/* 23: user code, 32 bits */
	.quad 0x00cff3000000ffff	/* 2b: user data */
	.quad 0x00affb000000ffff	/* 33: user code */
	.quad 0, 0			/* 38: TSS, filled in */
gdt_end:
gdt_pointer:
	.word gdt_end - gdt - 1
	.quad gdt
boot_gdt:
	.word gdt_end - gdt - 1
	.quad PHYS(gdt)

	.section .bss
	.align 4096
	.globl root, root_b
root:	.skip 4096
root_b:	.skip 4096
pointers: .skip 4096
high_pointers: .skip 4096
directories: .skip 4 * 4096
	.skip 65536
stack_end:
	.globl kernel_stack_end
	.skip 65536
kernel_stack_end:
saved_rsp: .quad 0
user_rsp: .quad 0

	.text
	.altmacro
	.macro stub n
	.align 16
	.if \n == 8 || (\n >= 10 && \n <= 14) || \n == 17 || \n == 21 || \n == 29 || \n == 30
	.else
	push $0
	.endif
	push $\n
	jmp event_common
	.endm

	.align 16
	.globl event_stubs
event_stubs:
	.set i, 0
	.rept 256
	stub %i
	.set i, i + 1
	.endr

event_common:
	push %rax
	push %rcx
	push %rdx
	push %rbx
	push %rbp
	push %rsi
	push %rdi
	push %r8
	push %r9
	push %r10
	push %r11
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, %rdi
	call machine_event
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rdi
	pop %rsi
	pop %rbp
	pop %rbx
	pop %rdx
	pop %rcx
	pop %rax
	add $16, %rsp
	iretq

/* void enter_user(rip, rsp, arg): returns when the program makes system call 1. */
	.globl enter_user
enter_user:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, saved_rsp
	push $0x2b
	push %rsi
	push $0x202
	push $0x33
	push %rdi
	mov %rdx, %rdi
	iretq

	.globl syscall_entry
syscall_entry:
	cmp $1, %eax
	je leave_user
	mov %rsp, user_rsp
	mov $kernel_stack_end - 4096, %rsp
	push %rcx
	push %r11
	call machine_call
	pop %r11
	pop %rcx
	mov user_rsp, %rsp
	sysretq
leave_user:
	mov saved_rsp, %rsp
	sti
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret

	.section .note.GNU-stack, "", @progbits
