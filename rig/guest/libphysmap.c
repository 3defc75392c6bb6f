// SPDX-License-Identifier: GPL-2.0-only
/*
 * Expected layout of the linear map; see physmap.h.
 *
 * Nothing here knows how the kernel builds the map. The rule is only: each
 * piece of memory is covered by the largest leaves for which both addresses
 * are aligned and which lie inside the piece. A piece is one "System RAM"
 * line, cut where the kernel's text and rodata begin and end, because their
 * alias has other permissions, and around the KFENCE pool, which base maps
 * apart and by pages. No-map memory is not "System RAM" at all.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>

#include "physmap.h"

/* Actions of klogctl(); libc names none. */
#define SYSLOG_READ_ALL		3
#define SYSLOG_SIZE_BUFFER	10

static int add_range(struct phys_map *map, uint64_t start, uint64_t end,
		     enum phys_piece piece)
{
	struct phys_range *bigger, *last;

	if (start == end)
		return 0;
	/*
	 * Lines may end where a node does, which the kernel learns after it has
	 * built the map.
	 */
	last = map->nr ? &map->ranges[map->nr - 1] : NULL;
	if (last && last->end == start && last->piece == piece) {
		last->end = end;
		return 0;
	}
	bigger = realloc(map->ranges, (map->nr + 1) * sizeof(*bigger));
	if (!bigger) {
		perror("physmap");
		return -1;
	}
	map->ranges = bigger;
	bigger[map->nr++] = (struct phys_range){ start, end, piece };
	return 0;
}

int physmap_cut(struct phys_map *map, uint64_t start, uint64_t end,
		enum phys_piece piece)
{
	struct phys_map cut = *map;
	bool found = false;
	int ret = 0;
	size_t i;

	cut.ranges = NULL;
	cut.nr = 0;
	for (i = 0; i < map->nr && !ret; i++) {
		const struct phys_range *r = &map->ranges[i];

		if (start < r->start || end > r->end) {
			ret = add_range(&cut, r->start, r->end, r->piece);
			continue;
		}
		found = true;
		ret = add_range(&cut, r->start, start, r->piece);
		if (!ret)
			ret = add_range(&cut, start, end, piece);
		if (!ret)
			ret = add_range(&cut, end, r->end, r->piece);
	}
	free(map->ranges);
	*map = cut;
	if (!ret && !found) {
		fprintf(stderr, "physmap: no memory holds %" PRIx64 "-%" PRIx64
			"\n", start, end);
		ret = -1;
	}
	return ret;
}

int physmap_read(struct phys_map *map, const char *path)
{
	uint64_t start, last;
	char line[256];
	FILE *file;
	int used, ret = 0;

	memset(map, 0, sizeof(*map));
	if (!path)
		path = IOMEM_PATH;
	file = fopen(path, "r");
	if (!file) {
		fprintf(stderr, "physmap: %s: %s\n", path, strerror(errno));
		return -1;
	}
	while (!ret && fgets(line, sizeof(line), file)) {
		char *name;

		used = 0;
		if (sscanf(line, " %" SCNx64 "-%" SCNx64 " : %n", &start, &last,
			   &used) != 2 || !used) {
			fprintf(stderr, "physmap: not understood: %s", line);
			ret = -1;
			break;
		}
		name = line + used;
		if (*line != ' ' && !strncmp(name, "System RAM", 10)) {
			ret = add_range(map, start, last + 1, PHYS_ANY);
		} else if (!strncmp(name, "Kernel code", 11)) {
			/* From _text to __init_begin: rodata as well. */
			map->text_start = start;
			map->text_end = last + 1;
		}
	}
	fclose(file);
	if (!ret && (!map->nr || !map->text_end)) {
		/* All addresses read 0 without CAP_SYS_ADMIN. */
		fprintf(stderr, "physmap: %s names no memory or no kernel\n",
			path);
		ret = -1;
	}
	if (!ret)
		ret = physmap_cut(map, map->text_start, map->text_end,
				  PHYS_TEXT);
	if (ret)
		physmap_free(map);
	return ret;
}

void physmap_free(struct phys_map *map)
{
	free(map->ranges);
	map->ranges = NULL;
	map->nr = 0;
}

