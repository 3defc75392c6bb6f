// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the break-before-make checker: blocks that
 * become tables and back, and tables that are replaced or freed.
 *
 * Run with
 *	make test SUITES=kunit-bbmchk
 * or, in a kernel tree that has this directory,
 *	./tools/testing/kunit/kunit.py run --arch=arm64 \
 *		--cross_compile=aarch64-linux-gnu- \
 *		--kunitconfig=arch/arm64/mm/bbmchk/tests
 */

#include <linux/gfp.h>

#include <asm/tlbflush.h>

#include "area.h"

/* Changes of size between a block and a table. */

/* Fill a detached table with what a block maps. */
static void fill_table(pte_t *table, u64 block)
{
	unsigned int i;

	for (i = 0; i < PTRS_PER_PTE; i++)
		store_pte(table + i, bbmchk_sub(block, 1, 0, i * PAGE_SIZE) |
			  PTE_TABLE_BIT);
}

static void block_to_table_live(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	fill_table(area->table, block_desc(area, 0));
	for (i = 0; i < ARRAY_SIZE(bbm_levels); i++) {
		area_set_level(area, bbm_levels[i]);
		store_pmd(area, 0, block_desc(area, 0));
		expect_none(test, area);
		store_pmd(area, 0, table_desc(area->table));
		if (bbm_levels[i] < 2)
			expect_report(test, area, BBMCHK_RULE_NO_BREAK,
				      BBMCHK_SIZE, 1, area->va);
		else
			expect_none(test, area);

		store_pmd(area, 0, 0);
		flush_tlb_all();
	}
}

static void block_to_other_table_live_is_reported(struct kunit *test)
{
	struct area *area = test->priv;

	area_set_level(area, 2);
	fill_table(area->table, block_desc(area, 0));
	store_pte(area->table + 7, pte_val(area->table[8]));
	store_pmd(area, 0, block_desc(area, 0));
	store_pmd(area, 0, table_desc(area->table));
	expect_report(test, area, BBMCHK_RULE_NO_BREAK, BBMCHK_ADDR, 1,
		      area->va);
}

static void block_to_table_with_hole_then_filled_is_reported(struct kunit *test)
{
	struct area *area = test->priv;

	area_set_level(area, 2);
	fill_table(area->table, block_desc(area, 0));
	store_pte(area->table + 7, 0);
	store_pmd(area, 0, block_desc(area, 0));
	link_table(area);
	expect_none(test, area);
	store_pte(area->ptep + 7, pte_val(area->table[8]));
	expect_report(test, area, BBMCHK_RULE_NO_FLUSH, BBMCHK_ADDR, 0,
		      area->va + 7 * PAGE_SIZE);
}

static void table_to_block_live(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	fill_table(area->table, block_desc(area, 0));
	for (i = 0; i < ARRAY_SIZE(bbm_levels); i++) {
		area_set_level(area, bbm_levels[i]);
		store_pmd(area, 0, table_desc(area->table));
		expect_none(test, area);
		store_pmd(area, 0, block_desc(area, 0));
		if (bbm_levels[i] < 2)
			expect_report(test, area, BBMCHK_RULE_NO_BREAK,
				      BBMCHK_SIZE, 1, area->va);
		else
			expect_none(test, area);

		store_pmd(area, 0, 0);
		flush_tlb_all();
	}
}

/*
 * After a table gave way to a block without a flush, TLBs may hold each of its
 * pages: one address is not enough any more.
 */
