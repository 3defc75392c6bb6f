// SPDX-License-Identifier: GPL-2.0-only
/*
 * What TLBs may still hold: a record for each descriptor that was removed and
 * not yet invalidated.
 *
 * Invariants:
 *  I1 (bbmchk_lock free). For every descriptor that was valid and has been
 *      removed since the last invalidation that covers it there is a record,
 *      or it was counted as missed.
 *  I2 (always). There is at most one record for a (va, level). It has the
 *      oldest descriptor: later ones were either equal as far as the rules go,
 *      or have been reported.
 *  I3 (always). An invalidation covers a record only if its ticket is later
 *      than the record, that is, if it began after the store was announced.
 *
 * A leaf is covered by an invalidation of any address that it maps: a TLBI by
 * address removes the whole entry. The members of a contiguous run have a record
 * each. A table is covered when an invalidation of all levels hits any address
 * below it, and the leaves below when all of their addresses have been hit.
 *
 * Locking: bbmchk_lock for everything. The tickets are atomic.
 * TLB and barriers: tickets are taken before the first TLBI, and records go
 *   after the last DSB.
 * Failure: with no free record the break is counted and forgotten; its make is
 *   then not checked, and nothing false is reported.
 * See: Documentation/arch/arm64/bbm-check.rst
 */

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/memblock.h>

#include "bbmchk.h"

static struct rb_root tree = RB_ROOT;
static LIST_HEAD(removed_tables);
static LIST_HEAD(unused);
static unsigned long nr_at_level[BBMCHK_NR_LEVELS];

/* Last ticket given out. A record is covered by tickets above its own. */
static atomic64_t tickets = ATOMIC64_INIT(1);

u64 bbmchk_flush_begin(void)
{
	return atomic64_inc_return(&tickets);
}
EXPORT_SYMBOL_GPL(bbmchk_flush_begin);

static int cmp_key(unsigned long va, unsigned int level,
		   const struct bbmchk_stale *stale)
{
	if (va != stale->va)
		return va < stale->va ? -1 : 1;
	if (level != stale->level)
		return level < stale->level ? -1 : 1;
	return 0;
}

struct bbmchk_stale *bbmchk_stale_find(unsigned long va, unsigned int level)
{
	struct rb_node *node = tree.rb_node;

	lockdep_assert_held(&bbmchk_lock);

	while (node && nr_at_level[level]) {
		struct bbmchk_stale *stale;
		int diff;

		stale = rb_entry(node, struct bbmchk_stale, node);
		diff = cmp_key(va, level, stale);
		if (!diff)
			return stale;
		node = diff < 0 ? node->rb_left : node->rb_right;
	}

	return NULL;
}

struct bbmchk_stale *bbmchk_stale_first(unsigned long va)
{
	struct rb_node *node = tree.rb_node;
	struct bbmchk_stale *first = NULL;

	lockdep_assert_held(&bbmchk_lock);

	while (node) {
		struct bbmchk_stale *stale;

		stale = rb_entry(node, struct bbmchk_stale, node);
		if (cmp_key(va, 0, stale) <= 0) {
			first = stale;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}

	return first;
}

struct bbmchk_stale *bbmchk_stale_next(struct bbmchk_stale *stale)
{
	return rb_entry_safe(rb_next(&stale->node), struct bbmchk_stale, node);
}

static void insert(struct bbmchk_stale *stale)
{
	struct rb_node **link = &tree.rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		if (cmp_key(stale->va, stale->level,
			    rb_entry(parent, struct bbmchk_stale, node)) < 0)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&stale->node, parent, link);
	rb_insert_color(&stale->node, &tree);

	nr_at_level[stale->level]++;
	bbmchk_stats.stale++;
	bbmchk_stats.stale_max = max(bbmchk_stats.stale_max, bbmchk_stats.stale);
}

static struct bbmchk_stale *stale_new(u64 desc, unsigned long va,
				      unsigned int level, u32 stack)
{
	struct bbmchk_stale *stale;

	stale = list_first_entry_or_null(&unused, struct bbmchk_stale, tables);
	if (!stale) {
		bbmchk_stats.missed_breaks++;
		return NULL;
	}

	list_del_init(&stale->tables);
	stale->va = va;
	stale->level = level;
	stale->desc = desc;
	stale->table = 0;
	stale->stack = stack;
	stale->walk = false;
	stale->start = va;
	stale->end = va;
	insert(stale);

	return stale;
}

