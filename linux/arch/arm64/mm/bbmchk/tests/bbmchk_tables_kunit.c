// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the break-before-make checker: leaves that become tables and
 * back, and tables that are replaced or freed.
 *
 * Run with
 *	make test SUITES=kunit_bbmchk
 * or, in a kernel tree that has this directory,
 *	./tools/testing/kunit/kunit.py run --arch=arm64 \
 *		--cross_compile=aarch64-linux-gnu- \
 *		--kunitconfig=arch/arm64/mm/bbmchk/tests
 */

#include <linux/gfp.h>

#include <asm/fixmap.h>
#include <asm/tlbflush.h>

#include "area.h"

/* The levels of a leaf that may become a table. */
static const unsigned int leaf_levels[] = { 1, 2 };

static void leaf_level_desc(const unsigned int *level, char *desc)
{
	strscpy(desc, *level == 1 ? "pmd" : "pud", KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(leaf_level, leaf_levels, leaf_level_desc);

/**
 * struct block - a leaf, and a table that maps the same
 * @area: where
 * @level: level of the leaf
 * @leaf: its descriptor
 * @table: descriptor of the table
 */
struct block {
	struct area *area;
	unsigned int level;
	u64 leaf;
	u64 table;
};

static struct block prepare(struct kunit *test, unsigned int level)
{
	struct area *area = test->priv;
	struct block block = { .area = area, .level = level };

	if (level > 1)
		area_use_pud(test);
	block.leaf = leaf_desc(area, level, 0, 0, 0);
	block.table = table_desc(area->table);
	fill_table(area->table, level - 1, block.leaf);

	return block;
}

/* The same at level 2, where a size may change live: what does not fit then? */
static struct block prepare_bbm2(struct kunit *test)
{
	const unsigned int *level = test->param_value;
	struct block block = prepare(test, *level);

	area_set_level(block.area, 2);

	return block;
}

static void expect_address(struct kunit *test, const struct block *block,
			   enum bbmchk_rule rule)
{
	expect_report(test, block->area, rule, BBMCHK_ADDR, block->level,
		      block->area->va);
}

/* Changes of size between a leaf and a table. */

static void size_changes(struct kunit *test, bool from_table, bool with_break)
{
	const unsigned int *level = test->param_value;
	struct block block = prepare(test, *level);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bbm_levels); i++) {
		area_set_level(block.area, bbm_levels[i]);
		make_first(block.area, block.level,
			   from_table ? block.table : block.leaf);
		if (with_break)
			store_first(block.area, block.level, 0);
		expect_none(test, block.area);

		store_first(block.area, block.level,
			    from_table ? block.leaf : block.table);
		if (with_break && from_table)
			/* Its leaves are not looked at, it is gone. */
			expect_address(test, &block, BBMCHK_RULE_NO_FLUSH);
		else
			expect_change(test, block.area, with_break ?
				      BBMCHK_RULE_NO_FLUSH :
				      BBMCHK_RULE_NO_BREAK,
				      BBMCHK_SIZE, block.level);
	}
}

static void leaf_to_table_live(struct kunit *test)
{
	size_changes(test, false, false);
}

static void leaf_to_table_without_flush(struct kunit *test)
{
	size_changes(test, false, true);
}

static void table_to_leaf_live(struct kunit *test)
{
	size_changes(test, true, false);
}

static void table_to_leaf_without_flush_is_reported(struct kunit *test)
{
	size_changes(test, true, true);
}

/* One entry of the table is of other memory than the leaf. */
static void size_changes_to_other(struct kunit *test, bool from_table)
{
	struct block block = prepare_bbm2(test);
	u64 *entries = (u64 *)block.area->table;

	WRITE_ONCE(entries[7], entries[8]);
	make_first(block.area, block.level,
		   from_table ? block.table : block.leaf);
	store_first(block.area, block.level,
		    from_table ? block.leaf : block.table);
	expect_address(test, &block, BBMCHK_RULE_NO_BREAK);
}

static void leaf_to_other_table_live_is_reported(struct kunit *test)
{
	size_changes_to_other(test, false);
}

static void other_table_to_leaf_live_is_reported(struct kunit *test)
{
	size_changes_to_other(test, true);
}

/* Permissions may differ, even between the two sizes. */
static void leaf_to_readonly_table_live_is_clean(struct kunit *test)
{
	struct block block = prepare_bbm2(test);

	fill_table(block.area->table, block.level - 1,
		   leaf_desc(block.area, block.level, 0, RO_SET, RO_CLEAR));
	make_first(block.area, block.level, block.leaf);
	store_first(block.area, block.level, block.table);
	expect_none(test, block.area);
}