static void block_made_from_table_needs_full_flush(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	area_set_level(area, 2);
	fill_table(area->table, block_desc(area, 0));
	for (i = 0; i < 2; i++) {
		store_pmd(area, 0, table_desc(area->table));
		store_pmd(area, 0, block_desc(area, 0));
		store_pmd(area, 0, 0);
		__flush_tlb_kernel_pgtable(area->va);
		if (i)
			flush_tlb_kernel_range(area->va, area->va + PMD_SIZE);
		store_pmd(area, 0, block_desc(area, 1));
		if (!i)
			expect_report(test, area, BBMCHK_RULE_NO_FLUSH,
				      BBMCHK_ADDR, 1, area->va);
		else
			expect_none(test, area);

		store_pmd(area, 0, 0);
		flush_tlb_all();
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
	struct area *area = test->priv;
	unsigned int i;

	fill_table(area->table, block_desc(area, 0));
	link_table(area);
	store_pmd(area, 0, 0);
	__flush_tlb_kernel_pgtable(area->va);
	store_pmd(area, 0, table_desc(area->other_table));
	expect_report(test, area, BBMCHK_RULE_NO_FLUSH, BBMCHK_ADDR, 1,
		      area->va);

	store_pmd(area, 0, 0);
	flush_tlb_all();
	link_table(area);
	store_pmd(area, 0, 0);
	__flush_tlb_kernel_pgtable(area->va);
	for (i = 0; i < PTRS_PER_PTE; i++)
		flush_page(area, i);
	store_pmd(area, 0, table_desc(area->other_table));
	expect_none(test, area);
}

/* The page is not given back for real: only the checker is told that it is. */
static void free_table(struct area *area)
{
	arch_free_page(virt_to_page(area->table), 0);
}

static void table_freed_while_linked_is_reported(struct kunit *test)
{
	struct area *area = test->priv;

	link_table(area);
	free_table(area);
	expect_report(test, area, BBMCHK_RULE_FREED_LINKED, BBMCHK_SAME, 0,
		      area->va);
}

static void table_freed_before_flush_is_reported(struct kunit *test)
{
	struct area *area = test->priv;

	link_table(area);
	store_pmd(area, 0, 0);
	free_table(area);
	expect_report(test, area, BBMCHK_RULE_FREED_UNFLUSHED, BBMCHK_SAME, 1,
		      area->va);
}

/* flush_tlb_kernel_range() leaves copies of table descriptors alone. */
static void table_freed_after_flush_of_leaves_is_reported(struct kunit *test)
{
	struct area *area = test->priv;

	link_table(area);
	store_pmd(area, 0, 0);
	flush_tlb_kernel_range(area->va, area->va + PMD_SIZE / 2);
	free_table(area);
	expect_report(test, area, BBMCHK_RULE_FREED_UNFLUSHED, BBMCHK_SAME, 1,
		      area->va);
}

static void table_freed_after_flush_is_clean(struct kunit *test)
{
	struct area *area = test->priv;

	link_table(area);
	store_pmd(area, 0, 0);
	__flush_tlb_kernel_pgtable(area->va);
	free_table(area);
	expect_none(test, area);
}

static void table_never_linked_is_freed_clean(struct kunit *test)
{
	free_table(test->priv);
	expect_none(test, test->priv);
}

static struct kunit_case bbmchk_tables_cases[] = {
	KUNIT_CASE(block_to_table_live),
	KUNIT_CASE(block_to_other_table_live_is_reported),
	KUNIT_CASE(block_to_table_with_hole_then_filled_is_reported),
	KUNIT_CASE(table_to_block_live),
	KUNIT_CASE(block_made_from_table_needs_full_flush),
	KUNIT_CASE(block_is_covered_by_flush_of_one_page),
	KUNIT_CASE(block_over_unflushed_page_is_reported),
	KUNIT_CASE(table_over_unflushed_block_is_reported),
	KUNIT_CASE(table_replaced_live_is_reported),
	KUNIT_CASE(table_replaced_by_equal_one_is_clean),
	KUNIT_CASE(table_replaced_before_flush_is_reported),
	KUNIT_CASE(table_replaced_after_flush_is_clean),
	KUNIT_CASE(table_with_leaves_needs_full_flush),
	KUNIT_CASE(table_freed_while_linked_is_reported),
	KUNIT_CASE(table_freed_before_flush_is_reported),
	KUNIT_CASE(table_freed_after_flush_of_leaves_is_reported),
	KUNIT_CASE(table_freed_after_flush_is_clean),
	KUNIT_CASE(table_never_linked_is_freed_clean),
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
