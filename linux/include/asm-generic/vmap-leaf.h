/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What mm/vmalloc.c asks of an architecture to map with leaves of all sizes,
 * and what it does where an architecture does not answer.
 *
 * The mapper stores the descriptors of a whole call, then calls
 * arch_vmap_sync() once. An architecture that has something to say defines some
 * of the hooks in its <asm/vmap-leaf.h>, each with a macro of the same name, and
 * includes this file for the others. The fallbacks use the ordinary setters,
 * which are complete in themselves, so that arch_vmap_sync() has nothing to do.
 */
#ifndef __ASM_GENERIC_VMAP_LEAF_H
#define __ASM_GENERIC_VMAP_LEAF_H

#include <linux/bug.h>
#include <linux/hugetlb.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/vmalloc.h>

#ifndef arch_vmap_sync
/**
 * arch_vmap_sync() - make the descriptors of one call visible
 *
 * Once per call, after the last descriptor and before the first access.
 *
 * Context: Process context.
 */
static inline void arch_vmap_sync(void)
{
}
#endif

#ifndef arch_vmap_leaf_shift
/**
 * arch_vmap_leaf_shift() - the largest leaf up to a size
 * @limit: log2 of that size, PAGE_SHIFT at least
 * @prot: protection of the mapping
 *
 * Context: Any.
 * Return: log2 of the size of a leaf that the mapper can make.
 */
static inline unsigned int arch_vmap_leaf_shift(unsigned int limit,
						pgprot_t prot)
{
	if (limit >= PUD_SHIFT && arch_vmap_pud_supported(prot))
		return PUD_SHIFT;
	if (limit >= PMD_SHIFT && arch_vmap_pmd_supported(prot))
		return PMD_SHIFT;

	return PAGE_SHIFT;
}
#endif

#ifndef arch_vmap_pages_max_shift
/**
 * arch_vmap_pages_max_shift() - the largest leaf for vmap() and vm_map_ram()
 *
 * An architecture says more than PAGE_SHIFT here if nothing in it takes for
 * granted that these areas are made of pages.
 *
 * Context: Any.
 * Return: log2 of the size of the leaf.
 */
static inline unsigned int arch_vmap_pages_max_shift(void)
{
	return PAGE_SHIFT;
}
#endif

#ifndef arch_vmap_ptes_none
/**
 * arch_vmap_ptes_none() - are PTEs empty?
 * @ptep: the first one
 * @nr_ptes: how many, in one table, at least 1
 *
 * Context: The caller owns the range.
 * Return: true if all are.
 */
static inline bool arch_vmap_ptes_none(pte_t *ptep, unsigned int nr_ptes)
{
	do {
		if (!pte_none(ptep_get(ptep)))
			return false;
	} while (ptep++, --nr_ptes);

	return true;
}
#endif

/* Number of PTEs in the largest leaf that arch_vmap_set_ptes() makes. */
#ifndef ARCH_VMAP_PTES_MAX
#ifdef arch_vmap_set_ptes
#define ARCH_VMAP_PTES_MAX	1
#else
#define ARCH_VMAP_PTES_MAX	PTRS_PER_PTE	/* arch_vmap_pte_range_map_size() */
#endif
#endif

#ifndef arch_vmap_set_ptes
/**
 * arch_vmap_set_ptes() - map contiguous memory in one PTE table
 * @ptep: PTE of @addr, empty as are those that follow
 * @addr: first byte
 * @pfn: first page
 * @nr_ptes: number of pages, at least 1
 * @prot: protection
 * @max_page_shift: log2 of the largest leaf allowed
 *
 * Context: The caller owns the range, and calls arch_vmap_sync() later.
 */
static inline void arch_vmap_set_ptes(pte_t *ptep, unsigned long addr,
				      unsigned long pfn, unsigned int nr_ptes,
				      pgprot_t prot,
				      unsigned int max_page_shift)
{
	unsigned long end = addr + ((unsigned long)nr_ptes << PAGE_SHIFT);
	unsigned long size = PAGE_SIZE;

	do {
#ifdef CONFIG_HUGETLB_PAGE
		size = arch_vmap_pte_range_map_size(addr, end, pfn,
						    max_page_shift);
		if (size != PAGE_SIZE) {
			pte_t entry = pfn_pte(pfn, prot);

			entry = arch_make_huge_pte(entry, ilog2(size), 0);
			set_huge_pte_at(&init_mm, addr, ptep, entry, size);
			pfn += PFN_DOWN(size);
			continue;
		}
#endif
		set_pte_at(&init_mm, addr, ptep, pfn_pte(pfn, prot));
		pfn++;
	} while (ptep += PFN_DOWN(size), addr += size, addr != end);
}
#endif

#ifndef arch_vmap_nr_pmds
/**
 * arch_vmap_nr_pmds() - number of PMDs in the largest leaf of PMDs that fits
 * @addr: first byte, aligned to PMD_SIZE
 * @end: one past the last byte, at most the end of the table
 * @pfn: first page, aligned to PMD_SIZE
 * @max_page_shift: log2 of the largest leaf allowed
 *
 * Context: Any.
 * Return: the number, at least 1.
 */
static inline unsigned int arch_vmap_nr_pmds(unsigned long addr,
					     unsigned long end,
					     unsigned long pfn,
					     unsigned int max_page_shift)
{
	return 1;
}
#endif

#ifndef arch_vmap_set_pmds
/**
 * arch_vmap_set_pmds() - make one leaf of PMDs
 * @pmdp: the first PMD, empty as are the others
 * @pfn: first page
 * @nr_pmds: as arch_vmap_nr_pmds() said, or 1
 * @prot: protection
 *
 * Context: The caller owns the range, and calls arch_vmap_sync() later.
 * Return: false if this memory cannot be mapped so; nothing is set then.
 */
static inline bool arch_vmap_set_pmds(pmd_t *pmdp, unsigned long pfn,
				      unsigned int nr_pmds, pgprot_t prot)
{
	return pmd_set_huge(pmdp, PFN_PHYS(pfn), prot);
}
#endif

#ifndef arch_vmap_set_pud
/**
 * arch_vmap_set_pud() - make a PUD a leaf
 * @pudp: the PUD, empty
 * @pfn: first page
 * @prot: protection
 *
 * Context: The caller owns the range, and calls arch_vmap_sync() later.
 * Return: false if this memory cannot be mapped so; nothing is set then.
 */
static inline bool arch_vmap_set_pud(pud_t *pudp, unsigned long pfn,
				     pgprot_t prot)
{
	return pud_set_huge(pudp, PFN_PHYS(pfn), prot);
}
#endif

#ifndef arch_vunmap_ptes
/**
 * arch_vunmap_ptes() - clear PTEs of one table, leaf by leaf
 * @ptep: PTE of @addr
 * @addr: first byte
 * @end: one past the last byte
 *
 * A leaf that lies in the range in part only is left alone, with a warning.
 *
 * Context: The caller owns the range, and flushes it.
 */
static inline void arch_vunmap_ptes(pte_t *ptep, unsigned long addr,
				    unsigned long end)
{
	do {
		pte_t pte = ptep_get_and_clear(&init_mm, addr, ptep);

		WARN_ON(!pte_none(pte) && !pte_present(pte));
	} while (ptep++, addr += PAGE_SIZE, addr != end);
}
#endif

#endif /* __ASM_GENERIC_VMAP_LEAF_H */
