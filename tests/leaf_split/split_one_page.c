// SPDX-License-Identifier: GPL-2.0-only
/*
 * One page in the middle of a leaf of each kind is made invalid, or read-only,
 * and valid and writable again (SPEC L3, L4, L6).
 *
 * After each step the page tables are dumped and compared, stretch by stretch,
 * with what the layout before and the rule of L4 say: the leaf that held the
 * page is cut at the page's two boundaries into the largest leaves that fit
 * around them, and nothing else in the linear map has changed, neither kinds
 * nor attributes. DirectMap lines, where there are any, must agree, and so must
 * the counters of splits (L10). Going back may leave the pieces or join them
 * again.
 *
 * Usage: split_one_page [large]
 * With "large", every kind of which three leaves fit into memory must be found
 * in the linear map, else its tests fail. Without, a kind that is not found is
 * skipped. Kinds are split from the largest to the smallest, so the pieces of
 * one are what the next is looked for in.
 *
 * Needs leaf_poke.ko in the current directory, root and debugfs.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"
#include "leaves.h"
#include "poke.h"

#define MAX_SHOWN	10

struct way {
	const char *change;
	const char *back;
	bool valid;		/* of the page while it is changed */
	bool ro;
};

static const struct way ways[] = {
	{ "invalid", "default", false, false },
	{ "clear", "set", false, false },
	{ "ro", "rw", true, true },
};

#define NR_WAYS	ARRAY_SIZE(ways)

static struct pt_geometry geo;
static uint64_t *blocks;
static size_t nr_blocks;
static uint64_t block_size;

/*
 * One level at a time: a page lies in one leaf of each kind, so one leaf of
 * the kind that held it was split, and one of each smaller kind. A kernel that
 * has the DirectMap lines has the counters.
 */
static bool splits_ok(const unsigned long before[PT_NR_KINDS],
		      enum pt_kind held_by, bool required)
{
	unsigned long now[PT_NR_KINDS];
	bool ok = true;
	int kind;

	if (!pt_read_splits(now)) {
		if (required)
			ksft_print_msg("no counters of splits\n");
		return !required;
	}
	for (kind = PT_CONT_PTE; kind < PT_NR_KINDS; kind++) {
		unsigned long want = geo.size[kind] && kind <= (int)held_by;

		if (now[kind] - before[kind] == want)
			continue;
		ksft_print_msg("%lu splits of %s leaves counted, not %lu\n",
			       now[kind] - before[kind], pt_kind_name(kind),
			       want);
		ok = false;
	}
	return ok;
}

static void read_blocks(void)
{
	FILE *file = fopen(POKE_DIR "blocks", "r");
	uint64_t start, end;

	if (!file)
		ksft_exit_fail_perror("leaf_poke/blocks");
	while (fscanf(file, "%" SCNx64 " %" SCNx64, &start, &end) == 2) {
		blocks = realloc(blocks, (nr_blocks + 1) * sizeof(*blocks));
		if (!blocks)
			ksft_exit_fail_perror("realloc");
		blocks[nr_blocks++] = start;
		block_size = end - start;
	}
	fclose(file);
	if (!nr_blocks)
		ksft_exit_fail_msg("leaf_poke has no blocks\n");
}

static void dump(struct pt_dump *d)
{
	if (pt_read_path(d, NULL, geo.page_size))
		ksft_exit_fail_msg("cannot read the page tables\n");
}

/*
 * A page of ours strictly inside a leaf of this kind. Of all blocks the one
 * in the middle is taken, so that the leaf has large pieces on both sides.
 */
static bool find_victim(const struct pt_dump *d, enum pt_kind kind,
			uint64_t *page)
{
	const struct pt_range *range;
	uint64_t addr, start, end, best = 0, off, best_off = 0;
	size_t i;

	for (i = 0; i < nr_blocks; i++) {
		for (addr = blocks[i]; addr < blocks[i] + block_size;
		     addr += geo.page_size) {
			range = pt_find(d, addr);
			if (!range || range->kind != kind || !range->valid ||
			    range->ro)
				continue;
			start = pt_leaf_start(d, range, addr);
			end = start + geo.size[kind];
			if (kind != PT_PTE && (addr == start ||
					       addr + geo.page_size == end))
				continue;
			off = addr - start < end - addr ? addr - start :
							  end - addr;
			if (best && off <= best_off)
				continue;
			best = addr;
			best_off = off;
		}
	}
	*page = best;
	return best;
}

