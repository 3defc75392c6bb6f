// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of what vmalloc space refuses to map or unmap, and of what is
 * left behind: nothing.
 *
 * The cases whose names say "warns" provoke a warning of the kernel each. The
 * rig expects those and no others (tests/kunit_vmbatch_refuse/suite).
 *
 * Run them with
 *	make test SUITES=kunit_vmbatch_refuse
 */

#include <kunit/static_stub.h>
#include <linux/io.h>
#include <linux/kasan.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>

#include <asm/vmap-leaf.h>

#include "../internal.h"
#include "../vmap-kunit.h"
#include "vmbatch_mem.h"

/* An area of our own, so that its address is known after a failure. */
struct area {
	struct vm_struct *vm;
	struct vmbatch_mem *mem;
	unsigned long start;
	unsigned long end;
};

static void area_free(void *data)
{
	free_vm_area(data);
}

static struct area area_of(struct kunit *test, unsigned int order,
			   unsigned int nr_blocks)
{
	struct area area = {};
	unsigned int i;

	area.mem = vmbatch_mem_alloc(test, nr_blocks << order);
	for (i = 0; i < nr_blocks; i++)
		if (!vmbatch_mem_add(area.mem, order))
			kunit_skip(test, "no block of order %u", order);
	vmbatch_mark(area.mem);

	/* VM_IOREMAP areas are aligned to their size. */
	area.vm = __get_vm_area_caller(area.mem->nr_pages * PAGE_SIZE,
				       VM_IOREMAP, VMALLOC_START, VMALLOC_END,
				       __builtin_return_address(0));
	KUNIT_ASSERT_NOT_NULL(test, area.vm);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, area_free, area.vm));
	area.start = (unsigned long)area.vm->addr;
	area.end = area.start + area.mem->nr_pages * PAGE_SIZE;

	return area;
}

static int area_map(struct area *area, unsigned int max_shift)
{
	return vmap_pages_range_noflush(area->start, area->end, PAGE_KERNEL,
					area->mem->pages, max_shift);
}

/* How many tables of which level may be had. */
static unsigned int tables_left;
static unsigned int table_shift;

static bool no_table(unsigned int shift)
{
	if (shift != table_shift)
		return false;
	/* A caller that has another way to try finds none there either. */
	if (!tables_left)
		return true;
	tables_left--;
	return false;
}

/* Fail the first, the second, ... until mapping succeeds. */
static void expect_all_or_nothing(struct kunit *test, struct area *area,
				  unsigned int max_shift)
{
	unsigned int fail;
	int ret;

	for (fail = 0; fail < 16; fail++) {
		tables_left = fail;
		ret = area_map(area, max_shift);
		if (!ret)
			break;
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		vmbatch_expect_unmapped(test, area->start, area->end);
	}
	/* At least one was asked for, and with all of them it works. */
	KUNIT_EXPECT_GT(test, fail, 0);
	KUNIT_ASSERT_EQ(test, ret, 0);
	vmbatch_expect_mapped(test, area->mem, area->start, max_shift);
	vunmap_range(area->start, area->end);
}

static const struct level {
	const char *name;
	unsigned int height;
} levels[] = {
	{ "pte", 0 },
	{ "pmd", 1 },
	{ "pud", 2 },
	{ "p4d", 3 },
};

static unsigned int level_shift(const struct level *level)
{
	/* No constants where the number of levels is known at boot only. */
	const unsigned int shifts[] = {
		PAGE_SHIFT, PMD_SHIFT, PUD_SHIFT, P4D_SHIFT,
	};

	return shifts[level->height];
}

