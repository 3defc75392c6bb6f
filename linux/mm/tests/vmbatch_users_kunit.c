// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of who uses mappings in vmalloc space besides those who make
 * them: translation and vread on leaves of every kind, odd sizes, users who get
 * no large leaves, ptdump beside promotion. None provokes a report.
 *
 * Run them with
 *	make test SUITES=kunit_vmbatch_users
 */

#include <linux/delay.h>
#include <linux/execmem.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/pgtable.h>
#include <linux/ptdump.h>
#include <linux/sizes.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>

#include <asm/vmap-leaf.h>

#include "../internal.h"
#include "vmbatch_mem.h"

/* What /proc/kcore would show of vmalloc space. */
static void expect_vread(struct kunit *test, const u8 *addr, const u8 *want,
			 size_t size)
{
	/* Pieces that begin in one page and end in the next. */
	const size_t piece = PAGE_SIZE + 24;
	u8 *copy = kunit_kmalloc(test, piece, GFP_KERNEL);
	size_t at, nr;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	for (at = 0; at < size; at += nr) {
		struct kvec vec = { .iov_base = copy };
		struct iov_iter iter;

		nr = min(piece, size - at);
		vec.iov_len = nr;
		memset(copy, 0xee, nr);
		iov_iter_kvec(&iter, ITER_DEST, &vec, 1, nr);
		KUNIT_ASSERT_EQ(test, vread_iter(&iter, addr + at, nr), nr);
		if (want)
			KUNIT_ASSERT_EQ_MSG(test, 0, memcmp(copy, want + at, nr),
					    "%zx bytes in", at);
		else
			KUNIT_ASSERT_NULL_MSG(test, memchr_inv(copy, 0, nr),
					      "%zx bytes in", at);
	}
	kunit_kfree(test, copy);
}

/* A read-only alias of the memory around a page that is ours. */
static void leaf_of_each_kind_translates_and_reads(struct kunit *test)
{
	const unsigned int shift = vmbatch_kind_shift(test);
	const unsigned long size = 1UL << shift, nr = size >> PAGE_SHIFT;
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 1);
	unsigned long addr, first, mine, i;
	struct vm_struct *area;

	if (IS_ENABLED(CONFIG_KASAN_VMALLOC) && size >= SZ_1G)
		kunit_skip(test, "the shadow of this leaf is too large");
	KUNIT_ASSERT_TRUE(test, vmbatch_mem_add(mem, 0));
	vmbatch_mark(mem);
	first = ALIGN_DOWN(page_to_pfn(mem->pages[0]), nr);
	mine = (page_to_pfn(mem->pages[0]) - first) * PAGE_SIZE;
	for (i = 0; i < nr; i++)
		if (!vmbatch_is_memory(first + i))
			kunit_skip(test, "no leaf of this size is all memory");

	area = get_vm_area(2 * size, VM_MAP);
	KUNIT_ASSERT_NOT_NULL(test, area);
	addr = ALIGN((unsigned long)area->addr, size);
	KUNIT_EXPECT_EQ(test, 0, vmap_page_range(addr, addr + size,
						 PFN_PHYS(first),
						 PAGE_KERNEL_RO));
	KUNIT_EXPECT_EQ(test, vmbatch_leaf_size(addr), size);
	KUNIT_EXPECT_EQ(test, vmbatch_leaf_size(addr + size - PAGE_SIZE), size);

	for (i = 0; i < nr; i++) {
		void *at = (void *)(addr + i * PAGE_SIZE);

		if (vmalloc_to_pfn(at) != first + i ||
		    vmalloc_to_page(at) != pfn_to_page(first + i))
			break;
	}
	KUNIT_EXPECT_EQ(test, i, nr);
	expect_vread(test, (u8 *)addr + mine, page_address(mem->pages[0]),
		     PAGE_SIZE);

	vunmap_range(addr, addr + size);
	vmbatch_expect_unmapped(test, addr, addr + size);
	expect_vread(test, (u8 *)addr + mine, NULL, PAGE_SIZE);
	free_vm_area(area);
}

