/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A range of kernel addresses for the suites of the break-before-make checker.
 */
#ifndef __BBMCHK_TEST_AREA_H
#define __BBMCHK_TEST_AREA_H

#include <kunit/test.h>

#include "../bbmchk.h"

#define MAX_REPORTS	4

/* All of them; the kernel never sets nT, so 1 allows what 0 does. */
extern const int bbm_levels[3];

#define RO_SET		PTE_RDONLY
#define RO_CLEAR	(PTE_WRITE | PTE_DIRTY)

/**
 * struct area - a range of addresses that belongs to a test case
 * @va: first byte, aligned to a contiguous run of PMD entries, or to a PUD
 *	entry after area_use_pud()
 * @pmdp: the entry of @va; none of the run is in use. NULL with @pudp
 * @pudp: the PUD entry of @va, after area_use_pud()
 * @table: a PTE table, not linked anywhere
 * @other_table: another
 * @ptep: @table, once it is linked at @pmdp
 * @pages: contiguous memory, as much as a run of PTEs maps
 * @sink: takes the reports
 * @reports: those that came
 * @nr_reports: their number, which may exceed MAX_REPORTS
 */
struct area {
	unsigned long va;
	pmd_t *pmdp;
	pud_t *pudp;
	pte_t *table;
	pte_t *other_table;
	pte_t *ptep;
	struct page *pages;
	struct bbmchk_sink sink;
	struct bbmchk_report reports[MAX_REPORTS];
	unsigned int nr_reports;
};

/**
 * area_init() - reserve an area for a test case, and have its reports
 * @test: the test; its priv becomes the struct area
 *
 * Skips the case if nothing is checked.
 *
 * Context: KUnit, as the init function of a suite.
 * Return: 0.
 */
int area_init(struct kunit *test);

/**
 * area_use_pud() - give up the area for one that a PUD entry maps
 * @test: the test
 *
 * Skips the case if the kernel uses no PUD leaves with this page size.
 *
 * Context: KUnit test case, before anything was stored.
 */
void area_use_pud(struct kunit *test);

/**
 * area_set_level() - choose the BBM level that the checker assumes
 * @area: the area
 * @bbm: 0 to 2
 *
 * Context: KUnit test case.
 */
void area_set_level(struct area *area, int bbm);

/**
 * expect_report() - exactly one report came, and it says this
 * @test: the test
 * @area: its area
 * @rule: the rule that was broken
 * @why: what differed
 * @level: level of the offending entry
 * @va: first byte that it maps
 *
 * Context: KUnit test case. Forgets the reports.
 */
void expect_report(struct kunit *test, struct area *area, enum bbmchk_rule rule,
		   enum bbmchk_why why, unsigned int level, unsigned long va);

/**
 * expect_change() - a report came if the change needs a break, and none else
 * @test: the test
 * @area: its area
 * @rule: the rule that was broken, if one was
 * @why: what differed
 * @level: level of the entry, which maps the first byte of the area
 *
 * Context: KUnit test case. Forgets the reports.
 */
void expect_change(struct kunit *test, struct area *area, enum bbmchk_rule rule,
		   enum bbmchk_why why, unsigned int level);

/**
 * expect_none() - no report came
 * @test: the test
 * @area: its area
 *
 * Context: KUnit test case. Forgets the reports.
 */
void expect_none(struct kunit *test, struct area *area);

/**
 * expect_page_unflushed() - a page was made before the flush of another one
 * @test: the test
 * @area: its area
 * @i: index of the PTE
 *
 * Context: KUnit test case. Forgets the reports.
 */
void expect_page_unflushed(struct kunit *test, struct area *area,
			   unsigned int i);

/**
 * page_desc() - a page descriptor like that of PAGE_KERNEL
 * @area: the area
 * @i: which of its pages
 * @set: bits to set
 * @clear: bits to clear, before @set
 *
 * Context: Any.
 * Return: the descriptor.
 */
u64 page_desc(struct area *area, unsigned int i, u64 set, u64 clear);

/**
 * leaf_desc() - a leaf descriptor like that of PAGE_KERNEL
 * @area: the area; nobody is going to look at memory through it
 * @level: level of the leaf; 0 is page_desc()
 * @i: consecutive indexes give consecutive leaves
 * @set: bits to set
 * @clear: bits to clear, before @set
 *
 * Context: Any.
 * Return: the descriptor.
 */
u64 leaf_desc(struct area *area, unsigned int level, unsigned int i, u64 set,
	      u64 clear);

/**
 * block_desc() - a PMD block descriptor like that of PAGE_KERNEL
 * @area: the area
 * @i: consecutive indexes give consecutive blocks
 *
 * Context: Any.
 * Return: the descriptor.
 */
u64 block_desc(struct area *area, unsigned int i);

/**
 * table_desc() - a descriptor that points to a PTE table
 * @table: the table
 *
 * Context: Any.
 * Return: the descriptor.
 */
u64 table_desc(const pte_t *table);

/**
 * store_pte() - store a PTE with a setter, without barriers
 * @ptep: where
 * @val: what
 *
 * Context: KUnit test case.
 */
void store_pte(pte_t *ptep, u64 val);

/**
 * store_pmd() - store a PMD entry of an area with a setter
 * @area: the area
 * @i: which entry
 * @val: what
 *
 * Context: KUnit test case.
 */
void store_pmd(struct area *area, unsigned int i, u64 val);

/**
 * store_first() - store an entry that maps the first byte of an area
 * @area: the area; its table linked for @level 0, area_use_pud() for 2
 * @level: level of the entry
 * @val: what
 *
 * Context: KUnit test case.
 */
void store_first(struct area *area, unsigned int level, u64 val);

/**
 * make_first() - make the same, and have been somewhere clean before
 * @area: the area
 * @level: level of the entry
 * @val: what
 *
 * Context: KUnit test case.
 */
void make_first(struct area *area, unsigned int level, u64 val);

/**
 * fill_table() - fill a table that is not linked with what a leaf maps
 * @table: the table
 * @level: of its entries
 * @leaf: leaf descriptor of the level above
 *
 * Context: KUnit test case.
 */
void fill_table(void *table, unsigned int level, u64 leaf);

/**
 * link_table() - link the first table of an area at its first PMD entry
 * @area: the area
 *
 * Context: KUnit test case.
 */
void link_table(struct area *area);

/**
 * flush_page() - flush one page of an area on all CPUs
 * @area: the area
 * @i: which page
 *
 * Context: KUnit test case.
 */
void flush_page(struct area *area, unsigned int i);

/**
 * store_elsewhere() - store what has nothing to do with the entries under test
 * @area: the area, its table linked
 *
 * Context: KUnit test case.
 */
void store_elsewhere(struct area *area);

/**
 * break_page() - map a page, and make it invalid without a flush
 * @area: the area
 * @i: index of the PTE
 *
 * Context: KUnit test case.
 */
void break_page(struct area *area, unsigned int i);

/**
 * make_other_page() - map another page than break_page() does
 * @area: the area
 * @i: index of the PTE
 *
 * Context: KUnit test case.
 */
void make_other_page(struct area *area, unsigned int i);

#endif /* __BBMCHK_TEST_AREA_H */
