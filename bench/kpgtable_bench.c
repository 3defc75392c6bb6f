// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count what it costs to change the kernel's own page tables.
 *
 * Every operation of the table at the end is called @warmup times unmeasured
 * and @repeat times measured. A figure is the number of instructions that the
 * CPU retired during the call, less those of an empty call. It is read from
 * the PMU, event INST_RETIRED. QEMU implements that event only under
 * "-icount shift=N", where it is exact and repeats from run to run; without
 * it this module refuses to load. On hardware the same event works.
 *
 * The measured call is bracketed by two hint instructions that do nothing but
 * let rig/plugins/opcount.c count the same region from outside, barriers and
 * TLB maintenance included. Regions are numbered from 0 in the order in which
 * they run, and "region" in a result says which one it was.
 *
 * Output, one line per operation on the console:
 *
 *	kpgtable_bench: op=NAME insns=MEDIAN min=N max=N first=N n=N
 *	                region=N [runs_up=N runs_any=N]
 *
 * "first" is the first unwarmed call. An operation that fails prints "error"
 * in place of the figures; the last line is "kpgtable_bench: end ops=N of=N",
 * those that worked of those that were tried.
 *
 * Locking: none; one thread on one CPU. Interrupts stay enabled, since the
 * calls may sleep: a timer tick in a measured call shows in "max".
 * Failure: memory and areas are released, the remaining operations still run.
 *
 * Usage: insmod kpgtable_bench.ko lookup=ADDRESS [repeat=N] [warmup=N]
 *	[only=PREFIX]
 * where ADDRESS is that of kallsyms_lookup_name (tests/lib/ksym.h).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>
#include <asm/barrier.h>
#include <asm/sysreg.h>

#include "ksym.h"

static unsigned int repeat = 15;
module_param(repeat, uint, 0400);
MODULE_PARM_DESC(repeat, "measured calls per operation, 1 to 99");

static unsigned int warmup = 8;
module_param(warmup, uint, 0400);
MODULE_PARM_DESC(warmup, "unmeasured calls per operation, at least 1");

static char *only = "";
module_param(only, charp, 0400);
MODULE_PARM_DESC(only, "run only operations whose name begins like this");

#define MAX_REPEAT	99
/* Blocks next to one that is in use already; set aside while choosing. */
#define MAX_REJECTS	4096
#define MAX_BLOCKS	1024
/* QEMU's virt machine: the PCIe window, never RAM, never used by a driver. */
#define MMIO_BASE	0x10000000UL

struct block {
	struct page *page;
	unsigned int order;
};

/*
 * What an operation works on. @setup fills it once per operation, @run is the
 * measured call, @undo takes back what @run did.
 */
struct bench {
	const struct bench_op *op;
	struct page **pages;
	unsigned int nr_pages;
	struct block *blocks;
	unsigned int nr_blocks;
	void *area;
	void *result;
};

/* @nr blocks of order @order, in the order in which they are mapped. */
struct chunk {
	unsigned int nr;
	unsigned int order;
};

struct bench_op {
	const char *name;
	int (*setup)(struct bench *b);
	int (*run)(struct bench *b);
	void (*undo)(struct bench *b);
	void (*teardown)(struct bench *b);
	unsigned long size;
	struct chunk chunks[3];
};

struct sample {
	u64 insns;
	unsigned int region;
};

static int (*ksym_set_memory_ro)(unsigned long addr, int numpages);
static int (*ksym_set_memory_rw)(unsigned long addr, int numpages);
static unsigned int next_region;

/* The counter */

#define PMU_EVENT_INST_RETIRED	8

static int counter_start(void)
{
	u64 dfr0 = read_sysreg_s(SYS_ID_AA64DFR0_EL1);
	unsigned int ver = SYS_FIELD_GET(ID_AA64DFR0_EL1, PMUVer, dfr0);

	/* 0 is none, 15 one that is not architectural. */
	if (!ver || ver == 0xf) {
		pr_err("no PMU: cannot count instructions\n");
		return -ENODEV;
	}
	if (!(read_sysreg(pmceid0_el0) & BIT(PMU_EVENT_INST_RETIRED))) {
		pr_err("no INST_RETIRED: QEMU needs -icount shift=0\n");
		return -ENODEV;
	}
	write_sysreg(PMU_EVENT_INST_RETIRED, pmevtyper0_el0);
	write_sysreg(BIT(0), pmcntenset_el0);
	write_sysreg(read_sysreg(pmcr_el0) | BIT(0), pmcr_el0);
	/* ISB: the counter is running before it is first read. */
	isb();
	return 0;
}

