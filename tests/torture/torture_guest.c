// SPDX-License-Identifier: GPL-2.0-only
/*
 * Torture of the kernel's mappings from user space: modules, BPF programs and
 * secret memory come and go, each in a process of its own, while another reads
 * the page tables through debugfs (SPEC L3, L4, L8, K3).
 *
 * First with all the memory there is, then with fault injection, where one in
 * FAILURES_PERCENT of the allocations of slabs and pages fails, and then again
 * without, when everything must work as before: nothing was left half done. At
 * the end the page tables are as large as after the first time, nothing is
 * tainted, and the break-before-make checker has missed and found nothing.
 *
 * Usage: torture_guest [MINUTES]	default 0: once
 * Needs torture_module.ko, root, debugfs and SECRETMEM; BPF_SYSCALL with the JIT;
 * FAULT_INJECTION with FAILSLAB, FAIL_PAGE_ALLOC and debugfs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define STATS		DEBUGFS "bbm_check/stats"
#define PT_DUMP		DEBUGFS "kernel_page_tables"
#define PRINTK		"/proc/sys/kernel/printk"
#define ROUNDS		12
#define FAILURES_PERCENT 3
#define PROG_INSNS	1500
#define SECRET_PAGES	40
/* Not meant for user space, but BPF lets it out. */
#define KERNEL_ENOTSUPP	524

/* What a worker found; it is the exit code of its process. */
enum verdict { ALL_WORKED, SOME_REFUSED, ALL_REFUSED, WRONG };

/* One round: 0, or -errno. -EILSEQ: something is not as it should be. */
typedef int (*round_fn)(unsigned int round);

static int one_module(unsigned int round)
{
	int err = guest_load_plain("torture_module.ko", "");

	(void)round;
	if (err)
		return err == -EIO ? -EILSEQ : err;
	/* The module is busy for a moment after it was loaded. */
	do {
		err = guest_unload("torture_module");
	} while (err == -EAGAIN || err == -EWOULDBLOCK || err == -ENOMEM);

	return err ? -EILSEQ : 0;
}

static int one_program(unsigned int round)
{
	int fd = guest_load_bpf(PROG_INSNS, round + 1);

	if (fd < 0)
		return fd;
	close(fd);

	return 0;
}

static int one_secret(unsigned int round)
{
	size_t size = SECRET_PAGES * sysconf(_SC_PAGESIZE), i;
	int fd = syscall(SYS_memfd_secret, 0);
	uint32_t *words;
	int err = 0;

	if (fd < 0)
		return -errno;
	words = ftruncate(fd, size) ? MAP_FAILED :
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (words == MAP_FAILED) {
		err = -errno;
	} else {
		for (i = 0; i < size / sizeof(*words); i++)
			words[i] = i * 7 + round;
		for (i = 0; i < size / sizeof(*words) && !err; i++)
			if (words[i] != (uint32_t)(i * 7 + round))
				err = -EILSEQ;
		munmap(words, size);
	}
	close(fd);

	return err;
}

static int one_dump(unsigned int round)
{
	int fd = open(PT_DUMP, O_RDONLY | O_CLOEXEC);
	char text[4096];
	size_t size = 0;
	ssize_t got;

	(void)round;
	if (fd < 0)
		return -errno;
	while ((got = read(fd, text, sizeof(text))) > 0)
		size += got;
	got = got < 0 ? -errno : 0;
	close(fd);

	/* Even the shortest dump has its marker lines. */
	return got ? (int)got : size < 1000 ? -EILSEQ : 0;
}

static const struct {
	const char *name;
	round_fn fn;
} workers[] = {
	{ "modules", one_module },
	{ "programs", one_program },
	{ "secrets", one_secret },
	{ "dumps", one_dump },
};

#define NR_WORKERS	(sizeof(workers) / sizeof(workers[0]))

/* BPF has errors of its own for a program that found no memory. */
static bool is_refusal(int err)
{
	return err == -ENOMEM || err == -EAGAIN || err == -EINVAL ||
		err == -KERNEL_ENOTSUPP;
}

static enum verdict work(round_fn fn, bool failing, int report)
{
	unsigned int round, refused = 0;

	if (failing && guest_write("/proc/self/make-it-fail", "1"))
		return WRONG;

	for (round = 0; round < ROUNDS; round++) {
		int err = fn(round);

		if (err && !(failing && is_refusal(err))) {
			dprintf(report, "%s in round %u\n", strerror(-err), round);
			return WRONG;
		}
		refused += !!err;
	}

	return !refused ? ALL_WORKED : refused < ROUNDS ? SOME_REFUSED :
		ALL_REFUSED;
}

/* All of them at once. Returns a mask of verdicts. */
static unsigned int work_all(bool failing, char *said, size_t size)
{
	unsigned int verdicts = 0;
	pid_t pids[NR_WORKERS];
	ssize_t got;
	int report[2];
	size_t i;

	if (pipe(report))
		return 1U << WRONG;
	for (i = 0; i < NR_WORKERS; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(work(workers[i].fn, failing, report[1]));
	}
	for (i = 0; i < NR_WORKERS; i++) {
		int status;

		if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 ||
		    !WIFEXITED(status) || WEXITSTATUS(status) > WRONG)
			verdicts |= 1U << WRONG;
		else
			verdicts |= 1U << WEXITSTATUS(status);
		if (verdicts & 1U << WRONG && !said[0])
			snprintf(said, size, "%s: ", workers[i].name);
	}
	close(report[1]);
	i = strlen(said);
	got = read(report[0], said + i, size - i - 1);
	said[i + (got > 0 ? got : 0)] = '\0';
	close(report[0]);

	return verdicts;
}

