// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checker proper: looks at each store to a kernel table, each broadcast
 * invalidation and each page that is freed, and compares with the rules.
 *
 * Invariants:
 *  I1 (always). A store is looked at before it happens. The old descriptor is
 *      what memory holds, so stores that nobody announced (assembly, early
 *      boot) are forgiven but not believed.
 *  I2 (always). One violation is found per event, and what it was found with is
 *      forgotten, so that one mistake does not cause a flood.
 *  I3 (always). Nothing is allocated, and no lock is taken but bbmchk_lock.
 *
 * Locking: bbmchk_lock around each event; reports are printed without it. The
 *   caller's own locking keeps two CPUs from storing to one entry.
 * TLB and barriers: none of its own; it watches those of others.
 * Failure: what does not fit into its tables is counted as missed.
 * See: Documentation/arch/arm64/bbm-check.rst
 */

#define pr_fmt(fmt) "bbm_check: " fmt

#include <linux/gfp.h>
#include <linux/hardirq.h>

#include <asm/pgtable-hook.h>

#include "bbmchk.h"

DEFINE_STATIC_KEY_FALSE(bbmchk_key);

DEFINE_RAW_SPINLOCK(bbmchk_lock);

/**
 * struct store - one store to a kernel table
 * @place: where
 * @old: what memory holds
 * @new: what is stored
 * @bbm: BBM level
 * @from: return address into whoever called the checker
 * @stack: of the store, once something asked for it
 */
struct store {
	struct bbmchk_place place;
	u64 old;
	u64 new;
	unsigned int bbm;
	unsigned long from;
	u32 stack;
};

/* Unwinding takes most of the time, and most stores need none. */
static u32 store_stack(struct store *store)
{
	if (!store->stack)
		store->stack = bbmchk_stack_save(store->from);

	return store->stack;
}

static bool fill_report(struct bbmchk_report *report,
			struct store *store, enum bbmchk_rule rule,
			enum bbmchk_why why)
{
	*report = (struct bbmchk_report) {
		.rule = rule,
		.why = why,
		.va = store->place.va,
		.old_va = store->place.va,
		.old = store->old,
		.new = store->new,
		.level = store->place.level,
		.old_level = store->place.level,
		.bbm = store->bbm,
		.write = store_stack(store),
	};

	return true;
}

static bool has_valid_leaf(u64 desc, unsigned int level)
{
	const u64 *table = bbmchk_table(bbmchk_child_pfn(desc));
	unsigned int i;

	for (i = 0; i < BBMCHK_PTRS; i++) {
		u64 entry = READ_ONCE(table[i]);

		if (bbmchk_is_leaf(entry, level - 1))
			return true;
		if (bbmchk_is_table(entry, level - 1) &&
		    has_valid_leaf(entry, level - 1))
			return true;
	}

	return false;
}

/**
 * struct removal - of a table, and of the tables below it, which go with it
 * @leaf: the leaf that takes its place and translates the same; 0: none does
 * @level: level of @leaf
 * @va: first byte that @leaf maps
 * @stack: of the store
 */
struct removal {
	u64 leaf;
	unsigned int level;
	unsigned long va;
	u32 stack;
};

static void break_table(const struct removal *removal, u64 table,
			unsigned long va, unsigned int level)
{
	const u64 *entries = bbmchk_table(bbmchk_child_pfn(table));
	unsigned int i, sub = level - 1;
	u64 desc = table;

	if (removal->leaf)
		desc = bbmchk_sub(removal->leaf, removal->level, level,
				  va - removal->va);
	bbmchk_stale_add(desc, table, va, level, has_valid_leaf(table, level),
			 removal->stack);

	for (i = 0; sub && i < BBMCHK_PTRS; i++)
		if (bbmchk_is_table(READ_ONCE(entries[i]), sub))
			break_table(removal, entries[i],
				    va + i * bbmchk_size(sub), sub);
}

/*
 * A valid descriptor gives way to a valid one: is that legal without a break?
 */
static bool check_live(struct store *store, struct bbmchk_report *report,
		       bool *holes)
{
	enum bbmchk_why why = bbmchk_compare_entry(store->old, store->new,
						   store->place.level, holes);

	if (bbmchk_needs_break(why, store->bbm))
		return fill_report(report, store, BBMCHK_RULE_NO_BREAK, why);
	if (why == BBMCHK_SIZE)
		bbmchk_stats.resizes++;

	return false;
}

