// SPDX-License-Identifier: GPL-2.0-only
/*
 * The copies of a region: memory, contents and where to find an address.
 *
 * Every node's copy is cut into the same chunks: the region's largest aligned
 * powers of two, up to the order of its largest leaf. So a copy takes as much
 * memory as the original, and can be mapped with leaves as large.
 *
 * Invariants:
 *  I1 (always). A leaf of a region lies in one chunk.
 *  I2 (pages of a node set). Who writes text with the architecture's lock
 *      held writes to this copy too.
 *  I3 (after ktext_region_copy()). The copy equals the original, and its
 *      alias in the linear map is read-only.
 *  I4 (always). Regions do not overlap.
 *
 * Locking: regions are made and destroyed with ktext_mutex held, copies of one
 *   region by one thread at a time. They are found with preemption disabled,
 *   which is a read side for synchronize_rcu() in any context, with or without
 *   RCU watching. Looking up an address takes no lock, and time that grows with
 *   the logarithm of the number of regions: page entries are stored with
 *   interrupts off meanwhile, and text is written by whatever is interrupted.
 * TLB and barriers: arch_ktext_protect() flushes what it changes. The lock of
 *   the text writers, taken for each page that is copied, orders the store
 *   that publishes the pages (I2) against them.
 * Failure: everything is given back.
 * See: Documentation/mm/kernel-replication.rst
 */

#include <linux/gfp.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/preempt.h>
#include <linux/rbtree_latch.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "ktext.h"

LIST_HEAD(ktext_regions);

static struct latch_tree_root region_tree;

static __always_inline struct ktext_region *
region_of(struct latch_tree_node *node)
{
	return container_of(node, struct ktext_region, node);
}

static __always_inline bool region_is_below(struct latch_tree_node *a,
					    struct latch_tree_node *b)
{
	return region_of(a)->start < region_of(b)->start;
}

static __always_inline int compare_address(void *key,
					   struct latch_tree_node *node)
{
	unsigned long addr = (unsigned long)key;

	if (addr < region_of(node)->start)
		return -1;

	return addr >= region_of(node)->end;
}

static const struct latch_tree_ops region_ops = {
	.less = region_is_below,
	.comp = compare_address,
};

static size_t chunk_size(const struct ktext_chunk *chunk)
{
	return PAGE_SIZE << chunk->order;
}

/* Cut [@addr, @end); @chunks may be NULL to have them counted. */
static unsigned int cut(unsigned long addr, unsigned long end,
			unsigned int max_order, struct ktext_chunk *chunks)
{
	unsigned int nr_chunks = 0;

	while (addr < end) {
		unsigned int shift = max_order + PAGE_SHIFT;

		shift = min_t(unsigned int, shift, __ffs(addr));
		shift = min_t(unsigned int, shift, ilog2(end - addr));
		if (chunks) {
			chunks[nr_chunks].start = addr;
			chunks[nr_chunks].order = shift - PAGE_SHIFT;
		}
		nr_chunks++;
		addr += 1UL << shift;
	}

	return nr_chunks;
}

struct ktext_region *ktext_region_create(unsigned long start, unsigned long end,
					 unsigned int max_order)
{
	struct ktext_region *region;

	lockdep_assert_held(&ktext_mutex);

	region = kzalloc(struct_size(region, pages, nr_node_ids), GFP_KERNEL);
	if (!region)
		return NULL;

	region->start = start;
	region->end = end;
	region->nr_chunks = cut(start, end, max_order, NULL);
	region->chunks = kvcalloc(region->nr_chunks, sizeof(*region->chunks),
				  GFP_KERNEL);
	if (!region->chunks) {
		kfree(region);
		return NULL;
	}
	cut(start, end, max_order, region->chunks);
	list_add_tail(&region->list, &ktext_regions);
	latch_tree_insert(&region->node, &region_tree, &region_ops);

	return region;
}

static void free_copy(const struct ktext_region *region, struct page **pages)
{
	unsigned int i;

	for (i = 0; i < region->nr_chunks && pages[i]; i++)
		__free_pages(pages[i], region->chunks[i].order);
	kvfree(pages);
}

static struct page **alloc_copy(const struct ktext_region *region, int nid)
{
	struct page **pages;
	unsigned int i;

	pages = kvcalloc_node(region->nr_chunks, sizeof(*pages), GFP_KERNEL,
			      nid);
	if (!pages)
		return NULL;