static void level_desc(const struct level *level, char *desc)
{
	strscpy(desc, level->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(level, levels, level_desc);

static void map_table_fails_maps_nothing(struct kunit *test)
{
	const struct level *level = test->param_value;
	/* Three PTE tables with 4K pages, one otherwise. */
	struct area area = area_of(test, 8, 6);

	table_shift = level_shift(level);
	kunit_activate_static_stub(test, vmap_no_table, no_table);
	expect_all_or_nothing(test, &area, PAGE_SHIFT);
}

static void vmap_no_table_returns_null(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 3);
	void *addr;

	while (mem->nr_pages < 3)
		KUNIT_ASSERT_TRUE(test, vmbatch_mem_add(mem, 0));
	addr = vmap(mem->pages, 3, VM_MAP, PAGE_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	vunmap(addr);

	table_shift = PAGE_SHIFT;
	kunit_activate_static_stub(test, vmap_no_table, no_table);
	tables_left = 0;
	KUNIT_EXPECT_NULL(test, vmap(mem->pages, 3, VM_MAP, PAGE_KERNEL));
	tables_left = 0;
	KUNIT_EXPECT_NULL(test, vm_map_ram(mem->pages, 3, NUMA_NO_NODE));
	if (IS_ENABLED(CONFIG_GENERIC_IOREMAP)) {
		tables_left = 0;
		KUNIT_EXPECT_NULL(test, (__force void *)ioremap(SZ_256M, SZ_4K));
	}
}

/* A block is mapped already when the table for what follows it is missing. */
static void map_table_fails_behind_block_maps_nothing(struct kunit *test)
{
	unsigned int order = PMD_SHIFT - PAGE_SHIFT;
	struct area area;

	if (order > MAX_PAGE_ORDER || arch_vmap_pages_max_shift() < PMD_SHIFT)
		kunit_skip(test, "no blocks here");
	area = area_of(test, order, 2);
	area.mem->nr_pages--;
	area.end -= PAGE_SIZE;

	table_shift = PAGE_SHIFT;
	kunit_activate_static_stub(test, vmap_no_table, no_table);
	expect_all_or_nothing(test, &area, arch_vmap_pages_max_shift());
}

/* Its pages go back, over and over. */
static void vmalloc_no_table_returns_null(struct kunit *test)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_NOWARN;
	unsigned long before = vmalloc_nr_pages();
	unsigned int i;

	table_shift = PAGE_SHIFT;
	tables_left = 0;
	kunit_activate_static_stub(test, vmap_no_table, no_table);
	for (i = 0; i < 16; i++) {
		KUNIT_EXPECT_NULL(test, __vmalloc(SZ_1M, gfp));
		KUNIT_EXPECT_NULL(test, vmalloc_huge(SZ_1M, gfp));
	}
	kunit_deactivate_static_stub(test, vmap_no_table);
	/* Others take some, or give some back; 32 MiB would have gone. */
	KUNIT_EXPECT_LT(test, vmalloc_nr_pages(), before + PFN_DOWN(SZ_16M));
}

static bool no_table_once(unsigned int shift)
{
	if (shift != table_shift || !tables_left)
		return false;

	return !--tables_left;
}

/* What was mapped before the failure is not in the way of the next attempt. */
static void vmalloc_nofail_table_fails_once_returns_memory(struct kunit *test)
{
	const unsigned long size = 3 * PMD_SIZE;
	void *addr;

	if (PMD_SIZE > SZ_32M)
		kunit_skip(test, "too much memory for three tables");
	table_shift = PAGE_SHIFT;
	tables_left = 2;
	kunit_activate_static_stub(test, vmap_no_table, no_table_once);
	addr = __vmalloc(size, GFP_KERNEL | __GFP_NOFAIL);
	kunit_deactivate_static_stub(test, vmap_no_table);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	KUNIT_EXPECT_EQ(test, tables_left, 0);
	memset(addr, 0x5a, size);
	KUNIT_EXPECT_NULL(test, memchr_inv(addr, 0x5a, size));
	vfree(addr);
}

static void map_bad_range_is_refused(struct kunit *test)
{
	struct area area = area_of(test, 0, 4);
	struct page **pages = area.mem->pages;
	static const struct {
		long start;
		long end;
	} bad[] = {
		{ 0, 0 },
		{ 2 * PAGE_SIZE, PAGE_SIZE },
		{ 1, PAGE_SIZE },
		{ 0, PAGE_SIZE + 1 },
		{ 0, PAGE_SIZE - 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_EQ(test, -EINVAL,
				vmap_pages_range_noflush(area.start + bad[i].start,
							 area.start + bad[i].end,
							 PAGE_KERNEL, pages,
							 PAGE_SHIFT));
		KUNIT_EXPECT_EQ(test, -EINVAL,
				vmap_page_range(area.start + bad[i].start,
						area.start + bad[i].end,
						page_to_phys(pages[0]),
						PAGE_KERNEL));
	}
	vmbatch_expect_unmapped(test, area.start, area.end);
}

static void area_bad_size_returns_null(struct kunit *test)
{
	const unsigned long sizes[] = {
		0, SIZE_MAX, -PAGE_SIZE, -2 * PAGE_SIZE,
		VMALLOC_END - VMALLOC_START + PAGE_SIZE,
	};
	const gfp_t gfp = GFP_KERNEL | __GFP_NOWARN;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		KUNIT_EXPECT_NULL(test, get_vm_area(sizes[i], VM_MAP));
		KUNIT_EXPECT_NULL(test, get_vm_area(sizes[i], VM_IOREMAP));
		if (!sizes[i])
			continue;
		KUNIT_EXPECT_NULL(test, __vmalloc(sizes[i], gfp));
		KUNIT_EXPECT_NULL(test, vmalloc_huge(sizes[i], gfp));
	}
}

static void sparse_bad_range_is_refused(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 4);
	unsigned long start, end;
	struct vm_struct *area;

	KUNIT_ASSERT_TRUE(test, vmbatch_mem_add(mem, 2));
	area = get_vm_area(3 * PAGE_SIZE, VM_SPARSE);
	KUNIT_ASSERT_NOT_NULL(test, area);
	start = (unsigned long)area->addr;
	end = start + 3 * PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, -ERANGE,
			vm_area_map_pages(area, start, end + PAGE_SIZE,
					  mem->pages));
	KUNIT_EXPECT_EQ(test, -ERANGE,
			vm_area_map_pages(area, start - PAGE_SIZE, end,
					  mem->pages));
	KUNIT_EXPECT_EQ(test, -E2BIG,
			vm_area_map_pages(area, end, start, mem->pages));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			vm_area_map_pages(area, start, start, mem->pages));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			vm_area_map_pages(area, start, start + 1, mem->pages));
	vmbatch_expect_unmapped(test, start - PAGE_SIZE, end + PAGE_SIZE);
	free_vm_area(area);
}

