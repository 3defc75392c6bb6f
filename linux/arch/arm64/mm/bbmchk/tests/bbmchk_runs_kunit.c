// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the break-before-make checker: contiguous
 * runs.
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

/* Contiguous runs. */

static void make_run(struct area *area, u64 set, u64 clear)
{
	unsigned int i;

	if (!area->ptep)
		link_table(area);
	for (i = 0; i < CONT_PTES; i++)
		store_pte(area->ptep + i,
			  page_desc(area, i, set | PTE_CONT, clear));
}

static void clear_run(struct area *area)
{
	unsigned int i;

	for (i = 0; i < CONT_PTES; i++)
		store_pte(area->ptep + i, 0);
	flush_tlb_kernel_range(area->va, area->va + CONT_PTE_SIZE);
}

static void run_made_and_cleared_is_clean(struct kunit *test)
{
	struct area *area = test->priv;

	make_run(area, 0, 0);
	store_elsewhere(area);
	clear_run(area);
	store_elsewhere(area);
	expect_none(test, area);
}

static void run_split_live(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	make_run(area, 0, 0);
	area_set_level(area, 2);
	for (i = 0; i < CONT_PTES; i++)
		store_pte(area->ptep + i, page_desc(area, i, 0, 0));
	store_elsewhere(area);
	expect_none(test, area);

	for (i = 0; i < CONT_PTES; i++)
		store_pte(area->ptep + i, page_desc(area, i, PTE_CONT, 0));
	store_elsewhere(area);
	expect_none(test, area);

	area_set_level(area, 0);
	store_pte(area->ptep, page_desc(area, 0, 0, 0));
	expect_report(test, area, BBMCHK_RULE_NO_BREAK, BBMCHK_SIZE, 0,
		      area->va);
	area->nr_reports = 0;
	clear_run(area);
}

static void expect_run_report(struct kunit *test, struct area *area,
			      enum bbmchk_why why, unsigned int i)
{
	expect_report(test, area, BBMCHK_RULE_RUN, why, 0,
		      area->va + i * PAGE_SIZE);
}

static void run_left_half_split_is_reported(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	area_set_level(area, 2);
	make_run(area, 0, 0);
	for (i = 0; i < CONT_PTES / 2; i++)
		store_pte(area->ptep + i, page_desc(area, i, 0, 0));
	expect_none(test, area);
	store_elsewhere(area);
	expect_run_report(test, area, BBMCHK_SIZE, CONT_PTES / 2);
	clear_run(area);
}

static void run_left_half_cleared_is_reported(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	make_run(area, 0, 0);
	for (i = 0; i < CONT_PTES / 2; i++)
		store_pte(area->ptep + i, 0);
	store_elsewhere(area);
	expect_run_report(test, area, BBMCHK_SIZE, CONT_PTES / 2);
	clear_run(area);
}

static void run_that_is_not_consecutive_is_reported(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	link_table(area);
	for (i = 0; i < CONT_PTES; i++)
		store_pte(area->ptep + i,
			  page_desc(area, i == 5 ? 6 : i, PTE_CONT, 0));
	store_elsewhere(area);
	expect_run_report(test, area, BBMCHK_SIZE, 5);
	clear_run(area);
}

static void run_flushed_half_changed_is_reported(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	make_run(area, 0, 0);
	for (i = 0; i < CONT_PTES / 2; i++)
		store_pte(area->ptep + i,
			  page_desc(area, i, PTE_CONT | RO_SET, RO_CLEAR));
	flush_page(area, 0);
	expect_run_report(test, area, BBMCHK_SAME, CONT_PTES / 2);
	clear_run(area);
}

/* Members may be changed one at a time, with other things in between. */
static void run_changed_in_parts_before_flush_is_clean(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	make_run(area, 0, 0);
	for (i = 0; i < CONT_PTES; i++) {
		store_pte(area->ptep + i,
			  page_desc(area, i, PTE_CONT | RO_SET, RO_CLEAR));
		store_elsewhere(area);
	}
	flush_page(area, 0);
	expect_none(test, area);
	clear_run(area);
}

/* Each member has a TLB entry of its own if the hardware likes that better. */
static void run_is_not_covered_by_flush_of_one_page(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	make_run(area, 0, 0);
	for (i = 0; i < CONT_PTES; i++)
		store_pte(area->ptep + i, 0);
	flush_page(area, 0);
	make_other_page(area, 2);
	expect_page_unflushed(test, area, 2);
	clear_run(area);
}

static void run_of_blocks_left_half_split_is_reported(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	area_set_level(area, 2);
	for (i = 0; i < CONT_PMDS; i++)
		store_pmd(area, i, block_desc(area, i) | PTE_CONT);
	for (i = 0; i < CONT_PMDS / 2; i++)
		store_pmd(area, i, block_desc(area, i));
	expect_none(test, area);
	flush_page(area, 0);
	expect_report(test, area, BBMCHK_RULE_RUN, BBMCHK_SAME, 1,
		      area->va + CONT_PMDS / 2 * PMD_SIZE);
	for (i = 0; i < CONT_PMDS; i++)
		store_pmd(area, i, 0);
}

static struct kunit_case bbmchk_runs_cases[] = {
	KUNIT_CASE(run_made_and_cleared_is_clean),
	KUNIT_CASE(run_split_live),
	KUNIT_CASE(run_left_half_split_is_reported),
	KUNIT_CASE(run_left_half_cleared_is_reported),
	KUNIT_CASE(run_that_is_not_consecutive_is_reported),
	KUNIT_CASE(run_flushed_half_changed_is_reported),
	KUNIT_CASE(run_changed_in_parts_before_flush_is_clean),
	KUNIT_CASE(run_is_not_covered_by_flush_of_one_page),
	KUNIT_CASE(run_of_blocks_left_half_split_is_reported),
	{}
};

static struct kunit_suite bbmchk_runs_suite = {
	.name = "bbmchk_runs",
	.init = area_init,
	.test_cases = bbmchk_runs_cases,
};

kunit_test_suite(bbmchk_runs_suite);

MODULE_DESCRIPTION("Tests of the break-before-make checker: contiguous runs");
MODULE_LICENSE("GPL");
