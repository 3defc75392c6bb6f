/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel text and rodata on every NUMA node.
 *
 * The generic part decides whether to replicate, allocates and fills the
 * copies and shows them in debugfs. The architecture supplies what the
 * prototypes named arch_ktext_*() say: the window, the page tables of a node
 * and the way a CPU moves to them.
 *
 * See Documentation/mm/kernel-replication.rst.
 */
#ifndef _LINUX_KTEXT_H
#define _LINUX_KTEXT_H

#include <linux/numa.h>
#include <linux/types.h>

struct mutex;
struct seq_file;

/**
 * struct ktext_window - the kernel addresses that differ between nodes
 * @start: first byte, page aligned
 * @end: one past the last byte, page aligned
 * @max_order: order of the largest leaf that maps any of it
 *
 * No leaf that maps part of the window maps anything outside.
 */
struct ktext_window {
	unsigned long start;
	unsigned long end;
	unsigned int max_order;
};

#ifdef CONFIG_KERNEL_REPLICATION

/* Held while copies beside those of the image are made, mapped and dropped. */
extern struct mutex ktext_mutex;

/**
 * ktext_wanted() - will the nodes have page tables of their own?
 *
 * Settled before the first secondary CPU starts, and never changes then. True
 * does not promise that any node gets a copy.
 *
 * Context: Any, after early_initcall level.
 * Return: true unless replication is switched off or has nothing to do.
 */
bool ktext_wanted(void);

/**
 * ktext_enable() - copy the window to every node and move the CPUs
 *
 * Called by the architecture once the window is read-only for good.
 *
 * Context: Process context at the end of boot, sleeps.
 */
void ktext_enable(void);

/**
 * ktext_next_copy() - find the copies of a piece of kernel text
 * @addr: address in the kernel image
 * @nid: node of the previous copy; NUMA_NO_NODE to begin
 * @phys: physical address of @addr in the copy that was found
 *
 * A writer of text visits all copies with the lock held that
 * arch_ktext_copy() takes for each page: so it either writes to a copy, or
 * writes before the copy is made.
 *
 * Context: Any, with preemption disabled.
 * Return: true if there is another copy; @nid then says on which node.
 */
bool ktext_next_copy(const void *addr, int *nid, phys_addr_t *phys);

/**
 * ktext_copy_phys() - where a node has its own copy of an address
 * @nid: node
 * @addr: kernel address
 * @phys: physical address of @addr in the copy
 *
 * Context: Any.
 * Return: true if the node's tables are to map a copy there, false if they map
 *	what the home tables map.
 */
bool ktext_copy_phys(int nid, unsigned long addr, phys_addr_t *phys);

/**
 * ktext_add() - replicate memory that has become read-only
 * @addr: first byte, page aligned
 * @size: in bytes, a multiple of the page size; none is fine
 *
 * Before ktext_enable() it is noted, and replicated there. Where replication
 * fails the nodes go on with the original.
 *
 * Context: Process context after early_initcall level, may sleep. Takes
 *	ktext_mutex. Text in the range may run, and be written to by its writers.
 */
void ktext_add(const void *addr, size_t size);

/**
 * ktext_home_node() - where memory should be that ktext_add() will replicate
 *
 * The node of the image has no copies: it uses the original of everything.
 *
 * Context: Any.
 * Return: a node, or NUMA_NO_NODE if it does not matter.
 */
int ktext_home_node(void);

/**
 * ktext_remove() - take back ktext_add(), before the memory is freed
 * @addr: as given to ktext_add(), which may have failed
 *
 * Context: Process context, sleeps. Takes ktext_mutex.
 */
void ktext_remove(const void *addr);

/**
 * arch_ktext_possible() - may all of the window be read?
 *
 * Not if a hypervisor keeps part of it to itself, as protected KVM does.
 *
 * Context: ktext_enable().
 * Return: false if nothing can be replicated.
 */
bool arch_ktext_possible(void);

/**
 * arch_ktext_window() - what is to be replicated
 * @window: filled in
 *
 * Context: ktext_enable().
 */
void arch_ktext_window(struct ktext_window *window);

/**
 * arch_ktext_copy() - copy part of the window, page by page
 * @dst: copy, in the linear map
 * @addr: original, in the window
 * @size: bytes, a multiple of the page size
 *
 * Each page is copied with writers of text locked out. The copy can be
 * executed when this returns, as far as caches are concerned.
 *
 * Context: ktext_enable(), may sleep.
 */
void arch_ktext_copy(void *dst, unsigned long addr, size_t size);

