// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of set_memory_*() and set_direct_map_*() on large leaves.
 *
 * Run them with
 *	make test SUITES=kunit_kleaf
 * See kleaf_split_kunit.c for how to do so in a kernel tree.
 */

#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/set_memory.h>
#include <linux/vmalloc.h>

#include <asm/tlbflush.h>

#include "region.h"

#define NR_AREA_PAGES	64

static void area_free(void *data)
{
	unsigned long addr = (unsigned long)data;

	WARN_ON_ONCE(set_memory_rw(addr, NR_AREA_PAGES));
	vfree(data);
}

static struct vm_struct *area_alloc(struct kunit *test)
{
	void *p = vmalloc(NR_AREA_PAGES * PAGE_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, area_free, p));
	memset(p, 0x5a, NR_AREA_PAGES * PAGE_SIZE);

	return find_vm_area(p);
}

static unsigned long alias_of(struct vm_struct *area, unsigned int i)
{
	return (unsigned long)__va(page_to_phys(area->pages[i]));
}

/* Pages [first, last) are read-only through both mappings, no others are. */
static void expect_read_only(struct kunit *test, struct vm_struct *area,
			     unsigned int first, unsigned int last)
{
	unsigned long addr = (unsigned long)kasan_reset_tag(area->addr);
	unsigned int i;

	for (i = 0; i < NR_AREA_PAGES; i++, addr += PAGE_SIZE) {
		bool ro = i >= first && i < last;

		KUNIT_ASSERT_TRUE_MSG(test, region_translates(addr, false, NULL),
				      "page %u", i);
		KUNIT_ASSERT_EQ_MSG(test, region_translates(addr, true, NULL),
				    !ro, "page %u", i);
		KUNIT_ASSERT_TRUE_MSG(test,
				      region_translates(alias_of(area, i), false, NULL),
				      "alias of page %u", i);
		KUNIT_ASSERT_EQ_MSG(test,
				    region_translates(alias_of(area, i), true, NULL),
				    !(ro && rodata_full), "alias of page %u", i);
	}
}

static void set_memory_ro_changes_alias_of_these_pages_only(struct kunit *test)
{
	struct vm_struct *area = area_alloc(test);
	unsigned long addr = (unsigned long)area->addr;

	expect_read_only(test, area, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, set_memory_ro(addr + 5 * PAGE_SIZE, 7));
	expect_read_only(test, area, 5, 12);
	KUNIT_EXPECT_EQ(test, 0, set_memory_ro(addr, NR_AREA_PAGES));
	expect_read_only(test, area, 0, NR_AREA_PAGES);
	KUNIT_EXPECT_EQ(test, 0, set_memory_rw(addr, NR_AREA_PAGES - 1));
	expect_read_only(test, area, NR_AREA_PAGES - 1, NR_AREA_PAGES);
	KUNIT_EXPECT_EQ(test, 0, set_memory_rw(addr, NR_AREA_PAGES));
	expect_read_only(test, area, 0, 0);
}

static void set_memory_on_guard_page_maps_nothing(struct kunit *test)
{
	struct vm_struct *area = area_alloc(test);
	unsigned long addr = (unsigned long)area->addr;
	unsigned long guard = addr + NR_AREA_PAGES * PAGE_SIZE;

	/* Base lets the guard page pass as part of the area. */
	KUNIT_EXPECT_EQ(test, 0, set_memory_ro(addr, NR_AREA_PAGES + 1));
	expect_read_only(test, area, 0, NR_AREA_PAGES);
	KUNIT_EXPECT_EQ(test, NR_KLEAF_KINDS, region_leaf_kind(guard));
	KUNIT_EXPECT_EQ(test, -EINVAL, set_memory_ro(addr, NR_AREA_PAGES + 2));
	KUNIT_EXPECT_EQ(test, -EINVAL, set_memory_ro(addr, -1));
	KUNIT_EXPECT_EQ(test, 0, set_memory_rw(addr, 0));
}

static void set_memory_x_leaves_alias_alone(struct kunit *test)
{
	struct vm_struct *area = area_alloc(test);
	unsigned long addr = (unsigned long)area->addr;

	KUNIT_EXPECT_EQ(test, 0, set_memory_nx(addr, NR_AREA_PAGES));
	expect_read_only(test, area, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, set_memory_rox(addr, 3));
	expect_read_only(test, area, 0, 3);
	KUNIT_EXPECT_EQ(test, 0, set_memory_nx(addr, 3));
	KUNIT_EXPECT_EQ(test, 0, set_memory_rw(addr, 3));
	expect_read_only(test, area, 0, 0);
}

/*
 * With no memory for tables the change fails as a whole or, if the linear map
 * happens to be split here already, works as a whole.
 */
