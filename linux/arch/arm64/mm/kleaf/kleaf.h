/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private to arch/arm64/mm/kleaf/: leaf geometry and what the files of the
 * engine share with each other and with its KUnit suites.
 */
#ifndef __ARM64_MM_KLEAF_H
#define __ARM64_MM_KLEAF_H

#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pgtable.h>

#include <asm/barrier.h>
#include <asm/kleaf.h>

/*
 * Serialises splits, and holds a split and the change it was made for
 * together: nobody may merge the pieces in between. Nothing is allocated
 * under it, so it may be taken from reclaim. Nests inside cpu_hotplug_lock and
 * mem_hotplug_lock.
 */
extern struct mutex kleaf_lock;

/* Defined by pageattr.c; no header has it. */
extern bool rodata_full;

/**
 * kleaf_kind_size() - bytes that a leaf of a kind maps
 * @kind: the kind
 *
 * Context: Any.
 * Return: the size in bytes.
 */
static inline unsigned long kleaf_kind_size(enum kleaf_kind kind)
{
	switch (kind) {
	case KLEAF_KIND_CONT_PTE:
		return CONT_PTE_SIZE;
	case KLEAF_KIND_PMD:
		return PMD_SIZE;
	case KLEAF_KIND_CONT_PMD:
		return CONT_PMD_SIZE;
	case KLEAF_KIND_PUD:
		return PUD_SIZE;
	default:
		return PAGE_SIZE;
	}
}

/**
 * kleaf_level_size() - bytes that one entry of a table maps
 * @level: level of the table
 *
 * Context: Any.
 * Return: the size in bytes.
 */
static inline unsigned long kleaf_level_size(enum kleaf_level level)
{
	switch (level) {
	case KLEAF_PUD:
		return PUD_SIZE;
	case KLEAF_PMD:
		return PMD_SIZE;
	default:
		return PAGE_SIZE;
	}
}

/**
 * kleaf_kind() - kind of leaf that an entry belongs to
 * @level: level of its table
 * @val: the descriptor, not empty
 *
 * Context: Any.
 * Return: the kind.
 */
static inline enum kleaf_kind kleaf_kind(enum kleaf_level level, u64 val)
{
	bool cont = val & PTE_CONT;

	switch (level) {
	case KLEAF_PUD:
		return KLEAF_KIND_PUD;
	case KLEAF_PMD:
		return cont ? KLEAF_KIND_CONT_PMD : KLEAF_KIND_PMD;
	default:
		return cont ? KLEAF_KIND_CONT_PTE : KLEAF_KIND_PTE;
	}
}

/**
 * kleaf_run_val() - read a descriptor of a run, once
 * @run: the run
 * @i: index of the entry, below @run->nr_entries
 *
 * Context: Callbacks of kleaf_walk().
 * Return: the descriptor.
 */
static inline u64 kleaf_run_val(const struct kleaf_run *run, unsigned int i)
{
	return READ_ONCE(((u64 *)run->entryp)[i]);
}

/**
 * kleaf_set_entry() - store a live descriptor, without barriers
 * @entryp: the descriptor
 * @val: new value
 * @level: level of its table
 *
 * The one place where the engine writes live leaf entries. Where the level is
 * folded the entry lies in swapper_pg_dir, which is read-only: set_pmd() and
 * set_pud() know the way, and bring barriers of their own.
 *
 * Context: kleaf_lock held, or the caller owns the leaf. A DSB ISHST must
 *	follow before the new value is relied on.
 */
static inline void kleaf_set_entry(void *entryp, u64 val,
				   enum kleaf_level level)
{
	switch (level) {
	case KLEAF_PUD:
		if (in_swapper_pgdir(entryp))
			set_pud(entryp, __pud(val));
#if CONFIG_PGTABLE_LEVELS > 2
		else
			__set_pud_nosync(entryp, __pud(val));
#endif
		break;
	case KLEAF_PMD:
		if (in_swapper_pgdir(entryp))
			set_pmd(entryp, __pmd(val));
		else
			__set_pmd_nosync(entryp, __pmd(val));
		break;
	case KLEAF_PTE:
		__set_pte_nosync(entryp, __pte(val));
		break;
	}
}

