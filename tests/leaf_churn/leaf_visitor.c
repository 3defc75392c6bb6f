// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that comes and goes: text, rodata, ro_after_init and data of its
 * own, all of which change permissions when it is loaded and when it leaves.
 *
 * Loading succeeds only if all four hold what the compiler put there, which
 * they would not if a permission change had hit the wrong page.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>

#define NR_WORDS	(3 * PAGE_SIZE / sizeof(u64))

static const u64 constants[NR_WORDS] = {
	[0 ... NR_WORDS - 1] = 0x1122334455667788ULL,
};

static u64 late_constants[NR_WORDS] __ro_after_init = {
	[0 ... NR_WORDS - 1] = 0x99aabbccddeeff00ULL,
};

static u64 variables[NR_WORDS] = {
	[0 ... NR_WORDS - 1] = 0x0f1e2d3c4b5a6978ULL,
};

static noinline u64 fold(const u64 *words)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < NR_WORDS; i++)
		sum = sum * 31 + READ_ONCE(words[i]);
	return sum;
}

static noinline u64 fold_same(u64 word)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < NR_WORDS; i++)
		sum = sum * 31 + word;
	return sum;
}

static int __init leaf_visitor_init(void)
{
	late_constants[1] = late_constants[0];
	if (fold(constants) != fold_same(0x1122334455667788ULL) ||
	    fold(late_constants) != fold_same(0x99aabbccddeeff00ULL) ||
	    fold(variables) != fold_same(0x0f1e2d3c4b5a6978ULL))
		return -EIO;
	variables[0]++;
	return 0;
}

/* Read-only data must still be right after a life among other changes. */
static void __exit leaf_visitor_exit(void)
{
	WARN_ON_ONCE(fold(constants) != fold_same(0x1122334455667788ULL));
	WARN_ON_ONCE(fold(late_constants) != fold_same(0x99aabbccddeeff00ULL));
}

module_init(leaf_visitor_init);
module_exit(leaf_visitor_exit);

MODULE_DESCRIPTION("Module that is loaded and unloaded by a test");
MODULE_LICENSE("GPL");
