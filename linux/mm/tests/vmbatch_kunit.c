// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of what vmalloc space is mapped with: contents, leaf sizes, and
 * who gets large leaves. None of them provokes a report of the kernel.
 *
 * Run them with
 *	make test SUITES=kunit_vmbatch
 * or, in a kernel tree that has this directory,
 *	./tools/testing/kunit/kunit.py run --arch=arm64 \
 *		--cross_compile=aarch64-linux-gnu- --qemu_args="-m 2G" \
 *		--kunitconfig=mm/tests
 *
 * vmbatch_seed=N repeats the random arrays of a run that printed N.
 */

#include <linux/highmem.h>
#include <linux/io.h>
#include <linux/kasan.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/set_memory.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <asm/vmap-leaf.h>

#include "../internal.h"
#include "vmbatch_mem.h"

static unsigned long seed;
core_param(vmbatch_seed, seed, ulong, 0444);

/* Blocks of up to three orders, @nr of each, in this order. */
struct layout {
	const char *name;
	struct {
		unsigned int nr;
		unsigned int order;
	} chunks[3];
};

static const struct layout layouts[] = {
	{ "one page", { { 1, 0 } } },
	{ "pages", { { 256, 0 } } },
	{ "order 3", { { 32, 3 } } },
	{ "order 4", { { 16, 4 } } },
	{ "order 8", { { 2, 8 } } },
	{ "order 9", { { 4, 9 } } },
	{ "order 10", { { 2, 10 } } },
	{ "descending", { { 1, 8 }, { 8, 4 }, { 128, 0 } } },
	{ "ascending", { { 128, 0 }, { 8, 4 }, { 2, 8 } } },
	{ "off by one", { { 1, 0 }, { 4, 9 } } },
	{ "odd tail", { { 1, 9 }, { 1, 4 }, { 3, 0 } } },
};

static void layout_desc(const struct layout *layout, char *desc)
{
	strscpy(desc, layout->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(layout, layouts, layout_desc);

static unsigned int max_shift(void)
{
	return arch_vmap_pages_max_shift();
}

static struct vmbatch_mem *layout_mem(struct kunit *test)
{
	const struct layout *layout = test->param_value;
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 4096);
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(layout->chunks); i++)
		for (j = 0; j < layout->chunks[i].nr; j++)
			if (!vmbatch_mem_add(mem, layout->chunks[i].order))
				kunit_skip(test, "no block of order %u",
					   layout->chunks[i].order);
	vmbatch_mark(mem);

	return mem;
}

static void vmap_blocks_maps_largest_leaves(struct kunit *test)
{
	struct vmbatch_mem *mem = layout_mem(test);
	void *addr = vmap(mem->pages, mem->nr_pages, VM_MAP, PAGE_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, addr);
	vmbatch_expect_mapped(test, mem, (unsigned long)addr, max_shift());
	vunmap(addr);
	vmbatch_expect_gone(test, mem, (unsigned long)addr,
			    (unsigned long)addr + mem->nr_pages * PAGE_SIZE);
}