/**
 * kleaf_in_linear_map() - does an address belong to the linear map?
 * @addr: untagged kernel address; a tagged one would not be found
 *
 * Context: Any.
 * Return: true for [PAGE_OFFSET, PAGE_END).
 */
static inline bool kleaf_in_linear_map(unsigned long addr)
{
	return __is_lm_address(addr);
}

/**
 * kleaf_pte_mapped_for_good() - is a range known never to need a split?
 * @addr: untagged kernel address in the range
 *
 * Users that protect pages from atomic context (debug_pagealloc, KFENCE) had
 * the memory mapped with PTEs beforehand. They must not reach kleaf_lock.
 *
 * Context: Any.
 * Return: true if @addr belongs to such a user.
 */
bool kleaf_pte_mapped_for_good(unsigned long addr);

/* Sorts of table, by size of their leaves and by who frees them. */
enum kleaf_table_sort {
	KLEAF_TABLE_PTE,
	KLEAF_TABLE_PMD_LINEAR,
	KLEAF_TABLE_PMD_VMALLOC,
	NR_KLEAF_TABLE_SORTS,
};

/**
 * struct kleaf_tables - tables allocated before kleaf_lock is taken
 * @table: one table of each sort, or NULL
 * @need: the sort that was found missing
 * @wait: no table was missing, but a CPU is being started
 * @spare: more tables for the linear map, chained through their first word
 */
struct kleaf_tables {
	void *table[NR_KLEAF_TABLE_SORTS];
	enum kleaf_table_sort need;
	bool wait;
	void *spare;
};

/**
 * kleaf_split_retry() - get what a split lacked, if it may be tried again then
 * @ret: what the split returned
 * @tables: in the state that the split left
 *
 * For a loop around the time that kleaf_lock is held. Allocates the table that
 * was missing, or waits for the CPU that was being started.
 *
 * Context: Process context, sleeps. kleaf_lock not held.
 * Return: true if the split should be tried again; else *@ret is the result,
 *	-ENOMEM if it was -EAGAIN.
 */
bool kleaf_split_retry(int *ret, struct kleaf_tables *tables);

/**
 * kleaf_tables_free() - free the tables that no split used
 * @tables: tables, zero-initialised before first use
 *
 * Context: Process context.
 */
void kleaf_tables_free(struct kleaf_tables *tables);

/**
 * kleaf_table_alloc() - allocate one table; the only allocation of the engine
 * @sort: what the table is for
 *
 * Constructors and destructors pair by the path that frees the table. PTE
 * tables have none on 6.12, whoever frees them. A PMD table below the linear
 * map is freed by memory hot-remove, without destructor, so it gets no
 * constructor; one in vmalloc space is freed by pmd_free(), with destructor.
 *
 * Context: Process context, sleeps.
 * Return: the table, or NULL.
 */
void *kleaf_table_alloc(enum kleaf_table_sort sort);

/* The repaint is under way; phase.c. */
bool kleaf_repainting(void);

/**
 * kleaf_assert_locked() - assert that leaves may be split here
 *
 * Context: kleaf_lock held; or the repaint, for which the caller of
 *	stop_machine() holds it while stopper threads run.
 */
static inline void kleaf_assert_locked(void)
{
	lockdep_assert(lockdep_is_held(&kleaf_lock) || kleaf_repainting());
}

/**
 * struct kleaf_range - a range whose attributes are going to change
 * @start: first byte, page aligned, untagged
 * @end: one past the last byte, page aligned, above @start
 * @entryp: set by kleaf_split_locked(): the first entry, if the entries of the
 *	range are all in one table and map nothing else; or NULL
 * @level: level of that table
 *
 * What a split finds is remembered for the change that follows, so that the
 * tables are walked once for both.
 */
struct kleaf_range {
	unsigned long start;
	unsigned long end;
	void *entryp;
	enum kleaf_level level;
};

/**
 * kleaf_split_locked() - kleaf_split() without retries
 * @range: the range; @start and @end are read, the rest is written
 * @tables: tables to use
 *
 * Context: kleaf_lock held. Does not sleep.
 * Return: as kleaf_split(), and -EAGAIN if @tables lacks one or a CPU is being
 *	started: drop the lock and ask kleaf_split_retry().
 */
int kleaf_split_locked(struct kleaf_range *range, struct kleaf_tables *tables);

