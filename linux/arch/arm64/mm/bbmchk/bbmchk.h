/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private to arch/arm64/mm/bbmchk/: descriptors, and what the files of the
 * break-before-make checker share with each other and with its KUnit suite.
 */
#ifndef __ARM64_MM_BBMCHK_H
#define __ARM64_MM_BBMCHK_H

#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/pgtable.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>

#include <asm/bbmchk.h>

/* Levels count from the page upwards, as those of the setter hook do. */
#define BBMCHK_NR_LEVELS	5
#define BBMCHK_STACK_DEPTH	12
#define BBMCHK_PTRS		(PAGE_SIZE / sizeof(u64))

/* Enabled while stores are checked. */
DECLARE_STATIC_KEY_FALSE(bbmchk_key);

/* Protects all state of the checker. Innermost: nothing is taken under it. */
extern raw_spinlock_t bbmchk_lock;

/* What differs between two descriptors in a way that needs a break. */
enum bbmchk_why {
	BBMCHK_SAME,
	BBMCHK_ADDR,
	BBMCHK_TYPE,
	BBMCHK_SHARE,
	BBMCHK_GLOBAL,
	BBMCHK_SIZE,
	NR_BBMCHK_WHYS,
};

/* The rules; a report names one of them. */
enum bbmchk_rule {
	/* changed from valid to valid */
	BBMCHK_RULE_NO_BREAK,
	/* made while a TLB may hold what was there before */
	BBMCHK_RULE_NO_FLUSH,
	/* members of a contiguous run disagree */
	BBMCHK_RULE_RUN,
	/* a page that a walk may still use as a table */
	BBMCHK_RULE_FREED_UNFLUSHED,
	/* a page that a table descriptor still points to */
	BBMCHK_RULE_FREED_LINKED,
	NR_BBMCHK_RULES,
};

/**
 * bbmchk_shift() - log2 of the bytes that one entry of a table maps
 * @level: level of the table
 *
 * Context: Any.
 * Return: the shift.
 */
static inline unsigned int bbmchk_shift(unsigned int level)
{
	return PAGE_SHIFT + level * (PAGE_SHIFT - 3);
}

/**
 * bbmchk_size() - bytes that one entry of a table maps
 * @level: level of the table
 *
 * Context: Any.
 * Return: the size in bytes.
 */
static inline unsigned long bbmchk_size(unsigned int level)
{
	return 1UL << bbmchk_shift(level);
}

static inline bool bbmchk_valid(u64 desc)
{
	return desc & PTE_VALID;
}

static inline bool bbmchk_is_table(u64 desc, unsigned int level)
{
	return level && (desc & PMD_TYPE_MASK) == PMD_TYPE_TABLE;
}

static inline bool bbmchk_is_leaf(u64 desc, unsigned int level)
{
	return bbmchk_valid(desc) && !bbmchk_is_table(desc, level);
}

static inline phys_addr_t bbmchk_phys(u64 desc)
{
	return __pte_to_phys(__pte(desc));
}

static inline unsigned long bbmchk_child_pfn(u64 desc)
{
	return bbmchk_phys(desc) >> PAGE_SHIFT;
}

/**
 * bbmchk_table() - the linear alias of a table
 * @pfn: page frame of the table
 *
 * Context: Any.
 * Return: its first entry.
 */
static inline u64 *bbmchk_table(unsigned long pfn)
{
	return __va(PFN_PHYS(pfn));
}

/* rules.c */

/**
 * bbmchk_compare() - compare two leaves of the same size
 * @old: a leaf descriptor that a TLB may hold
 * @new: the leaf descriptor that takes its place
 * @level: level of both
 *
 * Says nothing about permissions, access flag, dirty state and software bits:
 * those need no break.
 *
 * Context: Any.
 * Return: the gravest difference.
 */
enum bbmchk_why bbmchk_compare(u64 old, u64 new, unsigned int level);

/**
 * bbmchk_needs_break() - is break-before-make required for a change?
 * @why: what differs
 * @bbm: level of the system, 0 to 2
 *
 * Context: Any.
 * Return: true if so.
 */
