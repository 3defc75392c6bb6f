// SPDX-License-Identifier: GPL-2.0-only
/*
 * Neither the copies of a node nor its top-level table, with the two pages that
 * belong to it, can be written to or executed through the linear map.
 *
 * Usage: readonly
 * Needs root and debugfs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "leaves.h"
#include "physmap.h"

#define DIR		"/sys/kernel/debug/numa_replication"
/* The trampoline's, the empty one and the kernel's, which is the root. */
#define TOP_PAGES	3

static struct pt_dump dump;
static uint64_t offset;
static unsigned long nr_bad, nr_seen;

static void check(uint64_t phys, uint64_t size, const char *what, int nid)
{
	uint64_t addr = phys + offset, end = addr + size;
	const struct pt_range *range;

	while (addr < end) {
		range = pt_find(&dump, addr);
		if (!range || !range->linear || !range->ro || !range->nx) {
			printf("node %d: %s at %#" PRIx64 " %s\n", nid, what,
			       addr - offset, range ? range->attrs : "unmapped");
			nr_bad++;
			return;
		}
		nr_seen++;
		addr = range->end;
	}
}

static void check_copies(int nid)
{
	unsigned long start, end, phys;
	char path[128], line[512];
	int nr_copies = 0;
	FILE *file;

	snprintf(path, sizeof(path), DIR "/node%d/page_tables", nid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx phys=%lx", &start, &end, &phys) != 3)
			continue;
		check(phys, end - start, "copy", nid);
		nr_copies++;
	}
	if (file)
		fclose(file);
	if (!nr_copies) {
		printf("node %d: no copies in %s\n", nid, path);
		nr_bad++;
	}
}

int main(void)
{
	unsigned long root, nid, page_size = sysconf(_SC_PAGESIZE);
	struct phys_map map;
	int nr_nodes = 0;
	char line[512];
	FILE *file;

	if (pt_read_path(&dump, NULL, 0) || physmap_read(&map, NULL) ||
	    physmap_offset(&map, &dump, &offset))
		return 1;

	file = fopen(DIR "/state", "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (!strstr(line, " state=copy "))
			continue;
		if (guest_field(line, "node=", &nid) ||
		    guest_field(line, "root=", &root)) {
			printf("not understood: %s", line);
			return 1;
		}
		check(root - (TOP_PAGES - 1) * page_size, TOP_PAGES * page_size,
		      "top-level table", nid);
		check_copies(nid);
		nr_nodes++;
	}
	printf("%d nodes, %lu stretches, %lu not read-only\n", nr_nodes, nr_seen,
	       nr_bad);

	return !nr_nodes || nr_bad;
}