/**
 * kleaf_is_split() - is a range made of pages, in a table that was just found?
 * @range: the range; @entryp and @level are set if so
 * @near: another range that kleaf_split_locked() found under the same lock
 *
 * Spares the walk where many small ranges lie in one table.
 *
 * Context: kleaf_lock held.
 * Return: true if both ends of @range are leaf boundaries already; false if
 *	only kleaf_split_locked() can tell.
 */
static inline bool kleaf_is_split(struct kleaf_range *range,
				  const struct kleaf_range *near)
{
	u64 *first, *last;

	kleaf_assert_locked();

	if (!near->entryp || near->level != KLEAF_PTE ||
	    ((range->start ^ near->start) & PMD_MASK) ||
	    (((range->end - 1) ^ near->start) & PMD_MASK))
		return false;

	first = (u64 *)near->entryp +
		((long)(range->start - near->start) >> PAGE_SHIFT);
	last = first + ((range->end - range->start) >> PAGE_SHIFT) - 1;
	/* A page that is in no contiguous run is a leaf of its own. */
	if ((READ_ONCE(*first) | READ_ONCE(*last)) & PTE_CONT)
		return false;

	range->entryp = first;
	range->level = KLEAF_PTE;
	return true;
}

/**
 * kleaf_tables_add_spare() - allocate one more table for the linear map
 * @tables: where to add it
 *
 * For who needs many and cannot come back for each.
 *
 * Context: Process context, sleeps.
 * Return: false if there is no memory.
 */
bool kleaf_tables_add_spare(struct kleaf_tables *tables);

/**
 * kleaf_split_to_pages_locked() - kleaf_split_to_pages() without retries
 * @start: first byte, page aligned, untagged
 * @end: one past the last byte, page aligned, above @start
 * @tables: tables to use
 *
 * Context: kleaf_lock held. Does not sleep.
 * Return: as kleaf_split_locked().
 */
int kleaf_split_to_pages_locked(unsigned long start, unsigned long end,
				struct kleaf_tables *tables);

/**
 * struct kleaf_masks - descriptor bits to change
 * @set: bits to set
 * @clear: bits to clear; one that is in both ends up set
 */
struct kleaf_masks {
	u64 set;
	u64 clear;
};

/**
 * kleaf_masks() - the masks that make a change of protection
 * @set_mask: descriptor bits to set
 * @clear_mask: descriptor bits to clear
 *
 * nG means present-invalid while the valid bit is clear, and what
 * arm64_use_ng_mappings says while it is set.
 *
 * Context: Any.
 * Return: the masks.
 */
static inline struct kleaf_masks kleaf_masks(pgprot_t set_mask,
					     pgprot_t clear_mask)
{
	struct kleaf_masks masks = {
		.set = pgprot_val(set_mask),
		.clear = pgprot_val(clear_mask),
	};

	if (masks.set & PTE_VALID) {
		masks.clear |= PTE_PRESENT_INVALID;
		masks.set |= PTE_MAYBE_NG;
	} else if (masks.clear & PTE_VALID) {
		masks.set |= PTE_PRESENT_INVALID;
	}

	return masks;
}

/**
 * kleaf_change_locked() - change attributes of whole leaves, without flush
 * @range: what to change; both ends are leaf boundaries. @entryp is what
 *	kleaf_split_locked() left there under the same lock, or NULL
 * @masks: what to change in each descriptor
 *
 * Context: kleaf_lock held, or the range is PTE-mapped for good, or no other
 *	CPU runs. Does not sleep. A DSB ISHST and an ISB must follow, see
 *	kleaf_change_done().
 * Return: 0; -EINVAL where the range cuts a leaf, which is a bug of the
 *	caller.
 */
int kleaf_change_locked(const struct kleaf_range *range,
			const struct kleaf_masks *masks);

/**
 * kleaf_change_done() - make changed entries visible
 *
 * Context: Any, after the last of some calls of kleaf_change_locked().
 */
static inline void kleaf_change_done(void)
{
	/* The walkers of all CPUs see the stores before anything that follows. */
	dsb(ishst);
	/* So do the accesses of this CPU. */
	isb();
}