bool bbmchk_needs_break(enum bbmchk_why why, unsigned int bbm);

/**
 * bbmchk_sub() - the part of a leaf that one entry of a lower level maps
 * @leaf: the leaf descriptor
 * @level: its level
 * @sub: the lower level
 * @offset: of the part in the leaf, in bytes
 *
 * Context: Any.
 * Return: a descriptor for bbmchk_compare() at level @sub.
 */
u64 bbmchk_sub(u64 leaf, unsigned int level, unsigned int sub,
	       unsigned long offset);

/**
 * bbmchk_same_contents() - do two leaves show the same read-only contents?
 * @old: first leaf descriptor
 * @new: second leaf descriptor
 * @level: level of both
 *
 * Context: Any.
 * Return: true if neither can be written and all bytes are equal. False if
 *	that cannot be found out.
 */
bool bbmchk_same_contents(u64 old, u64 new, unsigned int level);

/**
 * bbmchk_bbm_level() - BBM level that a change of an address may rely on
 * @va: the address
 *
 * Context: bbmchk_lock held.
 * Return: 2 if sizes may change without break and without any conflict abort,
 *	else 0.
 */
unsigned int bbmchk_bbm_level(unsigned long va);

/* tables.c */

/**
 * struct bbmchk_place - where a descriptor lies in the kernel's tables
 * @va: first byte that it maps
 * @table: linear alias of its table
 * @index: of the entry in the table
 * @level: of the table
 */
struct bbmchk_place {
	unsigned long va;
	u64 *table;
	unsigned int index;
	unsigned int level;
};

int __init bbmchk_tables_init(void);

/**
 * bbmchk_entry_pfn() - page frame that holds a descriptor
 * @entryp: as the setter was given it: linear map, image or fixmap
 *
 * Context: Any.
 * Return: the frame, or 0 for an address that holds no kernel table.
 */
unsigned long bbmchk_entry_pfn(const void *entryp);

/**
 * bbmchk_is_kernel_table() - may a page be a table of init_mm?
 * @pfn: page frame
 *
 * Context: Any, without lock. Who writes to a table or frees a page knows that
 *	the answer for that page does not change meanwhile.
 * Return: false if it is none.
 */
bool bbmchk_is_kernel_table(unsigned long pfn);

/**
 * bbmchk_find_place() - place of a descriptor
 * @place: result
 * @entryp: the descriptor
 * @pfn: page frame that holds it
 *
 * Context: bbmchk_lock held.
 * Return: false if the page is no table of init_mm, or is one for several
 *	addresses (the early shadow of KASAN).
 */
bool bbmchk_find_place(struct bbmchk_place *place, const void *entryp,
		       unsigned long pfn);

/**
 * bbmchk_link() - a table descriptor is about to be stored in a kernel table
 * @desc: the descriptor
 * @va: first byte that it maps
 * @level: level of the entry, not of the table that it points to
 *
 * The table and all below it become kernel tables.
 *
 * Context: bbmchk_lock held.
 */
void bbmchk_link(u64 desc, unsigned long va, unsigned int level);

/**
 * bbmchk_unlink() - a table descriptor is about to be removed
 * @desc: the descriptor
 * @va: first byte that it maps
 * @level: level of the entry
 *
 * Context: bbmchk_lock held.
 */
void bbmchk_unlink(u64 desc, unsigned long va, unsigned int level);

/* stale.c */

/**
 * struct bbmchk_stale - a descriptor that a TLB may still hold
 * @node: in the tree, ordered by @va, then @level
 * @tables: in the list of removed table descriptors
 * @va: first byte that it mapped
 * @start: table: first byte whose leaves may be cached
 * @end: table: one past the last such byte; equal to @start if none
 * @desc: the descriptor that was there before the break; after a legal change
 *	from table to leaf, the leaf, which translates as the table did
 * @table: the table descriptor that was removed, 0 if it was a leaf
 * @born: tickets up to this one do not cover it
 * @stack: of the break
 * @level: its level
 * @walk: table: the descriptor itself may be cached
 */
