// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contiguous runs: do the members agree once a change of them is complete?
 *
 * A run is changed one member at a time, and while that goes on its members
 * disagree. The change is complete when whoever makes it either stores to an
 * entry outside of the run, or flushes an address of the run. After the first,
 * the members must form one translation: all with the contiguous bit and
 * consecutive, or all without, or all invalid. After the second they must be
 * equal in permissions too, since the flush is what makes those count. A table
 * that is linked with runs in it has been completed before.
 *
 * Invariants:
 *  I1 (bbmchk_lock free). A run that is changed by somebody who has not moved on
 *      is in the list, or was counted as missed.
 *  I2 (always). A run is judged only in the context that stored to it, in which
 *      all of the stores so far are done. What others store or flush, or an
 *      interrupt on top, says nothing about it.
 *
 * Locking: bbmchk_lock.
 * TLB and barriers: none.
 * Failure: with no free slot the run that has waited longest is given up.
 * See: Documentation/arch/arm64/bbm-check.rst; Arm ARM DDI 0487, D8.7
 *   (the Contiguous bit).
 */

#include <linux/preempt.h>
#include <linux/sched.h>

#include "bbmchk.h"

#define NR_RUNS		32

/* Access flag, dirty state and what only software reads. */
#define PTE_FREE_BITS	(PTE_AF | PTE_DBM | PTE_SWBITS_MASK)

static struct bbmchk_run runs[NR_RUNS];
static unsigned int nr_open;
static unsigned int next_victim;

bool bbmchk_runs_open(void)
{
	return READ_ONCE(nr_open);
}

static bool is_mine(const struct bbmchk_run *run)
{
	return run->task == current && run->context == interrupt_context_level();
}

static void close_run(struct bbmchk_run *run)
{
	run->task = NULL;
	WRITE_ONCE(nr_open, nr_open - 1);
}

static bool in_run(const struct bbmchk_run *run,
		   const struct bbmchk_place *place)
{
	return run->place.table == place->table &&
		place->index - run->place.index <
		bbmchk_run_length(run->place.level);
}

struct bbmchk_run *bbmchk_run_touch(const struct bbmchk_place *place)
{
	unsigned int length = bbmchk_run_length(place->level);
	struct bbmchk_run *run, *slot = NULL;

	lockdep_assert_held(&bbmchk_lock);

	for (run = runs; run < runs + NR_RUNS; run++) {
		if (!run->task)
			slot = run;
		else if (in_run(run, place))
			break;
	}

	if (run == runs + NR_RUNS) {
		run = slot;
		if (!run) {
			run = &runs[next_victim++ % NR_RUNS];
			bbmchk_stats.missed_runs++;
			close_run(run);
		}
		WRITE_ONCE(nr_open, nr_open + 1);
		run->place = *place;
		run->place.index = ALIGN_DOWN(place->index, length);
		run->place.va = ALIGN_DOWN(place->va,
					   length * bbmchk_size(place->level));
	}

	/* Two who change one run: the later one is to leave it consistent. */
	if (!is_mine(run)) {
		run->task = current;
		run->context = interrupt_context_level();
		run->stack = 0;
	}

	return run;
}

void bbmchk_run_forget(const u64 *table)
{
	struct bbmchk_run *run;

	lockdep_assert_held(&bbmchk_lock);

	for (run = runs; nr_open && run < runs + NR_RUNS; run++)
		if (run->task && run->place.table == table)
			close_run(run);
}

/* Bits that member @i must share with the first one, apart from the address. */
static bool member_agrees(u64 first, u64 member, unsigned int i,
			  unsigned int level, bool permissions)
{
	phys_addr_t pa = bbmchk_phys(first) + i * bbmchk_size(level);

	if (bbmchk_valid(first) != bbmchk_valid(member))
		return false;
	if (!bbmchk_valid(first))
		return true;
	if ((first ^ member) & PTE_CONT)
		return false;
	/* Not a run at all: nothing that must agree. */
	if (!(first & PTE_CONT))
		return true;
	if (bbmchk_phys(member) != pa || ((first ^ member) & PTE_NG) ||
	    bbmchk_compare(first & ~__phys_to_pte_val(bbmchk_phys(first)),
			   member & ~__phys_to_pte_val(pa), level))
		return false;

	return !permissions ||
		!((first ^ member) & ~PTE_FREE_BITS &
		  ~__phys_to_pte_val(bbmchk_phys(first)) &
		  ~__phys_to_pte_val(pa));
}

static bool run_agrees(const struct bbmchk_run *run, bool permissions,
		       unsigned int *index)
{
	unsigned int i, nr = bbmchk_run_length(run->place.level);
	const u64 *entry = run->place.table + run->place.index;
	u64 first = READ_ONCE(entry[0]);
	bool cont = false;

	/* Without a valid member that claims to be in a run there is none. */
	for (i = 0; i < nr; i++) {
		u64 desc = READ_ONCE(entry[i]);

		cont |= bbmchk_is_leaf(desc, run->place.level) &&
			(desc & PTE_CONT);
	}
	if (!cont)
		return true;

	/* A TLB may take the address of any member for that of the run. */
	if (bbmchk_valid(first) && (first & PTE_CONT) &&
	    !IS_ALIGNED(bbmchk_phys(first), nr * bbmchk_size(run->place.level))) {
		*index = 0;
		return false;
	}

	for (i = 0; i < nr; i++) {
		if (!member_agrees(first, READ_ONCE(entry[i]), i,
				   run->place.level, permissions)) {
			*index = i;
			return false;
		}
	}

	return true;
}

bool bbmchk_run_moved_on(const struct bbmchk_place *place,
			 struct bbmchk_run *run, unsigned int *index)
{
	struct bbmchk_run *open;

	lockdep_assert_held(&bbmchk_lock);

	for (open = runs; nr_open && open < runs + NR_RUNS; open++) {
		if (!open->task || !is_mine(open) || in_run(open, place))
			continue;

		*run = *open;
		if (!run_agrees(open, false, index)) {
			close_run(open);
			return true;
		}
		/* Permissions may differ until the flush. */
		if (run_agrees(open, true, index))
			close_run(open);
	}

	return false;
}

bool bbmchk_run_flushed(unsigned long start, unsigned long last,
			struct bbmchk_run *run, unsigned int *index)
{
	struct bbmchk_run *open;

	lockdep_assert_held(&bbmchk_lock);

	for (open = runs; nr_open && open < runs + NR_RUNS; open++) {
		unsigned long size = bbmchk_size(open->place.level) *
			bbmchk_run_length(open->place.level);

		if (!open->task || !is_mine(open))
			continue;
		if (last < open->place.va || start > open->place.va + size - 1)
			continue;

		*run = *open;
		close_run(open);
		if (!run_agrees(run, true, index))
			return true;
	}

	return false;
}

bool bbmchk_run_in_table(const struct bbmchk_place *first,
			 struct bbmchk_run *run, unsigned int *index)
{
	unsigned int length = bbmchk_run_length(first->level);
	unsigned int i;

	lockdep_assert_held(&bbmchk_lock);

	if (length == 1)
		return false;

	for (i = 0; i < BBMCHK_PTRS; i += length) {
		*run = (struct bbmchk_run) { .place = *first };
		run->place.index += i;
		run->place.va += i * bbmchk_size(first->level);
		if (!run_agrees(run, true, index))
			return true;
	}

	return false;
}
