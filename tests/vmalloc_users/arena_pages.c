// SPDX-License-Identifier: GPL-2.0-only
/*
 * A BPF arena: pages that a program touches appear one by one in a sparse area
 * of vmalloc space, stay pages, and go with the arena.
 *
 * That the kernel sees the same contents there is a case of vmbatch: without
 * networking there is no way to run the BPF program that is loaded here.
 * Needs root, debugfs, and a kernel whose BPF programs are compiled.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"
#include "leaves.h"

#define NR_PAGES	256
/* Younger than some C libraries. */
#define MAP_TYPE_ARENA	33
#define ADDR_SPACE_CAST	1
/* What the kernel leaves free on each side for offsets, at least a page. */
#define ARENA_GUARD	0x8000UL
#define UNTOUCHED	100

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int make_arena(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = MAP_TYPE_ARENA;
	attr.max_entries = NR_PAGES;
	attr.map_flags = BPF_F_MMAPABLE;
	return bpf(BPF_MAP_CREATE, &attr);
}

/* Takes an address in the arena; adds one to the word there, returns what it was. */
static int load_program(int arena)
{
	const struct bpf_insn insns[] = {
		/* r2 = *(u64 *)context */
		{ BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_1, 0, 0 },
		/* r3 = the arena: this program uses it */
		{ BPF_LD | BPF_IMM | BPF_DW, BPF_REG_3, BPF_PSEUDO_MAP_FD, 0, arena },
		{ 0, 0, 0, 0, 0 },
		/* r2 = where the kernel has it */
		{ BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_2,
		  ADDR_SPACE_CAST, 1 },
		/* r0 = *(u64 *)r2 */
		{ BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_2, 0, 0 },
		/* *(u64 *)r2 = r0 + 1 */
		{ BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_0, 0, 0 },
		{ BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, 1 },
		{ BPF_STX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_4, 0, 0 },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};
	static char log[8192];
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SYSCALL;
	attr.prog_flags = BPF_F_SLEEPABLE;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uintptr_t)"GPL";
	attr.log_buf = (uintptr_t)log;
	attr.log_size = sizeof(log);
	attr.log_level = 1;
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		ksft_print_msg("the program is refused: %s\n", log);
	return fd;
}

/* Where the kernel has the word at address 0 of the arena; 0 if nowhere. */
static uint64_t kernel_base(void)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	unsigned long long start = 0;
	char line[256];
	FILE *file;

	/* Addresses in place of hashes. */
	guest_write("/proc/sys/kernel/kptr_restrict", "1");
	file = fopen("/proc/vmallocinfo", "r");
	if (!file)
		ksft_exit_fail_perror("/proc/vmallocinfo");
	while (fgets(line, sizeof(line), file))
		if (strstr(line, "arena_map_alloc") &&
		    sscanf(line, "0x%llx-", &start) == 1)
			break;
	fclose(file);
	if (!start)
		return 0;
	return start + (page > ARENA_GUARD ? page : ARENA_GUARD);
}

/* Of the pages that begin at @addr, are those that are due mapped, as pages? */
static bool pages_are(uint64_t addr, size_t page, bool mapped)
{
	struct pt_dump dump;
	bool good = true;
	int i;

	if (pt_read_path(&dump, NULL, 0))
		ksft_exit_fail_msg("cannot read " PT_DUMP_PATH "\n");
	for (i = 0; good && i < NR_PAGES; i++) {
		const struct pt_range *range = pt_find(&dump, addr + i * page);

		if (mapped && i != UNTOUCHED)
			good = range && range->kind == PT_PTE;
		else
			good = !range;
		if (!good)
			ksft_print_msg("page %d is %smapped\n", i,
				       range ? "" : "not ");
	}
	pt_free(&dump);
	return good;
}

int main(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	char *arena;
	unsigned int i, at, tries;
	int map, program;
	bool good = true;
	uint64_t kernel;

	ksft_print_header();
	ksft_set_plan(4);
	map = make_arena();
	if (map < 0)
		ksft_exit_fail_perror("map of type arena");
	arena = mmap(NULL, NR_PAGES * page, PROT_READ | PROT_WRITE, MAP_SHARED,
		     map, 0);
	if (arena == MAP_FAILED)
		ksft_exit_fail_perror("mmap");
	program = load_program(map);
	ksft_test_result(program >= 0, "program_loads\n");

	/* Each page but one, neighbours at different times. */
	for (i = 0; i < NR_PAGES; i++) {
		at = i * 77 % NR_PAGES;
		if (at != UNTOUCHED)
			*(uint64_t *)(arena + at * page) = at + 1;
	}
	for (i = 0; good && i < NR_PAGES; i++)
		if (i != UNTOUCHED)
			good = *(uint64_t *)(arena + i * page) == i + 1;
	ksft_test_result(good, "pages_keep_what_is_written\n");

	kernel = kernel_base();
	if (!kernel)
		ksft_exit_fail_msg("no arena in /proc/vmallocinfo\n");
	kernel += (uint32_t)(uintptr_t)arena;
	ksft_test_result(pages_are(kernel, page, true),
			 "touched_pages_are_mapped_as_pages\n");

	munmap(arena, NR_PAGES * page);
	close(program);
	close(map);
	/* It is freed later, when no BPF program can be using it. */
	for (tries = 0; tries < 50 && kernel_base(); tries++)
		usleep(100000);
	ksft_test_result(!kernel_base() && pages_are(kernel, page, false),
			 "nothing_is_left\n");
	ksft_finished();
}
