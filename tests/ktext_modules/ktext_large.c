// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with 50 MiB of text. Every CPU runs through all of it, one
 * instruction in each 4 KiB, when "run" is written to.
 */
#include <linux/cpu.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/stringify.h>
#include <linux/workqueue.h>

#define PIECES		12800
#define PIECE_INSNS	1024

/* Each piece adds one, and branches over the rest of it. */
static noinline long run_through(void *unused)
{
	long pieces = 0;

	asm volatile("	.rept	" __stringify(PIECES) "\n"
		     "	add	%0, %0, #1\n"
		     "	b	. + 4 * (" __stringify(PIECE_INSNS) " - 1)\n"
		     "	.fill	" __stringify(PIECE_INSNS) " - 2, 4, 0xd503201f\n"
		     "	.endr\n"
		     : "+r" (pieces));

	return pieces;
}

static int run(const char *value, const struct kernel_param *param)
{
	long pieces;
	int cpu;

	for_each_online_cpu(cpu) {
		pieces = work_on_cpu(cpu, run_through, NULL);
		if (pieces != PIECES) {
			pr_err("CPU %d ran %ld pieces\n", cpu, pieces);
			return -EIO;
		}
	}

	return 0;
}

static const struct kernel_param_ops run_ops = {
	.set = run,
};
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "run through the text on every CPU, now");

static int __init ktext_large_init(void)
{
	return 0;
}
module_init(ktext_large_init);

static void __exit ktext_large_exit(void)
{
}
module_exit(ktext_large_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("50 MiB of text");
