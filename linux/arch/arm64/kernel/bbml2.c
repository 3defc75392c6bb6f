// SPDX-License-Identifier: GPL-2.0-only
/*
 * Detect CPUs that have BBM level 2 and never raise a TLB conflict abort, for
 * code that changes the size of live kernel mappings without break-before-make.
 *
 * A CPU has it if ID_AA64MMFR2_EL1.BBM is 3 or above, or if its MIDR is in the
 * list below: parts that report BBM 2, or even 0, and are known never to abort.
 *
 * Invariants:
 *  I1 (always). system_supports_bbml2_noabort() is true only if every CPU that
 *      is online has it. It changes at most once, from false to true, when the
 *      capabilities become final. A later CPU runs kernel code, up to
 *      check_local_cpu_capabilities(), before it may be refused: who relies on
 *      the answer must keep out of its way until it is online.
 *  I2 (always). Detection uses the registers of the CPU itself. The sanitised
 *      register knows no MIDR, and holds the minimum of all CPUs, which says
 *      nothing about the listed ones.
 *  I3 (once final). The set of CPUs that answered for the system is closed: a
 *      later CPU is refused if it lacks what the system has, and may join with
 *      more than the system has.
 * Locking: none. cpu_data of a secondary is written before the boot CPU goes on
 *   (completion in __cpu_up()) and is read by the boot CPU only after all early
 *   secondaries are up.
 * TLB and barriers: none. What a caller may do with the answer is stated at the
 *   caller.
 * Failure: nothing to fail. A command line value that is not understood leaves
 *   the default and one warning.
 * See: Documentation/arch/arm64/bbml2.rst for what the answer promises; Arm ARM
 *   DDI 0487, D8.16 "TLB maintenance", using break-before-make, and
 *   ID_AA64MMFR2_EL1.
 */

#define pr_fmt(fmt) "CPU features: " fmt

#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/init.h>
#include <linux/preempt.h>
#include <linux/printk.h>

#include <kunit/visibility.h>

#include <asm/bbml2.h>
#include <asm/cpu.h>
#include <asm/cpufeature.h>
#include <asm/cputype.h>
#include <asm/sysreg.h>

/* The lowest levels: with size changes in place, and without any abort. */
#define BBM_LEVEL_SIZE_CHANGE	SYS_FIELD_VALUE(ID_AA64MMFR2_EL1, BBM, 2)
#define BBM_LEVEL_NO_ABORT	SYS_FIELD_VALUE(ID_AA64MMFR2_EL1, BBM, 3)

/*
 * Parts that never raise a TLB conflict abort on a size change, whatever they
 * report in BBM. A lower limit within r0 only ends at r0: no later variant of
 * these parts has been vouched for. Earlier C1-Ultra and C1-Premium can livelock
 * (erratum 3683289).
 */
static const struct midr_range bbml2_noabort_parts[] = {
	MIDR_REV_RANGE(MIDR_CORTEX_X4, 0, 3, 0xf),
	MIDR_REV_RANGE(MIDR_NEOVERSE_V3, 0, 2, 0xf),
	MIDR_REV_RANGE(MIDR_NEOVERSE_V3AE, 0, 2, 0xf),
	MIDR_ALL_VERSIONS(MIDR_CORTEX_A520AE),
	MIDR_ALL_VERSIONS(MIDR_CORTEX_A715),
	MIDR_ALL_VERSIONS(MIDR_CORTEX_A720AE),
	MIDR_ALL_VERSIONS(MIDR_CORTEX_A725),
	MIDR_ALL_VERSIONS(MIDR_NEOVERSE_N3),
	MIDR_ALL_VERSIONS(MIDR_C1_NANO),
	MIDR_ALL_VERSIONS(MIDR_C1_PRO),
	MIDR_RANGE(MIDR_C1_ULTRA, 1, 1, 0xf, 0xf),
	MIDR_RANGE(MIDR_C1_PREMIUM, 1, 1, 0xf, 0xf),
	MIDR_ALL_VERSIONS(MIDR_NVIDIA_OLYMPUS),
	MIDR_ALL_VERSIONS(MIDR_AMPERE1),
	MIDR_ALL_VERSIONS(MIDR_AMPERE1A),
	{}
};

/**
 * bbml2_noabort_match() - does a CPU with these registers have the property?
 * @midr: MIDR_EL1 of the CPU
 * @mmfr2: ID_AA64MMFR2_EL1 of the CPU, not sanitised
 * @ovr: command line override of ID_AA64MMFR2_EL1
 *
 * An override that asks for more than the CPU has does not count: the ID
 * register code warns about it and drops it, but only after the linear map has
 * been built, and both must see the same answer. One below 2 says that sizes
 * must not change in place at all, so it silences the list too.
 *
 * Context: Any.
 * Return: true if the CPU has BBM level 2 and never raises a conflict abort.
 */
