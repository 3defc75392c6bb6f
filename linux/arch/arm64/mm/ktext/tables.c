// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page tables of a node: find the home tables, allocate counterparts.
 *
 * Entry code and software PAN get from a kernel table to the trampoline table
 * and to the empty table by adding to TTBR1, so the counterpart of the top
 * level is a group of three pages laid out as tramp_pg_dir, reserved_pg_dir
 * and swapper_pg_dir are.
 *
 * Invariants:
 *  I1 (always). The home tables in this list are never freed: they translate
 *      part of the image, or pud_free_pmd_page() leaves them alone. So the
 *      list, once complete, never changes.
 *  I2 (always). An entry of a counterpart that leads to no home table equals
 *      the home entry: tables that both reach are shared, not copied.
 *  I3 (always). A leaf that maps a node's own copy has the size and attributes
 *      of the home leaf.
 *  I4 (once made). The group of the top level is read-only in the linear map, as
 *      the home group is. Tables below are writable on base, too.
 *
 * Locking: the list is built by ktext_enable() before the hook of sync.c is
 *   registered, and read without a lock from then on. Meanwhile the mmap lock
 *   of init_mm keeps huge mappings from replacing, and freeing, what is found.
 * TLB and barriers: none; nothing here is live yet.
 * Failure: tables of the node are freed, the list stays if it is complete.
 * See: Documentation/mm/kernel-replication.rst
 */

#include <linux/gfp.h>
#include <linux/slab.h>

#include <asm/kernel-pgtable.h>
#include <asm/sections.h>

#include "ktext.h"

/* Of the group of pages at the top: trampoline, reserved, kernel. */
#define TOP_PAGES	3
#define TOP_ORDER	2

LIST_HEAD(ktext_tables);

static struct ktext_window window;

/* The window, and where modules may be. */
struct ktext_range ktext_reach;
struct ktext_table **ktext_slots;

void ktext_set_module_range(unsigned long start, unsigned long end)
{
	ktext_reach.start = start;
	ktext_reach.end = end;
}

static struct ktext_table *top_table(void)
{
	return list_first_entry(&ktext_tables, struct ktext_table, list);
}

bool ktext_is_top(const struct ktext_table *table)
{
	return table == top_table();
}

static int top_level(void)
{
	int level = KTEXT_LAST_LEVEL + 1 - CONFIG_PGTABLE_LEVELS;

	/* A kernel for LPA2 has one level less on a CPU without it. */
	if (IS_ENABLED(CONFIG_ARM64_LPA2) && vabits_actual != VA_BITS)
		level++;

	return level;
}

struct ktext_table *ktext_find_table(const u64 *home)
{
	struct ktext_table *table;

	/* Of these there are few: five to eight. */
	list_for_each_entry(table, &ktext_tables, list) {
		if (table->home == home)
			return table;
	}

	return NULL;
}

bool ktext_keeps_table(const void *home)
{
	return ktext_find_table(home);
}

struct ktext_table *ktext_next_table(const struct ktext_table *table,
				     unsigned int index, u64 entry)
{
	struct ktext_table *next, **slot;
	const u64 *home;

	if (!ktext_entry_is_table(entry, table->level))
		return NULL;

	home = phys_to_virt(__pte_to_phys(__pte(entry)));
	if (table->level + 1 < KTEXT_LAST_LEVEL)
		return ktext_find_table(home);

	slot = ktext_slot(ktext_entry_addr(table, index));
	next = slot ? *slot : NULL;

	return next && next->home == home ? next : NULL;
}

u64 ktext_node_entry(const struct ktext_table *table, unsigned int index,
		     int nid)
{
	u64 entry = READ_ONCE(table->home[index]);
	phys_addr_t phys = __pte_to_phys(__pte(entry));
	u64 attributes = entry ^ __phys_to_pte_val(phys);
	struct ktext_table *next;

	if (!(entry & PTE_VALID))
		return entry;

	if (ktext_entry_is_table(entry, table->level)) {
		next = ktext_next_table(table, index, entry);
		if (!next)
			return entry;
		phys = virt_to_phys(next->copy[nid]);
	} else if (!ktext_copy_phys(nid, ktext_entry_addr(table, index),
				    &phys)) {
		return entry;
	}

	return attributes | __phys_to_pte_val(phys);
}

