// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules and BPF programs come and go, and their copies with them: memory, page
 * tables and the number of copies are what they were.
 *
 * Usage: come_and_go TIMES
 * Needs ktext_visitor.ko, ktext_large.ko, root and debugfs.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define WARM_UP		10
/* In all, more than the 2 MiB for each node that BPF takes at a time. */
#define MAX_PROGRAMS	900
#define PROGRAMS_EACH	100
#define PROG_INSNS	4000

/* The number after @name in a file of such lines. */
static long number(const char *path, const char *name)
{
	char line[256];
	long value = -1;
	FILE *file = fopen(path, "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			value = atol(line + strlen(name));
	if (file)
		fclose(file);
	if (value < 0)
		ksft_exit_fail_msg("no %s in %s\n", name, path);
	return value;
}

/* Its quarantine, and its stack traces of each address that a module had, grow. */
static bool kasan(void)
{
	char line[256];
	bool found = false;
	FILE *file = fopen("/proc/kallsyms", "r");

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, " kasan_report\n");
	if (file)
		fclose(file);
	return found;
}

static int count_copies(void)
{
	int nr_copies = guest_compare_copies();

	if (nr_copies < 0)
		ksft_exit_fail_msg("copies cannot be compared, or differ\n");
	return nr_copies;
}

struct memory {
	long free_kb;
	long table_pages;
	long vmalloc_kb;
};

static struct memory memory(void)
{
	struct memory now;

	/* What is on its way back to the allocator gets there. */
	guest_write("/proc/sys/vm/drop_caches", "3\n");
	sleep(1);
	now.free_kb = number("/proc/meminfo", "MemFree:");
	now.table_pages = number("/proc/vmstat", "nr_page_table_pages ");
	now.vmalloc_kb = number("/proc/meminfo", "VmallocUsed:");
	ksft_print_msg("%ld kB free, %ld pages of tables, %ld kB in vmalloc\n",
		       now.free_kb, now.table_pages, now.vmalloc_kb);
	return now;
}

static bool visit(int times)
{
	int i, err = 0;

	for (i = 0; i < times && !err; i++) {
		err = guest_load_plain("ktext_visitor.ko", "");
		if (!err)
			err = guest_write("/sys/module/ktext_visitor/parameters/run",
					  "1");
		if (!err)
			err = guest_unload("ktext_visitor");
	}
	if (err)
		ksft_print_msg("round %d: %s\n", i, strerror(-err));
	return !err;
}

static void come_and_go(int times)
{
	/* A page that is left behind each time would be twice as much. */
	long limit = times * (sysconf(_SC_PAGESIZE) >> 10) / 2;
	int before = count_copies();
	struct memory start, end;
	bool ok;

	ok = visit(WARM_UP);
	start = memory();
	ok &= visit(times);
	end = memory();
	ksft_test_result(ok, "modules_run_everywhere\n");
	ksft_test_result(count_copies() == before, "modules_take_copies_along\n");
	ksft_test_result(end.table_pages == start.table_pages,
			 "modules_leave_no_tables\n");
	ksft_test_result(end.vmalloc_kb - start.vmalloc_kb < limit,
			 "modules_leave_no_addresses\n");
	if (kasan())
		ksft_test_result_skip("modules_leave_no_memory KASAN keeps it for a while\n");
	else
		ksft_test_result(start.free_kb - end.free_kb < limit,
				 "modules_leave_no_memory\n");
}

static void copies_of_module(void)
{
	int before = count_copies();
	bool ok = !guest_load_plain("ktext_visitor.ko", "");

	/* Text, rodata and ro_after_init data, on each node but the home. */
	ksft_test_result(ok && count_copies() > before &&
			 !((count_copies() - before) % 3), "module_has_copies\n");
	if (ok)
		guest_unload("ktext_visitor");
}

static void large_module(void)
{
	int before = count_copies();
	long table_pages = number("/proc/vmstat", "nr_page_table_pages ");
	bool ok = !guest_load_plain("ktext_large.ko", "");

	ok &= count_copies() > before;
	ok &= !guest_write("/sys/module/ktext_large/parameters/run", "1");
	ok &= !guest_unload("ktext_large");
	ksft_test_result(ok, "large_module_runs_everywhere\n");
	ksft_test_result(count_copies() == before &&
			 number("/proc/vmstat", "nr_page_table_pages ") ==
			 table_pages, "large_module_leaves_nothing\n");
}

/* BPF has some memory with copies from boot on: load until it takes more. */
static void load_programs(void)
{
	static int fds[MAX_PROGRAMS];
	int i, nr = 0, with, before = count_copies();

	do {
		for (i = 0; i < PROGRAMS_EACH; i++, nr++) {
			fds[nr] = guest_load_bpf(PROG_INSNS, nr);
			if (fds[nr] < 0)
				ksft_exit_fail_msg("program %d: %s\n", nr,
						   strerror(-fds[nr]));
		}
		with = count_copies();
	} while (with <= before && nr < MAX_PROGRAMS);
	for (i = 0; i < nr; i++)
		close(fds[i]);
	ksft_print_msg("%d copies with %d programs, %d without\n", with, nr,
		       before);
	ksft_test_result(with > before, "programs_have_copies\n");
	/* They are freed after a grace period, by a worker. */
	for (i = 0; i < 50 && count_copies() >= with; i++)
		usleep(100000);
	ksft_test_result(count_copies() < with, "programs_take_copies_along\n");
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 100;

	ksft_print_header();
	ksft_set_plan(10);

	copies_of_module();
	come_and_go(times);
	large_module();
	load_programs();
	ksft_finished();
}
