// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of what may be split while the kernel boots.
 *
 * A device that probes before CPU features are final may ask for a change of
 * attributes: the interrupt controller of a confidential guest shares its
 * tables with the host that early. Such a call must work, or be refused with
 * nothing changed; it must not leave memory half shared.
 *
 * KUnit runs late, so the calls are made by an early_initcall (one CPU) and by
 * a hotplug callback (secondaries come up one by one), and recorded; the suite
 * checks the records and, on a live system, tries once more.
 *
 * Run with
 *	make test SUITES=kunit_kleaf
 */

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/kthread.h>

#include <asm/bbml2.h>

#include "region.h"

/**
 * struct attempt - making a page invalid, and valid again
 * @made: it was tried
 * @kind: kind of leaf that mapped the page before
 * @ret: result of making it invalid
 * @present: whether the CPU could read the page then
 * @ret_back: result of making it valid again, if @ret was 0
 * @present_back: whether the CPU could write it then
 */
struct attempt {
	bool made;
	enum kleaf_kind kind;
	int ret;
	bool present;
	int ret_back;
	bool present_back;
};

/* On one CPU; on the same page with secondaries; on an untouched leaf then. */
static struct attempt on_one_cpu, again_with_secondaries, with_secondaries;

static struct page *block;
/* Four CONT_PTE leaves: the two pages below lie in different ones. */
static const unsigned int block_order = CONT_PTE_SHIFT - PAGE_SHIFT + 2;
static const unsigned int first_page = 5;
/* In another leaf than first_page, whatever was split for that. */
static const unsigned int other_page = 2 * CONT_PTES + 5;

static void try_page(struct attempt *attempt, unsigned int i)
{
	unsigned long addr = (unsigned long)__va(page_to_phys(block + i));

	attempt->made = true;
	attempt->kind = region_leaf_kind(addr);
	attempt->ret = kleaf_change(addr, addr + PAGE_SIZE, __pgprot(0),
				    __pgprot(PTE_VALID));
	attempt->present = region_translates(addr, false, NULL);
	if (attempt->ret)
		return;

	attempt->ret_back = kleaf_change(addr, addr + PAGE_SIZE,
					 __pgprot(PTE_VALID), __pgprot(0));
	attempt->present_back = region_translates(addr, true, NULL);
}

static int secondary_online(unsigned int cpu)
{
	if (block && cpu && !system_capabilities_finalized() &&
	    !with_secondaries.made) {
		try_page(&again_with_secondaries, first_page);
		try_page(&with_secondaries, other_page);
	}

	return 0;
}

static int __init kleaf_boot_early(void)
{
	block = alloc_pages(GFP_KERNEL | __GFP_NOWARN, block_order);
	if (!block)
		return 0;

	try_page(&on_one_cpu, first_page);

	return min(0, cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
						"arm64/kleaf_test:online",
						secondary_online, NULL));
}
early_initcall(kleaf_boot_early);

static void expect_worked(struct kunit *test, const struct attempt *attempt)
{
	KUNIT_EXPECT_EQ(test, attempt->ret, 0);
	KUNIT_EXPECT_FALSE(test, attempt->present);
	KUNIT_EXPECT_EQ(test, attempt->ret_back, 0);
	KUNIT_EXPECT_TRUE(test, attempt->present_back);
}

static void expect_refused(struct kunit *test, const struct attempt *attempt,
			   int err)
{
	KUNIT_EXPECT_EQ(test, attempt->ret, err);
	KUNIT_EXPECT_TRUE(test, attempt->present);
}

/* As with rodata=on: leaves are large, whatever the CPUs can do. */
static bool never_splits(const struct attempt *attempt)
{
	return attempt->kind != KLEAF_KIND_PTE && !rodata_full &&
	       !system_supports_bbml2_noabort();
}

static void require(struct kunit *test, const struct attempt *attempt)
{
	KUNIT_ASSERT_NOT_NULL(test, block);
	if (!attempt->made)
		kunit_skip(test, "no secondary CPU came up during boot");
}

static void split_on_one_cpu_works(struct kunit *test)
{
	require(test, &on_one_cpu);
	if (never_splits(&on_one_cpu))
		expect_refused(test, &on_one_cpu, -EOPNOTSUPP);
	else
		expect_worked(test, &on_one_cpu);
}