static void counter_stop(void)
{
	write_sysreg(BIT(0), pmcntenclr_el0);
	/* ISB: the counter has stopped before the module goes away. */
	isb();
}

static __always_inline u32 counter_read(void)
{
	/* ISB: what came before is retired, what follows is not. */
	isb();
	return read_sysreg(pmevcntr0_el0);
}

static noinline int measure(struct bench *b, int (*run)(struct bench *b),
			    struct sample *sample)
{
	u32 before, after;
	int ret;

	asm volatile("hint #0x70" : : : "memory");
	before = counter_read();
	ret = run(b);
	after = counter_read();
	asm volatile("hint #0x71" : : : "memory");

	/* The counter has 32 bits; the difference is right across a wrap. */
	sample->insns = (u32)(after - before);
	sample->region = next_region++;
	return ret;
}

static int run_nothing(struct bench *b)
{
	return 0;
}

/* Physical memory */

static bool adjacent(const struct block *a, const struct block *b)
{
	unsigned long pa = page_to_pfn(a->page), pb = page_to_pfn(b->page);

	return pa + (1UL << a->order) == pb || pb + (1UL << b->order) == pa;
}

static bool touches_any(const struct bench *b, const struct block *new)
{
	unsigned int i;

	for (i = 0; i < b->nr_blocks; i++)
		if (adjacent(&b->blocks[i], new))
			return true;
	return false;
}

static void free_blocks(struct block *blocks, unsigned int nr)
{
	while (nr--)
		__free_pages(blocks[nr].page, blocks[nr].order);
}

/* One more block, next to none of the others, so that no two make one run. */
static int take_block(struct bench *b, unsigned int order)
{
	struct block *rejects, *new = &b->blocks[b->nr_blocks];
	unsigned int nr_rejects = 0;
	int ret = -ENOMEM;

	rejects = kvcalloc(MAX_REJECTS, sizeof(*rejects), GFP_KERNEL);
	if (!rejects)
		return -ENOMEM;
	new->order = order;
	while (nr_rejects < MAX_REJECTS) {
		new->page = alloc_pages(GFP_KERNEL | __GFP_COMP, order);
		if (!new->page)
			break;
		if (!touches_any(b, new)) {
			b->nr_blocks++;
			ret = 0;
			break;
		}
		rejects[nr_rejects++] = *new;
	}
	free_blocks(rejects, nr_rejects);
	kvfree(rejects);
	return ret;
}

static void teardown_pages(struct bench *b)
{
	free_blocks(b->blocks, b->nr_blocks);
	kvfree(b->blocks);
	kvfree(b->pages);
}

static int setup_pages(struct bench *b)
{
	const struct chunk *chunk = b->op->chunks;
	unsigned int i, j;
	int ret;

	b->pages = kvcalloc(b->op->size >> PAGE_SHIFT, sizeof(*b->pages),
			    GFP_KERNEL);
	b->blocks = kvcalloc(MAX_BLOCKS, sizeof(*b->blocks), GFP_KERNEL);
	if (!b->pages || !b->blocks) {
		ret = -ENOMEM;
		goto free;
	}
	for (; chunk < b->op->chunks + ARRAY_SIZE(b->op->chunks); chunk++) {
		for (i = 0; i < chunk->nr; i++) {
			ret = take_block(b, chunk->order);
			if (ret)
				goto free;
			for (j = 0; j < 1U << chunk->order; j++)
				b->pages[b->nr_pages++] =
					b->blocks[b->nr_blocks - 1].page + j;
		}
	}
	return 0;
free:
	teardown_pages(b);
	return ret;
}

/* vmap, ioremap, vmalloc */

static int run_vmap(struct bench *b)
{
	b->result = vmap(b->pages, b->nr_pages, VM_MAP, PAGE_KERNEL);
	return b->result ? 0 : -ENOMEM;
}

static void undo_vmap(struct bench *b)
{
	vunmap(b->result);
}

static int run_map_ram(struct bench *b)
{
	b->result = vm_map_ram(b->pages, b->nr_pages, NUMA_NO_NODE);
	return b->result ? 0 : -ENOMEM;
}

static void undo_map_ram(struct bench *b)
{
	vm_unmap_ram(b->result, b->nr_pages);
}

static int run_ioremap(struct bench *b)
{
	b->result = (void __force *)ioremap(MMIO_BASE, b->op->size);
	return b->result ? 0 : -ENOMEM;
}

