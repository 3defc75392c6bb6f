// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that comes and goes: text, rodata and ro_after_init data, and every
 * CPU runs the one and reads the others before init returns and when "run" is
 * written to, which is after they were replicated.
 */
#include <linux/cpu.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#define VALUE	0x7e57

static const int in_rodata = VALUE;
static int in_ro_after_init __ro_after_init;

static noinline long add(void *unused)
{
	/* From memory, whatever the compiler knows of them. */
	return READ_ONCE(in_rodata) + READ_ONCE(in_ro_after_init);
}

static int add_everywhere(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (work_on_cpu(cpu, add, NULL) != 2 * VALUE) {
			pr_err("CPU %d adds up wrongly\n", cpu);
			return -EIO;
		}
	}

	return 0;
}

static int run(const char *value, const struct kernel_param *param)
{
	return add_everywhere();
}

static const struct kernel_param_ops run_ops = {
	.set = run,
};
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "run on every CPU, now");

static int __init ktext_visitor_init(void)
{
	in_ro_after_init = VALUE;

	return add_everywhere();
}
module_init(ktext_visitor_init);

static void __exit ktext_visitor_exit(void)
{
}
module_exit(ktext_visitor_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Text and read-only data that come and go");
