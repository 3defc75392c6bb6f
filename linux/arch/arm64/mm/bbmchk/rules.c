// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of break-before-make, as functions of two descriptors.
 *
 * Invariants:
 *  I1 (always). Nothing here depends on the state of the checker, so that the
 *      rules can be read, and tested, alone.
 *  I2 (always). What the architecture leaves free is not reported: permissions,
 *      access flag, dirty state, software bits; Normal to or from Tagged.
 *
 * Locking: none.
 * TLB and barriers: none; descriptors are values here.
 * Failure: cannot fail. Where contents cannot be compared they count as
 *   different.
 * See: Documentation/arch/arm64/bbm-check.rst; Arm ARM DDI 0487, D8.16
 *   (using break-before-make when updating translation table entries).
 */

#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/uaccess.h>

#include <asm/bbml2.h>
#include <asm/cpufeature.h>
#include <asm/kleaf.h>

#include "bbmchk.h"

/*
 * The memory types of MAIR_EL1. Tagged differs from Normal in how tags are
 * checked, which is a permission as far as mismatched copies are concerned.
 */
static u64 memory_type(u64 desc)
{
	u64 type = desc & PTE_ATTRINDX_MASK;

	return type == PTE_ATTRINDX(MT_NORMAL_TAGGED) ?
		PTE_ATTRINDX(MT_NORMAL) : type;
}

enum bbmchk_why bbmchk_compare(u64 old, u64 new, unsigned int level)
{
	phys_addr_t mask = ~(bbmchk_size(level) - 1);

	if ((bbmchk_phys(old) ^ bbmchk_phys(new)) & mask)
		return BBMCHK_ADDR;
	if (memory_type(old) != memory_type(new))
		return BBMCHK_TYPE;
	/* With LPA2 these are address bits, and TCR_EL1 has the shareability. */
	if (!lpa2_is_enabled() && ((old ^ new) & PTE_SHARED))
		return BBMCHK_SHARE;
	/* A global copy would serve other ASIDs too; the reverse is harmless. */
	if (old & ~new & PTE_NG)
		return BBMCHK_GLOBAL;
	if ((old ^ new) & PTE_CONT)
		return BBMCHK_SIZE;

	return BBMCHK_SAME;
}

bool bbmchk_needs_break(enum bbmchk_why why, unsigned int bbm)
{
	if (why == BBMCHK_SIZE)
		return bbm < 2;

	return why != BBMCHK_SAME;
}

u64 bbmchk_sub(u64 leaf, unsigned int level, unsigned int sub,
	       unsigned long offset)
{
	phys_addr_t pa = bbmchk_phys(leaf) & ~(bbmchk_size(level) - 1);
	u64 attributes = leaf & ~__phys_to_pte_val(bbmchk_phys(leaf));

	pa += offset & ~(bbmchk_size(sub) - 1);

	return attributes | __phys_to_pte_val(pa);
}

static bool same_bytes(const u8 *old, const u8 *new, unsigned long size)
{
	u64 a, b;

	/* A page of the linear map may be invalid: read it with care. */
	for (; size; size -= sizeof(a), old += sizeof(a), new += sizeof(b)) {
		if (copy_from_kernel_nofault(&a, old, sizeof(a)) ||
		    copy_from_kernel_nofault(&b, new, sizeof(b)) || a != b)
			return false;
	}

	return true;
}

bool bbmchk_same_contents(u64 old, u64 new, unsigned int level)
{
	phys_addr_t mask = ~(bbmchk_size(level) - 1);
	phys_addr_t old_pa = bbmchk_phys(old) & mask;
	phys_addr_t new_pa = bbmchk_phys(new) & mask;

	if (!(old & PTE_RDONLY) || !(new & PTE_RDONLY))
		return false;
	/* Hardware makes such an entry writable when it is written to. */
	if ((old | new) & PTE_DBM)
		return false;
	if (!pfn_is_map_memory(PHYS_PFN(old_pa)) ||
	    !pfn_is_map_memory(PHYS_PFN(new_pa)))
		return false;

	return same_bytes(__va(old_pa), __va(new_pa), bbmchk_size(level));
}

/* Set when the first secondary CPU is about to start. */
static bool others_started;

/* Reading ID registers may be slow: a hypervisor may trap it. */
static unsigned int level_of_this_cpu(void)
{
	return cpu_supports_bbml2_noabort() ? 2 : 0;
}

/* The same for the CPU that repaints the linear map, which stores a lot. */
static unsigned int level_alone(void)
{
	static int level = -1;

	if (level < 0)
		level = level_of_this_cpu();

	return level;
}

unsigned int bbmchk_bbm_level(unsigned long va)
{
	int test_level = bbmchk_sink_level(va);

	lockdep_assert_held(&bbmchk_lock);

	if (test_level >= 0)
		return test_level;

	/* Exception: all others are parked, and will come back with no TLB. */
	if (kleaf_cpu_is_alone())
		return level_alone();

	if (system_capabilities_finalized())
		return system_supports_bbml2_noabort() ? 2 : 0;

	/* Exception: the boot CPU alone; what it can do is enough. */
	if (!READ_ONCE(others_started))
		return level_of_this_cpu();

	return 0;
}

/*
 * One CPU online does not prove that it is alone: another may be on its way up,
 * or have got stuck with its MMU on. So ask before the first one is started.
 */
static int note_start(unsigned int cpu)
{
	WRITE_ONCE(others_started, true);

	return 0;
}

static int __init watch_secondaries(void)
{
	/* Without the callback nothing is ever known of them: assume the worst. */
	if (cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
				      "arm64/bbmchk:prepare", note_start,
				      NULL) < 0)
		note_start(0);

	return 0;
}
early_initcall(watch_secondaries);
