// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change the attributes of kernel leaves.
 *
 * Invariants:
 *  I1 (always). Only attributes change that need no break-before-make:
 *      permissions, software bits, and valid <-> present-invalid. The output
 *      address, the memory type and the size of a leaf never do.
 *  I2 (always). A leaf lies inside the changed range or outside: both ends
 *      were made leaf boundaries before the first store.
 *  I3 (always). An invalid leaf has PTE_PRESENT_INVALID, which is the nG bit;
 *      a valid one has nG as arm64_use_ng_mappings says.
 *
 * Locking: kleaf_lock from the split to the last store. Ranges that are
 *   PTE-mapped for good are changed without it, from any context: nothing is
 *   ever split or merged there, and each user owns its pages.
 * TLB and barriers: stores are not ordered against each other; one DSB ISHST
 *   and one ISB follow the last. Who removes a permission or a valid bit
 *   flushes: kleaf_change() itself, the _noflush ones leave it to the caller.
 * Failure: everything that can fail comes before the first store.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/irqflags.h>
#include <linux/kfence.h>

#include <asm/barrier.h>
#include <asm/tlbflush.h>

#include "kleaf.h"

/**
 * struct kleaf_changer - what to change, and where
 * @start: first byte
 * @end: one past the last byte
 * @set: descriptor bits to set
 * @clear: descriptor bits to clear
 */
struct kleaf_changer {
	unsigned long start;
	unsigned long end;
	u64 set;
	u64 clear;
};

static int change_run(const struct kleaf_run *run, void *data)
{
	const struct kleaf_changer *change = data;
	unsigned long run_end = run->addr +
		run->nr_entries * kleaf_level_size(run->level);
	u64 set = change->set, clear = change->clear;
	u64 *entryp = run->entryp, *entry_end = entryp + run->nr_entries;

	if (WARN_ON_ONCE(run->addr < change->start || run_end > change->end))
		return -EINVAL;

	if (run->level != KLEAF_PTE) {
		for (; entryp < entry_end; entryp++)
			kleaf_set_entry(entryp,
					(READ_ONCE(*entryp) & ~clear) | set,
					run->level);
		return 0;
	}

	do {
		u64 val = READ_ONCE(*entryp);

		/* The guard page of an area, or a hole in memory. */
		if (!val)
			continue;
		kleaf_set_entry(entryp, (val & ~clear) | set, KLEAF_PTE);
	} while (++entryp < entry_end);

	return 0;
}

static const struct kleaf_walk_ops change_ops = {
	.run = change_run,
};

bool kleaf_pte_mapped_for_good(unsigned long addr)
{
	return kleaf_in_linear_map(addr) &&
		(debug_pagealloc_enabled() || is_kfence_address((void *)addr));
}

int kleaf_change_locked(unsigned long start, unsigned long end,
			pgprot_t set_mask, pgprot_t clear_mask)
{
	struct kleaf_changer change = {
		.start = start,
		.end = end,
		.set = pgprot_val(set_mask),
		.clear = pgprot_val(clear_mask),
	};
	int ret;

	/* I3: nG means present-invalid while the valid bit is clear. */
	if (change.set & PTE_VALID) {
		change.clear |= PTE_PRESENT_INVALID;
		change.set |= PTE_MAYBE_NG;
	} else if (change.clear & PTE_VALID) {
		change.set |= PTE_PRESENT_INVALID;
	}

	ret = kleaf_walk(start, end, &change_ops, &change);

	/*
	 * Make the stores visible to the walkers of all CPUs, and to the
	 * accesses of this one that follow.
	 */
	dsb(ishst);
	isb();

	return ret;
}

static int change_noflush(unsigned long start, unsigned long end,
			  pgprot_t set_mask, pgprot_t clear_mask)
{
	struct kleaf_tables tables = {};
	int ret;

	if (start >= end || !PAGE_ALIGNED(start | end))
		return -EINVAL;

	if (kleaf_pte_mapped_for_good(start))
		return kleaf_change_locked(start, end, set_mask, clear_mask);

	might_sleep();

	do {
		mutex_lock(&kleaf_lock);
		ret = kleaf_split_locked(start, end, &tables);
		if (!ret)
			ret = kleaf_change_locked(start, end, set_mask,
						  clear_mask);
		mutex_unlock(&kleaf_lock);
	} while (ret == -EAGAIN && !(ret = kleaf_tables_refill(&tables)));

	kleaf_tables_free(&tables);
	return ret;
}

int kleaf_change(unsigned long start, unsigned long end, pgprot_t set_mask,
		 pgprot_t clear_mask)
{
	int ret = change_noflush(start, end, set_mask, clear_mask);

	if (!ret)
		flush_tlb_kernel_range(start, end);

	return ret;
}

/**
 * struct leaf_range - the leaf around an address
 * @start: first byte of the leaf
 * @end: one past its last byte
 */
struct leaf_range {
	unsigned long start;
	unsigned long end;
};

static int find_leaf_run(const struct kleaf_run *run, void *data)
{
	struct leaf_range *leaf = data;
	unsigned long size;

	size = kleaf_kind_size(kleaf_kind(run->level, kleaf_run_val(run, 0)));
	leaf->start = ALIGN_DOWN(leaf->start, size);
	leaf->end = leaf->start + size;

	return 0;
}

static const struct kleaf_walk_ops find_leaf_ops = {
	.run = find_leaf_run,
};

/*
 * The snapshot of hibernation wants to read one page whose leaf is invalid:
 * change the leaf as a whole, nothing can be split here. Whatever the leaf
 * maps may have been loaded into a TLB speculatively while it was valid, which
 * is more than the caller's flush of one page covers.
 */
static int change_leaf_for_snapshot(unsigned long addr, pgprot_t set_mask,
				    pgprot_t clear_mask)
{
	struct leaf_range leaf = { .start = addr, .end = addr + PAGE_SIZE };
	int ret;

	ret = kleaf_walk(leaf.start, leaf.end, &find_leaf_ops, &leaf);
	if (!ret)
		ret = kleaf_change_locked(leaf.start, leaf.end, set_mask,
					  clear_mask);
	if (!ret && (pgprot_val(clear_mask) & PTE_VALID))
		flush_tlb_kernel_range(leaf.start, leaf.end);

	return ret;
}

int kleaf_set_direct_map_noflush(struct page *page, pgprot_t set_mask,
				 pgprot_t clear_mask)
{
	unsigned long addr = (unsigned long)__va(page_to_phys(page));

	if (irqs_disabled())
		return change_leaf_for_snapshot(addr, set_mask, clear_mask);

	return change_noflush(addr, addr + PAGE_SIZE, set_mask, clear_mask);
}
