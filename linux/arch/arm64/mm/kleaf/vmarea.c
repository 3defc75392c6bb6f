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
 * TLB and barriers: each range is flushed after all of them have changed; or
 *   everything at once, if that would take MAX_DVM_OPS TLBIs or more.
 * Failure: attributes unchanged, splits already made remain.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <asm/tlbflush.h>

#include "kleaf.h"

/* Runs that are remembered on the stack, and with a page for them. */
#define NR_STACK_RUNS	4
#define NR_PAGE_RUNS	(SZ_4K / sizeof(struct kleaf_range))

/**
 * struct alias - the linear map of an array of pages
 * @pages: the pages
 * @nr_pages: number of @pages
 * @rest: index of the first page that @runs do not cover
 * @nr_runs: number of @runs in use
 * @runs: the first runs, so that they need not be found three times, and to
 *	keep what a split finds for the change
 * @few_runs: where @runs are if they are few
 */
struct alias {
	struct page **pages;
	unsigned int nr_pages;
	unsigned int rest;
	unsigned int nr_runs;
	struct kleaf_range *runs;
	struct kleaf_range few_runs[NR_STACK_RUNS];
};

/**
 * struct alias_iter - position among the runs of an alias
 * @run: index of the next remembered run
 * @page: index of the first page of the next run that is not remembered
 * @more: the current run, if it is not remembered
 */
struct alias_iter {
	unsigned int run;
	unsigned int page;
	struct kleaf_range more;
};

/*
 * Find the run that begins with page @i. Returns the index of the next one.
 * arm64 has all struct pages in one array: neighbours there are neighbours in
 * memory.
 */
static unsigned int alias_find_run(const struct alias *alias, unsigned int i,
				   struct kleaf_range *run)
{
	struct page **page = alias->pages + i;
	struct page **end = alias->pages + alias->nr_pages;
	struct page *first = *page++;
	struct page *last = first;

	if (page < end && *page == first - 1) {
		do {
			first--;
		} while (++page < end && *page == first - 1);
	} else {
		while (page < end && *page == last + 1) {
			last++;
			page++;
		}
	}

	run->start = (unsigned long)__va(page_to_phys(first));
	run->end = (unsigned long)__va(page_to_phys(last)) + PAGE_SIZE;
	return page - alias->pages;
}

static void alias_init(struct alias *alias, struct page **pages,
		       unsigned int nr_pages)
{
	unsigned int i = 0, max_runs = NR_STACK_RUNS;

	alias->pages = pages;
	alias->nr_pages = nr_pages;
	alias->runs = alias->few_runs;
	if (nr_pages > NR_STACK_RUNS) {
		alias->runs = kmalloc_array(NR_PAGE_RUNS, sizeof(*alias->runs),
					    GFP_KERNEL | __GFP_NOWARN);
		if (alias->runs)
			max_runs = NR_PAGE_RUNS;
		else
			alias->runs = alias->few_runs;
	}

	for (alias->nr_runs = 0; alias->nr_runs < max_runs; alias->nr_runs++) {
		if (i == nr_pages)
			break;
		i = alias_find_run(alias, i, &alias->runs[alias->nr_runs]);
	}
	alias->rest = i;
}

static void alias_free(struct alias *alias)
{
	if (alias->runs != alias->few_runs)
		kfree(alias->runs);
}

/* The next run, or NULL. Valid until the next call. */
static struct kleaf_range *alias_next(struct alias *alias,
				      struct alias_iter *iter)
{
	if (iter->run < alias->nr_runs) {
		iter->page = alias->rest;
		return &alias->runs[iter->run++];
	}
	if (iter->page == alias->nr_pages)
		return NULL;

	/* Not remembered: nor is what a split has found there. */
	iter->more.entryp = NULL;
	iter->page = alias_find_run(alias, iter->page, &iter->more);
	return &iter->more;
}

static int split_all(struct kleaf_range *area, struct alias *alias,
		     struct kleaf_tables *tables)
{
	const struct kleaf_range *near = area;
	struct alias_iter iter = {};
	struct kleaf_range *run;
	int ret;

	ret = kleaf_split_locked(area, tables);
	/* Only areas made for large leaves have any: not one for set_memory. */
	if (ret == -EOPNOTSUPP || ret == -EBUSY)
		return -EINVAL;

	while (!ret && (run = alias_next(alias, &iter))) {
		if (!kleaf_is_split(run, near))
			ret = kleaf_split_locked(run, tables);
		/* Only a remembered run stays what it is. */
		if (run != &iter.more)
			near = run;
	}

	return ret;
}

/* Cannot fail: split_all() has seen every boundary. */
static void change_all(struct kleaf_range *area, struct alias *alias,
		       const struct kleaf_masks *masks)
{
	struct alias_iter iter = {};
	struct kleaf_range *run;

	WARN_ON_ONCE(kleaf_change_locked(area, masks));
	while ((run = alias_next(alias, &iter)))
		WARN_ON_ONCE(kleaf_change_locked(run, masks));
}

/*
 * flush_tlb_kernel_range() gives up on single addresses where one range would
 * take more TLBIs than MAX_DVM_OPS. Here many ranges belong to one call: hold
 * all of them together to that limit.
 */
static void flush_all(struct kleaf_range *area, struct alias *alias)
{
	struct alias_iter iter = {};
	struct kleaf_range *run;
	unsigned long nr_tlbi = alias->nr_pages +
		((area->end - area->start) >> PAGE_SHIFT);

	if (nr_tlbi >= MAX_DVM_OPS) {
		flush_tlb_all();
		return;
	}

	flush_tlb_kernel_range(area->start, area->end);
	while ((run = alias_next(alias, &iter)))
		flush_tlb_kernel_range(run->start, run->end);
}

int kleaf_change_vm_area(struct vm_struct *area, unsigned long start,
			 unsigned int nr_pages, pgprot_t set_mask,
			 pgprot_t clear_mask)
{
	const struct kleaf_masks masks = kleaf_masks(set_mask, clear_mask);
	struct kleaf_tables tables = {};
	struct page **pages = NULL;
	unsigned long end, first;
	struct kleaf_range range;
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
	range.start = start;
	range.end = end;

	/*
	 * Get rid of lazily unmapped areas that may still map these pages
	 * with permissions other than the ones set here.
	 */
	vm_unmap_aliases();

	do {
		mutex_lock(&kleaf_lock);
		ret = split_all(&range, &alias, &tables);
		if (!ret)
			change_all(&range, &alias, &masks);
		mutex_unlock(&kleaf_lock);
	} while (kleaf_split_retry(&ret, &tables));

	kleaf_tables_free(&tables);
	/* Each flush begins with the DSB that makes the stores visible. */
	if (!ret)
		flush_all(&range, &alias);

	alias_free(&alias);
	return ret;
}