static void vmap_contiguous_aligns_area(struct kunit *test)
{
	unsigned int order = PMD_SHIFT - PAGE_SHIFT, shift = PMD_SHIFT;
	struct vmbatch_mem *mem;
	void *addr;

	if (order > MAX_PAGE_ORDER) {
		shift = arch_vmap_leaf_shift(PMD_SHIFT - 1, PAGE_KERNEL);
		order = shift - PAGE_SHIFT;
	}
	if (max_shift() < shift || shift == PAGE_SHIFT)
		kunit_skip(test, "no large leaves here");
	mem = vmbatch_mem_alloc(test, 1U << order);
	if (!vmbatch_mem_add(mem, order))
		kunit_skip(test, "no block of order %u", order);
	vmbatch_mark(mem);

	addr = vmap(mem->pages, mem->nr_pages, VM_MAP, PAGE_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	KUNIT_EXPECT_EQ(test, vmbatch_leaf_size((unsigned long)addr),
			1UL << shift);
	vunmap(addr);
}

/* What the arrays promise by their compound pages is not what they hold. */
static void reverse(struct vmbatch_mem *mem, struct rnd_state *rnd)
{
	unsigned int i;

	for (i = 0; i < mem->nr_pages / 2; i++)
		swap(mem->pages[i], mem->pages[mem->nr_pages - 1 - i]);
}

static void swap_in_compound(struct vmbatch_mem *mem, struct rnd_state *rnd)
{
	unsigned int i;

	for (i = 0; i + 16 <= mem->nr_pages; i += 16)
		swap(mem->pages[i + 5], mem->pages[i + 9]);
}

static void swap_anywhere(struct vmbatch_mem *mem, struct rnd_state *rnd)
{
	unsigned int n;

	for (n = 0; n < 20; n++) {
		unsigned int i = prandom_u32_state(rnd) % mem->nr_pages;
		unsigned int j = prandom_u32_state(rnd) % mem->nr_pages;

		swap(mem->pages[i], mem->pages[j]);
	}
}

static void rotate(struct vmbatch_mem *mem, struct rnd_state *rnd)
{
	struct page *first = mem->pages[0];
	unsigned int i;

	for (i = 1; i < mem->nr_pages; i++)
		mem->pages[i - 1] = mem->pages[i];
	mem->pages[mem->nr_pages - 1] = first;
}

static const struct disorder {
	const char *name;
	void (*apply)(struct vmbatch_mem *mem, struct rnd_state *rnd);
} disorders[] = {
	{ "reversed", reverse },
	{ "two swapped in each compound", swap_in_compound },
	{ "some swapped anywhere", swap_anywhere },
	{ "rotated by one", rotate },
};

static void disorder_desc(const struct disorder *disorder, char *desc)
{
	strscpy(desc, disorder->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(disorder, disorders, disorder_desc);

static void vmap_disorder_maps_entries_not_compounds(struct kunit *test)
{
	const struct disorder *disorder = test->param_value;
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 1024);
	u64 use_seed = seed ?: get_random_u32();
	struct rnd_state rnd;
	unsigned int i;
	void *addr;

	kunit_info(test, "seed %llu\n", use_seed);
	prandom_seed_state(&rnd, use_seed);
	for (i = 0; i < 4; i++)
		if (!vmbatch_mem_add(mem, 8))
			kunit_skip(test, "no block of order 8");
	disorder->apply(mem, &rnd);
	vmbatch_mark(mem);

	addr = vmap(mem->pages, mem->nr_pages, VM_MAP, PAGE_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	vmbatch_expect_mapped(test, mem, (unsigned long)addr, max_shift());
	vunmap(addr);
}

/* The same page many times is no run, and is allowed. */
static void vmap_repeated_page_maps_it_each_time(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 64);
	unsigned long addr;
	unsigned int i;

	KUNIT_ASSERT_TRUE(test, vmbatch_mem_add(mem, 0));
	for (i = 1; i < 64; i++)
		mem->pages[i] = mem->pages[0];

	addr = (unsigned long)vmap(mem->pages, 64, VM_MAP, PAGE_KERNEL);
	KUNIT_ASSERT_NE(test, addr, 0);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_PTR_EQ(test, mem->pages[0],
				    vmalloc_to_page((void *)(addr + i * PAGE_SIZE)));
	vunmap((void *)addr);
}

/* As a driver does that takes 64 KiB and 1 MiB blocks while there are any. */
static void vmap_128m_descending_maps_every_page(struct kunit *test)
{
	static const unsigned int sizes[] = { 8, 4, 0 };
	const unsigned int nr = SZ_128M >> PAGE_SHIFT;
	struct vmbatch_mem *mem;
	unsigned int i;
	void *addr;

	if (totalram_pages() < 3 * nr)
		kunit_skip(test, "needs 384 MiB of memory");
	mem = vmbatch_mem_alloc(test, nr);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		/* Leave something for the smaller orders. */
		unsigned int target = nr - (nr >> (3 * (i + 1)));

		if (sizes[i] == 0)
			target = nr;
		while (mem->nr_pages + (1U << sizes[i]) <= target)
			if (!vmbatch_mem_add(mem, sizes[i]))
				break;
	}
	KUNIT_ASSERT_EQ(test, mem->nr_pages, nr);
	vmbatch_mark(mem);

	addr = vmap(mem->pages, nr, VM_MAP, PAGE_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	vmbatch_expect_mapped(test, mem, (unsigned long)addr, max_shift());
	vunmap(addr);
}

static void vmap_vm_alloc_stays_pages(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 512);
	void *addr;

	if (!vmbatch_mem_add(mem, 9))
		kunit_skip(test, "no block of order 9");
	vmbatch_mark(mem);

	addr = vmap(mem->pages, mem->nr_pages, VM_ALLOC, PAGE_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	/* KASAN leaves that to who allocates the area's memory, so to us. */
	addr = kasan_unpoison_vmalloc(addr, mem->nr_pages * PAGE_SIZE,
				      KASAN_VMALLOC_PROT_NORMAL);
	vmbatch_expect_mapped(test, mem, (unsigned long)addr, PAGE_SHIFT);
	vunmap(addr);
}

static void map_ram_maps_every_page(struct kunit *test)
{
	struct vmbatch_mem *mem = layout_mem(test);
	void *addr = vm_map_ram(mem->pages, mem->nr_pages, NUMA_NO_NODE);

	KUNIT_ASSERT_NOT_NULL(test, addr);
	vmbatch_expect_mapped(test, mem, (unsigned long)addr, max_shift());
	vm_unmap_ram(addr, mem->nr_pages);
	vmbatch_expect_gone(test, mem, (unsigned long)addr,
			    (unsigned long)addr + mem->nr_pages * PAGE_SIZE);
}

/* A sparse area is unmapped in other pieces than it was mapped in. */
static void sparse_area_stays_pages(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 512);
	struct vm_struct *area;
	unsigned long addr;

	if (!vmbatch_mem_add(mem, 9))
		kunit_skip(test, "no block of order 9");
	vmbatch_mark(mem);
	area = get_vm_area(mem->nr_pages * PAGE_SIZE, VM_SPARSE);
	KUNIT_ASSERT_NOT_NULL(test, area);
	addr = (unsigned long)area->addr;

	KUNIT_EXPECT_EQ(test, 0,
			vm_area_map_pages(area, addr,
					  addr + mem->nr_pages * PAGE_SIZE,
					  mem->pages));
	vmbatch_expect_mapped(test, mem, addr, PAGE_SHIFT);
	vm_area_unmap_pages(area, addr + 3 * PAGE_SIZE, addr + 4 * PAGE_SIZE);
	vmbatch_expect_unmapped(test, addr + 3 * PAGE_SIZE, addr + 4 * PAGE_SIZE);
	KUNIT_EXPECT_PTR_EQ(test, mem->pages[4],
			    vmalloc_to_page((void *)(addr + 4 * PAGE_SIZE)));
	free_vm_area(area);
}

static const unsigned int orders[] = { 0, 1, 4, 5, 8, 9, 10 };

static void order_desc(const unsigned int *order, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "order %u", *order);
}

