/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of mm/vmalloc.c that are static unless KUnit is built. */
#ifndef _MM_VMAP_KUNIT_H
#define _MM_VMAP_KUNIT_H

#include <linux/types.h>

#if IS_ENABLED(CONFIG_KUNIT)
/**
 * vmap_no_table() - fail the allocation of a page table; for tests to redirect
 * @shift: log2 of what an entry of the table maps
 *
 * Context: The mapper is about to descend into the table.
 * Return: true to fail.
 */
bool vmap_no_table(unsigned int shift);
#endif

#endif /* _MM_VMAP_KUNIT_H */