/* Add a home table to the list, and those that it leads to. */
static int find_home_tables(u64 *home, int level, unsigned long start)
{
	/* Of the last level those of the image alone are for good. */
	bool next_is_last = level + 1 == KTEXT_LAST_LEVEL;
	unsigned long first = next_is_last ? window.start : ktext_reach.start;
	unsigned long end = next_is_last ? window.end : ktext_reach.end;
	unsigned int shift = ktext_shift(level);
	struct ktext_table *table;
	unsigned long addr, index;
	u64 entry;
	int err;

	mmap_assert_write_locked(&init_mm);

	table = kzalloc(struct_size(table, copy, nr_node_ids), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	table->home = home;
	table->level = level;
	table->start = start;
	list_add_tail(&table->list, &ktext_tables);

	table->stored = bitmap_zalloc(PTRS_PER_PTE, GFP_KERNEL);
	if (!table->stored)
		return -ENOMEM;

	if (level == KTEXT_LAST_LEVEL) {
		*ktext_slot(start) = table;
		return 0;
	}

	for (addr = max(start, first); addr < end;
	     addr = ALIGN_DOWN(addr, BIT(shift)) + BIT(shift)) {
		index = (addr - start) >> shift;
		if (index >= PTRS_PER_PTE)
			break;

		entry = READ_ONCE(home[index]);
		if (!ktext_entry_is_table(entry, level))
			continue;
		err = find_home_tables(phys_to_virt(__pte_to_phys(__pte(entry))),
				       level + 1, ktext_entry_addr(table, index));
		if (err)
			return err;
	}

	return 0;
}

static void forget_home_tables(void)
{
	struct ktext_table *table, *next;

	list_for_each_entry_safe(table, next, &ktext_tables, list) {
		list_del(&table->list);
		bitmap_free(table->stored);
		kfree(table);
	}
	kvfree(ktext_slots);
	ktext_slots = NULL;
}

/* Have all tables but those of the last level, where modules may be. */
static int populate_reach(void)
{
	unsigned long addr;
	p4d_t *p4d;
	pud_t *pud;

	for (addr = ALIGN_DOWN(ktext_reach.start, PUD_SIZE);
	     addr < ktext_reach.end; addr += PUD_SIZE) {
		p4d = p4d_alloc(&init_mm, pgd_offset_k(addr), addr);
		pud = p4d ? pud_alloc(&init_mm, p4d, addr) : NULL;
		if (!pud || !pmd_alloc(&init_mm, pud, addr))
			return -ENOMEM;
	}

	return 0;
}

static int find_all_home_tables(void)
{
	int err, level = top_level();
	unsigned int shift = ktext_shift(level);
	unsigned long index;

	arch_ktext_window(&window);
	/* Modules are placed around the image, unless it is too large. */
	if (ktext_reach.start > window.start || ktext_reach.end < window.end) {
		ktext_reach.start = window.start;
		ktext_reach.end = window.end;
	}
	/* And all that shares a last-level table with any of it. */
	ktext_reach.start = ALIGN_DOWN(ktext_reach.start, PMD_SIZE);
	ktext_reach.end = ALIGN(ktext_reach.end, PMD_SIZE);
	ktext_slots = kvcalloc((ktext_reach.end - ktext_reach.start) / PMD_SIZE,
			       sizeof(*ktext_slots), GFP_KERNEL);
	if (!ktext_slots)
		return -ENOMEM;

	/* Where the top level is shortened, pgd_index() is for another level. */
	index = level == KTEXT_LAST_LEVEL + 1 - CONFIG_PGTABLE_LEVELS ?
		pgd_index(ktext_reach.start) :
		(ktext_reach.start >> shift) % PTRS_PER_PTE;

	/*
	 * pud_free_pmd_page() is called with the lock held for reading, and
	 * leaves alone what is in the list once it is given up.
	 */
	mmap_write_lock(&init_mm);
	err = populate_reach();
	if (!err)
		err = find_home_tables((u64 *)lm_alias(swapper_pg_dir), level,
				       ALIGN_DOWN(ktext_reach.start, BIT(shift)) -
				       (index << shift));
	mmap_write_unlock(&init_mm);
	if (err)
		forget_home_tables();

	return err;
}

struct page *ktext_alloc_table(int nid, unsigned int order)
{
	return alloc_pages_node(nid, GFP_KERNEL | __GFP_THISNODE | __GFP_ZERO |
				__GFP_NOWARN | __GFP_NORETRY, order);
}

static void free_top_pages(u64 *kernel)
{
	unsigned int i;

	for (i = 0; i < TOP_PAGES; i++)
		free_page((unsigned long)kernel - i * PAGE_SIZE);
}

/* @kernelp is set to the kernel table of the group, the last page of it. */
static int alloc_top(int nid, u64 **kernelp)
{
	struct page *pages = ktext_alloc_table(nid, TOP_ORDER);
	u64 *kernel;
	int err;

	BUILD_BUG_ON(RESERVED_SWAPPER_OFFSET != PAGE_SIZE);
	BUILD_BUG_ON(TRAMP_SWAPPER_OFFSET != (TOP_PAGES - 1) * PAGE_SIZE);

	if (!pages)
		return -ENOMEM;
	split_page(pages, TOP_ORDER);
	__free_page(pages + TOP_PAGES);

	kernel = page_address(pages + TOP_PAGES - 1);
	/* Complete since core_initcall, and never changed again. */
	if (IS_ENABLED(CONFIG_UNMAP_KERNEL_AT_EL0))
		memcpy((void *)kernel - TRAMP_SWAPPER_OFFSET,
		       (void *)lm_alias(swapper_pg_dir) - TRAMP_SWAPPER_OFFSET,
		       PAGE_SIZE);

	/* I4 */
	err = arch_ktext_protect(page_address(pages), TOP_PAGES * PAGE_SIZE,
				 true);
	if (err)
		free_top_pages(kernel);
	else
		*kernelp = kernel;

	return err;
}

static void free_top(u64 *kernel)
{
	/* It was changeable a moment ago. */
	WARN_ON_ONCE(arch_ktext_protect((void *)kernel -
					(TOP_PAGES - 1) * PAGE_SIZE,
					TOP_PAGES * PAGE_SIZE, false));
	free_top_pages(kernel);
}

static int alloc_copy(struct ktext_table *table, int nid)
{
	struct page *page;

	if (ktext_is_top(table))
		return alloc_top(nid, &table->copy[nid]);

	page = ktext_alloc_table(nid, 0);
	if (!page)
		return -ENOMEM;
	table->copy[nid] = page_address(page);

	return 0;
}

static void destroy_tables(int nid)
{
	struct ktext_table *table;

	list_for_each_entry(table, &ktext_tables, list) {
		if (!table->copy[nid])
			continue;
		if (ktext_is_top(table))
			free_top(table->copy[nid]);
		else
			free_page((unsigned long)table->copy[nid]);
		table->copy[nid] = NULL;
	}
}

int arch_ktext_create_tables(int nid)
{
	struct ktext_table *table;
	int err;

	if (list_empty(&ktext_tables) && find_all_home_tables())
		return -ENOMEM;

	list_for_each_entry(table, &ktext_tables, list) {
		err = alloc_copy(table, nid);
		if (err) {
			destroy_tables(nid);
			return err;
		}
	}

	return 0;
}

size_t arch_ktext_table_bytes(int nid)
{
	struct ktext_table *table;
	size_t bytes = 0;

	list_for_each_entry(table, &ktext_tables, list) {
		if (table->copy[nid])
			bytes += (ktext_is_top(table) ? TOP_PAGES : 1) *
				 PAGE_SIZE;
	}
	list_for_each_entry(table, &ktext_leaves, list) {
		if (table->copy[nid])
			bytes += PAGE_SIZE;
	}

	return bytes;
}

phys_addr_t arch_ktext_root(int nid)
{
	if (list_empty(&ktext_tables) || !top_table()->copy[nid])
		return __pa_symbol(swapper_pg_dir);

	return virt_to_phys(top_table()->copy[nid]);
}
