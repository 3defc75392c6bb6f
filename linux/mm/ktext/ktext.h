/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of this directory. */
#ifndef _MM_KTEXT_H
#define _MM_KTEXT_H

#include <linux/ktext.h>

struct page;

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
 * struct ktext_chunk - a piece of the window, contiguous in every copy
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
 * struct ktext_node - the copy of one node
 * @state: what the node runs
 * @pages: first page of each chunk; NULL while writers of text need not care
 */
struct ktext_node {
	enum ktext_state state;
	struct page **pages;
};

extern struct ktext_window ktext_window;
extern struct ktext_chunk *ktext_chunks;
extern unsigned int ktext_nr_chunks;
extern struct ktext_node *ktext_nodes;

/**
 * ktext_plan() - cut the window into chunks
 *
 * Context: ktext_enable(), once, after ktext_window is set.
 * Return: 0 or -ENOMEM.
 */
int ktext_plan(void);

/**
 * ktext_copy_create() - make and protect the copy of a node
 * @nid: node with memory
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOMEM; or another error of arch_ktext_protect(). On error
 *	nothing is left behind.
 */
int ktext_copy_create(int nid);

/**
 * ktext_copy_destroy() - undo ktext_copy_create()
 * @nid: node whose copy no CPU uses
 *
 * Context: Process context, sleeps.
 */
void ktext_copy_destroy(int nid);

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
