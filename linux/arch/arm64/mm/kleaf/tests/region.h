/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A region of the linear map for the kleaf suites, with a flat model of it.
 */
#ifndef __KLEAF_TEST_REGION_H
#define __KLEAF_TEST_REGION_H

#include <kunit/test.h>

#include "../kleaf.h"

/* What the model knows of a page. */
#define MODEL_INVALID	BIT(0)
#define MODEL_RDONLY	BIT(1)

/**
 * struct region - contiguous memory that belongs to a test
 * @start: first byte in the linear map
 * @end: one past the last byte
 * @nr_pages: size in pages
 * @page: first page
 * @model: MODEL_* flags of each page
 * @boundary: bit i is set if a change began or ended at page i
 * @initial: kind of leaf that mapped each page before the first change
 */
struct region {
	unsigned long start;
	unsigned long end;
	unsigned long nr_pages;
	struct page *page;
	u8 *model;
	unsigned long *boundary;
	u8 *initial;
};

/**
 * region_alloc() - allocate a region that is freed when the test case ends
 * @test: the test
 * @size: bytes, a power of two; also the alignment
 *
 * Context: KUnit test case.
 * Return: the region, valid, writable and filled with a pattern; NULL if there
 *	is not so much contiguous memory.
 */
struct region *region_alloc(struct kunit *test, unsigned long size);

/**
 * region_change() - change a part of the region, and the model if that worked
 * @region: the region
 * @first: index of the first page
 * @nr_pages: number of pages
 * @flag: MODEL_INVALID or MODEL_RDONLY
 * @on: set it or clear it
 *
 * Context: KUnit test case.
 * Return: what kleaf_change() returned.
 */
int region_change(struct region *region, unsigned long first,
		  unsigned long nr_pages, u8 flag, bool on);

/**
 * region_check_attributes() - compare every page with the model
 * @test: the test
 * @region: the region
 *
 * The oracle is the CPU's own address translation (AT S1E1R and AT S1E1W), not
 * a walk of ours. In regions of more than 16384 pages it is asked for the ends
 * of each leaf only, and the model must be the same all over the leaf.
 *
 * Context: KUnit test case.
 * Return: true if all pages agree; the first that does not fails the test.
 */
bool region_check_attributes(struct kunit *test, struct region *region);

/**
 * region_check_leaves() - is every leaf as large as it may be?
 * @test: the test
 * @region: the region
 *
 * Each page must be mapped by the largest leaf that is no larger than the one
 * that mapped it at first and has no recorded boundary inside.
 *
 * Context: KUnit test case.
 * Return: true if so; the first page for which it is not fails the test.
 */
bool region_check_leaves(struct kunit *test, struct region *region);

/**
 * region_leaf_kind() - kind of leaf that maps an address
 * @addr: kernel address, page aligned
 *
 * Context: Any.
 * Return: the kind, or NR_KLEAF_KINDS if nothing maps @addr.
 */
enum kleaf_kind region_leaf_kind(unsigned long addr);

/**
 * region_translates() - ask the CPU whether an access is permitted
 * @addr: kernel address
 * @write: for a write, not a read
 * @pa: where to store the physical address of the page, or NULL
 *
 * Context: Any.
 * Return: true if the access would not fault.
 */
bool region_translates(unsigned long addr, bool write, phys_addr_t *pa);

/**
 * region_fail_table_allocs() - let table allocations of the engine fail
 * @test: the test
 * @after: number of allocations that still succeed; negative: all do
 *
 * Context: KUnit test case. Ends with the test case.
 */
void region_fail_table_allocs(struct kunit *test, int after);

#endif /* __KLEAF_TEST_REGION_H */
