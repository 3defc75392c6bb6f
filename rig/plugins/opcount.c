// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCG plugin: count instructions and barriers between two marker instructions.
 *
 * The guest brackets the code it wants counted with two hints that are
 * unallocated in the architecture and so do nothing on any CPU:
 *
 *	hint #0x70	start: the counters of this vCPU are cleared
 *	hint #0x71	stop:  one line is written to the output file
 *
 * Everything the vCPU executes in between counts, interrupts included. A line
 * reads
 *
 *	region=N vcpu=V insns=I dsb=D isb=B tlbi=T
 *
 * where N numbers the regions from 0 in the order they ended, and neither
 * marker is in I. A region left open at exit is reported as "open=V", so a
 * guest that dies in the middle cannot look like one that finished.
 *
 * With boot=on the first region of each vCPU starts at its reset.
 *
 * Usage: qemu-system-aarch64 ... -plugin opcount.so,out=FILE[,boot=on]
 *
 * One object serves QEMU 7.2 to 10.0 at least; see qemu_plugin.h.
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

enum kind { PLAIN, DSB, ISB, TLBI, START, STOP, NR_KINDS };

struct vcpu {
	bool counting;
	uint64_t count[NR_KINDS];
};

static struct vcpu *vcpus;
static unsigned int nr_vcpus;
static uint64_t nr_regions;
static FILE *out;

__attribute__((constructor)) static void pick_api_version(void)
{
	/*
	 * This function came with API version 2 and is in all later ones. QEMU
	 * reads the version after the object's constructors have run.
	 */
	if (dlsym(RTLD_DEFAULT, "qemu_plugin_scoreboard_new"))
		qemu_plugin_version = 2;
}

static uint32_t insn_word(const struct qemu_plugin_insn *insn)
{
	uint32_t word = 0;
	size_t ret = qemu_plugin_insn_data(insn, &word, sizeof(word));

	/*
	 * A count of bytes means that they were copied. Anything else is the
	 * address that the earlier signature returns, which is never so small.
	 */
	if (ret != sizeof(word))
		memcpy(&word, (const void *)(uintptr_t)ret, sizeof(word));
	return word;
}

static enum kind classify(uint32_t word)
{
	if (word == 0xd503201fu + (0x70u << 5))
		return START;
	if (word == 0xd503201fu + (0x71u << 5))
		return STOP;
	if ((word & 0xfffff0ffu) == 0xd503309fu)
		return DSB;
	if ((word & 0xfffff0ffu) == 0xd50330dfu)
		return ISB;
	/* SYS with op0 = 1, CRn = 8: every TLBI, whatever its operands. */
	if ((word & 0xfff8e000u) == 0xd5088000u)
		return TLBI;
	return PLAIN;
}

static void start_region(struct vcpu *v)
{
	memset(v->count, 0, sizeof(v->count));
	v->counting = true;
}

static void stop_region(struct vcpu *v, unsigned int vcpu)
{
	uint64_t insns = 0;
	int kind;

	if (!v->counting)
		return;
	v->counting = false;
	for (kind = PLAIN; kind <= TLBI; kind++)
		insns += v->count[kind];
	fprintf(out, "region=%" PRIu64 " vcpu=%u insns=%" PRIu64
		" dsb=%" PRIu64 " isb=%" PRIu64 " tlbi=%" PRIu64 "\n",
		nr_regions++, vcpu, insns, v->count[DSB], v->count[ISB],
		v->count[TLBI]);
}

static void insn_exec(unsigned int vcpu, void *udata)
{
	enum kind kind = (enum kind)(uintptr_t)udata;
	struct vcpu *v;

	if (vcpu >= nr_vcpus)
		return;
	v = &vcpus[vcpu];
	if (kind == START)
		start_region(v);
	else if (kind == STOP)
		stop_region(v, vcpu);
	else if (v->counting)
		v->count[kind]++;
}

static void tb_trans(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uintptr_t kind = classify(insn_word(insn));

		qemu_plugin_register_vcpu_insn_exec_cb(insn, insn_exec,
						       QEMU_PLUGIN_CB_NO_REGS,
						       (void *)kind);
	}
}

static void at_exit(uint64_t id, void *udata)
{
	unsigned int i;

	(void)id;
	(void)udata;
	for (i = 0; i < nr_vcpus; i++)
		if (vcpus[i].counting)
			fprintf(out, "open=%u\n", i);
	if (fclose(out))
		perror("opcount: output file");
}

EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info,
			       int argc, char **argv)
{
	const char *path = NULL;
	bool boot = false;
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4)) {
			path = argv[i] + 4;
		} else if (!strcmp(argv[i], "boot=on")) {
			boot = true;
		} else {
			fprintf(stderr, "opcount: unknown option '%s'\n",
				argv[i]);
			return -1;
		}
	}
	if (!path) {
		fprintf(stderr, "opcount: out=FILE is missing\n");
		return -1;
	}
	if (!info->system_emulation || strcmp(info->target_name, "aarch64")) {
		fprintf(stderr, "opcount: for qemu-system-aarch64 only\n");
		return -1;
	}
	nr_vcpus = info->system.max_vcpus;
	vcpus = calloc(nr_vcpus, sizeof(*vcpus));
	out = fopen(path, "w");
	if (!vcpus || !out) {
		fprintf(stderr, "opcount: %s: %s\n", path, strerror(errno));
		return -1;
	}
	for (i = 0; boot && i < (int)nr_vcpus; i++)
		vcpus[i].counting = true;
	qemu_plugin_register_vcpu_tb_trans_cb(id, tb_trans);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
