/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the linear map should look like, worked out from /proc/iomem alone.
 */
#ifndef WL_GUEST_PHYSMAP_H
#define WL_GUEST_PHYSMAP_H

#include "leaves.h"

#define IOMEM_PATH	"/proc/iomem"

/* What a piece of memory may be mapped with, as on base. */
enum phys_piece {
	PHYS_ANY,		/* any leaf that fits */
	PHYS_TEXT,		/* alias of text and rodata: no CONT leaves */
	PHYS_PAGES,		/* KFENCE pool: pages only */
};

struct phys_range {
	uint64_t start;
	uint64_t end;		/* exclusive */
	enum phys_piece piece;
};

/* Memory that the linear map covers, in ascending order. */
struct phys_map {
	struct phys_range *ranges;
	size_t nr;
	uint64_t text_start;	/* the image's read-only part */
	uint64_t text_end;	/* exclusive */
};

/* How the kernel was told to build the map. */
enum layout_mode {
	LAYOUT_LARGE,		/* largest leaves */
	LAYOUT_PTE,		/* pages, but for the text alias */
};

/**
 * physmap_read() - mapped memory and the place of the kernel image
 * @map: filled in, to be released with physmap_free()
 * @path: file, or NULL for that of the running kernel
 * Return: 0, or -1 with a message on stderr.
 */
int physmap_read(struct phys_map *map, const char *path);

void physmap_free(struct phys_map *map);

/**
 * physmap_cut() - make a part of memory a piece of its own
 * @start: physical address
 * @end: exclusive
 * Return: 0, or -1 with a message on stderr if no memory holds it whole.
 */
int physmap_cut(struct phys_map *map, uint64_t start, uint64_t end,
		enum phys_piece piece);

/**
 * physmap_kfence() - find the KFENCE pool in the kernel log
 * @start: linear address, 0 if the log has no pool
 * @end: exclusive
 * Return: 0, or -1 with a message on stderr if the log hides the address; the
 *         kernel must be booted with no_hash_pointers.
 */
int physmap_kfence(uint64_t *start, uint64_t *end);

/**
 * physmap_offset() - distance from physical to linear addresses
 * @offset: added to a physical address gives the linear one
 * Return: 0, or -1 with a message on stderr if what the dump maps is not
 *         exactly the memory that @map lists.
 */
int physmap_offset(const struct phys_map *map, const struct pt_dump *dump,
		   uint64_t *offset);

/**
 * physmap_expect() - the layout that the map should have
 * @ranges: ascending, neighbours of one kind joined; to be freed
 * @nr: number of @ranges
 * Return: 0, or -1 with a message on stderr.
 */
int physmap_expect(const struct phys_map *map, const struct pt_geometry *geo,
		   uint64_t offset, enum layout_mode mode,
		   struct pt_range **ranges, size_t *nr);

#endif /* WL_GUEST_PHYSMAP_H */
