// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of the break-before-make checker, in debugfs: bbm_check/stats.
 *
 * Invariants:
 *  I1 (always). What the checker could not look at is counted here, so that a
 *      silent log can be told from a blind checker.
 *
 * Locking: bbmchk_lock for a consistent copy.
 * TLB and barriers: none.
 * Failure: without debugfs there is no file.
 * See: Documentation/arch/arm64/bbm-check.rst
 */

#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/seq_file.h>

#include "bbmchk.h"

struct bbmchk_stats bbmchk_stats;

static int stats_show(struct seq_file *m, void *v)
{
	static const char *const modes[] = { "off", "report", "panic" };
	struct bbmchk_stats stats;
	unsigned long flags;
	unsigned int rule, bbm;

	raw_spin_lock_irqsave(&bbmchk_lock, flags);
	stats = bbmchk_stats;
	bbm = bbmchk_bbm_level(0);
	raw_spin_unlock_irqrestore(&bbmchk_lock, flags);

	seq_printf(m, "mode %s\n", static_key_enabled(&bbmchk_key) ?
		   modes[bbmchk_get_mode()] : "off");
	seq_printf(m, "bbm_level %u\n", bbm);
	seq_printf(m, "stores %llu\n", stats.stores);
	seq_printf(m, "breaks %llu\n", stats.breaks);
	seq_printf(m, "makes_compared %llu\n", stats.makes);
	seq_printf(m, "live_size_changes %llu\n", stats.resizes);
	seq_printf(m, "flushes %llu\n", stats.flushes);
	seq_printf(m, "tables %llu\n", stats.tables);
	seq_printf(m, "stale_now %llu\n", stats.stale);
	seq_printf(m, "stale_max %llu\n", stats.stale_max);
	seq_printf(m, "stacks %llu\n", stats.stacks);
	seq_printf(m, "missed_breaks %llu\n", stats.missed_breaks);
	seq_printf(m, "missed_tables %llu\n", stats.missed_tables);
	seq_printf(m, "missed_stacks %llu\n", stats.missed_stacks);
	seq_printf(m, "missed_runs %llu\n", stats.missed_runs);
	seq_printf(m, "missed_shared %llu\n", stats.missed_shared);
	seq_printf(m, "missed_nmi %llu\n", stats.missed_nmi);
	for (rule = 0; rule < NR_BBMCHK_RULES; rule++)
		seq_printf(m, "%s %llu\n", bbmchk_rule_names[rule],
			   stats.violations[rule]);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int __init bbmchk_debugfs(void)
{
	struct dentry *dir = debugfs_create_dir("bbm_check", NULL);

	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);

	return 0;
}
late_initcall(bbmchk_debugfs);