static void set_memory_ro_without_memory_changes_all_or_nothing(struct kunit *test)
{
	struct vm_struct *area = area_alloc(test);
	unsigned long addr = (unsigned long)area->addr;
	int allowed;

	for (allowed = 0; allowed < 3; allowed++) {
		int ret;

		region_fail_table_allocs(test, allowed);
		ret = set_memory_ro(addr, NR_AREA_PAGES);
		region_fail_table_allocs(test, -1);

		if (ret) {
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			expect_read_only(test, area, 0, 0);
		} else {
			expect_read_only(test, area, 0, NR_AREA_PAGES);
			KUNIT_EXPECT_EQ(test, 0, set_memory_rw(addr, NR_AREA_PAGES));
		}
	}
}

static void set_direct_map_one_page_keeps_neighbours(struct kunit *test)
{
	struct region *region = region_alloc(test, PMD_SIZE);
	unsigned long i, middle;

	if (!region)
		kunit_skip(test, "no contiguous memory");
	if (!can_set_direct_map())
		kunit_skip(test, "the linear map is not protected here");

	middle = region->nr_pages / 2 + 1;
	KUNIT_EXPECT_EQ(test, 0, set_direct_map_invalid_noflush(region->page + middle));
	flush_tlb_kernel_range(region->start + middle * PAGE_SIZE,
			       region->start + (middle + 1) * PAGE_SIZE);
	region->model[middle] = MODEL_INVALID;
	set_bit(middle, region->boundary);
	set_bit(middle + 1, region->boundary);
	KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
	KUNIT_EXPECT_TRUE(test, region_check_leaves(test, region));
	for (i = 0; i < region->nr_pages; i++)
		KUNIT_EXPECT_EQ(test, i != middle,
				kernel_page_present(region->page + i));

	KUNIT_EXPECT_EQ(test, 0, set_direct_map_default_noflush(region->page + middle));
	region->model[middle] = 0;
	KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
	KUNIT_EXPECT_TRUE(test, kernel_page_present(region->page + middle));
}

/* What hibernation does to a page of an invalid leaf, with interrupts off. */
static void snapshot_makes_whole_leaf_valid_and_back(struct kunit *test)
{
	struct region *region = region_alloc(test, PMD_SIZE);
	unsigned long middle;
	bool seen, back;
	u64 word = 0;

	if (!region)
		kunit_skip(test, "no contiguous memory");
	if (!can_set_direct_map())
		kunit_skip(test, "the linear map is not protected here");

	middle = region->nr_pages / 2 + 1;
	KUNIT_ASSERT_EQ(test, 0, region_change(region, 0, region->nr_pages,
					       MODEL_INVALID, true));
	KUNIT_EXPECT_FALSE(test, kernel_page_present(region->page + middle));

	local_irq_disable();
	seen = !set_direct_map_default_noflush(region->page + middle);
	if (seen) {
		seen = kernel_page_present(region->page + middle);
		word = *(u64 *)(region->start + middle * PAGE_SIZE);
	}
	back = !set_direct_map_invalid_noflush(region->page + middle);
	local_irq_enable();

	KUNIT_EXPECT_TRUE(test, seen);
	KUNIT_EXPECT_TRUE(test, back);
	KUNIT_EXPECT_NE(test, word, 0ULL);
	KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
	KUNIT_EXPECT_TRUE(test, region_check_leaves(test, region));
}

/*
 * The DirectMap counters equal what a walk of the linear map counts. With more
 * address bits in the kernel than in the CPU, the map begins above PAGE_OFFSET.
 */
static void expect_counters_match(struct kunit *test)
{
	unsigned long bytes[NR_KLEAF_KINDS] = {};
	enum kleaf_kind kind;

	KUNIT_ASSERT_EQ(test, 0, kleaf_count_range(_PAGE_OFFSET(vabits_actual), PAGE_END,
						   bytes));
	for (kind = 0; kind < NR_KLEAF_KINDS; kind++)
		KUNIT_EXPECT_EQ_MSG(test, bytes[kind], kleaf_directmap_bytes(kind),
				    "leaves of %lu bytes", kleaf_kind_size(kind));
}