static void vmap_bad_count_returns_null(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 1);

	KUNIT_ASSERT_TRUE(test, vmbatch_mem_add(mem, 0));
	KUNIT_EXPECT_NULL(test, vmap(mem->pages, 0, VM_MAP, PAGE_KERNEL));
	KUNIT_EXPECT_NULL(test, vmap(mem->pages, UINT_MAX, VM_MAP, PAGE_KERNEL));
}

static void ioremap_bad_size_returns_null(struct kunit *test)
{
	/* Others warn about some of these. */
	if (!IS_ENABLED(CONFIG_GENERIC_IOREMAP))
		kunit_skip(test, "ioremap() of the architecture's own");
	KUNIT_EXPECT_NULL(test, (__force void *)ioremap(SZ_256M, 0));
	KUNIT_EXPECT_NULL(test, (__force void *)ioremap(SZ_256M, SIZE_MAX));
	KUNIT_EXPECT_NULL(test, (__force void *)ioremap(0, SIZE_MAX));
}

/* Address space for the area and its guard page, but for no alignment. */
/*
 * Place an area of 2 MiB in what is just enough for an alignment to @step, from
 * the page behind a multiple of 2 MiB on.
 */
static void expect_short_space_aligned(struct kunit *test, unsigned long step)
{
	struct vm_struct *whole, *area = NULL;
	unsigned long start, end;
	unsigned int try;

	/* Somebody else may take the space before we have it back. */
	for (try = 0; try < 10 && !area; try++) {
		whole = get_vm_area(SZ_8M, VM_MAP);
		KUNIT_ASSERT_NOT_NULL(test, whole);
		start = (unsigned long)kasan_reset_tag(whole->addr);
		start = ALIGN(start, SZ_2M) + PAGE_SIZE;
		end = ALIGN(start, step) + SZ_2M + PAGE_SIZE;
		free_vm_area(whole);
		vm_unmap_aliases();

		area = __get_vm_area_caller(SZ_2M, VM_IOREMAP, start, end,
					    __builtin_return_address(0));
	}
	KUNIT_ASSERT_NOT_NULL(test, area);
	KUNIT_EXPECT_EQ(test, (unsigned long)kasan_reset_tag(area->addr),
			ALIGN(start, step));

	/* It is full now. */
	KUNIT_EXPECT_NULL(test, __get_vm_area_caller(SZ_2M, VM_IOREMAP, start, end,
						     __builtin_return_address(0)));
	free_vm_area(area);
}

static void area_in_short_space_is_less_aligned(struct kunit *test)
{
	expect_short_space_aligned(test, PAGE_SIZE);
}

/* Short of 2 MiB, the next leaf is what counts. */
static void area_in_short_space_fits_next_leaf(struct kunit *test)
{
	unsigned int shift = arch_vmap_leaf_shift(ilog2(SZ_2M) - 1, PAGE_KERNEL);

	expect_short_space_aligned(test, 1UL << shift);
}

