// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a guest CPU is: the registers it finds at EL1, and the EL2 controls that
 * let it use everything the real CPU has. Documentation/arch/arm64/booting.rst
 * of the kernel lists what a kernel entered at EL1 expects.
 */
#include "el2.h"

#define ID_AA64PFR0		ID_REG(4, 0)
#define ID_AA64PFR1		ID_REG(4, 1)
#define ID_AA64DFR0		ID_REG(5, 0)
#define ID_AA64MMFR0		ID_REG(7, 0)
#define ID_AA64MMFR1		ID_REG(7, 1)
#define ID_AA64MMFR2		ID_REG(7, 2)
#define ID_AA64MMFR2_BBM_SHIFT	52

#define field(reg, shift)	((reg) >> (shift) & 0xf)

#define HCR_RW			BIT(31)
#define HCR_TSC			BIT(19)
#define HCR_TID3		BIT(18)
#define HCR_FIEN		BIT(47)
#define HCR_APK			BIT(40)
#define HCR_API			BIT(41)
#define HCR_ENSCXT		BIT(53)
#define HCR_ATA			BIT(56)

/*
 * QEMU's virt machine with a GICv3 has clusters of 16 CPUs and numbers CPUs in
 * the order of the devicetree.
 */
unsigned int this_cpu(void)
{
	u64 mpidr = read_reg(mpidr_el1);

	return (mpidr & 0xff) + (mpidr >> 8 & 0xff) * 16;
}

u64 cpu_word(unsigned int cpu)
{
	return load64(CPU_TABLE + sizeof(u64) * (1 + cpu));
}

/* The value that a guest CPU reads from an ID register of group 3. */
u64 guest_id_reg(unsigned int cpu, u64 reg)
{
	u64 value = read_id_reg(reg);
	u64 word = cpu_word(cpu);

	if (reg == ID_AA64MMFR2 && word & CPU_HAS_BBM) {
		value &= ~(0xfUL << ID_AA64MMFR2_BBM_SHIFT);
		value |= CPU_BBM(word) << ID_AA64MMFR2_BBM_SHIFT;
	}

	return value;
}

/* Vector lengths, fine-grained traps and the like: let everything through. */
static void setup_extensions(void)
{
	u64 pfr0 = read_id_reg(ID_AA64PFR0), pfr1 = read_id_reg(ID_AA64PFR1);
	u64 mmfr0 = read_id_reg(ID_AA64MMFR0), mmfr1 = read_id_reg(ID_AA64MMFR1);

	/* FP, SVE and SME not trapped; the other bits are RES1 */
	write_reg(cptr_el2, 0x22ff);
	asm volatile("isb");

	if (field(pfr0, 32))				/* SVE */
		write_reg(S3_4_C1_C2_0, 0xf);		/* ZCR_EL2.LEN */
	if (field(pfr1, 24))				/* SME */
		write_reg(S3_4_C1_C2_6,			/* SMCR_EL2 */
			  BIT(31) | BIT(30) | 0xf);	/* FA64, EZT0, LEN */

	if (field(mmfr0, 56)) {				/* FGT */
		/*
		 * Positive trap bits 0, negative ones ("n...") 1. They are at
		 * the top of each register; those of absent features are RES0.
		 */
		write_reg(S3_4_C1_C1_4, ~0UL << 50);	/* HFGRTR_EL2 */
		write_reg(S3_4_C1_C1_5, ~0UL << 50);	/* HFGWTR_EL2 */
		write_reg(S3_4_C1_C1_6, 0x7fUL << 55);	/* HFGITR_EL2 */
		write_reg(S3_4_C3_C1_4, 0xfUL << 59);	/* HDFGRTR_EL2 */
		write_reg(S3_4_C3_C1_5, 0xfUL << 59);	/* HDFGWTR_EL2 */
	}
	if (field(mmfr1, 40))				/* HCX */
		write_reg(S3_4_C1_C2_2,			/* HCRX_EL2 */
			  BIT(11) |			/* MSCEn */
			  BIT(14) |			/* TCR2En */
			  BIT(15));			/* SCTLR2En */
}

static void setup_debug(void)
{
	u64 dfr0 = read_id_reg(ID_AA64DFR0);
	u64 mdcr = 0;

	/* All counters belong to the guest (MDCR_EL2.HPMN = PMCR_EL0.N). */
	if (field(dfr0, 8) && field(dfr0, 8) != 0xf)
		mdcr |= read_reg(pmcr_el0) >> 11 & 0x1f;
	if (field(dfr0, 32))				/* SPE */
		mdcr |= 3UL << 12;			/* E2PB: EL1 owns it */
	if (field(dfr0, 44))				/* TRBE */
		mdcr |= 3UL << 24;			/* E2TB: EL1 owns it */
	write_reg(mdcr_el2, mdcr);
}

/* Prepare the calling CPU for the guest. Nothing of the guest runs yet. */
void setup_guest_cpu(unsigned int cpu)
{
	u64 word = cpu_word(cpu);

	write_reg(vpidr_el2, word & CPU_HAS_MIDR ? CPU_MIDR(word) :
						   read_reg(midr_el1));
	write_reg(vmpidr_el2, read_reg(mpidr_el1));

	write_reg(cnthctl_el2, 3);			/* EL1PCEN, EL1PCTEN */
	write_reg(cntvoff_el2, 0);
	write_reg(hstr_el2, 0);
	write_reg(vttbr_el2, 0);
	setup_extensions();
	setup_debug();

	if (field(read_id_reg(ID_AA64PFR0), 24)) {	/* GIC system registers */
		write_reg(S3_4_C12_C9_5, 0xf);		/* ICC_SRE_EL2 */
		asm volatile("isb");
		write_reg(S3_4_C12_C11_0, 0);		/* ICH_HCR_EL2 */
	}

	write_reg(sctlr_el1, 0x30d00800);		/* MMU off, RES1 bits */
	/*
	 * No stage 2 and no interrupts for us. SMC is trapped for CPU_ON, ID
	 * registers of group 3 for their values; the rest opens features.
	 */
	write_reg(hcr_el2, HCR_RW | HCR_TSC | HCR_TID3 | HCR_APK | HCR_API |
			   HCR_FIEN | HCR_ENSCXT | HCR_ATA);
	asm volatile("isb\n\t"
		     "tlbi vmalls12e1\n\t"
		     "dsb sy\n\t"
		     "isb" : : : "memory");
}
