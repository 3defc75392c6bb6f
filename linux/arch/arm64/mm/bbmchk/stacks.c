// SPDX-License-Identifier: GPL-2.0-only
/*
 * A store of stack traces that never allocates.
 *
 * lib/stackdepot.c does not serve here: its pools come from the page allocator,
 * under locks of its own, and a page that is allocated may have its mapping
 * changed (debug_pagealloc), which leads back to the checker.
 *
 * Invariants:
 *  I1 (always). A stored stack is never changed, moved or freed: a handle is
 *      good for ever.
 *  I2 (bbmchk_lock free). Equal stacks have equal handles.
 *
 * Locking: bbmchk_lock to store. Reading by handle needs none (I1).
 * TLB and barriers: none.
 * Failure: when the store is full, handle 0, which means "not known".
 * See: Documentation/arch/arm64/bbm-check.rst
 */

#include <linux/jhash.h>
#include <linux/memblock.h>
#include <linux/stacktrace.h>

#include "bbmchk.h"

#define NR_STACKS	4096U

/**
 * struct stack - a stored stack
 * @entries: return addresses, innermost first
 * @hash: of the entries
 * @nr_entries: number of them; 0: slot is free
 * @reported: bit for each rule that was reported from here
 */
struct stack {
	unsigned long entries[BBMCHK_STACK_DEPTH];
	u32 hash;
	u16 nr_entries;
	u16 reported;
};

/* Slot 0 stands for the stacks that found no room. */
static struct stack *stacks __ro_after_init;

/*
 * Leave out the frames of the checker itself. How many there are depends on
 * what the compiler inlines; where it was called from does not.
 */
static unsigned int skip_frames(unsigned long *entries, unsigned int nr_entries,
				unsigned long from)
{
	unsigned int i;

	for (i = 0; i < nr_entries; i++) {
		if (entries[i] != from)
			continue;
		i++;
		memmove(entries, entries + i, (nr_entries - i) * sizeof(*entries));
		return nr_entries - i;
	}

	return nr_entries;
}

u32 bbmchk_stack_save(unsigned long from)
{
	unsigned long entries[BBMCHK_STACK_DEPTH + 6];
	unsigned int nr_entries;
	size_t size;
	u32 hash, i, probes;

	lockdep_assert_held(&bbmchk_lock);

	nr_entries = stack_trace_save(entries, ARRAY_SIZE(entries), 1);
	nr_entries = min(skip_frames(entries, nr_entries, from),
			 BBMCHK_STACK_DEPTH);
	if (!nr_entries)
		return 0;
	size = nr_entries * sizeof(entries[0]);
	hash = jhash(entries, size, 0);

	for (probes = 0; probes < NR_STACKS; probes++) {
		struct stack *stack;

		i = (hash + probes) % NR_STACKS;
		if (!i)
			continue;
		stack = &stacks[i];
		if (!stack->nr_entries) {
			if (bbmchk_stats.stacks >= NR_STACKS / 8 * 7)
				break;
			memcpy(stack->entries, entries, size);
			stack->hash = hash;
			stack->nr_entries = nr_entries;
			bbmchk_stats.stacks++;
			return i;
		}
		if (stack->hash == hash &&
		    stack->nr_entries == nr_entries &&
		    !memcmp(stack->entries, entries, size))
			return i;
	}

	bbmchk_stats.missed_stacks++;
	return 0;
}

unsigned int bbmchk_stack_fetch(u32 handle, const unsigned long **entries)
{
	*entries = stacks[handle].entries;

	return stacks[handle].nr_entries;
}

bool bbmchk_stack_first_report(u32 handle, enum bbmchk_rule rule)
{
	struct stack *stack = &stacks[handle];

	lockdep_assert_held(&bbmchk_lock);
	BUILD_BUG_ON(NR_BBMCHK_RULES > 8 * sizeof(stack->reported));

	if (stack->reported & BIT(rule))
		return false;
	stack->reported |= BIT(rule);

	return true;
}

int __init bbmchk_stacks_init(void)
{
	stacks = memblock_alloc(NR_STACKS * sizeof(*stacks), PAGE_SIZE);

	return stacks ? 0 : -ENOMEM;
}
