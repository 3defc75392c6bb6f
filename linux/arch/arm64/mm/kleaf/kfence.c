// SPDX-License-Identifier: GPL-2.0-only
/*
 * Give KFENCE a pool of single pages.
 *
 * Invariants:
 *  I1 (once arch_kfence_init_pool() returned true). The pool is mapped with
 *      PTE leaves only, so that kleaf_change() of one of its pages takes no
 *      lock and splits nothing, in any context.
 *
 * A pool reserved at boot is mapped so by map_mem(); one that is set up at run
 * time is ordinary memory, in leaves as large as those around it.
 *
 * Locking: takes kleaf_lock.
 * TLB and barriers: see split.c.
 * Failure: KFENCE stays off; what was split stays split.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/kfence.h>

#include <asm/kfence.h>

#include "kleaf.h"

bool kleaf_kfence_pool(unsigned long *start, unsigned long *end)
{
	if (!__kfence_pool)
		return false;

	*start = (unsigned long)kasan_reset_tag(__kfence_pool);
	*end = *start + KFENCE_POOL_SIZE;
	return true;
}

bool arch_kfence_init_pool(void)
{
	unsigned long start, end;

	return kleaf_kfence_pool(&start, &end) &&
		!kleaf_split_to_pages(start, end);
}
