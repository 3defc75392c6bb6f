// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that torture the kernel's own mappings.
 *
 * Invariants:
 *  I1 (always). A page of the region has one changer, which alone writes to it,
 *      knows its second word, and keeps the model of it.
 *  I2 (always). The first word of a page never changes, so anybody may read it.
 *
 * Locking: none but what is under test. Counters are written by one thread.
 * TLB and barriers: kleaf_change() flushes before what it did is looked at.
 * Failure: the line of the first check that failed is kept for the test, since
 *   threads must not use KUnit's expectations: they would end themselves.
 * See: kmap_torture_kunit.c
 */

#include <kunit/test-bug.h>
#include <linux/execmem.h>
#include <linux/kthread.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/set_memory.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <asm/cacheflush.h>
#include <asm/insn.h>
#include <asm/ptdump.h>

#include "kmap_torture.h"

/* Pages in a row that belong to one changer; the next ones do not. */
#define SLOT_PAGES	4

static void note_failure(struct torture *t, int line)
{
	atomic_cmpxchg(&t->failed, 0, line);
}

#define CHECK(w, condition)						\
	({								\
		bool __ok = (condition);				\
									\
		if (!__ok)						\
			note_failure((w)->torture, __LINE__);		\
		__ok;							\
	})

static u32 pick(struct worker *w, u32 nr)
{
	return prandom_u32_state(&w->rnd) % nr;
}

static unsigned long page_addr(const struct region *region, unsigned long i)
{
	return region->start + i * PAGE_SIZE;
}

/* Changers: split and change leaves of the linear map. */

void *torture_no_table(enum kleaf_table_sort sort)
{
	static atomic_t nr_calls;
	struct kunit *test = current->kunit_test;
	void *table;

	if (atomic_inc_return(&nr_calls) & 1)
		return NULL;

	/* Without a test the real function is called, not this one. */
	current->kunit_test = NULL;
	table = kleaf_table_alloc(sort);
	current->kunit_test = test;

	return table;
}

/* A word of a page, as the second mapping shows it. */
static u64 *alias_word(struct torture *t, unsigned long i, unsigned int word)
{
	return (u64 *)(t->alias + i * PAGE_SIZE) + word;
}

/*
 * Does the CPU see what the model says, and are the contents right, through
 * both mappings?
 */
static bool page_is_right(struct torture *t, unsigned long i, u64 word)
{
	struct region *region = t->region;
	unsigned long addr = page_addr(region, i);
	u8 flags = READ_ONCE(region->model[i]);
	phys_addr_t pa = 0;

	if (region_translates(addr, false, &pa) == !!(flags & MODEL_INVALID) ||
	    region_translates(addr, true, NULL) == !!flags ||
	    READ_ONCE(*alias_word(t, i, 1)) != word)
		return false;
	if (flags & MODEL_INVALID)
		return true;

	return pa == __pa(addr) && READ_ONCE(((u64 *)addr)[1]) == word;
}

static void change_some(struct worker *w, u64 *words)
{
	struct region *region = w->torture->region;
	unsigned long nr_slots = region->nr_pages / SLOT_PAGES / NR_CHANGERS;
	unsigned long slot = pick(w, nr_slots) * NR_CHANGERS + w->index;
	unsigned long first = slot * SLOT_PAGES + pick(w, SLOT_PAGES);
	unsigned long nr = 1 + pick(w, SLOT_PAGES - first % SLOT_PAGES);
	u8 flag = pick(w, 2) ? MODEL_INVALID : MODEL_RDONLY;
	unsigned long i;
	int ret;

	ret = region_change(region, first, nr, flag, pick(w, 2));
	if (ret == -ENOMEM)
		w->nr_enomem++;
	else
		CHECK(w, !ret);

	/*
	 * Changed or not, the model was told. What may not be written through
	 * the linear map is written through the other mapping.
	 */
	for (i = first; i < first + nr; i++) {
		u64 *word = alias_word(w->torture, i, 1);

		if (!CHECK(w, page_is_right(w->torture, i, words[i])))
			continue;
		if (!region->model[i] && pick(w, 2))
			word = (u64 *)page_addr(region, i) + 1;
		words[i] = prandom_u32_state(&w->rnd);
		WRITE_ONCE(*word, words[i]);
	}
}

int torture_changer(void *data)
{
	struct worker *w = data;
	struct region *region = w->torture->region;
	u64 *words = vzalloc(array_size(region->nr_pages, sizeof(*words)));
	unsigned long i;

	current->kunit_test = w->torture->test;

	for (i = 0; words && i < region->nr_pages; i++)
		words[i] = READ_ONCE(*alias_word(w->torture, i, 1));

	while (!kthread_should_stop()) {
		if (CHECK(w, words))
			change_some(w, words);
		WRITE_ONCE(w->nr_ops, w->nr_ops + 1);
		cond_resched();
	}

	current->kunit_test = NULL;
	vfree(words);

	return 0;
}

/* Readers: the region through both of its mappings. */

int torture_reader(void *data)
{
	struct worker *w = data;
	struct region *region = w->torture->region;

	while (!kthread_should_stop()) {
		unsigned long i = pick(w, region->nr_pages);
		u64 *linear = (u64 *)page_addr(region, i);
		u64 word;

		/* The first word never changes; an invalid page is no news. */
		if (!copy_from_kernel_nofault(&word, linear, sizeof(word)))
			CHECK(w, word == READ_ONCE(*alias_word(w->torture, i, 0)));
		WRITE_ONCE(w->nr_ops, w->nr_ops + 1);
		/* To be there is enough; the others do the work. */
		if (w->nr_ops % 64)
			cond_resched();
		else
			schedule_timeout_interruptible(1);
	}

	return 0;
}

