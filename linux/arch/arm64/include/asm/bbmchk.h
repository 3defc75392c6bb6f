/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Break-before-make checker: what the rest of arm64 calls.
 *
 * Stores are seen through the setter hook (asm/pgtable-hook.h). What is left
 * are the TLB flush helpers, the freeing of pages, and the start.
 */
#ifndef __ASM_BBMCHK_H
#define __ASM_BBMCHK_H

#include <linux/types.h>

/* What a flush helper invalidates on all CPUs. */
enum bbmchk_flush {
	/* everything */
	BBMCHK_FLUSH_ALL,
	/* TLBI VAALE1IS, page by page: leaves, but no copies of tables */
	BBMCHK_FLUSH_LEAVES,
	/* TLBI VAAE1IS: whatever was used to translate one address */
	BBMCHK_FLUSH_WALK,
};

/*
 * Early PI code, the EFI stub and nVHE include the flush helpers but cannot
 * call functions of the kernel proper. They define __DISABLE_EXPORTS.
 */
#if defined(CONFIG_ARM64_BBM_CHECK) && !defined(__DISABLE_EXPORTS)

/**
 * bbmchk_init() - begin to check, unless the command line says otherwise
 *
 * Everything that swapper_pg_dir reaches at this point is taken as it is.
 *
 * Context: setup_arch(), one CPU, memblock allocates, the linear map is
 *	complete.
 */
void bbmchk_init(void);

/**
 * bbmchk_flush_begin() - a broadcast TLB invalidation is about to start
 *
 * Context: Any. Before the DSB that precedes the first TLBI.
 * Return: a ticket for bbmchk_flush_end().
 */
u64 bbmchk_flush_begin(void);

/**
 * bbmchk_flush_end() - a broadcast TLB invalidation is complete
 * @ticket: from bbmchk_flush_begin()
 * @what: what was invalidated
 * @start: first byte, as the flush helper was given it; unused for all
 * @end: one past the last byte, the same; for leaves only
 *
 * Context: Any. After the DSB that follows the last TLBI.
 */
void bbmchk_flush_end(u64 ticket, enum bbmchk_flush what, unsigned long start,
		      unsigned long end);

#else

static inline void bbmchk_init(void)
{
}

static __always_inline u64 bbmchk_flush_begin(void)
{
	return 0;
}

static __always_inline void bbmchk_flush_end(u64 ticket, enum bbmchk_flush what,
					     unsigned long start,
					     unsigned long end)
{
}

#endif

#endif /* __ASM_BBMCHK_H */
