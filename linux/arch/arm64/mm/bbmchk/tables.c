// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which pages are tables of init_mm, and what each of them maps.
 *
 * The setters are given a pointer to a descriptor, by kernel and user code
 * alike. This finds out whether it lies in a table that swapper_pg_dir reaches,
 * and what address it translates.
 *
 * Invariants:
 *  I1 (bbmchk_lock free). A page is in the hash if a chain of table descriptors
 *      leads from swapper_pg_dir to it; those that did not fit are counted.
 *  I2 (always). A page leaves the hash before the descriptor that points to it
 *      goes, so before it can be anything but a table.
 *  I3 (always). A key is stored after its value and never while a chain that
 *      leads to another key is cut, so that a reader without the lock misses
 *      no key that does not change.
 *
 * Locking: bbmchk_lock for changes. bbmchk_is_kernel_table() reads without it.
 * TLB and barriers: smp_store_release() of the key publishes the value.
 * Failure: a table that finds no room is counted; what it holds goes unchecked.
 * See: Documentation/arch/arm64/bbm-check.rst
 */

#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/memblock.h>

#include <asm/fixmap.h>
#include <asm/sections.h>

#include "bbmchk.h"

#define KEY_FREE	0UL
#define KEY_DELETED	1UL

/* The value: what the table maps, its level, and flags below the page size. */
#define VALUE_LEVEL	GENMASK_ULL(2, 0)
/* Linked in several places: an entry has no one address. */
#define VALUE_SHARED	BIT_ULL(3)

/* Page frames 0 and 1 are never tables. */
struct slot {
	unsigned long key;
	u64 value;
};

static struct slot *slots __ro_after_init;
static unsigned int slots_shift __ro_after_init;

static unsigned int root_level __ro_after_init;

static unsigned long slot_mask(void)
{
	return (1UL << slots_shift) - 1;
}

static struct slot *find_slot(unsigned long pfn)
{
	unsigned long i = hash_long(pfn, slots_shift);
	unsigned long probes;

	/* Pages of memory that begins at 0, and no tables: see KEY_FREE. */
	if (pfn <= KEY_DELETED)
		return NULL;

	for (probes = 0; probes <= slot_mask(); probes++) {
		struct slot *slot = &slots[(i + probes) & slot_mask()];
		/* Partner of the release in insert_slot(). */
		unsigned long key = smp_load_acquire(&slot->key);

		if (key == pfn)
			return slot;
		if (key == KEY_FREE)
			return NULL;
	}

	return NULL;
}

/* At most 7/8 full: probing stays short, and ends. */
static bool insert_slot(unsigned long pfn, u64 value)
{
	unsigned long i = hash_long(pfn, slots_shift);

	if (bbmchk_stats.tables >= slot_mask() / 8 * 7)
		return false;

	while (slots[i].key != KEY_FREE && slots[i].key != KEY_DELETED)
		i = (i + 1) & slot_mask();

	slots[i].value = value;
	/* Partner of the acquire in find_slot(). */
	smp_store_release(&slots[i].key, pfn);
	bbmchk_stats.tables++;

	return true;
}

static void delete_slot(struct slot *slot)
{
	unsigned long i = slot - slots;

	WRITE_ONCE(slot->key, KEY_DELETED);
	bbmchk_stats.tables--;

	/* Where the chain ends behind it, no chain leads through it. */
	if (slots[(i + 1) & slot_mask()].key != KEY_FREE)
		return;
	while (slots[i].key == KEY_DELETED) {
		WRITE_ONCE(slots[i].key, KEY_FREE);
		i = (i - 1) & slot_mask();
	}
}

bool bbmchk_is_kernel_table(unsigned long pfn)
{
	return find_slot(pfn);
}

unsigned long bbmchk_entry_pfn(const void *entryp)
{
	unsigned long addr = __tag_reset((unsigned long)entryp);
	pte_t *ptep;

	if (__is_lm_address(addr))
		return PHYS_PFN(__lm_to_phys(addr));

	if (addr >= (unsigned long)KERNEL_START &&
	    addr < (unsigned long)KERNEL_END)
		return PHYS_PFN(__kimg_to_phys(addr));

	/* __create_pgd_mapping() writes tables through the fixmap. */
	if (addr >= FIXADDR_TOT_START && addr < FIXADDR_TOP) {
		ptep = virt_to_kpte(addr);
		if (ptep && pte_valid(__ptep_get(ptep)))
			return pte_pfn(__ptep_get(ptep));
	}

	return 0;
}

