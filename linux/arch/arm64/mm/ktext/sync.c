// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep the nodes' tables as the home tables are, wherever they are shared.
 *
 * Entries above the PTEs are passed on by the hook in their setters, before
 * the home entry is stored. PTEs are stored by too many, and too often, for a
 * hook: those few PTE tables that the window shares with other kernel mappings
 * are synchronised by ranges, after the stores, where vmap, vunmap,
 * apply_to_page_range() and set_memory say that they changed something.
 *
 * Invariants:
 *  I1 (after ktext_sync_start()). When the function that changed a mapping
 *      returns, all nodes have the change.
 *  I2 (after ktext_sync_start()). An entry is cleared in all nodes before the
 *      TLB flush that has to come before the table or page below it is freed.
 *  I3 (always). An entry that leads to a home table with counterparts does not
 *      change as long as it does.
 *
 * Locking: ktext_lock, innermost, for stores to the nodes' tables and for the
 *   fixmap slot of the top level. It is held, with interrupts off, for so many
 *   entries at a time and no more. Stores to one home entry are serialised by
 *   its users, as on one table.
 * TLB and barriers: the setter's own DSB ISHST after the store to the home
 *   entry covers the stores of the hook before it; ktext_sync_ptes() ends with
 *   one of its own. Who clears an entry flushes after that, broadcast, which
 *   reaches the node's tables too.
 * Failure: cannot fail.
 * See: Documentation/mm/kernel-replication.rst
 */

#include <linux/bitmap.h>
#include <linux/jump_label.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include <asm/fixmap.h>
#include <asm/pgtable-hook.h>
#include <asm/sections.h>

#include "ktext.h"

DEFINE_RAW_SPINLOCK(ktext_lock);
static DEFINE_STATIC_KEY_FALSE(ktext_sync_key);

/* Page entries that are passed on at a time with interrupts off. */
#define SYNC_BATCH		32

static void store_copy(struct ktext_table *table, unsigned int index, int nid,
		       u64 entry)
{
	u64 *entryp = &table->copy[nid][index];

	lockdep_assert_held(&ktext_lock);

	/* Those of the top level are read-only, as those of the home table. */
	if (ktext_is_top(table)) {
		if (READ_ONCE(*entryp) == entry)
			return;
		entryp = (u64 *)set_fixmap_offset(FIX_KTEXT_TOP,
						  virt_to_phys(entryp));
	}

	/* Partner: the walkers of the node's CPUs, which are single-copy. */
	WRITE_ONCE(*entryp, entry);

	if (ktext_is_top(table))
		clear_fixmap(FIX_KTEXT_TOP);
}

/* Where an entry that a setter was given lies in the linear map. */
static const u64 *linear_address(const void *entryp)
{
	unsigned long addr = (unsigned long)__tag_reset(entryp);
	pte_t *ptep;

	if (addr >= (unsigned long)KERNEL_START &&
	    addr < (unsigned long)KERNEL_END)
		return lm_alias(entryp);

	/* Memory hotplug reaches tables through the fixmap. */
	if (addr >= FIXADDR_TOT_START && addr < FIXADDR_TOP) {
		ptep = virt_to_kpte(addr);
		return phys_to_virt(__pte_to_phys(__ptep_get(ptep)) +
				    offset_in_page(addr));
	}

	return (const u64 *)addr;
}

static void pass_on_store(void *entryp, u64 new, enum pgtable_hook_level level)
{
	const u64 *linear;
	struct ktext_table *table;
	unsigned long flags;
	unsigned int index;
	u64 old;
	int nid;

	if (level == PGTABLE_HOOK_PTE)
		return;

	linear = linear_address(entryp);
	if (likely(!ktext_keeps_table(PTR_ALIGN_DOWN(linear, PAGE_SIZE))))
		return;
	table = ktext_find_table(PTR_ALIGN_DOWN(linear, PAGE_SIZE));

	index = offset_in_page(linear) / sizeof(u64);

	raw_spin_lock_irqsave(&ktext_lock, flags);
	/* I3 */
	old = READ_ONCE(table->home[index]);
	if (!WARN_ON_ONCE(ktext_next_table(table, index, old))) {
		__set_bit(index, table->stored);
		for (nid = 0; nid < nr_node_ids; nid++)
			if (table->copy[nid])
				store_copy(table, index, nid, new);
	}
	raw_spin_unlock_irqrestore(&ktext_lock, flags);
}

static struct pgtable_hook store_hook = {
	.store = pass_on_store,
};

/* Pass on some entries of [@start, @end), and say where to go on. */
static unsigned long sync_batch(unsigned long start, unsigned long end,
				bool *found)
{
	unsigned long addr, flags;
	struct ktext_table *table;
	unsigned int index;
	int nid;

	end = min(end, ALIGN_DOWN(start, PMD_SIZE) + PMD_SIZE);

	raw_spin_lock_irqsave(&ktext_lock, flags);
	table = *ktext_slot(start);
	if (table) {
		*found = true;
		end = min(end, start + SYNC_BATCH * PAGE_SIZE);
		index = (start - table->start) >> PAGE_SHIFT;
		for (addr = start; addr < end; addr += PAGE_SIZE, index++)
			for (nid = 0; nid < nr_node_ids; nid++)
				if (table->copy[nid])
					store_copy(table, index, nid,
						   ktext_node_entry(table, index,
								    nid));
	}
	raw_spin_unlock_irqrestore(&ktext_lock, flags);

	return end;
}

bool ktext_sync_range(unsigned long start, unsigned long end)
{
	unsigned long addr = max(start & PAGE_MASK, ktext_reach.start);
	bool found = false;

	end = min(end, ktext_reach.end);
	while (addr < end)
		addr = sync_batch(addr, end, &found);

	/* I1: before the caller flushes, or lets anyone use the mapping. */
	dsb(ishst);
	isb();

	return found;
}

bool ktext_sync_ptes(unsigned long start, unsigned long end)
{
	if (!static_branch_unlikely(&ktext_sync_key))
		return false;

	/* vmap() and set_memory_*() have addresses with a tag of KASAN's. */
	start = __tag_reset(start);
	end = __tag_reset(end);
	if (end <= ktext_reach.start || start >= ktext_reach.end)
		return false;

	return ktext_sync_range(start, end);
}

void arch_sync_kernel_mappings(unsigned long start, unsigned long end)
{
	ktext_sync_ptes(start, end);
}

static void fill_table(struct ktext_table *table)
{
	unsigned long flags;
	unsigned int index;
	int nid;

	for (index = 0; index < PTRS_PER_PTE; index++) {
		raw_spin_lock_irqsave(&ktext_lock, flags);
		for (nid = 0; nid < nr_node_ids; nid++) {
			/* Right already, and the home entry may be yet to come. */
			if (table->copy[nid] && !test_bit(index, table->stored))
				store_copy(table, index, nid,
					   ktext_node_entry(table, index, nid));
		}
		raw_spin_unlock_irqrestore(&ktext_lock, flags);
	}
}

void ktext_sync_start(void)
{
	struct ktext_table *table;

	static_branch_enable(&ktext_sync_key);
	pgtable_hook_register(&store_hook);
	/*
	 * Whoever was past the hook, but not past the store that goes with it,
	 * has stored when this returns, be it preempted in between. So a home
	 * entry without a store since is what the nodes must have.
	 */
	synchronize_rcu_tasks();

	list_for_each_entry(table, &ktext_tables, list)
		fill_table(table);

	/* Before any CPU is moved to these tables. */
	dsb(ishst);
}