struct list {
	struct pt_range *ranges;
	size_t nr;
};

static void push(struct list *list, const struct pt_range *like, uint64_t start,
		 uint64_t end, enum pt_kind kind)
{
	if (start == end)
		return;
	list->ranges = realloc(list->ranges,
			       (list->nr + 1) * sizeof(*list->ranges));
	if (!list->ranges)
		ksft_exit_fail_perror("realloc");
	list->ranges[list->nr] = *like;
	list->ranges[list->nr].start = start;
	list->ranges[list->nr].end = end;
	list->ranges[list->nr++].kind = kind;
}

/* [start, end) in the largest leaves that fit, none larger than @max. */
static void push_largest(struct list *list, const struct pt_range *like,
			 uint64_t start, uint64_t end, enum pt_kind max)
{
	while (start < end) {
		int kind = max;

		while (kind > PT_PTE &&
		       (!geo.size[kind] || start % geo.size[kind] ||
			end - start < geo.size[kind]))
			kind--;
		push(list, like, start, start + geo.size[kind], kind);
		start += geo.size[kind];
	}
}

/* The linear map of @before with the leaf that holds @page cut around it. */
static struct list cut_around(const struct pt_dump *before, uint64_t page,
			      const struct pt_range *page_like)
{
	struct list list = { NULL, 0 };
	size_t i;

	for (i = 0; i < before->nr; i++) {
		const struct pt_range *r = &before->ranges[i];
		uint64_t start, end, next = page + geo.page_size;

		if (!r->linear)
			continue;
		if (page < r->start || page >= r->end) {
			push(&list, r, r->start, r->end, r->kind);
			continue;
		}
		start = pt_leaf_start(before, r, page);
		end = start + geo.size[r->kind];
		push(&list, r, r->start, start, r->kind);
		push_largest(&list, r, start, page, r->kind);
		push(&list, page_like, page, next, PT_PTE);
		push_largest(&list, r, next, end, r->kind);
		push(&list, r, end, r->end, r->kind);
	}
	return list;
}

static void show(uint64_t start, uint64_t end, const struct pt_range *want,
		 const struct pt_range *have, void *arg)
{
	unsigned int *shown = arg;

	if ((*shown)++ >= MAX_SHOWN)
		return;
	ksft_print_msg("%016" PRIx64 "-%016" PRIx64 " want %s %s, is %s %s\n",
		       start, end, want ? pt_kind_name(want->kind) : "nothing",
		       want ? want->attrs : "",
		       have ? pt_kind_name(have->kind) : "nothing",
		       have ? have->attrs : "");
}

static bool linear_is(const struct pt_dump *d, const struct list *want,
		      bool quiet)
{
	unsigned int shown = quiet ? MAX_SHOWN : 0;
	struct list have;
	size_t bad;

	have.ranges = pt_linear(d, &have.nr);
	if (!have.ranges)
		ksft_exit_fail_msg("cannot copy the dump\n");
	bad = pt_diff(want->ranges, want->nr, have.ranges, have.nr, true, show,
		      &shown);
	free(have.ranges);
	return !bad;
}

static bool page_is(const struct pt_dump *d, uint64_t page, bool valid, bool ro)
{
	const struct pt_range *range = pt_find(d, page);

	if (!range) {
		ksft_print_msg("%016" PRIx64 " is no leaf any more\n", page);
		return false;
	}
	if (range->kind == PT_PTE && range->valid == valid && range->ro == ro)
		return true;
	ksft_print_msg("%016" PRIx64 " is %s %s\n", page,
		       pt_kind_name(range->kind), range->attrs);
	return false;
}

/* The page is changed: it alone differs, and the leaf is cut around it. */
static bool changed_ok(const struct pt_dump *before, const struct way *way,
		       uint64_t page, const unsigned long splits[PT_NR_KINDS])
{
	enum pt_directmap directmap;
	struct pt_dump after;
	struct list want;
	bool ok;

	dump(&after);
	ok = page_is(&after, page, way->valid, way->ro);
	if (ok) {
		want = cut_around(before, page, pt_find(&after, page));
		ok = linear_is(&after, &want, false);
		free(want.ranges);
	}
	directmap = pt_check_directmap(&after, NULL);
	ok = splits_ok(splits, pt_find(before, page)->kind,
		       directmap != PT_DIRECTMAP_NONE) && ok;
	pt_free(&after);
	return poke_contents_ok(!way->valid) && directmap != PT_DIRECTMAP_WRONG &&
	       ok;
}

