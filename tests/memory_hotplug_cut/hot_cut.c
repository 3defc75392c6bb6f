// SPDX-License-Identifier: GPL-2.0-only
/*
 * Add memory, remove a block out of the middle of it, and add the block again.
 *
 * The memory is a made-up range that is never put online: nobody touches it, but
 * it gets a linear mapping. Where leaves can be split, just the block loses its
 * mapping; where not, a block that is part of a leaf stays mapped, and must be
 * taken again. Its neighbours are mapped all the time.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/module.h>
#include <linux/sizes.h>

static unsigned long long start;
module_param(start, ullong, 0);
MODULE_PARM_DESC(start, "physical address where no memory is, a multiple of 1 GiB");

static bool can_split;
module_param(can_split, bool, 0);
MODULE_PARM_DESC(can_split, "leaves can be split, or are pages");

static u64 block, size;
static bool block_stays;

/* Ask the CPU whether all pages of a range can be read, or none. */
static bool mapped_is(u64 from, u64 to, bool mapped)
{
	u64 pa, par;

	for (pa = from; pa < to; pa += PAGE_SIZE) {
		unsigned long flags;

		local_irq_save(flags);
		asm volatile("at s1e1r, %0" :: "r" (__phys_to_virt(pa)));
		isb();
		par = read_sysreg_par();
		local_irq_restore(flags);
		if (!(par & SYS_PAR_EL1_F) != mapped) {
			pr_err("%#llx is %smapped\n", pa, mapped ? "not " : "");
			return false;
		}
	}

	return true;
}

static int add(u64 from, u64 to)
{
	int ret = add_memory(0, from, to - from, MHP_NONE);

	if (ret)
		pr_err("[%#llx, %#llx) is not added: %d\n", from, to, ret);
	return ret ?: mapped_is(from, to, true) ? 0 : -EIO;
}

/* remove_memory() says nothing of what becomes of the mapping. */
static int remove(u64 from, u64 to)
{
	int ret = remove_memory(from, to - from);

	if (ret)
		pr_err("[%#llx, %#llx) is not removed: %d\n", from, to, ret);
	return ret;
}

static int cut(u64 first, u64 end)
{
	int ret;

	ret = add(start, start + size);
	if (!ret)
		ret = remove(first, end);
	if (ret)
		return ret;

	if (!mapped_is(start, first, true) ||
	    !mapped_is(first, end, block_stays) ||
	    !mapped_is(end, start + size, true))
		return -EIO;

	ret = add(first, end);
	if (!ret && start < first)
		ret = remove(start, first);
	if (!ret)
		ret = remove(first, end);
	if (!ret && end < start + size)
		ret = remove(end, start + size);
	/* Once more in one piece, so that whatever stayed can go. */
	if (!ret)
		ret = add(start, start + size);
	if (!ret)
		ret = remove(start, start + size);
	if (!ret && !mapped_is(start, start + size, false))
		ret = -EIO;

	return ret;
}

static int __init hot_cut_init(void)
{
	u64 first;
	int ret = 0;

	block = memory_block_size_bytes();
	size = max_t(u64, SZ_1G, 2 * block);
	/* With 64K pages a block is a leaf of 512 MiB, or more than one. */
	block_stays = !can_split && !IS_ALIGNED(block, SZ_512M);
	pr_info("a block that is removed %s mapped\n",
		block_stays ? "stays" : "is not");
	if (!start || !IS_ALIGNED(start, size))
		return -EINVAL;

	for (first = start; !ret && first < start + size; first += 3 * block)
		ret = cut(first, first + block);

	return ret;
}

static void __exit hot_cut_exit(void)
{
}

module_init(hot_cut_init);
module_exit(hot_cut_exit);

MODULE_DESCRIPTION("Remove and add blocks out of the middle of hot-added memory");
MODULE_LICENSE("GPL");
