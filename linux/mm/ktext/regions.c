// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replicate text and rodata that come and go: modules, for one.
 *
 * Invariants:
 *  I1 (ktext_mutex free). A region is mapped, or it does not exist.
 *  I2 (always). Copies are mapped only while they equal the original and both
 *      are read-only, so that a CPU may use either.
 *
 * Locking: ktext_mutex, outside of the locks of page tables, of the linear map
 *   and of the text writers.
 * TLB and barriers: arch_ktext_map() and arch_ktext_unmap() flush.
 * Failure: a node without memory for a copy of a region uses the original;
 *   without memory for tables all do.
 * See: Documentation/mm/kernel-replication.rst
 */

#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/nodemask.h>

#include "ktext.h"

/* Allocations of this order hardly ever fail; leaves are pages anyway. */
#define REGION_MAX_ORDER	PAGE_ALLOC_COSTLY_ORDER

/* Regions, and the tables that are there for some of them only. */
DEFINE_MUTEX(ktext_mutex);

void ktext_add(const void *addr, size_t size)
{
	unsigned long start = (unsigned long)kasan_reset_tag(addr);
	struct ktext_region *region;
	unsigned int nr_copies = 0;
	int nid;

	if (!ktext_states || !size)
		return;

	mutex_lock(&ktext_mutex);
	region = ktext_region_create(start, start + PAGE_ALIGN(size),
				     REGION_MAX_ORDER);
	if (!region)
		goto unlock;

	for_each_online_node(nid) {
		if (ktext_states[nid] == KTEXT_COPY &&
		    !ktext_region_copy(region, nid))
			nr_copies++;
	}

	WRITE_ONCE(region->mapped, nr_copies);
	if (!nr_copies || arch_ktext_map(region->start, region->end)) {
		WRITE_ONCE(region->mapped, false);
		ktext_region_destroy(region);
	}
unlock:
	mutex_unlock(&ktext_mutex);
}

void ktext_remove(const void *addr)
{
	unsigned long start = (unsigned long)kasan_reset_tag(addr);
	struct ktext_region *region;

	if (!ktext_states || !addr)
		return;

	mutex_lock(&ktext_mutex);
	list_for_each_entry(region, &ktext_regions, list) {
		if (region->start != start)
			continue;
		WRITE_ONCE(region->mapped, false);
		arch_ktext_unmap(region->start, region->end);
		ktext_region_destroy(region);
		break;
	}
	mutex_unlock(&ktext_mutex);
}