/* All of vmalloc space, but for holes that are too small. */
static void exhausted_space_returns_null(struct kunit *test)
{
	const unsigned int max_held = 4096;
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, SZ_4M >> PAGE_SHIFT);
	struct vm_struct **held, *vm;
	unsigned int nr_held = 0;
	unsigned long size;
	void *addr;

	/* Each page of an area has a shadow, mapped or not. */
	if (IS_ENABLED(CONFIG_KASAN_VMALLOC))
		kunit_skip(test, "KASAN has no memory for all of the shadow");
	while (mem->nr_pages < mem->max_pages)
		KUNIT_ASSERT_TRUE(test, vmbatch_mem_add(mem, 0));
	vmbatch_mark(mem);
	held = kunit_kcalloc(test, max_held, sizeof(*held), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, held);

	for (size = 1UL << (BITS_PER_LONG - 2); size >= SZ_2M; size /= 2)
		while (nr_held < max_held && (vm = get_vm_area(size, VM_MAP)))
			held[nr_held++] = vm;
	KUNIT_EXPECT_GT(test, nr_held, 0);
	KUNIT_EXPECT_LT(test, nr_held, max_held);

	KUNIT_EXPECT_NULL(test, vmap(mem->pages, mem->nr_pages, VM_MAP,
				     PAGE_KERNEL));
	KUNIT_EXPECT_NULL(test, vm_map_ram(mem->pages, mem->nr_pages,
					   NUMA_NO_NODE));
	KUNIT_EXPECT_NULL(test, __vmalloc(SZ_4M, GFP_KERNEL | __GFP_NOWARN));
	KUNIT_EXPECT_NULL(test, vmalloc_huge(SZ_4M, GFP_KERNEL | __GFP_NOWARN));
	if (IS_ENABLED(CONFIG_GENERIC_IOREMAP))
		KUNIT_EXPECT_NULL(test, (__force void *)ioremap(SZ_256M, SZ_4M));

	while (nr_held)
		free_vm_area(held[--nr_held]);
	addr = vmap(mem->pages, mem->nr_pages, VM_MAP, PAGE_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	vmbatch_expect_mapped(test, mem, (unsigned long)addr,
			      arch_vmap_pages_max_shift());
	vunmap(addr);
}

/* Each of the cases below makes the kernel warn, as its name says. */

static void map_null_entry_warns_maps_nothing(struct kunit *test)
{
	struct area area = area_of(test, 8, 2);

	area.mem->pages[300] = NULL;
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			area_map(&area, arch_vmap_pages_max_shift()));
	vmbatch_expect_unmapped(test, area.start, area.end);
}

static void vmap_null_entry_warns_returns_null(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 2);

	KUNIT_ASSERT_TRUE(test, vmbatch_mem_add(mem, 0));
	KUNIT_EXPECT_NULL(test, vmap(mem->pages, 2, VM_MAP, PAGE_KERNEL));
}

static void map_without_memmap_warns_maps_nothing(struct kunit *test)
{
	struct area area = area_of(test, 0, 4);
	unsigned long pfn = PHYS_PFN(SZ_256M);

	if (!IS_ENABLED(CONFIG_SPARSEMEM_VMEMMAP) || pfn_valid(pfn))
		kunit_skip(test, "no page without memmap is known");
	area.mem->pages[2] = pfn_to_page(pfn);
	KUNIT_EXPECT_EQ(test, -EINVAL, area_map(&area, PAGE_SHIFT));
	vmbatch_expect_unmapped(test, area.start, area.end);
}

static void map_twice_warns_keeps_the_first(struct kunit *test)
{
	struct area area = area_of(test, 8, 1);
	unsigned long middle = area.start + 100 * PAGE_SIZE;

	KUNIT_ASSERT_EQ(test, 0,
			vmap_pages_range_noflush(middle, middle + PAGE_SIZE,
						 PAGE_KERNEL,
						 area.mem->pages + 100,
						 PAGE_SHIFT));
	KUNIT_EXPECT_EQ(test, -EBUSY, area_map(&area, PAGE_SHIFT));
	vmbatch_expect_unmapped(test, area.start, middle);
	KUNIT_EXPECT_PTR_EQ(test, area.mem->pages[100],
			    vmalloc_to_page((void *)middle));
	vmbatch_expect_unmapped(test, middle + PAGE_SIZE, area.end);
}