/* Blocks of all sizes in one area, and an area that is all blocks. */
static void vread_large_leaves_gives_contents(struct kunit *test)
{
	static const unsigned int orders[] = { 9, 8, 4, 0, 0, 5 };
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 1024);
	unsigned int i;
	u8 *addr;

	for (i = 0; i < ARRAY_SIZE(orders); i++)
		if (!vmbatch_mem_add(mem, orders[i]))
			kunit_skip(test, "no block of order %u", orders[i]);
	vmbatch_mark(mem);
	addr = vmap(mem->pages, mem->nr_pages, VM_MAP, PAGE_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	expect_vread(test, addr, addr, mem->nr_pages * PAGE_SIZE);
	vunmap(addr);

	addr = vm_map_ram(mem->pages, mem->nr_pages, NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	expect_vread(test, addr, addr, mem->nr_pages * PAGE_SIZE);
	vm_unmap_ram(addr, mem->nr_pages);

	addr = vmalloc_huge(SZ_4M, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	for (i = 0; i < SZ_4M / sizeof(u32); i++)
		((u32 *)addr)[i] = i;
	expect_vread(test, addr, addr, SZ_4M);
	vfree(addr);
}

/* They share a block with others, and with pages that nobody has. */
static void vread_small_map_ram_gives_contents(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 16);
	u8 *first, *second;

	KUNIT_ASSERT_TRUE(test, vmbatch_mem_add(mem, 4));
	vmbatch_mark(mem);
	first = vm_map_ram(mem->pages, 5, NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_NULL(test, first);
	second = vm_map_ram(mem->pages + 5, 3, NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_NULL(test, second);

	expect_vread(test, first, first, 5 * PAGE_SIZE);
	expect_vread(test, second, second, 3 * PAGE_SIZE);
	expect_vread(test, second + 2 * PAGE_SIZE + 8,
		     second + 2 * PAGE_SIZE + 8, PAGE_SIZE - 8);
	vm_unmap_ram(first, 5);
	expect_vread(test, second, second, 3 * PAGE_SIZE);
	vm_unmap_ram(second, 3);
}

/* So many that one ends with its block, on whichever CPUs this runs. */
static void vread_full_map_ram_block_gives_contents(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 8);
	const unsigned int nr_areas = 512;
	unsigned int i, nr;
	u8 **areas;

	areas = kunit_kcalloc(test, nr_areas, sizeof(*areas), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, areas);
	KUNIT_ASSERT_TRUE(test, vmbatch_mem_add(mem, 3));
	vmbatch_mark(mem);

	for (nr = 0; nr < nr_areas; nr++) {
		areas[nr] = vm_map_ram(mem->pages, 8, NUMA_NO_NODE);
		if (!areas[nr])
			break;
		expect_vread(test, areas[nr], areas[nr], 8 * PAGE_SIZE);
	}
	KUNIT_EXPECT_EQ(test, nr, nr_areas);
	for (i = 0; i < nr; i++)
		vm_unmap_ram(areas[i], 8);
}

/* Reading a register may do something, so these are holes. */
static void vread_ioremap_and_sparse_gives_zeroes(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, 512);
	const unsigned long size = 512 * PAGE_SIZE;
	struct vm_struct *area;
	unsigned long addr;

	if (!vmbatch_mem_add(mem, 9))
		kunit_skip(test, "no block of order 9");
	vmbatch_mark(mem);

	area = __get_vm_area_caller(size, VM_IOREMAP, VMALLOC_START,
				    VMALLOC_END, __builtin_return_address(0));
	KUNIT_ASSERT_NOT_NULL(test, area);
	addr = (unsigned long)area->addr;
	KUNIT_EXPECT_EQ(test, 0,
			ioremap_page_range(addr, addr + size,
					   page_to_phys(mem->pages[0]),
					   PAGE_KERNEL));
	expect_vread(test, (u8 *)addr, NULL, size);
	free_vm_area(area);

	area = get_vm_area(size, VM_SPARSE);
	KUNIT_ASSERT_NOT_NULL(test, area);
	addr = (unsigned long)area->addr;
	KUNIT_EXPECT_EQ(test, 0, vm_area_map_pages(area, addr, addr + size,
						   mem->pages));
	expect_vread(test, (u8 *)addr, NULL, size);
	free_vm_area(area);
}

/* Every byte asked for is there, and nothing where the guard page is. */
static void expect_area_of(struct kunit *test, void *addr, size_t size)
{
	struct vm_struct *area = find_vm_area(addr);
	unsigned long end;

	KUNIT_ASSERT_NOT_NULL(test, area);
	KUNIT_EXPECT_GE(test, area->nr_pages, PFN_UP(size));
	memset(addr, 0x5a, size);
	KUNIT_EXPECT_NULL(test, memchr_inv(addr, 0x5a, size));
	KUNIT_EXPECT_PTR_EQ(test, area->pages[(size - 1) >> PAGE_SHIFT],
			    vmalloc_to_page(addr + size - 1));
	end = (unsigned long)addr + get_vm_area_size(area);
	KUNIT_EXPECT_EQ(test, vmbatch_leaf_size(end), 0);
	KUNIT_EXPECT_GE(test, end, (unsigned long)addr + size);
}

static void vmalloc_odd_size_maps_all_of_it(struct kunit *test)
{
	static const size_t sizes[] = {
		1, PAGE_SIZE - 1, PAGE_SIZE + 1, SZ_64K - 1, SZ_64K + 1,
		SZ_2M - 1, SZ_2M + 1, SZ_2M + SZ_64K + 1,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		void *addr = vmalloc(sizes[i]);

		KUNIT_ASSERT_NOT_NULL(test, addr);
		KUNIT_EXPECT_EQ(test, find_vm_area(addr)->nr_pages,
				PFN_UP(sizes[i]));
		expect_area_of(test, addr, sizes[i]);
		vfree(addr);

		addr = vmalloc_huge(sizes[i], GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, addr);
		expect_area_of(test, addr, sizes[i]);
		vfree(addr);
	}
}

/* A register in the middle of a page, and one that two pages share. */
static void ioremap_odd_size_maps_whole_pages(struct kunit *test)
{
	static const struct {
		unsigned long offset;
		size_t size;
	} odd[] = {
		{ 0x124, 4 }, { PAGE_SIZE - 4, 8 }, { 0x10, SZ_64K },
		{ 0, SZ_2M + 1 },
	};
	unsigned int i;

	if (!IS_ENABLED(CONFIG_GENERIC_IOREMAP))
		kunit_skip(test, "ioremap() of the architecture's own");
	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		void __iomem *io = ioremap(SZ_256M + odd[i].offset, odd[i].size);
		unsigned long addr = (__force unsigned long)io, at, end;

		KUNIT_ASSERT_NE(test, addr, 0);
		KUNIT_EXPECT_EQ(test, offset_in_page(addr),
				offset_in_page(odd[i].offset));
		end = PAGE_ALIGN(addr + odd[i].size);
		for (at = addr & PAGE_MASK; at < end; at += PAGE_SIZE)
			if (!vmbatch_leaf_size(at))
				break;
		KUNIT_EXPECT_EQ(test, at, end);
		KUNIT_EXPECT_EQ(test, vmbatch_leaf_size(end), 0);
		iounmap(io);
	}
}

