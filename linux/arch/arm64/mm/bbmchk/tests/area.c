// SPDX-License-Identifier: GPL-2.0-only
/*
 * A range of kernel addresses for the suites of the break-before-make checker.
 *
 * Invariants:
 *  I1 (always). Nobody but the test stores to the entries of the area, and
 *      nobody at all uses its addresses, so that what is wrong there does no
 *      harm.
 *  I2 (when the test case has ended). All entries are empty and flushed, and
 *      the tables are free.
 *
 * Locking: none; an area belongs to one test case.
 * TLB and barriers: left out on purpose in many cases; area_free() flushes all.
 * Failure: reported to KUnit.
 * See: Documentation/arch/arm64/bbm-check.rst
 */

#include <linux/gfp.h>
#include <linux/memblock.h>

#include <asm/pgalloc.h>
#include <asm/tlbflush.h>

#include "area.h"

const int bbm_levels[3] = { 0, 1, 2 };

static const unsigned int pages_order = CONT_PTE_SHIFT - PAGE_SHIFT;

static void take_report(const struct bbmchk_report *report, void *data)
{
	struct area *area = data;

	if (area->nr_reports < MAX_REPORTS)
		area->reports[area->nr_reports] = *report;
	area->nr_reports++;
}

void area_set_level(struct area *area, int bbm)
{
	area->sink.bbm = bbm;
}

void expect_report(struct kunit *test, struct area *area, enum bbmchk_rule rule,
		   enum bbmchk_why why, unsigned int level, unsigned long va)
{
	const struct bbmchk_report *report = &area->reports[0];

	KUNIT_EXPECT_EQ(test, area->nr_reports, 1);
	if (area->nr_reports) {
		KUNIT_EXPECT_EQ(test, report->rule, rule);
		KUNIT_EXPECT_EQ(test, report->why, why);
		KUNIT_EXPECT_EQ(test, report->level, level);
		KUNIT_EXPECT_EQ(test, report->va, va);
		KUNIT_EXPECT_NE(test, report->write, 0);
		if (rule == BBMCHK_RULE_NO_FLUSH ||
		    rule == BBMCHK_RULE_FREED_UNFLUSHED)
			KUNIT_EXPECT_NE(test, report->broke, 0);
	}
	area->nr_reports = 0;
}

void expect_change(struct kunit *test, struct area *area, enum bbmchk_rule rule,
		   enum bbmchk_why why, unsigned int level)
{
	if (bbmchk_needs_break(why, area->sink.bbm))
		expect_report(test, area, rule, why, level, area->va);
	else
		expect_none(test, area);
}

void expect_none(struct kunit *test, struct area *area)
{
	KUNIT_EXPECT_EQ(test, area->nr_reports, 0);
	if (area->nr_reports)
		kunit_info(test, "rule %d, differs in %d, at %lx\n",
			   area->reports[0].rule, area->reports[0].why,
			   area->reports[0].va);
	area->nr_reports = 0;
}

u64 page_desc(struct area *area, unsigned int i, u64 set, u64 clear)
{
	u64 pa = page_to_phys(area->pages + i);

	return (__phys_to_pte_val(pa) | (pgprot_val(PAGE_KERNEL) & ~clear) | set);
}

u64 leaf_desc(struct area *area, unsigned int level, unsigned int i, u64 set,
	      u64 clear)
{
	unsigned long size = bbmchk_size(level);
	u64 pa = ALIGN_DOWN(page_to_phys(area->pages), size) + i * size;

	if (!level)
		return page_desc(area, i, set, clear);

	return __phys_to_pte_val(pa) | set |
		(pgprot_val(PAGE_KERNEL) & ~clear & ~PTE_TABLE_BIT);
}

u64 block_desc(struct area *area, unsigned int i)
{
	return leaf_desc(area, 1, i, 0, 0);
}

void store_pte(pte_t *ptep, u64 val)
{
	__set_pte_nosync(ptep, __pte(val));
}

void store_pmd(struct area *area, unsigned int i, u64 val)
{
	set_pmd(area->pmdp + i, __pmd(val));
}

void store_first(struct area *area, unsigned int level, u64 val)
{
	switch (level) {
	case 0:
		store_pte(area->ptep, val);
		break;
	case 1:
		store_pmd(area, 0, val);
		break;
	default:
		set_pud(area->pudp, __pud(val));
		break;
	}
}

void make_first(struct area *area, unsigned int level, u64 val)
{
	store_first(area, level, 0);
	flush_tlb_all();
	store_first(area, level, val);
}

void fill_table(void *table, unsigned int level, u64 leaf)
{
	u64 bit = level ? 0 : PTE_TABLE_BIT, *entries = table;
	unsigned int i;

	for (i = 0; i < BBMCHK_PTRS; i++)
		WRITE_ONCE(entries[i], bit |
			   bbmchk_sub(leaf, level + 1, level,
				      i * bbmchk_size(level)));
}

