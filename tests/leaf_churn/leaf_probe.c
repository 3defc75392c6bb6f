// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kprobe that comes and goes with its module.
 *
 * The probed instruction is run from a page of its own, which becomes
 * read-only and executable when the first probe needs it and goes with the
 * last one. Loading succeeds only if the probe was hit and the function still
 * did its work.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

static unsigned int hits;

static noinline int probed(int x)
{
	/* Not to be folded into the caller, nor away. */
	asm volatile("" : "+r" (x));
	return x * 3 + 1;
}

static int count_hit(struct kprobe *p, struct pt_regs *regs)
{
	hits++;
	return 0;
}

static struct kprobe probe = {
	.addr = (kprobe_opcode_t *)probed,
	.pre_handler = count_hit,
};

static int __init leaf_probe_init(void)
{
	int ret = register_kprobe(&probe);

	if (ret)
		return ret;
	if (probed(5) == 16 && hits == 1)
		return 0;
	unregister_kprobe(&probe);
	return -EIO;
}

static void __exit leaf_probe_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(leaf_probe_init);
module_exit(leaf_probe_exit);

MODULE_DESCRIPTION("Probe that is set and removed by a test");
MODULE_LICENSE("GPL");
