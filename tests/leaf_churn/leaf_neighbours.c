// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read and write memory around everybody else's, on every CPU, all the time.
 *
 * Takes @megabytes of single pages and gives every other one back, so that
 * whatever allocates next (module text, BPF programs, page tables) gets pages
 * whose neighbours in the linear map are ours. One thread per online CPU then
 * walks its share of the pages for as long as the module is loaded, checks
 * what it wrote last time and writes the next generation. If a permission
 * change or a split next door disturbs a neighbour, a thread faults or reads
 * something else than it wrote.
 *
 * /sys/kernel/debug/leaf_neighbours
 *	read: "threads=N pages=N rounds=N least=N bad=N": rounds over all
 *	threads, the rounds of the slowest one, and words found wrong.
 *
 * Locking: each thread owns its pages; counters are written by one thread and
 * read by any with READ_ONCE().
 * Failure: the module does not load; nothing stays behind.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

static unsigned int megabytes = 32;
module_param(megabytes, uint, 0400);
MODULE_PARM_DESC(megabytes, "memory to take; half of it is given back");

struct worker {
	struct task_struct *task;
	struct page **pages;
	unsigned long nr_pages;
	unsigned long rounds;
	unsigned long bad;
};

static struct page **all_pages;
static unsigned long nr_pages;
static struct worker *workers;
static unsigned int nr_workers;
static struct dentry *file;

static u64 expected(const struct page *page, u64 generation, unsigned int i)
{
	return (page_to_pfn(page) + (generation << 40)) * 0x9e3779b97f4a7c15ULL
	       + i;
}

/* Checks generation @old, unless there is none yet, and writes the next. */
static unsigned long renew_page(struct page *page, u64 old)
{
	u64 *words = page_address(page);
	unsigned long bad = 0;
	unsigned int i;

	for (i = 0; i < PAGE_SIZE / sizeof(*words); i++) {
		if (old && READ_ONCE(words[i]) != expected(page, old, i))
			bad++;
		WRITE_ONCE(words[i], expected(page, old + 1, i));
	}
	return bad;
}

static int worker_main(void *arg)
{
	struct worker *w = arg;
	unsigned long i, bad = 0;
	u64 generation = 0;

	while (!kthread_should_stop()) {
		for (i = 0; i < w->nr_pages && !kthread_should_stop(); i++) {
			bad += renew_page(w->pages[i], generation);
			cond_resched();
		}
		/* Stopped in the middle: pages are of two generations. */
		if (i < w->nr_pages)
			break;
		generation++;
		WRITE_ONCE(w->bad, bad);
		WRITE_ONCE(w->rounds, generation);
	}
	WRITE_ONCE(w->bad, bad);
	return 0;
}

static int neighbours_show(struct seq_file *m, void *unused)
{
	unsigned long rounds = 0, least = ULONG_MAX, bad = 0;
	unsigned int i;

	for (i = 0; i < nr_workers; i++) {
		unsigned long mine = READ_ONCE(workers[i].rounds);

		rounds += mine;
		least = min(least, mine);
		bad += READ_ONCE(workers[i].bad);
	}
	seq_printf(m, "threads=%u pages=%lu rounds=%lu least=%lu bad=%lu\n",
		   nr_workers, nr_pages, rounds, least, bad);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(neighbours);

static void release(void)
{
	unsigned long i;

	for (i = 0; i < nr_workers; i++)
		kthread_stop(workers[i].task);
	for (i = 0; i < nr_pages; i++)
		__free_page(all_pages[i]);
	kfree(workers);
	kvfree(all_pages);
}

static int take_pages(void)
{
	unsigned long want = ((u64)megabytes << 20) >> PAGE_SHIFT;
	struct page *page, *spare = NULL;
	unsigned long i;
	int ret = 0;

	all_pages = kvcalloc(want / 2, sizeof(*all_pages), GFP_KERNEL);
	if (!all_pages)
		return -ENOMEM;
	/* The pages to give back are kept on a list until all are taken. */
	for (i = 0; i < want; i++) {
		page = alloc_page(GFP_KERNEL);
		if (!page) {
			ret = -ENOMEM;
			break;
		}
		if (i & 1) {
			all_pages[nr_pages++] = page;
		} else {
			set_page_private(page, (unsigned long)spare);
			spare = page;
		}
	}
	while (spare) {
		page = spare;
		spare = (struct page *)page_private(page);
		set_page_private(page, 0);
		__free_page(page);
	}
	return ret;
}

static int start_workers(void)
{
	unsigned int cpu, i = 0, cpus;
	int ret = 0;

	cpus_read_lock();
	cpus = num_online_cpus();
	workers = kcalloc(cpus, sizeof(*workers), GFP_KERNEL);
	if (!workers) {
		ret = -ENOMEM;
		goto unlock;
	}
	for_each_online_cpu(cpu) {
		struct worker *w = &workers[i];

		w->pages = all_pages + nr_pages * i / cpus;
		w->nr_pages = nr_pages * (i + 1) / cpus - nr_pages * i / cpus;
		w->task = kthread_create_on_cpu(worker_main, w, cpu,
						"neighbour/%u");
		if (IS_ERR(w->task)) {
			ret = PTR_ERR(w->task);
			goto unlock;
		}
		/* Lowest priority: the load under test must make progress. */
		set_user_nice(w->task, MAX_NICE);
		wake_up_process(w->task);
		nr_workers = ++i;
	}
unlock:
	cpus_read_unlock();
	return ret;
}

static int __init leaf_neighbours_init(void)
{
	int ret = take_pages();

	if (!ret)
		ret = start_workers();
	if (ret) {
		release();
		return ret;
	}
	file = debugfs_create_file("leaf_neighbours", 0400, NULL, NULL,
				   &neighbours_fops);
	return 0;
}

static void __exit leaf_neighbours_exit(void)
{
	debugfs_remove(file);
	release();
}

module_init(leaf_neighbours_init);
module_exit(leaf_neighbours_exit);

MODULE_DESCRIPTION("Users of the linear map next to everybody else's memory");
MODULE_LICENSE("GPL");
