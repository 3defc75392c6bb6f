// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own test_vmalloc, every test of it, on all CPUs at once (SPEC
 * 0.4, 0.7, V2).
 *
 * The module does its work in its init function, which then fails with EAGAIN.
 * What it prints is taken from the kernel log. One test, align_shift, is made
 * to fail: it goes on to alignments that no address has.
 *
 * Usage: all_tests [LOOPS [THREADS]]	default 2, one thread per CPU
 * Prints "peer=TEST usec=N" with the mean of the threads, which under
 * -icount shift=0 and one CPU is thousands of instructions.
 * Needs vmalloc_peer.ko in the current directory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define SYSLOG_READ_ALL		3
#define SYSLOG_SIZE_BUFFER	10

static const struct {
	const char *name;
	int fails;		/* as it is meant to */
	int times;		/* loops for each that is asked for: some cost little */
} tests[] = {
	{ "fix_size_alloc_test", 0, 200 },
	{ "full_fit_alloc_test", 0, 1 },
	{ "long_busy_list_alloc_test", 0, 1 },
	{ "random_size_alloc_test", 0, 1000 },
	{ "fix_align_alloc_test", 0, 100 },
	{ "random_size_align_alloc_test", 0, 1000 },
	{ "align_shift_alloc_test", 1, 1 },
	{ "pcpu_alloc_test", 0, 1 },
	{ "kvfree_rcu_1_arg_vmalloc_test", 0, 200 },
	{ "kvfree_rcu_2_arg_vmalloc_test", 0, 200 },
	{ "vm_map_ram_test", 0, 200 },
};

static char *read_log(void)
{
	int size = klogctl(SYSLOG_SIZE_BUFFER, NULL, 0);
	char *log = size > 0 ? malloc(size + 1) : NULL;
	int nr = log ? klogctl(SYSLOG_READ_ALL, log, size) : -1;

	if (nr < 0)
		ksft_exit_fail_msg("cannot read the kernel log\n");
	log[nr] = '\0';
	return log;
}

/* One test in all threads; false if a thread has not done what it should. */
static int run(unsigned int i, int loops, int threads)
{
	unsigned long long usec = 0, one;
	int found = 0, good = 0, passed, failed;
	char params[160], want[80], *log, *at;
	int err;

	/* The lines of this run are those behind this one. */
	snprintf(params, sizeof(params), "<6>peer: begin %u\n", i);
	if (guest_write("/dev/kmsg", params))
		ksft_exit_fail_msg("cannot write to /dev/kmsg\n");

	snprintf(params, sizeof(params),
		 "nr_threads=%d run_test_mask=%d test_loop_count=%d sequential_test_order=1",
		 threads, 1 << i, loops);
	err = guest_load_plain("vmalloc_peer.ko", params);
	if (err != -EAGAIN) {
		ksft_print_msg("loading gives %d, not EAGAIN\n", err);
		return 0;
	}

	log = read_log();
	snprintf(want, sizeof(want), "peer: begin %u\n", i);
	for (at = log; at; at = strstr(at + 1, want))
		if (!strstr(at + 1, want))
			break;
	snprintf(want, sizeof(want), "Summary: %s ", tests[i].name);
	while (at && (at = strstr(at, want))) {
		at += strlen(want);
		if (sscanf(at, "passed: %d failed: %d repeat: %*d loops: %*d avg: %llu",
			   &passed, &failed, &one) != 3)
			continue;
		found++;
		usec += one;
		if (failed == tests[i].fails && passed == !tests[i].fails)
			good++;
	}
	free(log);
	printf("peer=%s usec=%llu\n", tests[i].name, found ? usec / found : 0);
	if (found != threads || good != threads)
		ksft_print_msg("%s: of %d threads %d reported, %d as expected\n",
			       tests[i].name, threads, found, good);

	return found == threads && good == threads;
}

int main(int argc, char **argv)
{
	const unsigned int nr = sizeof(tests) / sizeof(tests[0]);
	int threads = argc > 2 ? atoi(argv[2]) : sysconf(_SC_NPROCESSORS_ONLN);
	int loops = argc > 1 ? atoi(argv[1]) : 2;
	unsigned int i;

	ksft_print_header();
	ksft_set_plan(nr);
	for (i = 0; i < nr; i++) {
		ksft_test_result(run(i, loops * tests[i].times, threads), "%s\n",
				 tests[i].name);
	}
	ksft_finished();
}