struct bbmchk_stale {
	struct rb_node node;
	struct list_head tables;
	unsigned long va;
	unsigned long start;
	unsigned long end;
	u64 desc;
	u64 table;
	u64 born;
	u32 stack;
	u8 level;
	bool walk;
};

int __init bbmchk_stale_init(void);

/**
 * bbmchk_stale_find() - the record of exactly this entry
 * @va: first byte that the entry maps
 * @level: its level
 *
 * Context: bbmchk_lock held.
 * Return: the record, or NULL.
 */
struct bbmchk_stale *bbmchk_stale_find(unsigned long va, unsigned int level);

/**
 * bbmchk_stale_first() - first record at or above an address
 * @va: the address
 *
 * Context: bbmchk_lock held.
 * Return: the record, or NULL.
 */
struct bbmchk_stale *bbmchk_stale_first(unsigned long va);

/**
 * bbmchk_stale_next() - the record after another
 * @stale: the other
 *
 * Context: bbmchk_lock held.
 * Return: the record, or NULL.
 */
struct bbmchk_stale *bbmchk_stale_next(struct bbmchk_stale *stale);

/**
 * bbmchk_stale_add() - remember a descriptor that is about to go
 * @desc: what it translates, for comparison with what takes its place
 * @table: the descriptor itself if it is one of a table, else 0
 * @va: first byte that it maps
 * @level: its level
 * @leaves: table: there were valid leaves below it
 * @stack: of the change
 *
 * If there is a record of a leaf already, that one is older and stays. Only a
 * flush that begins after now covers the record.
 *
 * Context: bbmchk_lock held.
 */
void bbmchk_stale_add(u64 desc, u64 table, unsigned long va,
		      unsigned int level, bool leaves, u32 stack);

/**
 * bbmchk_stale_drop() - forget a record
 * @stale: the record
 *
 * Context: bbmchk_lock held.
 */
void bbmchk_stale_drop(struct bbmchk_stale *stale);

/**
 * bbmchk_stale_flush() - forget what a completed invalidation covered
 * @ticket: of the invalidation
 * @start: first byte
 * @last: last byte, inclusive
 * @last_level: copies of table descriptors stay
 *
 * Context: bbmchk_lock held.
 */
void bbmchk_stale_flush(u64 ticket, unsigned long start, unsigned long last,
			bool last_level);

/**
 * bbmchk_stale_table() - record of a removed descriptor that points to a page
 * @pfn: page frame
 * @nr_pages: number of pages
 *
 * Context: bbmchk_lock held.
 * Return: the record, or NULL if none may be cached any more.
 */
struct bbmchk_stale *bbmchk_stale_table(unsigned long pfn,
					unsigned long nr_pages);

/**
 * bbmchk_tables_removed() - is there any removed table descriptor?
 *
 * Context: Any; a hint without bbmchk_lock, but certain for who removed one.
 * Return: true if so.
 */
bool bbmchk_tables_removed(void);

/**
 * bbmchk_stale_levels() - levels of the records that exist
 *
 * Context: bbmchk_lock held.
 * Return: a bit for each level.
 */
unsigned int bbmchk_stale_levels(void);

/* compare.c */

/**
 * bbmchk_compare_entry() - compare two valid descriptors of one entry
 * @old: the one that was there
 * @new: the one that takes its place
 * @level: level of both
 * @holes: set to true if a table of the two has entries that are not valid
 *
 * Context: bbmchk_lock held.
 * Return: the gravest difference between what they translate.
 */
enum bbmchk_why bbmchk_compare_entry(u64 old, u64 new, unsigned int level,
				     bool *holes);

/**
 * bbmchk_compare_stale() - compare what a TLB may hold with what is stored
 * @stale: what a TLB may hold
 * @new: the descriptor that is stored, valid
 * @va: first byte that it maps
 * @level: its level
 * @bbm: BBM level
 *
 * Context: bbmchk_lock held.
 * Return: the gravest difference where both translate the same addresses.
 */
