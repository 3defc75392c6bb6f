// SPDX-License-Identifier: GPL-2.0-only
/* Small things that the guest programs share; see guest.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/bpf_common.h>

#include "guest.h"

#define LOOKUP	"kallsyms_lookup_name"

static unsigned long find_lookup(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long addr, found = 0;
	char name[128];

	if (!file)
		return 0;
	while (!found &&
	       fscanf(file, "%lx %*c %127s%*[^\n]", &addr, name) >= 2)
		if (!strcmp(name, LOOKUP))
			found = addr;
	fclose(file);
	return found;
}

int guest_load_plain(const char *path, const char *params)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, params, 0))
		ret = -errno;
	close(fd);
	return ret;
}

int guest_load(const char *path, const char *params)
{
	char all[256];

	snprintf(all, sizeof(all), "lookup=0x%lx %s", find_lookup(), params);
	return guest_load_plain(path, all);
}

int guest_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

int guest_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	int ret = 0;

	if (fd < 0)
		return -errno;
	got = read(fd, text, size - 1);
	if (got < 0)
		ret = -errno;
	text[got < 0 ? 0 : got] = '\0';
	close(fd);
	return ret;
}

int guest_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int guest_field(const char *text, const char *name, unsigned long *value)
{
	const char *at = text;

	while ((at = strstr(at, name))) {
		if (at == text || at[-1] == ' ') {
			*value = strtoul(at + strlen(name), NULL, 0);
			return 0;
		}
		at++;
	}
	return -1;
}

int guest_load_bpf(int nr_insns, int first)
{
	/* Not on the heap: callers inject failures of allocation. */
	static struct bpf_insn insns[BPF_MAXINSNS];
	union bpf_attr attr;
	int i, fd;

	if (nr_insns < 2 || nr_insns > BPF_MAXINSNS)
		return -EINVAL;
	insns[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K };
	for (i = 1; i < nr_insns - 1; i++)
		insns[i] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_ADD | BPF_K,
					      .imm = first + i - 1 };
	insns[i] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	memset(&attr, 0, sizeof(attr));
	/* The type that needs neither networking nor tracing. */
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.prog_flags = BPF_F_SLEEPABLE;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = nr_insns;
	attr.license = (uintptr_t)"GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd < 0 ? -errno : fd;
}

int guest_compare_copies(void)
{
	int nr_copies = -EIO, nr_different = 0;
	FILE *file;
	char line[256];

	file = fopen("/sys/kernel/debug/numa_replication/compare", "r");
	if (!file)
		return -errno;
	/* The last line counts; any other is a difference. */
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "copies=%d different=%d", &nr_copies,
			   &nr_different) != 2)
			printf("%s", line);
	fclose(file);
	return nr_different ? -EIO : nr_copies;
}