static int set_failure(const char *which, const char *percent)
{
	static const char *const names[][2] = {
		{ "task-filter", "Y" }, { "verbose", "0" }, { "times", "-1" },
		{ "ignore-gfp-wait", "N" }, { "min-order", "0" },
	};
	char path[128];
	size_t i;
	int err;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), DEBUGFS "%s/%s", which, names[i][0]);
		err = guest_write(path, names[i][1]);
		/* Slabs have no order. */
		if (err && err != -ENOENT)
			return err;
	}
	snprintf(path, sizeof(path), DEBUGFS "%s/probability", which);

	return guest_write(path, percent);
}

/*
 * Who does not get memory may say so, with a stack, which is not what is looked
 * for here: print errors only, and take any warning for fatal.
 */
static unsigned int work_all_failing(char *said, size_t size)
{
	char printk[64], percent[16];
	unsigned int verdicts;
	int err;

	snprintf(percent, sizeof(percent), "%d", FAILURES_PERCENT);
	err = guest_read(PRINTK, printk, sizeof(printk)) ?:
		guest_write("/proc/sys/kernel/panic_on_warn", "1") ?:
		guest_write(PRINTK, "4") ?:
		set_failure("failslab", percent) ?:
		set_failure("fail_page_alloc", percent);
	if (err)
		snprintf(said, size, "setup: %s", strerror(-err));
	verdicts = err ? 1U << WRONG : work_all(true, said, size);

	err = set_failure("failslab", "0") ?: set_failure("fail_page_alloc", "0");
	if (guest_write(PRINTK, printk) || err)
		verdicts |= 1U << WRONG;

	return verdicts;
}

static unsigned long number_in(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	unsigned long value = -1UL;
	char line[256];
	size_t len = strlen(name);

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, len) && line[len] == ' ')
			value = strtoul(line + len, NULL, 0);
	if (file)
		fclose(file);

	return value;
}

/* What was freed may be counted a little later. */
static bool tables_settle_at(unsigned long expected)
{
	unsigned long now;
	int tenths;

	for (tenths = 0; tenths < 50; tenths++) {
		now = number_in("/proc/vmstat", "nr_page_table_pages");
		if (now <= expected)
			return true;
		usleep(100000);
	}
	ksft_print_msg("%lu pages of tables, there were %lu\n", now, expected);

	return false;
}

static bool checker_is_content(void)
{
	static const char *const names[] = {
		"missed_breaks", "missed_tables", "missed_runs",
		"missed_stacks", "changed-without-break", "made-before-flush",
		"inconsistent-run", "table-freed-before-flush",
		"table-freed-while-linked",
	};
	bool content = true;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		unsigned long value = number_in(STATS, names[i]);

		if (value) {
			ksft_print_msg("%s %lu\n", names[i], value);
			content = false;
		}
	}

	return content && number_in(STATS, "breaks");
}

/* Lockdep switches itself off when it finds something. */
static bool nothing_was_reported(const char *tainted)
{
	char text[64], *at, *locks;
	bool on = true;
	FILE *file;

	if (guest_read("/proc/sys/kernel/tainted", text, sizeof(text)) ||
	    strcmp(text, tainted)) {
		ksft_print_msg("tainted %s", text);
		return false;
	}

	file = fopen("/proc/lockdep_stats", "r");
	locks = malloc(65536);
	if (file && locks) {
		locks[fread(locks, 1, 65535, file)] = '\0';
		at = strstr(locks, "debug_locks:");
		on = at && strtoul(at + strlen("debug_locks:"), NULL, 0);
	}
	if (file)
		fclose(file);
	free(locks);

	return on;
}

int main(int argc, char **argv)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	time_t end = time(NULL) + 60 * (argc > 1 ? atoi(argv[1]) : 0);
	unsigned int before, failing = 0, after, times = 0;
	char said[256] = "", tainted[64];
	unsigned long tables;

	ksft_print_header();
	ksft_set_plan(6);
	setrlimit(RLIMIT_MEMLOCK, &limit);
	if (access(PT_DUMP, R_OK) || access(STATS, R_OK))
		ksft_exit_fail_msg("no " PT_DUMP " or no " STATS "\n");
	guest_write("/proc/sys/net/core/bpf_jit_enable", "1\n");

	before = work_all(false, said, sizeof(said));
	tables = number_in("/proc/vmstat", "nr_page_table_pages");
	if (guest_read("/proc/sys/kernel/tainted", tainted, sizeof(tainted)))
		ksft_exit_fail_msg("cannot read tainted\n");
	do {
		failing |= work_all_failing(said, sizeof(said));
		after = work_all(false, said, sizeof(said));
		times++;
	} while (after == 1U << ALL_WORKED && time(NULL) < end);

	if (said[0])
		ksft_print_msg("%s\n", said);
	ksft_print_msg("%u times, verdicts %x %x %x\n", times, before, failing,
		       after);
	ksft_test_result(before == 1U << ALL_WORKED, "everything_works\n");
	/* Some were refused, or nothing was tested; nobody was all the time. */
	ksft_test_result(failing & 1U << SOME_REFUSED &&
			 !(failing & 1U << WRONG), "refusals_are_clean\n");
	ksft_test_result(after == 1U << ALL_WORKED, "everything_still_works\n");
	ksft_test_result(tables_settle_at(tables), "tables_are_freed\n");
	ksft_test_result(checker_is_content(), "checker_is_content\n");
	ksft_test_result(nothing_was_reported(tainted), "nothing_was_reported\n");
	ksft_finished();
}
