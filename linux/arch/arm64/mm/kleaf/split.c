// SPDX-License-Identifier: GPL-2.0-only
/*
 * Split live kernel leaves so that part of one can change its attributes.
 *
 * Invariants:
 *  I1 (always). For every mapped byte a table walk meets the old leaf or a
 *      complete table that translates that byte identically.
 *  I2 (kleaf_lock free). The members of a contiguous run agree on the
 *      contiguous bit and in every attribute.
 *  I3 (always). Only a leaf that contains the boundary is split, one level at
 *      a time, so that what lies beside it keeps the largest leaf that fits.
 *  I4 (always). A table entry made here carries no PXNTable: the leaves carry
 *      PXN, and a table bit would outlive a change of a single page.
 *
 * Locking: kleaf_lock is held over each split. No allocation happens below
 *   it: a split that lacks a table gives up with -EAGAIN, the table is
 *   allocated with the lock dropped, and the split starts over. So it does
 *   while a CPU is started, which may turn out not to fit (phase.c).
 *	cpu_hotplug_lock, mem_hotplug_lock
 *	  kleaf_lock
 *	    stop_cpus_mutex (repaint.c)
 * TLB and barriers: DSB ISHST orders the contents of a table before the entry
 *   that publishes it. No break: needs BBM level 2 without conflict aborts,
 *   which kleaf_may_split() vouches for. No TLBI: old and new size give the
 *   same translation, both may be cached, and both go with a TLBI by address.
 *   The change that follows flushes what it changes.
 * Failure: translation and attributes unchanged; finished splits stay.
 * See: Documentation/arch/arm64/kernel-leaves.rst; Arm ARM DDI 0487, D8.16
 *   (support levels for changing table or block size).
 */

#include <kunit/static_stub.h>
#include <linux/gfp.h>

#include <asm/barrier.h>
#include <asm/pgalloc.h>

#include "kleaf.h"

/* See kleaf.h. */
DEFINE_MUTEX(kleaf_lock);

/**
 * struct kleaf_splitter - a range on its way to two leaf boundaries
 * @range: the range
 * @tables: where new tables come from
 */
struct kleaf_splitter {
	struct kleaf_range *range;
	struct kleaf_tables *tables;
};

void *kleaf_table_alloc(enum kleaf_table_sort sort)
{
	KUNIT_STATIC_STUB_REDIRECT(kleaf_table_alloc, sort);

	if (sort == KLEAF_TABLE_PMD_VMALLOC)
		return pmd_alloc_one(&init_mm, 0);

	return (void *)__get_free_page(GFP_PGTABLE_KERNEL);
}

bool kleaf_split_retry(int *ret, struct kleaf_tables *tables)
{
	enum kleaf_table_sort sort = tables->need;

	if (*ret != -EAGAIN)
		return false;

	if (tables->wait) {
		kleaf_wait_for_cpu();
		tables->wait = false;
		return true;
	}

	tables->table[sort] = kleaf_table_alloc(sort);
	if (!tables->table[sort])
		*ret = -ENOMEM;

	return tables->table[sort];
}

void kleaf_tables_free(struct kleaf_tables *tables)
{
	if (tables->table[KLEAF_TABLE_PTE])
		pte_free_kernel(&init_mm, tables->table[KLEAF_TABLE_PTE]);
	if (tables->table[KLEAF_TABLE_PMD_VMALLOC])
		pmd_free(&init_mm, tables->table[KLEAF_TABLE_PMD_VMALLOC]);
	free_page((unsigned long)tables->table[KLEAF_TABLE_PMD_LINEAR]);

	memset(tables->table, 0, sizeof(tables->table));

	while (tables->spare) {
		void *table = tables->spare;

		tables->spare = *(void **)table;
		free_page((unsigned long)table);
	}
}

bool kleaf_tables_add_spare(struct kleaf_tables *tables)
{
	void *table = kleaf_table_alloc(KLEAF_TABLE_PTE);

	if (!table)
		return false;

	*(void **)table = tables->spare;
	tables->spare = table;
	return true;
}

