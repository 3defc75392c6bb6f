// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for the vmbatch suites, and a model of how it should be mapped.
 *
 * Invariants:
 *  I1 (always). Page i of an array begins and ends with mark(i), so that a
 *      page mapped in the place of another is found out.
 * Locking: none, a test uses an array alone.
 * TLB and barriers: none, page tables are only read.
 * Failure: what was allocated goes with the test.
 * See: Documentation/mm/vmap-leaves.rst
 */

#include <linux/highmem.h>
#include <linux/pgtable.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <asm/vmap-leaf.h>

#include "vmbatch_mem.h"

#define NR_WORDS	(PAGE_SIZE / sizeof(u64))

static u64 mark(unsigned int i)
{
	return 0x76b07a7c4000000ULL | ((u64)i << 1) | 1;
}

static void mem_free(void *data)
{
	struct vmbatch_mem *mem = data;

	while (mem->nr_blocks--)
		__free_pages(mem->blocks[mem->nr_blocks].page,
			     mem->blocks[mem->nr_blocks].order);
	kvfree(mem->blocks);
	kvfree(mem->pages);
	kfree(mem);
}

struct vmbatch_mem *vmbatch_mem_alloc(struct kunit *test,
				      unsigned int max_pages)
{
	struct vmbatch_mem *mem = kzalloc(sizeof(*mem), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mem);
	mem->max_pages = max_pages;
	mem->pages = kvcalloc(max_pages, sizeof(*mem->pages), GFP_KERNEL);
	mem->blocks = kvcalloc(max_pages, sizeof(*mem->blocks), GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, mem_free, mem));
	KUNIT_ASSERT_NOT_NULL(test, mem->pages);
	KUNIT_ASSERT_NOT_NULL(test, mem->blocks);

	return mem;
}

bool vmbatch_mem_add(struct vmbatch_mem *mem, unsigned int order)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY;
	struct vmbatch_block *block = &mem->blocks[mem->nr_blocks];
	unsigned int i;

	if (mem->nr_pages + (1U << order) > mem->max_pages)
		return false;

	block->page = alloc_pages(order ? gfp | __GFP_COMP : gfp, order);
	if (!block->page)
		return false;

	block->order = order;
	mem->nr_blocks++;
	for (i = 0; i < 1U << order; i++)
		mem->pages[mem->nr_pages++] = block->page + i;

	return true;
}

bool vmbatch_mem_hold(struct vmbatch_mem *mem, struct page *page)
{
	struct vmbatch_block *block = &mem->blocks[mem->nr_blocks];

	if (!page || mem->nr_pages == mem->max_pages)
		return false;

	get_page(page);
	block->page = page;
	block->order = 0;
	mem->nr_blocks++;
	mem->pages[mem->nr_pages++] = page;

	return true;
}

void vmbatch_mark(struct vmbatch_mem *mem)
{
	unsigned int i;

	for (i = 0; i < mem->nr_pages; i++) {
		u64 *word = kmap_local_page(mem->pages[i]);

		word[0] = mark(i);
		word[NR_WORDS - 1] = mark(i);
		kunmap_local(word);
	}
}

unsigned long vmbatch_leaf_size(unsigned long addr)
{
	pgd_t *pgd = pgd_offset_k(addr);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;
	pte_t pte;

	if (pgd_none(*pgd))
		return 0;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(*p4d))
		return 0;
	pud = pud_offset(p4d, addr);
	if (pud_none(*pud))
		return 0;
	if (pud_leaf(*pud))
		return PUD_SIZE;
	pmd = pmd_offset(pud, addr);
	if (pmd_none(*pmd))
		return 0;
	if (pmd_leaf(*pmd))
		return pmd_leaf_size(*pmd);
	pte = ptep_get(pte_offset_kernel(pmd, addr));

	return pte_none(pte) ? 0 : pte_leaf_size(pte);
}

const void *vmbatch_kind_gen_params(const void *prev, char *desc)
{
	unsigned long shift = prev ? (unsigned long)prev : PUD_SHIFT + 1;

	if (shift == PAGE_SHIFT)
		return NULL;

	shift = arch_vmap_leaf_shift(shift - 1, PAGE_KERNEL);
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "leaf of %lu KiB",
		 (1UL << shift) >> 10);

	return (const void *)shift;
}

