// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the break-before-make checker: changes of one
 * entry, and which flush covers a break.
 *
 * Every kind of violation is committed and must be reported, once and as what it
 * is; what looks alike and is legal must not be. The suites do so on a range of
 * addresses that nobody else uses or reads, in tables of their own. Their
 * reports come here instead of the log. Each case says which BBM level it
 * assumes, so that all rules are tested on any CPU.
 *
 * Run with
 *	make test SUITES=kunit_bbmchk
 * or, in a kernel tree that has this directory,
 *	./tools/testing/kunit/kunit.py run --arch=arm64 \
 *		--cross_compile=aarch64-linux-gnu- \
 *		--kunitconfig=arch/arm64/mm/bbmchk/tests
 */

#include <linux/mm.h>
#include <linux/moduleparam.h>

#include <asm/tlbflush.h>

#include "area.h"

/* Changes of one leaf. */

/**
 * struct change - a change of a leaf descriptor
 * @name: for people
 * @why: what makes a break necessary; BBMCHK_SAME: none is
 * @other: the new leaf is of other memory
 * @page_only: contents matter, which only those of pages are known
 * @old_set: bits of the old descriptor beyond those of PAGE_KERNEL
 * @old_clear: bits that it lacks
 * @new_set: the same for the new one
 * @new_clear: the same for the new one
 */
struct change {
	const char *name;
	enum bbmchk_why why;
	bool other;
	bool page_only;
	u64 old_set;
	u64 old_clear;
	u64 new_set;
	u64 new_clear;
};

/* The types that come after Normal-NC are those of devices. */
#define MT_DEVICE	(MT_NORMAL_NC + 1)

static const struct change changes[] = {
	{ "same", BBMCHK_SAME },
	{ "to_readonly", BBMCHK_SAME, .new_set = RO_SET, .new_clear = RO_CLEAR },
	{ "to_writable", BBMCHK_SAME, .old_set = RO_SET, .old_clear = RO_CLEAR },
	{ "to_executable", BBMCHK_SAME, .new_clear = PTE_PXN },
	{ "to_old", BBMCHK_SAME, .new_clear = PTE_AF },
	{ "to_clean", BBMCHK_SAME, .new_set = RO_SET, .new_clear = PTE_DIRTY },
	{ "software_bit", BBMCHK_SAME, .new_set = PTE_SPECIAL },
	{ "guarded", BBMCHK_SAME, .new_set = PTE_GP },
	{ "to_tagged", BBMCHK_SAME, .new_clear = PTE_ATTRINDX_MASK,
	  .new_set = PTE_ATTRINDX(MT_NORMAL_TAGGED) },
	{ "to_nonglobal", BBMCHK_SAME, .old_clear = PTE_NG, .new_set = PTE_NG },
	{ "to_global", BBMCHK_GLOBAL, .old_set = PTE_NG, .new_clear = PTE_NG },
	{ "to_noncacheable", BBMCHK_TYPE, .new_clear = PTE_ATTRINDX_MASK,
	  .new_set = PTE_ATTRINDX(MT_NORMAL_NC) },
	{ "to_device", BBMCHK_TYPE, .new_clear = PTE_ATTRINDX_MASK,
	  .new_set = PTE_ATTRINDX(MT_DEVICE) },
	{ "tagged_to_device", BBMCHK_TYPE, .old_clear = PTE_ATTRINDX_MASK,
	  .old_set = PTE_ATTRINDX(MT_NORMAL_TAGGED),
	  .new_clear = PTE_ATTRINDX_MASK,
	  .new_set = PTE_ATTRINDX(MT_DEVICE) },
	{ "nonglobal_same", BBMCHK_SAME, .old_set = PTE_NG, .new_set = PTE_NG },
	{ "to_contiguous", BBMCHK_SIZE, .new_set = PTE_CONT },
	{ "from_contiguous", BBMCHK_SIZE, .old_set = PTE_CONT },
	{ "to_nonshareable", BBMCHK_SHARE, .new_clear = PTE_SHARED },
	{ "other_page", BBMCHK_ADDR, .other = true },
	{ "other_page_readonly_after", BBMCHK_ADDR, .other = true,
	  .new_set = RO_SET, .new_clear = RO_CLEAR },
	{ "other_page_readonly_before", BBMCHK_ADDR, .other = true,
	  .old_set = RO_SET, .old_clear = RO_CLEAR },
	{ "other_page_readonly_same_contents", BBMCHK_SAME, .other = true,
	  .page_only = true,
	  .old_set = RO_SET, .old_clear = RO_CLEAR,
	  .new_set = RO_SET, .new_clear = RO_CLEAR },
	{ "other_page_same_contents_to_device", BBMCHK_TYPE, .other = true,
	  .page_only = true,
	  .old_set = RO_SET, .old_clear = RO_CLEAR,
	  .new_set = RO_SET | PTE_ATTRINDX(MT_DEVICE),
	  .new_clear = RO_CLEAR | PTE_ATTRINDX_MASK },
	{ "other_page_same_contents_to_contiguous", BBMCHK_SIZE, .other = true,
	  .page_only = true,
	  .old_set = RO_SET, .old_clear = RO_CLEAR,
	  .new_set = RO_SET | PTE_CONT, .new_clear = RO_CLEAR },
};

