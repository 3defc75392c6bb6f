// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of regions that are there before the copies are made, as the
 * suite itself runs before that: they are kept, found by any address in them,
 * and dropped when their memory is freed.
 *
 * Run them with
 *	make test SUITES=kunit_ktext
 */

#include <kunit/test.h>
#include <linux/execmem.h>
#include <linux/mutex.h>
#include <linux/set_memory.h>
#include <linux/vmalloc.h>

#include "../ktext.h"

#define NR_AREAS	64
#define AREA_PAGES	3
#define AREA_SIZE	(AREA_PAGES * PAGE_SIZE)

static struct ktext_region *region_at(unsigned long addr)
{
	struct ktext_region *region;

	mutex_lock(&ktext_mutex);
	region = ktext_region_at(addr);
	mutex_unlock(&ktext_mutex);

	return region;
}

static void free_area(void *area)
{
	execmem_free(area);
}

/* Read-only pages as those of BPF are. */
static unsigned long alloc_area(struct kunit *test)
{
	void *area = execmem_alloc(EXECMEM_BPF, AREA_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, area);
	set_vm_flush_reset_perms(area);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_area,
							   area));
	KUNIT_ASSERT_EQ(test, 0, set_memory_rox((unsigned long)area,
						AREA_PAGES));

	return (unsigned long)area;
}

static void check_found(struct kunit *test, unsigned long start)
{
	struct ktext_region *region = region_at(start);

	KUNIT_ASSERT_NOT_NULL(test, region);
	KUNIT_EXPECT_EQ(test, start, region->start);
	KUNIT_EXPECT_EQ(test, start + AREA_SIZE, region->end);
	KUNIT_EXPECT_FALSE(test, region->mapped);
	KUNIT_EXPECT_PTR_EQ(test, region, region_at(start + AREA_SIZE - 1));
	KUNIT_EXPECT_PTR_NE(test, region, region_at(start - 1));
	KUNIT_EXPECT_PTR_NE(test, region, region_at(start + AREA_SIZE));
}

static void add_before_copies_is_kept(struct kunit *test)
{
	unsigned long start = alloc_area(test);

	KUNIT_EXPECT_NULL(test, region_at(start));
	ktext_add((void *)start, AREA_SIZE);
	check_found(test, start);
}

static void remove_before_copies_drops(struct kunit *test)
{
	unsigned long start = alloc_area(test);

	ktext_add((void *)start, AREA_SIZE);
	KUNIT_EXPECT_NOT_NULL(test, region_at(start));
	/* An address inside is not what was added. */
	ktext_remove((void *)(start + PAGE_SIZE));
	KUNIT_EXPECT_NOT_NULL(test, region_at(start));

	kunit_release_action(test, free_area, (void *)start);
	KUNIT_EXPECT_NULL(test, region_at(start));
}

static void find_among_many_is_exact(struct kunit *test)
{
	unsigned long *starts;
	unsigned int i;

	starts = kunit_kcalloc(test, NR_AREAS, sizeof(*starts), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, starts);
	for (i = 0; i < NR_AREAS; i++) {
		starts[i] = alloc_area(test);
		ktext_add((void *)starts[i], AREA_SIZE);
	}
	for (i = 0; i < NR_AREAS; i++)
		check_found(test, starts[i]);

	/* Every second one goes; those between stay. */
	for (i = 0; i < NR_AREAS; i += 2)
		kunit_release_action(test, free_area, (void *)starts[i]);
	for (i = 0; i < NR_AREAS; i++) {
		if (i % 2)
			check_found(test, starts[i]);
		else
			KUNIT_EXPECT_NULL(test, region_at(starts[i]));
	}
}

static int ktext_init(struct kunit *test)
{
	if (!ktext_wanted())
		kunit_skip(test, "nothing is going to be replicated");
	KUNIT_ASSERT_EQ(test, KTEXT_WAITING, ktext_phase);

	return 0;
}

static struct kunit_case ktext_cases[] = {
	KUNIT_CASE(add_before_copies_is_kept),
	KUNIT_CASE(remove_before_copies_drops),
	KUNIT_CASE(find_among_many_is_exact),
	{}
};

static struct kunit_suite ktext_suite = {
	.name = "ktext",
	.init = ktext_init,
	.test_cases = ktext_cases,
};

kunit_test_suite(ktext_suite);

MODULE_DESCRIPTION("KUnit tests of the regions of kernel replication");
MODULE_LICENSE("GPL");
