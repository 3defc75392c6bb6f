// SPDX-License-Identifier: GPL-2.0-only
/*
 * A region of the linear map for the kleaf suites, with a flat model of it.
 *
 * Invariants:
 *  I1 (between two calls of region_change()). The model says what the CPU must
 *      find for each page; the boundaries say where leaves may end.
 *  I2 (when the test case has ended). The region is valid and writable again.
 *  I3 (region_alloc() returned). Each page of it can be changed by itself.
 *
 * Locking: none; a region belongs to one test case.
 * TLB and barriers: kleaf_change() flushes. AT may use the TLB, so a missing
 *   flush can show up here.
 * Failure: reported to KUnit.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <kunit/static_stub.h>
#include <linux/bitmap.h>
#include <linux/gfp.h>
#include <linux/vmalloc.h>

#include <asm/barrier.h>
#include <asm/bbml2.h>
#include <asm/pgalloc.h>
#include <asm/sysreg.h>

#include "region.h"

/*
 * Up to this many pages each is looked up by itself; in larger regions, the
 * first and the last page of each leaf.
 */
#define CHECK_EVERY_PAGE	SZ_16K

bool region_translates(unsigned long addr, bool write, phys_addr_t *pa)
{
	unsigned long flags;
	u64 par;

	/*
	 * PAR_EL1 is not preserved over a preemption or an interrupt. Nobody
	 * traces this: it is done for every page, many times.
	 */
	raw_local_irq_save(flags);
	if (write)
		asm volatile("at s1e1w, %0" : : "r" (addr));
	else
		asm volatile("at s1e1r, %0" : : "r" (addr));
	/* The result of AT is in PAR_EL1 only after an ISB. */
	isb();
	par = read_sysreg_par();
	raw_local_irq_restore(flags);

	if (par & SYS_PAR_EL1_F)
		return false;
	if (pa)
		*pa = par & GENMASK_ULL(51, PAGE_SHIFT);
	return true;
}

static int kind_run(const struct kleaf_run *run, void *data)
{
	enum kleaf_kind *kind = data;
	u64 val = kleaf_run_val(run, 0);

	if (val)
		*kind = kleaf_kind(run->level, val);
	return 0;
}

static const struct kleaf_walk_ops kind_ops = {
	.run = kind_run,
};

enum kleaf_kind region_leaf_kind(unsigned long addr)
{
	enum kleaf_kind kind = NR_KLEAF_KINDS;

	if (kleaf_walk(addr, addr + PAGE_SIZE, &kind_ops, &kind))
		return NR_KLEAF_KINDS;

	return kind;
}

/* Pages from @i to the end of the leaf that maps it, inside the region. */
static unsigned long pages_in_leaf(struct region *region, unsigned long i)
{
	enum kleaf_kind kind = region_leaf_kind(region->start + i * PAGE_SIZE);
	unsigned long nr = kleaf_kind_size(kind) >> PAGE_SHIFT;
	unsigned long pfn = (region->start >> PAGE_SHIFT) + i;

	return min(nr - (pfn & (nr - 1)), region->nr_pages - i);
}

static u64 pattern(struct region *region, unsigned long i)
{
	return (u64)page_to_pfn(region->page) * 0x9e3779b97f4a7c15ULL + i;
}

static void region_free(void *data)
{
	struct region *region = data;

	region_fail_table_allocs(kunit_get_current_test(), -1);
	/* A region that nothing was done to may be one that nothing can change. */
	if (region->boundary &&
	    !bitmap_empty(region->boundary, region->nr_pages + 1)) {
		WARN_ON_ONCE(region_change(region, 0, region->nr_pages,
					   MODEL_INVALID, false));
		WARN_ON_ONCE(region_change(region, 0, region->nr_pages,
					   MODEL_RDONLY, false));
	}
	free_contig_range(page_to_pfn(region->page), region->nr_pages);
	vfree(region->model);
	vfree(region->initial);
	bitmap_free(region->boundary);
}

struct region *region_alloc(struct kunit *test, unsigned long size)
{
	struct region *region = kunit_kzalloc(test, sizeof(*region), GFP_KERNEL);
	unsigned long i, nr;

	KUNIT_ASSERT_NOT_NULL(test, region);
	region->nr_pages = size >> PAGE_SHIFT;
	region->page = alloc_contig_pages(region->nr_pages,
					  GFP_KERNEL | __GFP_NOWARN,
					  numa_node_id(), NULL);
	if (!region->page)
		return NULL;

	region->start = (unsigned long)__va(page_to_phys(region->page));
	region->end = region->start + size;
	region->model = vzalloc(region->nr_pages);
	region->initial = vzalloc(region->nr_pages);
	region->boundary = bitmap_zalloc(region->nr_pages + 1, GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, region_free,
							   region));
	KUNIT_ASSERT_NOT_NULL(test, region->model);
	KUNIT_ASSERT_NOT_NULL(test, region->initial);
	KUNIT_ASSERT_NOT_NULL(test, region->boundary);

	for (i = 0; i < region->nr_pages; i += nr) {
		nr = pages_in_leaf(region, i);
		memset(region->initial + i,
		       region_leaf_kind(region->start + i * PAGE_SIZE), nr);
	}
	/* As with rodata=on, where nobody asks for less than the whole. */
	if (!system_supports_bbml2_noabort() &&
	    memchr_inv(region->initial, KLEAF_KIND_PTE, region->nr_pages))
		kunit_skip(test, "large leaves here, and none can be split");

	for (i = 0; i < region->nr_pages; i++)
		*(u64 *)(region->start + i * PAGE_SIZE) = pattern(region, i);

	return region;
}

