// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take 80 % of memory by vmalloc, make it read-only, make it writable, free it.
 *
 * All areas are read-only at one time, so most of the linear map is in pieces
 * then. Each page carries a pattern that is looked at after either change.
 * Loading does everything, and fails with -EAGAIN if all went well, so that the
 * module never stays.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>

#include "ksym.h"

#define AREA_SIZE	SZ_2M
#define PER_AREA	(AREA_SIZE / PAGE_SIZE)

static int (*ksym_ro)(unsigned long addr, int numpages);
static int (*ksym_rw)(unsigned long addr, int numpages);

static u64 mark(unsigned long area, unsigned long page)
{
	return (area * PER_AREA + page) * 0x9e3779b97f4a7c15ULL;
}

static void write_marks(void *addr, unsigned long area)
{
	unsigned long i;

	for (i = 0; i < PER_AREA; i++)
		WRITE_ONCE(*(u64 *)(addr + i * PAGE_SIZE), mark(area, i));
}

/* As the area shows them, and as the linear map does. */
static unsigned long wrong_marks(void *addr, unsigned long area)
{
	unsigned long i, wrong = 0;

	for (i = 0; i < PER_AREA; i++) {
		u64 *word = addr + i * PAGE_SIZE;

		wrong += READ_ONCE(*word) != mark(area, i);
		word = page_address(vmalloc_to_page(word));
		wrong += READ_ONCE(*word) != mark(area, i);
	}
	return wrong;
}

static int use_most(void **areas, unsigned long nr)
{
	unsigned long i, got, wrong = 0;
	int ret = 0;

	for (got = 0; got < nr; got++) {
		areas[got] = vmalloc(AREA_SIZE);
		if (!areas[got])
			break;
		write_marks(areas[got], got);
	}
	for (i = 0; i < got && !ret; i++)
		ret = ksym_ro((unsigned long)areas[i], PER_AREA);
	for (i = 0; i < got; i++)
		wrong += wrong_marks(areas[i], i);
	for (i = 0; i < got && !ret; i++)
		ret = ksym_rw((unsigned long)areas[i], PER_AREA);
	for (i = 0; i < got && !ret; i++) {
		wrong += wrong_marks(areas[i], i);
		write_marks(areas[i], i + 1);
		wrong += wrong_marks(areas[i], i + 1);
	}
	pr_info("%lu of %lu areas, error %d, %lu words wrong\n", got, nr, ret,
		wrong);
	if (ret) {
		pr_err("areas may be read-only, so they are leaked\n");
		return ret;
	}
	for (i = 0; i < got; i++)
		vfree(areas[i]);

	return wrong || got < nr ? -EIO : -EAGAIN;
}

static int __init vmalloc_most_init(void)
{
	unsigned long nr = totalram_pages() / 5 * 4 / PER_AREA;
	void **areas;
	int ret = ksym_check();

	if (ret)
		return ret;
	ksym_ro = ksym_find("set_memory_ro");
	ksym_rw = ksym_find("set_memory_rw");
	if (!ksym_ro || !ksym_rw)
		return -ENOENT;

	areas = kvcalloc(nr, sizeof(*areas), GFP_KERNEL);
	if (!areas)
		return -ENOMEM;
	ret = use_most(areas, nr);
	kvfree(areas);
	return ret;
}
module_init(vmalloc_most_init);

MODULE_DESCRIPTION("Take most of memory through vmalloc and set_memory");
MODULE_LICENSE("GPL");
