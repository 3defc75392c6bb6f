/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared declarations of the mixed-CPU program. What it is for and how it works
 * is in docs/el2.md.
 */
#ifndef EL2_H
#define EL2_H

/*
 * Fixed layout, first 4 MiB of RAM of QEMU's virt machine. rig/el2.sh uses
 * GUEST_IMAGE and CPU_TABLE too; el2.ld uses EL2_BASE and CPU_TABLE.
 *
 *	RAM_BASE	not used (QEMU's own boot stub)
 *	EL2_BASE	this program, image, bss and stacks
 *	CPU_TABLE	one word per CPU, see struct comment below
 *	GUEST_IMAGE	the guest kernel, and the start of the guest's memory
 */
#define RAM_BASE	0x40000000
#define EL2_BASE	0x40200000
#define CPU_TABLE	0x403ff000
#define GUEST_IMAGE	0x40400000

#define UART_BASE	0x09000000

#define MAX_CPUS		64
#define STACK_SHIFT	10		/* 1 KiB per CPU: traps do not nest */

/*
 * CPU_TABLE: a magic word, then one word for each CPU in the order of the
 * devicetree. rig/el2.sh writes them with QEMU's loader device; words that it
 * does not write are 0, "as the real CPU".
 *	63	BBM is given		35:32	ID_AA64MMFR2_EL1.BBM
 *	62	MIDR is given		31:0	MIDR_EL1
 */
#define CPU_TABLE_MAGIC	0x3153555043324c45	/* "EL2CPUS1" */
#define CPU_HAS_BBM	BIT(63)
#define CPU_HAS_MIDR	BIT(62)
#define CPU_BBM(word)	((word) >> 32 & 0xf)
#define CPU_MIDR(word)	((word) & 0xffffffff)

#ifndef __ASSEMBLER__

#define BIT(n)		(1UL << (n))
#define __noreturn	__attribute__((__noreturn__))

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;

#define read_reg(r) ({							\
	u64 __v;							\
	asm volatile("mrs %0, " #r : "=r" (__v) : : "memory");		\
	__v;								\
})
#define write_reg(r, v) ({						\
	u64 __v = (v);							\
	asm volatile("msr " #r ", %0" : : "r" (__v) : "memory");	\
})

/* Plain memory and devices alike: the MMU is off. */
static inline u64 load64(u64 addr)
{
	u64 value;

	asm volatile("ldr %0, [%1]" : "=r" (value) : "r" (addr) : "memory");
	return value;
}

static inline void store32(u64 addr, u32 value)
{
	asm volatile("str %w0, [%1]" : : "r" (value), "r" (addr) : "memory");
}

/* Number of S3_0_C0_C<crm>_<op2>, crm 0 to 7. */
#define ID_REG(crm, op2)	((crm) << 3 | (op2))

/* The guest's x0 to x30 at the trap. */
struct guest_regs {
	u64 x[31];
};

/* Where a CPU enters the guest, and what x0 holds there. */
struct guest_entry {
	u64 pc;
	u64 x0;
};

/* start.S */
extern char secondary_start[];
u64 read_id_reg(u64 reg);
void smc(u64 x[4]);

/* console.c */
void put_str(const char *s);
void put_hex(u64 value);
void put_dec(u64 value);
void __noreturn power_off(void);

/* dtb.c */
const char *take_guest_memory(u8 *dtb, u64 start);

/* cpu.c */
unsigned int this_cpu(void);
u64 cpu_word(unsigned int cpu);
u64 guest_id_reg(unsigned int cpu, u64 reg);
void setup_guest_cpu(unsigned int cpu);

/* main.c */
struct guest_entry enter_boot_cpu(u8 *dtb);
struct guest_entry enter_secondary(u64 cpu);
void handle_sync(struct guest_regs *regs);
void __noreturn handle_unexpected(u64 vector);

#endif /* __ASSEMBLER__ */
#endif /* EL2_H */