static void change_without_split_works_while_cpus_come_up(struct kunit *test)
{
	require(test, &again_with_secondaries);
	if (never_splits(&again_with_secondaries)) {
		expect_refused(test, &again_with_secondaries, -EOPNOTSUPP);
		return;
	}
	KUNIT_EXPECT_EQ(test, again_with_secondaries.kind, KLEAF_KIND_PTE);
	expect_worked(test, &again_with_secondaries);
}

static void split_while_cpus_come_up_is_refused(struct kunit *test)
{
	require(test, &with_secondaries);
	if (never_splits(&with_secondaries))
		expect_refused(test, &with_secondaries, -EOPNOTSUPP);
	else if (with_secondaries.kind == KLEAF_KIND_PTE)
		expect_worked(test, &with_secondaries);
	else
		expect_refused(test, &with_secondaries, -EBUSY);
}

static void split_when_features_are_final_works(struct kunit *test)
{
	struct attempt attempt = {};

	KUNIT_ASSERT_NOT_NULL(test, block);
	try_page(&attempt, other_page);
	if (attempt.kind == KLEAF_KIND_PTE || system_supports_bbml2_noabort())
		expect_worked(test, &attempt);
	else
		expect_refused(test, &attempt, -EOPNOTSUPP);
}

/**
 * struct split_job - a split that a thread makes
 * @start: address of the page to split off
 * @ret: result
 * @done: the thread has it
 */
struct split_job {
	unsigned long start;
	int ret;
	struct completion done;
};

static int split_thread(void *data)
{
	struct split_job *job = data;

	job->ret = kleaf_split(job->start, job->start + PAGE_SIZE);
	complete(&job->done);

	return 0;
}

/* A region with a leaf that is larger than a page, whatever was split before. */
static struct region *unsplit_region(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 64; i++) {
		struct region *region = region_alloc(test, CONT_PTE_SIZE);

		if (!region)
			break;
		if (region_leaf_kind(region->start) != KLEAF_KIND_PTE)
			return region;
	}

	return NULL;
}

static void split_waits_for_a_cpu_that_starts(struct kunit *test)
{
	struct region *pages = region_alloc(test, CONT_PTE_SIZE);
	struct region *region = unsplit_region(test);
	struct split_job job = {};
	struct task_struct *task;
	unsigned int flags;
	bool early;

	if (!system_supports_bbml2_noabort() || kleaf_force_pte_map())
		kunit_skip(test, "no leaf is ever split here");
	if (!region || !pages)
		kunit_skip(test, "no contiguous memory");

	KUNIT_ASSERT_EQ(test, 0, kleaf_split_to_pages(pages->start, pages->end));
	job.start = region->start + PAGE_SIZE;
	init_completion(&job.done);

	cpus_read_lock();
	flags = kleaf_cpu_starting();
	task = kthread_run(split_thread, &job, "kleaf_split");
	early = !IS_ERR(task) &&
		wait_for_completion_timeout(&job.done, HZ / 5);
	/* No split is needed here: nothing to wait for. */
	KUNIT_EXPECT_EQ(test, 0, region_change(pages, 1, 1, MODEL_RDONLY, true));
	KUNIT_EXPECT_EQ(test, 0, region_change(pages, 1, 1, MODEL_RDONLY, false));
	kleaf_cpu_started(flags);
	cpus_read_unlock();

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_FALSE(test, early);
	if (!early)
		wait_for_completion(&job.done);
	KUNIT_EXPECT_EQ(test, job.ret, 0);
	KUNIT_EXPECT_EQ(test, KLEAF_KIND_PTE, region_leaf_kind(job.start));
}

static struct kunit_case kleaf_boot_cases[] = {
	KUNIT_CASE(split_on_one_cpu_works),
	KUNIT_CASE(change_without_split_works_while_cpus_come_up),
	KUNIT_CASE(split_while_cpus_come_up_is_refused),
	KUNIT_CASE(split_when_features_are_final_works),
	KUNIT_CASE(split_waits_for_a_cpu_that_starts),
	{}
};

static struct kunit_suite kleaf_boot_suite = {
	.name = "kleaf_boot",
	.test_cases = kleaf_boot_cases,
};

kunit_test_suite(kleaf_boot_suite);

MODULE_DESCRIPTION("Tests of kernel leaf splits while the kernel boots");
MODULE_LICENSE("GPL");
