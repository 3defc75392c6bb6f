/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of this directory.
 *
 * A home table is a table of init_mm on the way to the window, from the top
 * level down to the PTEs. Each node with a copy has a counterpart of each home
 * table. All of them hold what the home table holds, entry by entry, except
 * for entries that translate part of the window: those lead to the node's own
 * next table, or map the node's own copy.
 */
#ifndef __ARM64_MM_KTEXT_H
#define __ARM64_MM_KTEXT_H

#include <linux/list.h>
#include <linux/mm.h>

#include <asm/ktext.h>
#include <asm/pgtable.h>

/* Levels as the architecture counts them: -1 or 0 at the top, pages at 3. */
#define KTEXT_LAST_LEVEL	3

/**
 * struct ktext_table - a home table and its counterparts
 * @list: in ktext_tables, a table after the one that leads to it
 * @home: the home table, in the linear map
 * @start: address that entry 0 translates
 * @level: level of the table
 * @stored: entries stored since the hook was registered; those are right in
 *	all counterparts
 * @copy: counterpart of each node, by node id; NULL for a node without
 */
struct ktext_table {
	struct list_head list;
	u64 *home;
	unsigned long start;
	int level;
	unsigned long *stored;
	u64 *copy[];
};

extern struct list_head ktext_tables;

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
 * ktext_entry_is_local() - does an entry translate part of the window?
 * @table: a home table
 * @index: of the entry
 *
 * Context: Any, after arch_ktext_window().
 * Return: true if the entry differs from node to node.
 */
bool ktext_entry_is_local(const struct ktext_table *table, unsigned int index);

/**
 * ktext_node_entry() - what a node has in place of a home entry
 * @table: a home table
 * @index: of the entry
 * @nid: a node that has tables
 *
 * Context: Any.
 * Return: the descriptor.
 */
u64 ktext_node_entry(const struct ktext_table *table, unsigned int index,
		     int nid);

/**
 * ktext_find_table() - find a home table
 * @home: address of the table, in the linear map
 *
 * Context: Any, once tables are complete.
 * Return: the table, or NULL if it is none.
 */
struct ktext_table *ktext_find_table(const u64 *home);

/**
 * ktext_sync_start() - fill the nodes' tables, and keep them so from now on
 *
 * Context: arch_ktext_start(), sleeps.
 */
void ktext_sync_start(void);

#endif /* __ARM64_MM_KTEXT_H */
