// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is memory reached through the linear map, and are its page structs, from every
 * CPU alike? What one CPU writes the next one has to read.
 *
 * Loading fails with -EIO if any CPU disagrees with the parameter "there". The
 * memory must be in nobody's use.
 */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

static unsigned long start;
module_param(start, ulong, 0);
MODULE_PARM_DESC(start, "physical address");

static unsigned long size;
module_param(size, ulong, 0);
MODULE_PARM_DESC(size, "bytes");

static bool there;
module_param(there, bool, 0);
MODULE_PARM_DESC(there, "can it be reached?");

struct look {
	unsigned long phys;
	u64 expected;
	u64 next;
};

static int take_a_look(void *data)
{
	struct look *look = data;
	u64 *linear = phys_to_virt(look->phys);
	struct page *page = pfn_to_page(PHYS_PFN(look->phys));
	unsigned long flags;
	bool has_page;
	u64 word;

	has_page = !copy_from_kernel_nofault(&flags, &page->flags,
					     sizeof(flags));
	if (copy_from_kernel_nofault(&word, linear, sizeof(word)))
		return has_page ? -EUCLEAN : -ENXIO;
	if (!has_page)
		return -EUCLEAN;
	if (look->expected && word != look->expected)
		return -EIO;

	return copy_to_kernel_nofault(linear, &look->next, sizeof(look->next));
}

static int look_at(unsigned long phys)
{
	struct look look = { .phys = phys };
	int cpu, ret;

	for_each_online_cpu(cpu) {
		look.next = phys + cpu + 1;
		ret = smp_call_on_cpu(cpu, take_a_look, &look, false);
		if (ret != (there ? 0 : -ENXIO)) {
			pr_err("CPU %d at %#lx: %d\n", cpu, phys, ret);
			return -EIO;
		}
		look.expected = look.next;
	}

	return 0;
}

static int __init ktext_plugged_init(void)
{
	unsigned long phys;
	int ret = 0;

	/* A memory device comes and goes in such pieces, at the least. */
	for (phys = start; phys < start + size && !ret; phys += SZ_2M) {
		ret = look_at(phys);
		if (!ret)
			ret = look_at(phys + SZ_2M - sizeof(u64));
	}

	return ret;
}
module_init(ktext_plugged_init);

static void __exit ktext_plugged_exit(void)
{
}
module_exit(ktext_plugged_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Plugged memory, seen from every CPU");