/**
 * kleaf_may_split() - may a live leaf be split now?
 *
 * Context: kleaf_lock held.
 * Return: 0, -EBUSY or -EOPNOTSUPP, as kleaf_split() documents; -EAGAIN while a
 *	CPU is started of which it is not known yet whether it fits.
 */
int kleaf_may_split(void);

/**
 * kleaf_wait_for_cpu() - wait until no CPU is being started
 *
 * That takes milliseconds, or five seconds for a CPU that does not answer.
 *
 * Context: Process context, sleeps. kleaf_lock not held.
 */
void kleaf_wait_for_cpu(void);

/**
 * kleaf_account_split() - count one split
 * @addr: address in the leaf
 * @from: kind of the leaf that was split into the next smaller kind
 *
 * Context: Any.
 */
void kleaf_account_split(unsigned long addr, enum kleaf_kind from);

/**
 * kleaf_count_range() - add the bytes that each kind of leaf maps
 * @start: first byte, page aligned, untagged
 * @end: one past the last byte
 * @bytes: array of NR_KLEAF_KINDS counters to add to
 *
 * Context: Any context but NMI.
 * Return: 0 or what kleaf_walk() returns.
 */
int kleaf_count_range(unsigned long start, unsigned long end,
		      unsigned long bytes[NR_KLEAF_KINDS]);

/**
 * kleaf_find_mapped() - how much of a range is mapped in a given way?
 * @start: first byte, page aligned, untagged
 * @end: one past the last byte, page aligned, above @start
 * @prot: the memory type is compared with that of @prot
 *
 * Context: Any context but NMI; nobody unmaps the range meanwhile.
 * Return: the number of bytes that valid leaves map; -EEXIST if there is a leaf
 *	that is invalid or of another memory type; -EINVAL as kleaf_walk().
 */
long kleaf_find_mapped(unsigned long start, unsigned long end, pgprot_t prot);

/**
 * kleaf_directmap_bytes() - bytes of the linear map in leaves of a kind
 * @kind: the kind
 *
 * Context: Any.
 * Return: the counter behind a DirectMap line of /proc/meminfo.
 */
unsigned long kleaf_directmap_bytes(enum kleaf_kind kind);

/* In park.S; runs from the identity map. */
typedef void (kleaf_park_fn)(phys_addr_t flag, phys_addr_t ttbr);
extern kleaf_park_fn idmap_kleaf_park;

/* In arch/arm64/kernel/pi/map_range.c; no header has it. */
void __pi_map_range(u64 *pgd, u64 start, u64 end, u64 pa, pgprot_t prot,
		    int level, pte_t *tbl, bool may_use_cont, u64 va_offset);

/**
 * kleaf_repaint_linear_map() - make the linear map of pages, for CPUs that
 *	cannot split live
 * @tables: as kleaf_repaint_alloc() filled them; the caller frees the rest
 *
 * All CPUs but this one leave the kernel's page tables meanwhile. The linear
 * alias of the kernel image keeps its blocks, as it has them without us.
 *
 * Context: smp_cpus_done(), phase KLEAF_PHASE_REPAINT, cpu_hotplug_lock and,
 *	inside of it, kleaf_lock held. Sleeps, but allocates nothing.
 * Return: 0; an error only if @tables do not suffice, which is a bug.
 */
int kleaf_repaint_linear_map(struct kleaf_tables *tables);

/**
 * kleaf_repaint_alloc() - allocate the tables that a repaint takes
 * @tables: where to put them, zero-initialised
 *
 * Leaves that are split before the repaint make it need fewer.
 *
 * Context: smp_cpus_done(). Sleeps. kleaf_lock not held.
 * Return: 0 or -ENOMEM. The caller frees @tables in either case.
 */
int kleaf_repaint_alloc(struct kleaf_tables *tables);

#ifdef CONFIG_KFENCE
/**
 * kleaf_kfence_pool() - where is the KFENCE pool?
 * @start: set to its first byte in the linear map
 * @end: set to one past the last byte
 *
 * Context: Any.
 * Return: false if there is none.
 */
bool kleaf_kfence_pool(unsigned long *start, unsigned long *end);
#else
static inline bool kleaf_kfence_pool(unsigned long *start, unsigned long *end)
{
	return false;
}
#endif

#endif /* __ARM64_MM_KLEAF_H */
