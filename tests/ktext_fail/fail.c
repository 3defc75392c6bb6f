// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocations fail while a module is loaded, replicated and unloaded, one after
 * the other: the first one of this task, then the second one, and so on, until
 * a load meets none.
 *
 * Each time the module either cannot be loaded, with -ENOMEM, or runs on all
 * CPUs, from the original where a node has no copy. Nothing differs, and in the
 * end as many copies are there as before.
 *
 * Usage: fail
 * Needs ktext_visitor.ko, root and debugfs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define RUN		"/sys/module/ktext_visitor/parameters/run"
#define PRINTK		"/proc/sys/kernel/printk"
#define FAIL_NTH	"/proc/thread-self/fail-nth"
#define MAX_NTH		3000

static int count_copies(void)
{
	int nr_copies = guest_compare_copies();

	if (nr_copies < 0)
		ksft_exit_fail_msg("copies cannot be compared, or differ\n");
	return nr_copies;
}

/* Load with failure @nth; @left is what is not used up of that number. */
static int load_failing(int fd, int nth, int *left)
{
	char text[16] = "";
	int err, length = snprintf(text, sizeof(text), "%d", nth);

	if (pwrite(fd, text, length, 0) != length)
		ksft_exit_fail_perror("cannot inject");
	err = guest_load_plain("ktext_visitor.ko", "");
	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		ksft_exit_fail_perror("cannot read " FAIL_NTH);
	*left = atoi(text);
	if (pwrite(fd, "0", 1, 0) != 1)
		ksft_exit_fail_perror("cannot stop");

	return err;
}

int main(void)
{
	int nth, err, refused = 0, fewer = 0, before = count_copies(), all, now;
	char printk[64];
	int fd, left;

	ksft_print_header();
	/* Opened now: to open it takes memory as well. */
	fd = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		ksft_exit_skip("this kernel injects no failures\n");
	ksft_set_plan(4);
	guest_write("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	guest_write("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	guest_write("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	guest_write("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	guest_write("/sys/kernel/debug/failslab/verbose", "0");

	if (guest_load_plain("ktext_visitor.ko", ""))
		ksft_exit_fail_msg("ktext_visitor.ko cannot be loaded\n");
	all = count_copies();
	guest_unload("ktext_visitor");

	/* Failures are reported with a backtrace; a real warning ends it all. */
	if (guest_read(PRINTK, printk, sizeof(printk)) ||
	    guest_write("/proc/sys/kernel/panic_on_warn", "1") ||
	    guest_write(PRINTK, "4"))
		ksft_exit_fail_msg("cannot silence reports of failures\n");
	for (nth = 1; nth < MAX_NTH; nth++) {
		err = load_failing(fd, nth, &left);
		if (err) {
			if (err != -ENOMEM)
				ksft_exit_fail_msg("failure %d: %s\n", nth,
						   strerror(-err));
			refused++;
			continue;
		}
		now = count_copies();
		fewer += now < all;
		/* Not each time: it takes a while, and some are alike. */
		if (now < all && fewer % 8 == 1 && guest_write(RUN, "1"))
			ksft_exit_fail_msg("failure %d: old text\n", nth);
		if (guest_unload("ktext_visitor"))
			ksft_exit_fail_msg("failure %d: it stays\n", nth);
		if (left)
			break;
	}
	guest_write("/proc/sys/kernel/panic_on_warn", "0");
	if (guest_write(PRINTK, printk))
		ksft_exit_fail_msg("cannot hear reports again\n");
	ksft_print_msg("%d failures: %d loads refused, %d with fewer copies\n",
		       nth - 1, refused, fewer);
	ksft_test_result(nth < MAX_NTH, "every_allocation_failed_once\n");
	ksft_test_result(refused > 0, "loads_are_refused\n");
	ksft_test_result(fewer > 0, "nodes_go_without_copies\n");
	ksft_test_result(count_copies() == before, "nothing_is_left\n");
	ksft_finished();
}
