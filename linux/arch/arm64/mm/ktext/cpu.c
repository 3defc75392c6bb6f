// SPDX-License-Identifier: GPL-2.0-only
/*
 * Move CPUs to the page tables of their nodes.
 *
 * A CPU that comes out of reset runs on swapper_pg_dir, the home table. It
 * moves once it knows its node and before it is marked online; again when it
 * resumes from a suspend that lost its state. All CPUs that are online when
 * the tables are made move together.
 *
 * Invariants:
 *  I1 (always). Tables of all nodes translate all addresses alike, but for
 *      the window, where they differ in the output address alone.
 *  I2 (always). TTBR1 has no CnP bit on any CPU, or all CPUs are on the home
 *      table for good (cpu_enable_swapper_cnp()).
 *  I3 (after boot). A node's table never changes its place.
 *
 * Locking: cpu_hotplug_lock while the CPUs move together, so that a CPU that
 *   starts meanwhile does not miss it.
 * TLB and barriers: __cpu_replace_ttbr1() is break-before-make for the whole
 *   of TTBR1: it leaves through the reserved table and a local flush.
 * Failure: cannot fail.
 * See: Documentation/mm/kernel-replication.rst
 */

#include <linux/bits.h>
#include <linux/cpu.h>
#include <linux/stop_machine.h>
#include <linux/topology.h>

#include <asm/mmu_context.h>
#include <asm/sysreg.h>

#include "ktext.h"

/* NULL for a node that uses the home table. */
static pgd_t *node_pgd[MAX_NUMNODES] __read_mostly;

void notrace ktext_cpu_enter(void)
{
	pgd_t *pgd = node_pgd[numa_node_id()];

	if (pgd)
		__cpu_replace_ttbr1(pgd, false);
}

bool arch_ktext_on_root(int nid)
{
	/* Beside the address are the ASID, CnP and address bits 51 to 48. */
	const u64 mask = GENMASK_ULL(47, PAGE_SHIFT);

	return (read_sysreg(ttbr1_el1) & mask) == (arch_ktext_root(nid) & mask);
}

/*
 * In the stopper thread, not in an interrupt: a task that has another TTBR0
 * than that of its mm installed, as around EFI calls, is not preempted then.
 */
static int enter_stopped(void *unused)
{
	ktext_cpu_enter();
	return 0;
}

void arch_ktext_start(void)
{
	struct ktext_table *top;
	int nid;

	if (list_empty(&ktext_tables))
		return;

	ktext_sync_start();

	top = list_first_entry(&ktext_tables, struct ktext_table, list);
	cpus_read_lock();
	for (nid = 0; nid < nr_node_ids; nid++)
		node_pgd[nid] = (pgd_t *)top->copy[nid];
	stop_machine_cpuslocked(enter_stopped, NULL, cpu_online_mask);
	cpus_read_unlock();
}