bool bbmchk_find_place(struct bbmchk_place *place, const void *entryp,
		       unsigned long pfn)
{
	struct slot *slot;

	lockdep_assert_held(&bbmchk_lock);

	slot = find_slot(pfn);
	if (!slot)
		return false;
	if (slot->value & VALUE_SHARED) {
		bbmchk_stats.missed_shared++;
		return false;
	}

	place->level = slot->value & VALUE_LEVEL;
	place->table = bbmchk_table(pfn);
	place->index = offset_in_page(entryp) / sizeof(u64);
	place->va = (slot->value & PAGE_MASK) +
		((unsigned long)place->index << bbmchk_shift(place->level));

	return true;
}

static void add_table(unsigned long pfn, unsigned long va, unsigned int level)
{
	struct slot *slot = find_slot(pfn);
	u64 *table = bbmchk_table(pfn);
	unsigned int i;

	if (slot) {
		if ((slot->value & PAGE_MASK) != va)
			slot->value |= VALUE_SHARED;
		return;
	}
	if (pfn <= KEY_DELETED || !insert_slot(pfn, va | level)) {
		bbmchk_stats.missed_tables++;
		return;
	}

	for (i = 0; level && i < BBMCHK_PTRS; i++)
		if (bbmchk_is_table(READ_ONCE(table[i]), level))
			add_table(bbmchk_child_pfn(table[i]),
				  va + ((unsigned long)i << bbmchk_shift(level)),
				  level - 1);
}

static void remove_table(unsigned long pfn, unsigned long va,
			 unsigned int level)
{
	struct slot *slot = find_slot(pfn);
	u64 *table = bbmchk_table(pfn);
	unsigned int i;

	/* A shared table stays known: others still point to it. */
	if (!slot || (slot->value & VALUE_SHARED))
		return;

	bbmchk_run_forget(table);
	delete_slot(slot);

	for (i = 0; level && i < BBMCHK_PTRS; i++)
		if (bbmchk_is_table(READ_ONCE(table[i]), level))
			remove_table(bbmchk_child_pfn(table[i]),
				     va + ((unsigned long)i << bbmchk_shift(level)),
				     level - 1);
}

void bbmchk_link(u64 desc, unsigned long va, unsigned int level)
{
	lockdep_assert_held(&bbmchk_lock);

	add_table(bbmchk_child_pfn(desc), va, level - 1);
}

void bbmchk_unlink(u64 desc, unsigned long va, unsigned int level)
{
	lockdep_assert_held(&bbmchk_lock);

	remove_table(bbmchk_child_pfn(desc), va, level - 1);
}

/*
 * The first address that the root table translates. With 64K pages it is laid
 * out for 52 bits whatever the CPU has; where levels are folded at run time, it
 * is a table of a lower level.
 */
static unsigned long __init root_va(void)
{
	if (root_level == CONFIG_PGTABLE_LEVELS - 1)
		return _PAGE_OFFSET(VA_BITS);

	return _PAGE_OFFSET(vabits_actual);
}

int __init bbmchk_tables_init(void)
{
	/* To map all of memory with pages. */
	unsigned long nr_tables = memblock_phys_mem_size() / PAGE_SIZE /
		BBMCHK_PTRS;

	BUILD_BUG_ON(BBMCHK_NR_LEVELS - 1 > VALUE_LEVEL);

	/* As many again for KASAN, for vmalloc, and for memory added later. */
	slots_shift = ilog2(roundup_pow_of_two(4 * nr_tables + SZ_8K));
	slots = memblock_alloc(sizeof(*slots) << slots_shift, PAGE_SIZE);
	if (!slots)
		return -ENOMEM;

	root_level = ARM64_HW_PGTABLE_LEVELS(vabits_actual) - 1;
	add_table(PHYS_PFN(__pa_symbol(swapper_pg_dir)), root_va(), root_level);

	return 0;
}