/* Take a table out of @tables, or note that one of this sort is missing. */
static void *take_table(struct kleaf_tables *tables, enum kleaf_table_sort sort)
{
	void *table = tables->table[sort];

	if (!table && tables->spare && sort != KLEAF_TABLE_PMD_VMALLOC) {
		/* The first word of a spare table points to the next. */
		table = tables->spare;
		tables->spare = *(void **)table;
		return table;
	}

	if (!table)
		tables->need = sort;
	tables->table[sort] = NULL;

	return table;
}

/* Replace a PUD leaf by a table of CONT_PMD leaves. */
static int split_pud(pud_t *pudp, unsigned long addr,
		     struct kleaf_tables *tables)
{
	pud_t pud = READ_ONCE(*pudp);
	pgprot_t prot = __pgprot(pgprot_val(pud_pgprot(pud)) | PTE_CONT);
	unsigned long pfn = pud_pfn(pud);
	pmd_t *pmdp = take_table(tables, kleaf_in_linear_map(addr) ?
				 KLEAF_TABLE_PMD_LINEAR :
				 KLEAF_TABLE_PMD_VMALLOC);
	unsigned int i;

	if (!pmdp)
		return -EAGAIN;

	for (i = 0; i < PTRS_PER_PMD; i++, pfn += PMD_SIZE >> PAGE_SHIFT)
		WRITE_ONCE(pmdp[i], pfn_pmd(pfn, prot));

	/* Order the table's contents before the entry that publishes it. */
	dsb(ishst);
	pud_populate(&init_mm, pudp, pmdp);

	kleaf_account_split(addr, KLEAF_KIND_PUD);
	return KLEAF_WALK_AGAIN;
}

/* Replace a PMD leaf that is in no contiguous run by a table of CONT_PTEs. */
static int split_pmd(pmd_t *pmdp, unsigned long addr,
		     struct kleaf_tables *tables)
{
	pmd_t pmd = READ_ONCE(*pmdp);
	/* A page has the table bit where a block has not; invalid ones too. */
	pgprot_t prot = __pgprot(pgprot_val(pmd_pgprot(pmd)) | PTE_TABLE_BIT |
				 PTE_CONT);
	unsigned long pfn = pmd_pfn(pmd);
	pte_t *ptep = take_table(tables, KLEAF_TABLE_PTE);
	unsigned int i;

	if (!ptep)
		return -EAGAIN;

	for (i = 0; i < PTRS_PER_PTE; i++, pfn++)
		WRITE_ONCE(ptep[i], pfn_pte(pfn, prot));

	/* Order the table's contents before the entry that publishes it. */
	dsb(ishst);
	pmd_populate_kernel(&init_mm, pmdp, ptep);

	kleaf_account_split(addr, KLEAF_KIND_PMD);
	return KLEAF_WALK_AGAIN;
}

/* Clear the contiguous bit of the whole run that @entryp belongs to. */
static void split_cont(void *entryp, unsigned long addr, enum kleaf_level level)
{
	unsigned int nr = level == KLEAF_PMD ? CONT_PMDS : CONT_PTES;
	u64 *first = PTR_ALIGN_DOWN((u64 *)entryp, nr * sizeof(u64));
	unsigned int i;

	for (i = 0; i < nr; i++)
		kleaf_set_entry(&first[i], READ_ONCE(first[i]) & ~PTE_CONT,
				level);

	/*
	 * Every member is visible to walkers before the first of them changes
	 * an attribute, so that no walk sees a run whose members disagree.
	 */
	dsb(ishst);
	kleaf_account_split(addr, kleaf_kind(level, PTE_CONT));
}

/* Split the leaf that the first entry of a run belongs to, by one level. */
static int split_leaf(const struct kleaf_run *run, unsigned long addr,
		      struct kleaf_tables *tables)
{
	bool cont = kleaf_run_val(run, 0) & PTE_CONT;
	int ret;

	ret = kleaf_may_split();
	tables->wait = ret == -EAGAIN;
	if (ret)
		return ret;

	if (cont && run->level != KLEAF_PUD) {
		split_cont(run->entryp, addr, run->level);
		return KLEAF_WALK_AGAIN;
	}

	if (run->level == KLEAF_PUD)
		return split_pud(run->entryp, addr, tables);

