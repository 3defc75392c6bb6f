// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enter an unmodified kernel at EL1 on CPUs that look different from each other.
 * Three things are trapped: ID register reads, SMC, and HVC (which has no one
 * to talk to).
 */
#include "el2.h"

#define IMAGE_MAGIC_OFFSET	56
#define IMAGE_MAGIC		0x644d5241	/* "ARM\x64" */

#define EC(esr)			((esr) >> 26 & 0x3f)
#define EC_HVC			0x16
#define EC_SMC			0x17
#define EC_SYSREG		0x18

#define PSCI_CPU_ON_32		0x84000003
#define PSCI_CPU_ON_64		0xc4000003
#define PSCI_INVALID_PARAMETERS	(-2UL)
#define NOT_SUPPORTED		(~0UL)

/* Written by the CPU that calls CPU_ON, read by the one that starts. */
static struct guest_entry entries[MAX_CPUS];

static void __noreturn give_up(const char *why)
{
	put_str("el2: ");
	put_str(why);
	put_str("; power off\n");
	power_off();
}

static void print_cpus(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		u64 word = cpu_word(cpu);

		if (!(word & (CPU_HAS_BBM | CPU_HAS_MIDR)))
			continue;

		put_str("el2: CPU");
		put_dec(cpu);
		if (word & CPU_HAS_MIDR) {
			put_str(" MIDR ");
			put_hex(CPU_MIDR(word));
		}
		if (word & CPU_HAS_BBM) {
			put_str(" BBM ");
			put_dec(CPU_BBM(word));
		}
		put_str("\n");
	}
}

struct guest_entry enter_boot_cpu(u8 *dtb)
{
	struct guest_entry entry = { GUEST_IMAGE, (u64)dtb };
	const char *problem;

	if (load64(CPU_TABLE) != CPU_TABLE_MAGIC)
		give_up("no CPU table; start it with rig/el2.sh");
	if ((u32)load64(GUEST_IMAGE + IMAGE_MAGIC_OFFSET) != IMAGE_MAGIC)
		give_up("no kernel Image behind this program");

	problem = take_guest_memory(dtb, GUEST_IMAGE);
	if (problem)
		give_up(problem);

	print_cpus();
	setup_guest_cpu(0);
	return entry;
}

struct guest_entry enter_secondary(u64 cpu)
{
	struct guest_entry entry = { entries[cpu].pc, entries[cpu].x0 };

	setup_guest_cpu(cpu);
	return entry;
}

/*
 * CPU_ON gets our own entry point and remembers the guest's. The CPU number is
 * derived from the target as in this_cpu(); a target that does not exist is
 * refused by the firmware.
 */
static void handle_cpu_on(u64 *x)
{
	u64 target = (x[1] & 0xff) + (x[1] >> 8 & 0xff) * 16;
	u64 call[4] = { x[0], x[1], (u64)secondary_start, target };

	if (target >= MAX_CPUS) {
		x[0] = PSCI_INVALID_PARAMETERS;
		return;
	}

	entries[target].pc = x[2];
	entries[target].x0 = x[3];
	asm volatile("dsb sy" : : : "memory");

	smc(call);
	x[0] = call[0];
}

/* All other calls go to the firmware, which refuses what it does not know. */
static void handle_smc(u64 *x)
{
	u32 function = x[0];

	if (function == PSCI_CPU_ON_32 || function == PSCI_CPU_ON_64)
		handle_cpu_on(x);
	else
		smc(x);
}

/* A read of S3_0_C0_C<0..7>_<op2> is answered; returns 0 for anything else. */
static int handle_sysreg(struct guest_regs *regs, u64 esr)
{
	unsigned int crm = esr >> 1 & 0xf, rt = esr >> 5 & 0x1f;
	unsigned int crn = esr >> 10 & 0xf, op1 = esr >> 14 & 0x7;
	unsigned int op2 = esr >> 17 & 0x7, op0 = esr >> 20 & 0x3;
	int is_read = esr & 1;

	if (!is_read || op0 != 3 || op1 != 0 || crn != 0 || crm > 7)
		return 0;

	if (rt != 31)
		regs->x[rt] = guest_id_reg(this_cpu(), ID_REG(crm, op2));
	return 1;
}

static void __noreturn report(const char *what, u64 number)
{
	put_str("el2: CPU");
	put_dec(this_cpu());
	put_str(what);
	put_hex(number);
	put_str(" ESR ");
	put_hex(read_reg(esr_el2));
	put_str(" ELR ");
	put_hex(read_reg(elr_el2));
	put_str(" FAR ");
	put_hex(read_reg(far_el2));
	put_str("; power off\n");
	power_off();
}

void handle_sync(struct guest_regs *regs)
{
	u64 esr = read_reg(esr_el2);

	switch (EC(esr)) {
	case EC_SMC:
		handle_smc(regs->x);
		break;
	case EC_HVC:
		/* ELR is past the HVC already */
		regs->x[0] = NOT_SUPPORTED;
		return;
	case EC_SYSREG:
		if (!handle_sysreg(regs, esr))
			report(": trap of a system register, class ", EC(esr));
		break;
	default:
		report(": trap of class ", EC(esr));
	}

	write_reg(elr_el2, read_reg(elr_el2) + 4);
}

void handle_unexpected(u64 vector)
{
	report(": unexpected exception, vector ", vector);
}
