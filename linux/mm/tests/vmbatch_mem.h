/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory to map, and what the vmbatch suites know about mappings. */
#ifndef _MM_TESTS_VMBATCH_MEM_H
#define _MM_TESTS_VMBATCH_MEM_H

#include <kunit/test.h>
#include <linux/mm.h>

#ifdef CONFIG_ARM64
#include <asm/bbml2.h>
#endif

/* An address, aligned to every leaf, where no machine of ours has memory. */
#define VMBATCH_NO_MEMORY	BIT_ULL(38)

/**
 * struct vmbatch_mem - an array of pages made of blocks, freed with the test
 * @pages: the array; a test may reorder it
 * @nr_pages: number of @pages
 * @max_pages: how many there is room for
 * @blocks: the blocks behind it
 * @nr_blocks: number of @blocks
 */
struct vmbatch_mem {
	struct page **pages;
	unsigned int nr_pages;
	unsigned int max_pages;
	struct vmbatch_block {
		struct page *page;
		unsigned int order;
	} *blocks;
	unsigned int nr_blocks;
};

/**
 * vmbatch_mem_alloc() - allocate an array of pages that can hold @max_pages
 * @test: the test
 * @max_pages: how many entries there may be
 *
 * Context: A test. Fails the test if there is no memory.
 * Return: an array without pages.
 */
struct vmbatch_mem *vmbatch_mem_alloc(struct kunit *test,
				      unsigned int max_pages);

/**
 * vmbatch_mem_add() - append a block, each page marked with its index
 * @mem: the array
 * @order: order of the block, a compound page
 *
 * Context: A test.
 * Return: false if there is no such block or no room for it.
 */
bool vmbatch_mem_add(struct vmbatch_mem *mem, unsigned int order);

/**
 * vmbatch_mem_hold() - append a page that somebody else has allocated
 * @mem: the array, with room for the page
 * @page: the page, in no compound page
 *
 * The page is not free for others while the test runs, even if its owner lets
 * go of it.
 *
 * Context: A test.
 * Return: false if there is no page or no room for it.
 */
bool vmbatch_mem_hold(struct vmbatch_mem *mem, struct page *page);

/**
 * vmbatch_mark() - mark the pages with their current index in the array
 * @mem: the array
 *
 * Context: A test.
 */
void vmbatch_mark(struct vmbatch_mem *mem);

/**
 * vmbatch_leaf_size() - size of the leaf that maps an address
 * @addr: address in vmalloc space, mapped or not
 *
 * Context: Nobody changes the mapping of @addr.
 * Return: the size in bytes, 0 if nothing is mapped.
 */
unsigned long vmbatch_leaf_size(unsigned long addr);

/**
 * vmbatch_kind_gen_params() - one parameter for every size that a leaf can have
 * @prev: the one before, NULL at first
 * @desc: filled in
 *
 * For KUNIT_CASE_PARAM(); largest first, pages last.
 *
 * Context: Any.
 * Return: what vmbatch_kind_shift() reads, NULL at the end.
 */
const void *vmbatch_kind_gen_params(const void *prev, char *desc);

/**
 * vmbatch_kind_shift() - the parameter of a test
 * @test: the test, with parameters from vmbatch_kind_gen_params()
 *
 * Context: A test.
 * Return: log2 of the size of the leaf.
 */
static inline unsigned int vmbatch_kind_shift(struct kunit *test)
{
	return (unsigned long)test->param_value;
}

/**
 * vmbatch_is_memory() - may a page be mapped as memory once more?
 * @pfn: the page
 *
 * Context: Any.
 * Return: false for holes, and for what the linear map leaves out.
 */
static inline bool vmbatch_is_memory(unsigned long pfn)
{
#ifdef CONFIG_ARM64
	return pfn_is_map_memory(pfn);
#else
	return pfn_valid(pfn);
#endif
}

/**
 * vmbatch_can_split() - can set_memory split a large leaf of an area?
 *
 * Context: Any.
 * Return: true if it must, false if it has to refuse such an area.
 */
static inline bool vmbatch_can_split(void)
{
#ifdef CONFIG_ARM64
	return IS_ENABLED(CONFIG_ARM64_KLEAF) && system_supports_bbml2_noabort();
#else
	return true;
#endif
}

/**
 * vmbatch_expect_mapped() - expect the array at an address, page by page
 * @test: the test
 * @mem: the array, marked
 * @addr: where it should be
 * @max_shift: log2 of the largest leaf that may be used
 *
 * Checks contents, translation and leaf size of every page. The leaf must be
 * the largest one that size and alignment allow, found by trying all sizes.
 *
 * Context: A test.
 */
void vmbatch_expect_mapped(struct kunit *test, struct vmbatch_mem *mem,
			   unsigned long addr, unsigned int max_shift);

/**
 * vmbatch_expect_unmapped() - expect that nothing is mapped
 * @test: the test
 * @start: first byte
 * @end: one past the last byte
 *
 * Context: A test, which owns the range.
 */
void vmbatch_expect_unmapped(struct kunit *test, unsigned long start,
			     unsigned long end);

/**
 * vmbatch_expect_gone() - expect that a range maps no page of the array
 * @test: the test
 * @mem: the array, all of which was mapped there
 * @start: first byte
 * @end: one past the last byte
 *
 * For a range that was given back: it may have a new owner, but none that maps
 * these pages, since the test still has them.
 *
 * Context: A test. Takes the mmap lock of init_mm.
 */
void vmbatch_expect_gone(struct kunit *test, struct vmbatch_mem *mem,
			 unsigned long start, unsigned long end);

#endif /* _MM_TESTS_VMBATCH_MEM_H */
