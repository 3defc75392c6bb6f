// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make pages of the linear map invalid, or valid, whoever they belong to.
 *
 * For memory that is plugged in but offline, so that nobody uses it. What is
 * written to /sys/kernel/debug/page_valid, "ADDR 0" or "ADDR 1", is handed to
 * set_memory_valid(), whose error the write returns.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "ksym.h"

static int (*ksym_valid)(unsigned long addr, int numpages, int enable);
static struct dentry *file;

static ssize_t page_valid_write(struct file *file, const char __user *from,
				size_t size, loff_t *pos)
{
	unsigned long addr;
	unsigned int valid;
	char text[64];
	int ret;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, size))
		return -EFAULT;
	text[size] = '\0';
	if (sscanf(text, "%lx %u", &addr, &valid) != 2 || valid > 1)
		return -EINVAL;

	ret = ksym_valid(addr, 1, valid);
	return ret ? ret : size;
}

static const struct file_operations page_valid_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = page_valid_write,
};

static int __init page_valid_init(void)
{
	int ret = ksym_check();

	if (ret)
		return ret;
	ksym_valid = ksym_find("set_memory_valid");
	if (!ksym_valid)
		return -ENOENT;
	file = debugfs_create_file("page_valid", 0200, NULL, NULL,
				   &page_valid_fops);
	return 0;
}

static void __exit page_valid_exit(void)
{
	debugfs_remove(file);
}

module_init(page_valid_init);
module_exit(page_valid_exit);

MODULE_DESCRIPTION("Make pages of the linear map valid or invalid, for a test");
MODULE_LICENSE("GPL");
