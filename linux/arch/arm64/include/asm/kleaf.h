/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Leaf entries of the kernel's own page tables: walk, split, change.
 *
 * A leaf is a valid or present-invalid descriptor that maps memory. Its kinds
 * are, smallest to largest, PTE, CONT_PTE (a run of PTEs with the contiguous
 * bit), PMD block, CONT_PMD and PUD block; PUD blocks exist with 4K pages
 * only. All code that walks, splits or changes leaves of init_mm goes through
 * this interface.
 *
 * See Documentation/arch/arm64/kernel-leaves.rst.
 */
#ifndef __ASM_KLEAF_H
#define __ASM_KLEAF_H

#include <linux/mm_types.h>
#include <linux/types.h>

#include <asm/pgtable-prot.h>
#include <asm/set_memory.h>

struct vm_struct;

enum kleaf_level {
	KLEAF_PTE,
	KLEAF_PMD,
	KLEAF_PUD,
};

enum kleaf_kind {
	KLEAF_KIND_PTE,
	KLEAF_KIND_CONT_PTE,
	KLEAF_KIND_PMD,
	KLEAF_KIND_CONT_PMD,
	KLEAF_KIND_PUD,
	NR_KLEAF_KINDS,
};

/**
 * struct kleaf_run - neighbouring leaf entries in one table
 * @addr: virtual address that the first entry maps, aligned to its size
 * @entryp: the first entry; read it through kleaf_run_val()
 * @nr_entries: number of entries, at least one
 * @level: level of the table
 *
 * At KLEAF_PMD and KLEAF_PUD every entry of a run is a leaf. At KLEAF_PTE a
 * run is the whole part of the walked range that the table maps, and entries
 * may be empty.
 */
struct kleaf_run {
	unsigned long addr;
	void *entryp;
	unsigned int nr_entries;
	enum kleaf_level level;
};

/* Returned by kleaf_walk_ops::run to have the first entry read again. */
#define KLEAF_WALK_AGAIN	1

/**
 * struct kleaf_walk_ops - what to do with what a walk meets
 * @run: called for each run of leaf entries, in ascending order. 0 goes on,
 *	KLEAF_WALK_AGAIN reads the first entry of the run again (for a callback
 *	that replaced it by a table), a negative errno ends the walk.
 * @hole: called for the part of the range [@start, @end) that an empty entry
 *	above KLEAF_PTE leaves unmapped; 0 goes on, a negative errno ends the
 *	walk. Optional: holes are skipped.
 *
 * Callbacks run inside an RCU read-side section and must not sleep.
 */
struct kleaf_walk_ops {
	int (*run)(const struct kleaf_run *run, void *data);
	int (*hole)(unsigned long start, unsigned long end, void *data);
};

#ifdef CONFIG_ARM64_KLEAF

/**
 * kleaf_walk() - visit the leaf entries of a range of kernel addresses
 * @start: first byte, page aligned, untagged
 * @end: one past the last byte, page aligned, above @start
 * @ops: callbacks
 * @data: passed to the callbacks
 *
 * Runs at KLEAF_PMD and KLEAF_PUD may begin before @start and end after @end:
 * they hold the leaves that the range touches.
 *
 * Context: Any context but NMI. Tables are not freed while they are read:
 *	who frees one waits for an RCU grace period after unlinking it, or owns
 *	the whole range (memory hot-remove, vmalloc).
 * Return: 0; -EINVAL for an empty range or an entry that is neither leaf nor
 *	table; or what a callback returned.
 */
int kleaf_walk(unsigned long start, unsigned long end,
	       const struct kleaf_walk_ops *ops, void *data);

/**
 * kleaf_split() - make @start and @end leaf boundaries
 * @start: first byte, page aligned, untagged
 * @end: one past the last byte, page aligned, above @start
 *
 * A leaf that contains a boundary is replaced one level at a time by the
 * largest leaves that fit around it: PUD to CONT_PMD to PMD to CONT_PTE to
 * PTE. Block to table and the contiguous bit are changed without a break,
 * which the architecture permits at BBM level 2 (Arm ARM, D8 "Support levels
 * for changing table or block size"). No TLBI is needed: the old and the new
 * size translate alike, and an entry of either size that covers an address
 * goes with the next TLBI by that address.
 *
 * Context: Process context, may sleep. Takes kleaf_lock. If a split is needed,
 *	waits while a CPU is being started, as do all the functions below that
 *	split.
 * Return: 0, also if nothing had to be split; -EINVAL misaligned or empty;
 *	-ENOMEM no memory for a table; -EBUSY a split is needed but secondary
 *	CPUs are coming up, or the page allocator is not there yet: retry once
 *	CPU features are final; -EOPNOTSUPP a split is needed and the system
 *	cannot split live. On error translation and attributes are unchanged;
 *	a split already made remains.
 */