/* Does a table descriptor go, or point to another table? */
static bool removes_table(const struct store *store)
{
	unsigned int level = store->place.level;

	return bbmchk_is_table(store->old, level) &&
		(!bbmchk_is_table(store->new, level) ||
		 bbmchk_child_pfn(store->old) != bbmchk_child_pfn(store->new));
}

/*
 * Remember what goes. Where a leaf takes the place of a table, legally or not,
 * that is remembered as well: the table's leaves are not covered by a flush of
 * any one address of the leaf that replaces them.
 */
static void remember_old(struct store *store, bool holes)
{
	const struct bbmchk_place *place = &store->place;
	unsigned int level = place->level;

	if (removes_table(store)) {
		struct removal removal = {
			.leaf = bbmchk_is_leaf(store->new, level) ?
				store->new : 0,
			.level = level,
			.va = place->va,
			.stack = store_stack(store),
		};

		break_table(&removal, store->old, place->va, level);
	} else if (bbmchk_is_leaf(store->old, level) &&
		   (!bbmchk_valid(store->new) || holes)) {
		/* A table with a hole in place of a leaf breaks that part. */
		bbmchk_stale_add(store->old, 0, place->va, level, false,
				 store_stack(store));
	}
}

static bool report_stale(struct store *store, struct bbmchk_stale *stale,
			 struct bbmchk_report *report)
{
	enum bbmchk_why why = bbmchk_compare_stale(stale, store->new,
						   store->place.va,
						   store->place.level,
						   store->bbm);

	if (!bbmchk_needs_break(why, store->bbm))
		return false;

	fill_report(report, store, BBMCHK_RULE_NO_FLUSH, why);
	report->old_va = stale->va;
	report->old = stale->desc;
	report->old_level = stale->level;
	report->broke = stale->stack;
	/* Said once is enough; what is below or beside follows from it. */
	bbmchk_stale_drop(stale);

	return true;
}

/* A valid descriptor is stored: may a TLB hold something that contradicts it? */
static bool check_stale(struct store *store, struct bbmchk_report *report)
{
	const struct bbmchk_place *place = &store->place;
	unsigned long last = place->va + bbmchk_size(place->level) - 1;
	unsigned int levels = bbmchk_stale_levels();
	struct bbmchk_stale *stale, *next;
	unsigned int level;

	if (!levels)
		return false;
	bbmchk_stats.makes++;

	for (level = place->level; level < BBMCHK_NR_LEVELS; level++) {
		if (!(levels & BIT(level)))
			continue;
		stale = bbmchk_stale_find(ALIGN_DOWN(place->va,
						     bbmchk_size(level)), level);
		if (stale && report_stale(store, stale, report))
			return true;
	}

	if (!place->level)
		return false;

	for (stale = bbmchk_stale_first(place->va);
	     stale && stale->va <= last; stale = next) {
		next = bbmchk_stale_next(stale);
		if (stale->level < place->level &&
		    report_stale(store, stale, report))
			return true;
	}

	return false;
}

/* Describe a run whose members disagree, @index being the first that does. */
static void fill_run_report(struct bbmchk_report *report,
			    const struct bbmchk_run *run, unsigned int index,
			    enum bbmchk_why why)
{
	const struct bbmchk_place *first = &run->place;

	*report = (struct bbmchk_report) {
		.rule = BBMCHK_RULE_RUN,
		.why = why,
		.va = first->va + index * bbmchk_size(first->level),
		.old_va = first->va,
		.old = READ_ONCE(first->table[first->index]),
		.new = READ_ONCE(first->table[first->index + index]),
		.level = first->level,
		.old_level = first->level,
		.bbm = bbmchk_bbm_level(first->va),
		.write = run->stack,
		.broke = run->stack,
	};
}

static bool check_runs(struct store *store, struct bbmchk_report *report)
{
	struct bbmchk_run run;
	unsigned int index;

	if (!bbmchk_run_moved_on(&store->place, &run, &index))
		return false;

	fill_run_report(report, &run, index, BBMCHK_SIZE);

	return true;
}

/* A table is linked with entries in it. */
static bool check_linked_runs(struct store *store, struct bbmchk_report *report)
{
	const struct bbmchk_place *place = &store->place;
	const struct bbmchk_place first = {
		.table = bbmchk_table(bbmchk_child_pfn(store->new)),
		.va = place->va,
		.level = place->level - 1,
	};
	struct bbmchk_run run;
	unsigned int index;

	if (!bbmchk_run_in_table(&first, &run, &index))
		return false;

	run.stack = store_stack(store);
	fill_run_report(report, &run, index, BBMCHK_SIZE);

	return true;
}