/* Each change at each level. */
static struct {
	const struct change *change;
	unsigned int level;
} now;

static const void *change_gen_params(const void *prev, char *desc)
{
	static const char *const levels[] = { "pte", "pmd", "pud" };

	do {
		if (!prev) {
			now.change = changes;
			now.level = 0;
			prev = &now;
		} else if (++now.level == ARRAY_SIZE(levels)) {
			now.change++;
			now.level = 0;
		}
		if (now.change == changes + ARRAY_SIZE(changes))
			return NULL;
		/* No run of PUD entries; no contents of blocks. */
	} while (now.level && (now.change->page_only ||
			       (now.level > 1 && now.change->why == BBMCHK_SIZE)));

	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s_%s", levels[now.level],
		 now.change->name);

	return &now;
}

/**
 * struct step - a change, and where it is made
 * @area: where
 * @level: level of the entry
 * @why: what differs
 * @old: descriptor before
 * @new: descriptor after
 */
struct step {
	struct area *area;
	unsigned int level;
	enum bbmchk_why why;
	u64 old;
	u64 new;
};

static struct step prepare(struct kunit *test)
{
	const struct change *change = now.change;
	struct step step = {
		.area = test->priv,
		.level = now.level,
		.why = change->why,
	};

	if (change->why == BBMCHK_SHARE && lpa2_is_enabled())
		kunit_skip(test, "shareability is not in the descriptor (LPA2)");
	if (step.level > 1)
		area_use_pud(test);
	else if (!step.level)
		link_table(step.area);

	step.old = leaf_desc(step.area, step.level, 0, change->old_set,
			     change->old_clear);
	step.new = leaf_desc(step.area, step.level, change->other,
			     change->new_set, change->new_clear);

	return step;
}

/* How far a change keeps to break-before-make. */
enum kept { NOTHING, BREAK, BREAK_AND_FLUSH };

static void change_at_each_level(struct kunit *test, enum kept kept)
{
	struct step step = prepare(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bbm_levels); i++) {
		area_set_level(step.area, bbm_levels[i]);
		make_first(step.area, step.level, step.old);
		if (kept != NOTHING)
			store_first(step.area, step.level, 0);
		if (kept == BREAK_AND_FLUSH)
			flush_page(step.area, 0);
		step.area->nr_reports = 0;

		store_first(step.area, step.level, step.new);
		if (kept == BREAK_AND_FLUSH)
			expect_none(test, step.area);
		else
			expect_change(test, step.area, kept == BREAK ?
				      BBMCHK_RULE_NO_FLUSH :
				      BBMCHK_RULE_NO_BREAK,
				      step.why, step.level);
	}
}

static void change_live(struct kunit *test)
{
	change_at_each_level(test, NOTHING);
}

static void change_with_break_without_flush(struct kunit *test)
{
	change_at_each_level(test, BREAK);
}

static void change_with_break_and_flush(struct kunit *test)
{
	change_at_each_level(test, BREAK_AND_FLUSH);
}

static void other_readonly_contents_live_is_reported(struct kunit *test)
{
	struct area *area = test->priv;

	link_table(area);
	*(u8 *)(page_address(area->pages + 1) + PAGE_SIZE - 1) = 1;
	make_first(area, 0, page_desc(area, 0, RO_SET, RO_CLEAR));
	store_pte(area->ptep, page_desc(area, 1, RO_SET, RO_CLEAR));
	expect_report(test, area, BBMCHK_RULE_NO_BREAK, BBMCHK_ADDR, 0,
		      area->va);
}

/* Which flush covers a break. */

/**
 * struct flush_case - a flush after page 1 was made invalid
 * @name: for people
 * @flush: does it
 * @covers: page 1 may be something else then
 */
struct flush_case {
	const char *name;
	void (*flush)(struct area *area);
	bool covers;
};

static void flush_nothing(struct area *area)
{
}

static void flush_all(struct area *area)
{
	flush_tlb_all();
}

static void flush_large_range(struct area *area)
{
	flush_tlb_kernel_range(area->va, area->va + CONT_PMD_SIZE);
}

static void flush_exactly(struct area *area)
{
	flush_page(area, 1);
}

static void flush_walk(struct area *area)
{
	__flush_tlb_kernel_pgtable(area->va + PAGE_SIZE);
}

