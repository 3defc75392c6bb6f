// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parser of /sys/kernel/debug/kernel_page_tables; see leaves.h.
 *
 * A line of the dump is
 *	0xSTART-0xEND   SIZE LEVEL [attributes]
 * and covers entries of one level with equal attributes. Entries without
 * attributes map nothing. Which region a line belongs to is said by marker
 * lines, "---[ Linear Mapping start ]---" and so on. Folded levels go by the
 * name of the level that they are folded into, so a 1 GiB leaf reads PGD on a
 * kernel with 39 bits.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leaves.h"

static const char * const kind_names[PT_NR_KINDS] = {
	[PT_PTE]	= "PTE",
	[PT_CONT_PTE]	= "CONT_PTE",
	[PT_PMD]	= "PMD",
	[PT_CONT_PMD]	= "CONT_PMD",
	[PT_PUD]	= "PUD",
};

const char *pt_kind_name(enum pt_kind kind)
{
	return kind_names[kind];
}

int pt_geometry_init(struct pt_geometry *geo, uint64_t page_size)
{
	/* A table is one page of 8-byte entries. */
	uint64_t pmd = page_size * (page_size / 8);

	memset(geo, 0, sizeof(*geo));
	geo->page_size = page_size;
	geo->size[PT_PTE] = page_size;
	geo->size[PT_PMD] = pmd;
	switch (page_size) {
	case 4096:
		geo->size[PT_CONT_PTE] = 16 * page_size;
		geo->size[PT_CONT_PMD] = 16 * pmd;
		/* Linux makes PUD leaves with this page size only. */
		geo->size[PT_PUD] = pmd * (page_size / 8);
		return 0;
	case 16384:
		geo->size[PT_CONT_PTE] = 128 * page_size;
		geo->size[PT_CONT_PMD] = 32 * pmd;
		return 0;
	case 65536:
		geo->size[PT_CONT_PTE] = 32 * page_size;
		geo->size[PT_CONT_PMD] = 32 * pmd;
		return 0;
	}
	return -1;
}

static struct pt_range *new_range(struct pt_dump *dump, size_t *room)
{
	if (dump->nr == *room) {
		size_t want = *room ? 2 * *room : 1024;
		struct pt_range *bigger;

		bigger = realloc(dump->ranges, want * sizeof(*bigger));
		if (!bigger) {
			perror("ptdump");
			return NULL;
		}
		dump->ranges = bigger;
		*room = want;
	}
	memset(&dump->ranges[dump->nr], 0, sizeof(*dump->ranges));
	return &dump->ranges[dump->nr];
}

/* Keeps a word for comparison, unless it only repeats the kind. */
static void keep_attr(struct pt_range *range, const char *word)
{
	size_t used = strlen(range->attrs);

	if (strcmp(word, "CON") && strcmp(word, "BLK"))
		snprintf(range->attrs + used, sizeof(range->attrs) - used,
			 "%s%s", used ? " " : "", word);
}

/* Attributes decide validity, permissions and the contiguous bit. */
static bool parse_attrs(struct pt_range *range, char *attrs, bool *cont)
{
	bool seen_rw = false, seen_x = false;
	char *word, *save;

	range->valid = true;
	*cont = false;
	for (word = strtok_r(attrs, "\n ", &save); word;
	     word = strtok_r(NULL, "\n ", &save)) {
		keep_attr(range, word);
		seen_rw |= !strcmp(word, "RW") || !strcmp(word, "ro");
		seen_x |= !strcmp(word, "x") || !strcmp(word, "NX");
		if (!strcmp(word, "F"))
			range->valid = false;
		else if (!strcmp(word, "ro"))
			range->ro = true;
		else if (!strcmp(word, "NX"))
			range->nx = true;
		else if (!strcmp(word, "UXN"))
			range->uxn = true;
		else if (!strcmp(word, "CON"))
			*cont = true;
	}
	return seen_rw && seen_x;
}

static bool parse_kind(struct pt_range *range, const char *level, bool cont)
{
	if (!strcmp(level, "PTE"))
		range->kind = cont ? PT_CONT_PTE : PT_PTE;
	else if (!strcmp(level, "PMD"))
		range->kind = cont ? PT_CONT_PMD : PT_PMD;
	else if (!strcmp(level, "PUD") || !strcmp(level, "P4D") ||
		 !strcmp(level, "PGD"))
		range->kind = PT_PUD;
	else
		return false;
	return !(range->kind == PT_PUD && cont);
}

/* Whole leaves only: this is what makes the leaf counts mean something. */
static bool range_ok(const struct pt_dump *dump, const struct pt_range *range)
{
	uint64_t size = dump->geo.size[range->kind];

	return size && !(range->start % size) && !(range->end % size) &&
	       range->end - range->start >= size;
}

/* Return: 1 a leaf was added, 0 nothing mapped, -1 not understood. */
static int parse_line(struct pt_dump *dump, struct pt_range *range, char *line)
{
	uint64_t start, end;
	char level[8], *attrs;
	bool cont;
	int used = 0;

	if (sscanf(line, "0x%" SCNx64 "-0x%" SCNx64 " %*u%*c %7s%n", &start,
		   &end, level, &used) != 3 || !used)
		return -1;
	range->start = start;
	range->end = end;
	attrs = line + used;
	attrs += strspn(attrs, " ");
	if (!*attrs || *attrs == '\n')
		return 0;
	if (!parse_attrs(range, attrs, &cont) ||
	    !parse_kind(range, level, cont) || !range_ok(dump, range))
		return -1;
	return 1;
}