/* All rules but those for runs that were changed, and the state afterwards. */
static bool check_store(struct store *store, struct bbmchk_report *report)
{
	const struct bbmchk_place *place = &store->place;
	unsigned int level = place->level;
	u64 old = store->old, new = store->new;
	bool found = false, holes = false;
	struct bbmchk_run *run;

	/* What was stale before; what this store makes stale comes after. */
	if (bbmchk_valid(new))
		found = check_stale(store, report);
	if (!found && bbmchk_valid(old) && bbmchk_valid(new))
		found = check_live(store, report, &holes);
	if (bbmchk_valid(old))
		remember_old(store, holes);

	if (removes_table(store))
		bbmchk_unlink(old, place->va, level);
	if (bbmchk_is_table(new, level)) {
		bbmchk_link(new, place->va, level);
		found = found || check_linked_runs(store, report);
	}

	if (bbmchk_run_length(level) > 1 &&
	    ((bbmchk_is_leaf(old, level) && (old & PTE_CONT)) ||
	     (bbmchk_is_leaf(new, level) && (new & PTE_CONT)))) {
		run = bbmchk_run_touch(place);
		if (!run->stack)
			run->stack = store_stack(store);
	}

	return found;
}

/*
 * Called before each store to a descriptor. The level that the setter knows is
 * of no use, as levels may be folded at run time.
 */
static noinline void check_hook(void *entryp, u64 new,
				enum pgtable_hook_level level)
{
	unsigned long pfn = bbmchk_entry_pfn(entryp);
	struct bbmchk_report reports[2];
	unsigned int i, nr_reports = 0;
	unsigned long flags;
	struct store store = { .new = new, .from = _RET_IP_ };

	if (!pfn || !bbmchk_is_kernel_table(pfn))
		return;
	if (in_nmi()) {
		bbmchk_stats.missed_nmi++;
		return;
	}

	store.old = READ_ONCE(*(u64 *)entryp);

	raw_spin_lock_irqsave(&bbmchk_lock, flags);
	bbmchk_stats.stores++;
	if (bbmchk_find_place(&store.place, entryp, pfn)) {
		store.bbm = bbmchk_bbm_level(store.place.va);
		if (check_runs(&store, &reports[0]) &&
		    bbmchk_report_wanted(&reports[0]))
			nr_reports++;
		if (check_store(&store, &reports[nr_reports]) &&
		    bbmchk_report_wanted(&reports[nr_reports]))
			nr_reports++;
	}
	raw_spin_unlock_irqrestore(&bbmchk_lock, flags);

	for (i = 0; i < nr_reports; i++)
		bbmchk_report_print(&reports[i]);
}

/* A run that was flushed by who changed it, and does not agree. */
static bool check_flushed_runs(unsigned long start, unsigned long last,
			       struct bbmchk_report *report)
{
	struct bbmchk_run run;
	unsigned int index;

	while (bbmchk_run_flushed(start, last, &run, &index)) {
		fill_run_report(report, &run, index, BBMCHK_SAME);
		if (bbmchk_report_wanted(report))
			return true;
	}

	return false;
}

void bbmchk_flush_end(u64 ticket, enum bbmchk_flush what, unsigned long start,
		      unsigned long end)
{
	struct bbmchk_report report;
	unsigned long nr_pages, flags;
	bool wanted = false;

	if (!static_branch_unlikely(&bbmchk_key))
		return;
	if (in_nmi()) {
		bbmchk_stats.missed_nmi++;
		return;
	}

	/* A TLBI has no room for the tag of an address. */
	start = __tag_reset(start);
	end = __tag_reset(end);

	switch (what) {
	case BBMCHK_FLUSH_ALL:
		start = 0;
		end = ULONG_MAX;
		break;
	case BBMCHK_FLUSH_LEAVES:
		/*
		 * The helper drops the low 12 bits of both ends and steps by
		 * pages in between, so the page that an unaligned end lies in
		 * is not flushed.
		 */
		nr_pages = DIV_ROUND_UP((end >> 12) - (start >> 12),
					PAGE_SIZE >> 12);
		start &= PAGE_MASK;
		end = start + nr_pages * PAGE_SIZE - 1;
		if (!nr_pages)
			return;
		break;
	case BBMCHK_FLUSH_WALK:
		start &= PAGE_MASK;
		end = start + PAGE_SIZE - 1;
		break;
	}

	raw_spin_lock_irqsave(&bbmchk_lock, flags);
	bbmchk_stats.flushes++;
	bbmchk_stale_flush(ticket, start, end, what == BBMCHK_FLUSH_LEAVES);
	if (bbmchk_runs_open())
		wanted = check_flushed_runs(start, end, &report);
	raw_spin_unlock_irqrestore(&bbmchk_lock, flags);

	if (wanted)
		bbmchk_report_print(&report);
}
EXPORT_SYMBOL_GPL(bbmchk_flush_end);

