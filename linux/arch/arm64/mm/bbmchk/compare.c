// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of break-before-make where tables take part: what differs between a
 * table and a leaf, between two tables, and between what a TLB may still hold
 * and what is stored around it or below it.
 *
 * Invariants:
 *  I1 (always). Tables are read as they are now. One that is linked by the store
 *      under test is complete; one that is still linked has not been freed.
 *  I2 (always). A removed table is never read: it may be something else by now.
 *
 * Locking: bbmchk_lock, so that no table is forgotten meanwhile.
 * TLB and barriers: none.
 * Failure: cannot fail.
 * See: Documentation/arch/arm64/bbm-check.rst
 */

#include "bbmchk.h"

/*
 * What differs between a leaf and the entries of the table that takes its place,
 * or that it takes the place of. Entries that are not valid do not count. Sets
 * @holes if there are any.
 */
static enum bbmchk_why compare_with_table(u64 leaf, u64 desc,
					  unsigned int level, bool leaf_is_old,
					  bool *holes)
{
	const u64 *table = bbmchk_table(bbmchk_child_pfn(desc));
	unsigned int sub = level - 1;
	unsigned int i;

	for (i = 0; i < BBMCHK_PTRS; i++) {
		u64 part = bbmchk_sub(leaf, level, sub, i * bbmchk_size(sub));
		u64 entry = READ_ONCE(table[i]);
		enum bbmchk_why why;

		if (!bbmchk_valid(entry)) {
			*holes = true;
			continue;
		}

		if (bbmchk_is_table(entry, sub))
			why = compare_with_table(part, entry, sub, leaf_is_old,
						 holes);
		else if (leaf_is_old)
			why = bbmchk_compare(part, entry, sub);
		else
			why = bbmchk_compare(entry, part, sub);

		if (why != BBMCHK_SAME && why != BBMCHK_SIZE)
			return why;
	}

	return BBMCHK_SIZE;
}

static bool same_tables(u64 old, u64 new)
{
	if (bbmchk_child_pfn(old) == bbmchk_child_pfn(new))
		return true;

	return !memcmp(bbmchk_table(bbmchk_child_pfn(old)),
		       bbmchk_table(bbmchk_child_pfn(new)), PAGE_SIZE);
}

/* @desc, as if it mapped what @other does. */
static u64 at_address_of(u64 desc, u64 other)
{
	return (desc & ~__phys_to_pte_val(bbmchk_phys(desc))) |
		__phys_to_pte_val(bbmchk_phys(other));
}

enum bbmchk_why bbmchk_compare_entry(u64 old, u64 new, unsigned int level,
				     bool *holes)
{
	bool old_table = bbmchk_is_table(old, level);
	bool new_table = bbmchk_is_table(new, level);
	enum bbmchk_why why;

	if (old_table && new_table)
		return same_tables(old, new) ? BBMCHK_SAME : BBMCHK_ADDR;
	if (new_table)
		return compare_with_table(old, new, level, true, holes);
	if (old_table)
		return compare_with_table(new, old, level, false, holes);

	why = bbmchk_compare(old, new, level);
	/* The address may change then, and nothing else. */
	if (why == BBMCHK_ADDR && bbmchk_same_contents(old, new, level))
		why = bbmchk_compare(at_address_of(old, new), new, level);

	return why;
}

/* The entry that maps an address below a table that is about to be linked. */
static u64 find_below(u64 desc, unsigned int *level, unsigned long va,
		      unsigned int lowest)
{
	while (bbmchk_is_table(desc, *level) && *level > lowest) {
		const u64 *table = bbmchk_table(bbmchk_child_pfn(desc));

		--*level;
		desc = READ_ONCE(table[(va >> bbmchk_shift(*level)) %
				       BBMCHK_PTRS]);
	}

	return desc;
}

/* What differs between something stale and a leaf above it, or below it. */
static enum bbmchk_why compare_across(u64 old, unsigned int old_level, u64 new,
				      unsigned int new_level,
				      unsigned long offset, unsigned int bbm)
{
	enum bbmchk_why why;

	if (bbm < 2)
		return BBMCHK_SIZE;
	if (old_level > new_level)
		why = bbmchk_compare(bbmchk_sub(old, old_level, new_level,
						offset), new, new_level);
	else
		why = bbmchk_compare(old, bbmchk_sub(new, new_level, old_level,
						     offset), old_level);

	return why == BBMCHK_SAME ? BBMCHK_SIZE : why;
}

enum bbmchk_why bbmchk_compare_stale(const struct bbmchk_stale *stale, u64 new,
				     unsigned long va, unsigned int level,
				     unsigned int bbm)
{
	bool holes = false;

	if (stale->level == level) {
		/* The old table may have changed, or be something else now. */
		if (bbmchk_is_table(stale->desc, level))
			return bbmchk_is_table(new, level) &&
				bbmchk_child_pfn(new) ==
				bbmchk_child_pfn(stale->desc) ?
				BBMCHK_SAME : BBMCHK_ADDR;
		return bbmchk_compare_entry(stale->desc, new, level, &holes);
	}

	if (stale->level > level) {
		/* An old table was compared when a new one took its place. */
		if (bbmchk_is_table(stale->desc, stale->level))
			return BBMCHK_SAME;
		if (bbmchk_is_table(new, level))
			return compare_with_table(bbmchk_sub(stale->desc,
							     stale->level, level,
							     va - stale->va),
						  new, level, true, &holes);
		return compare_across(stale->desc, stale->level, new, level,
				      va - stale->va, bbm);
	}

	new = find_below(new, &level, stale->va, stale->level);
	if (!bbmchk_valid(new))
		return BBMCHK_SAME;
	if (bbmchk_is_table(stale->desc, stale->level))
		return bbmchk_is_table(new, level) &&
			bbmchk_child_pfn(new) == bbmchk_child_pfn(stale->desc) ?
			BBMCHK_SAME : BBMCHK_ADDR;
	if (level == stale->level && !bbmchk_is_table(new, level))
		return bbmchk_compare(stale->desc, new, level);
	/* In place of the stale leaf; there may be leaves in it already. */
	if (bbmchk_is_table(new, level))
		return compare_with_table(stale->desc, new, level, true, &holes);

	return compare_across(stale->desc, stale->level, new, level,
			      stale->va & (bbmchk_size(level) - 1), bbm);
}
