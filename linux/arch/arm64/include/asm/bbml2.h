/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BBM level 2 without TLB conflict aborts: does this CPU, and does the system,
 * allow a live mapping to change its size without break-before-make?
 *
 * Two questions with two answers:
 *
 *  cpu_supports_bbml2_noabort()     about the calling CPU, at any time.
 *  system_supports_bbml2_noabort()  about the system. False until final, then
 *                                   fixed for good. Final is the moment when
 *                                   system_capabilities_finalized() is true.
 */
#ifndef __ASM_BBML2_H
#define __ASM_BBML2_H

#include <linux/types.h>

#include <asm/alternative-macros.h>
#include <asm/cpucaps.h>

struct arm64_cpu_capabilities;
struct arm64_ftr_override;

/*
 * CPUs may differ in the BBM field: the capability then is off for the system,
 * and a late CPU that does not fit is refused, so nothing is left that the
 * sanity check of the ID registers could protect. Without the capability the
 * field keeps its strict check.
 */
#define BBML2_FTR_STRICT						\
	(IS_ENABLED(CONFIG_ARM64_BBML2_NOABORT) ? FTR_NONSTRICT : FTR_STRICT)

#ifdef CONFIG_ARM64_BBML2_NOABORT

bool cpu_supports_bbml2_noabort(void);

bool has_bbml2_noabort(const struct arm64_cpu_capabilities *entry, int scope);

#if IS_ENABLED(CONFIG_KUNIT)
bool bbml2_noabort_match(u32 midr, u64 mmfr2,
			 const struct arm64_ftr_override *ovr);
#endif

#else /* !CONFIG_ARM64_BBML2_NOABORT */

static inline bool cpu_supports_bbml2_noabort(void)
{
	return false;
}

#endif /* CONFIG_ARM64_BBML2_NOABORT */

/**
 * system_supports_bbml2_noabort() - may live mappings change size in place?
 *
 * A patched branch, no load. Before the capabilities are final the answer is
 * false, whatever the CPUs have; a caller that must tell "not yet" from "no"
 * asks system_capabilities_finalized() as well.
 *
 * Context: Any, from the first C code on.
 * Return: true if every CPU that is online, now and later, changes the size of a
 *         live mapping without a TLB conflict abort. One that does not is
 *         refused before it is online, but runs kernel code until then.
 */
static __always_inline bool system_supports_bbml2_noabort(void)
{
	return alternative_has_cap_unlikely(ARM64_HAS_BBML2_NOABORT);
}

#endif /* __ASM_BBML2_H */
