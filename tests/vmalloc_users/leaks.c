// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemleak looks for pointers in areas with large leaves, and finds nothing that
 * mapping and unmapping has lost.
 *
 * Needs areas.ko in the current directory, root and debugfs.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define AREAS		"/sys/kernel/debug/areas"
#define KMEMLEAK	"/sys/kernel/debug/kmemleak"
#define LOADS		20

static char report[65536];

/* Objects are reported when they are 5 s old and have not changed since. */
static void scan(void)
{
	sleep(6);
	if (guest_write(KMEMLEAK, "scan") || guest_write(KMEMLEAK, "scan") ||
	    guest_read(KMEMLEAK, report, sizeof(report)))
		ksft_exit_fail_msg("cannot scan\n");
}

static bool reported(unsigned long addr)
{
	char line[64];

	snprintf(line, sizeof(line), "unreferenced object 0x%lx ", addr);
	return strstr(report, line);
}

int main(void)
{
	unsigned long leak, keep;
	char text[512];
	int i;

	if (access(KMEMLEAK, W_OK)) {
		printf("no kmemleak here\n");
		return KSFT_SKIP;
	}
	ksft_print_header();
	ksft_set_plan(3);
	/* What the kernel had before is not asked about. */
	scan();
	if (guest_write(KMEMLEAK, "clear"))
		ksft_exit_fail_msg("cannot clear " KMEMLEAK "\n");
	for (i = 0; i < LOADS; i++)
		if (guest_load_plain("areas.ko", "") || guest_unload("areas"))
			ksft_exit_fail_msg("cannot load areas.ko\n");
	scan();
	if (report[0])
		ksft_print_msg("%.400s\n", report);
	ksft_test_result(!report[0], "nothing_is_lost\n");

	if (guest_load_plain("areas.ko", "") || guest_write(AREAS, "leak") ||
	    guest_write(AREAS, "keep") || guest_read(AREAS, text, sizeof(text)) ||
	    guest_field(text, "leak=", &leak) || guest_field(text, "keep=", &keep))
		ksft_exit_fail_msg("cannot use " AREAS "\n");
	scan();
	ksft_test_result(reported(~leak), "a_lost_object_is_reported\n");
	ksft_test_result(!reported(~keep), "one_in_a_large_leaf_is_not\n");
	guest_write(KMEMLEAK, "clear");
	guest_unload("areas");
	ksft_finished();
}
