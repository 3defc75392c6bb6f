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
#include <linux/kasan.h>

#include <asm/tlbflush.h>

#include "kleaf.h"

/**
 * struct kleaf_changer - what to change, and where
 * @range: the range
 * @masks: descriptor bits to set and to clear
 */
struct kleaf_changer {
	const struct kleaf_range *range;
	const struct kleaf_masks *masks;
};

/* Every entry maps something inside of the range, and nothing beside it. */
static void change_entries(void *first, unsigned int nr_entries,
			   enum kleaf_level level,
			   const struct kleaf_masks *masks)
{
	u64 set = masks->set, clear = masks->clear;
	u64 *entryp = first, *end = entryp + nr_entries;

	if (level != KLEAF_PTE) {
		for (; entryp < end; entryp++)
			kleaf_set_entry(entryp,
					(READ_ONCE(*entryp) & ~clear) | set,
					level);
		return;
	}

	do {
		u64 val = READ_ONCE(*entryp);

		/* The guard page of an area, or a hole in memory. */
		if (!val)
			continue;
		kleaf_set_entry(entryp, (val & ~clear) | set, KLEAF_PTE);
	} while (++entryp < end);
}

static int change_run(const struct kleaf_run *run, void *data)
{
	const struct kleaf_changer *change = data;
	unsigned long run_end = run->addr +
		run->nr_entries * kleaf_level_size(run->level);

	if (WARN_ON_ONCE(run->addr < change->range->start ||
			 run_end > change->range->end))
		return -EINVAL;

	change_entries(run->entryp, run->nr_entries, run->level, change->masks);
	return 0;
}

static const struct kleaf_walk_ops change_ops = {
	.run = change_run,
};

bool kleaf_pte_mapped_for_good(unsigned long addr)
{
	unsigned long start, end;

	if (!kleaf_in_linear_map(addr))
		return false;

	return debug_pagealloc_enabled() ||
		(kleaf_kfence_pool(&start, &end) && addr >= start && addr < end);
}

/* Apart, so that the common case needs no stack frame. */
static noinline int change_walk(const struct kleaf_range *range,
				const struct kleaf_masks *masks)
{
	struct kleaf_changer change = { .range = range, .masks = masks };

	return kleaf_walk(range->start, range->end, &change_ops, &change);
}

int kleaf_change_locked(const struct kleaf_range *range,
			const struct kleaf_masks *masks)
{
	if (!range->entryp)
		return change_walk(range, masks);

	change_entries(range->entryp,
		       (range->end - range->start) / kleaf_level_size(range->level),
		       range->level, masks);
	return 0;
}

static int change_noflush(unsigned long start, unsigned long end,
			  pgprot_t set_mask, pgprot_t clear_mask)
{
	const struct kleaf_masks masks = kleaf_masks(set_mask, clear_mask);
	struct kleaf_range range = { .start = start, .end = end };
	struct kleaf_tables tables = {};
	int ret;

	if (start >= end || !PAGE_ALIGNED(start | end))
		return -EINVAL;

	if (kleaf_pte_mapped_for_good(start)) {
		ret = kleaf_change_locked(&range, &masks);
		kleaf_change_done();
		return ret;
	}

	might_sleep();

	do {
		mutex_lock(&kleaf_lock);
		ret = kleaf_split_locked(&range, &tables);
		if (!ret)
			ret = kleaf_change_locked(&range, &masks);
		mutex_unlock(&kleaf_lock);
	} while (kleaf_split_retry(&ret, &tables));
	kleaf_change_done();

	kleaf_tables_free(&tables);
	return ret;
}

int kleaf_change(unsigned long start, unsigned long end, pgprot_t set_mask,
		 pgprot_t clear_mask)
{
	int ret;

	/* What page_address() returns has a tag where KASAN gives pages one. */
	start = (unsigned long)kasan_reset_tag((void *)start);
	end = (unsigned long)kasan_reset_tag((void *)end);

	ret = change_noflush(start, end, set_mask, clear_mask);
	if (!ret)
		flush_tlb_kernel_range(start, end);

	return ret;
}

static int find_leaf_run(const struct kleaf_run *run, void *data)
{
	struct kleaf_range *leaf = data;
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
	const struct kleaf_masks masks = kleaf_masks(set_mask, clear_mask);
	struct kleaf_range leaf = { .start = addr, .end = addr + PAGE_SIZE };
	int ret;

	ret = kleaf_walk(leaf.start, leaf.end, &find_leaf_ops, &leaf);
	if (!ret)
		ret = kleaf_change_locked(&leaf, &masks);
	kleaf_change_done();
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