int region_change(struct region *region, unsigned long first,
		  unsigned long nr_pages, u8 flag, bool on)
{
	unsigned long start = region->start + first * PAGE_SIZE;
	unsigned long end = start + nr_pages * PAGE_SIZE;
	pgprot_t set, clear;
	unsigned long i;
	int ret;

	if (flag == MODEL_INVALID) {
		set = __pgprot(on ? 0 : PTE_VALID);
		clear = __pgprot(on ? PTE_VALID : 0);
	} else {
		set = __pgprot(on ? PTE_RDONLY : PTE_WRITE);
		clear = __pgprot(on ? PTE_WRITE : PTE_RDONLY);
	}

	ret = kleaf_change(start, end, set, clear);
	if (ret)
		return ret;

	for (i = first; i < first + nr_pages; i++) {
		region->model[i] &= ~flag;
		if (on)
			region->model[i] |= flag;
	}
	set_bit(first, region->boundary);
	set_bit(first + nr_pages, region->boundary);

	return 0;
}

static bool page_matches(struct kunit *test, struct region *region,
			 unsigned long i)
{
	unsigned long addr = region->start + i * PAGE_SIZE;
	phys_addr_t pa = 0, expected = __pa(addr);
	bool readable = region_translates(addr, false, &pa);
	bool writable = region_translates(addr, true, NULL);
	u8 flags = region->model[i];

	if (readable == !(flags & MODEL_INVALID) && writable == !flags &&
	    (!readable || (pa == expected && *(u64 *)addr == pattern(region, i))))
		return true;

	KUNIT_FAIL(test, "page %lu: readable %d writable %d pa %pa, model %x pa %pa\n",
		   i, readable, writable, &pa, flags, &expected);
	return false;
}

bool region_check_attributes(struct kunit *test, struct region *region)
{
	bool every_page = region->nr_pages <= CHECK_EVERY_PAGE;
	unsigned long i, nr;

	for (i = 0; i < region->nr_pages; i += nr) {
		nr = every_page ? 1 : pages_in_leaf(region, i);

		if (memchr_inv(region->model + i, region->model[i], nr)) {
			KUNIT_FAIL(test, "pages %lu to %lu: one leaf, but they differ\n",
				   i, i + nr - 1);
			return false;
		}
		if (!page_matches(test, region, i) ||
		    !page_matches(test, region, i + nr - 1))
			return false;
	}

	return true;
}

/* The largest leaf around page @i that no boundary cuts. */
static enum kleaf_kind expected_kind(struct region *region, unsigned long i)
{
	unsigned long pfn = (region->start >> PAGE_SHIFT) + i;
	enum kleaf_kind kind;

	for (kind = region->initial[i]; kind > KLEAF_KIND_PTE; kind--) {
		unsigned long nr = kleaf_kind_size(kind) >> PAGE_SHIFT;
		long first = (long)(ALIGN_DOWN(pfn, nr) - pfn + i);
		long from = max(first + 1, 0L);
		long to = min(first + (long)nr, (long)region->nr_pages + 1);

		/*
		 * A leaf that reaches beyond the region is cut at the ends of
		 * it, if at all.
		 */
		if (find_next_bit(region->boundary, to, from) >= to)
			break;
	}

	return kind;
}

bool region_check_leaves(struct kunit *test, struct region *region)
{
	unsigned long i;

	/* What holds for one page of a leaf holds for all of that leaf. */
	for (i = 0; i < region->nr_pages; i += pages_in_leaf(region, i)) {
		enum kleaf_kind kind, expected = expected_kind(region, i);

		kind = region_leaf_kind(region->start + i * PAGE_SIZE);
		if (kind == expected)
			continue;

		KUNIT_FAIL(test, "page %lu: leaf of %lu bytes, expected %lu\n",
			   i, kleaf_kind_size(kind), kleaf_kind_size(expected));
		return false;
	}

	return true;
}

static int allocs_left;
static bool stub_active;

/* A region lies in the linear map, where no table has a constructor. */
static void *fail_table_alloc(enum kleaf_table_sort sort)
{
	if (!allocs_left)
		return NULL;
	allocs_left--;

	return (void *)__get_free_page(GFP_PGTABLE_KERNEL);
}

void region_fail_table_allocs(struct kunit *test, int after)
{
	if (stub_active)
		kunit_deactivate_static_stub(test, kleaf_table_alloc);
	stub_active = after >= 0;
	if (!stub_active)
		return;

	allocs_left = after;
	kunit_activate_static_stub(test, kleaf_table_alloc, fail_table_alloc);
}