enum bbmchk_why bbmchk_compare_stale(const struct bbmchk_stale *stale, u64 new,
				     unsigned long va, unsigned int level,
				     unsigned int bbm);

/* runs.c */

/**
 * struct bbmchk_run - a contiguous run that somebody is changing
 * @place: of its first entry
 * @task: who is changing it; NULL: slot is free
 * @context: and in what: the task itself, or an interrupt on top of it
 * @stack: of the first store
 */
struct bbmchk_run {
	struct bbmchk_place place;
	const struct task_struct *task;
	u8 context;
	u32 stack;
};

/**
 * bbmchk_run_length() - number of entries in a contiguous run
 * @level: level of the entries
 *
 * Context: Any.
 * Return: the number; 1 where the kernel uses no runs.
 */
static inline unsigned int bbmchk_run_length(unsigned int level)
{
	switch (level) {
	case 0:
		return CONT_PTES;
	case 1:
		return CONT_PMDS;
	default:
		return 1;
	}
}

/**
 * bbmchk_run_touch() - an entry of a contiguous run is about to be stored
 * @place: of the entry
 *
 * Context: bbmchk_lock held.
 * Return: the run; without a stack if the change begins with this store.
 */
struct bbmchk_run *bbmchk_run_touch(const struct bbmchk_place *place);

/**
 * bbmchk_run_moved_on() - is there a run that this context left behind?
 * @place: of the entry that it stores now
 * @run: filled in if so
 * @index: set to the first member that disagrees
 *
 * Context: bbmchk_lock held. Call again until it returns false.
 * Return: true if a run was left whose members are not one translation.
 */
bool bbmchk_run_moved_on(const struct bbmchk_place *place,
			 struct bbmchk_run *run, unsigned int *index);

/**
 * bbmchk_run_flushed() - is there an inconsistent run that this context flushed?
 * @start: first byte of the flush
 * @last: last byte, inclusive
 * @run: filled in if so
 * @index: set to the first member that disagrees
 *
 * Context: bbmchk_lock held. Call again until it returns false.
 * Return: true if a run was flushed whose members disagree in anything.
 */
bool bbmchk_run_flushed(unsigned long start, unsigned long last,
			struct bbmchk_run *run, unsigned int *index);

/**
 * bbmchk_run_in_table() - is there an inconsistent run in a table?
 * @first: its first entry
 * @run: the run, if there is one
 * @index: the first member that disagrees
 *
 * For a table that is linked with entries in it, all of which are in place.
 *
 * Context: bbmchk_lock held.
 * Return: true if there is.
 */
bool bbmchk_run_in_table(const struct bbmchk_place *first,
			 struct bbmchk_run *run, unsigned int *index);

/**
 * bbmchk_run_forget() - a table is about to be unlinked: drop its runs
 * @table: linear alias of the table
 *
 * Context: bbmchk_lock held.
 */
void bbmchk_run_forget(const u64 *table);

/**
 * bbmchk_runs_open() - are there runs at all?
 *
 * Context: Any; a hint without bbmchk_lock.
 * Return: true if so.
 */
bool bbmchk_runs_open(void);

/* stacks.c */

int __init bbmchk_stacks_init(void);

/**
 * bbmchk_stack_save() - store the stack of this call, or find it if it is known
 * @from: outermost return address to leave out
 *
 * Context: bbmchk_lock held.
 * Return: handle, 0 if there is no room.
 */
u32 bbmchk_stack_save(unsigned long from);

/**
 * bbmchk_stack_fetch() - get a stored stack
 * @handle: from bbmchk_stack_save()
 * @entries: set to the return addresses
 *
 * Context: Any. Stacks are never changed or freed.
 * Return: number of entries, 0 for handle 0.
 */
unsigned int bbmchk_stack_fetch(u32 handle, const unsigned long **entries);

/**
 * bbmchk_stack_first_report() - is this the first report of a rule from here?
 * @handle: stack of the offender
 * @rule: the rule
 *
 * Context: bbmchk_lock held.
 * Return: true the first time.
 */
