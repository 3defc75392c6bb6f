// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reader of the kernel's page table dump; see libptdump.h.
 *
 * A line is "0xSTART-0xEND SIZE LEVEL ATTRIBUTES", neighbours that are alike
 * share one. Lines of holes have no attributes. "F" stands for a leaf that is
 * there but not valid, "CON" for the contiguous bit, "BLK" for a block.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libptdump.h"

#define DUMP "/sys/kernel/debug/kernel_page_tables"

static const char * const kind_names[LEAF_KINDS] = {
	"PTE", "CONT_PTE", "PMD", "CONT_PMD", "PUD",
};

const char *leaf_name(enum leaf_kind kind)
{
	return kind_names[kind];
}

uint64_t leaf_size(enum leaf_kind kind)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t pmd = page * (page / 8);
	/* Members of a contiguous run: Arm ARM D8, per granule. */
	unsigned int cont_ptes = page == 4096 ? 16 : page == 16384 ? 128 : 32;
	unsigned int cont_pmds = page == 4096 ? 16 : 32;

	switch (kind) {
	case LEAF_PTE:
		return page;
	case LEAF_CONT_PTE:
		return page * cont_ptes;
	case LEAF_PMD:
		return pmd;
	case LEAF_CONT_PMD:
		return pmd * cont_pmds;
	case LEAF_PUD:
		return pmd * (page / 8);
	default:
		abort();
	}
}

/* Is @word one of the blank-separated words of @text? */
static bool has_word(const char *text, const char *word)
{
	size_t size = strlen(word);
	const char *p = text;

	while ((p = strstr(p, word))) {
		bool head = p == text || p[-1] == ' ';
		bool tail = p[size] == ' ' || p[size] == '\0';

		if (head && tail)
			return true;
		p += size;
	}
	return false;
}

static int parse_line(const char *text, struct ptd_line *line)
{
	unsigned long long start, end, size;
	char unit, level[8];
	int used = 0;
	bool cont;

	if (sscanf(text, "0x%llx-0x%llx %llu%c %7s%n", &start, &end, &size,
		   &unit, level, &used) != 5 || start >= end)
		return -1;

	line->start = start;
	line->end = end;
	snprintf(line->attributes, sizeof(line->attributes), "%s", text + used);
	line->attributes[strcspn(line->attributes, "\n")] = '\0';

	line->mapped = has_word(line->attributes, "RW") ||
		       has_word(line->attributes, "ro");
	line->valid = line->mapped && !has_word(line->attributes, "F");
	line->user = has_word(line->attributes, "USR");
	line->readonly = has_word(line->attributes, "ro");
	line->exec = line->mapped && !has_word(line->attributes, "NX");
	cont = has_word(line->attributes, "CON");

	if (!line->mapped)
		line->kind = LEAF_PTE;
	else if (!strcmp(level, "PTE"))
		line->kind = cont ? LEAF_CONT_PTE : LEAF_PTE;
	else if (!strcmp(level, "PMD"))
		line->kind = cont ? LEAF_CONT_PMD : LEAF_PMD;
	else
		line->kind = LEAF_PUD;

	/* There are no contiguous runs of larger blocks. */
	return cont && line->kind == LEAF_PUD ? -1 : 0;
}

int ptd_walk(const char *path, ptd_fn fn, void *arg)
{
	struct ptd_line line = { .region = "" };
	bool any = false;
	char text[256];
	int rc = 0;
	FILE *f;

	f = fopen(path ? path : DUMP, "re");
	if (!f)
		return -1;

	while (!rc && fgets(text, sizeof(text), f)) {
		if (!strncmp(text, "---[ ", 5)) {
			size_t size = strcspn(text + 5, "]");

			if (size && text[5 + size - 1] == ' ')
				size--;
			snprintf(line.region, sizeof(line.region), "%.*s",
				 (int)size, text + 5);
			continue;
		}
		if (parse_line(text, &line)) {
			errno = EINVAL;
			rc = -1;
			break;
		}
		any = true;
		rc = fn(&line, arg);
	}
	if (!rc && !any) {
		errno = EINVAL;
		rc = -1;
	}
	fclose(f);
	return rc;
}

struct range {
	uint64_t start;
	uint64_t end;
	struct ptd_count *count;
};

static int count_line(const struct ptd_line *line, void *arg)
{
	struct range *range = arg;
	uint64_t start = line->start > range->start ? line->start : range->start;
	uint64_t end = line->end < range->end ? line->end : range->end;

	if (!line->mapped || start >= end)
		return 0;
	range->count->bytes[line->kind] += end - start;
	range->count->leaves[line->kind] += (end - start) / leaf_size(line->kind);
	if (!line->valid)
		range->count->invalid_bytes += end - start;
	return 0;
}

int ptd_count_range(const char *path, uint64_t start, uint64_t end,
		    struct ptd_count *count)
{
	struct range range = { .start = start, .end = end, .count = count };

	memset(count, 0, sizeof(*count));
	return ptd_walk(path, count_line, &range);
}

static int find_linear(const struct ptd_line *line, void *arg)
{
	struct range *range = arg;

	if (strcmp(line->region, "Linear Mapping start"))
		return 0;
	if (range->start == range->end)
		range->start = line->start;
	range->end = line->end;
	return 0;
}

int ptd_linear_map(const char *path, uint64_t *start, uint64_t *end)
{
	struct range range = { .start = 0, .end = 0 };
	int rc = ptd_walk(path, find_linear, &range);

	if (rc)
		return rc;
	if (range.start == range.end) {
		errno = EINVAL;
		return -1;
	}
	*start = range.start;
	*end = range.end;
	return 0;
}

static long long figure(const char *path, const char *name, char stop)
{
	size_t size = strlen(name);
	long long value = -1;
	char text[256];
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return -1;
	while (value < 0 && fgets(text, sizeof(text), f)) {
		if (!strncmp(text, name, size) && text[size] == stop)
			value = strtoll(text + size + 1, NULL, 10);
	}
	fclose(f);
	return value;
}

long long meminfo_kb(const char *name)
{
	return figure("/proc/meminfo", name, ':');
}

long long vmstat_value(const char *name)
{
	return figure("/proc/vmstat", name, ' ');
}
