/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that torture the kernel's own mappings.
 */
#ifndef __KMAP_TORTURE_H
#define __KMAP_TORTURE_H

#include <linux/prandom.h>

#include "../../kleaf/tests/region.h"

#define NR_CHANGERS	4
#define NR_READERS	2
#define NR_MAPPERS	2
#define NR_THREADS	(NR_CHANGERS + NR_READERS + NR_MAPPERS + 2)

struct torture;

/**
 * struct worker - one thread
 * @torture: what it belongs to
 * @task: the thread
 * @rnd: its random choices
 * @index: among the threads of its kind
 * @nr_ops: operations done
 * @nr_enomem: of those, refused for want of a table
 */
struct worker {
	struct torture *torture;
	struct task_struct *task;
	struct rnd_state rnd;
	unsigned int index;
	unsigned long nr_ops;
	unsigned long nr_enomem;
};

/**
 * struct torture - state of a test case
 * @test: the test
 * @region: contiguous memory in the linear map
 * @alias: the same memory, mapped by vmap(), always valid
 * @workers: the threads
 * @nr_workers: number of them
 * @failed: line of the first check that failed
 */
struct torture {
	struct kunit *test;
	struct region *region;
	void *alias;
	struct worker workers[NR_THREADS];
	unsigned int nr_workers;
	atomic_t failed;
};

/**
 * torture_changer() - split and change leaves of the linear map
 * @data: the thread's struct worker
 *
 * Context: kthread. Goes on until it is stopped.
 * Return: 0.
 */
int torture_changer(void *data);

/**
 * torture_reader() - read the region through both of its mappings
 * @data: the thread's struct worker
 *
 * Context: kthread. Goes on until it is stopped.
 * Return: 0.
 */
int torture_reader(void *data);

/**
 * torture_mapper() - allocate, protect and free vmalloc memory
 * @data: the thread's struct worker
 *
 * Context: kthread. Goes on until it is stopped.
 * Return: 0.
 */
int torture_mapper(void *data);

/**
 * torture_runner() - run code that was just written, at two addresses
 * @data: the thread's struct worker
 *
 * Context: kthread. Goes on until it is stopped.
 * Return: 0.
 */
int torture_runner(void *data);

/**
 * torture_walker() - walk the page tables
 * @data: the thread's struct worker
 *
 * Context: kthread. Goes on until it is stopped.
 * Return: 0.
 */
int torture_walker(void *data);

/**
 * torture_no_table() - stands in for kleaf_table_alloc() in the changers
 * @sort: of the table
 *
 * Context: Process context, may sleep.
 * Return: a table every second time, else NULL.
 */
void *torture_no_table(enum kleaf_table_sort sort);

#endif /* __KMAP_TORTURE_H */
