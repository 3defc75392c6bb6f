// SPDX-License-Identifier: GPL-2.0-only
/*
 * Torture of the kernel's own mappings.
 *
 * Several threads split leaves of the linear map and change attributes next to
 * each other, in one region, so that they meet in contiguous runs, blocks and
 * tables. Others allocate, protect and free vmalloc memory and run code that
 * they have just written, read the region through the linear map and through a
 * second mapping, and walk the page tables. Every other allocation of a table
 * fails. Then every page must translate as the model says, hold what was written
 * to it, and be mapped by the largest leaf that fits. A round does so for one
 * region after the other, as there is little to split in one that has been used.
 *
 * Meant to run under the break-before-make checker with bbm_check=panic, and
 * with KASAN and lockdep where there is time:
 *	make torture MINUTES=5
 *
 * On the kernel command line torture_minutes=N asks for more rounds than two,
 * torture_seed=N repeats the random choices of a run that printed N (not the
 * order in which threads make them).
 */

#include <kunit/static_stub.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/vmalloc.h>
#include <linux/vmstat.h>

#include <asm/bbml2.h>

#include "../bbmchk.h"
#include "kmap_torture.h"

/* Several blocks where those are small, one where they are not. */
#define REGION_SIZE	max(PMD_SIZE, 8UL * SZ_2M)
/* In one round, as far as there is memory. */
#define NR_REGIONS	(SZ_128M / REGION_SIZE ?: 1)
#define OPS_EACH_ROUND	(IS_ENABLED(CONFIG_KASAN) ? 4000 : 20000)

static unsigned long minutes;
core_param(torture_minutes, minutes, ulong, 0444);

static unsigned long seed;
core_param(torture_seed, seed, ulong, 0444);

static void start(struct torture *t, int (*fn)(void *), unsigned int nr,
		  const char *name)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct worker *w = &t->workers[t->nr_workers];

		*w = (struct worker) { .torture = t, .index = i };
		prandom_seed_state(&w->rnd, seed + t->nr_workers);
		w->task = kthread_create(fn, w, "torture_%s/%u", name, i);
		KUNIT_ASSERT_FALSE(t->test, IS_ERR(w->task));
		/* It may die of what it finds. */
		get_task_struct(w->task);
		t->nr_workers++;
		wake_up_process(w->task);
	}
}

static void stop(void *data)
{
	struct torture *t = data;

	while (t->nr_workers)
		kthread_stop_put(t->workers[--t->nr_workers].task);
	vunmap(t->alias);
}

static unsigned long changes(const struct torture *t)
{
	unsigned long nr = 0;
	unsigned int i;

	for (i = 0; i < NR_CHANGERS; i++)
		nr += READ_ONCE(t->workers[i].nr_ops);

	return nr;
}

/* Enough changes, and no thread that did nothing: that would test nothing. */
static bool is_done(const struct torture *t)
{
	unsigned int i;

	for (i = 0; i < t->nr_workers; i++)
		if (!READ_ONCE(t->workers[i].nr_ops))
			return false;

	return changes(t) >= OPS_EACH_ROUND / NR_REGIONS;
}

/*
 * A region where there are blocks to split, if there is one. Others are held
 * until the end of the case, so that the next one is elsewhere.
 */
static struct region *find_region(struct kunit *test)
{
	bool splits = system_supports_bbml2_noabort() &&
		!debug_pagealloc_enabled();
	struct region *region, *last = NULL;

	do {
		region = region_alloc(test, REGION_SIZE);
		if (!region)
			return last;
		last = region;
	} while (splits && region->initial[0] < KLEAF_KIND_PMD);

	return region;
}

static struct torture *torture_begin(struct kunit *test)
{
	struct torture *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct page **pages;
	unsigned long i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->test = test;
	t->region = find_region(test);
	if (!t->region)
		return NULL;

	pages = kunit_kmalloc_array(test, t->region->nr_pages, sizeof(*pages),
				    GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	for (i = 0; i < t->region->nr_pages; i++)
		pages[i] = t->region->page + i;
	t->alias = vmap(pages, t->region->nr_pages, VM_MAP, PAGE_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->alias);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop, t));

	return t;
}

