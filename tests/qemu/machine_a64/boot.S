/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The test machine's start (a bare image: EL1, no MMU), of each CPU; its vectors, and
 * the ways between its kernel and user code.
 */
#define BASE	0xffffff8000000000

/* Blocks of 1 GiB: valid, accessed, shareable; attribute 1 is for devices. */
#define NORMAL	(1 << 10 | 3 << 8 | 1)
#define DEVICE	(1 << 10 | 1 << 2 | 1)
#define NO_USER	(1 << 54)
#define NO_EXEC	(3 << 53)

/* T0SZ, T1SZ: 39 bits; 4 KiB granules, write-back, inner shareable; 40-bit PA. */
#define TCR	(25 | 25 << 16 | 0x3500 | 0x35000000 | 2 << 30 | 2 << 32)
#define MAIR	0x00ff

	.section .boot, "ax"
	.globl start
start:
	mrs x19, mpidr_el1
	and x19, x19, #0xff
	adr x0, kernel_table
	msr ttbr1_el1, x0
	msr ttbr0_el1, x0
	ldr x0, =TCR
	msr tcr_el1, x0
	mov x0, #MAIR
	msr mair_el1, x0
	tlbi vmalle1
	dsb ish
	isb
	mrs x0, sctlr_el1
	orr x0, x0, #1			/* M */
	orr x0, x0, #1 << 12		/* I */
	orr x0, x0, #1 << 2		/* C */
	msr sctlr_el1, x0
	isb
	ldr x0, =1f
	br x0
1:	ldr x0, =vectors
	msr vbar_el1, x0
	ldr x0, =stacks
	add x1, x19, #1
	add x0, x0, x1, lsl #16
	mov sp, x0
	mov x0, x19
	bl machine_main
2:	wfi
	b 2b
	.ltorg
	.balign 4096
kernel_table:
	.quad DEVICE | NO_EXEC, 0x40000000 | NORMAL | NO_USER
	.fill 254, 8, 0
	.quad 0x4000000000 | DEVICE | NO_EXEC	/* PCI's configuration space */
	.fill 255, 8, 0

	.section .bss
	.balign 65536
stacks:	.skip 2 * 65536

	.text
	.macro vector kind
	.balign 128
	sub sp, sp, #288
	stp x0, x1, [sp]
	mov x0, #\kind
	b event_common
	.endm

	.balign 2048
	.globl vectors
vectors:
	.irp kind, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vector \kind
	.endr

event_common:
	stp x2, x3, [sp, #16]
	stp x4, x5, [sp, #32]
	stp x6, x7, [sp, #48]
	stp x8, x9, [sp, #64]
	stp x10, x11, [sp, #80]
	stp x12, x13, [sp, #96]
	stp x14, x15, [sp, #112]
	stp x16, x17, [sp, #128]
	stp x18, x19, [sp, #144]
	stp x20, x21, [sp, #160]
	stp x22, x23, [sp, #176]
	stp x24, x25, [sp, #192]
	stp x26, x27, [sp, #208]
	stp x28, x29, [sp, #224]
	mrs x1, elr_el1
	stp x30, x1, [sp, #240]
	mrs x1, spsr_el1
	mrs x2, sp_el0
	stp x1, x2, [sp, #256]
	str x0, [sp, #272]
	mov x1, x0
	mov x0, sp
	bl machine_event
	ldp x1, x2, [sp, #256]
	msr spsr_el1, x1
	msr sp_el0, x2
	ldp x30, x1, [sp, #240]
	msr elr_el1, x1
	ldp x28, x29, [sp, #224]
	ldp x26, x27, [sp, #208]
	ldp x24, x25, [sp, #192]
	ldp x22, x23, [sp, #176]
	ldp x20, x21, [sp, #160]
	ldp x18, x19, [sp, #144]
	ldp x16, x17, [sp, #128]
	ldp x14, x15, [sp, #112]
	ldp x12, x13, [sp, #96]
	ldp x10, x11, [sp, #80]
	ldp x8, x9, [sp, #64]
	ldp x6, x7, [sp, #48]
	ldp x4, x5, [sp, #32]
	ldp x2, x3, [sp, #16]
	ldp x0, x1, [sp], #288
	eret

/* void enter_user(pc, sp, arg, spsr, u64 *saved): until leave_user(saved). */
	.globl enter_user
enter_user:
	stp x29, x30, [sp, #-96]!
	stp x19, x20, [sp, #16]
	stp x21, x22, [sp, #32]
	stp x23, x24, [sp, #48]
	stp x25, x26, [sp, #64]
	stp x27, x28, [sp, #80]
	mov x9, sp
	str x9, [x4]
	msr daifset, #2
	msr elr_el1, x0
	msr sp_el0, x1
	msr spsr_el1, x3
	mov x0, x2
	eret

	.globl leave_user
leave_user:
	ldr x9, [x0]
	mov sp, x9
	msr daifclr, #2
	ldp x19, x20, [sp, #16]
	ldp x21, x22, [sp, #32]
	ldp x23, x24, [sp, #48]
	ldp x25, x26, [sp, #64]
	ldp x27, x28, [sp, #80]
	ldp x29, x30, [sp], #96
	ret

	.section .note.GNU-stack, "", @progbits