/**
 * arch_ktext_equal() - compare part of a copy with the original
 * @copy: copy, in the linear map
 * @addr: original, in the window
 * @size: bytes, a multiple of the page size
 *
 * Context: Process context, may sleep.
 * Return: true if all bytes agree, each page seen with writers locked out.
 */
bool arch_ktext_equal(const void *copy, unsigned long addr, size_t size);

/**
 * arch_ktext_protect() - make the linear mapping of a copy read-only, or not
 * @addr: copy, in the linear map
 * @size: bytes, a multiple of the page size
 * @readonly: true to remove the permission to write, false to give it back
 *
 * Context: ktext_enable(), may sleep.
 * Return: 0; -EOPNOTSUPP if the linear map cannot be changed there; -ENOMEM.
 *	On error nothing is changed.
 */
int __must_check arch_ktext_protect(void *addr, size_t size, bool readonly);

/**
 * arch_ktext_create_tables() - allocate the page tables of a node
 * @nid: a node that has a copy
 *
 * Context: ktext_enable(), may sleep.
 * Return: 0; -ENOMEM; or an error of arch_ktext_protect(). On error nothing is
 *	left behind.
 */
int __must_check arch_ktext_create_tables(int nid);

/**
 * arch_ktext_get_tables() - give the nodes tables of their own for a range
 * @start: first byte, page aligned
 * @end: one past the last byte, page aligned
 *
 * They map the original, as do those that are there already.
 *
 * Context: ktext_mutex held, may sleep.
 * Return: 0; -ENOMEM; -ERANGE if the nodes share the tables of this range for
 *	good; -EOPNOTSUPP if it is not mapped read-only by pages. On error
 *	nothing is changed.
 */
int __must_check arch_ktext_get_tables(unsigned long start, unsigned long end);

/**
 * arch_ktext_put_tables() - undo arch_ktext_get_tables()
 * @start: as given there
 * @end: as given there
 *
 * Context: ktext_mutex held, may sleep. The tables map the original.
 */
void arch_ktext_put_tables(unsigned long start, unsigned long end);

/**
 * arch_ktext_update() - have the nodes' tables map what they should
 * @start: first byte, page aligned, between arch_ktext_get_tables() and
 *	arch_ktext_put_tables()
 * @end: one past the last byte
 *
 * That is what ktext_copy_phys() says. Copies equal the original, and both are
 * read-only. No CPU uses what was mapped before when this returns.
 *
 * Context: ktext_mutex held, may sleep.
 */
void arch_ktext_update(unsigned long start, unsigned long end);

/**
 * arch_ktext_start() - fill the tables of all nodes and move the CPUs to them
 *
 * Context: ktext_enable(), sleeps. Stops all CPUs for a moment.
 */
void arch_ktext_start(void);

/**
 * arch_ktext_table_bytes() - memory that a node's page tables take
 * @nid: node
 *
 * Context: ktext_mutex held, or ktext_enable().
 * Return: bytes.
 */
size_t arch_ktext_table_bytes(int nid);

/**
 * arch_ktext_root() - where a node's top-level table is
 * @nid: node
 *
 * Context: Any.
 * Return: physical address; that of the home table for a node without one.
 */
phys_addr_t arch_ktext_root(int nid);

/**
 * arch_ktext_on_root() - does this CPU use the tables of a node?
 * @nid: node
 *
 * Context: Not preemptible.
 * Return: true if it does; a node without tables has the home tables.
 */
bool arch_ktext_on_root(int nid);

/**
 * arch_ktext_show_tables() - print what a node's tables map in the window
 * @m: where to
 * @nid: a node that has a copy
 *
 * Context: Process context.
 */
void arch_ktext_show_tables(struct seq_file *m, int nid);

/**
 * arch_ktext_check_tables() - compare a node's tables with the home tables
 * @m: for the findings
 * @nid: a node that has a copy
 *
 * Context: Process context.
 * Return: number of entries that are not as they should be.
 */
unsigned int arch_ktext_check_tables(struct seq_file *m, int nid);

#else /* !CONFIG_KERNEL_REPLICATION */

static inline bool ktext_wanted(void)
{
	return false;
}

static inline void ktext_enable(void) { }

/* Not an inline function: to compute the size may take a call. */
#define ktext_add(addr, size)	((void)(addr), (void)sizeof(size))

static inline void ktext_remove(const void *addr) { }

static inline int ktext_home_node(void)
{
	return NUMA_NO_NODE;
}

static inline bool ktext_next_copy(const void *addr, int *nid,
				   phys_addr_t *phys)
{
	return false;
}

#endif /* CONFIG_KERNEL_REPLICATION */

#endif /* _LINUX_KTEXT_H */