static void undo_ioremap(struct bench *b)
{
	iounmap((void __iomem __force *)b->result);
}

static int run_vmalloc(struct bench *b)
{
	b->result = vmalloc(b->op->size);
	return b->result ? 0 : -ENOMEM;
}

static int run_vmalloc_huge(struct bench *b)
{
	b->result = vmalloc_huge(b->op->size, GFP_KERNEL);
	return b->result ? 0 : -ENOMEM;
}

static void undo_vmalloc(struct bench *b)
{
	vfree(b->result);
}

/* set_memory */

static int setup_area(struct bench *b)
{
	b->area = vmalloc(b->op->size);
	b->nr_pages = b->op->size >> PAGE_SHIFT;
	return b->area ? 0 : -ENOMEM;
}

static void teardown_area(struct bench *b)
{
	if (ksym_set_memory_rw((unsigned long)b->area, b->nr_pages))
		pr_err("area left read-only, not freed\n");
	else
		vfree(b->area);
}

static int run_set_ro(struct bench *b)
{
	return ksym_set_memory_ro((unsigned long)b->area, b->nr_pages);
}

static int run_set_rw(struct bench *b)
{
	return ksym_set_memory_rw((unsigned long)b->area, b->nr_pages);
}

static void undo_set_ro(struct bench *b)
{
	if (run_set_rw(b))
		pr_err("set_memory_rw failed\n");
}

static void undo_set_rw(struct bench *b)
{
	if (run_set_ro(b))
		pr_err("set_memory_ro failed\n");
}

static int setup_area_ro(struct bench *b)
{
	int ret = setup_area(b);

	if (ret)
		return ret;
	ret = run_set_ro(b);
	if (ret)
		vfree(b->area);
	return ret;
}

/* Physical runs that back the area: ascending only, and in either direction. */
static void count_runs(struct bench *b, unsigned int *up, unsigned int *any)
{
	long prev = vmalloc_to_pfn(b->area), dir = 0;
	unsigned int i;

	*up = 1;
	*any = 1;
	for (i = 1; i < b->nr_pages; i++) {
		long pfn = vmalloc_to_pfn(b->area + i * PAGE_SIZE);
		long step = pfn - prev;

		if (step != 1)
			++*up;
		if ((step != 1 && step != -1) || (dir && step != dir)) {
			++*any;
			dir = 0;
		} else {
			dir = step;
		}
		prev = pfn;
	}
}

static const struct bench_op ops[] = {
	{ "vmap_4k", setup_pages, run_vmap, undo_vmap, teardown_pages,
	  SZ_4K, { { 1, 0 } } },
	{ "vmap_1m_order0", setup_pages, run_vmap, undo_vmap, teardown_pages,
	  SZ_1M, { { 256, 0 } } },
	{ "vmap_1m_order4", setup_pages, run_vmap, undo_vmap, teardown_pages,
	  SZ_1M, { { 16, 4 } } },
	{ "vmap_1m_order8", setup_pages, run_vmap, undo_vmap, teardown_pages,
	  SZ_1M, { { 1, 8 } } },
	{ "vmap_2m_order9", setup_pages, run_vmap, undo_vmap, teardown_pages,
	  SZ_2M, { { 1, 9 } } },
	{ "vmap_8m_order9", setup_pages, run_vmap, undo_vmap, teardown_pages,
	  SZ_8M, { { 4, 9 } } },
	{ "vmap_2m_mixed", setup_pages, run_vmap, undo_vmap, teardown_pages,
	  SZ_2M, { { 1, 8 }, { 8, 4 }, { 128, 0 } } },
	{ "ioremap_4k", NULL, run_ioremap, undo_ioremap, NULL, SZ_4K },
	{ "ioremap_1m", NULL, run_ioremap, undo_ioremap, NULL, SZ_1M },
	{ "vmalloc_1m", NULL, run_vmalloc, undo_vmalloc, NULL, SZ_1M },
	{ "vmalloc_huge_1m", NULL, run_vmalloc_huge, undo_vmalloc, NULL,
	  SZ_1M },
	{ "vmalloc_huge_2m", NULL, run_vmalloc_huge, undo_vmalloc, NULL,
	  SZ_2M },
	{ "set_memory_ro_256", setup_area, run_set_ro, undo_set_ro,
	  teardown_area, SZ_1M },
	{ "set_memory_rw_256", setup_area_ro, run_set_rw, undo_set_rw,
	  teardown_area, SZ_1M },
	{ "set_memory_ro_1", setup_area, run_set_ro, undo_set_ro,
	  teardown_area, SZ_4K },
	{ "set_memory_rw_1", setup_area_ro, run_set_rw, undo_set_rw,
	  teardown_area, SZ_4K },
	{ "vmalloc_4k", NULL, run_vmalloc, undo_vmalloc, NULL, SZ_4K },
	/* Last: what these leave behind makes vm_unmap_aliases() dearer. */
	{ "map_ram_4k", setup_pages, run_map_ram, undo_map_ram, teardown_pages,
	  SZ_4K, { { 1, 0 } } },
	{ "map_ram_1m_order8", setup_pages, run_map_ram, undo_map_ram,
	  teardown_pages, SZ_1M, { { 1, 8 } } },
};

