// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep memory hot-remove from cutting leaves of the linear map.
 *
 * Invariants:
 *  I1 (when memory is unmapped). No leaf maps memory on both sides of an edge.
 *
 * Memory goes offline before it is removed, block by block, and only going
 * offline can be refused. So the edges are split then.
 *
 * Locking: takes kleaf_lock, under mem_hotplug_lock.
 * TLB and barriers: see split.c.
 * Failure: the memory stays online; or, if it never was, stays mapped.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/printk.h>

#include "kleaf.h"

int kleaf_prepare_offline(phys_addr_t start, phys_addr_t size)
{
	unsigned long addr = (unsigned long)__phys_to_virt(start);
	int ret = kleaf_split(addr, addr + size);

	return ret == -EOPNOTSUPP ? 0 : ret;
}

int kleaf_prepare_remove(unsigned long start, unsigned long end)
{
	int ret = kleaf_split(start, end);

	if (ret)
		pr_warn("kleaf: [%#lx, %#lx) is part of a larger leaf (%d), left mapped\n",
			start, end, ret);

	return ret;
}
