// SPDX-License-Identifier: GPL-2.0-only
/*
 * Torture of the kernel's own mappings.
 *
 * Several threads split leaves of the linear map and change attributes next to
 * each other, in one region, so that they meet in contiguous runs, blocks and
 * tables. Others allocate, protect and free vmalloc memory and run code that
 * they have just written, read the region through the linear map and through a
 * second mapping, and walk the page tables. Every other allocation of a table
 * fails. After each round every page must translate as the model says, hold
 * what was written to it, and be mapped by the largest leaf that fits.
 *
 * Meant to run under the break-before-make checker with bbm_check=panic, and
 * with KASAN and lockdep where there is time:
 *	make torture MINUTES=5
 *
 * On the kernel command line torture_minutes=N asks for more rounds than two,
 * torture_seed=N repeats the random choices of a run that printed N (not the
 * order in which threads make them).
 */

#include <kunit/static_stub.h>
#include <kunit/test-bug.h>
#include <linux/execmem.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/set_memory.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/vmstat.h>

#include <asm/bbml2.h>
#include <asm/cacheflush.h>
#include <asm/insn.h>
#include <asm/ptdump.h>

#include "../../kleaf/tests/region.h"
#include "../bbmchk.h"

#define NR_CHANGERS	4
#define NR_READERS	2
#define NR_MAPPERS	2
#define NR_THREADS	(NR_CHANGERS + NR_READERS + NR_MAPPERS + 2)

/* Pages in a row that belong to one changer; the next ones do not. */
#define SLOT_PAGES	4
/* Several blocks where those are small, one where they are not. */
#define REGION_SIZE	max(PMD_SIZE, 8UL * SZ_2M)
#define OPS_EACH_ROUND	20000
#define ROUND_SECONDS	60

static unsigned long minutes;
core_param(torture_minutes, minutes, ulong, 0444);

static unsigned long seed;
core_param(torture_seed, seed, ulong, 0444);

struct torture;

/**
 * struct worker - one thread
 * @torture: what it belongs to
 * @task: the thread
 * @rnd: its random choices
 * @index: among the threads of its kind
 * @nr_ops: operations done
 * @nr_enomem: of those, refused for want of a table
 */
struct worker {
	struct torture *torture;
	struct task_struct *task;
	struct rnd_state rnd;
	unsigned int index;
	unsigned long nr_ops;
	unsigned long nr_enomem;
};

/**
 * struct torture - state of a test case
 * @test: the test
 * @region: contiguous memory in the linear map
 * @alias: the same memory, mapped by vmap(), always valid
 * @workers: the threads
 * @nr_workers: number of them
 * @failed: line of the first check that failed
 */
struct torture {
	struct kunit *test;
	struct region *region;
	void *alias;
	struct worker workers[NR_THREADS];
	unsigned int nr_workers;
	atomic_t failed;
};

/* Threads must not use KUnit's expectations: they would end themselves. */
#define CHECK(w, condition)						\
	({								\
		bool __ok = (condition);				\
									\
		if (!__ok)						\
			atomic_cmpxchg(&(w)->torture->failed, 0, __LINE__); \
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

/* Stands in for kleaf_table_alloc() in the changers: every other one fails. */
static void *sometimes_no_table(enum kleaf_table_sort sort)
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

static int changer(void *data)
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

static int reader(void *data)
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
		cond_resched();
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

static int mapper(void *data)
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

static void __nocfi run_some(struct worker *w)
{
	u16 answer = prandom_u32_state(&w->rnd);
	__le32 *code = execmem_alloc(EXECMEM_BPF, PAGE_SIZE);
	__le32 *linear, *again;
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
	again = vmap(&page, 1, VM_MAP, PAGE_KERNEL_ROX);
	if (CHECK(w, again)) {
		CHECK(w, ((answer_fn)again)() == answer);
		CHECK(w, !is_writable(again));
	}
	vunmap(again);

	execmem_free(code);
}

static int runner(void *data)
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

static int walker(void *data)
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

/* The test. */

static void start(struct torture *t, int (*fn)(void *), unsigned int nr,
		  const char *name)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct worker *w = &t->workers[t->nr_workers];

		*w = (struct worker) { .torture = t, .index = i };
		prandom_seed_state(&w->rnd, seed + t->nr_workers);
		w->task = kthread_run(fn, w, "torture_%s/%u", name, i);
		KUNIT_ASSERT_FALSE(t->test, IS_ERR(w->task));
		t->nr_workers++;
	}
}

static void stop(void *data)
{
	struct torture *t = data;

	while (t->nr_workers)
		kthread_stop(t->workers[--t->nr_workers].task);
	vunmap(t->alias);
}

