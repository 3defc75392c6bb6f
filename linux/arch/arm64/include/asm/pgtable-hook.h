/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One hook in the setters of page-table descriptors.
 *
 * Every run-time store to a live kernel descriptor passes through one of
 * __set_pte_nosync(), __set_pmd_nosync(), __set_pud_nosync(), set_p4d(),
 * set_pgd(), set_swapper_pgd() and, for the mapper of vmalloc space,
 * vmap_store_pte(). Each of them calls pgtable_hook() once, immediately before
 * its store, so that a consumer sees the old descriptor in memory and the new
 * one as an argument.
 *
 * Invariants:
 *  I1 (always). Without a consumer in the configuration the hook is no code;
 *      with one that is switched off it is one NOP (a static key).
 *  I2 (always). A consumer may read *@entryp, must not write it, must not
 *      sleep and must be ready for any context, NMI excepted.
 *
 * Stores to a table that no TTBR1 reaches yet need no hook: a consumer learns
 * of such a table when the table descriptor that publishes it is stored.
 */
#ifndef __ASM_PGTABLE_HOOK_H
#define __ASM_PGTABLE_HOOK_H

#include <linux/list.h>
#include <linux/types.h>

/*
 * Levels are counted from the page upwards, so that a level means the same
 * on every page size and whatever levels are folded.
 */
enum pgtable_hook_level {
	PGTABLE_HOOK_PTE,
	PGTABLE_HOOK_PMD,
	PGTABLE_HOOK_PUD,
	PGTABLE_HOOK_P4D,
	PGTABLE_HOOK_PGD,
};

struct pgtable_hook {
	/**
	 * @store: called before each store to a kernel-style descriptor
	 *
	 * Called with preemption disabled or in a context that implies it.
	 */
	void (*store)(void *entryp, u64 new, enum pgtable_hook_level level);
	struct list_head list;
};

/*
 * The setters are also compiled into objects that run outside the kernel's
 * own mapping (early PI code, the EFI stub, nVHE). Those must not refer to a
 * static key of the kernel, and define __DISABLE_EXPORTS.
 */
#if defined(CONFIG_ARM64_PGTABLE_HOOK) && !defined(__DISABLE_EXPORTS)

#include <linux/jump_label.h>

DECLARE_STATIC_KEY_FALSE(pgtable_hook_key);

void __pgtable_hook(void *entryp, u64 new, enum pgtable_hook_level level);

/**
 * pgtable_hook_register() - start calling a consumer for every store
 * @hook: the consumer; must stay valid until pgtable_hook_unregister()
 *
 * Context: Process context, may sleep. From setup_arch() on, after early
 *	parameters.
 */
void pgtable_hook_register(struct pgtable_hook *hook);

/**
 * pgtable_hook_unregister() - stop calling a consumer
 * @hook: a registered consumer
 *
 * No call to @hook is in progress when this returns.
 *
 * Context: Process context, sleeps.
 */
void pgtable_hook_unregister(struct pgtable_hook *hook);

/**
 * pgtable_hook() - tell the consumers of a store to a page-table descriptor
 * @entryp: the descriptor, as the setter was given it
 * @new: the value about to be stored
 * @level: level of the table that holds @entryp, a compile-time constant
 *
 * Context: Any but NMI. Called by the setters only.
 */
static __always_inline void pgtable_hook(void *entryp, u64 new,
					 enum pgtable_hook_level level)
{
	/* User faults set PTEs too: no NOP there unless somebody wants them. */
	if (level == PGTABLE_HOOK_PTE &&
	    !IS_ENABLED(CONFIG_ARM64_PGTABLE_HOOK_PTE))
		return;

	if (static_branch_unlikely(&pgtable_hook_key))
		__pgtable_hook(entryp, new, level);
}

#else

static __always_inline void pgtable_hook(void *entryp, u64 new,
					 enum pgtable_hook_level level)
{
}

#endif

#endif /* __ASM_PGTABLE_HOOK_H */