int __must_check kleaf_split(unsigned long start, unsigned long end);

/**
 * kleaf_split_to_pages() - map a range of the linear map with PTE leaves
 * @start: first byte, page aligned, untagged
 * @end: one past the last byte, page aligned, above @start
 *
 * For users that protect single pages from atomic context afterwards.
 *
 * Context: Process context, may sleep. Takes kleaf_lock.
 * Return: as kleaf_split().
 */
int __must_check kleaf_split_to_pages(unsigned long start, unsigned long end);

/**
 * kleaf_change() - change attributes of a range and flush it
 * @start: first byte, page aligned; a tag of KASAN is ignored
 * @end: one past the last byte, page aligned, above @start
 * @set_mask: descriptor bits to set
 * @clear_mask: descriptor bits to clear; a bit in both ends up set
 *
 * Splits at both ends first, then changes, which cannot fail. PTE_VALID in
 * @clear_mask makes leaves present-invalid, in @set_mask valid again. The
 * output address, memory type, shareability and the contiguous bit must not
 * be in the masks: they need break-before-make.
 *
 * Context: Process context, may sleep, takes kleaf_lock; but any context and
 *	no lock where the range is PTE-mapped for good: with debug_pagealloc,
 *	and in the KFENCE pool.
 * Return: 0 or an error as kleaf_split(). On error no attribute is changed.
 */
int __must_check kleaf_change(unsigned long start, unsigned long end,
			      pgprot_t set_mask, pgprot_t clear_mask);

/**
 * kleaf_set_direct_map_noflush() - change the linear mapping of one page
 * @page: the page
 * @set_mask: descriptor bits to set
 * @clear_mask: descriptor bits to clear
 *
 * With interrupts off, which is how the hibernation snapshot calls it, nothing
 * is split: the whole leaf around the page is changed, and flushed if it was
 * made invalid. That is right for the snapshot only: it makes an invalid leaf
 * valid, copies a page and makes the leaf invalid again, with no other CPU up.
 *
 * Context: As kleaf_change(), or interrupts off with one CPU online.
 * Return: as kleaf_change(). The caller flushes the TLB.
 */
int __must_check kleaf_set_direct_map_noflush(struct page *page,
					      pgprot_t set_mask,
					      pgprot_t clear_mask);

/**
 * kleaf_change_vm_area() - change attributes of pages of a vmalloc area
 * @area: the area, with VM_ALLOC
 * @start: first byte, page aligned, inside @area
 * @nr_pages: number of pages; @area must hold them all
 * @set_mask: descriptor bits to set
 * @clear_mask: descriptor bits to clear
 *
 * With rodata=full a change between read-only and writable is made to the
 * linear map of these pages too. Pages of the area that are contiguous in
 * memory, ascending or descending, make one range of the linear map, which is
 * changed and flushed as one. Every split that any range needs is made before
 * the first attribute is changed.
 *
 * Context: Process context, may sleep. Takes kleaf_lock and, through
 *	vm_unmap_aliases(), the locks of vmalloc.
 * Return: 0 or an error as kleaf_split(); -EINVAL also if the pages are not all
 *	in @area, or if @area has large leaves that cannot be split now. On error
 *	no attribute is changed.
 */
int __must_check kleaf_change_vm_area(struct vm_struct *area,
				      unsigned long start,
				      unsigned int nr_pages,
				      pgprot_t set_mask, pgprot_t clear_mask);

/**
 * kleaf_force_pte_map() - must the linear map be built of PTEs?
 *
 * Decides when the linear map is created and remembers: memory hot-added
 * later is mapped as boot memory was.
 *
 * Context: From map_mem() on; the first caller must be map_mem().
 * Return: true if pages of the linear map will be protected one by one and
 *	leaves cannot be split live, or if they will be so from atomic context.
 */
bool kleaf_force_pte_map(void);

/**
 * kleaf_linear_map_created() - count the leaves of the boot-time linear map
 *
 * Context: Boot, one CPU, when map_mem() has mapped all memory.
 */
void kleaf_linear_map_created(void);

/**
 * kleaf_map_park_flag() - map what parked CPUs wait on in the identity map
 *
 * Context: Boot, one CPU, create_idmap().
 */
void kleaf_map_park_flag(void);

/**
 * kleaf_cpu_is_alone() - is this CPU the only one that uses the kernel's tables?
 *
 * So it is while the linear map is repainted: all others are parked in the
 * identity map, and flush their TLBs before they come back. What this CPU can
 * do counts then, not what all of them can do.
 *
 * Context: Any.
 * Return: true on the CPU that repaints, until it has flushed all TLBs.
 */
bool kleaf_cpu_is_alone(void);