VISIBLE_IF_KUNIT bool bbml2_noabort_match(u32 midr, u64 mmfr2,
					  const struct arm64_ftr_override *ovr)
{
	unsigned int level = FIELD_GET(ID_AA64MMFR2_EL1_BBM_MASK, mmfr2);

	if (FIELD_GET(ID_AA64MMFR2_EL1_BBM_MASK, ovr->mask)) {
		unsigned int limit = FIELD_GET(ID_AA64MMFR2_EL1_BBM_MASK,
					       ovr->val);

		if (limit <= level) {
			if (limit < BBM_LEVEL_SIZE_CHANGE)
				return false;
			level = limit;
		}
	}

	return level >= BBM_LEVEL_NO_ABORT ||
	       is_midr_in_range_list(midr, bbml2_noabort_parts);
}
EXPORT_SYMBOL_IF_KUNIT(bbml2_noabort_match);

/**
 * cpu_supports_bbml2_noabort() - does the calling CPU have the property?
 *
 * Reads the CPU's own registers and the command line overrides, so it is right
 * from the first C code of each CPU on and needs no capability to be final.
 *
 * Context: Any. The caller stays on this CPU while it uses the answer: not
 *          preemptible, or no other CPU online.
 * Return: true if this CPU has BBM level 2 and never raises a conflict abort.
 */
bool cpu_supports_bbml2_noabort(void)
{
	WARN_ON_ONCE(preemptible() && num_online_cpus() > 1);

	return bbml2_noabort_match(read_cpuid_id(),
				   read_cpuid(ID_AA64MMFR2_EL1),
				   &id_aa64mmfr2_override);
}
EXPORT_SYMBOL_IF_KUNIT(cpu_supports_bbml2_noabort);

/*
 * Ask the records of every CPU that came up so far (I2). A CPU counts from
 * cpuinfo_store_cpu() on, even if it failed later and never got online: it may
 * still run with its MMU on. One that check_local_cpu_capabilities() stopped
 * before that left no record; it is switched off, or spins in cpu_park_loop()
 * and touches nothing but kernel text, whose leaves keep their size.
 */
static bool early_cpus_support_bbml2_noabort(void)
{
	unsigned int cpu, lacking = nr_cpu_ids;
	bool any = false;

	for_each_possible_cpu(cpu) {
		const struct cpuinfo_arm64 *info = &per_cpu(cpu_data, cpu);

		if (!info->reg_midr)	/* never came up */
			continue;

		if (bbml2_noabort_match(info->reg_midr, info->reg_id_aa64mmfr2,
					&id_aa64mmfr2_override))
			any = true;
		else if (lacking == nr_cpu_ids)
			lacking = cpu;
	}

	if (any && lacking != nr_cpu_ids)
		pr_info("BBM level 2 without TLB conflict aborts: off, CPU%u lacks it\n",
			lacking);

	return any && lacking == nr_cpu_ids;
}

/**
 * has_bbml2_noabort() - match function of ARM64_HAS_BBML2_NOABORT
 * @entry: the capability, not used
 * @scope: SCOPE_SYSTEM once, to decide for the system; SCOPE_LOCAL_CPU for each
 *         CPU that comes up later
 *
 * The capability is of the system type, which gives the rules for late CPUs
 * (I3), the one log line and the time of the decision. That type has no notion
 * of "all CPUs have it" beyond the sanitised registers, hence the walk here.
 *
 * Context: Boot CPU, all early CPUs up (SCOPE_SYSTEM); not preemptible
 *          (SCOPE_LOCAL_CPU).
 * Return: true if the scope has the property.
 */
bool has_bbml2_noabort(const struct arm64_cpu_capabilities *entry, int scope)
{
	if (scope == SCOPE_SYSTEM)
		return early_cpus_support_bbml2_noabort();

	return cpu_supports_bbml2_noabort();
}

/*
 * The overrides themselves are parsed long before this, with the MMU off and
 * no console. That code skips silently what it cannot read, so what follows
 * only looks for such values and says so.
 */
static int __init check_nobbml2(char *arg)
{
	if (arg)
		pr_warn("arm64.nobbml2=%s: takes no value, ignored\n", arg);

	return 0;
}
early_param("arm64.nobbml2", check_nobbml2);

static bool __init is_one_hex_digit(const char *s)
{
	if (s[0] == '0' && tolower(s[1]) == 'x')
		s += 2;

	return isxdigit(s[0]) && !s[1];
}

static int __init check_mmfr2_bbm(char *arg)
{
	if (!arg || !is_one_hex_digit(arg))
		pr_warn("id_aa64mmfr2.bbm=%s: not one hexadecimal digit, ignored\n",
			arg ?: "");

	return 0;
}
early_param("id_aa64mmfr2.bbm", check_mmfr2_bbm);