/* Can page @i be in a leaf of this size, when the array is at @addr? */
static bool leaf_fits(struct vmbatch_mem *mem, unsigned long addr,
		      unsigned int i, unsigned int shift)
{
	unsigned long leaf = ALIGN_DOWN(addr + i * PAGE_SIZE, 1UL << shift);
	unsigned long nr = 1UL << (shift - PAGE_SHIFT), j, first;

	if (leaf < addr ||
	    leaf + (1UL << shift) > addr + mem->nr_pages * PAGE_SIZE)
		return false;

	first = (leaf - addr) >> PAGE_SHIFT;
	if (!IS_ALIGNED(page_to_pfn(mem->pages[first]), nr))
		return false;
	for (j = 1; j < nr; j++)
		if (page_to_pfn(mem->pages[first + j]) !=
		    page_to_pfn(mem->pages[first]) + j)
			return false;

	return true;
}

static unsigned int largest_shift(struct vmbatch_mem *mem, unsigned long addr,
				  unsigned int i, unsigned int max_shift)
{
	unsigned int shift = arch_vmap_leaf_shift(max_shift, PAGE_KERNEL);

	while (shift > PAGE_SHIFT && !leaf_fits(mem, addr, i, shift))
		shift = arch_vmap_leaf_shift(shift - 1, PAGE_KERNEL);

	return shift;
}

void vmbatch_expect_mapped(struct kunit *test, struct vmbatch_mem *mem,
			   unsigned long addr, unsigned int max_shift)
{
	unsigned int i, wrong = 0, shift = PAGE_SHIFT;
	unsigned long leaf_end = 0;

	for (i = 0; i < mem->nr_pages && wrong < 5; i++) {
		unsigned long at = addr + i * PAGE_SIZE;
		const u64 *word = (const u64 *)at;

		/* The answer is the same for all pages of a leaf. */
		if (at >= leaf_end) {
			shift = largest_shift(mem, addr, i, max_shift);
			leaf_end = ALIGN(at + 1, 1UL << shift);
		}
		if (vmalloc_to_page((void *)at) != mem->pages[i]) {
			KUNIT_FAIL(test, "page %u: another page is there", i);
			wrong++;
			continue;
		}
		if (word[0] != mark(i) || word[NR_WORDS - 1] != mark(i)) {
			KUNIT_FAIL(test, "page %u: contents differ", i);
			wrong++;
		}
		if (vmbatch_leaf_size(at) != 1UL << shift) {
			KUNIT_FAIL(test, "page %u: leaf of %lx, not %lx bytes",
				   i, vmbatch_leaf_size(at), 1UL << shift);
			wrong++;
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

void vmbatch_expect_unmapped(struct kunit *test, unsigned long start,
			     unsigned long end)
{
	unsigned long addr;

	for (addr = start; addr < end; addr += PAGE_SIZE)
		if (vmbatch_leaf_size(addr))
			break;
	KUNIT_EXPECT_EQ_MSG(test, addr, end, "%lx bytes in", addr - start);
}

static bool mem_has_page(struct vmbatch_mem *mem, struct page *page)
{
	unsigned int i;

	for (i = 0; i < mem->nr_blocks; i++)
		if (page >= mem->blocks[i].page &&
		    page < mem->blocks[i].page + (1UL << mem->blocks[i].order))
			return true;

	return false;
}

void vmbatch_expect_gone(struct kunit *test, struct vmbatch_mem *mem,
			 unsigned long start, unsigned long end)
{
	unsigned long addr;

	/* As ptdump does: whoever frees a table here holds it for reading. */
	mmap_write_lock(&init_mm);
	for (addr = start; addr < end; addr += PAGE_SIZE) {
		struct page *page = vmalloc_to_page((void *)addr);

		if (page && mem_has_page(mem, page))
			break;
	}
	mmap_write_unlock(&init_mm);
	KUNIT_EXPECT_EQ_MSG(test, addr, end, "%lx bytes in", addr - start);
}
