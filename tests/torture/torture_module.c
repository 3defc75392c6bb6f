// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that comes and goes: it has text, rodata, ro_after_init and data, all
 * of which change permissions, and takes a vmalloc area for a moment. Loading
 * succeeds only if all of that holds what it should.
 */
#include <linux/module.h>
#include <linux/vmalloc.h>

#define NR_WORDS	(2 * PAGE_SIZE / sizeof(u64))
#define NR_PAGES	24

static const u64 constants[NR_WORDS] = {
	[0 ... NR_WORDS - 1] = 0x1122334455667788ULL,
};

static u64 late_constants[NR_WORDS] __ro_after_init = {
	[0 ... NR_WORDS - 1] = 0x99aabbccddeeff00ULL,
};

static bool all_are(const u64 *words, unsigned long nr, u64 value)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		if (READ_ONCE(words[i]) != value)
			return false;
	return true;
}

static int use_area(void)
{
	unsigned long nr = NR_PAGES * PAGE_SIZE / sizeof(u64), i;
	u64 *area = vmalloc(NR_PAGES * PAGE_SIZE);
	bool right;

	if (!area)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		WRITE_ONCE(area[i], 0x5566778899aabbccULL);
	right = all_are(area, nr, 0x5566778899aabbccULL);
	vfree(area);

	return right ? 0 : -EIO;
}

static int __init torture_module_init(void)
{
	late_constants[1] = late_constants[0];
	if (!all_are(constants, NR_WORDS, 0x1122334455667788ULL) ||
	    !all_are(late_constants, NR_WORDS, 0x99aabbccddeeff00ULL))
		return -EIO;

	return use_area();
}

/* Read-only data must still be right after a life among other changes. */
static void __exit torture_module_exit(void)
{
	WARN_ON_ONCE(!all_are(constants, NR_WORDS, 0x1122334455667788ULL));
	WARN_ON_ONCE(!all_are(late_constants, NR_WORDS, 0x99aabbccddeeff00ULL));
}

module_init(torture_module_init);
module_exit(torture_module_exit);

MODULE_DESCRIPTION("Module that is loaded and unloaded by a test");
MODULE_LICENSE("GPL");
