// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write to what is read-only and jump to what is data, through the kernel's own
 * crash points (LKDTM), each in a process of its own (SPEC L1, L3).
 *
 * The kernel must kill each of the processes, for the reason that the log gives:
 * a write to read-only memory, or execution of what is not executable. Text and
 * rodata lie in blocks, in the image and in the linear map; the vmalloc area and
 * kmalloc memory in the linear map lie in leaves of any size.
 *
 * Usage: provoke
 * Needs LKDTM, debugfs, root and panic_on_oops=0.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define DIRECT	"/sys/kernel/debug/provoke-crash/DIRECT"

#define SYSLOG_READ_ALL		3
#define SYSLOG_SIZE_BUFFER	10

static const char write_to_ro[] = "kernel write to read-only memory";
static const char execute[] = "kernel execute from non-executable memory";

static const struct {
	const char *point;
	const char *reason;
} points[] = {
	{ "WRITE_RO", write_to_ro },
	{ "WRITE_RO_AFTER_INIT", write_to_ro },
	{ "WRITE_KERN", write_to_ro },
	{ "EXEC_DATA", execute },
	{ "EXEC_STACK", execute },
	{ "EXEC_KMALLOC", execute },
	{ "EXEC_VMALLOC", execute },
	{ "EXEC_RODATA", execute },
	{ "EXEC_NULL", "" },
	{ "ACCESS_NULL", "" },
};

/* What the log says after the last mention of a crash point. */
static bool log_says(const char *point, const char *reason)
{
	int size = klogctl(SYSLOG_SIZE_BUFFER, NULL, 0), got;
	char *log = malloc(size + 1), *at, *last = NULL;
	char mark[64];
	bool said;

	if (!log)
		ksft_exit_fail_perror("malloc");
	got = klogctl(SYSLOG_READ_ALL, log, size);
	log[got < 0 ? 0 : got] = '\0';
	snprintf(mark, sizeof(mark), "Performing direct entry %s\n", point);
	for (at = log; (at = strstr(at, mark)); at++)
		last = at;
	said = last && strstr(last, reason);
	free(log);
	return said;
}

static bool killed(const char *point)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(guest_write(DIRECT, point) ? 2 : 0);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		ksft_exit_fail_perror("fork");
	if (WIFSIGNALED(status))
		return true;
	ksft_print_msg("%s: exit status %d\n", point, WEXITSTATUS(status));
	return false;
}

int main(void)
{
	size_t i;

	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(points));
	for (i = 0; i < ARRAY_SIZE(points); i++)
		ksft_test_result(killed(points[i].point) &&
				 log_says(points[i].point, points[i].reason),
				 "%s\n", points[i].point);
	ksft_finished();
}
