/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a CPU waits while another changes the kernel's page tables.
 *
 * Runs from the identity map, with TTBR1 on reserved_pg_dir: no access of any
 * kind, speculative ones included, goes through the kernel's tables meanwhile.
 */

#include <linux/cfi_types.h>
#include <linux/linkage.h>

#include <asm/assembler.h>

	.pushsection ".idmap.text", "a"

/*
 * void idmap_kleaf_park(phys_addr_t flag, phys_addr_t ttbr)
 *
 * Count up *flag, then wait until it is zero.
 *
 * x0: physical address of a u32, mapped writable in the identity map
 * x1: TTBR1 value of reserved_pg_dir
 *
 * Interrupts are off. The stack is in the kernel's map, so there is none.
 */
SYM_TYPED_FUNC_START(idmap_kleaf_park)
	mov	x5, x30
	mov	x6, x0
	mrs	x7, ttbr1_el1

	mov	x0, x1
	bl	idmap_cpu_replace_ttbr1		// clobbers x0, x1, x3

	/* Pairs with smp_cond_load_acquire() in repaint_cpu(). */
1:	ldxr	w2, [x6]
	add	w2, w2, #1
	stlxr	w3, w2, [x6]
	cbnz	w3, 1b

	/* Pairs with smp_store_release() in repaint_cpu(). */
	sevl
2:	wfe
	ldaxr	w2, [x6]
	cbnz	w2, 2b

	mov	x0, x7
	bl	idmap_cpu_replace_ttbr1
	ret	x5
SYM_FUNC_END(idmap_kleaf_park)

	.popsection
