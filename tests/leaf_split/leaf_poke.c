// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change single pages of the linear map on behalf of a test program.
 *
 * The module takes memory in small blocks, spread over the machine, fills it
 * with a pattern and lets user space change the mapping of single pages of it.
 * Everything goes through the functions
 * that the kernel's own users call: set_direct_map_*_noflush() as secretmem
 * does, set_memory_valid() as hibernation does, set_memory_ro() and _rw() on
 * a VM_ALLOC area as modules and BPF do, which is what makes the linear alias
 * read-only.
 *
 * Files in /sys/kernel/debug/leaf_poke/
 *	blocks	read: "START END", linear addresses of one block per line
 *	cmd	write: "VERB ADDR", ADDR being a linear address in a block.
 *		The write fails with the error of the function called.
 *		  invalid	set_direct_map_invalid_noflush(), then flush
 *		  default	set_direct_map_default_noflush(), then flush
 *		  clear		set_memory_valid(ADDR, 1, 0)
 *		  set		set_memory_valid(ADDR, 1, 1)
 *		  ro		map the page and set_memory_ro() it
 *		  rw		set_memory_rw() it and unmap it
 *		  touch		write the pattern again
 *		  clear_block	clear the whole block that starts at ADDR, in one
 *		  set_block	call; and set it
 *	verify	read: "pages=N skipped=N bad=N first=ADDR": every page that is
 *		not invalid just now is compared with its pattern
 *
 * Locking: poke_lock protects all state, including the mapping of the pages.
 * Context: process context only; the functions may sleep.
 * Failure: a failed command changes nothing of the module's own state. On
 *	unload pages that are still changed are put right first; one that
 *	cannot be is leaked, with a message, rather than freed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>
#include <asm/tlbflush.h>

#include "ksym.h"

static unsigned int megabytes = 256;
module_param(megabytes, uint, 0400);
MODULE_PARM_DESC(megabytes, "memory to look through for blocks");

static unsigned int stride = 1;
module_param(stride, uint, 0400);
MODULE_PARM_DESC(stride, "keep one block in so many MiB of addresses");

static unsigned int order = 5;
module_param(order, uint, 0400);
MODULE_PARM_DESC(order, "pages per block, as a power of two");

enum page_state { PAGE_DEFAULT, PAGE_INVALID, PAGE_RO };

struct poke_page {
	struct page *page;
	void *alias;
	enum page_state state;
};

static DEFINE_MUTEX(poke_lock);
static struct poke_page *poke_pages;
static unsigned long nr_poke_pages;
static struct dentry *poke_dir;

static int (*ksym_invalid_noflush)(struct page *page);
static int (*ksym_default_noflush)(struct page *page);
static int (*ksym_valid)(unsigned long addr, int numpages, int enable);
static int (*ksym_ro)(unsigned long addr, int numpages);
static int (*ksym_rw)(unsigned long addr, int numpages);

/* The pattern: a page that another one was mixed up with cannot match. */

static u64 pattern(const struct page *page, unsigned int i)
{
	return (u64)page_to_pfn(page) * 0x9e3779b97f4a7c15ULL + i;
}

static void write_pattern(struct page *page)
{
	u64 *words = page_address(page);
	unsigned int i;

	for (i = 0; i < PAGE_SIZE / sizeof(*words); i++)
		WRITE_ONCE(words[i], pattern(page, i));
}

static bool pattern_ok(struct page *page)
{
	u64 *words = page_address(page);
	unsigned int i;

	for (i = 0; i < PAGE_SIZE / sizeof(*words); i++)
		if (READ_ONCE(words[i]) != pattern(page, i))
			return false;
	return true;
}

/* The verbs */

static void flush_page(const struct poke_page *p)
{
	unsigned long addr = (unsigned long)page_address(p->page);

	flush_tlb_kernel_range(addr, addr + PAGE_SIZE);
}

static int do_invalid(struct poke_page *p)
{
	int ret;

	if (p->state != PAGE_DEFAULT)
		return -EBUSY;
	ret = ksym_invalid_noflush(p->page);
	if (ret)
		return ret;
	flush_page(p);
	p->state = PAGE_INVALID;
	return 0;
}

static int do_default(struct poke_page *p)
{
	int ret;

	if (p->state != PAGE_INVALID)
		return -EBUSY;
	ret = ksym_default_noflush(p->page);
	if (ret)
		return ret;
	flush_page(p);
	p->state = PAGE_DEFAULT;
	return 0;
}

