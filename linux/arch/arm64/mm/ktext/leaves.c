// SPDX-License-Identifier: GPL-2.0-only
/*
 * Last-level tables of the nodes that come and go with the modules they map.
 *
 * A node runs a module from its own memory through its own last-level table,
 * which it has as long as any replicated region lies in those 512 (or 2048, or
 * 8192) pages. The table is put in and taken out while others run modules, or
 * use vmalloc areas, that it maps as well.
 *
 * Invariants:
 *  I1 (always). When a counterpart is linked, and when it is unlinked, it
 *      translates as the home table does, but for the output address of pages
 *      that are read-only and equal. Neither is a change that requires
 *      break-before-make (Arm ARM, D8 "Using break-before-make when updating
 *      translation table entries").
 *  I2 (always). A counterpart that any walker may still use is in its slot, and
 *      so kept up to date.
 *
 * Locking: ktext_mutex; ktext_lock for changes of slots and of live tables.
 * TLB and barriers: DSB ISHST between the contents of a table and the entry
 *   that links it. Broadcast TLBI, of walk caches too, after a table is linked
 *   or unlinked, and before it is freed.
 * Failure: nothing stays linked that was not before.
 * See: Documentation/mm/kernel-replication.rst
 */

#include <linux/mutex.h>
#include <linux/slab.h>

#include <asm/tlbflush.h>

#include "ktext.h"

LIST_HEAD(ktext_leaves);

/* The table above the last level that translates @addr; it stays. */
static struct ktext_table *find_upper(unsigned long addr)
{
	struct ktext_table *table;

	list_for_each_entry(table, &ktext_tables, list) {
		if (table->level == KTEXT_LAST_LEVEL - 1 &&
		    addr >= table->start &&
		    addr - table->start < PTRS_PER_PTE * PMD_SIZE)
			return table;
	}

	return NULL;
}

static unsigned int upper_index(const struct ktext_table *upper,
				unsigned long addr)
{
	return (addr - upper->start) >> ktext_shift(upper->level);
}

static void link_counterparts(struct ktext_table *upper, unsigned int index)
{
	int nid;

	lockdep_assert_held(&ktext_lock);

	/* Partner: walkers, of which each sees the one table or the other. */
	for (nid = 0; nid < nr_node_ids; nid++)
		if (upper->copy[nid])
			WRITE_ONCE(upper->copy[nid][index],
				   ktext_node_entry(upper, index, nid));
	/* Before the flush that follows, so that no walk finds the other. */
	dsb(ishst);
}

static void free_leaf(struct ktext_table *leaf)
{
	int nid;

	for (nid = 0; nid < nr_node_ids; nid++)
		free_page((unsigned long)leaf->copy[nid]);
	kfree(leaf);
}

static struct ktext_table *alloc_leaf(const struct ktext_table *upper)
{
	struct ktext_table *leaf;
	struct page *page;
	int nid;

	leaf = kzalloc(struct_size(leaf, copy, nr_node_ids), GFP_KERNEL);
	if (!leaf)
		return NULL;

	for (nid = 0; nid < nr_node_ids; nid++) {
		if (!upper->copy[nid])
			continue;
		page = ktext_alloc_table(nid, 0);
		if (!page) {
			free_leaf(leaf);
			return NULL;
		}
		leaf->copy[nid] = page_address(page);
	}

	return leaf;
}

static int create_leaf(struct ktext_table *upper, unsigned long addr, u64 *home)
{
	struct ktext_table *leaf = alloc_leaf(upper);

	if (!leaf)
		return -ENOMEM;

	leaf->home = home;
	leaf->start = ALIGN_DOWN(addr, PMD_SIZE);
	leaf->level = KTEXT_LAST_LEVEL;
	leaf->nr_users = 1;

	list_add_tail(&leaf->list, &ktext_leaves);
	/* From here on stores of others reach it; what it lacks is filled in. */
	raw_spin_lock_irq(&ktext_lock);
	*ktext_slot(addr) = leaf;
	raw_spin_unlock_irq(&ktext_lock);
	ktext_sync_range(leaf->start, leaf->start + PMD_SIZE);

	raw_spin_lock_irq(&ktext_lock);
	link_counterparts(upper, upper_index(upper, addr));
	raw_spin_unlock_irq(&ktext_lock);
	/* Walk caches that hold the home table. */
	__flush_tlb_kernel_pgtable(leaf->start);

	return 0;
}