static void block_to_table_with_hole_then_filled_is_reported(struct kunit *test)
{
	struct block block = prepare(test, 1);
	struct area *area = block.area;

	area_set_level(area, 2);
	store_pte(area->table + 7, 0);
	make_first(area, 1, block.leaf);
	link_table(area);
	expect_none(test, area);
	store_pte(area->ptep + 7, pte_val(area->table[8]));
	expect_report(test, area, BBMCHK_RULE_NO_FLUSH, BBMCHK_ADDR, 0,
		      area->va + 7 * PAGE_SIZE);
}

/*
 * After a table gave way to a block without a flush, TLBs may hold each of its
 * pages: one address is not enough any more.
 */
static void block_made_from_table_needs_full_flush(struct kunit *test)
{
	struct block block = prepare(test, 1);
	struct area *area = block.area;
	unsigned int i;

	area_set_level(area, 2);
	for (i = 0; i < 2; i++) {
		make_first(area, 1, block.table);
		store_pmd(area, 0, block.leaf);
		store_pmd(area, 0, 0);
		__flush_tlb_kernel_pgtable(area->va);
		if (i)
			flush_tlb_kernel_range(area->va, area->va + PMD_SIZE);
		store_pmd(area, 0, block_desc(area, 1));
		if (i)
			expect_none(test, area);
		else
			expect_address(test, &block, BBMCHK_RULE_NO_FLUSH);
	}
}

/* A block is one entry of the TLB: any address of it will do. */
static void block_is_covered_by_flush_of_one_page(struct kunit *test)
{
	struct area *area = test->priv;

	store_pmd(area, 0, block_desc(area, 0));
	store_pmd(area, 0, 0);
	flush_page(area, 3);
	store_pmd(area, 0, block_desc(area, 1));
	expect_none(test, area);
}

static void block_over_unflushed_page_is_reported(struct kunit *test)
{
	struct area *area = test->priv;

	break_page(area, 5);
	store_pmd(area, 0, 0);
	__flush_tlb_kernel_pgtable(area->va);
	store_pmd(area, 0, block_desc(area, 0));
	expect_report(test, area, BBMCHK_RULE_NO_FLUSH, BBMCHK_SIZE, 1,
		      area->va);
}

static void table_over_unflushed_block_is_reported(struct kunit *test)
{
	struct area *area = test->priv;

	store_pmd(area, 0, block_desc(area, 0));
	store_pmd(area, 0, 0);
	store_pmd(area, 0, table_desc(area->table));
	expect_report(test, area, BBMCHK_RULE_NO_FLUSH, BBMCHK_SIZE, 1,
		      area->va);
}

/* Two levels apart, linked together with the table in between. */
static void pages_over_unflushed_pud_leaf_are_reported(struct kunit *test)
{
	struct area *area = test->priv;
	u64 *pmds = (u64 *)area->other_table;

	area_use_pud(test);
	area_set_level(area, 2);
	make_first(area, 2, leaf_desc(area, 2, 0, 0, 0));
	store_first(area, 2, 0);
	store_first(area, 2, table_desc(area->other_table));
	expect_none(test, area);

	/* Far enough away to lie outside of what the PUD leaf mapped. */
	fill_table(area->table, 0, leaf_desc(area, 1, PTRS_PER_PMD, 0, 0));
	set_pmd((pmd_t *)&pmds[3], __pmd(table_desc(area->table)));
	expect_report(test, area, BBMCHK_RULE_NO_FLUSH, BBMCHK_ADDR, 1,
		      area->va + 3 * PMD_SIZE);
}

static void pages_over_unflushed_block_are_reported(struct kunit *test)
{
	struct area *area = test->priv;
	u64 *pmds = (u64 *)area->other_table;

	area_use_pud(test);
	area_set_level(area, 2);
	WRITE_ONCE(pmds[3], leaf_desc(area, 1, 0, 0, 0));
	make_first(area, 2, table_desc(area->other_table));
	set_pmd((pmd_t *)&pmds[3], __pmd(0));
	store_first(area, 2, 0);
	/* The table is flushed, and not the block that was in it. */
	__flush_tlb_kernel_pgtable(area->va);
	expect_none(test, area);

	fill_table(area->table, 0, leaf_desc(area, 1, 1, 0, 0));
	WRITE_ONCE(pmds[3], table_desc(area->table));
	store_first(area, 2, table_desc(area->other_table));
	expect_report(test, area, BBMCHK_RULE_NO_FLUSH, BBMCHK_ADDR, 2,
		      area->va);
}

