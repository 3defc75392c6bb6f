// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a live leaf may be split, from boot to the final CPU features.
 *
 * Invariants:
 *  I1 (kleaf_lock free). The phase only moves forward:
 *		BOOT -> SECONDARIES -> REPAINT -> NO_SPLIT
 *      or from one of the first two to SPLIT, if every CPU can split live; from
 *      SECONDARIES to NO_SPLIT, if there is nothing to repaint or no memory for
 *      it; or it starts and stays at NO_SPLIT, where the boot CPU cannot.
 *  I2 (while a leaf is split). Every CPU that uses what the leaf maps changes
 *      the size of a live mapping without a conflict abort.
 *  I3 (always). How the linear map was built is recorded once, and never
 *      derived again from the features of a CPU.
 *
 * Why SECONDARIES: until features are final a CPU that takes conflict aborts
 * may come up and share the tables. That only one CPU is online does not tell:
 * a secondary turns its MMU on long before. So BOOT ends before the first
 * secondary is started.
 *
 * Why splits wait for a CPU that is started later: if it does not fit it is
 * refused, but only after it has turned its MMU on. Until it is online, or
 * given up, nothing is split. What was refused or given up and cannot be
 * switched off spins in kernel text, in cpu_park_loop() or
 * __secondary_too_slow(); the engine does not split that, and nothing else is
 * touched. Not covered is a CPU that stalls for the five seconds of __cpu_up()
 * after it was given a stack, and goes on then.
 *
 * Locking: kleaf_lock for the phase and for kleaf_cpu_in_start. A split in
 *   progress is complete when either has changed.
 * TLB and barriers: none. A CPU starts with an empty TLB, so it cannot hold
 *   what was split before.
 * Failure: cannot fail.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

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

/* A CPU is on its way that may turn out not to fit. */
static bool kleaf_cpu_in_start;

bool kleaf_repainting(void)
{
	return kleaf_phase == KLEAF_PHASE_REPAINT;
}

int kleaf_may_split(void)
{
	kleaf_assert_locked();

	switch (kleaf_phase) {
	case KLEAF_PHASE_SPLIT:
		return kleaf_cpu_in_start ? -EAGAIN : 0;
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

unsigned int kleaf_cpu_starting(void)
{
	lockdep_assert_cpus_held();

	mutex_lock(&kleaf_lock);
	if (kleaf_phase == KLEAF_PHASE_BOOT)
		kleaf_phase = KLEAF_PHASE_SECONDARIES;
	WRITE_ONCE(kleaf_cpu_in_start, true);
	mutex_unlock(&kleaf_lock);

	/* To free memory a split may be needed, which would wait for us. */
	return memalloc_noreclaim_save();
}

void kleaf_cpu_started(unsigned int flags)
{
	memalloc_noreclaim_restore(flags);

	mutex_lock(&kleaf_lock);
	WRITE_ONCE(kleaf_cpu_in_start, false);
	mutex_unlock(&kleaf_lock);

	/* Partner: set_current_state() in wait_var_event(). */
	smp_mb();
	wake_up_var(&kleaf_cpu_in_start);
}

void kleaf_wait_for_cpu(void)
{
	wait_var_event(&kleaf_cpu_in_start, !READ_ONCE(kleaf_cpu_in_start));
}

/* Does the linear map have leaves that could not be split as it turns out? */
static bool __init must_repaint(void)
{
	/* With rodata=on or off base has large leaves on any CPU. */
	return kleaf_phase != KLEAF_PHASE_NO_SPLIT &&
		!system_supports_bbml2_noabort() &&
		!linear_map_is_pte && can_set_direct_map();
}

void __init kleaf_features_final(void)
{
	struct kleaf_tables tables = {};
	bool repaint = must_repaint();
	int ret = 0;

	if (repaint)
		ret = kleaf_repaint_alloc(&tables);

	cpus_read_lock();
	mutex_lock(&kleaf_lock);
	if (repaint && !ret) {
		kleaf_phase = KLEAF_PHASE_REPAINT;
		ret = kleaf_repaint_linear_map(&tables);
		linear_map_is_pte = !ret;
	}
	if (kleaf_phase != KLEAF_PHASE_NO_SPLIT)
		kleaf_phase = system_supports_bbml2_noabort() ?
			KLEAF_PHASE_SPLIT : KLEAF_PHASE_NO_SPLIT;
	mutex_unlock(&kleaf_lock);
	cpus_read_unlock();

	kleaf_tables_free(&tables);

	if (ret)
		pr_warn("kleaf: linear map not made of pages (%d); some of it cannot be protected\n",
			ret);
	else if (repaint)
		pr_info("kleaf: linear map made of pages: not every CPU can split leaves live\n");
}
