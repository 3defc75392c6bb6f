// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCG plugin: from which NUMA node's memory does each CPU fetch the kernel?
 *
 * Every node's memory is a file of its own, NAME0, NAME1 and so on, that QEMU
 * maps (memory-backend-file with share=on). So the host address of an
 * instruction tells the node, with no help from the guest and whatever it says
 * about itself. CPUs are shared out evenly: node 0 has the first SMP/NODES.
 *
 * Counting starts with "hint #0x70" on any CPU and stops with "hint #0x71",
 * at EL0 or above; neither does anything else. Then one line is written for
 * each CPU:
 *
 *	region=N cpu=C node=K own=I other=I unknown=I tramp_own=I tramp_other=I
 *
 * in executed instructions at kernel addresses. "tramp" is the page that
 * KPTI's vectors run from, at its fixed address. Instructions are counted by
 * translation block, so one that is left early by an exception counts in full.
 *
 * Usage: qemu-system-aarch64 ... -plugin locality.so,out=FILE,ram=NAME,nodes=K
 *        ram=NAME is the path of the files, without the number
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

EXPORT int qemu_plugin_version = 1;

#define START_HINT	(0xd503201fu + (0x70u << 5))
#define STOP_HINT	(0xd503201fu + (0x71u << 5))

#define MAX_NODES	64
#define UNKNOWN		MAX_NODES

/* The fixmap ends 8 MiB below the top; only the trampoline runs there. */
#define FIXMAP_FIRST	0xffffffffff000000u
#define FIXMAP_LAST	0xffffffffff800000u

struct block {
	struct block *next;
	unsigned int node;
	unsigned int nr_insns;
	bool trampoline;
};

/* One per CPU, written by the thread of that CPU only. */
struct vcpu {
	uint64_t count[2][MAX_NODES + 1];
};

static struct vcpu *vcpus;
static unsigned int nr_vcpus, nr_nodes;
static uint64_t nr_regions;
static bool counting;
static struct {
	uintptr_t start, end;
} ram[MAX_NODES];
static const char *ram_name;
static FILE *out;

__attribute__((constructor)) static void pick_api_version(void)
{
	/* See opcount.c. */
	if (dlsym(RTLD_DEFAULT, "qemu_plugin_scoreboard_new"))
		qemu_plugin_version = 2;
}

/* Memory is mapped after the plugin is loaded, and before any CPU runs. */
static void find_ram(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	size_t length = strlen(ram_name);
	char line[4096], *path;
	uintptr_t start, end;
	unsigned long node;

	if (!maps) {
		perror("locality: /proc/self/maps");
		exit(1);
	}
	while (fgets(line, sizeof(line), maps)) {
		path = strchr(line, '/');
		if (!path || strncmp(path, ram_name, length))
			continue;
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) != 2)
			continue;
		node = strtoul(path + length, NULL, 10);
		if (node >= nr_nodes)
			continue;
		if (!ram[node].start)
			ram[node].start = start;
		ram[node].end = end;
	}
	fclose(maps);

	for (node = 0; node < nr_nodes; node++) {
		if (!ram[node].start) {
			fprintf(stderr, "locality: no mapping of %s%lu\n",
				ram_name, node);
			exit(1);
		}
	}
}

static unsigned int node_of(const void *haddr)
{
	uintptr_t addr = (uintptr_t)haddr;
	unsigned int node;

	for (node = 0; node < nr_nodes; node++)
		if (addr >= ram[node].start && addr < ram[node].end)
			return node;
	return UNKNOWN;
}

static void block_exec(unsigned int vcpu, void *udata)
{
	const struct block *block = udata;

	if (__atomic_load_n(&counting, __ATOMIC_RELAXED) && vcpu < nr_vcpus)
		vcpus[vcpu].count[block->trampoline][block->node] +=
			block->nr_insns;
}