u64 table_desc(const pte_t *table)
{
	return __phys_to_pmd_val(__pa(table)) | PMD_TYPE_TABLE | PMD_TABLE_UXN;
}

void link_table(struct area *area)
{
	store_pmd(area, 0, table_desc(area->table));
	area->ptep = area->table;
}

void flush_page(struct area *area, unsigned int i)
{
	unsigned long addr = area->va + i * PAGE_SIZE;

	flush_tlb_kernel_range(addr, addr + PAGE_SIZE);
}

void store_elsewhere(struct area *area)
{
	store_pte(area->ptep + PTRS_PER_PTE - 1, 0);
}

static void area_free(void *data)
{
	struct area *area = data;
	unsigned int i;

	for (i = 0; area->pmdp && i < CONT_PMDS; i++)
		store_pmd(area, i, 0);
	if (area->pudp)
		store_first(area, 2, 0);
	flush_tlb_all();
	bbmchk_set_sink(NULL);

	if (area->table)
		free_page((unsigned long)area->table);
	if (area->other_table)
		free_page((unsigned long)area->other_table);
	if (area->pages)
		__free_pages(area->pages, pages_order);
}

static pmd_t *find_pmds(unsigned long va)
{
	pgd_t *pgdp = pgd_offset_k(va);
	p4d_t *p4dp = p4d_alloc(&init_mm, pgdp, va);
	pud_t *pudp = p4dp ? pud_alloc(&init_mm, p4dp, va) : NULL;
	pmd_t *pmdp = pudp ? pmd_alloc(&init_mm, pudp, va) : NULL;
	unsigned int i;

	for (i = 0; pmdp && i < CONT_PMDS; i++)
		if (!pmd_none(READ_ONCE(pmdp[i])))
			return NULL;

	return pmdp;
}

/*
 * Behind the end of memory there is nothing in the linear map, whoever else
 * uses it. An area of vmalloc would have a shadow made for it by KASAN.
 */
static unsigned long behind_memory(unsigned long size)
{
	return ALIGN((unsigned long)__va(memblock_end_of_DRAM()), size);
}

static void divert_reports(struct area *area, unsigned long size)
{
	bbmchk_set_sink(NULL);
	area->sink = (struct bbmchk_sink) {
		.start = area->va,
		.end = area->va + size,
		.report = take_report,
		.data = area,
	};
	bbmchk_set_sink(&area->sink);
}

int area_init(struct kunit *test)
{
	struct area *area;

	if (!static_key_enabled(&bbmchk_key))
		kunit_skip(test, "bbm_check=off");

	area = kunit_kzalloc(test, sizeof(*area), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, area);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, area_free,
							   area));
	area->va = behind_memory(CONT_PMD_SIZE);
	KUNIT_ASSERT_LT(test, area->va, PAGE_END);
	area->table = (pte_t *)get_zeroed_page(GFP_KERNEL);
	area->other_table = (pte_t *)get_zeroed_page(GFP_KERNEL);
	area->pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, pages_order);
	KUNIT_ASSERT_NOT_NULL(test, area->table);
	KUNIT_ASSERT_NOT_NULL(test, area->other_table);
	KUNIT_ASSERT_NOT_NULL(test, area->pages);
	area->pmdp = find_pmds(area->va);
	KUNIT_ASSERT_NOT_NULL(test, area->pmdp);

	divert_reports(area, CONT_PMD_SIZE);
	test->priv = area;

	return 0;
}

/* An entry without a table: other cases leave those where they have been. */
static pud_t *find_pud(struct area *area)
{
	for (area->va = behind_memory(PUD_SIZE); area->va < PAGE_END;
	     area->va += PUD_SIZE) {
		p4d_t *p4dp = p4d_alloc(&init_mm, pgd_offset_k(area->va),
					area->va);
		pud_t *pudp = p4dp ? pud_alloc(&init_mm, p4dp, area->va) : NULL;

		if (!pudp || pud_none(READ_ONCE(*pudp)))
			return pudp;
	}

	return NULL;
}

void area_use_pud(struct kunit *test)
{
	struct area *area = test->priv;

	if (!pud_sect_supported())
		kunit_skip(test, "no PUD leaves with this page size");

	area->pmdp = NULL;
	area->pudp = find_pud(area);
	KUNIT_ASSERT_NOT_NULL(test, area->pudp);
	divert_reports(area, PUD_SIZE);
}

void break_page(struct area *area, unsigned int i)
{
	if (!area->ptep)
		link_table(area);
	store_pte(area->ptep + i, page_desc(area, 0, 0, 0));
	store_pte(area->ptep + i, 0);
}

void make_other_page(struct area *area, unsigned int i)
{
	store_pte(area->ptep + i, page_desc(area, 1, 0, 0));
}

void expect_page_unflushed(struct kunit *test, struct area *area,
			   unsigned int i)
{
	expect_report(test, area, BBMCHK_RULE_NO_FLUSH, BBMCHK_ADDR, 0,
		      area->va + i * PAGE_SIZE);
}