	for (i = 0; i < region->nr_chunks; i++) {
		pages[i] = alloc_pages_node(nid, GFP_KERNEL | __GFP_THISNODE |
					    __GFP_NOWARN | __GFP_NORETRY,
					    region->chunks[i].order);
		if (!pages[i]) {
			free_copy(region, pages);
			return NULL;
		}
	}

	return pages;
}

/* Gives back what protect() took: it was changeable a moment ago. */
static void unprotect(const struct ktext_region *region, struct page **pages,
		      unsigned int nr_chunks)
{
	unsigned int i;

	for (i = 0; i < nr_chunks; i++)
		WARN_ON_ONCE(arch_ktext_protect(page_address(pages[i]),
						chunk_size(&region->chunks[i]),
						false));
}

static int protect(const struct ktext_region *region, struct page **pages)
{
	unsigned int i;
	int err;

	for (i = 0; i < region->nr_chunks; i++) {
		err = arch_ktext_protect(page_address(pages[i]),
					 chunk_size(&region->chunks[i]), true);
		if (err) {
			unprotect(region, pages, i);
			return err;
		}
	}

	return 0;
}

static void unpublish(struct ktext_region *region, int nid)
{
	WRITE_ONCE(region->pages[nid], NULL);
	/* Writers of text have preemption off from ktext_next_copy() on. */
	synchronize_rcu();
}

int ktext_region_copy(struct ktext_region *region, int nid)
{
	struct page **pages = alloc_copy(region, nid);
	const struct ktext_chunk *chunk;
	unsigned int i;
	int err;

	if (!pages)
		return -ENOMEM;

	/*
	 * I2, from the first page on; see TLB and barriers. Partner: the address
	 * dependency of a writer that is past READ_ONCE() in ktext_next_copy().
	 */
	smp_store_release(&region->pages[nid], pages);

	for (i = 0; i < region->nr_chunks; i++) {
		chunk = &region->chunks[i];
		arch_ktext_copy(page_address(pages[i]), chunk->start,
				chunk_size(chunk));
	}

	err = protect(region, pages);
	if (err) {
		unpublish(region, nid);
		free_copy(region, pages);
	}

	return err;
}

void ktext_region_drop(struct ktext_region *region, int nid)
{
	struct page **pages = region->pages[nid];

	if (!pages)
		return;
	unpublish(region, nid);
	unprotect(region, pages, region->nr_chunks);
	free_copy(region, pages);
}

void ktext_region_destroy(struct ktext_region *region)
{
	struct page **pages;
	int nid;

	lockdep_assert_held(&ktext_mutex);

	list_del(&region->list);
	latch_tree_erase(&region->node, &region_tree, &region_ops);
	/* Partner of the sections with preemption off that find regions. */
	synchronize_rcu();

	for (nid = 0; nid < nr_node_ids; nid++) {
		pages = region->pages[nid];
		if (!pages)
			continue;
		unprotect(region, pages, region->nr_chunks);
		free_copy(region, pages);
	}
	kvfree(region->chunks);
	kfree(region);
}

static phys_addr_t __kprobes phys_in(const struct ktext_region *region,
				     struct page **pages, unsigned long addr)
{
	unsigned int low = 0, high = region->nr_chunks;

	/* The chunk that holds @addr is in [low, high). */
	while (high - low > 1) {
		unsigned int mid = (low + high) / 2;

		if (addr < region->chunks[mid].start)
			high = mid;
		else
			low = mid;
	}

	return page_to_phys(pages[low]) + (addr - region->chunks[low].start);
}

struct ktext_region *__kprobes ktext_region_at(unsigned long addr)
{
	struct latch_tree_node *node;

	node = latch_tree_find((void *)addr, &region_tree, &region_ops);

	return node ? region_of(node) : NULL;
}

bool ktext_copy_phys(int nid, unsigned long addr, phys_addr_t *phys)
{
	struct ktext_region *region;
	struct page **pages = NULL;

	preempt_disable_notrace();
	region = ktext_region_at(addr);
	if (region && READ_ONCE(region->mapped))
		pages = READ_ONCE(region->pages[nid]);
	if (pages)
		*phys = phys_in(region, pages, addr);
	preempt_enable_notrace();

	return pages;
}

bool __kprobes ktext_next_copy(const void *addr, int *nid, phys_addr_t *phys)
{
	struct ktext_region *region = ktext_region_at((unsigned long)addr);
	struct page **pages;

	if (!region)
		return false;

	while (++*nid < nr_node_ids) {
		pages = READ_ONCE(region->pages[*nid]);
		if (pages) {
			*phys = phys_in(region, pages, (unsigned long)addr);
			return true;
		}
	}

	return false;
}
