// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules, kprobes and BPF programs come and go while every CPU reads and
 * writes the memory around theirs through the linear map (SPEC L3, L4).
 *
 * leaf_neighbours.ko owns every other page of a large part of memory and runs
 * one checking thread per CPU. Meanwhile leaf_visitor.ko is loaded and
 * unloaded, a kprobe is set and removed, and BPF programs are loaded and closed,
 * each time with set_memory_*() on text and data. At the end the threads must
 * have found every word as they wrote it, each of them must have got somewhere,
 * and W^X must hold.
 *
 * Usage: come_and_go [ROUNDS]		default 40; a tenth for kprobes
 * Needs the three modules in the current directory, root and debugfs; the BPF
 * part needs BPF_SYSCALL and BPF_JIT.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"
#include "leaves.h"

#define NEIGHBOURS	"/sys/kernel/debug/leaf_neighbours"
#define JIT_ENABLE	"/proc/sys/net/core/bpf_jit_enable"
#define PROG_INSNS	2000
/* Programs held at once, so that they share and leave packs of programs. */
#define NR_PROGS	8

static unsigned int rounds = 40;

struct state {
	unsigned long threads, rounds, least, bad;
};

static void read_state(struct state *s)
{
	char text[256];
	int err = guest_read(NEIGHBOURS, text, sizeof(text));

	if (err || guest_field(text, "threads=", &s->threads) ||
	    guest_field(text, "rounds=", &s->rounds) ||
	    guest_field(text, "least=", &s->least) ||
	    guest_field(text, "bad=", &s->bad))
		ksft_exit_fail_msg("cannot read " NEIGHBOURS "\n");
}

/* Wait until every thread has been round once more: at most a minute. */
static bool wait_for_progress(const struct state *from)
{
	struct state now;
	int tenths;

	for (tenths = 0; tenths < 600; tenths++) {
		read_state(&now);
		if (now.least > from->least)
			return true;
		usleep(100000);
	}
	ksft_print_msg("a thread made no progress: least=%lu\n", now.least);
	return false;
}

static bool module_comes_and_goes(const char *name, unsigned int times)
{
	char path[64];
	unsigned int i;
	int err;

	snprintf(path, sizeof(path), "%s.ko", name);
	for (i = 0; i < times; i++) {
		err = guest_load_plain(path, "");
		if (!err)
			err = guest_unload(name);
		if (err) {
			ksft_print_msg("round %u: %s\n", i, strerror(-err));
			return false;
		}
	}
	return true;
}

static bool programs_come_and_go(void)
{
	int fds[NR_PROGS];
	unsigned int i, j;
	bool ok = true;

	for (i = 0; i < rounds && ok; i++) {
		for (j = 0; j < NR_PROGS && ok; j++) {
			fds[j] = guest_load_bpf(PROG_INSNS, 1);
			if (fds[j] < 0) {
				ksft_print_msg("BPF_PROG_LOAD: %s\n",
					       strerror(-fds[j]));
				ok = false;
				break;
			}
		}
		while (j--)
			close(fds[j]);
	}
	return ok;
}

/* Only a program that was compiled has text of its own. */
static bool bpf_has_jit(void)
{
	struct bpf_prog_info info;
	union bpf_attr attr;
	int fd, err;

	/* There is no such file where the JIT is always on. */
	guest_write(JIT_ENABLE, "1\n");
	fd = guest_load_bpf(PROG_INSNS, 1);
	if (fd < 0) {
		/* Any other error is for the test itself to report. */
		return fd != -ENOSYS;
	}
	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	err = syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
	close(fd);
	return err || info.jited_prog_len;
}

static bool wx_holds(void)
{
	struct pt_dump dump;
	size_t i, bad = 0;

	if (pt_read_path(&dump, NULL, 0))
		return false;
	for (i = 0; i < dump.nr; i++)
		bad += !dump.ranges[i].ro && !dump.ranges[i].nx;
	pt_free(&dump);
	return !bad;
}

int main(int argc, char **argv)
{
	struct state begin, end;
	bool alive;
	int err;

	ksft_print_header();
	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 10);
	if (!rounds)
		ksft_exit_fail_msg("no rounds\n");
	ksft_set_plan(5);

	err = guest_load_plain("leaf_neighbours.ko", "");
	if (err)
		ksft_exit_fail_msg("leaf_neighbours.ko: %s\n", strerror(-err));
	read_state(&begin);
	alive = wait_for_progress(&begin);

	ksft_test_result(module_comes_and_goes("leaf_visitor", rounds),
			 "modules_come_and_go\n");
	/* Each one stops all CPUs, which takes long where they are emulated. */
	ksft_test_result(module_comes_and_goes("leaf_probe", rounds / 10 + 1),
			 "probes_come_and_go\n");
	if (!bpf_has_jit())
		ksft_test_result_skip("programs_come_and_go no BPF JIT here\n");
	else
		ksft_test_result(programs_come_and_go(),
				 "programs_come_and_go\n");

	read_state(&begin);
	alive = wait_for_progress(&begin) && alive;
	read_state(&end);
	ksft_print_msg("threads=%lu rounds=%lu least=%lu bad=%lu\n",
		       end.threads, end.rounds, end.least, end.bad);
	ksft_test_result(alive && end.threads && !end.bad,
			 "neighbours_undisturbed\n");
	if (access(PT_DUMP_PATH, R_OK))
		ksft_test_result_skip("wx_afterwards no " PT_DUMP_PATH "\n");
	else
		ksft_test_result(wx_holds(), "wx_afterwards\n");
	err = guest_unload("leaf_neighbours");
	if (err)
		ksft_exit_fail_msg("unload: %s\n", strerror(-err));
	ksft_finished();
}
