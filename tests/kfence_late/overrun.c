// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read one byte past an object of KFENCE, into its guard page.
 *
 * Loading allocates until KFENCE has taken one of the objects, and fails with
 * -ENOENT if it takes none.
 */
#include <linux/jiffies.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

static int __init overrun_init(void)
{
	unsigned long end = jiffies + 20 * HZ;

	while (time_before(jiffies, end)) {
		/* Whole pages have their guard page right behind them. */
		char *object = kmalloc(PAGE_SIZE, GFP_KERNEL);
		bool taken = object && is_kfence_address(object);

		if (taken)
			READ_ONCE(object[PAGE_SIZE]);
		kfree(object);
		if (taken)
			return 0;
		cond_resched();
	}
	return -ENOENT;
}

static void __exit overrun_exit(void)
{
}

module_init(overrun_init);
module_exit(overrun_exit);

MODULE_DESCRIPTION("Read past an object of KFENCE, for a test");
MODULE_LICENSE("GPL");