static void flush_neighbours(struct area *area)
{
	flush_page(area, 0);
	flush_page(area, 2);
	__flush_tlb_kernel_pgtable(area->va);
}

static void flush_this_cpu(struct area *area)
{
	local_flush_tlb_all();
}

/* flush_tlb_kernel_range() rounds both ends down, to 4 KiB at that. */
static void flush_to_inside_of_page(struct area *area)
{
	flush_tlb_kernel_range(area->va, area->va + PAGE_SIZE + 8);
}

/* A DSB is missing: nobody knows whether the TLBI is complete. */
static void flush_without_barrier(struct area *area)
{
	unsigned long addr = __TLBI_VADDR(area->va + PAGE_SIZE, 0);

	bbmchk_flush_begin();
	/* The walkers see the store, but nothing waits for the TLBI. */
	dsb(ishst);
	__tlbi(vaale1is, addr);
}

static const struct flush_case flush_cases[] = {
	{ "all", flush_all, true },
	{ "large_range", flush_large_range, true },
	{ "exactly", flush_exactly, true },
	{ "walk", flush_walk, true },
	{ "nothing", flush_nothing, false },
	{ "neighbours", flush_neighbours, false },
	{ "this_cpu", flush_this_cpu, false },
	{ "to_inside_of_page", flush_to_inside_of_page, false },
	{ "without_barrier", flush_without_barrier, false },
};

KUNIT_ARRAY_PARAM_DESC(flush, flush_cases, name);

static void make_after_flush(struct kunit *test)
{
	const struct flush_case *param = test->param_value;
	struct area *area = test->priv;

	break_page(area, 1);
	param->flush(area);
	make_other_page(area, 1);
	if (param->covers)
		expect_none(test, area);
	else
		expect_page_unflushed(test, area, 1);
}

static void flush_before_break_does_not_cover(struct kunit *test)
{
	struct area *area = test->priv;

	link_table(area);
	store_pte(area->ptep + 1, page_desc(area, 0, 0, 0));
	flush_page(area, 1);
	store_pte(area->ptep + 1, 0);
	make_other_page(area, 1);
	expect_page_unflushed(test, area, 1);
}

/* As if another CPU had begun to flush before this one made the page invalid. */
static void flush_under_way_at_break_does_not_cover(struct kunit *test)
{
	struct area *area = test->priv;
	u64 ticket = bbmchk_flush_begin();

	break_page(area, 1);
	bbmchk_flush_end(ticket, BBMCHK_FLUSH_ALL, 0, 0);
	make_other_page(area, 1);
	expect_page_unflushed(test, area, 1);
}

static void make_in_two_steps_is_reported_once(struct kunit *test)
{
	struct area *area = test->priv;

	break_page(area, 1);
	make_other_page(area, 1);
	expect_page_unflushed(test, area, 1);
	store_pte(area->ptep + 1, page_desc(area, 1, RO_SET, RO_CLEAR));
	expect_none(test, area);
}

/* The stale copy outlives a legal make of the same page. */
static void stale_copy_outlives_an_equal_make(struct kunit *test)
{
	struct area *area = test->priv;

	break_page(area, 1);
	store_pte(area->ptep + 1, page_desc(area, 0, RO_SET, RO_CLEAR));
	expect_none(test, area);
	store_pte(area->ptep + 1, 0);
	make_other_page(area, 1);
	expect_page_unflushed(test, area, 1);
}

static void present_invalid_and_back_is_clean(struct kunit *test)
{
	struct area *area = test->priv;
	u64 val = page_desc(area, 0, 0, 0);

	link_table(area);
	make_first(area, 0, val);
	store_pte(area->ptep, (val & ~PTE_VALID) | PTE_PRESENT_INVALID);
	/* Not valid, so its attributes are nobody's business. */
	store_pte(area->ptep, (val & ~PTE_VALID) | PTE_PRESENT_INVALID |
		  PTE_CONT | RO_SET);
	store_pte(area->ptep, val);
	expect_none(test, area);
}

static void present_invalid_and_elsewhere_is_reported(struct kunit *test)
{
	struct area *area = test->priv;
	u64 val = page_desc(area, 0, 0, 0);

	link_table(area);
	make_first(area, 0, val);
	store_pte(area->ptep, (val & ~PTE_VALID) | PTE_PRESENT_INVALID);
	store_pte(area->ptep, page_desc(area, 1, 0, 0));
	expect_page_unflushed(test, area, 0);
}

static void detached_table_is_free_to_change(struct kunit *test)
{
	struct area *area = test->priv;

	store_pte(area->table, page_desc(area, 0, 0, 0));
	store_pte(area->table, page_desc(area, 1, 0, 0));
	store_pte(area->table, 0);
	store_pte(area->table, page_desc(area, 2, 0, 0));
	expect_none(test, area);

	/* And what it held when it was linked counts from then on. */
	link_table(area);
	expect_none(test, area);
	store_pte(area->table, page_desc(area, 1, 0, 0));
	expect_report(test, area, BBMCHK_RULE_NO_BREAK, BBMCHK_ADDR, 0,
		      area->va);
}

