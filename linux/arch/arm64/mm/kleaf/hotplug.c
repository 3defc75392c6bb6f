// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep memory hot-remove from cutting leaves of the linear map.
 *
 * Invariants:
 *  I1 (when memory is unmapped). No leaf maps memory on both sides of an edge.
 *  I2 (when memory is mapped). Nothing is mapped there.
 *
 * Memory goes offline before it is removed, block by block, and only going
 * offline can be refused. So the edges are split then. What had to stay mapped,
 * because the leaves there can never be split, is used again as it is when the
 * memory comes back.
 *
 * Locking: takes kleaf_lock, under mem_hotplug_lock.
 * TLB and barriers: see split.c.
 * Failure: the memory stays online; or, if it never was, stays mapped.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/printk.h>

#include "kleaf.h"

/**
 * struct kleaf_mapped - what a walk has found mapped
 * @start: first byte of the range
 * @end: one past the last byte
 * @attr: the memory type that leaves should have
 * @bytes: bytes of the range that are mapped
 */
struct kleaf_mapped {
	unsigned long start;
	unsigned long end;
	u64 attr;
	long bytes;
};

static int find_mapped_run(const struct kleaf_run *run, void *data)
{
	unsigned long size = kleaf_level_size(run->level);
	struct kleaf_mapped *mapped = data;
	unsigned int i;

	for (i = 0; i < run->nr_entries; i++) {
		unsigned long addr = run->addr + i * size;
		u64 val = kleaf_run_val(run, i);

		if (!val)
			continue;
		if (!(val & PTE_VALID) ||
		    (val & PTE_ATTRINDX_MASK) != mapped->attr)
			return -EEXIST;
		mapped->bytes += min(addr + size - 1, mapped->end - 1) -
			max(addr, mapped->start) + 1;
	}

	return 0;
}

long kleaf_find_mapped(unsigned long start, unsigned long end, pgprot_t prot)
{
	static const struct kleaf_walk_ops ops = { .run = find_mapped_run };
	struct kleaf_mapped mapped = {
		.start = start,
		.end = end,
		.attr = pgprot_val(prot) & PTE_ATTRINDX_MASK,
	};
	int ret = kleaf_walk(start, end, &ops, &mapped);

	return ret ?: mapped.bytes;
}

int kleaf_prepare_add(phys_addr_t start, phys_addr_t size, pgprot_t prot)
{
	unsigned long addr = (unsigned long)__phys_to_virt(start);
	long bytes = kleaf_find_mapped(addr, addr + size, prot);

	if (!bytes)
		return 0;
	if (bytes == size)
		return 1;

	pr_warn("kleaf: [%#lx, %#lx) is partly mapped, or in another way: not added\n",
		addr, (unsigned long)(addr + size));
	return -EEXIST;
}

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