/* The page is as before: the pieces are left as they are, or joined again. */
static bool back_ok(const struct pt_dump *before, uint64_t page)
{
	struct pt_dump after;
	struct list cut, whole;
	bool ok;

	dump(&after);
	cut = cut_around(before, page, pt_find(before, page));
	whole.ranges = pt_linear(before, &whole.nr);
	ok = whole.ranges && linear_is(&after, &whole, true);
	if (!ok)
		ok = linear_is(&after, &cut, false);
	free(cut.ranges);
	free(whole.ranges);
	ok = pt_check_directmap(&after, NULL) != PT_DIRECTMAP_WRONG && ok;
	pt_free(&after);
	return poke_contents_ok(0) && ok;
}

static void test(enum pt_kind kind, const struct way *way, bool required)
{
	const char *name = pt_kind_name(kind);
	unsigned long splits[PT_NR_KINDS];
	struct pt_dump before;
	uint64_t page;
	bool ok = false;
	int err;

	pt_read_splits(splits);
	dump(&before);
	if (!find_victim(&before, kind, &page)) {
		if (required)
			ksft_test_result_fail("%s_%s no such leaf here\n", name,
					      way->change);
		else
			ksft_test_result_skip("%s_%s no such leaf here\n", name,
					      way->change);
		pt_free(&before);
		return;
	}
	err = poke(way->change, page);
	if (err) {
		ksft_print_msg("%s: %s\n", way->change, strerror(-err));
	} else {
		ok = changed_ok(&before, way, page, splits);
		err = poke(way->back, page);
		if (err) {
			ksft_print_msg("%s: %s\n", way->back, strerror(-err));
			ok = false;
		} else {
			ok = back_ok(&before, page) && ok;
		}
	}
	ksft_test_result(ok, "%s_%s\n", name, way->change);
	pt_free(&before);
}

static unsigned long meminfo_kb(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long kb = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			kb = strtoul(line + strlen(name), NULL, 10);
	if (file)
		fclose(file);
	return kb;
}

/*
 * Loading a module leaves work behind: its init sections are freed, and their
 * pages made writable again, by a work item. Wait until nothing splits leaves.
 */
static void settle(void)
{
	unsigned long before[PT_NR_KINDS], after[PT_NR_KINDS];
	int tries;

	for (tries = 0; tries < 20; tries++) {
		if (!pt_read_splits(before))
			return;
		usleep(300 * 1000);
		if (!pt_read_splits(after))
			return;
		if (!memcmp(before, after, sizeof(before)))
			return;
	}
	ksft_print_msg("leaves are still being split after the module's load\n");
}

int main(int argc, char **argv)
{
	bool large = argc > 1 && !strcmp(argv[1], "large");
	unsigned int i, plan = 0, order = 0;
	uint64_t memory;
	char params[128];
	int kind, err;

	ksft_print_header();
	if (pt_geometry_init(&geo, sysconf(_SC_PAGESIZE)))
		ksft_exit_fail_msg("unknown page size\n");
	if (access(PT_DUMP_PATH, R_OK))
		ksft_exit_skip("no " PT_DUMP_PATH "\n");
	for (kind = 0; kind < PT_NR_KINDS; kind++)
		plan += geo.size[kind] ? NR_WAYS : 0;

	/* A block is two CONT_PTE runs: one can be split, one is left. */
	while (geo.page_size << order < 2 * geo.size[PT_CONT_PTE])
		order++;
	/* Four fifths of what is free: enough to meet every large leaf. */
	snprintf(params, sizeof(params), "megabytes=%lu stride=%u order=%u",
		 meminfo_kb("MemFree:") / 1024 * 4 / 5,
		 geo.page_size == 4096 ? 16 : 64, order);
	err = guest_load("leaf_poke.ko", params);
	if (err)
		ksft_exit_fail_msg("leaf_poke.ko: %s\n", strerror(-err));
	settle();
	read_blocks();

	memory = (uint64_t)meminfo_kb("MemTotal:") << 10;
	ksft_set_plan(plan);
	for (kind = PT_NR_KINDS - 1; kind >= 0; kind--)
		for (i = 0; geo.size[kind] && i < NR_WAYS; i++)
			test(kind, &ways[i],
			     large && NR_WAYS * geo.size[kind] <= memory);
	err = guest_unload("leaf_poke");
	if (err)
		ksft_exit_fail_msg("unload: %s\n", strerror(-err));
	ksft_finished();
}