/* Who asks for memory of any kind gets large leaves as well. */
static void kvmalloc_large_uses_large_leaves(struct kunit *test)
{
	const size_t size = 2 * KMALLOC_MAX_SIZE;
	const unsigned int shift = arch_vmap_pte_supported_shift(size);
	void *addr;

	if (size > SZ_64M)
		kunit_skip(test, "kmalloc() gives all that there is room for");
	addr = kvmalloc(size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	KUNIT_EXPECT_TRUE(test, is_vmalloc_addr(addr));
	KUNIT_EXPECT_GE(test, vmbatch_leaf_size((unsigned long)addr),
			1UL << shift);
	memset(addr, 0x5a, size);
	KUNIT_EXPECT_NULL(test, memchr_inv(addr, 0x5a, size));
	kvfree(addr);
}

/* However many nodes there are to share it (tests/kunit_vmbatch_users/suite). */
static void vmalloc_huge_uses_leaf_of_its_whole_size(struct kunit *test)
{
	const unsigned int shift = arch_vmap_pte_supported_shift(SZ_2M);
	void *addr = vmalloc_huge(SZ_2M, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, addr);
	KUNIT_EXPECT_GE(test, vmbatch_leaf_size((unsigned long)addr),
			1UL << shift);
	vfree(addr);
}

static bool all_pages(const void *addr, unsigned long size)
{
	unsigned long at, start = (unsigned long)addr;

	for (at = start; at < start + size; at += PAGE_SIZE)
		if (vmbatch_leaf_size(at) != PAGE_SIZE)
			return false;

	return true;
}

/* set_memory may act on these, page by page. */
static void memory_for_code_stays_pages(struct kunit *test)
{
	void *addr;

	if (IS_ENABLED(CONFIG_EXECMEM)) {
		addr = execmem_alloc(EXECMEM_DEFAULT, SZ_4M);
		KUNIT_ASSERT_NOT_NULL(test, addr);
		KUNIT_EXPECT_TRUE(test, all_pages(addr, SZ_4M));
		execmem_free(addr);
	}
	addr = __vmalloc_node_range(SZ_4M, 1, VMALLOC_START, VMALLOC_END,
				    GFP_KERNEL, PAGE_KERNEL,
				    VM_ALLOW_HUGE_VMAP | VM_FLUSH_RESET_PERMS,
				    NUMA_NO_NODE, __builtin_return_address(0));
	KUNIT_ASSERT_NOT_NULL(test, addr);
	KUNIT_EXPECT_TRUE(test, all_pages(addr, SZ_4M));
	vfree(addr);
}

/* nohugevmalloc and nohugeiomap, each of them given or not. */
static void command_line_decides_about_large_leaves(struct kunit *test)
{
	const bool want_vmalloc = !strstr(saved_command_line, "nohugevmalloc");
	const bool want_iomap = !strstr(saved_command_line, "nohugeiomap");
	const unsigned int shift = arch_vmap_leaf_shift(ilog2(SZ_4M), PAGE_KERNEL);
	struct vm_struct *area;
	unsigned long start;
	void *addr;

	if (shift == PAGE_SHIFT)
		kunit_skip(test, "no large leaves here");
	addr = vmalloc_huge(SZ_4M, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, addr);
	KUNIT_EXPECT_EQ(test, want_vmalloc, !all_pages(addr, SZ_4M));
	vfree(addr);

	/* Nobody looks at what is there: no memory is. */
	area = __get_vm_area_caller(SZ_4M, VM_IOREMAP, VMALLOC_START,
				    VMALLOC_END, __builtin_return_address(0));
	KUNIT_ASSERT_NOT_NULL(test, area);
	start = (unsigned long)area->addr;
	KUNIT_EXPECT_EQ(test, 0, ioremap_page_range(start, start + SZ_4M,
						    VMBATCH_NO_MEMORY,
						    pgprot_noncached(PAGE_KERNEL)));
	KUNIT_EXPECT_EQ(test, want_iomap, !all_pages(area->addr, SZ_4M));
	free_vm_area(area);
}

struct lookups {
	struct page *page;
	unsigned long addr;
	unsigned long nr_wrong;
	atomic_t nr_found;
};

static int keep_looking_up(void *data)
{
	struct lookups *lookups = data;
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 1000; i++) {
			struct page *page;

			rcu_read_lock();
			page = vmalloc_to_page((void *)lookups->addr);
			rcu_read_unlock();
			if (page == lookups->page)
				atomic_inc(&lookups->nr_found);
			else if (page)
				lookups->nr_wrong++;
		}
		cond_resched();
	}

	return 0;
}

