// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the walker, the splitter and the changer of kernel leaves.
 *
 * Run them with
 *	make test SUITES=kunit_kleaf
 * or, in a kernel tree that has this directory,
 *	./tools/testing/kunit/kunit.py run --arch=arm64 \
 *		--cross_compile=aarch64-linux-gnu- \
 *		--qemu_args="-cpu max,midr=0xc00fac30 -m 4G" \
 *		--kunitconfig=arch/arm64/mm/kleaf/tests
 *
 * kleaf_seed=N repeats the random operations of a run that printed N.
 */

#include <linux/memblock.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include <asm/bbml2.h>

#include "region.h"

static unsigned long seed;
core_param(kleaf_seed, seed, ulong, 0444);

/* The region of a case, in bytes; the largest leaf in it is given by kind. */
struct size_param {
	const char *name;
	enum kleaf_kind kind;
	unsigned int nr_ops;
};

static const struct size_param sizes[] = {
	{ "pmd", KLEAF_KIND_PMD, 400 },
	{ "cont_pmd", KLEAF_KIND_CONT_PMD, 60 },
	{ "pud", KLEAF_KIND_PUD, 100 },
};

static void size_desc(const struct size_param *param, char *desc)
{
	strscpy(desc, param->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(size, sizes, size_desc);

/* Contiguous memory for a PUD leaf takes a while to find: not every time. */
static const void *small_size_gen_params(const void *prev, char *desc)
{
	const struct size_param *next = size_gen_params(prev, desc);

	return next && next->kind == KLEAF_KIND_PUD ? NULL : next;
}

/* With KASAN it takes minutes, of which the test itself is a small part. */
static const void *most_size_gen_params(const void *prev, char *desc)
{
	return IS_ENABLED(CONFIG_KASAN) ? small_size_gen_params(prev, desc) :
					  size_gen_params(prev, desc);
}

static bool leaves_can_split(void)
{
	return system_supports_bbml2_noabort() && !debug_pagealloc_enabled();
}

static struct region *size_region(struct kunit *test)
{
	const struct size_param *param = test->param_value;
	struct region *region;

	if (param->kind == KLEAF_KIND_PUD && !pud_sect_supported())
		kunit_skip(test, "no PUD leaves with this page size");

	region = region_alloc(test, kleaf_kind_size(param->kind));
	if (!region)
		kunit_skip(test, "no %lu MiB of contiguous memory",
			   kleaf_kind_size(param->kind) >> 20);

	/* Where all is made of pages, size makes a test slow and no better. */
	if (param->kind > KLEAF_KIND_PMD && region->initial[0] < param->kind)
		kunit_skip(test, "no leaf of this size here");

	return region;
}

/* Each is checked page by page, which takes many times as long with KASAN. */
static unsigned int nr_random_ops(const struct size_param *param)
{
	return IS_ENABLED(CONFIG_KASAN) ? param->nr_ops / 4 : param->nr_ops;
}

/*
 * Any sequence of changes gives each page the attributes that were asked for
 * last, and leaves nothing smaller than its boundaries require.
 */
static void change_random_ranges_matches_model(struct kunit *test)
{
	const struct size_param *param = test->param_value;
	struct region *region = size_region(test);
	struct rnd_state rnd;
	u64 use_seed = seed ?: get_random_u32();
	unsigned int op;

	kunit_info(test, "seed %llu\n", use_seed);
	prandom_seed_state(&rnd, use_seed);

	for (op = 0; op < nr_random_ops(param); op++) {
		/* Most interesting near the ends of leaves: round some. */
		unsigned long align = 1UL << (prandom_u32_state(&rnd) %
					      (ilog2(region->nr_pages) + 1));
		unsigned long first, last;
		u32 what = prandom_u32_state(&rnd);
		int ret;

		first = prandom_u32_state(&rnd) % region->nr_pages;
		last = first + prandom_u32_state(&rnd) % (2 * align);
		if (what & BIT(0))
			first = ALIGN_DOWN(first, align);
		if (what & BIT(1))
			last = ALIGN(last, align);
		last = clamp(last, first + 1, region->nr_pages);

		ret = region_change(region, first, last - first,
				    what & BIT(2) ? MODEL_INVALID : MODEL_RDONLY,
				    what & BIT(3));
		KUNIT_ASSERT_EQ_MSG(test, ret, 0, "op %u [%lu, %lu)", op, first,
				    last);
		if (!region_check_attributes(test, region) ||
		    !region_check_leaves(test, region)) {
			kunit_err(test, "op %u: [%lu, %lu) %x\n", op, first,
				  last, what & 0xf);
			return;
		}
	}
}

/* One page in the middle: invalid, read-only, valid again, and nothing else. */
static void change_middle_page_keeps_neighbours(struct kunit *test)
{
	struct region *region = size_region(test);
	unsigned long middle = region->nr_pages / 2 + 1;
	static const struct { u8 flag; bool on; } steps[] = {
		{ MODEL_INVALID, true }, { MODEL_RDONLY, true },
		{ MODEL_INVALID, false }, { MODEL_RDONLY, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		KUNIT_ASSERT_EQ(test, 0, region_change(region, middle, 1,
						       steps[i].flag,
						       steps[i].on));
		KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
		KUNIT_EXPECT_TRUE(test, region_check_leaves(test, region));
	}
}

/* A whole leaf is changed in place: it is as large afterwards, valid or not. */
static void change_whole_leaf_splits_nothing(struct kunit *test)
{
	struct region *region = size_region(test);
	enum kleaf_kind kind = region_leaf_kind(region->start);

	KUNIT_ASSERT_EQ(test, 0, region_change(region, 0, region->nr_pages,
					       MODEL_INVALID, true));
	KUNIT_EXPECT_EQ(test, kind, region_leaf_kind(region->start));
	KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
	KUNIT_ASSERT_EQ(test, 0, region_change(region, 0, region->nr_pages,
					       MODEL_INVALID, false));
	KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
	KUNIT_EXPECT_TRUE(test, region_check_leaves(test, region));
}

/* An invalid leaf can be split, and its pieces are invalid, then valid. */
static void split_invalid_leaf_keeps_it_invalid(struct kunit *test)
{
	struct region *region = size_region(test);

	KUNIT_ASSERT_EQ(test, 0, region_change(region, 0, region->nr_pages,
					       MODEL_INVALID, true));
	KUNIT_ASSERT_EQ(test, 0, region_change(region, 3, 2, MODEL_INVALID,
					       false));
	KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
	KUNIT_EXPECT_TRUE(test, region_check_leaves(test, region));
	KUNIT_ASSERT_EQ(test, 0, region_change(region, 0, region->nr_pages,
					       MODEL_INVALID, false));
	KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
}

/* Fail each allocation that a change makes: nothing changes, then it works. */
static void change_without_memory_changes_nothing(struct kunit *test)
{
	struct region *region = size_region(test);
	int allowed;

	if (!leaves_can_split())
		kunit_skip(test, "no leaf is ever split here");

	for (allowed = 0; ; allowed++) {
		int ret;

		region_fail_table_allocs(test, allowed);
		ret = region_change(region, 1, region->nr_pages - 2,
				    MODEL_RDONLY, true);
		if (!ret)
			break;

		KUNIT_ASSERT_EQ(test, ret, -ENOMEM);
		/* Splits made with what was allowed remain: start afresh. */
		KUNIT_ASSERT_LT(test, allowed, 8);
		if (!region_check_attributes(test, region))
			return;
	}
	/* The first attempt, with no table at all, must have failed. */
	if (region->initial[0] >= KLEAF_KIND_PMD)
		KUNIT_EXPECT_GT(test, allowed, 0);

	region_fail_table_allocs(test, -1);
	KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
	KUNIT_EXPECT_TRUE(test, region_check_leaves(test, region));
}

static void split_to_pages_leaves_only_pages(struct kunit *test)
{
	struct region *region = region_alloc(test, kleaf_kind_size(KLEAF_KIND_PMD));
	unsigned long i;

	if (!region)
		kunit_skip(test, "no contiguous memory");

	KUNIT_ASSERT_EQ(test, 0, kleaf_split_to_pages(region->start + 3 * PAGE_SIZE,
						      region->end));
	for (i = 3; i < region->nr_pages; i++)
		KUNIT_EXPECT_EQ(test, KLEAF_KIND_PTE,
				region_leaf_kind(region->start + i * PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
}

static void change_bad_range_is_refused(struct kunit *test)
{
	struct region *region = region_alloc(test, kleaf_kind_size(KLEAF_KIND_PMD));
	pgprot_t none = __pgprot(0);

	if (!region)
		kunit_skip(test, "no contiguous memory");

	KUNIT_EXPECT_EQ(test, -EINVAL,
			kleaf_change(region->start, region->start, none, none));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			kleaf_change(region->end, region->start, none, none));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			kleaf_change(region->start + 1, region->end, none, none));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			kleaf_change(region->start, region->end - 1, none, none));
	KUNIT_EXPECT_EQ(test, -EINVAL, kleaf_split(region->end, region->start));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			kleaf_split_to_pages(region->start, region->start));
	KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
	KUNIT_EXPECT_TRUE(test, region_check_leaves(test, region));
}

struct walk_log {
	unsigned long next;
	unsigned long nr_runs;
	int stop_after;
	bool gap;
};

static int log_run(const struct kleaf_run *run, void *data)
{
	struct walk_log *log = data;
	unsigned long end = run->addr +
		run->nr_entries * kleaf_level_size(run->level);

	if (run->addr > log->next || end <= log->next)
		log->gap = true;
	log->next = end;
	log->nr_runs++;

	return log->stop_after && log->nr_runs == log->stop_after ? -EINTR : 0;
}

static int log_hole(unsigned long start, unsigned long end, void *data)
{
	struct walk_log *log = data;

	if (start != log->next)
		log->gap = true;
	log->next = end;

	return 0;
}

static const struct kleaf_walk_ops log_ops = {
	.run = log_run,
	.hole = log_hole,
};

static void walk_region_sees_every_byte_once(struct kunit *test)
{
	struct region *region = size_region(test);
	unsigned long off;

	KUNIT_ASSERT_EQ(test, 0, region_change(region, 5, 1, MODEL_RDONLY, true));
	for (off = 0; off < 7; off++) {
		unsigned long start = region->start + off * PAGE_SIZE;
		struct walk_log log = { .next = start };

		KUNIT_EXPECT_EQ(test, 0, kleaf_walk(start, region->end, &log_ops,
						    &log));
		KUNIT_EXPECT_FALSE(test, log.gap);
		KUNIT_EXPECT_GE(test, log.next, region->end);
	}
}

static void walk_hole_is_reported(struct kunit *test)
{
	/* Nothing is mapped by the entries behind the end of memory. */
	phys_addr_t end_of_memory = ALIGN(memblock_end_of_DRAM(), PMD_SIZE);
	unsigned long start = (unsigned long)__va(end_of_memory);
	struct walk_log log = { .next = start };

	if (start >= PAGE_END)
		kunit_skip(test, "memory reaches to the end of the linear map");

	KUNIT_EXPECT_EQ(test, 0, kleaf_walk(start, start + PAGE_SIZE * 2,
					    &log_ops, &log));
	KUNIT_EXPECT_FALSE(test, log.gap);
	KUNIT_EXPECT_EQ(test, log.nr_runs, 0UL);
	KUNIT_EXPECT_EQ(test, log.next, start + PAGE_SIZE * 2);
}

static void walk_stops_at_error(struct kunit *test)
{
	struct region *region = region_alloc(test, 2 * PMD_SIZE);
	struct walk_log log = { .stop_after = 1 };

	if (!region)
		kunit_skip(test, "no contiguous memory");

	/* Two tables, so that there would be more than one run. */
	KUNIT_ASSERT_EQ(test, 0, region_change(region, 1, 1, MODEL_RDONLY, true));
	KUNIT_ASSERT_EQ(test, 0, region_change(region, region->nr_pages - 2, 1,
					       MODEL_RDONLY, true));
	log.next = region->start;
	KUNIT_EXPECT_EQ(test, -EINTR, kleaf_walk(region->start, region->end,
						 &log_ops, &log));
	KUNIT_EXPECT_EQ(test, log.nr_runs, 1UL);
}

static struct kunit_case kleaf_split_cases[] = {
	KUNIT_CASE_PARAM(change_random_ranges_matches_model,
			 most_size_gen_params),
	KUNIT_CASE_PARAM(change_middle_page_keeps_neighbours,
			 most_size_gen_params),
	KUNIT_CASE_PARAM(change_whole_leaf_splits_nothing,
			 small_size_gen_params),
	KUNIT_CASE_PARAM(split_invalid_leaf_keeps_it_invalid,
			 small_size_gen_params),
	KUNIT_CASE_PARAM(change_without_memory_changes_nothing,
			 small_size_gen_params),
	KUNIT_CASE(split_to_pages_leaves_only_pages),
	KUNIT_CASE(change_bad_range_is_refused),
	KUNIT_CASE_PARAM(walk_region_sees_every_byte_once,
			 small_size_gen_params),
	KUNIT_CASE(walk_hole_is_reported),
	KUNIT_CASE(walk_stops_at_error),
	{}
};

static struct kunit_suite kleaf_split_suite = {
	.name = "kleaf_split",
	.test_cases = kleaf_split_cases,
};

kunit_test_suite(kleaf_split_suite);

MODULE_DESCRIPTION("KUnit tests of the kernel leaf walker, splitter and changer");
MODULE_LICENSE("GPL");
