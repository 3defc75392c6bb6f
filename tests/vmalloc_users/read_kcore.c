// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/kcore shows areas with large leaves as their owner filled them.
 *
 * Needs areas.ko in the current directory, root and debugfs.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"
#include "leaves.h"

#define AREAS		"/sys/kernel/debug/areas"
#define NR_AREAS	5

/* Where an address is in the file, by its program headers; -1 if nowhere. */
static off_t offset_of(int fd, uint64_t addr, uint64_t size)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	int i;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head))
		return -1;
	for (i = 0; i < head.e_phnum; i++) {
		if (pread(fd, &segment, sizeof(segment),
			  head.e_phoff + i * sizeof(segment)) != sizeof(segment))
			return -1;
		if (segment.p_type == PT_LOAD && addr >= segment.p_vaddr &&
		    addr + size <= segment.p_vaddr + segment.p_memsz)
			return segment.p_offset + (addr - segment.p_vaddr);
	}
	return -1;
}

static bool shows(int fd, uint64_t addr, uint64_t size, uint64_t number)
{
	uint64_t *words = malloc(size), at = 0, i;
	off_t offset = offset_of(fd, addr, size);
	bool same = words && offset >= 0;
	ssize_t nr;

	if (offset < 0)
		ksft_print_msg("no segment has %llx\n", (unsigned long long)addr);
	while (same && at < size) {
		nr = pread(fd, (char *)words + at, size - at, offset + at);
		same = nr > 0;
		at += same ? nr : 0;
	}
	for (i = 0; same && i < size / sizeof(*words); i++)
		if (words[i] != number + i) {
			ksft_print_msg("word %llu is %llx\n",
				       (unsigned long long)i,
				       (unsigned long long)words[i]);
			same = false;
		}
	free(words);
	return same;
}

/* At least one of the areas has what this is about. */
static bool has_large_leaf(uint64_t addr)
{
	const struct pt_range *range;
	struct pt_dump dump;
	bool large;

	if (pt_read_path(&dump, NULL, 0))
		ksft_exit_fail_msg("cannot read " PT_DUMP_PATH "\n");
	range = pt_find(&dump, addr);
	large = range && range->kind != PT_PTE;
	pt_free(&dump);
	return large;
}

int main(void)
{
	unsigned long addr, size, number, large = 0;
	char text[512], name[32], *line, *rest;
	int fd;

	ksft_print_header();
	ksft_set_plan(NR_AREAS + 1);
	if (guest_load_plain("areas.ko", ""))
		ksft_exit_fail_msg("cannot load areas.ko\n");
	if (guest_read(AREAS, text, sizeof(text)))
		ksft_exit_fail_msg("cannot read " AREAS "\n");
	fd = open("/proc/kcore", O_RDONLY);
	if (fd < 0)
		ksft_exit_fail_perror("/proc/kcore");

	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (guest_field(line, "addr=", &addr) ||
		    guest_field(line, "size=", &size) ||
		    guest_field(line, "number=", &number) ||
		    sscanf(line, "%31s", name) != 1)
			continue;
		ksft_test_result(shows(fd, addr, size, number), "%s\n", name);
		large += has_large_leaf(addr);
	}
	ksft_test_result(large >= 3, "large_leaves_are_among_them\n");
	close(fd);
	if (guest_unload("areas"))
		ksft_print_msg("areas.ko stays loaded\n");
	ksft_finished();
}