static int do_clear(struct poke_page *p)
{
	int ret;

	if (p->state != PAGE_DEFAULT)
		return -EBUSY;
	ret = ksym_valid((unsigned long)page_address(p->page), 1, 0);
	if (!ret)
		p->state = PAGE_INVALID;
	return ret;
}

static int do_set(struct poke_page *p)
{
	int ret;

	if (p->state != PAGE_INVALID)
		return -EBUSY;
	ret = ksym_valid((unsigned long)page_address(p->page), 1, 1);
	if (!ret)
		p->state = PAGE_DEFAULT;
	return ret;
}

/*
 * set_memory_ro() takes VM_ALLOC areas only, and finds the linear alias by
 * area->pages, which vmap() fills in for VM_MAP_PUT_PAGES only. That flag
 * gives a reference and the array away to vfree().
 */
static int do_ro(struct poke_page *p)
{
	struct page **array;
	int ret;

	if (p->state != PAGE_DEFAULT)
		return -EBUSY;
	array = kvcalloc(1, sizeof(*array), GFP_KERNEL);
	if (!array)
		return -ENOMEM;
	array[0] = p->page;
	p->alias = vmap(array, 1, VM_ALLOC | VM_MAP_PUT_PAGES, PAGE_KERNEL);
	if (!p->alias) {
		kvfree(array);
		return -ENOMEM;
	}
	get_page(p->page);
	ret = ksym_ro((unsigned long)p->alias, 1);
	if (ret) {
		vfree(p->alias);
		p->alias = NULL;
		return ret;
	}
	p->state = PAGE_RO;
	return 0;
}

static int do_rw(struct poke_page *p)
{
	int ret;

	if (p->state != PAGE_RO)
		return -EBUSY;
	ret = ksym_rw((unsigned long)p->alias, 1);
	if (ret)
		return ret;
	vfree(p->alias);
	p->alias = NULL;
	p->state = PAGE_DEFAULT;
	return 0;
}

static int do_touch(struct poke_page *p)
{
	if (p->state != PAGE_DEFAULT)
		return -EBUSY;
	write_pattern(p->page);
	return 0;
}

/* All pages of a block at once, which splits no leaf that the block fills. */
static int change_block(struct poke_page *first, enum page_state from,
			enum page_state to)
{
	unsigned long i, nr = 1UL << order;
	int ret;

	if ((first - poke_pages) % nr)
		return -EINVAL;
	for (i = 0; i < nr; i++)
		if (first[i].state != from)
			return -EBUSY;
	ret = ksym_valid((unsigned long)page_address(first->page), nr,
			 to != PAGE_INVALID);
	for (i = 0; i < nr && !ret; i++)
		first[i].state = to;
	return ret;
}

static int do_clear_block(struct poke_page *p)
{
	return change_block(p, PAGE_DEFAULT, PAGE_INVALID);
}

static int do_set_block(struct poke_page *p)
{
	return change_block(p, PAGE_INVALID, PAGE_DEFAULT);
}

static const struct {
	const char *name;
	int (*run)(struct poke_page *p);
} verbs[] = {
	{ "invalid", do_invalid },
	{ "default", do_default },
	{ "clear", do_clear },
	{ "set", do_set },
	{ "ro", do_ro },
	{ "rw", do_rw },
	{ "touch", do_touch },
	{ "clear_block", do_clear_block },
	{ "set_block", do_set_block },
};

/* The files */

static struct poke_page *find_page(unsigned long addr)
{
	unsigned long i;

	for (i = 0; i < nr_poke_pages; i++)
		if ((unsigned long)page_address(poke_pages[i].page) == addr)
			return &poke_pages[i];
	return NULL;
}

static ssize_t cmd_write(struct file *file, const char __user *from,
			 size_t size, loff_t *pos)
{
	char text[64], verb[16];
	struct poke_page *p;
	unsigned long addr;
	unsigned int i;
	int ret = -EINVAL;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, size))
		return -EFAULT;
	text[size] = '\0';
	if (sscanf(text, "%15s %lx", verb, &addr) != 2)
		return -EINVAL;

	mutex_lock(&poke_lock);
	p = find_page(addr);
	if (!p) {
		ret = -ERANGE;
	} else {
		for (i = 0; i < ARRAY_SIZE(verbs); i++)
			if (!strcmp(verb, verbs[i].name))
				ret = verbs[i].run(p);
	}
	mutex_unlock(&poke_lock);
	return ret ? ret : size;
}

static const struct file_operations cmd_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = cmd_write,
};

