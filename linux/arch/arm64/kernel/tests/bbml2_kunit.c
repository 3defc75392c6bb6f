// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table test of the detection of BBM level 2 without TLB conflict aborts.
 *
 * Run: ./tools/testing/kunit/kunit.py run --arch=arm64 \
 *	--cross_compile=aarch64-linux-gnu- \
 *	--kunitconfig=arch/arm64/kernel/tests 'bbml2'
 *
 * The tables below hold raw register values. They share no constant with the
 * code under test, so that a slip in cputype.h cannot hide.
 */

#include <kunit/test.h>
#include <kunit/test-bug.h>
#include <linux/cpu.h>
#include <linux/smp.h>

#include <asm/bbml2.h>
#include <asm/cpufeature.h>
#include <asm/cputype.h>

/* MIDR_EL1: implementer 31:24, variant 23:20, architecture 19:16, part, rev */
#define MIDR(imp, var, part, rev)					\
	((imp) << 24 | (var) << 20 | 0xf << 16 | (part) << 4 | (rev))

/* ID_AA64MMFR2_EL1.BBM is bits 55:52; the other bits are set to catch a mask. */
#define MMFR2(bbm)	(0xff0fffffffffffffULL | (u64)(bbm) << 52)

static const struct arm64_ftr_override no_override;

struct bbml2_part {
	const char *name;
	u8 imp;
	u16 part;
	u8 first;	/* variant << 4 | revision, inclusive */
	u8 last;
};

static const struct bbml2_part listed[] = {
	{ "cortex_x4",		0x41, 0xd82, 0x03, 0x0f },
	{ "neoverse_v3",	0x41, 0xd84, 0x02, 0x0f },
	{ "neoverse_v3ae",	0x41, 0xd83, 0x02, 0x0f },
	{ "cortex_a520ae",	0x41, 0xd88, 0x00, 0xff },
	{ "cortex_a715",	0x41, 0xd4d, 0x00, 0xff },
	{ "cortex_a720ae",	0x41, 0xd89, 0x00, 0xff },
	{ "cortex_a725",	0x41, 0xd87, 0x00, 0xff },
	{ "neoverse_n3",	0x41, 0xd8e, 0x00, 0xff },
	{ "c1_nano",		0x41, 0xd8a, 0x00, 0xff },
	{ "c1_pro",		0x41, 0xd8b, 0x00, 0xff },
	{ "c1_ultra",		0x41, 0xd8c, 0x11, 0xff },
	{ "c1_premium",		0x41, 0xd90, 0x11, 0xff },
	{ "olympus",		0x4e, 0x010, 0x00, 0xff },
	{ "ampereone",		0xc0, 0xac3, 0x00, 0xff },
	{ "ampereone_a",	0xc0, 0xac4, 0x00, 0xff },
};

static u32 bbml2_part_midr(const struct bbml2_part *p, u8 var_rev)
{
	return MIDR((u32)p->imp, (u32)var_rev >> 4, (u32)p->part,
		    var_rev & 0xf);
}

static void bbml2_part_desc(const struct bbml2_part *p, char *desc)
{
	strscpy(desc, p->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bbml2_part, listed, bbml2_part_desc);

static void match_listed_part_accepted(struct kunit *test)
{
	const struct bbml2_part *p = test->param_value;
	unsigned int bbm;

	/* BBM 0 included: a listed part counts whatever it reports. */
	for (bbm = 0; bbm <= 3; bbm++) {
		KUNIT_EXPECT_TRUE_MSG(test,
				      bbml2_noabort_match(bbml2_part_midr(p, p->first),
							  MMFR2(bbm), &no_override),
				      "first revision, BBM %u", bbm);
		KUNIT_EXPECT_TRUE_MSG(test,
				      bbml2_noabort_match(bbml2_part_midr(p, p->last),
							  MMFR2(bbm), &no_override),
				      "last revision, BBM %u", bbm);
	}
}

static void match_revision_limit_rejects_outside(struct kunit *test)
{
	unsigned int nr_limits = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(listed); i++) {
		const struct bbml2_part *p = &listed[i];

		if (p->first != 0x00) {
			u32 midr = bbml2_part_midr(p, p->first - 1);

			nr_limits++;
			KUNIT_EXPECT_FALSE_MSG(test,
					       bbml2_noabort_match(midr, MMFR2(2), &no_override),
					       "%s below its first revision", p->name);
		}
		if (p->last != 0xff) {
			u32 midr = bbml2_part_midr(p, p->last + 1);

			nr_limits++;
			KUNIT_EXPECT_FALSE_MSG(test,
					       bbml2_noabort_match(midr, MMFR2(2), &no_override),
					       "%s above its last revision", p->name);
		}
	}

	/* X4, V3 and V3AE have both limits, the two C1 only the lower one */
	KUNIT_EXPECT_EQ(test, nr_limits, 8);
}

