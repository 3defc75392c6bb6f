// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of memfd_secret() leave the linear map one by one, and come back when
 * the file is closed (SPEC L3, L4, L6).
 *
 * While a secret area exists, exactly its pages are present-invalid in the
 * linear map, everything else keeps its attributes, and no address loses its
 * leaf. Afterwards every attribute is as before. The contents must hold.
 *
 * Usage: secretmem [PAGES]		default 100
 * Needs SECRETMEM, root and debugfs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest.h"
#include "leaves.h"

static unsigned int nr_pages = 100;
static size_t page_size;

static void dump(struct pt_dump *d)
{
	if (pt_read_path(d, NULL, page_size))
		ksft_exit_fail_msg("cannot read the page tables\n");
}

/* Bytes of the linear map that are leaves, and those that are invalid. */
static void count(const struct pt_dump *d, uint64_t *mapped, uint64_t *invalid)
{
	size_t i;

	*mapped = 0;
	*invalid = 0;
	for (i = 0; i < d->nr; i++) {
		const struct pt_range *r = &d->ranges[i];

		if (!r->linear)
			continue;
		*mapped += r->end - r->start;
		if (!r->valid)
			*invalid += r->end - r->start;
	}
}

struct change {
	uint64_t bytes;
	unsigned int other;
};

/* Anything but a valid page that became invalid is some other change. */
static void note_change(uint64_t start, uint64_t end,
			const struct pt_range *before,
			const struct pt_range *now, void *arg)
{
	struct change *change = arg;

	if (!before || !now) {
		change->other++;
	} else if (before->valid && !now->valid && now->kind == PT_PTE) {
		change->bytes += end - start;
	} else if (strcmp(before->attrs, now->attrs) ||
		   now->kind > before->kind) {
		ksft_print_msg("%016" PRIx64 "-%016" PRIx64
			       " was %s %s, is %s %s\n", start, end,
			       pt_kind_name(before->kind), before->attrs,
			       pt_kind_name(now->kind), now->attrs);
		change->other++;
	}
}

static struct change compare(const struct pt_dump *before,
			     const struct pt_dump *now)
{
	struct change change = { 0, 0 };
	struct pt_range *a, *b;
	size_t nr_a, nr_b;

	a = pt_linear(before, &nr_a);
	b = pt_linear(now, &nr_b);
	if (!a || !b)
		ksft_exit_fail_msg("cannot copy the dump\n");
	pt_diff(a, nr_a, b, nr_b, true, note_change, &change);
	free(a);
	free(b);
	return change;
}

static void fill(unsigned char *area)
{
	size_t i;

	for (i = 0; i < nr_pages * page_size; i++)
		area[i] = i * 7 + i / page_size;
}

static bool filled(const unsigned char *area)
{
	size_t i;

	for (i = 0; i < nr_pages * page_size; i++)
		if (area[i] != (unsigned char)(i * 7 + i / page_size))
			return false;
	return true;
}

int main(int argc, char **argv)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	uint64_t mapped[3], invalid[3];
	struct pt_dump before, during, after;
	struct change change;
	unsigned char *area;
	size_t size;
	int fd;

	ksft_print_header();
	if (argc > 1)
		nr_pages = strtoul(argv[1], NULL, 10);
	page_size = sysconf(_SC_PAGESIZE);
	size = nr_pages * page_size;
	if (access(PT_DUMP_PATH, R_OK))
		ksft_exit_skip("no " PT_DUMP_PATH "\n");
	fd = syscall(SYS_memfd_secret, 0);
	if (fd < 0 && errno == ENOSYS)
		ksft_exit_skip("no memfd_secret() here\n");
	setrlimit(RLIMIT_MEMLOCK, &limit);
	if (fd < 0 || ftruncate(fd, size))
		ksft_exit_fail_perror("memfd_secret");
	ksft_set_plan(3);

	dump(&before);
	area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (area == MAP_FAILED)
		ksft_exit_fail_perror("mmap");
	fill(area);
	dump(&during);
	ksft_test_result(filled(area), "contents\n");
	munmap(area, size);
	close(fd);
	dump(&after);

	count(&before, &mapped[0], &invalid[0]);
	count(&during, &mapped[1], &invalid[1]);
	count(&after, &mapped[2], &invalid[2]);
	change = compare(&before, &during);
	ksft_print_msg("invalid while in use: %" PRIu64 " kB of %zu kB\n",
		       change.bytes >> 10, size >> 10);
	ksft_test_result(change.bytes == size && !change.other &&
			 mapped[0] == mapped[1], "pages_leave_linear_map\n");
	change = compare(&before, &after);
	ksft_test_result(!change.bytes && !change.other &&
			 mapped[0] == mapped[2] && invalid[0] == invalid[2],
			 "pages_come_back\n");
	ksft_finished();
}
