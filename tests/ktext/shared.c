// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load and unload ktext_shared.ko, which does its work when it is loaded: its
 * own text is mapped anew each time and runs on every CPU. While it is loaded
 * there are copies of it, all equal, and when it is gone there are none; and
 * memory is where it was.
 *
 * Usage: shared TIMES
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

#define COMPARE	"/sys/kernel/debug/numa_replication/compare"
/* What caches of the kernel may keep, in KiB. */
#define SLACK	4096

/* Number of copies, or -1 if any differs. */
static long count_copies(void)
{
	unsigned long nr_copies, nr_different;
	static char text[1 << 20];
	char *last;
	int err = guest_read(COMPARE, text, sizeof(text));

	if (err) {
		printf(COMPARE ": %s\n", strerror(-err));
		return -1;
	}
	last = strstr(text, "copies=");
	if (!last || guest_field(last, "copies=", &nr_copies) ||
	    guest_field(last, "different=", &nr_different) || nr_different) {
		printf("%.2000s", text);
		return -1;
	}

	return nr_copies;
}

static long free_kib(void)
{
	char text[4096], *line;

	if (guest_read("/proc/meminfo", text, sizeof(text)))
		return 0;
	line = strstr(text, "MemFree:");
	return line ? strtol(line + strlen("MemFree:"), NULL, 10) : 0;
}

static bool come_and_go(int round, long before, bool look)
{
	long now = -1;
	int err = guest_load("ktext_shared.ko", "");

	if (!err) {
		now = look ? count_copies() : 0;
		err = guest_unload("ktext_shared");
	}
	if (err) {
		printf("round %d: %s\n", round, strerror(-err));
		return false;
	}
	if (!look)
		return true;
	if (now <= before) {
		printf("round %d: %ld copies with the module, %ld without\n",
		       round, now, before);
		return false;
	}
	now = count_copies();
	if (now != before) {
		printf("round %d: %ld copies after it, %ld before\n", round,
		       now, before);
		return false;
	}

	return true;
}

int main(int argc, char **argv)
{
	int i, times = argc > 1 ? atoi(argv[1]) : 0;
	long kib_before = 0, kib_after, before = count_copies();

	if (before < 0 || times <= 0)
		return 1;

	for (i = 0; i < times; i++) {
		/* The first rounds fill caches. */
		if (i == times / 4)
			kib_before = free_kib();
		if (!come_and_go(i, before, i % 16 < 2))
			return 1;
	}

	kib_after = free_kib();
	printf("MemFree: %ld KiB, then %ld KiB\n", kib_before, kib_after);
	if (kib_after + SLACK < kib_before) {
		printf("memory is lost\n");
		return 1;
	}

	return 0;
}
