/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-node kernel page tables: what the rest of arch/arm64 has to call.
 *
 * See Documentation/mm/kernel-replication.rst.
 */
#ifndef __ASM_KTEXT_H
#define __ASM_KTEXT_H

#include <linux/ktext.h>

#ifdef CONFIG_KERNEL_REPLICATION

/**
 * ktext_cpu_enter() - move this CPU to the page tables of its node
 *
 * For a CPU that runs on the home table, where every CPU starts and resumes.
 * Leaves it there if its node has no tables.
 *
 * Context: Not preemptible, and TTBR0 belongs to current->active_mm.
 */
void ktext_cpu_enter(void);

/**
 * ktext_sync_ptes() - pass page entries on to the nodes' tables
 * @start: first byte that was mapped, unmapped or changed
 * @end: one past the last byte
 *
 * The stores to the home tables are complete, the TLB is not yet flushed.
 *
 * Context: Any but NMI.
 * Return: true if any node has tables of its own for part of the range.
 */
bool ktext_sync_ptes(unsigned long start, unsigned long end);

/**
 * ktext_set_module_range() - say where modules are going to be
 * @start: first byte
 * @end: one past the last byte; both 0 if there is no such range
 *
 * Context: Boot, before ktext_enable().
 */
void ktext_set_module_range(unsigned long start, unsigned long end);

/**
 * ktext_keeps_table() - does a table have counterparts for good?
 * @home: address of the table, in the linear map
 *
 * Context: Any.
 * Return: true if the table must never be freed.
 */
bool ktext_keeps_table(const void *home);

#else /* !CONFIG_KERNEL_REPLICATION */

static inline void ktext_set_module_range(unsigned long start,
					  unsigned long end)
{
}

static inline bool ktext_keeps_table(const void *home)
{
	return false;
}

static inline void ktext_cpu_enter(void) { }

static inline bool ktext_sync_ptes(unsigned long start, unsigned long end)
{
	return false;
}

#endif /* CONFIG_KERNEL_REPLICATION */

#endif /* __ASM_KTEXT_H */