static void match_revision_limit_named_accepted(struct kunit *test)
{
	/* The limits as the vendor writes them, both sides of each. */
	static const struct {
		u32 midr;
		bool want;
	} rev[] = {
		{ 0x410fd822, false },	/* Cortex-X4 r0p2 */
		{ 0x410fd823, true },	/* Cortex-X4 r0p3 */
		{ 0x411fd820, false },	/* Cortex-X4 r1p0 */
		{ 0x411fd823, false },	/* Cortex-X4 r1p3 */
		{ 0x410fd841, false },	/* Neoverse-V3 r0p1 */
		{ 0x410fd842, true },	/* Neoverse-V3 r0p2 */
		{ 0x411fd842, false },	/* Neoverse-V3 r1p2 */
		{ 0x410fd831, false },	/* Neoverse-V3AE r0p1 */
		{ 0x410fd832, true },	/* Neoverse-V3AE r0p2 */
		{ 0x410fd8cf, false },	/* C1-Ultra r0p15 */
		{ 0x411fd8c0, false },	/* C1-Ultra r1p0 */
		{ 0x411fd8c1, true },	/* C1-Ultra r1p1 */
		{ 0x412fd8c0, true },	/* C1-Ultra r2p0 */
		{ 0x411fd900, false },	/* C1-Premium r1p0 */
		{ 0x411fd901, true },	/* C1-Premium r1p1 */
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rev); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    bbml2_noabort_match(rev[i].midr, MMFR2(2), &no_override),
				    rev[i].want, "MIDR %08x", rev[i].midr);
}

static const struct bbml2_part not_listed[] = {
	{ "neoverse_v2",	0x41, 0xd4f, 0x01, 0xff },
	{ "neoverse_v1",	0x41, 0xd40, 0x01, 0xff },
	{ "neoverse_n2",	0x41, 0xd49, 0x00, 0xff },
	{ "neoverse_n1",	0x41, 0xd0c, 0x41, 0xff },
	{ "cortex_a76",		0x41, 0xd0b, 0x41, 0xff },
	{ "cortex_a710",	0x41, 0xd47, 0x20, 0xff },
	{ "cortex_a520",	0x41, 0xd80, 0x00, 0xff },
	{ "cortex_a720",	0x41, 0xd81, 0x00, 0xff },
	{ "cortex_x3",		0x41, 0xd4e, 0x11, 0xff },
	{ "cortex_x925",	0x41, 0xd85, 0x00, 0xff },
	{ "carmel",		0x4e, 0x004, 0x00, 0xff },
	{ "a64fx",		0x46, 0x001, 0x10, 0xff },
	{ "qemu_max",		0x00, 0x051, 0x00, 0xff },
	{ "olympus_as_arm",	0x41, 0x010, 0x00, 0xff },
	{ "ampereone_as_arm",	0x41, 0xac3, 0x00, 0xff },
	{ "a725_as_ampere",	0xc0, 0xd87, 0x00, 0xff },
	{ "n3_as_nvidia",	0x4e, 0xd8e, 0x00, 0xff },
	{ "before_ampereone",	0xc0, 0xac2, 0x00, 0xff },
	{ "after_ampereone_a",	0xc0, 0xac5, 0x00, 0xff },
	{ "before_olympus",	0x4e, 0x00f, 0x00, 0xff },
	{ "after_olympus",	0x4e, 0x011, 0x00, 0xff },
	{ "between_c1_and_n3",	0x41, 0xd8d, 0x00, 0xff },
	{ "after_c1_premium",	0x41, 0xd91, 0x00, 0xff },
};