static void map_phys_over_page_warns_keeps_it(struct kunit *test)
{
	struct area area = area_of(test, 8, 1);
	unsigned long middle = area.start + 100 * PAGE_SIZE;

	KUNIT_ASSERT_EQ(test, 0,
			vmap_pages_range_noflush(middle, middle + PAGE_SIZE,
						 PAGE_KERNEL,
						 area.mem->pages + 100,
						 PAGE_SHIFT));
	KUNIT_EXPECT_EQ(test, -EBUSY,
			vmap_page_range(area.start, area.end,
					page_to_phys(area.mem->pages[0]),
					PAGE_KERNEL));
	vmbatch_expect_unmapped(test, area.start, middle);
	KUNIT_EXPECT_PTR_EQ(test, area.mem->pages[100],
			    vmalloc_to_page((void *)middle));
	vmbatch_expect_unmapped(test, middle + PAGE_SIZE, area.end);
}

/* A table that maps a page does not make room for a block. */
static void map_block_over_page_warns_keeps_it(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 1);
	unsigned long start, end, middle;
	struct vm_struct *vm;

	KUNIT_ASSERT_TRUE(test, vmbatch_mem_add(mem, 0));
	vm = __get_vm_area_caller(PMD_SIZE, VM_IOREMAP, VMALLOC_START,
				  VMALLOC_END, __builtin_return_address(0));
	KUNIT_ASSERT_NOT_NULL(test, vm);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, area_free, vm));
	start = (unsigned long)vm->addr;
	end = start + PMD_SIZE;
	middle = start + 100 * PAGE_SIZE;

	KUNIT_ASSERT_EQ(test, 0,
			vmap_pages_range_noflush(middle, middle + PAGE_SIZE,
						 PAGE_KERNEL, mem->pages,
						 PAGE_SHIFT));
	KUNIT_EXPECT_EQ(test, -EBUSY,
			vmap_page_range(start, end, VMBATCH_NO_MEMORY,
					pgprot_noncached(PAGE_KERNEL)));
	vmbatch_expect_unmapped(test, start, middle);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, vmbatch_leaf_size(middle));
	KUNIT_EXPECT_PTR_EQ(test, mem->pages[0], vmalloc_to_page((void *)middle));
	vmbatch_expect_unmapped(test, middle + PAGE_SIZE, end);
}

static void zero_size_warns_returns_null(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 1);

	KUNIT_ASSERT_TRUE(test, vmbatch_mem_add(mem, 0));
	KUNIT_EXPECT_NULL(test, vmalloc(0));
	KUNIT_EXPECT_NULL(test, vm_map_ram(mem->pages, 0, NUMA_NO_NODE));
}

static struct kunit_case vmbatch_refuse_cases[] = {
	KUNIT_CASE_PARAM(map_table_fails_maps_nothing, level_gen_params),
	KUNIT_CASE(vmap_no_table_returns_null),
	KUNIT_CASE(map_table_fails_behind_block_maps_nothing),
	KUNIT_CASE(vmalloc_no_table_returns_null),
	KUNIT_CASE(vmalloc_nofail_table_fails_once_returns_memory),
	KUNIT_CASE(map_bad_range_is_refused),
	KUNIT_CASE(area_bad_size_returns_null),
	KUNIT_CASE(sparse_bad_range_is_refused),
	KUNIT_CASE(vmap_bad_count_returns_null),
	KUNIT_CASE(ioremap_bad_size_returns_null),
	KUNIT_CASE(area_in_short_space_is_less_aligned),
	KUNIT_CASE(area_in_short_space_fits_next_leaf),
	KUNIT_CASE(exhausted_space_returns_null),
	KUNIT_CASE(map_null_entry_warns_maps_nothing),
	KUNIT_CASE(vmap_null_entry_warns_returns_null),
	KUNIT_CASE(map_without_memmap_warns_maps_nothing),
	KUNIT_CASE(map_twice_warns_keeps_the_first),
	KUNIT_CASE(map_phys_over_page_warns_keeps_it),
	KUNIT_CASE(map_block_over_page_warns_keeps_it),
	KUNIT_CASE(zero_size_warns_returns_null),
	{}
};

static struct kunit_suite vmbatch_refuse_suite = {
	.name = "vmbatch_refuse",
	.test_cases = vmbatch_refuse_cases,
};

kunit_test_suite(vmbatch_refuse_suite);