/* Is a page that is being freed still a table for somebody? */
static bool check_free(unsigned long pfn, unsigned long nr_pages,
		       unsigned long from, struct bbmchk_report *report)
{
	struct bbmchk_stale *stale;
	struct bbmchk_place place;
	unsigned long i;

	for (i = 0; i < nr_pages; i++) {
		if (!bbmchk_is_kernel_table(pfn + i) ||
		    !bbmchk_find_place(&place, bbmchk_table(pfn + i), pfn + i))
			continue;
		*report = (struct bbmchk_report) {
			.rule = BBMCHK_RULE_FREED_LINKED,
			.va = place.va,
			.old_va = place.va,
			.level = place.level,
			.old_level = place.level + 1,
			.old = __phys_to_pmd_val(PFN_PHYS(pfn + i)) |
				PMD_TYPE_TABLE,
			.bbm = bbmchk_bbm_level(place.va),
			.write = bbmchk_stack_save(from),
		};
		bbmchk_unlink(report->old, place.va, place.level + 1);
		return true;
	}

	stale = bbmchk_stale_table(pfn, nr_pages);
	if (!stale)
		return false;

	*report = (struct bbmchk_report) {
		.rule = BBMCHK_RULE_FREED_UNFLUSHED,
		.va = stale->va,
		.old_va = stale->va,
		.level = stale->level,
		.old_level = stale->level,
		.old = stale->desc,
		.bbm = bbmchk_bbm_level(stale->va),
		.write = bbmchk_stack_save(from),
		.broke = stale->stack,
	};
	bbmchk_stale_drop(stale);

	return true;
}

/* Cheaply: may there be anything to say about these pages? */
static bool may_be_table(unsigned long pfn, unsigned long nr_pages)
{
	unsigned long i, flags;
	bool found = false;

	if (bbmchk_tables_removed()) {
		raw_spin_lock_irqsave(&bbmchk_lock, flags);
		found = bbmchk_stale_table(pfn, nr_pages);
		raw_spin_unlock_irqrestore(&bbmchk_lock, flags);
	}
	for (i = 0; !found && i < nr_pages; i++)
		found = bbmchk_is_kernel_table(pfn + i);

	return found;
}

/**
 * arch_free_page() - look at pages that go back to the page allocator
 * @page: first page
 * @order: log2 of their number
 *
 * Context: Any but NMI.
 */
void arch_free_page(struct page *page, int order)
{
	unsigned long pfn = page_to_pfn(page);
	struct bbmchk_report report;
	unsigned long flags;
	bool wanted;

	if (!static_branch_unlikely(&bbmchk_key) || in_nmi() ||
	    !may_be_table(pfn, 1UL << order))
		return;

	raw_spin_lock_irqsave(&bbmchk_lock, flags);
	wanted = check_free(pfn, 1UL << order, _RET_IP_, &report) &&
		bbmchk_report_wanted(&report);
	raw_spin_unlock_irqrestore(&bbmchk_lock, flags);

	if (wanted)
		bbmchk_report_print(&report);
}

static struct pgtable_hook hook = {
	.store = check_hook,
};

void __init bbmchk_init(void)
{
	if (bbmchk_get_mode() == BBMCHK_OFF)
		return;

	if (bbmchk_stacks_init() || bbmchk_stale_init() ||
	    bbmchk_tables_init()) {
		pr_warn("no memory, kernel page tables are not checked\n");
		return;
	}

	/*
	 * Flushes first: to switch on a hook is to patch code, which maps and
	 * unmaps a page for each place.
	 */
	static_branch_enable(&bbmchk_key);
	pgtable_hook_register(&hook);
	pr_info("checking kernel page tables, %llu tables known%s\n",
		bbmchk_stats.tables,
		bbmchk_get_mode() == BBMCHK_PANIC ? ", panic on violation" : "");
}