/* Tables: replaced, freed. */

static void table_replaced_live_is_reported(struct kunit *test)
{
	struct area *area = test->priv;

	store_pte(area->other_table, page_desc(area, 0, 0, 0));
	link_table(area);
	store_pmd(area, 0, table_desc(area->other_table));
	expect_report(test, area, BBMCHK_RULE_NO_BREAK, BBMCHK_ADDR, 1,
		      area->va);
}

static void table_replaced_by_equal_one_is_clean(struct kunit *test)
{
	struct area *area = test->priv;

	store_pte(area->table, page_desc(area, 0, 0, 0));
	store_pte(area->other_table, page_desc(area, 0, 0, 0));
	link_table(area);
	store_pmd(area, 0, table_desc(area->other_table));
	expect_none(test, area);
}

static void table_replaced_before_flush_is_reported(struct kunit *test)
{
	struct area *area = test->priv;

	link_table(area);
	store_pmd(area, 0, 0);
	store_pmd(area, 0, table_desc(area->other_table));
	expect_report(test, area, BBMCHK_RULE_NO_FLUSH, BBMCHK_ADDR, 1,
		      area->va);
}

static void table_replaced_after_flush_is_clean(struct kunit *test)
{
	struct area *area = test->priv;

	link_table(area);
	store_pmd(area, 0, 0);
	__flush_tlb_kernel_pgtable(area->va + PMD_SIZE / 2);
	store_pmd(area, 0, table_desc(area->other_table));
	expect_none(test, area);
}

/* Its leaves stay cached if nobody flushes them, each by its own address. */
static void table_with_leaves_needs_full_flush(struct kunit *test)
{
	struct block block = prepare(test, 1);
	struct area *area = block.area;
	unsigned int i, part;

	for (part = 0; part < 2; part++) {
		make_first(area, 1, block.table);
		store_pmd(area, 0, 0);
		__flush_tlb_kernel_pgtable(area->va);
		for (i = 0; i < PTRS_PER_PTE - !part; i++)
			flush_page(area, i);
		store_pmd(area, 0, table_desc(area->other_table));
		if (part)
			expect_none(test, area);
		else
			expect_address(test, &block, BBMCHK_RULE_NO_FLUSH);
	}
}

/**
 * struct free_case - a table is freed after it was unlinked
 * @name: for people
 * @flush: what is flushed in between
 * @covers: that is enough
 */
struct free_case {
	const char *name;
	void (*flush)(struct area *area);
	bool covers;
};

static void flush_nothing(struct area *area)
{
}

/* flush_tlb_kernel_range() leaves copies of table descriptors alone. */
static void flush_leaves(struct area *area)
{
	flush_tlb_kernel_range(area->va, area->va + PMD_SIZE / 2);
}

static void flush_other_walk(struct area *area)
{
	__flush_tlb_kernel_pgtable(area->va + PMD_SIZE);
}

static void flush_walk(struct area *area)
{
	__flush_tlb_kernel_pgtable(area->va + PMD_SIZE - PAGE_SIZE);
}

static void flush_all(struct area *area)
{
	flush_tlb_all();
}

static const struct free_case free_cases[] = {
	{ "nothing", flush_nothing, false },
	{ "leaves", flush_leaves, false },
	{ "other_walk", flush_other_walk, false },
	{ "walk", flush_walk, true },
	{ "all", flush_all, true },
};

KUNIT_ARRAY_PARAM_DESC(free, free_cases, name);

/* The page is not given back for real: only the checker is told that it is. */
static void free_table(struct area *area)
{
	arch_free_page(virt_to_page(area->table), 0);
}

static void table_freed_after_flush(struct kunit *test)
{
	const struct free_case *param = test->param_value;
	struct area *area = test->priv;

	link_table(area);
	store_pmd(area, 0, 0);
	param->flush(area);
	free_table(area);
	if (param->covers)
		expect_none(test, area);
	else
		expect_report(test, area, BBMCHK_RULE_FREED_UNFLUSHED,
			      BBMCHK_SAME, 1, area->va);
}

