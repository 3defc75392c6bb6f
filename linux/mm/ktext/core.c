// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decide whether kernel text and rodata are replicated, and do it once, at
 * the end of boot.
 *
 * Invariants:
 *  I1 (after early_initcall level). ktext_wanted() does not change. Who must
 *      know before tables differ, because CPUs that share TLB entries must
 *      not, can rely on it.
 *  I2 (always). A node's state is KTEXT_COPY only if its copy is complete,
 *      read-only and reachable through complete tables.
 *  I3 (after ktext_enable()). States do not change.
 *
 * Locking: none; all is written by ktext_enable(), which runs once before
 *   user space starts. Regions beside the image come and go meanwhile, under
 *   ktext_mutex.
 * TLB and barriers: arch_ktext_start() publishes the tables, its stop_machine
 *   orders them before their use.
 * Failure: a node that lacks memory for its copy or its tables, or whose copy
 *   cannot be protected, uses the home copy. Nothing else fails.
 * See: Documentation/mm/kernel-replication.rst
 */
#define pr_fmt(fmt) "kernel_replication: " fmt

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ktext.h"

static bool switched_off __initdata;
static bool wanted __ro_after_init;

enum ktext_state *ktext_states;
static int home_node = NUMA_NO_NODE;

static int __init parse_switch(char *arg)
{
	if (arg && !strcmp(arg, "on"))
		switched_off = false;
	else if (arg && !strcmp(arg, "off"))
		switched_off = true;
	else
		pr_warn("kernel_replication=%s: neither on nor off, ignored\n",
			arg ?: "");

	return 0;
}
early_param("kernel_replication", parse_switch);

static int image_node(void)
{
	struct ktext_window window;

	arch_ktext_window(&window);

	return page_to_nid(virt_to_page(lm_alias((void *)window.start)));
}

/* Before the first secondary CPU, for I1. */
static int __init decide(void)
{
	if (switched_off) {
		pr_info("switched off on the command line\n");
	} else if (num_node_state(N_MEMORY) < 2) {
		pr_debug("one node has memory: nothing to do\n");
	} else if (!rodata_enabled) {
		/* Copies would not see what is written to rodata. */
		pr_info("off, since rodata=off leaves rodata writable\n");
	} else {
		wanted = true;
		home_node = image_node();
		/* Nothing but the image is executable before this. */
		ktext_phase = KTEXT_WAITING;
	}

	return 0;
}
early_initcall(decide);

bool ktext_wanted(void)
{
	return wanted;
}

int ktext_home_node(void)
{
	return READ_ONCE(home_node);
}

static bool enable_node(struct ktext_region *image, int nid)
{
	int err = ktext_region_copy(image, nid);

	if (!err) {
		err = arch_ktext_create_tables(nid);
		if (err)
			ktext_region_drop(image, nid);
	}

	if (!err) {
		ktext_states[nid] = KTEXT_COPY;
		return true;
	}

	ktext_states[nid] = err == -ENOMEM ? KTEXT_NO_ROOM : KTEXT_UNPROTECTED;
	pr_warn("node %d uses the home copy: %s\n", nid, err == -ENOMEM ?
		"no room for its own" : "its own would stay writable");

	return false;
}

static void report(const struct ktext_region *image, unsigned int nr_copies)
{
	size_t table_bytes = 0;
	int nid;

	for_each_node_state(nid, N_MEMORY) {
		if (ktext_states[nid] == KTEXT_COPY)
			table_bytes += arch_ktext_table_bytes(nid);
	}

	pr_info("node %d has kernel text and rodata, %u other nodes a copy of %lu KiB, and %zu KiB of tables\n",
		home_node, nr_copies, (image->end - image->start) / SZ_1K,
		table_bytes / SZ_1K);
}

static struct ktext_region *create_image(void)
{
	struct ktext_region *image;
	struct ktext_window window;

	arch_ktext_window(&window);
	mutex_lock(&ktext_mutex);
	image = ktext_region_create(window.start, window.end, window.max_order);
	mutex_unlock(&ktext_mutex);

	return image;
}

static void give_up(void)
{
	ktext_regions_give_up();
	/* Nobody gains from having everything on one node now. */
	WRITE_ONCE(home_node, NUMA_NO_NODE);
}

void ktext_enable(void)
{
	struct ktext_region *image;
	unsigned int nr_copies = 0;
	int nid;

	if (!wanted)
		return;
	if (!arch_ktext_possible()) {
		pr_info("all nodes use the home copy: a hypervisor keeps part of it to itself\n");
		give_up();
		return;
	}

	ktext_states = kcalloc(nr_node_ids, sizeof(*ktext_states), GFP_KERNEL);
	image = ktext_states ? create_image() : NULL;
	if (!image) {
		pr_warn("all nodes use the home copy: no room for lists\n");
		kfree(ktext_states);
		ktext_states = NULL;
		give_up();
		return;
	}

	ktext_states[home_node] = KTEXT_HOME;
	for_each_online_node(nid) {
		if (!node_state(nid, N_MEMORY))
			pr_info("node %d uses the home copy: it has no memory\n",
				nid);
		else if (nid != home_node)
			nr_copies += enable_node(image, nid);
	}

	if (nr_copies) {
		image->mapped = true;
		arch_ktext_start();
		report(image, nr_copies);
		ktext_regions_start();
	} else {
		report(image, nr_copies);
		give_up();
	}
	ktext_debugfs_init();
}