KUNIT_ARRAY_PARAM(order, orders, order_desc);

static void ioremap_range_maps_largest_leaves(struct kunit *test)
{
	const unsigned int *order = test->param_value;
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 1U << *order);
	unsigned long size = PAGE_SIZE << *order;
	struct vm_struct *area;
	unsigned long addr;

	if (!vmbatch_mem_add(mem, *order))
		kunit_skip(test, "no block of order %u", *order);
	vmbatch_mark(mem);
	area = __get_vm_area_caller(size, VM_IOREMAP, VMALLOC_START,
				    VMALLOC_END, __builtin_return_address(0));
	KUNIT_ASSERT_NOT_NULL(test, area);
	addr = (unsigned long)area->addr;

	KUNIT_EXPECT_EQ(test, 0,
			ioremap_page_range(addr, addr + size,
					   page_to_phys(mem->pages[0]),
					   PAGE_KERNEL));
	vmbatch_expect_mapped(test, mem, addr, PUD_SHIFT);
	free_vm_area(area);
	vmbatch_expect_gone(test, mem, addr, addr + size);
}

static void vmalloc_huge_uses_large_leaves(struct kunit *test)
{
	const unsigned int shift = arch_vmap_pte_supported_shift(SZ_4M);
	unsigned long size = max(SZ_4M, 1UL << shift);
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, size >> PAGE_SHIFT);
	u8 *addr = vmalloc_huge(size, GFP_KERNEL | __GFP_ZERO);
	unsigned long off;

	KUNIT_ASSERT_NOT_NULL(test, addr);
	KUNIT_EXPECT_GE(test, vmbatch_leaf_size((unsigned long)addr),
			1UL << shift);
	KUNIT_EXPECT_NULL(test, memchr_inv(addr, 0, size));
	memset(addr, 0x5a, size);
	KUNIT_EXPECT_NULL(test, memchr_inv(addr, 0x5a, size));

	for (off = 0; off < size; off += PAGE_SIZE)
		KUNIT_ASSERT_TRUE(test, vmbatch_mem_hold(mem, vmalloc_to_page(addr + off)));
	vfree(addr);
	vmbatch_expect_gone(test, mem, (unsigned long)addr,
			    (unsigned long)addr + size);
}

