// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walker over leaf entries of the kernel's page tables.
 *
 * Everything that looks at or changes kernel leaves does so in a callback of
 * this walk: the splitter, the attribute changer, the counters, the tests.
 *
 * Invariants:
 *  I1 (always). An entry is read once; what is done with it rests on that
 *      value. Only KLEAF_WALK_AGAIN has it read again.
 *  I2 (always). A present-invalid entry is a leaf, never a table and never a
 *      hole.
 *  I3 (always). A callback sees at least one run or hole for every byte of
 *      the range, in ascending order.
 *
 * Locking: none of its own. The walk is an RCU read-side section: a table
 *   that is unlinked elsewhere stays readable until the walk is done.
 * TLB and barriers: reads only. Dependent loads order the read of a table
 *   behind the read of the entry that points to it; the partner is the
 *   DSB ISHST between filling a table and publishing it (split.c).
 * Failure: the walk ends at the first error, and reports it.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/rcupdate.h>

#include "kleaf.h"

struct kleaf_walk {
	const struct kleaf_walk_ops *ops;
	void *data;
};

static int walk_hole(const struct kleaf_walk *walk, unsigned long addr,
		     unsigned long end)
{
	return walk->ops->hole ? walk->ops->hole(addr, end, walk->data) : 0;
}

static int walk_pte_table(const struct kleaf_walk *walk, pmd_t *pmdp,
			  unsigned long addr, unsigned long end)
{
	struct kleaf_run run = {
		.addr = addr,
		.entryp = pte_offset_kernel(pmdp, addr),
		.nr_entries = (end - addr) >> PAGE_SHIFT,
		.level = KLEAF_PTE,
	};
	int ret;

	do {
		ret = walk->ops->run(&run, walk->data);
	} while (ret == KLEAF_WALK_AGAIN);

	return ret;
}

static int walk_pmd_table(const struct kleaf_walk *walk, pud_t *pudp,
			  unsigned long addr, unsigned long end)
{
	struct kleaf_run run = { .level = KLEAF_PMD };
	pmd_t *pmdp = pmd_offset(pudp, addr);
	unsigned long next;
	int ret;

	do {
		pmd_t pmd = READ_ONCE(*pmdp);

		next = pmd_addr_end(addr, end);
		run.nr_entries = 1;

		if (pmd_none(pmd)) {
			ret = walk_hole(walk, addr, next);
		} else if (pmd_leaf(pmd)) {
			run.addr = addr & PMD_MASK;
			run.entryp = pmdp;
			while (next != end && pmd_leaf(READ_ONCE(pmdp[run.nr_entries]))) {
				next = pmd_addr_end(next, end);
				run.nr_entries++;
			}
			ret = walk->ops->run(&run, walk->data);
			if (ret == KLEAF_WALK_AGAIN) {
				next = addr;
				run.nr_entries = 0;
				ret = 0;
			}
		} else if (!pmd_bad(pmd)) {
			ret = walk_pte_table(walk, pmdp, addr, next);
		} else {
			ret = -EINVAL;
		}
		if (ret)
			return ret;
	} while (pmdp += run.nr_entries, addr = next, addr != end);

	return 0;
}

static int walk_pud_table(const struct kleaf_walk *walk, p4d_t *p4dp,
			  unsigned long addr, unsigned long end)
{
	struct kleaf_run run = { .level = KLEAF_PUD };
	pud_t *pudp = pud_offset(p4dp, addr);
	unsigned long next;
	int ret;

	do {
		pud_t pud = READ_ONCE(*pudp);

		next = pud_addr_end(addr, end);
		run.nr_entries = 1;

		if (pud_none(pud)) {
			ret = walk_hole(walk, addr, next);
		} else if (pud_leaf(pud)) {
			run.addr = addr & PUD_MASK;
			run.entryp = pudp;
			while (next != end && pud_leaf(READ_ONCE(pudp[run.nr_entries]))) {
				next = pud_addr_end(next, end);
				run.nr_entries++;
			}
			ret = walk->ops->run(&run, walk->data);
			if (ret == KLEAF_WALK_AGAIN) {
				next = addr;
				run.nr_entries = 0;
				ret = 0;
			}
		} else if (!pud_bad(pud)) {
			ret = walk_pmd_table(walk, pudp, addr, next);
		} else {
			ret = -EINVAL;
		}
		if (ret)
			return ret;
	} while (pudp += run.nr_entries, addr = next, addr != end);

	return 0;
}

static int walk_p4d_table(const struct kleaf_walk *walk, pgd_t *pgdp,
			  unsigned long addr, unsigned long end)
{
	p4d_t *p4dp = p4d_offset(pgdp, addr);
	unsigned long next;
	int ret;

	do {
		p4d_t p4d = READ_ONCE(*p4dp);

		next = p4d_addr_end(addr, end);
		if (p4d_none(p4d))
			ret = walk_hole(walk, addr, next);
		else if (!p4d_bad(p4d))
			ret = walk_pud_table(walk, p4dp, addr, next);
		else
			ret = -EINVAL;
		if (ret)
			return ret;
	} while (p4dp++, addr = next, addr != end);

	return 0;
}

int kleaf_walk(unsigned long start, unsigned long end,
	       const struct kleaf_walk_ops *ops, void *data)
{
	const struct kleaf_walk walk = { .ops = ops, .data = data };
	unsigned long next, addr = start;
	pgd_t *pgdp = pgd_offset_k(addr);
	int ret = -EINVAL;

	if (start >= end || !PAGE_ALIGNED(start | end))
		return -EINVAL;

	rcu_read_lock();
	do {
		pgd_t pgd = READ_ONCE(*pgdp);

		next = pgd_addr_end(addr, end);
		if (pgd_none(pgd))
			ret = walk_hole(&walk, addr, next);
		else if (!pgd_bad(pgd))
			ret = walk_p4d_table(&walk, pgdp, addr, next);
		else
			ret = -EINVAL;
		if (ret)
			break;
	} while (pgdp++, addr = next, addr != end);
	rcu_read_unlock();

	return ret;
}