static int blocks_show(struct seq_file *m, void *unused)
{
	unsigned long i, bytes = PAGE_SIZE << order;

	for (i = 0; i < nr_poke_pages; i += 1UL << order) {
		unsigned long start;

		start = (unsigned long)page_address(poke_pages[i].page);
		seq_printf(m, "0x%lx 0x%lx\n", start, start + bytes);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(blocks);

static int verify_show(struct seq_file *m, void *unused)
{
	unsigned long i, pages = 0, skipped = 0, bad = 0;
	void *first = NULL;

	mutex_lock(&poke_lock);
	for (i = 0; i < nr_poke_pages; i++) {
		struct poke_page *p = &poke_pages[i];

		if (p->state == PAGE_INVALID) {
			skipped++;
			continue;
		}
		pages++;
		if (pattern_ok(p->page))
			continue;
		if (!bad++)
			first = page_address(p->page);
	}
	mutex_unlock(&poke_lock);
	seq_printf(m, "pages=%lu skipped=%lu bad=%lu first=0x%lx\n", pages,
		   skipped, bad, (unsigned long)first);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(verify);

/* Memory */

static void put_back_pages(void)
{
	unsigned long i;

	for (i = 0; i < nr_poke_pages; i++) {
		struct poke_page *p = &poke_pages[i];

		if (p->state == PAGE_INVALID)
			do_default(p);
		else if (p->state == PAGE_RO)
			do_rw(p);
		if (p->state == PAGE_DEFAULT)
			__free_page(p->page);
		else
			pr_err("pfn %lx cannot be restored, leaked\n",
			       page_to_pfn(p->page));
	}
	kvfree(poke_pages);
}

static void keep_block(struct page *block)
{
	unsigned long i;

	split_page(block, order);
	for (i = 0; i < 1UL << order; i++) {
		poke_pages[nr_poke_pages++].page = block + i;
		write_pattern(block + i);
	}
}

/*
 * Takes blocks until @megabytes have gone by and keeps the first one of each
 * stretch of @stride MiB. The others are set aside meanwhile, or the allocator
 * would hand out the same ones again.
 */
static int take_pages(void)
{
	unsigned long nr_blocks = ((u64)megabytes << 20) >>
				  (PAGE_SHIFT + order);
	struct page *block, *aside = NULL;
	struct xarray seen;
	unsigned long i;

	poke_pages = kvcalloc(nr_blocks << order, sizeof(*poke_pages),
			      GFP_KERNEL);
	if (!poke_pages)
		return -ENOMEM;
	xa_init(&seen);
	for (i = 0; i < nr_blocks; i++) {
		block = alloc_pages(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN,
				    order);
		if (!block)
			break;
		if (!xa_insert(&seen, (page_to_phys(block) >> 20) / stride,
			       block, GFP_KERNEL)) {
			keep_block(block);
			continue;
		}
		set_page_private(block, (unsigned long)aside);
		aside = block;
	}
	while (aside) {
		block = aside;
		aside = (struct page *)page_private(block);
		set_page_private(block, 0);
		__free_pages(block, order);
	}
	xa_destroy(&seen);
	if (!nr_poke_pages) {
		kvfree(poke_pages);
		return -ENOMEM;
	}
	return 0;
}

static int find_symbols(void)
{
	ksym_invalid_noflush = ksym_find("set_direct_map_invalid_noflush");
	ksym_default_noflush = ksym_find("set_direct_map_default_noflush");
	ksym_valid = ksym_find("set_memory_valid");
	ksym_ro = ksym_find("set_memory_ro");
	ksym_rw = ksym_find("set_memory_rw");
	if (ksym_invalid_noflush && ksym_default_noflush && ksym_valid &&
	    ksym_ro && ksym_rw)
		return 0;
	pr_err("a set_memory or set_direct_map function is missing\n");
	return -ENOENT;
}

static int __init leaf_poke_init(void)
{
	int ret = ksym_check();

	if (!ret)
		ret = find_symbols();
	if (!ret && (!stride || order > MAX_PAGE_ORDER))
		ret = -EINVAL;
	if (!ret)
		ret = take_pages();
	if (ret)
		return ret;
	poke_dir = debugfs_create_dir("leaf_poke", NULL);
	debugfs_create_file("blocks", 0400, poke_dir, NULL, &blocks_fops);
	debugfs_create_file("cmd", 0200, poke_dir, NULL, &cmd_fops);
	debugfs_create_file("verify", 0400, poke_dir, NULL, &verify_fops);
	return 0;
}

static void __exit leaf_poke_exit(void)
{
	debugfs_remove(poke_dir);
	put_back_pages();
}

module_init(leaf_poke_init);
module_exit(leaf_poke_exit);

MODULE_DESCRIPTION("Change single pages of the linear map for a test");
MODULE_LICENSE("GPL");