int pt_read(struct pt_dump *dump, FILE *file, uint64_t page_size)
{
	bool linear = false, seen_linear = false;
	unsigned long line_nr = 0;
	char line[256], copy[256];
	struct pt_range *range;
	size_t room = 0;
	int ret;

	memset(dump, 0, sizeof(*dump));
	if (pt_geometry_init(&dump->geo, page_size)) {
		fprintf(stderr, "ptdump: no page size %" PRIu64 "\n",
			page_size);
		return -1;
	}
	while (fgets(line, sizeof(line), file)) {
		line_nr++;
		if (!strncmp(line, "---[", 4)) {
			linear = strstr(line, "Linear Mapping start");
			seen_linear |= linear;
			continue;
		}
		range = new_range(dump, &room);
		if (!range)
			goto fail;
		snprintf(copy, sizeof(copy), "%s", line);
		ret = parse_line(dump, range, copy);
		if (ret < 0) {
			fprintf(stderr, "ptdump: line %lu: %s", line_nr, line);
			goto fail;
		}
		if (linear) {
			if (!dump->linear_start)
				dump->linear_start = range->start;
			dump->linear_end = range->end;
		}
		range->linear = linear;
		dump->nr += ret;
	}
	if (ferror(file) || !seen_linear || !dump->nr) {
		fprintf(stderr, "ptdump: no dump of a linear map\n");
		goto fail;
	}
	return 0;
fail:
	pt_free(dump);
	return -1;
}

int pt_read_path(struct pt_dump *dump, const char *path, uint64_t page_size)
{
	FILE *file;
	int ret;

	if (!path)
		path = PT_DUMP_PATH;
	if (!page_size)
		page_size = sysconf(_SC_PAGESIZE);
	file = fopen(path, "r");
	if (!file) {
		fprintf(stderr, "ptdump: %s: %s\n", path, strerror(errno));
		return -1;
	}
	ret = pt_read(dump, file, page_size);
	fclose(file);
	return ret;
}

void pt_free(struct pt_dump *dump)
{
	free(dump->ranges);
	dump->ranges = NULL;
	dump->nr = 0;
}

const struct pt_range *pt_find(const struct pt_dump *dump, uint64_t addr)
{
	size_t low = 0, high = dump->nr;

	/* The dump is sorted; only the last end can be 0. */
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct pt_range *range = &dump->ranges[mid];

		if (addr < range->start)
			high = mid;
		else if (range->end && addr >= range->end)
			low = mid + 1;
		else
			return range;
	}
	return NULL;
}

bool pt_read_large(uint64_t addr, uint64_t size, uint64_t *large)
{
	const struct pt_range *range;
	struct pt_dump dump;
	uint64_t at;

	*large = 0;
	if (pt_read_path(&dump, NULL, 0))
		return false;
	for (at = addr; at < addr + size; at += dump.geo.page_size) {
		range = pt_find(&dump, at);
		if (!range)
			break;
		if (range->kind != PT_PTE)
			*large += dump.geo.page_size;
	}
	pt_free(&dump);
	return at >= addr + size;
}

uint64_t pt_leaf_start(const struct pt_dump *dump,
		       const struct pt_range *range, uint64_t addr)
{
	return addr & ~(dump->geo.size[range->kind] - 1);
}

void pt_histogram(const struct pt_dump *dump, uint64_t leaves[PT_NR_KINDS],
		  uint64_t bytes[PT_NR_KINDS])
{
	size_t i;

	memset(leaves, 0, PT_NR_KINDS * sizeof(*leaves));
	memset(bytes, 0, PT_NR_KINDS * sizeof(*bytes));
	for (i = 0; i < dump->nr; i++) {
		const struct pt_range *range = &dump->ranges[i];

		if (!range->linear)
			continue;
		bytes[range->kind] += range->end - range->start;
		leaves[range->kind] += (range->end - range->start) /
				       dump->geo.size[range->kind];
	}
}

struct pt_range *pt_linear(const struct pt_dump *dump, size_t *nr)
{
	struct pt_range *out = calloc(dump->nr, sizeof(*out));
	size_t i;

	*nr = 0;
	if (!out) {
		perror("ptdump");
		return NULL;
	}
	for (i = 0; i < dump->nr; i++)
		if (dump->ranges[i].linear)
			out[(*nr)++] = dump->ranges[i];
	return out;
}

static bool same_leaves(const struct pt_range *a, const struct pt_range *b,
			bool attrs)
{
	if (!a || !b)
		return a == b;
	return a->kind == b->kind && (!attrs || !strcmp(a->attrs, b->attrs));
}

/*
 * Sweep over both lists at once. At every step @addr is where one of them
 * changes, and the piece up to the next change is compared.
 */
size_t pt_diff(const struct pt_range *want, size_t nr_want,
	       const struct pt_range *have, size_t nr_have, bool attrs,
	       pt_report_fn report, void *arg)
{
	const struct pt_range *want_end = want + nr_want;
	const struct pt_range *have_end = have + nr_have;
	uint64_t addr = 0;
	size_t bad = 0;

	for (;;) {
		const struct pt_range *w = NULL, *h = NULL;
		uint64_t next = UINT64_MAX;

		while (want < want_end && want->end <= addr)
			want++;
		while (have < have_end && have->end <= addr)
			have++;
		if (want == want_end && have == have_end)
			return bad;
		if (want < want_end) {
			if (want->start <= addr)
				w = want;
			next = w ? want->end : want->start;
		}
		if (have < have_end) {
			uint64_t change;

			if (have->start <= addr)
				h = have;
			change = h ? have->end : have->start;
			if (change < next)
				next = change;
		}
		if (!same_leaves(w, h, attrs)) {
			bad++;
			if (report)
				report(addr, next, w, h, arg);
		}
		addr = next;
	}
}