static void vmalloc_plain_stays_pages(struct kunit *test)
{
	u8 *addr = vmalloc(SZ_4M);
	unsigned long off;

	KUNIT_ASSERT_NOT_NULL(test, addr);
	for (off = 0; off < SZ_4M; off += PAGE_SIZE)
		if (vmbatch_leaf_size((unsigned long)addr + off) != PAGE_SIZE)
			break;
	KUNIT_EXPECT_EQ(test, off, SZ_4M);
	vfree(addr);
}

/* Part of a leaf becomes read-only by a split; or nothing of it changes. */
static void set_memory_in_large_leaf_splits_or_refuses(struct kunit *test)
{
	const unsigned int shift = arch_vmap_pte_supported_shift(SZ_4M);
	unsigned long size = max(SZ_4M, 1UL << shift), addr, off, last;
	u8 *area, byte = 0x5a;
	int ret;

	if (!IS_ENABLED(CONFIG_ARCH_HAS_SET_MEMORY))
		kunit_skip(test, "no set_memory_ro() here");
	area = vmalloc_huge(size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, area);
	addr = (unsigned long)area;
	last = vmbatch_leaf_size(addr + size - PAGE_SIZE);
	if (vmbatch_leaf_size(addr) == PAGE_SIZE) {
		vfree(area);
		kunit_skip(test, "no large leaves here");
	}
	memset(area, byte, size);

	ret = set_memory_ro(addr + PAGE_SIZE, 2);
	if (vmbatch_can_split()) {
		KUNIT_EXPECT_EQ(test, ret, 0);
		KUNIT_EXPECT_EQ(test, vmbatch_leaf_size(addr + PAGE_SIZE),
				PAGE_SIZE);
	} else {
		KUNIT_EXPECT_EQ(test, ret, -EINVAL);
		KUNIT_EXPECT_GT(test, vmbatch_leaf_size(addr), PAGE_SIZE);
	}
	KUNIT_EXPECT_EQ(test, vmbatch_leaf_size(addr + size - PAGE_SIZE), last);
	for (off = 0; off < size; off += PAGE_SIZE) {
		bool ro = !ret && off >= PAGE_SIZE && off < 3 * PAGE_SIZE;

		KUNIT_EXPECT_EQ(test, ro ? -EFAULT : 0,
				copy_to_kernel_nofault(area + off, &byte, 1));
	}
	KUNIT_EXPECT_NULL(test, memchr_inv(area, byte, size));

	if (!ret)
		KUNIT_EXPECT_EQ(test, 0, set_memory_rw(addr + PAGE_SIZE, 2));
	vfree(area);
}

