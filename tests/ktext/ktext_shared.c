// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map a page where tables of each level have to be made for it, and see from
 * every CPU that the mapping comes and goes.
 *
 * For each level a page is mapped at a multiple of what one entry of the level
 * translates, in the middle of vmalloc space, at another one for each CPU. So an
 * entry of that level is made, or one that no one but this module has touched
 * since boot is used, whichever node the mapping CPU belongs to. What one CPU
 * maps every other has to read at once; after vunmap every other has to fault.
 *
 * Loading fails with -EIO if any CPU disagrees. The parameter "lookup" is that
 * of ksym.h.
 */
#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pgtable.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "ksym.h"

static struct vm_struct *(*get_area)(unsigned long size, unsigned long flags,
				     unsigned long start, unsigned long end,
				     const void *caller);
static int (*map_range)(unsigned long addr, unsigned long end,
			phys_addr_t phys, pgprot_t prot);
static void (*unmap_range)(unsigned long addr, unsigned long end);

/* Read @data on this CPU: its value, or 0 if it faults. */
static int read_word(void *data)
{
	u32 word;

	if (copy_from_kernel_nofault(&word, data, sizeof(word)))
		return 0;
	return word;
}

static int map_on(void *data)
{
	unsigned long *args = data;

	return map_range(args[0], args[0] + PAGE_SIZE, args[1], PAGE_KERNEL);
}

static int unmap_on(void *data)
{
	unsigned long *args = data;

	unmap_range(args[0], args[0] + PAGE_SIZE);
	return 0;
}

static int see_everywhere(unsigned long addr, int word, int by,
			  const char *what)
{
	int cpu, seen, ret = 0;

	for_each_online_cpu(cpu) {
		seen = smp_call_on_cpu(cpu, read_word, (void *)addr, false);
		if (seen == word)
			continue;
		pr_err("CPU %d reads %#x, not %#x, from %#lx that CPU %d %s\n",
		       cpu, seen, word, addr, by, what);
		ret = -EIO;
	}

	return ret;
}

/*
 * An address in the middle of vmalloc space, where areas come and go last, at
 * which an entry for @size bytes begins: another one for each @nr.
 */
static struct vm_struct *area_at_boundary(unsigned long size, int nr)
{
	unsigned long middle = VMALLOC_START + (VMALLOC_END - VMALLOC_START) / 2;
	unsigned long addr = ALIGN(middle + 1, size) + nr * size;
	struct vm_struct *area = NULL;

	/* No larger than this: KASAN has memory for all of it. */
	for (; !area && VMALLOC_END - addr > size; addr += size)
		area = get_area(PAGE_SIZE, VM_IOREMAP, addr,
				addr + 2 * PAGE_SIZE,
				__builtin_return_address(0));

	return area;
}

static int come_and_go(unsigned long size, struct page *page)
{
	struct vm_struct *area;
	unsigned long args[2];
	int cpu, ret = 0;

	/* A part of vmalloc space only: some of it is always in use. */
	if (size > (VMALLOC_END - VMALLOC_START) / 16)
		return 0;

	for_each_online_cpu(cpu) {
		area = area_at_boundary(size, cpu);
		if (!area) {
			pr_err("no area at a multiple of %#lx\n", size);
			return -ENOMEM;
		}
		args[0] = (unsigned long)area->addr;
		args[1] = page_to_phys(page);
		*(u32 *)page_address(page) = 0x5eed + cpu;

		ret = smp_call_on_cpu(cpu, map_on, args, false);
		if (!ret)
			ret = see_everywhere(args[0], 0x5eed + cpu, cpu,
					     "mapped");
		smp_call_on_cpu(cpu, unmap_on, args, false);
		if (!ret)
			ret = see_everywhere(args[0], 0, cpu, "unmapped");
		free_vm_area(area);
		if (ret)
			return ret;
	}

	return 0;
}

static int __init ktext_shared_init(void)
{
	static const unsigned int shifts[] = {
		PAGE_SHIFT, PMD_SHIFT, PUD_SHIFT, P4D_SHIFT, PGDIR_SHIFT,
	};
	struct page *page;
	unsigned int i;
	int ret = ksym_check();

	if (ret)
		return ret;
	get_area = ksym_find("__get_vm_area_caller");
	map_range = ksym_find("vmap_page_range");
	unmap_range = ksym_find("vunmap_range");
	if (!get_area || !map_range || !unmap_range)
		return -ENOENT;

	page = alloc_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(shifts) && !ret; i++)
		ret = come_and_go(1UL << shifts[i], page);
	__free_page(page);

	return ret;
}
module_init(ktext_shared_init);

static void __exit ktext_shared_exit(void)
{
}
module_exit(ktext_shared_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Shared kernel mappings, seen from every CPU");
