/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of mm/vmalloc.c that are static unless KUnit is built. */
#ifndef _MM_VMAP_KUNIT_H
#define _MM_VMAP_KUNIT_H

#include <linux/pgtable.h>

#if IS_ENABLED(CONFIG_KUNIT)
/*
 * The allocations of the mapper, for tests to redirect. Each returns the entry
 * of @addr in the table below the given entry, or NULL without memory.
 */
pte_t *vmap_pte_alloc(pmd_t *pmd, unsigned long addr, pgtbl_mod_mask *mask);
pmd_t *vmap_pmd_alloc(pud_t *pud, unsigned long addr, pgtbl_mod_mask *mask);
pud_t *vmap_pud_alloc(p4d_t *p4d, unsigned long addr, pgtbl_mod_mask *mask);
#endif

#endif /* _MM_VMAP_KUNIT_H */