/*
 * Tables that vmalloc makes it keeps, so they are counted after the first round
 * and not before it. What a round makes beyond that must be gone at its end.
 */
static void expect_no_more_tables(struct kunit *test)
{
	static unsigned long after_first_round;
	unsigned long now = global_node_page_state(NR_PAGETABLE);

	if (!after_first_round)
		after_first_round = now;
	KUNIT_EXPECT_EQ(test, now, after_first_round);
}

/**
 * struct tally - what a round has done
 * @changes: of attributes
 * @enomem: of those, refused for want of a table
 * @others: operations of the other threads
 */
struct tally {
	unsigned long changes;
	unsigned long enomem;
	unsigned long others;
};

static void torture_region(struct torture *t, struct tally *tally)
{
	struct kunit *test = t->test;
	unsigned long enomem = 0;
	unsigned int i, nr;

	kunit_activate_static_stub(test, kleaf_table_alloc, torture_no_table);
	start(t, torture_changer, NR_CHANGERS, "change");
	start(t, torture_reader, NR_READERS, "read");
	start(t, torture_mapper, NR_MAPPERS, "map");
	start(t, torture_runner, 1, "run");
	start(t, torture_walker, 1, "walk");

	while (!is_done(t) && !atomic_read(&t->failed))
		schedule_timeout_uninterruptible(HZ / 20);

	tally->changes += changes(t);
	for (nr = t->nr_workers; t->nr_workers; )
		kthread_stop_put(t->workers[--t->nr_workers].task);
	kunit_deactivate_static_stub(test, kleaf_table_alloc);

	for (i = 0; i < nr; i++) {
		enomem += t->workers[i].nr_enomem;
		if (i >= NR_CHANGERS)
			tally->others += t->workers[i].nr_ops;
	}
	tally->enomem += enomem;

	/* Where there was a block, its split failed at least once. */
	if (system_supports_bbml2_noabort() &&
	    t->region->initial[0] >= KLEAF_KIND_PMD)
		KUNIT_EXPECT_GT(test, enomem, 0);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&t->failed), 0,
			    "check in line %d", atomic_read(&t->failed));
	region_check_attributes(test, t->region);
	region_check_leaves(test, t->region);
}

static void everything_at_once(struct kunit *test)
{
	struct tally tally = {};
	unsigned int i;

	if (!seed)
		seed = get_random_u32();

	for (i = 0; i < NR_REGIONS && test->status == KUNIT_SUCCESS; i++) {
		struct torture *t = torture_begin(test);

		if (!t && !i)
			kunit_skip(test, "no %lu MiB of contiguous memory",
				   REGION_SIZE >> 20);
		if (!t)
			break;
		torture_region(t, &tally);
		vunmap(t->alias);
		t->alias = NULL;
	}

	kunit_info(test, "seed %lu: %u regions, %lu changes, %lu without a table, %lu others\n",
		   seed, i, tally.changes, tally.enomem, tally.others);
	seed++;
	expect_no_more_tables(test);
}

/* Two rounds, and more until the time is up. */
static const void *next_round(const void *prev, char *desc)
{
	static unsigned long end, round;

	if (!prev) {
		end = jiffies + minutes * 60 * HZ;
		round = 0;
	} else if (round >= 2 && time_after_eq(jiffies, end)) {
		return NULL;
	}
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "round %lu", ++round);

	return &round;
}

static void checker_missed_nothing(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&bbmchk_key));
	KUNIT_EXPECT_EQ(test, bbmchk_stats.missed_breaks, 0);
	KUNIT_EXPECT_EQ(test, bbmchk_stats.missed_tables, 0);
	KUNIT_EXPECT_EQ(test, bbmchk_stats.missed_runs, 0);
}

static struct kunit_case kmap_torture_cases[] = {
	KUNIT_CASE_PARAM_ATTR(everything_at_once, next_round,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE(checker_missed_nothing),
	{}
};

static struct kunit_suite kmap_torture_suite = {
	.name = "kmap_torture",
	.test_cases = kmap_torture_cases,
};

kunit_test_suite(kmap_torture_suite);

MODULE_DESCRIPTION("Torture of the kernel's own mappings");
MODULE_LICENSE("GPL");
