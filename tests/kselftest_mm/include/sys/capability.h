/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of libcap as memfd_secret uses, which drops all capabilities: not every
 * host has that library for arm64.
 */
#ifndef WL_KSELFTEST_CAPABILITY_H
#define WL_KSELFTEST_CAPABILITY_H

#include <linux/capability.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define cap_t	struct __user_cap_data_struct *

static inline cap_t cap_init(void)
{
	return calloc(_LINUX_CAPABILITY_U32S_3, sizeof(struct __user_cap_data_struct));
}

static inline int cap_set_proc(cap_t caps)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};

	return syscall(SYS_capset, &header, caps);
}

#endif /* WL_KSELFTEST_CAPABILITY_H */