/**
 * kleaf_account_range() - add a range of the linear map to the DirectMap lines
 * @start: first byte, page aligned, untagged
 * @end: one past the last byte
 * @sign: 1 after the range was mapped, -1 before it is unmapped
 *
 * Context: Boot, or memory hotplug with mem_hotplug_lock held for writing.
 */
void kleaf_account_range(unsigned long start, unsigned long end, int sign);

/**
 * kleaf_prepare_add() - may a range of the linear map be mapped?
 * @start: physical address of the memory that is added, page aligned
 * @size: its size in bytes
 * @prot: how it is going to be mapped
 *
 * Finds what kleaf_prepare_remove() has refused to unmap.
 *
 * Context: Memory hot-add, may sleep; mem_hotplug_lock held for writing.
 * Return: 0 if nothing is mapped there; 1 if all of it is, valid and of the
 *	memory type of @prot; -EEXIST, after a warning, if only part of it is so.
 */
int __must_check kleaf_prepare_add(phys_addr_t start, phys_addr_t size,
				   pgprot_t prot);

/**
 * kleaf_prepare_offline() - make the edges of memory leaf boundaries
 * @start: physical address of the memory that is going offline, page aligned
 * @size: its size in bytes
 *
 * Context: Memory notifier, may sleep. Takes kleaf_lock.
 * Return: 0, also where leaves can never be split: such memory can go offline,
 *	and be removed together with the rest of its leaf; -ENOMEM or -EBUSY as
 *	kleaf_split().
 */
int __must_check kleaf_prepare_offline(phys_addr_t start, phys_addr_t size);

/**
 * kleaf_prepare_remove() - may a range of the linear map be unmapped?
 * @start: first byte in the linear map, page aligned
 * @end: one past the last byte
 *
 * Context: Memory hot-remove, may sleep. Takes kleaf_lock.
 * Return: 0 if no leaf reaches beyond the range. Else the error of
 *	kleaf_split(), after a warning: unmapping would harm a neighbour.
 */
int __must_check kleaf_prepare_remove(unsigned long start, unsigned long end);

/**
 * kleaf_cpu_starting() - no more splits, until it is known how a CPU turns out
 *
 * Called before a CPU is started. What needs no split goes on. The caller's
 * allocations do not reclaim memory until kleaf_cpu_started().
 *
 * Context: __cpu_up(), cpu_hotplug_lock held. Takes kleaf_lock.
 * Return: what kleaf_cpu_started() wants.
 */
unsigned int kleaf_cpu_starting(void);

/**
 * kleaf_cpu_started() - the CPU is online, or given up
 * @flags: what kleaf_cpu_starting() returned
 *
 * Context: As kleaf_cpu_starting(), after it.
 */
void kleaf_cpu_started(unsigned int flags);

/**
 * kleaf_features_final() - CPU features are final: settle how leaves split
 *
 * Context: smp_cpus_done(), may sleep.
 */
void kleaf_features_final(void);

#else /* !CONFIG_ARM64_KLEAF */

static inline int kleaf_split_to_pages(unsigned long start, unsigned long end)
{
	return 0;
}

static inline int kleaf_change(unsigned long start, unsigned long end,
			       pgprot_t set_mask, pgprot_t clear_mask)
{
	return -EOPNOTSUPP;
}

static inline int kleaf_set_direct_map_noflush(struct page *page,
					       pgprot_t set_mask,
					       pgprot_t clear_mask)
{
	return -EOPNOTSUPP;
}

static inline int kleaf_change_vm_area(struct vm_struct *area,
				       unsigned long start,
				       unsigned int nr_pages,
				       pgprot_t set_mask, pgprot_t clear_mask)
{
	return -EOPNOTSUPP;
}

static inline bool kleaf_force_pte_map(void)
{
	return can_set_direct_map();
}

static inline void kleaf_linear_map_created(void) { }

static inline void kleaf_map_park_flag(void) { }

static inline bool kleaf_cpu_is_alone(void)
{
	return false;
}

static inline void kleaf_account_range(unsigned long start, unsigned long end,
				       int sign)
{
}

static inline int kleaf_prepare_add(phys_addr_t start, phys_addr_t size,
				    pgprot_t prot)
{
	return 0;
}

static inline int kleaf_prepare_offline(phys_addr_t start, phys_addr_t size)
{
	return 0;
}

static inline int kleaf_prepare_remove(unsigned long start, unsigned long end)
{
	return 0;
}

static inline unsigned int kleaf_cpu_starting(void)
{
	return 0;
}

static inline void kleaf_cpu_started(unsigned int flags) { }

static inline void kleaf_features_final(void) { }

#endif /* CONFIG_ARM64_KLEAF */

#endif /* __ASM_KLEAF_H */
