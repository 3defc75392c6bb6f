// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the break-before-make checker: contiguous runs.
 *
 * Run with
 *	make test SUITES=kunit_bbmchk
 * or, in a kernel tree that has this directory,
 *	./tools/testing/kunit/kunit.py run --arch=arm64 \
 *		--cross_compile=aarch64-linux-gnu- \
 *		--kunitconfig=arch/arm64/mm/bbmchk/tests
 */

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include <asm/tlbflush.h>

#include "area.h"

/* Store members [first, last) of a run. */
static void store_members(struct area *area, unsigned int first,
			  unsigned int last, u64 set, u64 clear)
{
	unsigned int i;

	for (i = first; i < last; i++)
		store_pte(area->ptep + i, page_desc(area, i, set, clear));
}

static void make_run(struct area *area)
{
	if (!area->ptep)
		link_table(area);
	store_members(area, 0, CONT_PTES, PTE_CONT, 0);
}

/* A run at level 2, where its contiguous bits may be cleared one by one. */
static struct area *prepare_run(struct kunit *test)
{
	struct area *area = test->priv;

	area_set_level(area, 2);
	make_run(area);

	return area;
}

static void clear_run(struct area *area)
{
	unsigned int i;

	for (i = 0; i < CONT_PTES; i++)
		store_pte(area->ptep + i, 0);
	flush_tlb_kernel_range(area->va, area->va + CONT_PTE_SIZE);
}

static void expect_run_report(struct kunit *test, struct area *area,
			      enum bbmchk_why why, unsigned int i)
{
	expect_report(test, area, BBMCHK_RULE_RUN, why, 0,
		      area->va + i * PAGE_SIZE);
	clear_run(area);
}

static void run_made_and_cleared_is_clean(struct kunit *test)
{
	struct area *area = test->priv;

	make_run(area);
	store_elsewhere(area);
	clear_run(area);
	store_elsewhere(area);
	expect_none(test, area);
}

static void run_split_and_made_live_is_clean(struct kunit *test)
{
	struct area *area = prepare_run(test);

	store_members(area, 0, CONT_PTES, 0, 0);
	store_elsewhere(area);
	store_members(area, 0, CONT_PTES, PTE_CONT, 0);
	store_elsewhere(area);
	expect_none(test, area);
	clear_run(area);
}

static void run_split_live_below_level_2_is_reported(struct kunit *test)
{
	struct area *area = prepare_run(test);
	int bbm;

	for (bbm = 0; bbm < 2; bbm++) {
		area_set_level(area, bbm);
		store_members(area, bbm, bbm + 1, 0, 0);
		expect_report(test, area, BBMCHK_RULE_NO_BREAK, BBMCHK_SIZE, 0,
			      area->va + bbm * PAGE_SIZE);
	}
	clear_run(area);
}

static void run_left_half_split_is_reported(struct kunit *test)
{
	struct area *area = prepare_run(test);

	store_members(area, 0, CONT_PTES / 2, 0, 0);
	expect_none(test, area);
	store_elsewhere(area);
	expect_run_report(test, area, BBMCHK_SIZE, CONT_PTES / 2);
}

static void run_left_half_cleared_is_reported(struct kunit *test)
{
	struct area *area = prepare_run(test);
	unsigned int i;

	for (i = 0; i < CONT_PTES / 2; i++)
		store_pte(area->ptep + i, 0);
	store_elsewhere(area);
	expect_run_report(test, area, BBMCHK_SIZE, CONT_PTES / 2);
}

/* One member of a new run is wrong: in its address, or in what is set. */
static void make_run_with_odd_one(struct kunit *test, int step, u64 set,
				  u64 clear)
{
	struct area *area = test->priv;
	const unsigned int odd = 5;

	link_table(area);
	store_members(area, 0, odd, PTE_CONT, 0);
	store_pte(area->ptep + odd,
		  page_desc(area, odd + step, PTE_CONT | set, clear));
	store_members(area, odd + 1, CONT_PTES, PTE_CONT, 0);
	expect_none(test, area);
	store_elsewhere(area);
	expect_run_report(test, area, BBMCHK_SIZE, odd);
}

static void run_that_is_not_consecutive_is_reported(struct kunit *test)
{
	make_run_with_odd_one(test, 1, 0, 0);
}

/* Each page follows the one before it, but the first is not aligned. */
static void run_that_is_not_aligned_is_reported(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	link_table(area);
	for (i = 0; i < CONT_PTES; i++)
		store_pte(area->ptep + i, page_desc(area, i + 1, PTE_CONT, 0));
	expect_none(test, area);
	store_elsewhere(area);
	expect_run_report(test, area, BBMCHK_SIZE, 0);
}

static void run_half_made_in_new_table_is_reported(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	/* Nobody sees these stores: the table is linked after them. */
	for (i = 0; i < CONT_PTES; i++)
		((u64 *)area->table)[i] =
			page_desc(area, i, i < CONT_PTES / 2 ? PTE_CONT : 0, 0);
	link_table(area);
	expect_run_report(test, area, BBMCHK_SIZE, CONT_PTES / 2);
}

