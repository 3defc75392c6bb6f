/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of this directory. */
#ifndef _MM_KTEXT_H
#define _MM_KTEXT_H

#include <linux/ktext.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree_latch.h>

struct page;

/* Guarded by ktext_mutex. */
enum ktext_phase {
	KTEXT_OFF,		/* nothing is replicated, for good */
	KTEXT_WAITING,		/* regions are made, copies not yet */
	KTEXT_ON,
};

/* What a node runs. All but KTEXT_COPY use the home copy. */
enum ktext_state {
	KTEXT_NO_MEMORY,	/* none when the copies were made */
	KTEXT_HOME,		/* the original is in this node's memory */
	KTEXT_COPY,
	KTEXT_NO_ROOM,		/* -ENOMEM for copy or tables */
	KTEXT_UNPROTECTED,	/* the copy's alias would stay writable */
	NR_KTEXT_STATES,
};

/**
 * struct ktext_chunk - a piece of a region, contiguous in every copy
 * @start: first byte, aligned to the size
 * @order: size in pages, as a power of two
 *
 * A leaf is aligned to its size and not larger than a chunk may be, so it
 * never crosses the edge of one.
 */
struct ktext_chunk {
	unsigned long start;
	unsigned int order;
};

/**
 * struct ktext_region - addresses that differ from node to node
 * @node: in the tree that addresses are looked up in
 * @list: in ktext_regions
 * @start: first byte, page aligned
 * @end: one past the last byte, page aligned
 * @mapped: the nodes' tables map the copies; they have tables of their own there
 * @chunks: what the region is cut into, in ascending order
 * @nr_chunks: their number
 * @pages: by node id, the first page of each chunk; NULL for a node without a
 *	copy
 */
struct ktext_region {
	struct latch_tree_node node;
	struct list_head list;
	unsigned long start;
	unsigned long end;
	bool mapped;
	struct ktext_chunk *chunks;
	unsigned int nr_chunks;
	struct page **pages[];
};

extern enum ktext_phase ktext_phase;
extern struct list_head ktext_regions;
extern enum ktext_state *ktext_states;

/**
 * ktext_region_create() - cut a region into chunks, and tell writers of text
 * @start: first byte, page aligned
 * @end: one past the last byte, page aligned
 * @max_order: order of the largest leaf that maps any of it
 *
 * Context: Process context, may sleep. ktext_mutex held.
 * Return: the region, or NULL if there is no memory.
 */
struct ktext_region *ktext_region_create(unsigned long start, unsigned long end,
					 unsigned int max_order);

/**
 * ktext_region_at() - find the region that an address lies in
 * @addr: any address
 *
 * Context: Any. ktext_mutex held, or preemption disabled for as long as the
 *	region is used.
 * Return: the region, or NULL.
 */
struct ktext_region *ktext_region_at(unsigned long addr);

/**
 * ktext_region_copy() - make and protect the copy of a node
 * @region: a region whose original nobody changes but writers of text
 * @nid: node with memory
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOMEM; or another error of arch_ktext_protect(). On error
 *	nothing is left behind.
 */
int ktext_region_copy(struct ktext_region *region, int nid);

/**
 * ktext_region_drop() - undo ktext_region_copy()
 * @region: the region
 * @nid: node whose copy no CPU uses; one without a copy is fine
 *
 * Context: Process context, sleeps.
 */
void ktext_region_drop(struct ktext_region *region, int nid);

/**
 * ktext_region_destroy() - undo ktext_region_create(), and drop all copies
 * @region: a region that no table maps
 *
 * Context: Process context, sleeps. ktext_mutex held.
 */
void ktext_region_destroy(struct ktext_region *region);

/**
 * ktext_regions_start() - replicate what was given to ktext_add() before
 *
 * Context: ktext_enable(), when CPUs use the nodes' tables. Takes ktext_mutex.
 */
void ktext_regions_start(void);

/**
 * ktext_regions_give_up() - forget what was given to ktext_add(), now and later
 *
 * Context: ktext_enable(). Takes ktext_mutex.
 */
void ktext_regions_give_up(void);

#ifdef CONFIG_DEBUG_FS
/**
 * ktext_debugfs_init() - create numa_replication/ in debugfs
 *
 * Context: ktext_enable(), once, may sleep.
 */
void ktext_debugfs_init(void);
#else
static inline void ktext_debugfs_init(void) { }
#endif

#endif /* _MM_KTEXT_H */