/*
 * As /proc/kcore does with an area that is being mapped: whatever takes the
 * place of what meanwhile, the page is found, or none is.
 */
static void promotion_beside_lookup_finds_right_page(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, PTRS_PER_PTE);
	unsigned int order = PMD_SHIFT - PAGE_SHIFT, nr_blocks = 0, i;
	struct task_struct *reader;
	struct lookups lookups = {};
	struct vm_struct *area;
	unsigned long addr, end;

	if (order > MAX_PAGE_ORDER || arch_vmap_pages_max_shift() < PMD_SHIFT ||
	    !vmbatch_mem_add(mem, order))
		kunit_skip(test, "no blocks of order %u", order);
	vmbatch_mark(mem);
	area = __get_vm_area_caller(PMD_SIZE, VM_IOREMAP, VMALLOC_START,
				    VMALLOC_END, __builtin_return_address(0));
	KUNIT_ASSERT_NOT_NULL(test, area);
	addr = (unsigned long)area->addr;
	end = addr + PMD_SIZE;
	lookups.page = mem->pages[mem->nr_pages - 1];
	lookups.addr = end - PAGE_SIZE;
	reader = kthread_run(keep_looking_up, &lookups, "vmbatch_reader");
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));

	for (i = 0; i < 4000 || (i < 1000000 && !atomic_read(&lookups.nr_found)); i++) {
		unsigned int shift = i & 1 ? PMD_SHIFT : PAGE_SHIFT;

		if (vmap_pages_range_noflush(addr, end, PAGE_KERNEL, mem->pages,
					     shift)) {
			KUNIT_FAIL(test, "not mapped");
			break;
		}
		if (vmbatch_leaf_size(addr) == PMD_SIZE)
			nr_blocks++;
		vunmap_range(addr, end);
		cond_resched();
	}
	kthread_stop(reader);
	KUNIT_EXPECT_EQ(test, lookups.nr_wrong, 0);
	KUNIT_EXPECT_GT(test, nr_blocks, 0);
	KUNIT_EXPECT_GT(test, atomic_read(&lookups.nr_found), 0);
	free_vm_area(area);
}

