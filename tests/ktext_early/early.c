// SPDX-License-Identifier: GPL-2.0-only
/*
 * What had become executable before the copies of the image were made is
 * replicated as well: the memory of the BPF program that early boot loads, which
 * later programs share, and the slot of a kprobe from the command line.
 *
 * Usage: early
 * Needs kprobe_event=p,vfs_read on the command line, root and debugfs.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define REGIONS		"/sys/kernel/debug/numa_replication/regions"
#define PROFILE		"/sys/kernel/debug/tracing/kprobe_profile"
#define NR_COPIES	3
/* The image, memory of BPF, a page of slots. */
#define NR_REGIONS	3

static int count_copies(void)
{
	int nr_copies = guest_compare_copies();

	if (nr_copies < 0)
		ksft_exit_fail_msg("copies cannot be compared, or differ\n");
	return nr_copies;
}

static bool regions(unsigned long *nr, unsigned long *nr_home_only)
{
	static char text[1 << 16];
	char *last;

	if (guest_read(REGIONS, text, sizeof(text)))
		return false;
	printf("%s", text);
	last = strstr(text, "regions=");
	return last && !guest_field(last, "regions=", nr) &&
	       !guest_field(last, "home_only=", nr_home_only);
}

/* Hits of the probe, or -1 if there is none. */
static long hits(void)
{
	char text[256];
	long nr;

	if (guest_read(PROFILE, text, sizeof(text)) ||
	    sscanf(text, "%*s %ld", &nr) != 1)
		return -1;
	return nr;
}

/* Read a byte on each CPU, which is to hit the probe there. */
static bool probe_hits_everywhere(void)
{
	int cpu, nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int fd = open("/dev/zero", O_RDONLY);
	long before, after;
	cpu_set_t set;
	char byte;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		before = hits();
		if (sched_setaffinity(0, sizeof(set), &set) ||
		    read(fd, &byte, 1) != 1)
			break;
		after = hits();
		ksft_print_msg("CPU %d: %ld hits, then %ld\n", cpu, before,
			       after);
		if (before < 0 || after <= before)
			break;
	}
	close(fd);
	return cpu == nr_cpus;
}

int main(void)
{
	unsigned long nr_before, nr_after, home_only;
	int fd, nr_copies = count_copies();

	ksft_print_header();
	ksft_set_plan(4);

	ksft_print_msg("%d copies\n", nr_copies);
	ksft_test_result(nr_copies >= NR_REGIONS * NR_COPIES,
			 "early_text_has_copies\n");
	ksft_test_result(regions(&nr_before, &home_only) &&
			 nr_before >= NR_REGIONS && !home_only,
			 "no_region_is_home_only\n");

	fd = guest_load_bpf(100, 1);
	ksft_test_result(fd >= 0 && regions(&nr_after, &home_only) &&
			 nr_after == nr_before && !home_only &&
			 count_copies() == nr_copies,
			 "program_shares_what_has_copies\n");
	ksft_test_result(probe_hits_everywhere(), "probe_hits_everywhere\n");
	ksft_finished();
}
