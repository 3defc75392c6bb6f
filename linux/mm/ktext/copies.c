// SPDX-License-Identifier: GPL-2.0-only
/*
 * The copies of the window: memory, contents and where to find an address.
 *
 * Every node's copy is cut into the same chunks: the window's largest aligned
 * powers of two, up to the order of its largest leaf. So a copy takes as much
 * memory as the original, and can be mapped with leaves as large.
 *
 * Invariants:
 *  I1 (always). A leaf of the window lies in one chunk.
 *  I2 (pages of a node set). Who writes text with the architecture's lock
 *      held writes to this copy too.
 *  I3 (after ktext_copy_create()). The copy equals the original, and its
 *      alias in the linear map is read-only.
 *
 * Locking: copies are made and dropped by ktext_enable() alone. Writers of
 *   text read the pages under the architecture's lock, with preemption off.
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
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "ktext.h"

struct ktext_chunk *ktext_chunks;
unsigned int ktext_nr_chunks;

static size_t chunk_size(const struct ktext_chunk *chunk)
{
	return PAGE_SIZE << chunk->order;
}

/* The largest power of two, in bytes, that a chunk at @addr may have. */
static unsigned int chunk_shift(unsigned long addr)
{
	unsigned int shift = ktext_window.max_order + PAGE_SHIFT;

	shift = min_t(unsigned int, shift, __ffs(addr));
	return min_t(unsigned int, shift, ilog2(ktext_window.end - addr));
}

static unsigned int cut_window(struct ktext_chunk *chunks)
{
	unsigned long addr = ktext_window.start;
	unsigned int nr_chunks = 0;

	while (addr < ktext_window.end) {
		unsigned int shift = chunk_shift(addr);

		if (chunks) {
			chunks[nr_chunks].start = addr;
			chunks[nr_chunks].order = shift - PAGE_SHIFT;
		}
		nr_chunks++;
		addr += 1UL << shift;
	}

	return nr_chunks;
}

int ktext_plan(void)
{
	ktext_nr_chunks = cut_window(NULL);
	ktext_chunks = kcalloc(ktext_nr_chunks, sizeof(*ktext_chunks),
			       GFP_KERNEL);
	if (!ktext_chunks)
		return -ENOMEM;
	cut_window(ktext_chunks);

	return 0;
}

static void free_pages_of(struct page **pages)
{
	unsigned int i;

	for (i = 0; i < ktext_nr_chunks && pages[i]; i++)
		__free_pages(pages[i], ktext_chunks[i].order);
	kfree(pages);
}

static struct page **alloc_pages_of(int nid)
{
	struct page **pages;
	unsigned int i;

	pages = kcalloc_node(ktext_nr_chunks, sizeof(*pages), GFP_KERNEL, nid);
	if (!pages)
		return NULL;

	for (i = 0; i < ktext_nr_chunks; i++) {
		pages[i] = alloc_pages_node(nid, GFP_KERNEL | __GFP_THISNODE |
					    __GFP_NOWARN | __GFP_NORETRY,
					    ktext_chunks[i].order);
		if (!pages[i]) {
			free_pages_of(pages);
			return NULL;
		}
	}

	return pages;
}

/* Gives back what protect_pages() took: it was changeable a moment ago. */
static void unprotect_pages(struct page **pages, unsigned int nr_chunks)
{
	unsigned int i;

	for (i = 0; i < nr_chunks; i++)
		WARN_ON_ONCE(arch_ktext_protect(page_address(pages[i]),
						chunk_size(&ktext_chunks[i]),
						false));
}

static int protect_pages(struct page **pages)
{
	unsigned int i;
	int err;

	for (i = 0; i < ktext_nr_chunks; i++) {
		err = arch_ktext_protect(page_address(pages[i]),
					 chunk_size(&ktext_chunks[i]), true);
		if (err) {
			unprotect_pages(pages, i);
			return err;
		}
	}

	return 0;
}

static void unpublish(struct ktext_node *node)
{
	WRITE_ONCE(node->pages, NULL);
	/* Writers of text have preemption off from ktext_next_copy() on. */
	synchronize_rcu();
}

int ktext_copy_create(int nid)
{
	struct ktext_node *node = &ktext_nodes[nid];
	struct page **pages = alloc_pages_of(nid);
	unsigned int i;
	int err;

	if (!pages)
		return -ENOMEM;

	/* I2, from the first page on; see TLB and barriers. */
	WRITE_ONCE(node->pages, pages);

	for (i = 0; i < ktext_nr_chunks; i++)
		arch_ktext_copy(page_address(pages[i]), ktext_chunks[i].start,
				chunk_size(&ktext_chunks[i]));

	err = protect_pages(pages);
	if (err) {
		unpublish(node);
		free_pages_of(pages);
	}

	return err;
}

void ktext_copy_destroy(int nid)
{
	struct ktext_node *node = &ktext_nodes[nid];
	struct page **pages = node->pages;

	unpublish(node);
	unprotect_pages(pages, ktext_nr_chunks);
	free_pages_of(pages);
}

static phys_addr_t __kprobes phys_in(struct page **pages, unsigned long addr)
{
	unsigned int low = 0, high = ktext_nr_chunks;

	/* The chunk that holds @addr is in [low, high). */
	while (high - low > 1) {
		unsigned int mid = (low + high) / 2;

		if (addr < ktext_chunks[mid].start)
			high = mid;
		else
			low = mid;
	}

	return page_to_phys(pages[low]) + (addr - ktext_chunks[low].start);
}

phys_addr_t ktext_copy_phys(int nid, unsigned long addr)
{
	return phys_in(ktext_nodes[nid].pages, addr);
}

bool __kprobes ktext_next_copy(const void *addr, int *nid, phys_addr_t *phys)
{
	struct page **pages;

	if (!ktext_nodes || (unsigned long)addr < ktext_window.start ||
	    (unsigned long)addr >= ktext_window.end)
		return false;

	while (++*nid < nr_node_ids) {
		pages = READ_ONCE(ktext_nodes[*nid].pages);
		if (pages) {
			*phys = phys_in(pages, (unsigned long)addr);
			return true;
		}
	}

	return false;
}
