/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Leaves of all sizes in vmalloc space: what mm/vmalloc.c asks of arm64.
 *
 * Invariants:
 *  I1 (arch_vmap_sync() called). The members of a contiguous run are
 *      consecutive and equal in attributes. All of them are stored by one call
 *      of arch_vmap_set_ptes() or arch_vmap_set_pmds(), and cleared by one
 *      call that clears the whole run.
 *  I2 (always). Descriptors are stored by the setters with the hook, see
 *      asm/pgtable-hook.h, or by vmap_store_pte() with the same hook.
 *
 * Locking: none; the caller owns the range.
 * TLB and barriers: entries go from empty to valid with no stale entry in any
 *   TLB, since an address is reused only after it was flushed. So no
 *   break-before-make is needed, contiguous bit included, and one pair of
 *   barriers for the whole call is enough.
 * Failure: none here.
 * See: Documentation/mm/vmap-leaves.rst
 *
 * Contiguous runs are made here and not by set_huge_pte_at(): that is for
 * sizes that hugetlb knows, flushes by ASID, and is not always built.
 */
#ifndef __ASM_VMAP_LEAF_H
#define __ASM_VMAP_LEAF_H

#include <linux/align.h>
#include <linux/bug.h>
#include <linux/vmalloc.h>

#include <asm/barrier.h>
#include <asm/pgtable.h>

#ifdef CONFIG_ARM64_VMAP_LEAVES

#define arch_vmap_leaf_shift arch_vmap_leaf_shift
static inline unsigned int arch_vmap_leaf_shift(unsigned int limit,
						pgprot_t prot)
{
	if (limit >= PUD_SHIFT && arch_vmap_pud_supported(prot))
		return PUD_SHIFT;
	if (arch_vmap_pmd_supported(prot)) {
		/* A folded PMD is an entry of swapper_pg_dir: no runs there. */
		if (limit >= CONT_PMD_SHIFT && CONFIG_PGTABLE_LEVELS > 2)
			return CONT_PMD_SHIFT;
		if (limit >= PMD_SHIFT)
			return PMD_SHIFT;
	}

	return limit >= CONT_PTE_SHIFT ? CONT_PTE_SHIFT : PAGE_SHIFT;
}

#define arch_vmap_pages_max_shift arch_vmap_pages_max_shift
static inline unsigned int arch_vmap_pages_max_shift(void)
{
	return arch_vmap_leaf_shift(PUD_SHIFT, PAGE_KERNEL);
}

#define arch_vmap_sync arch_vmap_sync
static inline void arch_vmap_sync(void)
{
	/*
	 * The stores above are seen by the table walkers of all CPUs, the
	 * partners, before anything that this CPU does next.
	 */
	dsb(ishst);
	/* And its own accesses that follow do not fault on what was there. */
	isb();
}

static __always_inline pteval_t vmap_or_4_ptes(pte_t *ptep)
{
	return pte_val(ptep[0]) | pte_val(ptep[1]) |
	       pte_val(ptep[2]) | pte_val(ptep[3]);
}

#define arch_vmap_ptes_none arch_vmap_ptes_none
static __always_inline bool arch_vmap_ptes_none(pte_t *ptep,
						unsigned int nr_ptes)
{
	pteval_t any = 0;

	/* Plain reads: nobody else, nor the CPU, writes to what we own. */
	for (; nr_ptes >= 16; nr_ptes -= 16, ptep += 16)
		any |= vmap_or_4_ptes(ptep) | vmap_or_4_ptes(ptep + 4) |
		       vmap_or_4_ptes(ptep + 8) | vmap_or_4_ptes(ptep + 12);
	for (; nr_ptes; nr_ptes--, ptep++)
		any |= pte_val(*ptep);

	return !any;
}

/*
 * As __set_pte_nosync(), but a plain store, so that the compiler makes pairs of
 * them: a walker sees each descriptor of a pair either as it was or as it is.
 */
static __always_inline void vmap_store_pte(pte_t *ptep, pteval_t val)
{
	pgtable_hook(ptep, val, PGTABLE_HOOK_PTE);
	*ptep = __pte(val);
}

static __always_inline void vmap_store_4_ptes(pte_t *ptep, pteval_t val)
{
	vmap_store_pte(ptep, val);
	vmap_store_pte(ptep + 1, val + PAGE_SIZE);
	vmap_store_pte(ptep + 2, val + 2 * PAGE_SIZE);
	vmap_store_pte(ptep + 3, val + 3 * PAGE_SIZE);
}

/* Store PTEs of pages whose address bits need no carry beyond the low ones. */
static __always_inline void vmap_store_ptes(pte_t *ptep, pte_t pte,
					    unsigned int nr_ptes)
{
	pteval_t val = pte_val(pte);

	for (; nr_ptes >= 16; nr_ptes -= 16, ptep += 16, val += 16 * PAGE_SIZE) {
		vmap_store_4_ptes(ptep, val);
		vmap_store_4_ptes(ptep + 4, val + 4 * PAGE_SIZE);
		barrier();	/* There are registers for half of them. */
		vmap_store_4_ptes(ptep + 8, val + 8 * PAGE_SIZE);
		vmap_store_4_ptes(ptep + 12, val + 12 * PAGE_SIZE);
	}
	for (; nr_ptes; nr_ptes--, ptep++, val += PAGE_SIZE)
		vmap_store_pte(ptep, val);
}

