// SPDX-License-Identifier: GPL-2.0-only
/*
 * An AUX buffer that a PMU driver vmaps gets large leaves, and what the driver
 * writes through them is what the program sees (SPEC V5).
 *
 * QEMU has neither SPE nor TRBE; aux_pmu.ko does with the buffer what their
 * drivers do. Needs aux_pmu.ko in the current directory, root and debugfs.
 */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"
#include "leaves.h"

#define TYPE	"/sys/bus/event_source/devices/aux_pmu/type"
#define STATE	"/sys/kernel/debug/aux_pmu"
#define AUX	(4UL << 20)
#define NUMBER	0x5741555800000000ULL

static int open_event(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1 };
	char text[32];

	if (guest_read(TYPE, text, sizeof(text)))
		ksft_exit_fail_msg("no " TYPE "\n");
	attr.type = atoi(text);
	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
}

static bool same_data(const uint64_t *aux)
{
	uint64_t i;

	for (i = 0; i < AUX / sizeof(*aux); i++)
		if (aux[i] != NUMBER + i) {
			ksft_print_msg("word %llu differs\n",
				       (unsigned long long)i);
			return false;
		}
	return true;
}

static bool is_mapped(uint64_t addr)
{
	struct pt_dump dump;
	bool mapped;

	if (pt_read_path(&dump, NULL, 0))
		ksft_exit_fail_msg("cannot read " PT_DUMP_PATH "\n");
	mapped = pt_find(&dump, addr);
	pt_free(&dump);
	return mapped;
}

int main(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *head;
	unsigned long addr, nr_pages;
	char text[80];
	uint64_t large = 0;
	void *aux;
	bool mapped;
	int fd;

	ksft_print_header();
	ksft_set_plan(5);
	if (guest_load_plain("aux_pmu.ko", ""))
		ksft_exit_fail_msg("cannot load aux_pmu.ko\n");

	fd = open_event();
	ksft_test_result(fd >= 0, "event_opens\n");
	head = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (head == MAP_FAILED)
		ksft_exit_fail_perror("ring buffer");
	head->aux_offset = 2 * page;
	head->aux_size = AUX;
	aux = mmap(NULL, AUX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 2 * page);
	if (aux == MAP_FAILED)
		ksft_exit_fail_perror("AUX buffer");

	if (guest_read(STATE, text, sizeof(text)) ||
	    guest_field(text, "addr=", &addr) ||
	    guest_field(text, "pages=", &nr_pages))
		ksft_exit_fail_msg("cannot read " STATE "\n");
	ksft_test_result(nr_pages * page == AUX, "driver_has_the_whole_buffer\n");

	mapped = pt_read_large(addr, AUX, &large);
	ksft_print_msg("%llu of %lu KiB are in large leaves\n",
		       (unsigned long long)large >> 10, AUX >> 10);
	/* It is allocated in chunks of half of it, if there are such. */
	ksft_test_result(mapped && large >= AUX / 2,
			 "buffer_has_large_leaves\n");

	snprintf(text, sizeof(text), "%llu", NUMBER);
	ksft_test_result(!guest_write(STATE, text) && same_data(aux),
			 "data_is_the_same_on_both_sides\n");

	munmap(aux, AUX);
	munmap(head, 2 * page);
	close(fd);
	ksft_test_result(!is_mapped(addr), "nothing_is_left_mapped\n");
	if (guest_unload("aux_pmu"))
		ksft_print_msg("aux_pmu.ko stays loaded\n");
	ksft_finished();
}