static int keep_dumping(void *data)
{
	atomic_t *nr_dumps = data;

	while (!kthread_should_stop()) {
		debug_checkwx();
		atomic_inc(nr_dumps);
		/* A block is made between two dumps only. */
		fsleep(2000);
	}

	return 0;
}

/* Tables that ptdump may be walking are replaced by blocks, and freed. */
static void promotion_beside_ptdump_maps_right(struct kunit *test)
{
	struct vmbatch_mem *mem = vmbatch_mem_alloc(test, PTRS_PER_PTE);
	unsigned int order = PMD_SHIFT - PAGE_SHIFT, nr_blocks = 0, i;
	atomic_t nr_dumps = ATOMIC_INIT(0);
	struct task_struct *dumper;
	struct vm_struct *area;
	unsigned long addr, end;

	if (!IS_ENABLED(CONFIG_DEBUG_WX))
		kunit_skip(test, "nothing to dump with: no DEBUG_WX");
	if (order > MAX_PAGE_ORDER || arch_vmap_pages_max_shift() < PMD_SHIFT ||
	    !vmbatch_mem_add(mem, order))
		kunit_skip(test, "no blocks of order %u", order);
	vmbatch_mark(mem);
	area = __get_vm_area_caller(PMD_SIZE, VM_IOREMAP, VMALLOC_START,
				    VMALLOC_END, __builtin_return_address(0));
	KUNIT_ASSERT_NOT_NULL(test, area);
	addr = (unsigned long)area->addr;
	end = addr + PMD_SIZE;
	dumper = kthread_run(keep_dumping, &nr_dumps, "vmbatch_dumper");
	KUNIT_ASSERT_FALSE(test, IS_ERR(dumper));

	for (i = 0; i < 100000; i++) {
		unsigned int shift = i & 1 ? PMD_SHIFT : PAGE_SHIFT;
		int ret;

		if (i >= 200 && nr_blocks && atomic_read(&nr_dumps) >= 5)
			break;
		ret = vmap_pages_range_noflush(addr, end, PAGE_KERNEL,
					       mem->pages, shift);
		KUNIT_EXPECT_EQ(test, 0, ret);
		if (ret)
			break;
		/* While a dump is on the way the table stays in use. */
		if (vmbatch_leaf_size(addr) == PMD_SIZE)
			nr_blocks++;
		if (vmalloc_to_page((void *)(end - PAGE_SIZE)) !=
		    mem->pages[mem->nr_pages - 1]) {
			KUNIT_FAIL(test, "another page is there");
			break;
		}
		vunmap_range(addr, end);
	}
	kthread_stop(dumper);
	KUNIT_EXPECT_GE(test, atomic_read(&nr_dumps), 5);
	KUNIT_EXPECT_GT(test, nr_blocks, 0);
	kunit_info(test, "%u blocks beside %d dumps\n", nr_blocks,
		   atomic_read(&nr_dumps));
	vmbatch_expect_unmapped(test, addr, end);
	free_vm_area(area);
}

static struct kunit_case vmbatch_users_cases[] = {
	KUNIT_CASE_PARAM(leaf_of_each_kind_translates_and_reads,
			 vmbatch_kind_gen_params),
	KUNIT_CASE(vread_large_leaves_gives_contents),
	KUNIT_CASE(vread_small_map_ram_gives_contents),
	KUNIT_CASE(vread_full_map_ram_block_gives_contents),
	KUNIT_CASE(vread_ioremap_and_sparse_gives_zeroes),
	KUNIT_CASE(vmalloc_odd_size_maps_all_of_it),
	KUNIT_CASE(ioremap_odd_size_maps_whole_pages),
	KUNIT_CASE(kvmalloc_large_uses_large_leaves),
	KUNIT_CASE(vmalloc_huge_uses_leaf_of_its_whole_size),
	KUNIT_CASE(memory_for_code_stays_pages),
	KUNIT_CASE(command_line_decides_about_large_leaves),
	KUNIT_CASE_SLOW(promotion_beside_lookup_finds_right_page),
	KUNIT_CASE_SLOW(promotion_beside_ptdump_maps_right),
	{}
};

static struct kunit_suite vmbatch_users_suite = {
	.name = "vmbatch_users",
	.test_cases = vmbatch_users_cases,
};

kunit_test_suite(vmbatch_users_suite);
