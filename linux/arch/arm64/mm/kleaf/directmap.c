// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the linear map is made of: DirectMap lines and split counters.
 *
 * Invariants:
 *  I1 (kleaf_lock and mem_hotplug_lock free). kleaf_bytes[] holds what a walk
 *      of the linear map would count, present-invalid leaves, KFENCE pool and
 *      text alias included. Only the reader of a counter that is being moved
 *      from one kind to the next may see a sum that is off by one leaf.
 *
 * Counting on read would walk the whole map, which takes long where it is
 * made of pages, and monitoring reads /proc/meminfo often.
 *
 * Locking: the counters are atomic. Ranges are added at boot by one CPU and
 *   later under mem_hotplug_lock; splits happen under kleaf_lock.
 * TLB and barriers: none.
 * Failure: cannot fail.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/memblock.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/vmstat.h>

#include "kleaf.h"

static atomic_long_t kleaf_bytes[NR_KLEAF_KINDS];

static int count_run(const struct kleaf_run *run, void *data)
{
	unsigned long size = kleaf_level_size(run->level);
	unsigned long *bytes = data;
	unsigned int i;

	for (i = 0; i < run->nr_entries; i++) {
		u64 val = kleaf_run_val(run, i);

		if (val)
			bytes[kleaf_kind(run->level, val)] += size;
	}

	return 0;
}

static const struct kleaf_walk_ops count_ops = {
	.run = count_run,
};

int kleaf_count_range(unsigned long start, unsigned long end,
		      unsigned long bytes[NR_KLEAF_KINDS])
{
	return kleaf_walk(start, end, &count_ops, bytes);
}

void kleaf_account_range(unsigned long start, unsigned long end, int sign)
{
	unsigned long bytes[NR_KLEAF_KINDS] = {};
	unsigned long addr, next;
	enum kleaf_kind kind;

	/* A walk may not be preempted, and memory may be large. */
	for (addr = start; addr != end; addr = next) {
		next = min(ALIGN_DOWN(addr, SZ_1G) + SZ_1G - 1, end - 1) + 1;
		kleaf_count_range(addr, next, bytes);
		cond_resched();
	}
	for (kind = 0; kind < NR_KLEAF_KINDS; kind++)
		atomic_long_add(sign * (long)bytes[kind], &kleaf_bytes[kind]);
}

void __init kleaf_linear_map_created(void)
{
	phys_addr_t start, end;
	u64 i;

	for_each_mem_range(i, &start, &end) {
		start = PAGE_ALIGN(start);
		end = PAGE_ALIGN_DOWN(end);
		if (start < end)
			kleaf_account_range((unsigned long)__va(start),
					    (unsigned long)__va(end - 1) + 1, 1);
	}
}

void kleaf_account_split(unsigned long addr, enum kleaf_kind from)
{
	static const enum vm_event_item events[NR_KLEAF_KINDS] = {
		[KLEAF_KIND_CONT_PTE]	= DIRECT_MAP_CONT_PTE_SPLIT,
		[KLEAF_KIND_PMD]	= DIRECT_MAP_PMD_SPLIT,
		[KLEAF_KIND_CONT_PMD]	= DIRECT_MAP_CONT_PMD_SPLIT,
		[KLEAF_KIND_PUD]	= DIRECT_MAP_PUD_SPLIT,
	};
	long size = kleaf_kind_size(from);

	if (!kleaf_in_linear_map(addr))
		return;

	atomic_long_sub(size, &kleaf_bytes[from]);
	atomic_long_add(size, &kleaf_bytes[from - 1]);
	count_vm_event(events[from]);
}

unsigned long kleaf_directmap_bytes(enum kleaf_kind kind)
{
	return atomic_long_read(&kleaf_bytes[kind]);
}

#ifdef CONFIG_PROC_FS
void arch_report_meminfo(struct seq_file *m)
{
	enum kleaf_kind kind;

	for (kind = 0; kind < NR_KLEAF_KINDS; kind++) {
		unsigned long size = kleaf_kind_size(kind);
		unsigned long kb = kleaf_directmap_bytes(kind) / SZ_1K;
		char name[16];

		if (kind == KLEAF_KIND_PUD && !pud_sect_supported())
			continue;

		if (size < SZ_1M)
			snprintf(name, sizeof(name), "%luk:", size / SZ_1K);
		else if (size < SZ_1G)
			snprintf(name, sizeof(name), "%luM:", size / SZ_1M);
		else
			snprintf(name, sizeof(name), "%luG:", size / SZ_1G);
		seq_printf(m, "DirectMap%-6s %8lu kB\n", name, kb);
	}
}
#endif