void bbmchk_stale_add(u64 desc, u64 table, unsigned long va,
		      unsigned int level, bool leaves, u32 stack)
{
	struct bbmchk_stale *stale = bbmchk_stale_find(va, level);

	lockdep_assert_held(&bbmchk_lock);

	if (!stale)
		stale = stale_new(desc, va, level, stack);
	if (!stale)
		return;

	stale->born = atomic64_read(&tickets);
	bbmchk_stats.breaks++;
	if (!table)
		return;

	/* An older leaf gives way: the table is the harder one to cover. */
	stale->desc = desc;
	stale->table = table;
	stale->stack = stack;
	stale->walk = true;
	if (leaves) {
		stale->start = va;
		stale->end = va + bbmchk_size(level);
	}
	if (list_empty(&stale->tables))
		list_add(&stale->tables, &removed_tables);
}

void bbmchk_stale_drop(struct bbmchk_stale *stale)
{
	lockdep_assert_held(&bbmchk_lock);

	rb_erase(&stale->node, &tree);
	nr_at_level[stale->level]--;
	bbmchk_stats.stale--;
	list_move(&stale->tables, &unused);
}

unsigned int bbmchk_stale_levels(void)
{
	unsigned int level, levels = 0;

	for (level = 0; level < BBMCHK_NR_LEVELS; level++)
		if (nr_at_level[level])
			levels |= BIT(level);

	return levels;
}

/* Take what was flushed away from one record; it overlaps [@start, @last]. */
static void flush_one(struct bbmchk_stale *stale, unsigned long start,
		      unsigned long last, bool last_level)
{
	if (!stale->table) {
		bbmchk_stale_drop(stale);
		return;
	}

	if (!last_level)
		stale->walk = false;

	/*
	 * What remains of the leaves is kept as one range. A flush that would
	 * leave two counts for all of it: rather miss something than report
	 * something false.
	 */
	if (stale->start != stale->end) {
		bool from_start = start <= stale->start;
		bool to_end = last >= stale->end - 1;

		if (from_start == to_end)
			stale->start = stale->end;
		else if (from_start)
			stale->start = max(stale->start, last + 1);
		else
			stale->end = min(stale->end, start);
		if (stale->start >= stale->end)
			stale->start = stale->end;
	}

	if (!stale->walk && stale->start == stale->end)
		bbmchk_stale_drop(stale);
}

void bbmchk_stale_flush(u64 ticket, unsigned long start, unsigned long last,
			bool last_level)
{
	struct bbmchk_stale *stale, *next;
	unsigned int level;

	lockdep_assert_held(&bbmchk_lock);

	/* Records that begin below @start and reach into the range. */
	for (level = 1; level < BBMCHK_NR_LEVELS; level++) {
		unsigned long va;

		/* A level that is not there has no size either. */
		if (!nr_at_level[level])
			continue;
		va = ALIGN_DOWN(start, bbmchk_size(level));
		if (va == start)
			continue;
		stale = bbmchk_stale_find(va, level);
		if (stale && stale->born < ticket)
			flush_one(stale, start, last, last_level);
	}

	for (stale = bbmchk_stale_first(start); stale && stale->va <= last;
	     stale = next) {
		next = bbmchk_stale_next(stale);
		if (stale->born < ticket)
			flush_one(stale, start, last, last_level);
	}
}

struct bbmchk_stale *bbmchk_stale_table(unsigned long pfn,
					unsigned long nr_pages)
{
	struct bbmchk_stale *stale;

	lockdep_assert_held(&bbmchk_lock);

	list_for_each_entry(stale, &removed_tables, tables)
		if (stale->walk &&
		    bbmchk_child_pfn(stale->table) - pfn < nr_pages)
			return stale;

	return NULL;
}

bool bbmchk_tables_removed(void)
{
	return !list_empty_careful(&removed_tables);
}

int __init bbmchk_stale_init(void)
{
	/*
	 * vmalloc flushes lazily, after 32 MiB times log2 of the CPUs. How many
	 * CPUs there are is not known yet: nr_cpu_ids is what was configured.
	 * Large ranges of the linear map are made invalid before one flush.
	 */
	unsigned long nr = max((SZ_32M >> PAGE_SHIFT) * (ilog2(nr_cpu_ids) + 2UL),
			       SZ_128K);
	struct bbmchk_stale *stale = memblock_alloc(nr * sizeof(*stale),
						    PAGE_SIZE);

	if (!stale)
		return -ENOMEM;

	for (; nr; nr--, stale++)
		list_add(&stale->tables, &unused);

	return 0;
}
