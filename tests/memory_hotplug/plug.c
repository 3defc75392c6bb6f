// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory is plugged in, used, taken apart and pulled out (SPEC L9).
 *
 * After each plug the new memory must be mapped with the largest leaves that
 * fit into the pieces in which it was announced, and everything else must be as
 * before. Single pages inside are split off and put back, all of it is used and
 * filled, and then it goes: block by block, or the whole device. Afterwards
 * nothing of it is mapped, no neighbour has lost a leaf, and the kernel's page
 * tables take as much memory as before.
 *
 * Usage: plug dimm | virtio
 *	dimm	an ACPI memory device of 1 GiB
 *	virtio	a virtio-mem device that grows and shrinks by GiB
 * Needs page_valid.ko in the current directory, QEMU's monitor at /dev/vport0p1,
 * root and debugfs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"
#include "leaves.h"
#include "physmap.h"

#define MONITOR		"/dev/vport0p1"
#define PROMPT		"(qemu) "
#define BLOCKS		"/sys/devices/system/memory"
#define GIB		(1024ULL * 1024 * 1024)
#define WAIT_MS		20000
#define SETTLE_MS	500
#define MAX_BLOCKS	256

static uint64_t page_size;
static int monitor = -1;

/* QEMU */

/* Read up to the next prompt. */
static bool answer(char *text, size_t size)
{
	struct pollfd p = { .fd = monitor, .events = POLLIN };
	size_t n = 0;

	text[0] = '\0';
	while (!strstr(text, PROMPT)) {
		ssize_t got;

		if (n + 1 >= size || poll(&p, 1, WAIT_MS) != 1)
			return false;
		got = read(monitor, text + n, size - n - 1);
		if (got <= 0)
			return false;
		n += got;
		text[n] = '\0';
	}
	return true;
}

static bool qemu(const char *command)
{
	char text[8192];

	if (dprintf(monitor, "%s\n", command) < 0 ||
	    !answer(text, sizeof(text)))
		ksft_exit_fail_msg("QEMU does not answer to '%s'\n", command);
	if (!strstr(text, "Error"))
		return true;
	ksft_print_msg("%s: %s\n", command, strstr(text, "Error"));
	return false;
}

static void open_monitor(void)
{
	char text[8192];

	monitor = open(MONITOR, O_RDWR | O_CLOEXEC);
	if (monitor < 0)
		ksft_exit_fail_perror(MONITOR);
	/* The greeting, unless it came before anyone listened. */
	dprintf(monitor, "\n");
	if (!answer(text, sizeof(text)))
		ksft_exit_fail_msg("QEMU's monitor does not answer\n");
	while (poll(&(struct pollfd){ .fd = monitor, .events = POLLIN }, 1, 300) == 1)
		if (read(monitor, text, sizeof(text)) <= 0)
			break;
}

/* Memory blocks */

struct block {
	unsigned int id;
	bool old;		/* was there at the start */
};

static struct block blocks[MAX_BLOCKS];
static unsigned int nr_blocks;
static uint64_t block_size;

static void read_blocks(void)
{
	struct block was[MAX_BLOCKS];
	unsigned int nr_was = nr_blocks, i, id;
	DIR *dir = opendir(BLOCKS);
	struct dirent *entry;

	if (!dir)
		ksft_exit_fail_perror(BLOCKS);
	memcpy(was, blocks, sizeof(was));
	nr_blocks = 0;
	while ((entry = readdir(dir))) {
		if (sscanf(entry->d_name, "memory%u", &id) != 1)
			continue;
		if (nr_blocks == MAX_BLOCKS)
			ksft_exit_fail_msg("more than %d blocks\n", MAX_BLOCKS);
		blocks[nr_blocks] = (struct block){ .id = id };
		for (i = 0; i < nr_was; i++)
			if (was[i].id == id)
				blocks[nr_blocks].old = was[i].old;
		nr_blocks++;
	}
	closedir(dir);
}

static unsigned int nr_new(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr_blocks; i++)
		n += !blocks[i].old;
	return n;
}

