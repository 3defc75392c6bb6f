// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hibernation while parts of the linear map are invalid or read-only (SPEC L3,
 * L6).
 *
 * The image is written to the disk and read back at once (test_resume), so the
 * kernel saves, and restores, pages that it cannot see through the linear map:
 * of the blocks of leaf_poke.ko one is invalid as a whole, in one leaf, and one
 * has single pages that were made invalid, or read-only, in each way. After
 * waking up the linear map must be what it was, leaf by leaf, every page that
 * can be read must hold its pattern, and so must the others once they are valid
 * again.
 *
 * Usage: sleep_and_wake
 * Needs leaf_poke.ko in the current directory, /dev/vda, root and debugfs.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"
#include "leaves.h"
#include "poke.h"

#define DISK		"/dev/vda"
/* A leaf of some kind with every page size. */
#define BLOCK_SIZE	(2UL << 20)
#define NR_BLOCKS	2

static uint64_t page_size;
static uint64_t blocks[NR_BLOCKS];

static void load_blocks(void)
{
	unsigned int order = __builtin_ctzl(BLOCK_SIZE / page_size);
	char params[64];
	FILE *file;
	int i;

	snprintf(params, sizeof(params), "megabytes=%lu order=%u",
		 NR_BLOCKS * BLOCK_SIZE >> 20, order);
	if (guest_load("leaf_poke.ko", params))
		ksft_exit_fail_msg("leaf_poke.ko cannot be loaded\n");
	file = fopen(POKE_DIR "blocks", "r");
	if (!file)
		ksft_exit_fail_perror("leaf_poke/blocks");
	for (i = 0; i < NR_BLOCKS; i++)
		if (fscanf(file, "%" SCNx64 " %*x", &blocks[i]) != 1)
			ksft_exit_fail_msg("leaf_poke has too few blocks\n");
	fclose(file);
}

static bool change_one(const char *verb, uint64_t addr)
{
	int ret = poke(verb, addr);

	if (ret)
		ksft_print_msg("%s 0x%" PRIx64 ": %s\n", verb, addr,
			       strerror(-ret));
	return !ret;
}

/* Where leaves cannot be split, pages are all there is, and all can change. */
static bool change(bool back)
{
	static const char * const verbs[][2] = {
		{ "clear", "set" }, { "invalid", "default" }, { "ro", "rw" },
	};
	bool ok = change_one(back ? "set_block" : "clear_block", blocks[0]);
	unsigned int i;

	for (i = 0; i < 3; i++)
		ok &= change_one(verbs[i][back],
				 blocks[1] + (3 + 2 * i) * page_size);
	return ok;
}

static void dump(struct pt_dump *d)
{
	if (pt_read_path(d, NULL, page_size))
		ksft_exit_fail_msg("cannot read the page tables\n");
}

static void show(uint64_t start, uint64_t end, const struct pt_range *before,
		 const struct pt_range *now, void *arg)
{
	(void)arg;
	ksft_print_msg("%016" PRIx64 "-%016" PRIx64 " was %s %s, is %s %s\n",
		       start, end, before ? pt_kind_name(before->kind) : "-",
		       before ? before->attrs : "", now ? pt_kind_name(now->kind) :
		       "-", now ? now->attrs : "");
}

static bool linear_map_same(const struct pt_dump *before,
			    const struct pt_dump *now)
{
	struct pt_range *a, *b;
	size_t nr_a, nr_b, differ;

	a = pt_linear(before, &nr_a);
	b = pt_linear(now, &nr_b);
	if (!a || !b)
		ksft_exit_fail_msg("cannot copy the dump\n");
	differ = pt_diff(a, nr_a, b, nr_b, true, show, NULL);
	free(a);
	free(b);
	return !differ;
}

/* The whole leaf is one leaf, and invalid. */
static bool whole_leaf_invalid(const struct pt_dump *d)
{
	const struct pt_range *r = pt_find(d, blocks[0]);

	return r && !r->valid && r->end >= blocks[0] + BLOCK_SIZE;
}

static void swap_on(void)
{
	struct stat st;
	char dev[32];

	if (system("mkswap " DISK " && swapon " DISK))
		ksft_exit_fail_msg("no swap on " DISK "\n");
	if (stat(DISK, &st))
		ksft_exit_fail_perror(DISK);
	snprintf(dev, sizeof(dev), "%u:%u", major(st.st_rdev),
		 minor(st.st_rdev));
	if (guest_write("/sys/power/resume", dev) ||
	    guest_write("/sys/power/disk", "test_resume"))
		ksft_exit_fail_msg("this kernel cannot hibernate\n");
}

int main(void)
{
	struct pt_dump before, now;
	unsigned long invalid;
	int ret;

	page_size = sysconf(_SC_PAGESIZE);
	/* One whole block, and two pages of the other. */
	invalid = BLOCK_SIZE / page_size + 2;
	ksft_print_header();
	ksft_set_plan(6);

	load_blocks();
	swap_on();
	ksft_test_result(change(false) && poke_contents_ok(invalid), "change\n");
	dump(&before);
	ksft_test_result(whole_leaf_invalid(&before), "whole_leaf_invalid\n");

	ret = guest_write("/sys/power/state", "disk");
	if (ret)
		ksft_print_msg("/sys/power/state: %s\n", strerror(-ret));
	ksft_test_result(!ret, "sleep_and_wake\n");

	dump(&now);
	ksft_test_result(linear_map_same(&before, &now), "linear_map_same\n");
	ksft_test_result(poke_contents_ok(invalid), "contents_of_valid_pages\n");
	ksft_test_result(change(true) && poke_contents_ok(0),
			 "contents_of_all_pages\n");
	pt_free(&before);
	pt_free(&now);
	ksft_finished();
}