static int by_insns(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns < y->insns ? -1 : 1;
	return x->region < y->region ? -1 : x->region > y->region;
}

/* One call, then everything lazy that it left behind, unmeasured. */
static int run_once(struct bench *b, struct sample *sample)
{
	int ret = measure(b, b->op->run, sample);

	if (ret)
		return ret;
	b->op->undo(b);
	/* Lazily freed areas are purged here, or some later call pays. */
	vm_unmap_aliases();
	cond_resched();
	return 0;
}

static int run_op(const struct bench_op *op, u64 empty)
{
	/* Not on the stack, which is small; the module runs once at a time. */
	static struct sample samples[MAX_REPEAT];
	struct sample first, scratch;
	struct bench b = { .op = op };
	unsigned int i, up, any;
	char runs[48] = "";
	int ret = 0;

	if (op->setup)
		ret = op->setup(&b);
	if (ret) {
		pr_info("op=%s error=%d in=setup\n", op->name, ret);
		return ret;
	}
	ret = run_once(&b, &first);
	for (i = 1; !ret && i < warmup; i++)
		ret = run_once(&b, &scratch);
	for (i = 0; !ret && i < repeat; i++)
		ret = run_once(&b, &samples[i]);
	if (!ret && b.area) {
		count_runs(&b, &up, &any);
		snprintf(runs, sizeof(runs), " runs_up=%u runs_any=%u", up,
			 any);
	}
	if (op->teardown)
		op->teardown(&b);
	if (ret) {
		pr_info("op=%s error=%d in=run\n", op->name, ret);
		return ret;
	}
	sort(samples, repeat, sizeof(*samples), by_insns, NULL);
	pr_info("op=%s insns=%llu min=%llu max=%llu first=%llu n=%u region=%u%s\n",
		op->name, samples[repeat / 2].insns - empty,
		samples[0].insns - empty, samples[repeat - 1].insns - empty,
		first.insns - empty, repeat, samples[repeat / 2].region, runs);
	return 0;
}

static int __init kpgtable_bench_init(void)
{
	struct sample sample;
	unsigned int i, chosen = 0, done = 0;
	int ret;

	if (!repeat || repeat > MAX_REPEAT || !warmup) {
		pr_err("repeat must be 1 to %u, warmup at least 1\n",
		       MAX_REPEAT);
		return -EINVAL;
	}
	if (PAGE_SIZE != SZ_4K) {
		pr_err("sizes and orders are for 4K pages\n");
		return -EINVAL;
	}
	ret = ksym_check();
	if (ret)
		return ret;
	ksym_set_memory_ro = ksym_find("set_memory_ro");
	ksym_set_memory_rw = ksym_find("set_memory_rw");
	if (!ksym_set_memory_ro || !ksym_set_memory_rw) {
		pr_err("no set_memory_ro or set_memory_rw in this kernel\n");
		return -ENOENT;
	}
	ret = counter_start();
	if (ret)
		return ret;

	pr_info("begin repeat=%u warmup=%u page_size=%lu\n", repeat, warmup,
		PAGE_SIZE);
	for (i = 0; i < warmup; i++)
		measure(NULL, run_nothing, &sample);
	pr_info("op=empty insns=%llu region=%u\n", sample.insns,
		sample.region);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		if (strncmp(ops[i].name, only, strlen(only)))
			continue;
		chosen++;
		if (!run_op(&ops[i], sample.insns))
			done++;
	}
	counter_stop();
	pr_info("end ops=%u of=%u\n", done, chosen);
	return 0;
}

static void __exit kpgtable_bench_exit(void)
{
}

module_init(kpgtable_bench_init);
module_exit(kpgtable_bench_exit);

MODULE_DESCRIPTION("Instruction cost of kernel page-table operations");
MODULE_LICENSE("GPL");