static void run_of_two_types_is_reported(struct kunit *test)
{
	make_run_with_odd_one(test, 0, PTE_ATTRINDX(MT_NORMAL_NC),
			      PTE_ATTRINDX_MASK);
}

static void run_that_is_partly_global_is_reported(struct kunit *test)
{
	bool ng = pgprot_val(PAGE_KERNEL) & PTE_NG;

	make_run_with_odd_one(test, 0, ng ? 0 : PTE_NG, ng ? PTE_NG : 0);
}

static void run_flushed_half_changed_is_reported(struct kunit *test)
{
	struct area *area = prepare_run(test);

	store_members(area, 0, CONT_PTES / 2, PTE_CONT | RO_SET, RO_CLEAR);
	flush_page(area, 0);
	expect_run_report(test, area, BBMCHK_SAME, CONT_PTES / 2);
}

/* Members may be changed one at a time, with other things in between. */
static void run_changed_in_parts_before_flush_is_clean(struct kunit *test)
{
	struct area *area = prepare_run(test);
	unsigned int i;

	for (i = 0; i < CONT_PTES; i++) {
		store_members(area, i, i + 1, PTE_CONT | RO_SET, RO_CLEAR);
		store_elsewhere(area);
	}
	flush_page(area, 0);
	expect_none(test, area);
	clear_run(area);
}

/* What an interrupt on top stores says nothing about how far the task is. */
static void store_in_context(struct area *area, int offset)
{
	unsigned long flags;

	local_irq_save(flags);
	preempt_count_add(offset);
	store_elsewhere(area);
	preempt_count_sub(offset);
	local_irq_restore(flags);
}

static void run_split_around_interrupts_is_clean(struct kunit *test)
{
	struct area *area = prepare_run(test);

	store_members(area, 0, CONT_PTES / 2, 0, 0);
	store_in_context(area, SOFTIRQ_OFFSET);
	store_in_context(area, HARDIRQ_OFFSET);
	store_members(area, CONT_PTES / 2, CONT_PTES, 0, 0);
	store_elsewhere(area);
	expect_none(test, area);
	clear_run(area);
}

/**
 * struct other_half - what somebody else does to a run
 * @area: where the run is
 * @split: completed when the first half has been split
 */
struct other_half {
	struct area *area;
	struct completion split;
};

/*
 * Not a work item: a worker goes on to the next one, which may well store to an
 * entry elsewhere, and so leaves the run half split.
 */
static int split_first_half(void *arg)
{
	struct other_half *half = arg;

	store_members(half->area, 0, CONT_PTES / 2, 0, 0);
	complete(&half->split);

	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);

	return 0;
}

/* The first half by another task, the rest up to @last by this one. */
static void split_with_another_task(struct kunit *test, struct area *area,
				    unsigned int last)
{
	struct other_half half = { .area = area };
	struct task_struct *other;

	init_completion(&half.split);
	other = kthread_run(split_first_half, &half, "split_first_half");
	if (IS_ERR(other))
		kunit_skip(test, "no memory for another task");

	wait_for_completion(&half.split);
	store_members(area, CONT_PTES / 2, last, 0, 0);
	store_elsewhere(area);
	kthread_stop(other);
}

static void run_split_by_two_tasks_is_clean(struct kunit *test)
{
	struct area *area = prepare_run(test);

	split_with_another_task(test, area, CONT_PTES);
	expect_none(test, area);
	clear_run(area);
}

/* The later of two is the one to leave the run consistent. */
static void run_left_by_second_task_is_reported(struct kunit *test)
{
	struct area *area = prepare_run(test);

	split_with_another_task(test, area, CONT_PTES - 1);
	expect_run_report(test, area, BBMCHK_SIZE, CONT_PTES - 1);
}

/* Each member has a TLB entry of its own if the hardware likes that better. */
static void run_is_not_covered_by_flush_of_one_page(struct kunit *test)
{
	struct area *area = test->priv;
	unsigned int i;

	make_run(area);
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
	KUNIT_CASE(run_split_and_made_live_is_clean),
	KUNIT_CASE(run_split_live_below_level_2_is_reported),
	KUNIT_CASE(run_left_half_split_is_reported),
	KUNIT_CASE(run_left_half_cleared_is_reported),
	KUNIT_CASE(run_that_is_not_consecutive_is_reported),
	KUNIT_CASE(run_that_is_not_aligned_is_reported),
	KUNIT_CASE(run_half_made_in_new_table_is_reported),
	KUNIT_CASE(run_of_two_types_is_reported),
	KUNIT_CASE(run_that_is_partly_global_is_reported),
	KUNIT_CASE(run_flushed_half_changed_is_reported),
	KUNIT_CASE(run_changed_in_parts_before_flush_is_clean),
	KUNIT_CASE(run_split_around_interrupts_is_clean),
	KUNIT_CASE(run_split_by_two_tasks_is_clean),
	KUNIT_CASE(run_left_by_second_task_is_reported),
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
