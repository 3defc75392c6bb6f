// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show and check the kernel's page tables.
 *
 * Usage: ptdump [-f DUMP] [-i IOMEM] [-m MEMINFO] [-p PAGE_SIZE] COMMAND
 *
 *	hist		leaves and bytes of the linear map, per kind
 *	wx		no leaf of any region is writable and executable
 *	alias		the linear alias of kernel text and rodata is read-only
 *			and never executable
 *	layout		the linear map has the largest leaves that /proc/iomem
 *			allows; nothing else is mapped, nothing is missing. A
 *			leaf may be in pieces if the kernel says in /proc/vmstat
 *			that it has split one of its kind since boot.
 *	layout-pte	the linear map has pages, but for the text alias
 *	directmap	the DirectMap lines of /proc/meminfo tell the truth
 *	find ADDR	the leaf that holds a virtual address
 *
 * Without options the running kernel is looked at, which takes root and
 * debugfs. If it has a KFENCE pool, layout needs no_hash_pointers on the command
 * line, since only the log says where the pool is.
 *
 * Exit status: 0 holds, 1 does not, 2 usage or unreadable input, 4 does not
 * apply to this kernel.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "physmap.h"
#include "leaves.h"

#define EXIT_SKIP	4
/* Findings shown before the rest is only counted. */
#define MAX_SHOWN	20

static const char *iomem_path = IOMEM_PATH;
static const char *meminfo_path;
static bool live = true;

static void show_range(const struct pt_range *range)
{
	printf("%016" PRIx64 "-%016" PRIx64 " %-8s %s\n", range->start,
	       range->end, pt_kind_name(range->kind), range->attrs);
}

static int cmd_hist(const struct pt_dump *dump)
{
	uint64_t leaves[PT_NR_KINDS], bytes[PT_NR_KINDS];
	int kind;

	pt_histogram(dump, leaves, bytes);
	for (kind = PT_NR_KINDS - 1; kind >= 0; kind--)
		if (dump->geo.size[kind])
			printf("%s size_kb=%" PRIu64 " leaves=%" PRIu64
			       " total_kb=%" PRIu64 "\n", pt_kind_name(kind),
			       dump->geo.size[kind] >> 10, leaves[kind],
			       bytes[kind] >> 10);
	return EXIT_SUCCESS;
}