static void report(void)
{
	unsigned int cpu, node, own;

	for (cpu = 0; cpu < nr_vcpus; cpu++) {
		uint64_t other[2] = { 0, 0 };
		struct vcpu *v = &vcpus[cpu];

		own = cpu / (nr_vcpus / nr_nodes);
		for (node = 0; node < nr_nodes; node++) {
			if (node == own)
				continue;
			other[0] += v->count[0][node];
			other[1] += v->count[1][node];
		}
		fprintf(out, "region=%" PRIu64 " cpu=%u node=%u own=%" PRIu64
			" other=%" PRIu64 " unknown=%" PRIu64 " tramp_own=%"
			PRIu64 " tramp_other=%" PRIu64 "\n", nr_regions, cpu,
			own, v->count[0][own], other[0], v->count[0][UNKNOWN],
			v->count[1][own], other[1]);
	}
	nr_regions++;
	fflush(out);
}

static void marker(unsigned int vcpu, void *udata)
{
	bool start = udata;

	(void)vcpu;
	if (start == counting)
		return;
	if (start)
		memset(vcpus, 0, nr_vcpus * sizeof(*vcpus));
	__atomic_store_n(&counting, start, __ATOMIC_RELAXED);
	if (!start)
		report();
}

static void call_marker(struct qemu_plugin_insn *insn, void *start)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, marker,
					       QEMU_PLUGIN_CB_NO_REGS, start);
}

static uint32_t insn_word(const struct qemu_plugin_insn *insn)
{
	uint32_t word = 0;
	size_t ret = qemu_plugin_insn_data(insn, &word, sizeof(word));

	/* See opcount.c. */
	if (ret != sizeof(word))
		memcpy(&word, (const void *)(uintptr_t)ret, sizeof(word));
	return word;
}

static void tb_trans(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	static struct block *blocks;
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
	uint64_t vaddr = qemu_plugin_insn_vaddr(first);
	struct block *block;

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t word = insn_word(insn);

		if (word == START_HINT)
			call_marker(insn, (void *)1);
		else if (word == STOP_HINT)
			call_marker(insn, NULL);
	}

	/* The upper half of the address space is the kernel's. */
	if (!(vaddr >> 63))
		return;
	if (!ram[0].start)
		find_ram();

	block = malloc(sizeof(*block));
	if (!block) {
		perror("locality");
		exit(1);
	}
	block->node = node_of(qemu_plugin_insn_haddr(first));
	block->nr_insns = n;
	block->trampoline = vaddr >= FIXMAP_FIRST && vaddr < FIXMAP_LAST;
	/* QEMU keeps the pointer as long as the block lives, which is ours. */
	block->next = blocks;
	blocks = block;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, block_exec,
					     QEMU_PLUGIN_CB_NO_REGS, block);
}

static void at_exit(uint64_t id, void *udata)
{
	(void)id;
	(void)udata;
	if (counting)
		fprintf(out, "open\n");
	if (fclose(out))
		perror("locality: output file");
}

EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info,
			       int argc, char **argv)
{
	const char *path = NULL;
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4)) {
			path = argv[i] + 4;
		} else if (!strncmp(argv[i], "ram=", 4)) {
			ram_name = strdup(argv[i] + 4);
		} else if (!strncmp(argv[i], "nodes=", 6)) {
			nr_nodes = strtoul(argv[i] + 6, NULL, 10);
		} else {
			fprintf(stderr, "locality: unknown option '%s'\n",
				argv[i]);
			return -1;
		}
	}
	if (!info->system_emulation || strcmp(info->target_name, "aarch64")) {
		fprintf(stderr, "locality: for qemu-system-aarch64 only\n");
		return -1;
	}
	nr_vcpus = info->system.max_vcpus;
	if (!path || !ram_name || !nr_nodes || nr_nodes > MAX_NODES ||
	    nr_vcpus % nr_nodes) {
		fprintf(stderr, "locality: needs out=, ram=, nodes= (divides the CPUs)\n");
		return -1;
	}
	vcpus = calloc(nr_vcpus, sizeof(*vcpus));
	out = fopen(path, "w");
	if (!vcpus || !out) {
		fprintf(stderr, "locality: %s: %s\n", path, strerror(errno));
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, tb_trans);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
