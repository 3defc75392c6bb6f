// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of what becomes of leaves when part of their range is unmapped,
 * for leaves of every size: the kernel warns, twice in each case, and all of
 * them stay as they were.
 *
 * Nothing reads or writes what is mapped here, and there is no memory behind.
 *
 * Run them with
 *	make test SUITES="kunit_vmbatch_cut kunit_vmbatch_cut_pages"
 */

#include <linux/io.h>
#include <linux/pgtable.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>

#include <asm/vmap-leaf.h>

#include "../internal.h"
#include "vmbatch_mem.h"

#define NR_LEAVES	3

static void area_free(void *data)
{
	free_vm_area(data);
}

/* Three leaves of the size that the parameter says. */
static unsigned long map_leaves(struct kunit *test)
{
	unsigned long size = 1UL << vmbatch_kind_shift(test), addr;
	struct vm_struct *area;

	if (!IS_ENABLED(CONFIG_SPARSEMEM_VMEMMAP))
		kunit_skip(test, "only memory has a struct page here");
	if (IS_ENABLED(CONFIG_KASAN_VMALLOC) && size >= SZ_1G)
		kunit_skip(test, "the shadow of this leaf is too large");
	area = get_vm_area((NR_LEAVES + 1) * size, VM_IOREMAP);
	KUNIT_ASSERT_NOT_NULL(test, area);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, area_free, area));
	addr = ALIGN((unsigned long)area->addr, size);
	KUNIT_ASSERT_EQ(test, 0, vmap_page_range(addr, addr + NR_LEAVES * size,
						 VMBATCH_NO_MEMORY,
						 pgprot_noncached(PAGE_KERNEL)));

	return addr;
}

/* Is leaf @i where it was mapped, from its first to its last page? */
static void expect_leaf(struct kunit *test, unsigned long addr, unsigned int i)
{
	unsigned long size = 1UL << vmbatch_kind_shift(test);
	unsigned long pfn = PHYS_PFN(VMBATCH_NO_MEMORY + i * size);
	unsigned long first = addr + i * size, last = first + size - PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, vmbatch_leaf_size(first), size);
	KUNIT_EXPECT_EQ(test, vmbatch_leaf_size(last), size);
	KUNIT_EXPECT_EQ(test, vmalloc_to_pfn((void *)first), pfn);
	KUNIT_EXPECT_EQ(test, vmalloc_to_pfn((void *)last),
			pfn + PFN_DOWN(size) - 1);
}

static void unmap_whole_leaf_of_any_kind_spares_neighbours(struct kunit *test)
{
	unsigned long size = 1UL << vmbatch_kind_shift(test);
	unsigned long addr = map_leaves(test);

	vunmap_range(addr + size, addr + 2 * size);
	expect_leaf(test, addr, 0);
	expect_leaf(test, addr, 2);
	vmbatch_expect_unmapped(test, addr + size, addr + 2 * size);
}

/* The second half of one leaf, the first half of the next: two warnings. */
static void unmap_part_of_leaf_warns_keeps_it(struct kunit *test)
{
	unsigned long size = 1UL << vmbatch_kind_shift(test), addr;
	unsigned int i;

	if (size == PAGE_SIZE)
		kunit_skip(test, "half a page is not asked for");
	addr = map_leaves(test);
	vunmap_range(addr + size / 2, addr + size + size / 2);
	for (i = 0; i < NR_LEAVES; i++)
		expect_leaf(test, addr, i);

	/* As a whole they go. */
	vunmap_range(addr, addr + NR_LEAVES * size);
	vmbatch_expect_unmapped(test, addr, addr + NR_LEAVES * size);
}

static struct kunit_case vmbatch_cut_cases[] = {
	KUNIT_CASE_PARAM(unmap_whole_leaf_of_any_kind_spares_neighbours,
			 vmbatch_kind_gen_params),
	KUNIT_CASE_PARAM(unmap_part_of_leaf_warns_keeps_it,
			 vmbatch_kind_gen_params),
	{}
};

static struct kunit_suite vmbatch_cut_suite = {
	.name = "vmbatch_cut",
	.test_cases = vmbatch_cut_cases,
};

kunit_test_suite(vmbatch_cut_suite);
