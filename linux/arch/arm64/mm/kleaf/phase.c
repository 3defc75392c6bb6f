// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a live leaf may be split, from boot to the final CPU features.
 *
 * Invariants:
 *  I1 (kleaf_lock free). The phase only moves forward:
 *		BOOT -> SECONDARIES -> SPLIT, or REPAINT -> NO_SPLIT
 *      or starts and stays at NO_SPLIT, where the boot CPU cannot split live.
 *  I2 (always). In BOOT, SPLIT and REPAINT every CPU that uses the kernel's page tables
 *      changes the size of a live mapping without a conflict abort.
 *  I3 (always). How the linear map was built is recorded once, and never
 *      derived again from the features of a CPU.
 *
 * Why SECONDARIES: until features are final a CPU that takes conflict aborts
 * may come up and share the tables. That only one CPU is online does not tell:
 * a secondary turns its MMU on long before. So the phase ends in a hotplug
 * callback that runs before the first secondary is started.
 *
 * Locking: kleaf_lock for the phase. A split in progress is complete when the
 *   phase has moved on.
 * TLB and barriers: none.
 * Failure: cannot fail.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/slab.h>

#include <asm/bbml2.h>
#include <asm/kfence.h>

#include "kleaf.h"

enum kleaf_phase {
	KLEAF_PHASE_NO_SPLIT,
	KLEAF_PHASE_BOOT,
	KLEAF_PHASE_SECONDARIES,
	KLEAF_PHASE_SPLIT,
	KLEAF_PHASE_REPAINT,
};

static enum kleaf_phase kleaf_phase;
static bool linear_map_is_pte __ro_after_init;

bool kleaf_repainting(void)
{
	return kleaf_phase == KLEAF_PHASE_REPAINT;
}

int kleaf_may_split(void)
{
	kleaf_assert_locked();

	switch (kleaf_phase) {
	case KLEAF_PHASE_SPLIT:
	case KLEAF_PHASE_REPAINT:
		return 0;
	case KLEAF_PHASE_BOOT:
		return slab_is_available() ? 0 : -EBUSY;
	case KLEAF_PHASE_SECONDARIES:
		return -EBUSY;
	default:
		return -EOPNOTSUPP;
	}
}

bool kleaf_force_pte_map(void)
{
	static bool decided __ro_after_init;

	if (decided)
		return linear_map_is_pte;

	if (cpu_supports_bbml2_noabort())
		kleaf_phase = KLEAF_PHASE_BOOT;

	/* debug_pagealloc protects pages from atomic context, all over. */
	linear_map_is_pte = debug_pagealloc_enabled() ||
		(can_set_direct_map() && kleaf_phase != KLEAF_PHASE_BOOT);
	decided = true;

	return linear_map_is_pte;
}

static int kleaf_cpu_prepare(unsigned int cpu)
{
	mutex_lock(&kleaf_lock);
	if (kleaf_phase == KLEAF_PHASE_BOOT)
		kleaf_phase = KLEAF_PHASE_SECONDARIES;
	mutex_unlock(&kleaf_lock);

	return 0;
}

static int __init kleaf_watch_secondaries(void)
{
	int ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					    "arm64/kleaf:prepare",
					    kleaf_cpu_prepare, NULL);

	/* Without the callback nobody would end the phase in time. */
	if (WARN_ON_ONCE(ret < 0))
		kleaf_cpu_prepare(0);

	return 0;
}
early_initcall(kleaf_watch_secondaries);

void __init kleaf_features_final(void)
{
	bool repaint, failed = false;

	mutex_lock(&kleaf_lock);
	if (kleaf_phase == KLEAF_PHASE_NO_SPLIT) {
		repaint = false;
	} else if (system_supports_bbml2_noabort()) {
		kleaf_phase = KLEAF_PHASE_SPLIT;
		repaint = false;
	} else {
		/* With rodata=on or off base has large leaves on any CPU. */
		repaint = !linear_map_is_pte && can_set_direct_map();
	}

	if (repaint) {
		kleaf_phase = KLEAF_PHASE_REPAINT;
		failed = kleaf_repaint_linear_map();
		linear_map_is_pte = !failed;
	}
	if (kleaf_phase != KLEAF_PHASE_SPLIT)
		kleaf_phase = KLEAF_PHASE_NO_SPLIT;
	mutex_unlock(&kleaf_lock);

	if (failed)
		pr_warn("kleaf: no memory to map the linear map with pages; some of it cannot be protected\n");
	else if (repaint)
		pr_info("kleaf: linear map made of pages: not every CPU can split leaves live\n");
}