/* KASAN with tags hands out pages whose addresses have one. */
static void tagged_address_is_changed_as_without_tag(struct kunit *test)
{
	struct region *region = region_alloc(test, PMD_SIZE);
	unsigned long start, middle;

	if (!region)
		kunit_skip(test, "no contiguous memory");

	middle = region->nr_pages / 2 + 1;
	start = region->start + middle * PAGE_SIZE;
	start = (unsigned long)__tag_set((void *)start, 0xa5);

	KUNIT_EXPECT_EQ(test, 0, kleaf_change(start, start + PAGE_SIZE,
					      __pgprot(PTE_RDONLY),
					      __pgprot(PTE_WRITE)));
	region->model[middle] = MODEL_RDONLY;
	set_bit(middle, region->boundary);
	set_bit(middle + 1, region->boundary);
	KUNIT_EXPECT_TRUE(test, region_check_attributes(test, region));
	KUNIT_EXPECT_TRUE(test, region_check_leaves(test, region));
	/* A split of what is not taken for the linear map would not be counted. */
	expect_counters_match(test);
}

#ifdef CONFIG_MEMORY_HOTPLUG
/* What memory hot-add asks before it maps anything. */
static void mapped_memory_is_found(struct kunit *test)
{
	struct region *region = region_alloc(test, PMD_SIZE);
	phys_addr_t end_of_memory = PAGE_ALIGN_DOWN(memblock_end_of_DRAM());
	unsigned long beyond = (unsigned long)__va(end_of_memory);
	const pgprot_t prot = pgprot_tagged(PAGE_KERNEL);
	unsigned long middle, size;

	if (!region)
		kunit_skip(test, "no contiguous memory");

	size = region->end - region->start;
	middle = region->start + size / 2;

	KUNIT_EXPECT_EQ(test, kleaf_find_mapped(region->start, region->end, prot),
			(long)size);
	/* Part of a leaf. */
	KUNIT_EXPECT_EQ(test, kleaf_find_mapped(middle, middle + PAGE_SIZE, prot),
			(long)PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, kleaf_find_mapped(region->start, region->end,
						pgprot_noncached(prot)),
			(long)-EEXIST);
	KUNIT_EXPECT_EQ(test, 1, kleaf_prepare_add(__pa(region->start), size, prot));
	KUNIT_EXPECT_EQ(test, 1, kleaf_prepare_add(__pa(middle), PAGE_SIZE, prot));

	KUNIT_ASSERT_EQ(test, 0, region_change(region, 1, 1, MODEL_INVALID, true));
	KUNIT_EXPECT_EQ(test, -EEXIST,
			kleaf_prepare_add(__pa(region->start), size, prot));
	KUNIT_ASSERT_EQ(test, 0, region_change(region, 1, 1, MODEL_INVALID, false));

	/* The edge of memory, unless a hole or a device is there. */
	if (beyond >= PAGE_END ||
	    region_leaf_kind(beyond - PAGE_SIZE) == NR_KLEAF_KINDS ||
	    region_leaf_kind(beyond) != NR_KLEAF_KINDS)
		return;
	KUNIT_EXPECT_EQ(test, 0, kleaf_prepare_add(end_of_memory, PAGE_SIZE, prot));
	KUNIT_EXPECT_EQ(test, -EEXIST,
			kleaf_prepare_add(end_of_memory - PAGE_SIZE,
					  2 * PAGE_SIZE, prot));
}
#endif

static void kfence_pool_is_made_of_pages(struct kunit *test)
{
	unsigned long addr, end;

	if (!kleaf_kfence_pool(&addr, &end))
		kunit_skip(test, "KFENCE is off");

	for (; addr < end; addr += PAGE_SIZE)
		KUNIT_ASSERT_EQ(test, KLEAF_KIND_PTE, region_leaf_kind(addr));
}

static void directmap_counters_match_walk(struct kunit *test)
{
	expect_counters_match(test);
}

static struct kunit_case kleaf_setmem_cases[] = {
	KUNIT_CASE(set_memory_ro_changes_alias_of_these_pages_only),
	KUNIT_CASE(set_memory_on_guard_page_maps_nothing),
	KUNIT_CASE(set_memory_x_leaves_alias_alone),
	KUNIT_CASE(set_memory_ro_without_memory_changes_all_or_nothing),
	KUNIT_CASE(set_direct_map_one_page_keeps_neighbours),
	KUNIT_CASE(snapshot_makes_whole_leaf_valid_and_back),
	KUNIT_CASE(tagged_address_is_changed_as_without_tag),
#ifdef CONFIG_MEMORY_HOTPLUG
	KUNIT_CASE(mapped_memory_is_found),
#endif
	KUNIT_CASE(kfence_pool_is_made_of_pages),
	KUNIT_CASE(directmap_counters_match_walk),
	{}
};

static struct kunit_suite kleaf_setmem_suite = {
	.name = "kleaf_setmem",
	.test_cases = kleaf_setmem_cases,
};

kunit_test_suite(kleaf_setmem_suite);

MODULE_DESCRIPTION("KUnit tests of set_memory and set_direct_map on large leaves");
MODULE_LICENSE("GPL");
