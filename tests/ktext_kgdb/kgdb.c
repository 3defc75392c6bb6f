// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have the kernel's debugger test itself on each CPU; and have it set a
 * breakpoint on the first CPU that only another one runs into.
 *
 * The debugger says -EBUSY until the breakpoint was hit as often as was asked
 * for: so a CPU that runs text without it fails the test.
 *
 * Usage: kgdb
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define KGDBTS		"/sys/module/kgdbts/parameters/kgdbts"
#define SINGLE_STEPS	"V1I20"
/* Nothing else opens files meanwhile. */
#define OPENS		"V1I1S3"
#define NR_OPENS	3
#define WAIT_MS		20000

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		ksft_exit_fail_perror("sched_setaffinity");
}

/* Opened once, since to open it would hit the breakpoint as well. */
static int tests;

static int begin(const char *what)
{
	return pwrite(tests, what, strlen(what), 0) < 0 ? -errno : 0;
}

/* Wait until no breakpoint is left to be hit. */
static bool ends(void)
{
	int ms, err = -EBUSY;

	for (ms = 0; ms < WAIT_MS && err == -EBUSY; ms += 500) {
		usleep(500000);
		err = begin(SINGLE_STEPS);
	}
	if (err)
		ksft_print_msg("after %d ms: %s\n", ms, strerror(-err));
	return !err;
}

static bool hits_on(int cpu)
{
	int i, err;

	run_on(0);
	err = begin(OPENS);
	if (err) {
		ksft_print_msg("cannot begin: %s\n", strerror(-err));
		return false;
	}
	run_on(cpu);
	for (i = 0; i < NR_OPENS; i++)
		close(open("/dev/null", O_RDONLY));
	return ends();
}

int main(void)
{
	int cpu, nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	ksft_print_header();
	ksft_set_plan(2 * nr_cpus + 1);
	tests = open(KGDBTS, O_RDWR);
	if (tests < 0)
		ksft_exit_fail_perror(KGDBTS);

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		run_on(cpu);
		ksft_test_result(!begin(SINGLE_STEPS), "debugs_itself_on_%d\n",
				 cpu);
	}
	for (cpu = 0; cpu < nr_cpus; cpu++)
		ksft_test_result(hits_on(cpu), "breakpoint_hits_on_%d\n", cpu);
	ksft_test_result(guest_compare_copies() > 0, "copies_are_equal\n");
	ksft_finished();
}