/* A leaf of the middle goes, its neighbours stay. */
static void unmap_whole_leaf_spares_neighbours(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 1024);
	unsigned int shift = arch_vmap_pte_supported_shift(~0UL);
	unsigned long nr = 1UL << (shift - PAGE_SHIFT), addr;

	if (nr > 256)
		nr = 256;
	while (mem->nr_pages < 3 * nr)
		if (!vmbatch_mem_add(mem, ilog2(nr)))
			kunit_skip(test, "no block of order %u", ilog2(nr));
	vmbatch_mark(mem);

	addr = (unsigned long)vmap(mem->pages, mem->nr_pages, VM_MAP, PAGE_KERNEL);
	KUNIT_ASSERT_NE(test, addr, 0);
	vmbatch_expect_mapped(test, mem, addr, max_shift());
	vunmap_range(addr + nr * PAGE_SIZE, addr + 2 * nr * PAGE_SIZE);
	vmbatch_expect_unmapped(test, addr + nr * PAGE_SIZE,
				addr + 2 * nr * PAGE_SIZE);
	KUNIT_EXPECT_PTR_EQ(test, mem->pages[nr - 1],
			    vmalloc_to_page((void *)(addr + (nr - 1) * PAGE_SIZE)));
	KUNIT_EXPECT_PTR_EQ(test, mem->pages[2 * nr],
			    vmalloc_to_page((void *)(addr + 2 * nr * PAGE_SIZE)));
	vunmap((void *)addr);
}

/* Tables that were used for pages make room for blocks, and the reverse. */
static void vmap_again_with_other_leaves_maps_right(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 1024);
	struct vm_struct *area;
	unsigned long addr, end;
	unsigned int i;

	if (!vmbatch_mem_add(mem, 9) || !vmbatch_mem_add(mem, 9))
		kunit_skip(test, "no blocks of order 9");
	vmbatch_mark(mem);
	area = __get_vm_area_caller(mem->nr_pages * PAGE_SIZE, VM_IOREMAP,
				    VMALLOC_START, VMALLOC_END,
				    __builtin_return_address(0));
	KUNIT_ASSERT_NOT_NULL(test, area);
	addr = (unsigned long)area->addr;
	end = addr + mem->nr_pages * PAGE_SIZE;

	for (i = 0; i < 6; i++) {
		unsigned int shift = i & 1 ? max_shift() : PAGE_SHIFT;

		KUNIT_EXPECT_EQ(test, 0,
				vmap_pages_range_noflush(addr, end, PAGE_KERNEL,
							 mem->pages, shift));
		vmbatch_expect_mapped(test, mem, addr, shift);
		vunmap_range(addr, end);
		vmbatch_expect_unmapped(test, addr, end);
	}
	free_vm_area(area);
}

static struct kunit_case vmbatch_cases[] = {
	KUNIT_CASE_PARAM(vmap_blocks_maps_largest_leaves, layout_gen_params),
	KUNIT_CASE(vmap_contiguous_aligns_area),
	KUNIT_CASE_PARAM(vmap_disorder_maps_entries_not_compounds,
			 disorder_gen_params),
	KUNIT_CASE(vmap_repeated_page_maps_it_each_time),
	KUNIT_CASE_SLOW(vmap_128m_descending_maps_every_page),
	KUNIT_CASE(vmap_vm_alloc_stays_pages),
	KUNIT_CASE_PARAM(map_ram_maps_every_page, layout_gen_params),
	KUNIT_CASE(sparse_area_stays_pages),
	KUNIT_CASE_PARAM(ioremap_range_maps_largest_leaves, order_gen_params),
	KUNIT_CASE(vmalloc_huge_uses_large_leaves),
	KUNIT_CASE(vmalloc_plain_stays_pages),
	KUNIT_CASE(set_memory_in_large_leaf_splits_or_refuses),
	KUNIT_CASE(unmap_whole_leaf_spares_neighbours),
	KUNIT_CASE(vmap_again_with_other_leaves_maps_right),
	{}
};

static struct kunit_suite vmbatch_suite = {
	.name = "vmbatch",
	.test_cases = vmbatch_cases,
};

kunit_test_suite(vmbatch_suite);

MODULE_DESCRIPTION("KUnit tests of mappings in vmalloc space");
MODULE_LICENSE("GPL");
