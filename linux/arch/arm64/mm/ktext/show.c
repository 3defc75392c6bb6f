// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show and check the page tables of a node, for debugfs.
 *
 * Invariants:
 *  I1 (always). What is shown is read from the node's tables as a walker reads
 *      them, from the top, not from lists.
 * Locking: none. An entry that is about to change may differ for a moment, so
 *   a difference is looked at again before it counts.
 * TLB and barriers: none.
 * Failure: none.
 * See: Documentation/mm/kernel-replication.rst
 */

#include <linux/delay.h>
#include <linux/seq_file.h>

#include "ktext.h"

/* Enough for a setter that is interrupted between the two stores. */
#define CHECK_TRIES	100

/**
 * struct leaf_run - leaves that follow each other in address and in memory
 * @start: first byte
 * @end: one past the last byte; equal to @start for no run yet
 * @phys: where @start is
 * @attributes: descriptors without the output address
 * @level: of their table
 */
struct leaf_run {
	unsigned long start;
	unsigned long end;
	phys_addr_t phys;
	u64 attributes;
	int level;
};

static const char *kind_name(int level, u64 attributes)
{
	bool cont = attributes & PTE_CONT;

	switch (level) {
	case KTEXT_LAST_LEVEL:
		return cont ? "CONT_PTE" : "PTE";
	case KTEXT_LAST_LEVEL - 1:
		return cont ? "CONT_PMD" : "PMD";
	default:
		return "PUD";
	}
}

static void show_run(struct seq_file *m, const struct leaf_run *run)
{
	if (run->start == run->end)
		return;

	seq_printf(m, "%#lx-%#lx phys=%pa node=%d %s attributes=%#llx\n",
		   run->start, run->end, &run->phys,
		   pfn_to_nid(PHYS_PFN(run->phys)),
		   kind_name(run->level, run->attributes), run->attributes);
}

static void show_leaf(struct seq_file *m, struct leaf_run *run,
		      unsigned long addr, u64 entry, int level)
{
	phys_addr_t phys = __pte_to_phys(__pte(entry));
	u64 attributes = entry ^ __phys_to_pte_val(phys);

	if (addr != run->end || level != run->level ||
	    attributes != run->attributes ||
	    phys != run->phys + (run->end - run->start)) {
		show_run(m, run);
		run->start = addr;
		run->phys = phys;
		run->attributes = attributes;
		run->level = level;
	}
	run->end = addr + BIT(ktext_shift(level));
}

static void show_table(struct seq_file *m, struct leaf_run *run,
		       const struct ktext_table *table, const u64 *entries)
{
	const struct ktext_table *next;
	unsigned int index;
	phys_addr_t phys;
	u64 entry;

	for (index = 0; index < PTRS_PER_PTE; index++) {
		entry = READ_ONCE(entries[index]);
		if (entry == READ_ONCE(table->home[index]))
			continue;

		phys = __pte_to_phys(__pte(entry));
		if (!(entry & PTE_VALID))
			continue;
		if (!ktext_entry_is_table(entry, table->level)) {
			show_leaf(m, run, ktext_entry_addr(table, index), entry,
				  table->level);
			continue;
		}

		/* One that is just being stored is shared, not the node's own. */
		next = ktext_next_table(table, index,
					READ_ONCE(table->home[index]));
		if (!next)
			continue;

		show_run(m, run);
		run->start = run->end;
		seq_printf(m, "table level=%d addr=%#lx phys=%pa node=%d\n",
			   table->level + 1, ktext_entry_addr(table, index),
			   &phys, pfn_to_nid(PHYS_PFN(phys)));
		show_table(m, run, next, phys_to_virt(phys));
	}
}

void arch_ktext_show_tables(struct seq_file *m, int nid)
{
	const struct ktext_table *top =
		list_first_entry(&ktext_tables, struct ktext_table, list);
	phys_addr_t phys = virt_to_phys(top->copy[nid]);
	struct leaf_run run = {};

	seq_printf(m, "table level=%d phys=%pa node=%d\n", top->level, &phys,
		   pfn_to_nid(PHYS_PFN(phys)));
	show_table(m, &run, top, top->copy[nid]);
	show_run(m, &run);
}

static bool entry_differs(const struct ktext_table *table, unsigned int index,
			  int nid)
{
	unsigned int tries;

	for (tries = 0; tries < CHECK_TRIES; tries++) {
		if (READ_ONCE(table->copy[nid][index]) ==
		    ktext_node_entry(table, index, nid))
			return false;
		fsleep(1000);
	}

	return true;
}

static unsigned int check_table(struct seq_file *m,
				const struct ktext_table *table, int nid)
{
	unsigned int index, nr_different = 0;

	for (index = 0; index < PTRS_PER_PTE; index++) {
		if (!entry_differs(table, index, nid))
			continue;
		seq_printf(m, "node=%d level=%d addr=%#lx entry=%#llx expected=%#llx\n",
			   nid, table->level, ktext_entry_addr(table, index),
			   table->copy[nid][index],
			   ktext_node_entry(table, index, nid));
		nr_different++;
	}

	return nr_different;
}

unsigned int arch_ktext_check_tables(struct seq_file *m, int nid)
{
	const struct ktext_table *table;
	unsigned int nr_different = 0;

	list_for_each_entry(table, &ktext_tables, list)
		nr_different += check_table(m, table, nid);
	list_for_each_entry(table, &ktext_leaves, list)
		nr_different += check_table(m, table, nid);

	return nr_different;
}
