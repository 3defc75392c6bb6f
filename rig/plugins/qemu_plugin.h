/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of QEMU's plugin interface that our plugins use. No package ships
 * QEMU's own header, hence these declarations.
 *
 * Up to QEMU 8.2 the API version is 1 and qemu_plugin_insn_data() returns a
 * pointer to the bytes of the instruction. From 9.1 on it copies them and
 * returns how many, and versions below 2 are refused. 9.0 takes version 2 with
 * the earlier signature. Everything else here is the same in all of them.
 */
#ifndef WL_QEMU_PLUGIN_H
#define WL_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct qemu_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	union {
		struct {
			int smp_vcpus;
			int max_vcpus;
		} system;
	};
};

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
	QEMU_PLUGIN_CB_R_REGS,
	QEMU_PLUGIN_CB_RW_REGS,
};

typedef void (*tb_trans_fn)(uint64_t id, struct qemu_plugin_tb *tb);
typedef void (*insn_exec_fn)(unsigned int vcpu, void *udata);
typedef void (*atexit_fn)(uint64_t id, void *udata);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, tb_trans_fn cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  insn_exec_fn cb,
					  enum qemu_plugin_cb_flags flags,
					  void *udata);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    insn_exec_fn cb,
					    enum qemu_plugin_cb_flags flags,
					    void *udata);
void qemu_plugin_register_atexit_cb(uint64_t id, atexit_fn cb, void *udata);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
/* Where the instruction is in this process, or NULL if it is not in RAM. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
/* The later signature; see above for the earlier one. */
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn,
			     void *dest, size_t len);

/* What a plugin defines. */
extern int qemu_plugin_version;
int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
			char **argv);

#endif /* WL_QEMU_PLUGIN_H */
