// SPDX-License-Identifier: GPL-2.0-only
/*
 * After vmalloc_most.ko has used most of memory, all that is available is filled
 * from user space and read back, so every page that lost its mapping, or its
 * write permission, or was mapped twice, shows (SPEC L13).
 *
 * Usage: fill_all
 * Needs vmalloc_most.ko in the current directory and root.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

static unsigned long meminfo_kb(const char *name)
{
	char line[128], key[64];
	unsigned long kb, found = 0;
	FILE *file = fopen("/proc/meminfo", "r");

	if (!file)
		ksft_exit_fail_perror("/proc/meminfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %lu", key, &kb) == 2 && !strcmp(key, name))
			found = kb;
	fclose(file);
	return found;
}

/* All that is available but for 64 MiB, which the kernel needs to go on. */
static void fill(void)
{
	uint64_t size = (meminfo_kb("MemAvailable:") << 10) - (64UL << 20);
	uint64_t i, words = size / sizeof(uint64_t), bad = 0;
	uint64_t *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		ksft_exit_fail_perror("mmap");
	for (i = 0; i < words; i += 32)
		at[i] = i ^ 0x5555aaaa5555aaaaULL;
	for (i = 0; i < words; i += 32)
		bad += at[i] != (i ^ 0x5555aaaa5555aaaaULL);
	ksft_print_msg("%lu MiB filled, %lu words wrong\n",
		       (unsigned long)(size >> 20), (unsigned long)bad);
	ksft_test_result(!bad, "fill\n");
	munmap(at, size);
}

int main(void)
{
	unsigned long before = meminfo_kb("MemFree:"), after;
	int ret;

	ksft_print_header();
	ksft_set_plan(3);
	ret = guest_load("vmalloc_most.ko", "");
	if (ret != -EAGAIN)
		ksft_print_msg("vmalloc_most: %s\n", strerror(-ret));
	ksft_test_result(ret == -EAGAIN, "vmalloc_most\n");
	fill();
	after = meminfo_kb("MemFree:");
	ksft_print_msg("MemFree %lu kB before, %lu after\n", before, after);
	/* Tables that splits left behind, at most one page for 512 of memory. */
	ksft_test_result(after + before / 256 + 8192 > before, "memory_returns\n");
	ksft_finished();
}
