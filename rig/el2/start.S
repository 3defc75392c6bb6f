/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry points and exception vectors. Everything runs at EL2 with the MMU off,
 * on one small stack per CPU that is empty whenever the guest runs.
 */
#include "el2.h"

/*
 * QEMU takes a file with this header for an arm64 Linux Image: it loads it at
 * RAM_BASE + text_offset, starts it at EL2 with the devicetree in x0, and honours
 * -initrd and -append.
 */
	.section .text.start, "ax"
	.globl	_start
_start:
	b	boot_start
	nop
	.quad	EL2_BASE - RAM_BASE		// text_offset
	.quad	GUEST_IMAGE - EL2_BASE		// image_size
	.quad	0xa				// little endian, 4K, anywhere
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0

boot_start:
	mov	x19, x0
	ldr	x0, =__bss_start
	ldr	x1, =__bss_end
1:	cmp	x0, x1
	b.hs	2f
	stp	xzr, xzr, [x0], #16
	b	1b
2:	mov	x0, #0
	bl	setup_el2
	mov	x0, x19
	bl	enter_boot_cpu
	b	enter_guest

/* x0: the CPU number, as given to PSCI in CPU_ON. */
	.globl	secondary_start
secondary_start:
	mov	x19, x0
	bl	setup_el2
	mov	x0, x19
	bl	enter_secondary

/* x0, x1: struct guest_entry. Registers as the Linux boot protocol wants. */
enter_guest:
	msr	elr_el2, x0
	mov	x2, #0x3c5			// EL1h, DAIF masked
	msr	spsr_el2, x2
	mov	x0, x1
	mov	x1, xzr
	mov	x2, xzr
	mov	x3, xzr
	eret

/* x0: the CPU number. Picks its stack and installs the vectors. */
setup_el2:
	ldr	x1, =stacks
	add	x0, x0, #1
	add	x1, x1, x0, lsl #STACK_SHIFT
	mov	sp, x1
	ldr	x1, =vectors
	msr	vbar_el2, x1
	isb
	ret

/* void smc(u64 x[4]): call the firmware, results in place. */
	.globl	smc
smc:
	mov	x9, x0
	ldp	x0, x1, [x9]
	ldp	x2, x3, [x9, #16]
	stp	x9, x30, [sp, #-16]!
	smc	#0
	ldp	x9, x30, [sp], #16
	stp	x0, x1, [x9]
	stp	x2, x3, [x9, #16]
	ret

/*
 * u64 read_id_reg(u64 reg): @reg as made by ID_REG(). The encoding is part of the
 * instruction, so there is one for each register.
 */
	.globl	read_id_reg
read_id_reg:
	adr	x2, 1f
	add	x2, x2, x0, lsl #3
	br	x2
1:	.irp	crm, 0, 1, 2, 3, 4, 5, 6, 7
	.irp	op2, 0, 1, 2, 3, 4, 5, 6, 7
	mrs	x0, S3_0_C0_C\crm\()_\op2
	ret
	.endr
	.endr

/* Fixed distance of the vectors; all but one mean that something is wrong. */
	.macro	unexpected, number
	.balign	128
	mov	x0, #\number
	b	handle_unexpected
	.endm

	.balign	2048
vectors:
	.irp	number, 0, 1, 2, 3, 4, 5, 6, 7
	unexpected \number
	.endr

	.balign	128				// synchronous, from AArch64 EL1
	sub	sp, sp, #256
	stp	x0, x1, [sp, #16 * 0]
	stp	x2, x3, [sp, #16 * 1]
	stp	x4, x5, [sp, #16 * 2]
	stp	x6, x7, [sp, #16 * 3]
	stp	x8, x9, [sp, #16 * 4]
	stp	x10, x11, [sp, #16 * 5]
	stp	x12, x13, [sp, #16 * 6]
	stp	x14, x15, [sp, #16 * 7]
	stp	x16, x17, [sp, #16 * 8]
	stp	x18, x19, [sp, #16 * 9]
	b	trap

	.irp	number, 9, 10, 11, 12, 13, 14, 15
	unexpected \number
	.endr
	.balign	128

trap:
	stp	x20, x21, [sp, #16 * 10]
	stp	x22, x23, [sp, #16 * 11]
	stp	x24, x25, [sp, #16 * 12]
	stp	x26, x27, [sp, #16 * 13]
	stp	x28, x29, [sp, #16 * 14]
	str	x30, [sp, #16 * 15]
	mov	x0, sp
	bl	handle_sync
	ldp	x0, x1, [sp, #16 * 0]
	ldp	x2, x3, [sp, #16 * 1]
	ldp	x4, x5, [sp, #16 * 2]
	ldp	x6, x7, [sp, #16 * 3]
	ldp	x8, x9, [sp, #16 * 4]
	ldp	x10, x11, [sp, #16 * 5]
	ldp	x12, x13, [sp, #16 * 6]
	ldp	x14, x15, [sp, #16 * 7]
	ldp	x16, x17, [sp, #16 * 8]
	ldp	x18, x19, [sp, #16 * 9]
	ldp	x20, x21, [sp, #16 * 10]
	ldp	x22, x23, [sp, #16 * 11]
	ldp	x24, x25, [sp, #16 * 12]
	ldp	x26, x27, [sp, #16 * 13]
	ldp	x28, x29, [sp, #16 * 14]
	ldr	x30, [sp, #16 * 15]
	add	sp, sp, #256
	eret

	.bss
	.balign	16
stacks:
	.space	MAX_CPUS << STACK_SHIFT
