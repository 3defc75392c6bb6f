// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replicate text and rodata that come and go: modules, for one.
 *
 * What becomes read-only before the copies of the image are made, as the BPF
 * programs that the kernel has of its own do, is replicated right after them.
 *
 * Invariants:
 *  I1 (ktext_mutex free). A region of ktext_regions is mapped, or has no
 *      copies. There are none while ktext_phase is KTEXT_OFF.
 *  I2 (always). Copies are mapped only while they equal the original and both
 *      are read-only, so that a CPU may use either.
 *
 * Locking: ktext_mutex, outside of the locks of page tables, of the linear map
 *   and of the text writers; inside of cpu_hotplug_lock and text_mutex, with
 *   which kprobes come here.
 * TLB and barriers: arch_ktext_update() flushes.
 * Failure: a node without memory for a copy of a region uses the original;
 *   without memory for tables all do. One message says so.
 * See: Documentation/mm/kernel-replication.rst
 */
#define pr_fmt(fmt) "kernel_replication: " fmt

#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/printk.h>
#include <linux/sizes.h>

#include "ktext.h"

/* Allocations of this order hardly ever fail; leaves are pages anyway. */
#define REGION_MAX_ORDER	PAGE_ALLOC_COSTLY_ORDER

/* Regions, and the tables that are there for some of them only. */
DEFINE_MUTEX(ktext_mutex);

enum ktext_phase ktext_phase;

static const char *reason(int err)
{
	switch (err) {
	case -ENOMEM:
		return "no room for their own";
	case -ERANGE:
		return "it is out of reach";
	default:
		return "it is not mapped by read-only pages";
	}
}

/* Returns the number of nodes that have one now. */
static unsigned int copy_to_nodes(struct ktext_region *region,
				  unsigned int *nr_without)
{
	unsigned int nr_copies = 0;
	int nid;

	*nr_without = 0;
	for_each_online_node(nid) {
		if (ktext_states[nid] != KTEXT_COPY)
			continue;
		if (ktext_region_copy(region, nid))
			++*nr_without;
		else
			nr_copies++;
	}

	return nr_copies;
}

static void replicate(struct ktext_region *region)
{
	unsigned long kib = (region->end - region->start) / SZ_1K;
	unsigned int nr_without;
	int err;

	lockdep_assert_held(&ktext_mutex);

	err = arch_ktext_get_tables(region->start, region->end);
	if (err) {
		pr_warn_ratelimited("all nodes use the home copy of %lu KiB at %p: %s\n",
				    kib, (void *)region->start, reason(err));
		return;
	}

	if (copy_to_nodes(region, &nr_without)) {
		/* I2: both have been so since the copies were made. */
		WRITE_ONCE(region->mapped, true);
		arch_ktext_update(region->start, region->end);
	} else {
		arch_ktext_put_tables(region->start, region->end);
	}

	if (nr_without)
		pr_warn_ratelimited("%u nodes use the home copy of %lu KiB at %p: %s\n",
				    nr_without, kib, (void *)region->start,
				    reason(-ENOMEM));
}

static void forget(struct ktext_region *region)
{
	lockdep_assert_held(&ktext_mutex);

	if (region->mapped) {
		WRITE_ONCE(region->mapped, false);
		/* Nobody uses the copies after this. */
		arch_ktext_update(region->start, region->end);
		arch_ktext_put_tables(region->start, region->end);
	}
	ktext_region_destroy(region);
}

void ktext_add(const void *addr, size_t size)
{
	unsigned long start = (unsigned long)kasan_reset_tag(addr);
	struct ktext_region *region;

	if (!size || READ_ONCE(ktext_phase) == KTEXT_OFF)
		return;

	mutex_lock(&ktext_mutex);
	if (ktext_phase == KTEXT_OFF)
		goto unlock;
	region = ktext_region_create(start, start + PAGE_ALIGN(size),
				     REGION_MAX_ORDER);
	if (!region)
		pr_warn_ratelimited("all nodes use the home copy of %zu KiB at %p: %s\n",
				    PAGE_ALIGN(size) / SZ_1K, addr,
				    reason(-ENOMEM));
	else if (ktext_phase == KTEXT_ON)
		replicate(region);
unlock:
	mutex_unlock(&ktext_mutex);
}

void ktext_remove(const void *addr)
{
	unsigned long start = (unsigned long)kasan_reset_tag(addr);
	struct ktext_region *region;

	if (!addr || READ_ONCE(ktext_phase) == KTEXT_OFF)
		return;

	mutex_lock(&ktext_mutex);
	region = ktext_region_at(start);
	if (region && region->start == start)
		forget(region);
	mutex_unlock(&ktext_mutex);
}

void ktext_regions_start(void)
{
	struct ktext_region *region;

	mutex_lock(&ktext_mutex);
	WRITE_ONCE(ktext_phase, KTEXT_ON);
	/* All but the image, whose copies are mapped. */
	list_for_each_entry(region, &ktext_regions, list) {
		if (!region->mapped)
			replicate(region);
	}
	mutex_unlock(&ktext_mutex);
}

void ktext_regions_give_up(void)
{
	struct ktext_region *region, *next;

	mutex_lock(&ktext_mutex);
	WRITE_ONCE(ktext_phase, KTEXT_OFF);
	list_for_each_entry_safe(region, next, &ktext_regions, list)
		forget(region);
	mutex_unlock(&ktext_mutex);
}