static int by_id(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/*
 * Wait until there are between @least and @most new blocks, in order, and no
 * more come or go.
 */
static bool wait_for_blocks(unsigned int least, unsigned int most)
{
	unsigned int last = 0;
	int ms, since = 0;

	for (ms = 0; ms < WAIT_MS; ms += 50) {
		read_blocks();
		if (nr_new() != last)
			since = ms;
		last = nr_new();
		if (last >= least && last <= most && ms - since >= SETTLE_MS) {
			qsort(blocks, nr_blocks, sizeof(*blocks), by_id);
			return true;
		}
		usleep(50000);
	}
	ksft_print_msg("%u new blocks of memory, not %u to %u\n", nr_new(),
		       least, most);
	return false;
}

static bool set_state(const struct block *block, const char *state)
{
	char path[96];
	int ret;

	snprintf(path, sizeof(path), BLOCKS "/memory%u/state", block->id);
	ret = guest_write(path, state);
	if (ret)
		ksft_print_msg("memory%u %s: %s\n", block->id, state,
			       strerror(-ret));
	return !ret;
}

static bool set_state_of_new(const char *state)
{
	bool ok = true;
	unsigned int i;

	for (i = 0; i < nr_blocks; i++)
		if (!blocks[i].old)
			ok &= set_state(&blocks[i], state);
	return ok;
}

/* The linear map */

static struct pt_dump before;
static uint64_t offset;
static enum layout_mode mode;

static void dump(struct pt_dump *d)
{
	if (pt_read_path(d, NULL, page_size))
		ksft_exit_fail_msg("cannot read the page tables\n");
}

/* A module that was just loaded gives its init sections back a little later. */
static void dump_settled(struct pt_dump *d)
{
	struct pt_dump last;
	int ms;

	dump(d);
	for (ms = 0; ms < WAIT_MS; ms += SETTLE_MS) {
		struct pt_range *a, *b;
		size_t nr_a, nr_b, differ;

		last = *d;
		usleep(SETTLE_MS * 1000);
		dump(d);
		a = pt_linear(&last, &nr_a);
		b = pt_linear(d, &nr_b);
		differ = pt_diff(a, nr_a, b, nr_b, true, NULL, NULL);
		free(a);
		free(b);
		pt_free(&last);
		if (!differ)
			return;
	}
	ksft_exit_fail_msg("the linear map does not come to rest\n");
}

static void look_at_start(void)
{
	uint64_t leaves[PT_NR_KINDS], bytes[PT_NR_KINDS];
	struct phys_map map;
	char text[32];

	if (guest_read(BLOCKS "/block_size_bytes", text, sizeof(text)))
		ksft_exit_fail_msg("this kernel has no memory hotplug\n");
	block_size = strtoull(text, NULL, 16);
	read_blocks();
	for (unsigned int i = 0; i < nr_blocks; i++)
		blocks[i].old = true;
	if (guest_load("page_valid.ko", ""))
		ksft_exit_fail_msg("page_valid.ko cannot be loaded\n");
	dump_settled(&before);
	if (physmap_read(&map, NULL) || physmap_offset(&map, &before, &offset))
		ksft_exit_fail_msg("memory and linear map do not agree\n");
	physmap_free(&map);
	/* Pages only: PMD blocks are left to the alias of text. */
	pt_histogram(&before, leaves, bytes);
	mode = leaves[PT_CONT_PTE] || leaves[PT_CONT_PMD] || leaves[PT_PUD] ?
		LAYOUT_LARGE : LAYOUT_PTE;
}

static void show(uint64_t start, uint64_t end, const struct pt_range *want,
		 const struct pt_range *have, void *arg)
{
	unsigned int *left = arg;

	if (!*left)
		return;
	--*left;
	ksft_print_msg("%016" PRIx64 "-%016" PRIx64 " want %s %s, have %s %s\n",
		       start, end, want ? pt_kind_name(want->kind) : "-",
		       want ? want->attrs : "", have ? pt_kind_name(have->kind) :
		       "-", have ? have->attrs : "");
}

/* Is this part of what a new block maps? */
static bool is_new(uint64_t virt)
{
	unsigned int i;

	for (i = 0; i < nr_blocks; i++) {
		uint64_t start = offset + blocks[i].id * block_size;

		if (!blocks[i].old && virt >= start && virt < start + block_size)
			return true;
	}
	return false;
}

/*
 * Sort the linear map into old and new stretches. A stretch is cut at the edges
 * of blocks first, since one may go from one into the other.
 */
static struct pt_range *pick(const struct pt_dump *d, bool new, size_t *nr)
{
	struct pt_range *all, *out = NULL;
	size_t nr_all, i;

	all = pt_linear(d, &nr_all);
	*nr = 0;
	for (i = 0; all && i < nr_all; i++) {
		struct pt_range piece = all[i];

		while (piece.start < all[i].end) {
			uint64_t phys = piece.start - offset;

			piece.end = offset + (phys / block_size + 1) * block_size;
			if (piece.end > all[i].end)
				piece.end = all[i].end;
			if (is_new(piece.start) == new) {
				out = realloc(out, (*nr + 1) * sizeof(*out));
				if (!out)
					ksft_exit_fail_perror("realloc");
				out[(*nr)++] = piece;
			}
			piece.start = piece.end;
		}
	}
	free(all);
	return out;
}

/* What was there before has the same leaves, with the same attributes. */
static bool neighbours_same(void)
{
	struct pt_range *a, *b;
	unsigned int left = 10;
	struct pt_dump now;
	size_t nr_a, nr_b, differ;

	dump(&now);
	a = pt_linear(&before, &nr_a);
	b = pick(&now, false, &nr_b);
	differ = pt_diff(a, nr_a, b, nr_b, true, show, &left);
	free(a);
	free(b);
	pt_free(&now);
	return !differ;
}

/* Each piece has the largest leaves that fit into it: a piece was one add. */
static bool new_is_large(uint64_t piece)
{
	struct phys_map map = { 0 };
	struct pt_range *want, *have;
	size_t nr_want, nr_have, differ;
	unsigned int i, left = 10;
	struct pt_dump now;

	map.ranges = calloc(MAX_BLOCKS, sizeof(*map.ranges));
	for (i = 0; map.ranges && i < nr_blocks; i++) {
		uint64_t start = blocks[i].id * block_size;
		struct phys_range *last = &map.ranges[map.nr - 1];

		if (blocks[i].old)
			continue;
		if (map.nr && last->end == start &&
		    last->end - last->start < piece)
			last->end += block_size;
		else
			map.ranges[map.nr++] = (struct phys_range){ start,
				start + block_size, PHYS_ANY };
	}
	dump(&now);
	if (!map.nr ||
	    physmap_expect(&map, &now.geo, offset, mode, &want, &nr_want))
		ksft_exit_fail_msg("nothing to expect\n");
	have = pick(&now, true, &nr_have);
	differ = pt_diff(want, nr_want, have, nr_have, false, show, &left);
	free(want);
	free(have);
	free(map.ranges);
	pt_free(&now);
	return !differ;
}

/* Fill memory, most of which is new, and look whether it holds. */
static bool fill(uint64_t size)
{
	uint64_t *words = mmap(NULL, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t i, bad = 0;

	if (words == MAP_FAILED) {
		ksft_print_msg("mmap of %" PRIu64 " bytes failed\n", size);
		return false;
	}
	for (i = 0; i < size / sizeof(*words); i += 64)
		words[i] = i * 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < size / sizeof(*words); i += 64)
		bad += words[i] != i * 0x9e3779b97f4a7c15ULL;
	munmap(words, size);
	if (bad)
		ksft_print_msg("%" PRIu64 " words differ\n", bad);
	return !bad;
}

static bool set_valid(uint64_t addr, bool valid)
{
	char text[64];
	int ret;

	snprintf(text, sizeof(text), "0x%" PRIx64 " %d", addr, valid);
	ret = guest_write("/sys/kernel/debug/page_valid", text);
	if (ret)
		ksft_print_msg("page_valid %s: %s\n", text, strerror(-ret));
	return !ret;
}

/*
 * Memory that nobody uses is split inside: page 5 of the second new block goes
 * and comes back, the last page of the third one goes and stays away.
 */
static bool split_inside(void)
{
	uint64_t addr[2] = { 0 };
	unsigned int i, n = 0;

	for (i = 0; i < nr_blocks; i++) {
		uint64_t start = offset + blocks[i].id * block_size;

		if (blocks[i].old)
			continue;
		if (n == 1 || nr_new() == 1)
			addr[0] = start + 5 * page_size;
		if (n == 2 || nr_new() < 3)
			addr[1] = start + block_size - page_size;
		n++;
	}
	return set_valid(addr[0], false) && set_valid(addr[0], true) &&
	       set_valid(addr[1], false);
}

static unsigned long nr_page_tables(void)
{
	unsigned long n = 0;
	char line[128];
	FILE *file = fopen("/proc/vmstat", "r");

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "nr_page_table_pages %lu", &n);
	if (file)
		fclose(file);
	return n;
}

