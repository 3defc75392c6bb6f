#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What has the checker seen, has it missed anything, and has it found anything?
# Usage: checker_stats.sh
# Exit codes: 0 it looked at everything and found nothing, 1 otherwise.

stats=/sys/kernel/debug/bbm_check/stats
[ -r "$stats" ] || mount -t debugfs none /sys/kernel/debug 2> /dev/null
[ -r "$stats" ] || { echo "no $stats"; exit 1; }
sed 's/^/# /' "$stats"

value() {
	sed -n "s/^$1 //p" "$stats"
}

bad=0
for name in stores breaks flushes tables stacks; do
	[ "$(value $name)" -gt 0 ] || { echo "$name is 0: it sees nothing"; bad=1; }
done
for name in breaks tables stacks runs nmi; do
	[ "$(value missed_$name)" = 0 ] || { echo "missed_$name is not 0"; bad=1; }
done
for name in changed-without-break made-before-flush inconsistent-run \
	    table-freed-before-flush table-freed-while-linked; do
	[ "$(value $name)" = 0 ] || { echo "$name is not 0"; bad=1; }
done
exit $bad