static int cmd_wx(const struct pt_dump *dump)
{
	unsigned long bad = 0;
	size_t i;

	for (i = 0; i < dump->nr; i++) {
		const struct pt_range *range = &dump->ranges[i];

		/* No kernel mapping is executable for user space either. */
		if ((range->ro || range->nx) && range->uxn)
			continue;
		if (bad++ < MAX_SHOWN)
			show_range(range);
	}
	printf("wx: %zu stretches, %lu violate W^X\n", dump->nr, bad);
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int cmd_alias(const struct pt_dump *dump, const struct phys_map *map,
		     uint64_t offset)
{
	uint64_t start = map->text_start + offset;
	uint64_t end = map->text_end + offset;
	unsigned long seen = 0, bad = 0;
	size_t i;

	for (i = 0; i < dump->nr; i++) {
		const struct pt_range *range = &dump->ranges[i];

		if (!range->linear || range->start >= end ||
		    range->end <= start)
			continue;
		seen++;
		if (range->ro && range->nx && range->valid)
			continue;
		if (bad++ < MAX_SHOWN)
			show_range(range);
	}
	printf("alias: %016" PRIx64 "-%016" PRIx64
	       " in %lu stretches, %lu not read-only\n", start, end, seen, bad);
	return seen && !bad ? EXIT_SUCCESS : EXIT_FAILURE;
}

struct layout_diff {
	const struct pt_geometry *geo;
	uint64_t bytes;
	unsigned long shown;
	uint64_t last_split;		/* the leaf counted last */
	unsigned long splits[PT_NR_KINDS];
	unsigned long wrong;
};

/*
 * Smaller leaves where a large one was expected may be the pieces of one that
 * was split; how many such leaves there are is counted. Pieces of one leaf
 * come one after the other. Everything else is wrong at once.
 */
static void note_difference(uint64_t start, uint64_t end,
			    const struct pt_range *want,
			    const struct pt_range *have, void *arg)
{
	struct layout_diff *diff = arg;

	diff->bytes += end - start;
	if (!want || !have || have->kind > want->kind) {
		diff->wrong++;
	} else {
		uint64_t size = diff->geo->size[want->kind];
		uint64_t leaf = start & ~(size - 1);

		for (; leaf < end; leaf += size) {
			if (leaf == diff->last_split)
				continue;
			diff->splits[want->kind]++;
			diff->last_split = leaf;
		}
	}
	if (diff->shown++ < MAX_SHOWN)
		printf("%016" PRIx64 "-%016" PRIx64 " expected %s, is %s\n",
		       start, end, want ? pt_kind_name(want->kind) : "nothing",
		       have ? pt_kind_name(have->kind) : "nothing");
}

/* Every large leaf that is missing must be one that the kernel split. */
static bool splits_explain(const struct layout_diff *diff)
{
	unsigned long counted[PT_NR_KINDS];
	bool ok = !diff->wrong;
	int kind;

	pt_read_splits(counted);
	for (kind = 0; kind < PT_NR_KINDS; kind++) {
		if (!diff->splits[kind])
			continue;
		printf("layout: %lu %s leaves in pieces, %lu counted as split\n",
		       diff->splits[kind], pt_kind_name(kind),
		       live ? counted[kind] : 0);
		ok = ok && live && diff->splits[kind] <= counted[kind];
	}
	return ok;
}

static int cmd_layout(const struct pt_dump *dump, struct phys_map *map,
		      uint64_t offset, enum layout_mode mode)
{
	struct layout_diff diff = { .geo = &dump->geo };
	struct pt_range *want, *have;
	size_t nr_want, nr_have, bad;
	uint64_t start, end;

	if (live) {
		if (physmap_kfence(&start, &end))
			return 2;
		if (start && physmap_cut(map, start - offset, end - offset,
					 PHYS_PAGES))
			return EXIT_FAILURE;
	}

	if (physmap_expect(map, &dump->geo, offset, mode, &want, &nr_want))
		return 2;
	have = pt_linear(dump, &nr_have);
	if (!have)
		return 2;
	bad = pt_diff(want, nr_want, have, nr_have, false, note_difference,
		      &diff);
	printf("layout: %zu stretches expected, %zu found, %" PRIu64
	       " kB in %zu places differ\n", nr_want, nr_have,
	       diff.bytes >> 10, bad);
	free(want);
	free(have);
	return splits_explain(&diff) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int cmd_directmap(const struct pt_dump *dump)
{
	switch (pt_check_directmap(dump, meminfo_path)) {
	case PT_DIRECTMAP_RIGHT:
		printf("directmap: right\n");
		return EXIT_SUCCESS;
	case PT_DIRECTMAP_NONE:
		printf("directmap: this kernel has no DirectMap lines\n");
		return EXIT_SKIP;
	default:
		return EXIT_FAILURE;
	}
}

static int cmd_find(const struct pt_dump *dump, const char *arg)
{
	const struct pt_range *range;
	uint64_t addr, start;
	char *rest;

	addr = strtoull(arg, &rest, 16);
	if (*rest || rest == arg) {
		fprintf(stderr, "ptdump: not an address: %s\n", arg);
		return 2;
	}
	range = pt_find(dump, addr);
	if (!range) {
		printf("%016" PRIx64 " not mapped\n", addr);
		return EXIT_FAILURE;
	}
	start = pt_leaf_start(dump, range, addr);
	printf("%016" PRIx64 "-%016" PRIx64 " %-8s %s\n", start,
	       start + dump->geo.size[range->kind], pt_kind_name(range->kind),
	       range->attrs);
	return EXIT_SUCCESS;
}

/* Commands that compare the dump with /proc/iomem. */
static int with_physmap(const struct pt_dump *dump, const char *command)
{
	struct phys_map map;
	uint64_t offset;
	int ret;

	if (physmap_read(&map, iomem_path))
		return 2;
	if (physmap_offset(&map, dump, &offset))
		ret = EXIT_FAILURE;
	else if (!strcmp(command, "alias"))
		ret = cmd_alias(dump, &map, offset);
	else if (!strcmp(command, "layout"))
		ret = cmd_layout(dump, &map, offset, LAYOUT_LARGE);
	else
		ret = cmd_layout(dump, &map, offset, LAYOUT_PTE);
	physmap_free(&map);
	return ret;
}

static int usage(void)
{
	fprintf(stderr,
		"Usage: ptdump [-f DUMP] [-i IOMEM] [-m MEMINFO] [-p PAGE_SIZE]\n"
		"       hist | wx | alias | layout | layout-pte | directmap | find ADDR\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *path = NULL, *command;
	uint64_t page_size = 0;
	struct pt_dump dump;
	int opt, ret;

	while ((opt = getopt(argc, argv, "f:i:m:p:")) != -1) {
		switch (opt) {
		case 'f':
			path = optarg;
			live = false;
			break;
		case 'i':
			iomem_path = optarg;
			break;
		case 'm':
			meminfo_path = optarg;
			break;
		case 'p':
			page_size = strtoull(optarg, NULL, 10);
			break;
		default:
			return usage();
		}
	}
	command = argv[optind];
	if (!command || argc - optind != (strcmp(command, "find") ? 1 : 2))
		return usage();
	if (pt_read_path(&dump, path, page_size))
		return 2;
	if (!strcmp(command, "hist"))
		ret = cmd_hist(&dump);
	else if (!strcmp(command, "wx"))
		ret = cmd_wx(&dump);
	else if (!strcmp(command, "directmap"))
		ret = cmd_directmap(&dump);
	else if (!strcmp(command, "find"))
		ret = cmd_find(&dump, argv[optind + 1]);
	else if (!strcmp(command, "alias") || !strcmp(command, "layout") ||
		 !strcmp(command, "layout-pte"))
		ret = with_physmap(&dump, command);
	else
		ret = usage();
	pt_free(&dump);
	return ret;
}
