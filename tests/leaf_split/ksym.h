/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find kernel functions that are not exported to modules.
 *
 * set_memory_*() and set_direct_map_*() are for built-in code. A test or a
 * benchmark of them must run on the unmodified base kernel as well, so it
 * cannot bring an export along. Instead the loader reads the address of
 * kallsyms_lookup_name() from /proc/kallsyms and passes it as the parameter
 * "lookup"; KALLSYMS is all that this needs. The address is compared with
 * what the kernel itself calls it before anything jumps there.
 *
 * For tests and benchmarks only; nothing that ships may include this.
 */
#ifndef WL_TESTS_KSYM_H
#define WL_TESTS_KSYM_H

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

static unsigned long lookup;
module_param(lookup, ulong, 0400);
MODULE_PARM_DESC(lookup, "address of kallsyms_lookup_name");

/**
 * ksym_check() - say whether the parameter "lookup" can be used
 *
 * Context: Any.
 * Return: 0, or -EINVAL if it is not the address of kallsyms_lookup_name().
 */
static inline int ksym_check(void)
{
	static const char want[] = "kallsyms_lookup_name+0x0/";
	char name[64];

	snprintf(name, sizeof(name), "%pS", (void *)lookup);
	if (!lookup || strncmp(name, want, sizeof(want) - 1)) {
		pr_err("lookup=0x%lx is not kallsyms_lookup_name\n", lookup);
		return -EINVAL;
	}
	return 0;
}

/**
 * ksym_find() - address of a kernel function or variable by name
 * @name: as in /proc/kallsyms
 *
 * Context: Process context, after ksym_check() succeeded.
 * Return: the address, or NULL if this kernel has no such symbol.
 */
static inline void *ksym_find(const char *name)
{
	unsigned long (*find)(const char *name) = (void *)lookup;

	return (void *)find(name);
}

#endif /* WL_TESTS_KSYM_H */
