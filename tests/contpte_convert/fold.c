// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unfold and fold a contiguous run of user PTEs, between marks that the plugin
 * opcount counts between (SPEC B6).
 *
 * Memory comes as one folio of the size of a run, so it is mapped folded. Making
 * its last page read-only unfolds the run; making it writable again folds it,
 * since setting the last entry of a run is when the kernel tries to. Contents
 * are checked afterwards. What is counted is the whole system call.
 *
 * Regions, in order, ROUNDS times: unfold, fold.
 *
 * Usage: fold
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

#define ROUNDS	8
#define THP_DIR	"/sys/kernel/mm/transparent_hugepage/"

static inline void mark_start(void)
{
	asm volatile("hint #0x70" ::: "memory");
}

static inline void mark_stop(void)
{
	asm volatile("hint #0x71" ::: "memory");
}

static void protect(char *page, size_t size, int prot)
{
	int ret;

	mark_start();
	ret = mprotect(page, size, prot);
	mark_stop();
	if (ret)
		ksft_exit_fail_perror("mprotect");
}

int main(void)
{
	size_t page_size = sysconf(_SC_PAGESIZE), run, i;
	char path[96], *area, *start, *last;
	unsigned int round, bad = 0;

	ksft_print_header();
	ksft_set_plan(1);
	/* PTEs in a run: 16, 128 and 32 with pages of 4, 16 and 64K. */
	run = page_size * (page_size == 4096 ? 16 : page_size == 16384 ? 128 : 32);
	snprintf(path, sizeof(path), THP_DIR "hugepages-%zukB/enabled", run >> 10);
	if (guest_write(path, "always"))
		ksft_exit_fail_perror(path);

	area = mmap(NULL, 2 * run, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		ksft_exit_fail_perror("mmap");
	start = (char *)(((uintptr_t)area + run - 1) / run * run);
	last = start + run - page_size;
	for (i = 0; i < run; i++)
		start[i] = i * 31 + i / page_size;

	for (round = 0; round < ROUNDS; round++) {
		protect(last, page_size, PROT_READ);
		protect(last, page_size, PROT_READ | PROT_WRITE);
		for (i = 0; i < run; i++)
			bad += start[i] != (char)(i * 31 + i / page_size);
	}
	ksft_test_result(!bad, "contents\n");
	ksft_finished();
}