/* A table below one that is unlinked goes with it. */
static void table_below_freed_before_flush_is_reported(struct kunit *test)
{
	struct area *area = test->priv;
	u64 *pmds = (u64 *)area->other_table;

	area_use_pud(test);
	WRITE_ONCE(pmds[3], table_desc(area->table));
	make_first(area, 2, table_desc(area->other_table));
	store_first(area, 2, 0);
	free_table(area);
	expect_report(test, area, BBMCHK_RULE_FREED_UNFLUSHED, BBMCHK_SAME, 1,
		      area->va + 3 * PMD_SIZE);

	make_first(area, 2, table_desc(area->other_table));
	store_first(area, 2, 0);
	__flush_tlb_kernel_pgtable(area->va + 3 * PMD_SIZE);
	free_table(area);
	expect_none(test, area);
}

static void table_freed_while_linked_is_reported(struct kunit *test)
{
	struct area *area = test->priv;

	link_table(area);
	free_table(area);
	expect_report(test, area, BBMCHK_RULE_FREED_LINKED, BBMCHK_SAME, 0,
		      area->va);
}

static void table_never_linked_is_freed_clean(struct kunit *test)
{
	free_table(test->priv);
	expect_none(test, test->priv);
}

/*
 * Tables that are written through the fixmap, as at boot and at memory hot-add.
 * Nothing else uses these slots while the test runs, the last CPU to be onlined
 * and the last memory having come long before.
 */
static void table_in_fixmap_is_found(struct kunit *test)
{
	static const enum fixed_addresses slots[] = { FIX_PTE, FIX_PGD };
	struct area *area = test->priv;
	phys_addr_t table = __pa(area->table);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		void *entryp = (void *)__fix_to_virt(slots[i]);

		__set_fixmap(slots[i], table, FIXMAP_PAGE_NORMAL);
		KUNIT_EXPECT_EQ(test, bbmchk_entry_pfn(entryp),
				PHYS_PFN(table));
		__set_fixmap(slots[i], 0, FIXMAP_PAGE_CLEAR);
		KUNIT_EXPECT_EQ(test, bbmchk_entry_pfn(entryp), 0);
	}
}

static struct kunit_case bbmchk_tables_cases[] = {
	KUNIT_CASE_PARAM(leaf_to_table_live, leaf_level_gen_params),
	KUNIT_CASE_PARAM(leaf_to_table_without_flush, leaf_level_gen_params),
	KUNIT_CASE_PARAM(table_to_leaf_live, leaf_level_gen_params),
	KUNIT_CASE_PARAM(table_to_leaf_without_flush_is_reported,
			 leaf_level_gen_params),
	KUNIT_CASE_PARAM(leaf_to_other_table_live_is_reported,
			 leaf_level_gen_params),
	KUNIT_CASE_PARAM(other_table_to_leaf_live_is_reported,
			 leaf_level_gen_params),
	KUNIT_CASE_PARAM(leaf_to_readonly_table_live_is_clean,
			 leaf_level_gen_params),
	KUNIT_CASE(block_to_table_with_hole_then_filled_is_reported),
	KUNIT_CASE(block_made_from_table_needs_full_flush),
	KUNIT_CASE(block_is_covered_by_flush_of_one_page),
	KUNIT_CASE(block_over_unflushed_page_is_reported),
	KUNIT_CASE(table_over_unflushed_block_is_reported),
	KUNIT_CASE(pages_over_unflushed_pud_leaf_are_reported),
	KUNIT_CASE(pages_over_unflushed_block_are_reported),
	KUNIT_CASE(table_replaced_live_is_reported),
	KUNIT_CASE(table_replaced_by_equal_one_is_clean),
	KUNIT_CASE(table_replaced_before_flush_is_reported),
	KUNIT_CASE(table_replaced_after_flush_is_clean),
	KUNIT_CASE(table_with_leaves_needs_full_flush),
	KUNIT_CASE_PARAM(table_freed_after_flush, free_gen_params),
	KUNIT_CASE(table_below_freed_before_flush_is_reported),
	KUNIT_CASE(table_freed_while_linked_is_reported),
	KUNIT_CASE(table_never_linked_is_freed_clean),
	KUNIT_CASE(table_in_fixmap_is_found),
	{}
};

static struct kunit_suite bbmchk_tables_suite = {
	.name = "bbmchk_tables",
	.init = area_init,
	.test_cases = bbmchk_tables_cases,
};

kunit_test_suite(bbmchk_tables_suite);

MODULE_DESCRIPTION("Tests of the break-before-make checker: tables");
MODULE_LICENSE("GPL");