KUNIT_ARRAY_PARAM(bbml2_not_listed, not_listed, bbml2_part_desc);

static void match_unlisted_part_needs_level_3(struct kunit *test)
{
	const struct bbml2_part *p = test->param_value;
	u32 midr[2] = {
		bbml2_part_midr(p, p->first), bbml2_part_midr(p, p->last),
	};
	int i, bbm;

	for (i = 0; i < 2; i++)
		for (bbm = 0; bbm <= 15; bbm++)
			KUNIT_EXPECT_EQ_MSG(test,
					    bbml2_noabort_match(midr[i], MMFR2(bbm), &no_override),
					    bbm >= 3, "MIDR %08x BBM %d", midr[i], bbm);
}

static void match_other_architecture_code_rejected(struct kunit *test)
{
	u32 midr = 0xc00fac30;
	u32 arch;

	KUNIT_ASSERT_TRUE(test, bbml2_noabort_match(midr, MMFR2(2), &no_override));

	for (arch = 0; arch < 0xf; arch++)
		KUNIT_EXPECT_FALSE(test,
				   bbml2_noabort_match((midr & ~0xf0000) | arch << 16,
						       MMFR2(2), &no_override));
}

static bool wanted(u32 imp, u32 part, u32 var_rev)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(listed); i++)
		if (listed[i].imp == imp && listed[i].part == part)
			return var_rev >= listed[i].first &&
			       var_rev <= listed[i].last;
	return false;
}

/*
 * Every part number and every revision of the three implementers that are on
 * the list and of one that is not.
 */
static void match_whole_id_space_agrees(struct kunit *test)
{
	static const u32 imps[] = { 0x41, 0x4e, 0xc0, 0x51 };
	unsigned long nr_accepted = 0;
	u32 part, var_rev;
	int i;

	for (i = 0; i < ARRAY_SIZE(imps); i++)
		for (part = 0; part <= 0xfff; part++) {
			for (var_rev = 0; var_rev <= 0xff; var_rev++) {
				u32 midr = MIDR(imps[i], var_rev >> 4, part,
						var_rev & 0xf);
				bool got = bbml2_noabort_match(midr, MMFR2(2), &no_override);

				nr_accepted += got;
				if (got == wanted(imps[i], part, var_rev))
					continue;

				KUNIT_FAIL(test, "MIDR %08x: %s\n", midr,
					   got ? "accepted" : "rejected");
				return;
			}
			cond_resched();
		}

	/* 10 parts in all revisions, 13 + 14 + 14 within r0, 2 from r1p1 up */
	KUNIT_EXPECT_EQ(test, nr_accepted, 10 * 256 + 13 + 14 + 14 + 2 * 239);
}

struct bbml2_override {
	const char *name;
	u32 midr;
	u8 bbm;		/* of the CPU */
	u8 value;	/* on the command line */
	bool want;
};

#define LISTED		0xc00fac30
#define UNLISTED	0x000f0510

