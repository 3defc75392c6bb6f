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
#include <linux/vmalloc.h>

#include <asm/pgalloc.h>
#include <asm/tlbflush.h>

#include "area.h"

const int bbm_levels[2] = { 0, 2 };

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

u64 block_desc(struct area *area, unsigned int i)
{
	u64 pa = ALIGN_DOWN(page_to_phys(area->pages), PMD_SIZE) + i * PMD_SIZE;

	return __phys_to_pte_val(pa) |
		(pgprot_val(PAGE_KERNEL) & ~PTE_TABLE_BIT);
}

void store_pte(pte_t *ptep, u64 val)
{
	__set_pte_nosync(ptep, __pte(val));
}

void store_pmd(struct area *area, unsigned int i, u64 val)
{
	set_pmd(area->pmdp + i, __pmd(val));
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
	flush_tlb_all();
	bbmchk_set_sink(NULL);

	if (area->table)
		free_page((unsigned long)area->table);
	if (area->other_table)
		free_page((unsigned long)area->other_table);
	if (area->pages)
		__free_pages(area->pages, pages_order);
	free_vm_area(area->vm);
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

int area_init(struct kunit *test)
{
	struct area *area;

	if (!static_key_enabled(&bbmchk_key))
		kunit_skip(test, "bbm_check=off");

	area = kunit_kzalloc(test, sizeof(*area), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, area);
	area->vm = get_vm_area(2 * CONT_PMD_SIZE, VM_IOREMAP);
	KUNIT_ASSERT_NOT_NULL(test, area->vm);
	area->va = ALIGN((unsigned long)area->vm->addr, CONT_PMD_SIZE);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, area_free,
							   area));
	area->table = (pte_t *)get_zeroed_page(GFP_KERNEL);
	area->other_table = (pte_t *)get_zeroed_page(GFP_KERNEL);
	area->pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, pages_order);
	KUNIT_ASSERT_NOT_NULL(test, area->table);
	KUNIT_ASSERT_NOT_NULL(test, area->other_table);
	KUNIT_ASSERT_NOT_NULL(test, area->pages);
	area->pmdp = find_pmds(area->va);
	KUNIT_ASSERT_NOT_NULL(test, area->pmdp);

	area->sink = (struct bbmchk_sink) {
		.start = area->va,
		.end = area->va + CONT_PMD_SIZE,
		.report = take_report,
		.data = area,
	};
	bbmchk_set_sink(&area->sink);
	test->priv = area;

	return 0;
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
