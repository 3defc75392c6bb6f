// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make the linear map of pages after all, when a secondary CPU turns out not
 * to change the size of live mappings without conflict aborts.
 *
 * Invariants:
 *  I1 (while leaves are split). Only the boot CPU, which can split live, uses
 *      the kernel's page tables. All others execute from the identity map with
 *      reserved_pg_dir in TTBR1, and their TLBs hold nothing of the kernel.
 *  I2 (when kleaf_repaint_linear_map() returned 0). No leaf of the linear map
 *      is larger than a page, but for the alias of the kernel image, which is
 *      as base maps it.
 *
 * Locking: cpu_hotplug_lock and kleaf_lock, held by the caller for all CPUs;
 *   stop_machine() keeps everything else away.
 * TLB and barriers: the boot CPU splits as split.c does, and flushes all TLBs
 *   before the others come back. Those flush their own when they leave the
 *   kernel's tables and again when they leave the identity map.
 * Failure: all tables are allocated first; without them nothing changes.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/memblock.h>
#include <linux/stop_machine.h>

#include <asm/daifflags.h>
#include <asm/mmu_context.h>
#include <asm/sections.h>
#include <asm/tlbflush.h>

#include "kleaf.h"

/*
 * Number of parked CPUs plus one; zero lets them go. The identity map has a
 * writable mapping of it.
 */
static u32 kleaf_park_flag = 1;

/* See kleaf_cpu_is_alone(). */
static int alone_cpu = -1;

bool kleaf_cpu_is_alone(void)
{
	return READ_ONCE(alone_cpu) == raw_smp_processor_id();
}

static u8 kleaf_park_ptes[IDMAP_LEVELS - 1][PAGE_SIZE] __aligned(PAGE_SIZE) __ro_after_init;

void __init kleaf_map_park_flag(void)
{
	u64 pa = __pa_symbol(&kleaf_park_flag);
	u64 ptep = __pa_symbol(kleaf_park_ptes);

	/* Nothing to repaint if it is made of pages, or never protected. */
	if (kleaf_force_pte_map() || !can_set_direct_map())
		return;

	__pi_map_range(&ptep, pa, pa + sizeof(u32), pa, PAGE_KERNEL,
		       IDMAP_ROOT_LEVEL, (pte_t *)idmap_pg_dir, false,
		       __phys_to_virt(ptep) - ptep);
}

static void __init __nocfi park(void)
{
	kleaf_park_fn *park_fn = (void *)__pa_symbol(idmap_kleaf_park);
	unsigned long flags;

	/* The vectors cannot be reached: not by an SError or NMI either. */
	flags = local_daif_save();
	cpu_install_idmap();
	park_fn(__pa_symbol(&kleaf_park_flag),
		phys_to_ttbr(__pa_symbol(reserved_pg_dir)));
	cpu_uninstall_idmap();
	local_daif_restore(flags);
}

typedef int (*range_fn)(unsigned long start, unsigned long end, void *data);

/* Call @fn for all memory of the linear map but the alias of the image. */
static int __init visit_linear_ranges(range_fn fn, void *data)
{
	phys_addr_t image_start = __pa_symbol(_text);
	phys_addr_t image_end = __pa_symbol(__init_begin);
	phys_addr_t start, end;
	int ret = 0;
	u64 i;

	for_each_mem_range(i, &start, &end) {
		start = PAGE_ALIGN(start);
		end = PAGE_ALIGN_DOWN(end);

		if (start < image_start && !ret && start < end)
			ret = fn((unsigned long)__va(start),
				 (unsigned long)__va(min(end, image_start) - 1) + 1,
				 data);
		start = max(start, image_end);
		if (start < end && !ret)
			ret = fn((unsigned long)__va(start),
				 (unsigned long)__va(end - 1) + 1, data);
	}

	return ret;
}

/* A PMD leaf takes one table, a PUD leaf one more than its PMD leaves. */
static int __init count_tables_run(const struct kleaf_run *run, void *data)
{
	unsigned long *nr_tables = data;

	if (run->level == KLEAF_PMD)
		*nr_tables += run->nr_entries;
	else if (run->level == KLEAF_PUD)
		*nr_tables += run->nr_entries * (1 + PTRS_PER_PMD);

	return 0;
}

static int __init count_tables(unsigned long start, unsigned long end,
			       void *data)
{
	static const struct kleaf_walk_ops ops = { .run = count_tables_run };

	return kleaf_walk(start, end, &ops, data);
}

static int __init split_range(unsigned long start, unsigned long end,
			      void *tables)
{
	return kleaf_split_to_pages_locked(start, end, tables);
}

struct repaint {
	unsigned int boot_cpu;
	struct kleaf_tables *tables;
	int ret;
};

static int __init repaint_cpu(void *data)
{
	struct repaint *repaint = data;

	if (smp_processor_id() != repaint->boot_cpu) {
		park();
		return 0;
	}

	/* Partner of the STXR in idmap_kleaf_park(): everybody is off the map. */
	smp_cond_load_acquire(&kleaf_park_flag, VAL == num_online_cpus());

	WRITE_ONCE(alone_cpu, repaint->boot_cpu);
	repaint->ret = visit_linear_ranges(split_range, repaint->tables);
	flush_tlb_all();
	WRITE_ONCE(alone_cpu, -1);

	/* Partner of the LDXR in idmap_kleaf_park(), after the TLBI is done. */
	smp_store_release(&kleaf_park_flag, 0);

	return 0;
}

int __init kleaf_repaint_alloc(struct kleaf_tables *tables)
{
	unsigned long nr_tables = 0;
	int ret;

	ret = visit_linear_ranges(count_tables, &nr_tables);
	while (!ret && nr_tables--)
		if (!kleaf_tables_add_spare(tables))
			ret = -ENOMEM;

	return ret;
}

int __init kleaf_repaint_linear_map(struct kleaf_tables *tables)
{
	struct repaint repaint = {
		.boot_cpu = smp_processor_id(),
		.tables = tables,
	};
	int ret;

	lockdep_assert_cpus_held();
	lockdep_assert_held(&kleaf_lock);

	ret = stop_machine_cpuslocked(repaint_cpu, &repaint, cpu_online_mask);

	/* The spare tables were counted: a split cannot have failed. */
	if (WARN_ON_ONCE(!ret && repaint.ret))
		ret = repaint.ret;

	return ret;
}
