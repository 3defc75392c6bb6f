/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's page tables as /sys/kernel/debug/kernel_page_tables shows them,
 * and other figures about memory. For guest programs.
 */
#ifndef LIBPTDUMP_H
#define LIBPTDUMP_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of leaves, smallest to largest. */
enum leaf_kind {
	LEAF_PTE,
	LEAF_CONT_PTE,
	LEAF_PMD,
	LEAF_CONT_PMD,
	LEAF_PUD,
	LEAF_KINDS,
};

/* One line of the dump: neighbouring leaves that are alike. */
struct ptd_line {
	uint64_t start;		/* first byte */
	uint64_t end;		/* one past the last byte */
	char region[64];	/* marker it stands under, e.g. "Linear Mapping" */
	char attributes[128];	/* as printed */
	enum leaf_kind kind;
	bool mapped;		/* not a hole */
	bool valid;		/* false: a present-invalid leaf */
	bool user;
	bool readonly;
	bool exec;		/* by the kernel */
};

/* Leaves of each kind over a range. */
struct ptd_count {
	uint64_t leaves[LEAF_KINDS];
	uint64_t bytes[LEAF_KINDS];
	uint64_t invalid_bytes;
};

/* Returns nonzero to stop; the walk then returns it. */
typedef int (*ptd_fn)(const struct ptd_line *line, void *arg);

/**
 * ptd_walk() - call @fn for each line of the dump
 * @path: file to read, NULL for the running kernel's
 * @fn: called in ascending order of addresses, holes included
 * @arg: handed on to @fn
 *
 * Return: 0; what @fn returned if that was not 0; -1 with errno set if the file
 *         cannot be read; -1 with errno EINVAL if it is no such dump.
 */
int ptd_walk(const char *path, ptd_fn fn, void *arg);

/**
 * ptd_count_range() - count the leaves that start in a range
 * @path: as for ptd_walk()
 * @start: first byte
 * @end: one past the last byte
 * @count: result
 *
 * Return: as ptd_walk().
 */
int ptd_count_range(const char *path, uint64_t start, uint64_t end,
		    struct ptd_count *count);

/**
 * ptd_linear_map() - where the linear map is, by the markers of the dump
 * @path: as for ptd_walk()
 * @start: result, first byte
 * @end: result, one past the last byte
 *
 * Return: as ptd_walk().
 */
int ptd_linear_map(const char *path, uint64_t *start, uint64_t *end);

/* Name of a kind, and the size of one such leaf with this page size. */
const char *leaf_name(enum leaf_kind kind);
uint64_t leaf_size(enum leaf_kind kind);

/**
 * meminfo_kb() - one figure of /proc/meminfo
 * @name: without the colon
 *
 * Return: kB, or -1 if there is no such line.
 */
long long meminfo_kb(const char *name);

/**
 * vmstat_value() - one figure of /proc/vmstat
 * @name: as there
 *
 * Return: the value, or -1 if there is no such line.
 */
long long vmstat_value(const char *name);

#endif