	return split_pmd(run->entryp, addr, tables);
}

/*
 * Is @addr inside the leaf that @val belongs to? An empty PTE is no leaf.
 * @addr is one end of what the entry maps, or lies in between.
 */
static bool cuts_leaf(unsigned long addr, enum kleaf_level level, u64 val)
{
	return val && !IS_ALIGNED(addr, kleaf_kind_size(kleaf_kind(level, val)));
}

/*
 * Split the leaves around the two ends of the range by one level, and have the
 * walk come back until the ends are not inside of leaves.
 */
static int split_run(const struct kleaf_run *run, void *data)
{
	struct kleaf_splitter *split = data;
	struct kleaf_range *range = split->range;
	unsigned long size = kleaf_level_size(run->level);
	unsigned int last = run->nr_entries - 1;
	unsigned long run_end = run->addr + run->nr_entries * size;

	if (run->addr <= range->start &&
	    cuts_leaf(range->start, run->level, kleaf_run_val(run, 0)))
		return split_leaf(run, range->start, split->tables);

	if (run_end >= range->end &&
	    cuts_leaf(range->end, run->level, kleaf_run_val(run, last))) {
		struct kleaf_run end_run = {
			.addr = run_end - size,
			.entryp = (u64 *)run->entryp + last,
			.nr_entries = 1,
			.level = run->level,
		};

		return split_leaf(&end_run, end_run.addr, split->tables);
	}

	if (run->addr == range->start && run_end == range->end) {
		range->entryp = run->entryp;
		range->level = run->level;
	}

	return 0;
}

static const struct kleaf_walk_ops split_ops = {
	.run = split_run,
};

int kleaf_split_locked(struct kleaf_range *range, struct kleaf_tables *tables)
{
	struct kleaf_splitter split = {
		.range = range,
		.tables = tables,
	};

	kleaf_assert_locked();

	range->entryp = NULL;
	return kleaf_walk(range->start, range->end, &split_ops, &split);
}

/* Split every leaf of a run, down to pages. */
static int split_to_pages_run(const struct kleaf_run *run, void *data)
{
	struct kleaf_tables *tables = data;
	unsigned int i;

	if (run->level != KLEAF_PTE)
		return split_leaf(run, run->addr, tables);

	for (i = 0; i < run->nr_entries; i++) {
		struct kleaf_run one = {
			.addr = run->addr + i * PAGE_SIZE,
			.entryp = (u64 *)run->entryp + i,
			.nr_entries = 1,
			.level = KLEAF_PTE,
		};
		int ret;

		if (!(kleaf_run_val(&one, 0) & PTE_CONT))
			continue;

		ret = split_leaf(&one, one.addr, tables);
		if (ret < 0)
			return ret;
	}

	return 0;
}

static const struct kleaf_walk_ops split_to_pages_ops = {
	.run = split_to_pages_run,
};

int kleaf_split_to_pages_locked(unsigned long start, unsigned long end,
				struct kleaf_tables *tables)
{
	kleaf_assert_locked();

	return kleaf_walk(start, end, &split_to_pages_ops, tables);
}

static int split_to_pages(struct kleaf_range *range, struct kleaf_tables *tables)
{
	return kleaf_split_to_pages_locked(range->start, range->end, tables);
}

typedef int (*split_fn)(struct kleaf_range *range, struct kleaf_tables *tables);

static int split_unlocked(unsigned long start, unsigned long end, split_fn fn)
{
	struct kleaf_range range = { .start = start, .end = end };
	struct kleaf_tables tables = {};
	int ret;

	might_sleep();

	if (start >= end || !PAGE_ALIGNED(start | end))
		return -EINVAL;

	do {
		mutex_lock(&kleaf_lock);
		ret = fn(&range, &tables);
		mutex_unlock(&kleaf_lock);
	} while (kleaf_split_retry(&ret, &tables));
	kleaf_tables_free(&tables);

	return ret;
}

int kleaf_split(unsigned long start, unsigned long end)
{
	return split_unlocked(start, end, kleaf_split_locked);
}

int kleaf_split_to_pages(unsigned long start, unsigned long end)
{
	return split_unlocked(start, end, split_to_pages);
}
