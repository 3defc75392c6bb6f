// SPDX-License-Identifier: GPL-2.0-only
/*
 * Areas in vmalloc space with leaves of several sizes, for others to read.
 *
 * Each area is filled with 64-bit words, a number of its own and upwards.
 * /sys/kernel/debug/areas has a line "NAME addr=N size=N number=N" for each.
 *
 * "leak" written there allocates an object and forgets it; "keep" puts the only
 * pointer to one into the middle of the huge area. The line "objects"
 * has their addresses, inverted, which kmemleak takes for no pointers.
 */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define NR_PAGES	1024

static struct page *pages[NR_PAGES];
static unsigned int orders[NR_PAGES];
static unsigned int nr_pages, nr_blocks;

enum { VMAP, RAM, RAM_SMALL, HUGE, PLAIN, NR_AREAS };

static struct {
	const char *name;
	u64 *addr;
	unsigned long size;
} areas[NR_AREAS] = {
	[VMAP] = { "vmap" },
	[RAM] = { "vm_map_ram" },
	[RAM_SMALL] = { "vm_map_ram_small" },
	[HUGE] = { "vmalloc_huge", NULL, SZ_4M },
	[PLAIN] = { "vmalloc", NULL, SZ_1M },
};

static unsigned long leak_addr, keep_addr;
static struct dentry *file;

static void free_all(void)
{
	unsigned int i, first = 0;

	vfree(areas[PLAIN].addr);
	vfree(areas[HUGE].addr);
	if (areas[RAM_SMALL].addr)
		vm_unmap_ram(areas[RAM_SMALL].addr,
			     PFN_DOWN(areas[RAM_SMALL].size));
	if (areas[RAM].addr)
		vm_unmap_ram(areas[RAM].addr, PFN_DOWN(areas[RAM].size));
	vunmap(areas[VMAP].addr);
	for (i = 0; i < nr_blocks; i++) {
		__free_pages(pages[first], orders[i]);
		first += 1U << orders[i];
	}
}

/* Blocks of descending orders, as far as the array goes. */
static int alloc_pages_of_all_orders(void)
{
	static const unsigned int sizes[] = { 9, 8, 5, 4, 4, 1, 0, 0, 0 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct page *page = alloc_pages(GFP_KERNEL, sizes[i]);

		if (!page)
			return -ENOMEM;
		orders[nr_blocks++] = sizes[i];
		for (j = 0; j < 1U << sizes[i]; j++)
			pages[nr_pages++] = page + j;
	}

	return 0;
}

/* Pages that two areas share hold what the last of them was filled with. */
static u64 number_of(unsigned int i)
{
	return (u64)(i == RAM_SMALL || i == RAM ? VMAP : i) << 32;
}

static int make_areas(void)
{
	unsigned long word;
	unsigned int i;

	if (alloc_pages_of_all_orders())
		return -ENOMEM;
	areas[VMAP].size = nr_pages * PAGE_SIZE;
	areas[VMAP].addr = vmap(pages, nr_pages, VM_MAP, PAGE_KERNEL);
	areas[RAM].size = nr_pages * PAGE_SIZE;
	areas[RAM].addr = vm_map_ram(pages, nr_pages, NUMA_NO_NODE);
	areas[RAM_SMALL].size = 5 * PAGE_SIZE;
	areas[RAM_SMALL].addr = vm_map_ram(pages, 5, NUMA_NO_NODE);
	areas[HUGE].addr = vmalloc_huge(areas[HUGE].size, GFP_KERNEL);
	areas[PLAIN].addr = vmalloc(areas[PLAIN].size);
	for (i = 0; i < NR_AREAS; i++) {
		if (!areas[i].addr)
			return -ENOMEM;
		for (word = 0; word < areas[i].size / sizeof(u64); word++)
			areas[i].addr[word] = number_of(i) + word;
	}

	return 0;
}

static ssize_t show(struct file *f, char __user *text, size_t size, loff_t *pos)
{
	char lines[512];
	unsigned int i;
	int nr = 0;

	for (i = 0; i < NR_AREAS; i++)
		nr += scnprintf(lines + nr, sizeof(lines) - nr,
				"%s addr=%lu size=%lu number=%llu\n",
				areas[i].name, (unsigned long)areas[i].addr,
				areas[i].size, number_of(i));
	nr += scnprintf(lines + nr, sizeof(lines) - nr, "objects leak=%lu keep=%lu\n",
			leak_addr, keep_addr);
	return simple_read_from_buffer(text, size, pos, lines, nr);
}

static ssize_t command(struct file *f, const char __user *text, size_t size,
		       loff_t *pos)
{
	char word[8] = "";
	void *object;

	if (size >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, text, size))
		return -EFAULT;
	object = kmalloc(100, GFP_KERNEL);
	if (!object)
		return -ENOMEM;
	/* The numbers kept for show() are no pointers that kmemleak finds. */
	if (!strcmp(word, "leak")) {
		leak_addr = ~(unsigned long)object;
	} else if (!strcmp(word, "keep")) {
		keep_addr = ~(unsigned long)object;
		areas[HUGE].addr[areas[HUGE].size / sizeof(u64) / 2] =
			(unsigned long)object;
	} else {
		kfree(object);
		return -EINVAL;
	}

	return size;
}

static const struct file_operations ops = {
	.owner	= THIS_MODULE,
	.read	= show,
	.write	= command,
};

static int __init areas_init(void)
{
	int ret = make_areas();

	if (ret) {
		free_all();
		return ret;
	}
	file = debugfs_create_file("areas", 0600, NULL, NULL, &ops);
	return 0;
}

static void __exit areas_exit(void)
{
	debugfs_remove(file);
	if (keep_addr)
		kfree((void *)~keep_addr);
	free_all();
}

module_init(areas_init);
module_exit(areas_exit);

MODULE_DESCRIPTION("Areas in vmalloc space for others to read");
MODULE_LICENSE("GPL");
