// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change the attributes of pages of a vmalloc area, and of their linear map.
 *
 * The pages of an area are rarely one contiguous block of memory, but rarely
 * without any order either: the allocator hands out descending pages as often
 * as ascending ones. Neighbours are joined either way, so that one walk and
 * one flush of the linear map serve a run of pages.
 *
 * Invariants:
 *  I1 (always). Only the linear map of the pages that the caller named
 *      changes, never that of the rest of the area.
 *  I2 (always). Every boundary of every range is split before the first
 *      attribute changes.
 *
 * Locking: kleaf_lock from the first split to the last store, see split.c.
 *   vm_unmap_aliases() runs before it is taken.
 * TLB and barriers: each range is flushed after all of them have changed.
 * Failure: attributes unchanged, splits already made remain.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/vmalloc.h>

#include <asm/tlbflush.h>

#include "kleaf.h"

/* Enough for most areas of a few hundred pages; more are found again. */
#define NR_ALIAS_RUNS	16

/**
 * struct alias_run - contiguous part of the linear map
 * @start: first byte
 * @end: one past the last byte
 */
struct alias_run {
	unsigned long start;
	unsigned long end;
};

/**
 * struct alias - the linear map of an array of pages
 * @pages: the pages
 * @nr_pages: number of @pages
 * @nr_runs: number of @runs in use
 * @rest: index of the first page that @runs do not cover
 * @runs: the first runs, so that they need not be found three times
 */
struct alias {
	struct page **pages;
	unsigned int nr_pages;
	unsigned int nr_runs;
	unsigned int rest;
	struct alias_run runs[NR_ALIAS_RUNS];
};

/**
 * struct alias_iter - position among the runs of an alias
 * @run: index of the next remembered run
 * @page: index of the first page of the next run that is not remembered
 */
struct alias_iter {
	unsigned int run;
	unsigned int page;
};

/* Find the run that begins with page @i. Returns the index of the next one. */
static unsigned int alias_find_run(const struct alias *alias, unsigned int i,
				   struct alias_run *run)
{
	unsigned long first = page_to_pfn(alias->pages[i]);
	unsigned long last = first;

	while (++i < alias->nr_pages) {
		unsigned long pfn = page_to_pfn(alias->pages[i]);

		if (pfn == last + 1)
			last = pfn;
		else if (pfn == first - 1)
			first = pfn;
		else
			break;
	}

	run->start = (unsigned long)__va(PFN_PHYS(first));
	run->end = (unsigned long)__va(PFN_PHYS(last)) + PAGE_SIZE;
	return i;
}

static void alias_init(struct alias *alias, struct page **pages,
		       unsigned int nr_pages)
{
	unsigned int i = 0;

	alias->pages = pages;
	alias->nr_pages = nr_pages;
	for (alias->nr_runs = 0; alias->nr_runs < NR_ALIAS_RUNS; alias->nr_runs++) {
		if (i == nr_pages)
			break;
		i = alias_find_run(alias, i, &alias->runs[alias->nr_runs]);
	}
	alias->rest = i;
}

static bool alias_next(const struct alias *alias, struct alias_iter *iter,
		       struct alias_run *run)
{
	if (iter->run < alias->nr_runs) {
		*run = alias->runs[iter->run++];
		iter->page = alias->rest;
		return true;
	}
	if (iter->page == alias->nr_pages)
		return false;

	iter->page = alias_find_run(alias, iter->page, run);
	return true;
}

static int split_all(unsigned long start, unsigned long end,
		     const struct alias *alias, struct kleaf_tables *tables)
{
	struct alias_iter iter = {};
	struct alias_run run;
	int ret;

	ret = kleaf_split_locked(start, end, tables);
	while (!ret && alias_next(alias, &iter, &run))
		ret = kleaf_split_locked(run.start, run.end, tables);

	return ret;
}

/* Cannot fail: split_all() has seen every boundary. */
static void change_all(unsigned long start, unsigned long end,
		       const struct alias *alias, pgprot_t set_mask,
		       pgprot_t clear_mask)
{
	struct alias_iter iter = {};
	struct alias_run run;

	WARN_ON_ONCE(kleaf_change_locked(start, end, set_mask, clear_mask));
	while (alias_next(alias, &iter, &run))
		WARN_ON_ONCE(kleaf_change_locked(run.start, run.end,
						 set_mask, clear_mask));
}

static void flush_all(unsigned long start, unsigned long end,
		      const struct alias *alias)
{
	struct alias_iter iter = {};
	struct alias_run run;

	flush_tlb_kernel_range(start, end);
	while (alias_next(alias, &iter, &run))
		flush_tlb_kernel_range(run.start, run.end);
}

int kleaf_change_vm_area(struct vm_struct *area, unsigned long start,
			 unsigned int nr_pages, pgprot_t set_mask,
			 pgprot_t clear_mask)
{
	struct kleaf_tables tables = {};
	struct page **pages = NULL;
	unsigned long end, first;
	struct alias alias;
	bool change_alias;
	int ret;

	might_sleep();

	start = (unsigned long)kasan_reset_tag((void *)start);
	end = start + (unsigned long)nr_pages * PAGE_SIZE;
	first = (start - (unsigned long)kasan_reset_tag(area->addr)) >> PAGE_SHIFT;
	/* set_memory_*() take a signed number, and a negative one gets here. */
	if (!nr_pages || !PAGE_ALIGNED(start) ||
	    first + nr_pages > area->size >> PAGE_SHIFT)
		return -EINVAL;

	/* Protection against writes must hold for the linear map as well. */
	change_alias = rodata_full && (pgprot_val(set_mask) == PTE_RDONLY ||
				       pgprot_val(clear_mask) == PTE_RDONLY);

	/* The guard page is part of the area, but has no page. */
	if (change_alias && first < area->nr_pages) {
		pages = area->pages + first;
		nr_pages = min_t(unsigned long, nr_pages, area->nr_pages - first);
	} else {
		nr_pages = 0;
	}
	alias_init(&alias, pages, nr_pages);

	/*
	 * Get rid of lazily unmapped areas that may still map these pages
	 * with permissions other than the ones set here.
	 */
	vm_unmap_aliases();

	do {
		mutex_lock(&kleaf_lock);
		ret = split_all(start, end, &alias, &tables);
		if (!ret)
			change_all(start, end, &alias, set_mask, clear_mask);
		mutex_unlock(&kleaf_lock);
	} while (ret == -EAGAIN && !(ret = kleaf_tables_refill(&tables)));

	kleaf_tables_free(&tables);
	if (!ret)
		flush_all(start, end, &alias);

	return ret;
}