bool bbmchk_stack_first_report(u32 handle, enum bbmchk_rule rule);

/* report.c */

/**
 * struct bbmchk_report - one violation
 * @rule: the rule
 * @why: what differs
 * @va: first byte that the offending entry maps
 * @old_va: first byte that @old mapped
 * @old: descriptor that was there, or may still be cached
 * @new: descriptor that is stored
 * @level: level of @new
 * @old_level: level of @old
 * @bbm: BBM level that was assumed
 * @write: stack of the offending store, free or flush
 * @broke: stack of the break, 0 if there was none
 */
struct bbmchk_report {
	enum bbmchk_rule rule;
	enum bbmchk_why why;
	unsigned long va;
	unsigned long old_va;
	u64 old;
	u64 new;
	u8 level;
	u8 old_level;
	u8 bbm;
	u32 write;
	u32 broke;
};

enum bbmchk_mode {
	BBMCHK_OFF,
	BBMCHK_REPORT,
	BBMCHK_PANIC,
};

enum bbmchk_mode bbmchk_get_mode(void);

/**
 * bbmchk_report_wanted() - count a violation; shall it be printed?
 * @report: the violation
 *
 * Context: bbmchk_lock held.
 * Return: true for the first one of a site.
 */
bool bbmchk_report_wanted(const struct bbmchk_report *report);

/**
 * bbmchk_report_print() - print a report, and panic if that was asked for
 * @report: a wanted one
 *
 * Context: Any. bbmchk_lock not held.
 */
void bbmchk_report_print(const struct bbmchk_report *report);

extern const char *const bbmchk_rule_names[NR_BBMCHK_RULES];

#if IS_ENABLED(CONFIG_KUNIT)
/**
 * struct bbmchk_sink - takes the reports of a range of addresses
 * @start: first byte
 * @end: one past the last byte
 * @bbm: BBM level to assume for the range; negative: that of the system
 * @report: called for each violation, also repeated ones, bbmchk_lock held
 * @data: for @report
 */
struct bbmchk_sink {
	unsigned long start;
	unsigned long end;
	int bbm;
	void (*report)(const struct bbmchk_report *report, void *data);
	void *data;
};

/**
 * bbmchk_set_sink() - divert the reports of a range
 * @sink: where to, or NULL to end it
 *
 * Context: Any. One sink at a time.
 */
void bbmchk_set_sink(const struct bbmchk_sink *sink);
#endif

/**
 * bbmchk_sink_level() - BBM level that a test wants for an address
 * @va: the address
 *
 * Context: bbmchk_lock held.
 * Return: the level, negative if no test does.
 */
int bbmchk_sink_level(unsigned long va);

/* stats.c */

/**
 * struct bbmchk_stats - counters, written under bbmchk_lock
 * @stores: stores to kernel tables
 * @breaks: of those, breaks that were remembered
 * @makes: stores of a valid descriptor where something may have been cached
 * @resizes: changes of size without break, as the BBM level allows
 * @flushes: broadcast invalidations seen
 * @tables: kernel tables known
 * @stale: descriptors that may be cached now
 * @stale_max: the most there have been
 * @stacks: stacks stored
 * @missed_breaks: not remembered, no room
 * @missed_tables: tables not known, no room
 * @missed_stacks: stacks not stored, no room
 * @missed_runs: contiguous runs not watched to the end, no room
 * @missed_shared: stores to a table that maps several addresses
 * @missed_nmi: stores and flushes in NMI context
 * @violations: by rule, repeated ones included
 */
struct bbmchk_stats {
	u64 stores;
	u64 breaks;
	u64 makes;
	u64 resizes;
	u64 flushes;
	u64 tables;
	u64 stale;
	u64 stale_max;
	u64 stacks;
	u64 missed_breaks;
	u64 missed_tables;
	u64 missed_stacks;
	u64 missed_runs;
	u64 missed_shared;
	u64 missed_nmi;
	u64 violations[NR_BBMCHK_RULES];
};

extern struct bbmchk_stats bbmchk_stats;

#endif /* __ARM64_MM_BBMCHK_H */
