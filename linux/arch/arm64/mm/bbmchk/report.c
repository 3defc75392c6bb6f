// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of the break-before-make checker, and where they go.
 *
 * Invariants:
 *  I1 (always). The first line of a report is
 *      "BUG: bbm_check: <rule> in <function>"; logs are searched for it.
 *  I2 (always). A rule is reported once for each stack that breaks it. All
 *      violations are counted.
 *
 * Locking: bbmchk_lock to decide, none to print: printk may do anything.
 * TLB and barriers: none.
 * Failure: bbm_check=panic is for those who want the first one to be the last.
 * See: Documentation/arch/arm64/bbm-check.rst
 */

#include <linux/bitfield.h>
#include <linux/init.h>
#include <linux/panic.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>

#include <kunit/visibility.h>

#include "bbmchk.h"

static enum bbmchk_mode mode __ro_after_init = BBMCHK_REPORT;

const char *const bbmchk_rule_names[NR_BBMCHK_RULES] = {
	[BBMCHK_RULE_NO_BREAK] = "changed-without-break",
	[BBMCHK_RULE_NO_FLUSH] = "made-before-flush",
	[BBMCHK_RULE_RUN] = "inconsistent-run",
	[BBMCHK_RULE_FREED_UNFLUSHED] = "table-freed-before-flush",
	[BBMCHK_RULE_FREED_LINKED] = "table-freed-while-linked",
};

static const char *const why_names[NR_BBMCHK_WHYS] = {
	[BBMCHK_SAME] = "nothing that needs a break",
	[BBMCHK_ADDR] = "output address",
	[BBMCHK_TYPE] = "memory type or cacheability",
	[BBMCHK_SHARE] = "shareability",
	[BBMCHK_GLOBAL] = "from non-global to global",
	[BBMCHK_SIZE] = "size of the mapping",
};

static const char *const level_names[BBMCHK_NR_LEVELS] = {
	"PTE", "PMD", "PUD", "P4D", "PGD",
};

static int __init parse_bbm_check(char *arg)
{
	if (arg && !strcmp(arg, "off"))
		mode = BBMCHK_OFF;
	else if (arg && !strcmp(arg, "report"))
		mode = BBMCHK_REPORT;
	else if (arg && !strcmp(arg, "panic"))
		mode = BBMCHK_PANIC;
	else
		pr_warn("bbm_check=%s: not off, report or panic, ignored\n",
			arg ?: "");

	return 0;
}
early_param("bbm_check", parse_bbm_check);

enum bbmchk_mode bbmchk_get_mode(void)
{
	return mode;
}

#if IS_ENABLED(CONFIG_KUNIT)
static const struct bbmchk_sink *test_sink;

void bbmchk_set_sink(const struct bbmchk_sink *sink)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&bbmchk_lock, flags);
	test_sink = sink;
	raw_spin_unlock_irqrestore(&bbmchk_lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(bbmchk_set_sink);

static const struct bbmchk_sink *find_sink(unsigned long va)
{
	lockdep_assert_held(&bbmchk_lock);

	if (test_sink && va >= test_sink->start && va < test_sink->end)
		return test_sink;

	return NULL;
}

static bool divert(const struct bbmchk_report *report)
{
	const struct bbmchk_sink *sink = find_sink(report->va);

	if (sink)
		sink->report(report, sink->data);

	return sink;
}

int bbmchk_sink_level(unsigned long va)
{
	const struct bbmchk_sink *sink = find_sink(va);

	return sink ? sink->bbm : -1;
}
#else
static bool divert(const struct bbmchk_report *report)
{
	return false;
}

int bbmchk_sink_level(unsigned long va)
{
	return -1;
}
#endif

bool bbmchk_report_wanted(const struct bbmchk_report *report)
{
	lockdep_assert_held(&bbmchk_lock);

	if (divert(report))
		return false;

	bbmchk_stats.violations[report->rule]++;

	return bbmchk_stack_first_report(report->write, report->rule);
}

static const char *type_name(u64 desc)
{
	switch (FIELD_GET(PTE_ATTRINDX_MASK, desc)) {
	case MT_NORMAL:
		return "Normal";
	case MT_NORMAL_TAGGED:
		return "Tagged";
	case MT_NORMAL_NC:
		return "Normal-NC";
	case MT_DEVICE_nGnRnE:
		return "Device-nGnRnE";
	case MT_DEVICE_nGnRE:
		return "Device-nGnRE";
	default:
		return "type?";
	}
}

static void print_desc(const char *what, u64 desc, unsigned int level)
{
	phys_addr_t pa = bbmchk_phys(desc);

	if (!desc) {
		pr_err(" %s: empty\n", what);
	} else if (bbmchk_is_table(desc, level)) {
		pr_err(" %s: %016llx table at %pa\n", what, desc, &pa);
	} else {
		pr_err(" %s: %016llx %s %pa %s %s%s%s%s%s\n", what, desc,
		       bbmchk_valid(desc) ? level ? "block" : "page" :
		       "present-invalid", &pa, type_name(desc),
		       desc & PTE_RDONLY ? "ro" : "rw",
		       desc & PTE_PXN ? "" : " x",
		       desc & PTE_CONT ? " contiguous" : "",
		       desc & PTE_NG ? " nG" : "",
		       desc & PTE_AF ? "" : " old");
	}
}

static void print_stack(const char *title, u32 handle)
{
	const unsigned long *entries;
	unsigned int nr_entries = bbmchk_stack_fetch(handle, &entries);

	pr_err("%s:\n", title);
	if (nr_entries)
		stack_trace_print(entries, nr_entries, 1);
	else
		pr_err(" (not kept)\n");
}

void bbmchk_report_print(const struct bbmchk_report *report)
{
	const unsigned long *entries;
	unsigned int nr_entries = bbmchk_stack_fetch(report->write, &entries);

	pr_err("==================================================================\n");
	pr_err("BUG: bbm_check: %s in %pS\n", bbmchk_rule_names[report->rule],
	       nr_entries ? (void *)entries[0] : NULL);
	pr_err("%s entry of %016lx, BBM level %u, differs in: %s\n",
	       level_names[report->level], report->va, report->bbm,
	       why_names[report->why]);
	print_desc("old", report->old, report->old_level);
	if (report->old_va != report->va || report->old_level != report->level)
		pr_err("      (%s entry of %016lx)\n",
		       level_names[report->old_level], report->old_va);
	print_desc("new", report->new, report->level);
	pr_err("CPU %u, task %s/%d\n", raw_smp_processor_id(), current->comm,
	       task_pid_nr(current));
	print_stack("by", report->write);
	if (report->rule == BBMCHK_RULE_NO_FLUSH ||
	    report->rule == BBMCHK_RULE_FREED_UNFLUSHED)
		print_stack("removed, and not flushed since, by", report->broke);
	pr_err("==================================================================\n");

	if (mode == BBMCHK_PANIC)
		panic("bbm_check=panic");
}