/* Mappers: vmalloc memory comes, is protected, and goes. */

static bool is_writable(void *addr)
{
	u64 word;

	return !copy_from_kernel_nofault(&word, addr, sizeof(word)) &&
		!copy_to_kernel_nofault(addr, &word, sizeof(word));
}

static void map_some(struct worker *w)
{
	unsigned long nr_pages = 1 + pick(w, 40);
	u64 *area = vmalloc(nr_pages * PAGE_SIZE);
	unsigned long i, first = pick(w, nr_pages);
	unsigned long nr = 1 + pick(w, nr_pages - first);
	unsigned long words = PAGE_SIZE / sizeof(*area);
	u64 *linear;

	if (!area)
		return;

	for (i = 0; i < nr_pages; i++)
		area[i * words] = (u64)area + i;

	linear = page_address(vmalloc_to_page(area + first * words));
	if (CHECK(w, !set_memory_ro((unsigned long)(area + first * words), nr))) {
		CHECK(w, !is_writable(area + first * words));
		CHECK(w, !is_writable(area + (first + nr - 1) * words));
		if (rodata_full && !debug_pagealloc_enabled())
			CHECK(w, !is_writable(linear));
		CHECK(w, *linear == (u64)area + first);
		CHECK(w, !set_memory_rw((unsigned long)(area + first * words),
					nr));
	}
	CHECK(w, is_writable(linear));
	for (i = 0; i < nr_pages; i++)
		CHECK(w, area[i * words] == (u64)area + i);

	vfree(area);
}

int torture_mapper(void *data)
{
	struct worker *w = data;

	while (!kthread_should_stop()) {
		map_some(w);
		WRITE_ONCE(w->nr_ops, w->nr_ops + 1);
		cond_resched();
	}

	return 0;
}

/* Runner: code that was written a moment ago, through both of its mappings. */

typedef u32 (*answer_fn)(void);

static void write_answer(__le32 *code, u16 answer)
{
	u32 mov = aarch64_insn_gen_movewide(AARCH64_INSN_REG_0, answer, 0,
					    AARCH64_INSN_VARIANT_32BIT,
					    AARCH64_INSN_MOVEWIDE_ZERO);
	u32 ret = aarch64_insn_gen_branch_reg(AARCH64_INSN_REG_LR,
					      AARCH64_INSN_BRANCH_RETURN);

	code[0] = cpu_to_le32(mov);
	code[1] = cpu_to_le32(ret);
	flush_icache_range((unsigned long)code, (unsigned long)(code + 2));
}

static int store_page(pte_t *ptep, unsigned long addr, void *data)
{
	struct page *page = data;

	set_pte_at(&init_mm, addr, ptep, mk_pte(page, PAGE_KERNEL_ROX));

	return 0;
}

/* The same code at another address; vmap() maps nothing that is executable. */
static void __nocfi run_again(struct worker *w, struct page *page, u16 answer)
{
	struct vm_struct *area = get_vm_area(PAGE_SIZE, VM_MAP);
	unsigned long addr = area ? (unsigned long)area->addr : 0;

	if (!area)
		return;

	if (CHECK(w, !apply_to_page_range(&init_mm, addr, PAGE_SIZE, store_page,
					  page))) {
		CHECK(w, ((answer_fn)addr)() == answer);
		CHECK(w, !is_writable((void *)addr));
	}
	free_vm_area(area);
}

static void __nocfi run_some(struct worker *w)
{
	u16 answer = prandom_u32_state(&w->rnd);
	__le32 *code = execmem_alloc(EXECMEM_BPF, PAGE_SIZE);
	__le32 *linear;
	struct page *page;

	if (!code)
		return;

	set_vm_flush_reset_perms(code);
	write_answer(code, answer);
	page = vmalloc_to_page(code);
	linear = page_address(page);
	CHECK(w, is_writable(linear));

	if (CHECK(w, !set_memory_rox((unsigned long)code, 1))) {
		CHECK(w, ((answer_fn)code)() == answer);
		CHECK(w, !is_writable(code));
		CHECK(w, *linear == *code);
		if (rodata_full && !debug_pagealloc_enabled())
			CHECK(w, !is_writable(linear));
	}
	run_again(w, page, answer);

	execmem_free(code);
}

int torture_runner(void *data)
{
	struct worker *w = data;

	while (!kthread_should_stop()) {
		run_some(w);
		WRITE_ONCE(w->nr_ops, w->nr_ops + 1);
		cond_resched();
	}

	return 0;
}

/* Walker: whoever looks at page tables while they change. */

int torture_walker(void *data)
{
	unsigned long start = (unsigned long)__va(memblock_start_of_DRAM());
	struct worker *w = data;

	while (!kthread_should_stop()) {
		unsigned long bytes[NR_KLEAF_KINDS] = {};

		CHECK(w, !kleaf_count_range(start, (unsigned long)high_memory,
					    bytes));
		ptdump_check_wx();
		WRITE_ONCE(w->nr_ops, w->nr_ops + 1);
		schedule_timeout_interruptible(HZ / 2);
	}

	return 0;
}
