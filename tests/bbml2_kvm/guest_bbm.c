// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a KVM guest sees in ID_AA64MMFR2_EL1.BBM: by the register interface, by
 * its own read, and whether user space may change it.
 *
 * Environment: BBM is the value that guests must see.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest.h"

#define ID_AA64MMFR2_EL1	ARM64_SYS_REG(3, 0, 0, 7, 2)
#define BBM_SHIFT		52
#define BBM_MASK		(0xfULL << BBM_SHIFT)

#define CORE_PC		(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | \
			 KVM_REG_ARM_CORE_REG(regs.pc))

#define CODE_ADDR	0x80000000ULL
#define MMIO_ADDR	0x10000000ULL

static const uint32_t guest_code[] = {
	0xd5380740,	/* mrs	x0, id_aa64mmfr2_el1 */
	0xd2a20001,	/* mov	x1, #MMIO_ADDR */
	0xf9000020,	/* str	x0, [x1] */
	0x14000000,	/* b	. */
};

struct guest {
	int kvm, vm, vcpu;
	void *code;
	struct kvm_run *run;
	size_t run_size;
};

static void die(const char *what)
{
	ksft_exit_fail_msg("%s: %s\n", what, strerror(errno));
}

static void make_guest(struct guest *g)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = CODE_ADDR,
		.memory_size = getpagesize(),
	};
	struct kvm_vcpu_init init;
	int size;

	g->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (g->kvm < 0)
		die("/dev/kvm");
	g->vm = ioctl(g->kvm, KVM_CREATE_VM, 0);
	if (g->vm < 0)
		die("KVM_CREATE_VM");

	g->code = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (g->code == MAP_FAILED)
		die("mmap");
	memcpy(g->code, guest_code, sizeof(guest_code));
	region.userspace_addr = (uintptr_t)g->code;
	if (ioctl(g->vm, KVM_SET_USER_MEMORY_REGION, &region))
		die("KVM_SET_USER_MEMORY_REGION");

	g->vcpu = ioctl(g->vm, KVM_CREATE_VCPU, 0);
	if (g->vcpu < 0)
		die("KVM_CREATE_VCPU");
	if (ioctl(g->vm, KVM_ARM_PREFERRED_TARGET, &init))
		die("KVM_ARM_PREFERRED_TARGET");
	if (ioctl(g->vcpu, KVM_ARM_VCPU_INIT, &init))
		die("KVM_ARM_VCPU_INIT");

	size = ioctl(g->kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (size < 0)
		die("KVM_GET_VCPU_MMAP_SIZE");
	g->run_size = size;
	g->run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, g->vcpu, 0);
	if (g->run == MAP_FAILED)
		die("mmap of kvm_run");
}

static void drop_guest(struct guest *g)
{
	munmap(g->run, g->run_size);
	munmap(g->code, getpagesize());
	close(g->vcpu);
	close(g->vm);
	close(g->kvm);
}

static uint64_t get_reg(struct guest *g, uint64_t id)
{
	uint64_t value;
	struct kvm_one_reg reg = { .id = id, .addr = (uintptr_t)&value };

	if (ioctl(g->vcpu, KVM_GET_ONE_REG, &reg))
		die("KVM_GET_ONE_REG");
	return value;
}

static int set_reg(struct guest *g, uint64_t id, uint64_t value)
{
	struct kvm_one_reg reg = { .id = id, .addr = (uintptr_t)&value };

	return ioctl(g->vcpu, KVM_SET_ONE_REG, &reg) ? errno : 0;
}

static int get_bbm(struct guest *g)
{
	return (get_reg(g, ID_AA64MMFR2_EL1) & BBM_MASK) >> BBM_SHIFT;
}

static int set_bbm(struct guest *g, int bbm)
{
	uint64_t value = get_reg(g, ID_AA64MMFR2_EL1);

	value = (value & ~BBM_MASK) | (uint64_t)bbm << BBM_SHIFT;
	return set_reg(g, ID_AA64MMFR2_EL1, value);
}

/* Let the guest read the register and store it to where no memory is. */
static int read_in_guest(struct guest *g)
{
	uint64_t value;

	if (set_reg(g, CORE_PC, CODE_ADDR))
		die("setting the guest's PC");
	if (ioctl(g->vcpu, KVM_RUN, 0))
		die("KVM_RUN");
	if (g->run->exit_reason != KVM_EXIT_MMIO || !g->run->mmio.is_write ||
	    g->run->mmio.phys_addr != MMIO_ADDR || g->run->mmio.len != 8)
		ksft_exit_fail_msg("the guest stopped with %u, not with its store\n",
				   g->run->exit_reason);
	memcpy(&value, g->run->mmio.data, sizeof(value));
	return (value & BBM_MASK) >> BBM_SHIFT;
}

int main(void)
{
	const char *text = getenv("BBM");
	struct guest g;
	int want, bbm, err;

	ksft_print_header();
	if (!text)
		ksft_exit_fail_msg("BBM is not in the environment\n");
	want = atoi(text);
	ksft_set_plan(4);

	make_guest(&g);
	bbm = get_bbm(&g);
	ksft_test_result(bbm == want, "user_space_sees_bbm_%d\n", want);
	if (bbm != want)
		ksft_print_msg("it sees %d\n", bbm);

	err = set_bbm(&g, want + 1);
	ksft_test_result(err == EINVAL && get_bbm(&g) == want,
			 "raising_it_is_refused\n");

	err = set_bbm(&g, 0);
	ksft_test_result(!err && get_bbm(&g) == 0, "lowering_it_is_allowed\n");
	drop_guest(&g);

	make_guest(&g);
	bbm = read_in_guest(&g);
	ksft_test_result(bbm == want, "guest_reads_bbm_%d\n", want);
	if (bbm != want)
		ksft_print_msg("it reads %d\n", bbm);
	drop_guest(&g);

	ksft_finished();
}
