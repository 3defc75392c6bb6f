/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read the kernel's own page tables as /sys/kernel/debug/kernel_page_tables
 * prints them, on any page size and number of VA bits.
 */
#ifndef WL_GUEST_LEAVES_H
#define WL_GUEST_LEAVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PT_DUMP_PATH	"/sys/kernel/debug/kernel_page_tables"

/* Leaf kinds, smallest to largest. */
enum pt_kind {
	PT_PTE,
	PT_CONT_PTE,
	PT_PMD,
	PT_CONT_PMD,
	PT_PUD,
	PT_NR_KINDS,
};

/* Bytes per leaf of each kind; 0 if the page size has no such leaf. */
struct pt_geometry {
	uint64_t page_size;
	uint64_t size[PT_NR_KINDS];
};

/* A stretch of leaves of one kind with the same attributes. */
struct pt_range {
	uint64_t start;
	uint64_t end;		/* exclusive; 0 is the top of memory */
	enum pt_kind kind;
	bool valid;		/* false: present-invalid, still a leaf */
	bool ro;
	bool nx;
	bool uxn;
	bool linear;		/* part of the linear map */
	char attrs[96];		/* all but CON and BLK, which @kind says */
};

struct pt_dump {
	struct pt_geometry geo;
	struct pt_range *ranges;
	size_t nr;
	uint64_t linear_start;
	uint64_t linear_end;	/* exclusive */
};

/**
 * pt_geometry_init() - leaf sizes of a page size
 * @geo: filled in
 * @page_size: 4096, 16384 or 65536
 * Return: 0, or -1 for any other @page_size.
 */
int pt_geometry_init(struct pt_geometry *geo, uint64_t page_size);

/**
 * pt_read() - parse a dump
 * @dump: filled in, to be released with pt_free()
 * @file: an open dump
 * @page_size: of the kernel that wrote it
 * Return: 0, or -1 with a message on stderr if a line is not understood.
 */
int pt_read(struct pt_dump *dump, FILE *file, uint64_t page_size);

/**
 * pt_read_path() - open and parse a dump
 * @dump: filled in, to be released with pt_free()
 * @path: file, or NULL for that of the running kernel
 * @page_size: of the kernel that wrote it, 0 for that of the running one
 * Return: 0, or -1 with a message on stderr.
 */
int pt_read_path(struct pt_dump *dump, const char *path, uint64_t page_size);

void pt_free(struct pt_dump *dump);

/**
 * pt_find() - the stretch of leaves that holds an address
 * Return: the stretch, or NULL if nothing is mapped there.
 */
const struct pt_range *pt_find(const struct pt_dump *dump, uint64_t addr);

/**
 * pt_read_large() - how much of a range is in leaves larger than a page now?
 * @addr: first byte
 * @size: in bytes
 * @large: bytes in such leaves
 * Return: whether all of the range is mapped; false too, with a message on
 *	stderr, if the tables cannot be read.
 */
bool pt_read_large(uint64_t addr, uint64_t size, uint64_t *large);

/**
 * pt_leaf_start() - first byte of the leaf that holds an address
 * @range: the stretch that holds @addr
 */
uint64_t pt_leaf_start(const struct pt_dump *dump,
		       const struct pt_range *range, uint64_t addr);

/**
 * pt_histogram() - count the leaves of the linear map
 * @leaves: number of leaves of each kind
 * @bytes: bytes that they map; present-invalid leaves included in both
 */
void pt_histogram(const struct pt_dump *dump, uint64_t leaves[PT_NR_KINDS],
		  uint64_t bytes[PT_NR_KINDS]);

/**
 * pt_linear() - the stretches of the linear map alone
 * @nr: how many there are
 * Return: a copy, to be freed, or NULL with a message on stderr.
 */
struct pt_range *pt_linear(const struct pt_dump *dump, size_t *nr);

/* @want or @have is NULL where that list maps nothing. */
typedef void (*pt_report_fn)(uint64_t start, uint64_t end,
			     const struct pt_range *want,
			     const struct pt_range *have, void *arg);

/**
 * pt_diff() - compare two lists of stretches, address by address
 * @want: ascending, without overlap, below the top of memory
 * @have: likewise
 * @attrs: compare attributes as well as kinds
 * @report: called for each piece that differs, may be NULL
 * Return: the number of pieces that differ.
 */
size_t pt_diff(const struct pt_range *want, size_t nr_want,
	       const struct pt_range *have, size_t nr_have, bool attrs,
	       pt_report_fn report, void *arg);

enum pt_directmap {
	PT_DIRECTMAP_RIGHT,
	PT_DIRECTMAP_WRONG,	/* or unreadable; said on stdout */
	PT_DIRECTMAP_NONE,	/* this kernel has no such lines */
};

/**
 * pt_check_directmap() - compare the DirectMap lines with the dump
 * @meminfo: file, or NULL for /proc/meminfo
 *
 * Every leaf kind of the page size must have its line, and each line must give
 * the kB that leaves of this kind map, present-invalid ones included.
 */
enum pt_directmap pt_check_directmap(const struct pt_dump *dump,
				     const char *meminfo);

/**
 * pt_read_splits() - leaves of the linear map split since boot, per kind
 * @splits: from /proc/vmstat, 0 for kinds that are never split
 * Return: whether this kernel counts them.
 */
bool pt_read_splits(unsigned long splits[PT_NR_KINDS]);

const char *pt_kind_name(enum pt_kind kind);

#endif /* WL_GUEST_LEAVES_H */