static unsigned long changes(const struct torture *t)
{
	unsigned long nr = 0;
	unsigned int i;

	for (i = 0; i < NR_CHANGERS; i++)
		nr += READ_ONCE(t->workers[i].nr_ops);

	return nr;
}

static struct torture *torture_begin(struct kunit *test)
{
	struct torture *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct page **pages;
	unsigned long i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->test = test;
	t->region = region_alloc(test, REGION_SIZE);
	if (!t->region)
		kunit_skip(test, "no %lu MiB of contiguous memory",
			   REGION_SIZE >> 20);

	pages = kunit_kmalloc_array(test, t->region->nr_pages, sizeof(*pages),
				    GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	for (i = 0; i < t->region->nr_pages; i++)
		pages[i] = t->region->page + i;
	t->alias = vmap(pages, t->region->nr_pages, VM_MAP, PAGE_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->alias);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop, t));

	return t;
}

/*
 * Tables that vmalloc makes it keeps, so they are counted after the first round
 * and not before it. What a round makes beyond that must be gone at its end.
 */
static void expect_no_more_tables(struct kunit *test)
{
	static unsigned long after_first_round;
	unsigned long now = global_node_page_state(NR_PAGETABLE);

	if (!after_first_round)
		after_first_round = now;
	KUNIT_EXPECT_EQ(test, now, after_first_round);
}

static void everything_at_once(struct kunit *test)
{
	unsigned long deadline = jiffies + ROUND_SECONDS * HZ;
	struct torture *t = torture_begin(test);
	unsigned long enomem = 0, others = 0;
	unsigned int i, nr;

	if (!seed)
		seed = get_random_u32();
	kunit_activate_static_stub(test, kleaf_table_alloc, sometimes_no_table);

	start(t, changer, NR_CHANGERS, "change");
	start(t, reader, NR_READERS, "read");
	start(t, mapper, NR_MAPPERS, "map");
	start(t, runner, 1, "run");
	start(t, walker, 1, "walk");

	while (changes(t) < OPS_EACH_ROUND && time_before(jiffies, deadline) &&
	       !atomic_read(&t->failed))
		schedule_timeout_uninterruptible(HZ / 20);

	for (nr = t->nr_workers; t->nr_workers; )
		kthread_stop(t->workers[--t->nr_workers].task);
	kunit_deactivate_static_stub(test, kleaf_table_alloc);

	for (i = 0; i < nr; i++) {
		enomem += t->workers[i].nr_enomem;
		if (i >= NR_CHANGERS)
			others += t->workers[i].nr_ops;
		/* A thread that did nothing has tested nothing. */
		KUNIT_EXPECT_GT(test, t->workers[i].nr_ops, 0);
	}
	kunit_info(test, "seed %lu: %lu changes, %lu without a table, %lu others\n",
		   seed, changes(t), enomem, others);
	seed++;

	/* Where there was a block, each split of it failed at least once. */
	if (system_supports_bbml2_noabort() &&
	    t->region->initial[0] >= KLEAF_KIND_PMD)
		KUNIT_EXPECT_GT(test, enomem, 0);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&t->failed), 0,
			    "check in line %d", atomic_read(&t->failed));
	region_check_attributes(test, t->region);
	region_check_leaves(test, t->region);
	expect_no_more_tables(test);
}

/* Two rounds, and more until the time is up. */
static const void *next_round(const void *prev, char *desc)
{
	static unsigned long end, round;

	if (!prev) {
		end = jiffies + minutes * 60 * HZ;
		round = 0;
	} else if (round >= 2 && time_after_eq(jiffies, end)) {
		return NULL;
	}
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "round %lu", ++round);

	return &round;
}

static void checker_missed_nothing(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&bbmchk_key));
	KUNIT_EXPECT_EQ(test, bbmchk_stats.missed_breaks, 0);
	KUNIT_EXPECT_EQ(test, bbmchk_stats.missed_tables, 0);
	KUNIT_EXPECT_EQ(test, bbmchk_stats.missed_runs, 0);
}

static struct kunit_case kmap_torture_cases[] = {
	KUNIT_CASE_PARAM_ATTR(everything_at_once, next_round,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE(checker_missed_nothing),
	{}
};

static struct kunit_suite kmap_torture_suite = {
	.name = "kmap_torture",
	.test_cases = kmap_torture_cases,
};

kunit_test_suite(kmap_torture_suite);

MODULE_DESCRIPTION("Torture of the kernel's own mappings");
MODULE_LICENSE("GPL");
