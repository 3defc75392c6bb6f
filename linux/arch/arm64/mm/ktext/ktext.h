/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of this directory.
 *
 * A home table is a table of init_mm for which each node with a copy has a
 * counterpart. The counterpart holds what the home table holds, entry by entry,
 * except where an entry leads to another home table, or maps a page that the
 * node has its own copy of.
 *
 * On the way to the image and to where modules are, home tables above the last
 * level are for good. Tables of the last level get counterparts for good if
 * they map the image, and else while they map a replicated module.
 */
#ifndef __ARM64_MM_KTEXT_H
#define __ARM64_MM_KTEXT_H

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/spinlock.h>

#include <asm/ktext.h>
#include <asm/pgtable.h>

/* Levels as the architecture counts them: -1 or 0 at the top, pages at 3. */
#define KTEXT_LAST_LEVEL	3

/**
 * struct ktext_table - a home table and its counterparts
 * @list: in ktext_tables, after the table that leads to it; or in ktext_leaves
 * @home: the home table, in the linear map
 * @start: address that entry 0 translates
 * @level: level of the table
 * @nr_users: regions that the table maps part of, if it is in ktext_leaves
 * @stored: entries stored since the hook was registered; those are right in
 *	all counterparts. NULL in ktext_leaves
 * @copy: counterpart of each node, by node id; NULL for a node without
 */
struct ktext_table {
	struct list_head list;
	u64 *home;
	unsigned long start;
	int level;
	unsigned int nr_users;
	unsigned long *stored;
	u64 *copy[];
};

/* Those that stay. Complete, and never changed, before the hook is registered. */
extern struct list_head ktext_tables;

/* Those that come and go. With ktext_mutex held. */
extern struct list_head ktext_leaves;
extern raw_spinlock_t ktext_lock;

/**
 * struct ktext_range - kernel addresses that home tables translate
 * @start: first byte
 * @end: one past the last byte
 */
struct ktext_range {
	unsigned long start;
	unsigned long end;
};

extern struct ktext_range ktext_reach;

/*
 * By multiples of PMD_SIZE from the start of ktext_reach: the table of the last
 * level that translates them, if it has counterparts. Changed with ktext_lock
 * held once the hook is registered.
 */
extern struct ktext_table **ktext_slots;

/* Bytes that one entry translates, as a shift. */
static inline unsigned int ktext_shift(int level)
{
	return PAGE_SHIFT + (KTEXT_LAST_LEVEL - level) * (PAGE_SHIFT - 3);
}

static inline unsigned long ktext_entry_addr(const struct ktext_table *table,
					     unsigned int index)
{
	return table->start + ((unsigned long)index << ktext_shift(table->level));
}

static inline bool ktext_entry_is_table(u64 entry, int level)
{
	return level != KTEXT_LAST_LEVEL &&
	       (entry & PTE_TYPE_MASK) == PMD_TYPE_TABLE;
}

/**
 * ktext_node_entry() - what a node has in place of a home entry
 * @table: a home table
 * @index: of the entry
 * @nid: a node that has tables
 *
 * Context: ktext_mutex or ktext_lock held.
 * Return: the descriptor.
 */
u64 ktext_node_entry(const struct ktext_table *table, unsigned int index,
		     int nid);

/**
 * ktext_find_table() - find a home table that stays
 * @home: address of the table, in the linear map
 *
 * Context: Any, once the list is complete.
 * Return: the table, or NULL if it is none.
 */
struct ktext_table *ktext_find_table(const u64 *home);

/**
 * ktext_is_top() - is this the top-level table?
 * @table: a home table
 *
 * Context: Any.
 * Return: true if it is.
 */
bool ktext_is_top(const struct ktext_table *table);

/**
 * ktext_slot() - where a table of the last level is found by address
 * @addr: any address
 *
 * Context: Any, once the list is complete; ktext_mutex or ktext_lock held for
 *	what it points to.
 * Return: the slot, or NULL if @addr is out of reach.
 */
static inline struct ktext_table **ktext_slot(unsigned long addr)
{
	if (addr < ktext_reach.start || addr >= ktext_reach.end)
		return NULL;

	return &ktext_slots[(addr - ktext_reach.start) >> PMD_SHIFT];
}

/**
 * ktext_next_table() - the home table that an entry leads to
 * @table: a home table
 * @index: of the entry in it
 * @entry: what the entry holds, or held a moment ago
 *
 * Takes time that does not grow with the number of tables that come and go.
 *
 * Context: ktext_mutex or ktext_lock held.
 * Return: the table, or NULL if it leads to none with counterparts.
 */
struct ktext_table *ktext_next_table(const struct ktext_table *table,
				     unsigned int index, u64 entry);

/**
 * ktext_alloc_table() - allocate a counterpart of a table
 * @nid: for this node, in its memory
 * @order: 0, or more for a group of tables
 *
 * Context: May sleep.
 * Return: empty pages, or NULL.
 */
struct page *ktext_alloc_table(int nid, unsigned int order);

/**
 * ktext_sync_range() - bring the nodes' last-level tables up to date
 * @start: first byte, page aligned
 * @end: one past the last byte
 *
 * Context: Any but NMI. Takes ktext_lock.
 * Return: true if there are any for part of the range.
 */
bool ktext_sync_range(unsigned long start, unsigned long end);

/**
 * ktext_sync_start() - fill the nodes' tables, and keep them so from now on
 *
 * Context: arch_ktext_start(), sleeps.
 */
void ktext_sync_start(void);

#endif /* __ARM64_MM_KTEXT_H */