/**
 * vmap_set_cont_ptes() - map contiguous memory with contiguous runs of PTEs
 * @ptep: the first PTE, at the beginning of a run; all are empty
 * @pfn: the first page, aligned to a run
 * @nr_ptes: number of pages, a multiple of CONT_PTES, not 0
 * @prot: protection
 *
 * Out of line: only with registers to spare does the compiler pair the stores.
 *
 * Context: The caller owns the range, and calls arch_vmap_sync() later.
 */
void vmap_set_cont_ptes(pte_t *ptep, unsigned long pfn, unsigned int nr_ptes,
			pgprot_t prot);

#define ARCH_VMAP_PTES_MAX	CONT_PTES

#define arch_vmap_set_ptes arch_vmap_set_ptes
static __always_inline void arch_vmap_set_ptes(pte_t *ptep, unsigned long addr,
					       unsigned long pfn,
					       unsigned int nr_ptes,
					       pgprot_t prot,
					       unsigned int max_page_shift)
{
	/* No more than one run: in a loop of the mapper that knows so. */
	if (__builtin_constant_p(nr_ptes) && nr_ptes == CONT_PTES &&
	    max_page_shift >= CONT_PTE_SHIFT &&
	    IS_ALIGNED((addr >> PAGE_SHIFT) | pfn, CONT_PTES)) {
		vmap_set_cont_ptes(ptep, pfn, CONT_PTES, prot);
		return;
	}

	/* Runs of PTEs, if page and address are aligned to them alike. */
	bool cont = max_page_shift >= CONT_PTE_SHIFT &&
		    IS_ALIGNED((addr >> PAGE_SHIFT) - pfn, CONT_PTES);

	/*
	 * In pieces that end where runs of memory do. Within one the address
	 * is counted up in place; between two it may carry into the bits that
	 * a 52-bit descriptor keeps elsewhere.
	 */
	while (nr_ptes) {
		unsigned int nr = CONT_PTES - (pfn & (CONT_PTES - 1));

		if (nr == CONT_PTES && cont) {
			nr = ALIGN_DOWN(nr_ptes, CONT_PTES);
			if (nr)
				vmap_set_cont_ptes(ptep, pfn, nr, prot);
			ptep += nr;
			pfn += nr;
			nr_ptes -= nr;
			cont = false;
			continue;
		}

		if (nr > nr_ptes)
			nr = nr_ptes;
		vmap_store_ptes(ptep, pfn_pte(pfn, prot), nr);
		ptep += nr;
		pfn += nr;
		nr_ptes -= nr;
	}
}

#define arch_vmap_nr_pmds arch_vmap_nr_pmds
static inline unsigned int arch_vmap_nr_pmds(unsigned long addr,
					     unsigned long end,
					     unsigned long pfn,
					     unsigned int max_page_shift)
{
	if (CONFIG_PGTABLE_LEVELS > 2 && max_page_shift >= CONT_PMD_SHIFT &&
	    IS_ALIGNED(addr | PFN_PHYS(pfn), CONT_PMD_SIZE) &&
	    end - addr >= CONT_PMD_SIZE)
		return CONT_PMDS;

	return 1;
}

bool arch_vmap_set_pmds(pmd_t *pmdp, unsigned long pfn, unsigned int nr_pmds,
			pgprot_t prot);
#define arch_vmap_set_pmds arch_vmap_set_pmds

bool arch_vmap_set_pud(pud_t *pudp, unsigned long pfn, pgprot_t prot);
#define arch_vmap_set_pud arch_vmap_set_pud

#define arch_vunmap_ptes arch_vunmap_ptes
static __always_inline void arch_vunmap_ptes(pte_t *ptep, unsigned long addr,
					     unsigned long end)
{
	unsigned int i, nr;

	for (; addr != end; ptep += nr, addr += nr * PAGE_SIZE) {
		pte_t pte = __ptep_get(ptep);

		nr = 1;
		if (unlikely(!pte_present(pte))) {
			WARN_ON(!pte_none(pte));
		} else if (pte_cont(pte)) {
			nr = CONT_PTES;
			if (!IS_ALIGNED(addr, CONT_PTE_SIZE) ||
			    end - addr < CONT_PTE_SIZE) {
				unsigned long next = ALIGN(addr + 1, CONT_PTE_SIZE);

				WARN(1, "[%lx, %lx) cuts a contiguous run of pages\n",
				     addr, end);
				nr = PFN_DOWN(min(next, end) - addr);
				continue;
			}
		}
		for (i = 0; i < nr; i++)
			__set_pte_nosync(ptep + i, __pte(0));
	}
}

#endif /* CONFIG_ARM64_VMAP_LEAVES */

#include <asm-generic/vmap-leaf.h>

#endif /* __ASM_VMAP_LEAF_H */