static void dimm(void)
{
	unsigned int per_gib = GIB / block_size, i;
	bool ok;

	ksft_test_result(qemu("object_add memory-backend-ram,id=more,size=1G") &&
			 qemu("device_add pc-dimm,id=dimm,memdev=more") &&
			 wait_for_blocks(per_gib, per_gib), "plug\n");
	ksft_test_result(new_is_large(GIB), "new_memory_has_largest_leaves\n");
	ksft_test_result(neighbours_same(), "neighbours_after_plug\n");
	ksft_test_result(split_inside(), "split_inside\n");
	ksft_test_result(neighbours_same(), "neighbours_after_split\n");

	/* Not the block that has a page missing. */
	ok = true;
	for (i = 0; i < nr_blocks; i++)
		if (!blocks[i].old && blocks[i].id % per_gib < 2)
			ok &= set_state(&blocks[i], "online_movable");
	ksft_test_result(ok && fill(GIB / 4), "fill\n");
	ksft_test_result(set_state_of_new("offline") || per_gib > 2, "offline\n");

	ksft_test_result(qemu("device_del dimm") && wait_for_blocks(0, 0),
			 "pull\n");
	ksft_test_result(neighbours_same(), "neighbours_after_pull\n");
}

static void virtio(void)
{
	unsigned int per_gib = GIB / block_size;

	ksft_test_result(qemu("qom-set more requested-size 2G") &&
			 wait_for_blocks(2 * per_gib, 2 * per_gib), "grow\n");
	ksft_test_result(new_is_large(block_size),
			 "new_memory_has_largest_leaves\n");
	ksft_test_result(neighbours_same(), "neighbours_after_grow\n");
	ksft_test_result(fill(3 * GIB / 2), "fill\n");
	ksft_test_result(qemu("qom-set more requested-size 1G") &&
			 wait_for_blocks(per_gib, per_gib + 1), "shrink\n");
	ksft_test_result(new_is_large(block_size), "rest_has_largest_leaves\n");
	/* The driver may keep one empty block. */
	ksft_test_result(qemu("qom-set more requested-size 0") &&
			 wait_for_blocks(0, 1), "shrink_to_nothing\n");
	ksft_test_result(neighbours_same(), "neighbours_after_shrink\n");
}

static const struct {
	const char *name;
	void (*run)(void);
	int tests;
} devices[] = {
	{ "dimm", dimm, 9 },
	{ "virtio", virtio, 8 },
};

int main(int argc, char **argv)
{
	unsigned long tables;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(devices); i++)
		if (argc == 2 && !strcmp(argv[1], devices[i].name))
			break;
	if (i == ARRAY_SIZE(devices)) {
		fprintf(stderr, "usage: plug dimm | virtio\n");
		return 2;
	}

	page_size = sysconf(_SC_PAGESIZE);
	ksft_print_header();
	ksft_set_plan(devices[i].tests + 1);
	open_monitor();
	look_at_start();
	tables = nr_page_tables();
	devices[i].run();
	ksft_print_msg("page tables: %lu pages before, %lu after\n", tables,
		       nr_page_tables());
	ksft_test_result(nr_page_tables() <= tables + 2, "tables_freed\n");
	pt_free(&before);
	ksft_finished();
}