/* Reports come once per site; the sites are told apart by their stacks. */
static void site_is_reported_once(struct kunit *test)
{
	u32 stacks[2];
	unsigned int i, nr = ARRAY_SIZE(stacks);
	unsigned long flags;
	bool first[3];

	/* Unrolled, the loop would be two calls, which are two sites. */
	OPTIMIZER_HIDE_VAR(nr);
	raw_spin_lock_irqsave(&bbmchk_lock, flags);
	for (i = 0; i < nr; i++) {
		stacks[i] = bbmchk_stack_save(0);
		first[i] = bbmchk_stack_first_report(stacks[i],
						     BBMCHK_RULE_RUN);
	}
	first[2] = bbmchk_stack_first_report(stacks[0], BBMCHK_RULE_NO_FLUSH);
	raw_spin_unlock_irqrestore(&bbmchk_lock, flags);

	KUNIT_EXPECT_NE(test, stacks[0], 0);
	KUNIT_EXPECT_EQ(test, stacks[0], stacks[1]);
	KUNIT_EXPECT_TRUE(test, first[0]);
	KUNIT_EXPECT_FALSE(test, first[1]);
	KUNIT_EXPECT_TRUE(test, first[2]);
}

/* A checker that has run out of room is blind: no suite may pass on that. */
static void nothing_was_missed(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, bbmchk_stats.missed_breaks, 0);
	KUNIT_EXPECT_EQ(test, bbmchk_stats.missed_tables, 0);
	KUNIT_EXPECT_EQ(test, bbmchk_stats.missed_runs, 0);
	KUNIT_EXPECT_EQ(test, bbmchk_stats.missed_stacks, 0);
	KUNIT_EXPECT_GT(test, bbmchk_stats.stores, 0);
	KUNIT_EXPECT_GT(test, bbmchk_stats.flushes, 0);
}

static struct kunit_case bbmchk_cases[] = {
	KUNIT_CASE_PARAM(change_live, change_gen_params),
	KUNIT_CASE_PARAM(change_with_break_without_flush, change_gen_params),
	KUNIT_CASE_PARAM(change_with_break_and_flush, change_gen_params),
	KUNIT_CASE(other_readonly_contents_live_is_reported),
	KUNIT_CASE_PARAM(make_after_flush, flush_gen_params),
	KUNIT_CASE(flush_before_break_does_not_cover),
	KUNIT_CASE(flush_under_way_at_break_does_not_cover),
	KUNIT_CASE(make_in_two_steps_is_reported_once),
	KUNIT_CASE(stale_copy_outlives_an_equal_make),
	KUNIT_CASE(present_invalid_and_back_is_clean),
	KUNIT_CASE(present_invalid_and_elsewhere_is_reported),
	KUNIT_CASE(detached_table_is_free_to_change),
	KUNIT_CASE(site_is_reported_once),
	KUNIT_CASE(nothing_was_missed),
	{}
};

static struct kunit_suite bbmchk_suite = {
	.name = "bbmchk",
	.init = area_init,
	.test_cases = bbmchk_cases,
};

/*
 * A violation of which the kernel hears. It says so, or panics; therefore only
 * where the command line has bbm_check_violate (tests/bbm_report).
 */
static bool violate;
core_param(bbm_check_violate, violate, bool, 0444);

static void violation_without_sink_is_reported(struct kunit *test)
{
	u64 *count = &bbmchk_stats.violations[BBMCHK_RULE_NO_FLUSH];
	u64 before = READ_ONCE(*count);
	struct area *area = test->priv;
	unsigned int i, nr = 3;

	if (!violate)
		kunit_skip(test, "bbm_check_violate is not on the command line");
	bbmchk_set_sink(NULL);
	/* Unrolled, the loop would have several sites. */
	OPTIMIZER_HIDE_VAR(nr);
	for (i = 0; i < nr; i++) {
		break_page(area, 1);
		make_other_page(area, 1);
		store_pte(area->ptep + 1, 0);
		flush_page(area, 1);
	}
	KUNIT_EXPECT_EQ(test, before + nr, READ_ONCE(*count));
}

static struct kunit_case bbm_report_cases[] = {
	KUNIT_CASE(violation_without_sink_is_reported),
	{}
};

static struct kunit_suite bbm_report_suite = {
	.name = "bbm_report",
	.init = area_init,
	.test_cases = bbm_report_cases,
};

kunit_test_suites(&bbmchk_suite, &bbm_report_suite);

MODULE_DESCRIPTION("Tests of the break-before-make checker");
MODULE_LICENSE("GPL");