static u64 *home_leaf(const struct ktext_table *upper, unsigned long addr)
{
	u64 entry = READ_ONCE(upper->home[upper_index(upper, addr)]);

	if (!ktext_entry_is_table(entry, upper->level))
		return NULL;

	return phys_to_virt(__pte_to_phys(__pte(entry)));
}

static int get_leaf(unsigned long addr)
{
	struct ktext_table *leaf, *upper = find_upper(addr);
	u64 *home;

	if (!upper)
		return -ERANGE;
	home = home_leaf(upper, addr);
	if (!home)
		return -EOPNOTSUPP;

	leaf = *ktext_slot(addr);
	if (!leaf)
		return create_leaf(upper, addr, home);
	leaf->nr_users++;

	return 0;
}

static void put_leaf(unsigned long addr)
{
	struct ktext_table *upper = find_upper(addr);
	struct ktext_table **slot = ktext_slot(addr);
	struct ktext_table *leaf = *slot;
	unsigned int index = upper_index(upper, addr);
	int nid;

	/* Those that map the image stay, used by others or not. */
	if (--leaf->nr_users || ktext_keeps_table(leaf->home))
		return;

	raw_spin_lock_irq(&ktext_lock);
	for (nid = 0; nid < nr_node_ids; nid++)
		if (upper->copy[nid])
			/* Partner: walkers; I1. */
			WRITE_ONCE(upper->copy[nid][index],
				   READ_ONCE(upper->home[index]));
	/* Before the flush, so that no walk finds the counterpart again. */
	dsb(ishst);
	raw_spin_unlock_irq(&ktext_lock);
	__flush_tlb_kernel_pgtable(leaf->start);

	/* I2: only now has every walker let go of it. */
	raw_spin_lock_irq(&ktext_lock);
	*slot = NULL;
	raw_spin_unlock_irq(&ktext_lock);
	list_del(&leaf->list);
	free_leaf(leaf);
}

/* Give back the tables of [@start, @end). */
static void put_leaves(unsigned long start, unsigned long end)
{
	unsigned long addr;

	for (addr = ALIGN_DOWN(start, PMD_SIZE); addr < end; addr += PMD_SIZE)
		put_leaf(addr);
}

/* A run of contiguous entries would need a run of memory in each copy. */
static bool mapped_by_pages(unsigned long start, unsigned long end)
{
	unsigned long addr;
	pte_t *ptep, pte;

	for (addr = start; addr < end; addr += PAGE_SIZE) {
		ptep = virt_to_kpte(addr);
		pte = ptep ? __ptep_get(ptep) : __pte(0);
		if (!pte_valid(pte) || pte_cont(pte) || pte_write(pte))
			return false;
	}

	return true;
}

int arch_ktext_get_tables(unsigned long start, unsigned long end)
{
	unsigned long addr;
	int err;

	lockdep_assert_held(&ktext_mutex);

	/* What is stored to page tables elsewhere is not passed on. */
	if (start < ktext_reach.start || end > ktext_reach.end)
		return -ERANGE;

	for (addr = ALIGN_DOWN(start, PMD_SIZE); addr < end; addr += PMD_SIZE) {
		if (!find_upper(addr))
			return -ERANGE;
	}
	if (!mapped_by_pages(start, end))
		return -EOPNOTSUPP;

	for (addr = ALIGN_DOWN(start, PMD_SIZE); addr < end; addr += PMD_SIZE) {
		err = get_leaf(addr);
		if (err) {
			put_leaves(start, addr);
			return err;
		}
	}

	return 0;
}

void arch_ktext_put_tables(unsigned long start, unsigned long end)
{
	lockdep_assert_held(&ktext_mutex);

	put_leaves(start, end);
}

void arch_ktext_update(unsigned long start, unsigned long end)
{
	lockdep_assert_held(&ktext_mutex);

	ktext_sync_range(start, end);
	/* Until then some CPUs may use what was there before: it is as good. */
	flush_tlb_kernel_range(start, end);
}