static const struct bbml2_override overrides[] = {
	{ "listed_bbm2_to_0",	LISTED, 2, 0, false },
	{ "listed_bbm2_to_1",	LISTED, 2, 1, false },
	{ "listed_bbm2_to_2",	LISTED, 2, 2, true },
	{ "listed_bbm2_to_3",	LISTED, 2, 3, true },	/* ignored */
	{ "listed_bbm2_to_15",	LISTED, 2, 15, true },	/* ignored */
	{ "listed_bbm3_to_0",	LISTED, 3, 0, false },
	{ "listed_bbm3_to_1",	LISTED, 3, 1, false },
	{ "listed_bbm3_to_2",	LISTED, 3, 2, true },
	{ "listed_bbm3_to_3",	LISTED, 3, 3, true },
	{ "listed_bbm0_to_0",	LISTED, 0, 0, false },
	{ "listed_bbm0_to_1",	LISTED, 0, 1, true },	/* ignored */
	{ "listed_bbm0_to_2",	LISTED, 0, 2, true },	/* ignored */
	{ "unlisted_bbm3_to_0",	UNLISTED, 3, 0, false },
	{ "unlisted_bbm3_to_1",	UNLISTED, 3, 1, false },
	{ "unlisted_bbm3_to_2",	UNLISTED, 3, 2, false },
	{ "unlisted_bbm3_to_3",	UNLISTED, 3, 3, true },
	{ "unlisted_bbm3_to_4",	UNLISTED, 3, 4, true },	/* ignored */
	{ "unlisted_bbm2_to_3",	UNLISTED, 2, 3, false },	/* ignored */
	{ "unlisted_bbm2_to_2",	UNLISTED, 2, 2, false },
	{ "unlisted_bbm2_to_0",	UNLISTED, 2, 0, false },
};

static void bbml2_override_desc(const struct bbml2_override *o, char *desc)
{
	strscpy(desc, o->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bbml2_override, overrides, bbml2_override_desc);

static void match_override_limits_level(struct kunit *test)
{
	const struct bbml2_override *o = test->param_value;
	struct arm64_ftr_override ovr = {
		.val = (u64)o->value << 52,
		.mask = 0xfULL << 52,
	};

	KUNIT_EXPECT_EQ(test, bbml2_noabort_match(o->midr, MMFR2(o->bbm), &ovr),
			o->want);
}

static void match_override_of_other_field_ignored(struct kunit *test)
{
	/* What "arm64.nolva" leaves behind: VARange, bits 19:16, set to 0. */
	struct arm64_ftr_override ovr = { .val = 0, .mask = 0xfULL << 16 };

	KUNIT_EXPECT_TRUE(test, bbml2_noabort_match(LISTED, MMFR2(2), &ovr));
	KUNIT_EXPECT_TRUE(test, bbml2_noabort_match(UNLISTED, MMFR2(3), &ovr));
	KUNIT_EXPECT_FALSE(test, bbml2_noabort_match(UNLISTED, MMFR2(2), &ovr));
}

static void ask_this_cpu(void *answer)
{
	*(bool *)answer = cpu_supports_bbml2_noabort();
}

static void system_answer_covers_every_cpu(struct kunit *test)
{
	bool system = system_supports_bbml2_noabort();
	unsigned int cpu, nr_with = 0, nr_asked = 0;

	KUNIT_ASSERT_TRUE(test, system_capabilities_finalized());

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		bool answer = false;

		if (smp_call_function_single(cpu, ask_this_cpu, &answer, 1))
			continue;
		nr_asked++;
		nr_with += answer;
		if (system)
			KUNIT_EXPECT_TRUE_MSG(test, answer, "CPU %u", cpu);
	}
	cpus_read_unlock();

	KUNIT_EXPECT_GT(test, nr_asked, 0);
	kunit_info(test, "system %d, %u of %u CPUs\n", system, nr_with,
		   nr_asked);
}

static struct kunit_case bbml2_cases[] = {
	KUNIT_CASE_PARAM(match_listed_part_accepted, bbml2_part_gen_params),
	KUNIT_CASE(match_revision_limit_rejects_outside),
	KUNIT_CASE(match_revision_limit_named_accepted),
	KUNIT_CASE_PARAM(match_unlisted_part_needs_level_3,
			 bbml2_not_listed_gen_params),
	KUNIT_CASE(match_other_architecture_code_rejected),
	KUNIT_CASE_SLOW(match_whole_id_space_agrees),
	KUNIT_CASE_PARAM(match_override_limits_level,
			 bbml2_override_gen_params),
	KUNIT_CASE(match_override_of_other_field_ignored),
	KUNIT_CASE(system_answer_covers_every_cpu),
	{}
};

static struct kunit_suite bbml2_suite = {
	.name = "bbml2",
	.test_cases = bbml2_cases,
};

kunit_test_suite(bbml2_suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit tests for the BBM level 2 detection");
MODULE_LICENSE("GPL");