int physmap_kfence(uint64_t *start, uint64_t *end)
{
	const char *line;
	char *log;
	int size, ret = 0;

	*start = 0;
	*end = 0;
	size = klogctl(SYSLOG_SIZE_BUFFER, NULL, 0);
	log = size > 0 ? calloc(1, size + 1) : NULL;
	if (!log || klogctl(SYSLOG_READ_ALL, log, size) < 0) {
		perror("physmap: kernel log");
		free(log);
		return -1;
	}
	line = strstr(log, "kfence: initialized - using ");
	if (line && (sscanf(line, "kfence: initialized - using %*u bytes for %*u objects at 0x%"
			    SCNx64 "-0x%" SCNx64, start, end) != 2 ||
		     !(*start >> 63))) {
		fprintf(stderr,
			"physmap: boot with no_hash_pointers: the log hides the KFENCE pool\n");
		ret = -1;
	}
	free(log);
	return ret;
}

/* End of the stretch of memory without a gap that begins with range @*i. */
static uint64_t phys_stretch(const struct phys_map *map, size_t *i)
{
	uint64_t end;

	do {
		end = map->ranges[(*i)++].end;
	} while (*i < map->nr && map->ranges[*i].start == end);
	return end;
}

/* The same for leaves of the linear map; skips other ranges before it. */
static bool virt_stretch(const struct pt_dump *dump, size_t *i,
			 uint64_t *start, uint64_t *end)
{
	while (*i < dump->nr && !dump->ranges[*i].linear)
		++*i;
	if (*i == dump->nr)
		return false;
	*start = dump->ranges[*i].start;
	do {
		*end = dump->ranges[(*i)++].end;
	} while (*i < dump->nr && dump->ranges[*i].linear &&
		 dump->ranges[*i].start == *end);
	return true;
}

int physmap_offset(const struct phys_map *map, const struct pt_dump *dump,
		   uint64_t *offset)
{
	uint64_t pstart, pend, vstart, vend;
	size_t p = 0, v = 0;
	bool first = true;

	while (p < map->nr) {
		pstart = map->ranges[p].start;
		pend = phys_stretch(map, &p);
		if (!virt_stretch(dump, &v, &vstart, &vend)) {
			fprintf(stderr, "physmap: %" PRIx64 "-%" PRIx64
				" is not mapped\n", pstart, pend);
			return -1;
		}
		if (first)
			*offset = vstart - pstart;
		first = false;
		if (pstart + *offset != vstart || pend + *offset != vend) {
			fprintf(stderr, "physmap: memory %" PRIx64 "-%" PRIx64
				", mapped %" PRIx64 "-%" PRIx64 "\n", pstart,
				pend, vstart - *offset, vend - *offset);
			return -1;
		}
	}
	if (virt_stretch(dump, &v, &vstart, &vend)) {
		fprintf(stderr, "physmap: %" PRIx64 "-%" PRIx64
			" is mapped but no memory\n", vstart - *offset,
			vend - *offset);
		return -1;
	}
	return 0;
}

static bool kind_allowed(enum pt_kind kind, enum phys_piece piece,
			 enum layout_mode mode)
{
	/* The alias is remapped read-only later, which CONT leaves cannot be. */
	if (piece == PHYS_TEXT)
		return kind != PT_CONT_PTE && kind != PT_CONT_PMD;
	return kind == PT_PTE || (piece == PHYS_ANY && mode == LAYOUT_LARGE);
}

static enum pt_kind largest_leaf(const struct pt_geometry *geo, uint64_t phys,
				 uint64_t offset, const struct phys_range *in,
				 enum layout_mode mode)
{
	int kind;

	for (kind = PT_NR_KINDS - 1; kind > PT_PTE; kind--) {
		uint64_t size = geo->size[kind];

		if (size && kind_allowed(kind, in->piece, mode) &&
		    !(phys % size) && !((phys + offset) % size) &&
		    size <= in->end - phys)
			break;
	}
	return kind;
}

int physmap_expect(const struct phys_map *map, const struct pt_geometry *geo,
		   uint64_t offset, enum layout_mode mode,
		   struct pt_range **ranges, size_t *nr)
{
	struct pt_range *out = NULL, *last = NULL;
	size_t i, n = 0;

	for (i = 0; i < map->nr; i++) {
		uint64_t phys = map->ranges[i].start;

		while (phys < map->ranges[i].end) {
			enum pt_kind kind = largest_leaf(geo, phys, offset,
							 &map->ranges[i], mode);
			uint64_t virt = phys + offset;

			if (!last || last->kind != kind || last->end != virt) {
				out = realloc(out, (n + 1) * sizeof(*out));
				if (!out) {
					perror("physmap");
					return -1;
				}
				last = &out[n++];
				memset(last, 0, sizeof(*last));
				last->start = virt;
				last->kind = kind;
				last->linear = true;
			}
			phys += geo->size[kind];
			last->end = phys + offset;
		}
	}
	*ranges = out;
	*nr = n;
	return 0;
}
