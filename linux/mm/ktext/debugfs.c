// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_replication/ in debugfs: what each node runs, its page tables, and a
 * comparison of all copies with the original, and of the tables that CPUs use
 * with those that they should.
 *
 * Invariants:
 *  I1 (always). Reading changes nothing, and a difference that it shows lasts:
 *      pages are compared with writers of text locked out.
 * Locking: ktext_mutex, so that regions stay, and the lock of the text writers
 *   for a page at a time.
 * TLB and barriers: none.
 * Failure: debugfs reports its own.
 * See: Documentation/mm/kernel-replication.rst
 */

#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "ktext.h"

static const char * const state_names[NR_KTEXT_STATES] = {
	[KTEXT_NO_MEMORY]	= "no-memory",
	[KTEXT_HOME]		= "home",
	[KTEXT_COPY]		= "copy",
	[KTEXT_NO_ROOM]		= "no-room",
	[KTEXT_UNPROTECTED]	= "unprotected",
};

static void show_node(struct seq_file *m, int nid)
{
	phys_addr_t phys, root = arch_ktext_root(nid);
	struct ktext_window window;
	unsigned long size;

	arch_ktext_window(&window);
	size = window.end - window.start;
	if (!ktext_copy_phys(nid, window.start, &phys))
		phys = __pa_symbol(window.start);

	seq_printf(m, "node=%d state=%s addr=%#lx size=%lu phys=%pa root=%pa bytes=%lu table_bytes=%zu\n",
		   nid, state_names[ktext_states[nid]], window.start, size,
		   &phys, &root, ktext_states[nid] == KTEXT_COPY ? size : 0,
		   arch_ktext_table_bytes(nid));
}

static int state_show(struct seq_file *m, void *unused)
{
	int nid;

	mutex_lock(&ktext_mutex);
	for_each_online_node(nid)
		show_node(m, nid);
	mutex_unlock(&ktext_mutex);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static unsigned int compare_region(struct seq_file *m, int nid,
				   const struct ktext_region *region)
{
	unsigned int nr_different = 0;
	unsigned long addr;
	phys_addr_t phys;

	for (addr = region->start; addr < region->end; addr += PAGE_SIZE) {
		cond_resched();
		if (!ktext_copy_phys(nid, addr, &phys) ||
		    arch_ktext_equal(phys_to_virt(phys), addr, PAGE_SIZE))
			continue;
		seq_printf(m, "node=%d different=%#lx\n", nid, addr);
		nr_different++;
	}

	return nr_different;
}

static int regions_show(struct seq_file *m, void *unused)
{
	unsigned int nr_regions = 0, nr_home_only = 0;
	const struct ktext_region *region;
	nodemask_t nodes;
	int nid;

	mutex_lock(&ktext_mutex);
	list_for_each_entry(region, &ktext_regions, list) {
		nodes_clear(nodes);
		for_each_online_node(nid) {
			if (region->mapped && region->pages[nid])
				node_set(nid, nodes);
		}
		seq_printf(m, "addr=%#lx size=%lu nodes=%*pbl\n", region->start,
			   region->end - region->start, nodemask_pr_args(&nodes));
		nr_regions++;
		nr_home_only += nodes_empty(nodes);
	}
	mutex_unlock(&ktext_mutex);
	seq_printf(m, "regions=%u home_only=%u\n", nr_regions, nr_home_only);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(regions);

static void check_root(void *on_root)
{
	*(bool *)on_root = arch_ktext_on_root(numa_node_id());
}

static unsigned int compare_cpus(struct seq_file *m)
{
	unsigned int nr_different = 0;
	bool on_root;
	int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		on_root = false;
		if (!smp_call_function_single(cpu, check_root, &on_root, 1) &&
		    on_root)
			continue;
		seq_printf(m, "cpu=%d node=%d other tables than its node's\n",
			   cpu, cpu_to_node(cpu));
		nr_different++;
	}
	cpus_read_unlock();

	return nr_different;
}

static int compare_show(struct seq_file *m, void *unused)
{
	unsigned int nr_copies = 0, nr_different = 0;
	const struct ktext_region *region;
	int nid;

	mutex_lock(&ktext_mutex);
	list_for_each_entry(region, &ktext_regions, list) {
		for_each_online_node(nid) {
			if (!region->pages[nid])
				continue;
			nr_copies++;
			nr_different += compare_region(m, nid, region);
		}
	}
	for_each_online_node(nid) {
		if (ktext_states[nid] == KTEXT_COPY)
			nr_different += arch_ktext_check_tables(m, nid);
	}
	mutex_unlock(&ktext_mutex);
	nr_different += compare_cpus(m);
	seq_printf(m, "copies=%u different=%u\n", nr_copies, nr_different);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(compare);

static int page_tables_show(struct seq_file *m, void *unused)
{
	mutex_lock(&ktext_mutex);
	arch_ktext_show_tables(m, (long)m->private);
	mutex_unlock(&ktext_mutex);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(page_tables);

void ktext_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("numa_replication", NULL);
	char name[16];
	int nid;

	debugfs_create_file("state", 0400, dir, NULL, &state_fops);
	debugfs_create_file("regions", 0400, dir, NULL, &regions_fops);
	debugfs_create_file("compare", 0400, dir, NULL, &compare_fops);

	for_each_online_node(nid) {
		if (ktext_states[nid] != KTEXT_COPY)
			continue;
		snprintf(name, sizeof(name), "node%d", nid);
		debugfs_create_file("page_tables", 0400,
				    debugfs_create_dir(name, dir),
				    (void *)(long)nid, &page_tables_fops);
	}
}
