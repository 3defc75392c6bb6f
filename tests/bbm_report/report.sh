#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A KUnit case commits a violation three times at one place, in earnest: reported
# once, not at all, or a panic, as bbm_check= says.
#
# Usage: CONFIG=tiny-bbm tests/bbm_report/report.sh    from the top directory; KTAP
# shellcheck disable=SC2317 # functions are called through check()
set -eu

top=$(pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$top/rig/ktap.sh"
unset INITRD QEMU_ARGS IMAGE SMP MEM NODES DRY MAXMEM DISK MONITOR FIRMWARE DTS \
	CPUS TOPOLOGY 2>/dev/null || :

mkdir "$tmp/suite"
echo 'nothing 10 true' > "$tmp/suite/run"
"$top/rig/initramfs.sh" "$tmp/cpio.gz" "$tmp/suite" >&2

# boot BBM_CHECK CPU
boot() {
	env CPU="$2" LOG="$tmp/console" TIMEOUT=60 INITRD="$tmp/cpio.gz" \
		CMDLINE="kunit.enable=1 kunit.filter_glob=bbm_report bbm_check_violate bbm_check=$1" \
		"$top/rig/boot.sh" "$CONFIG" > /dev/null 2>&1 || :
	cat "$tmp/console"
}
console() {
	tr -d '\r' < "$tmp/console"
}
occurrences() {
	console | grep -cE "$1" || :
}

for cpu in b1 a76; do
	check "report_is_printed.$cpu" 0 \
		'BUG: bbm_check: made-before-flush in ' boot report "$cpu"
	check "once_for_a_place.$cpu" 0 '^1$' occurrences 'BUG: bbm_check:'
	check "counted_each_time.$cpu" 0 '^1$' occurrences ' ok 1 violation_without_sink'
	check "entry_named.$cpu" 0 \
		'PTE entry of ffff[0-9a-f]{12}, BBM level [012], differs in: .*output address' console
	check "old_and_new_decoded.$cpu" 0 '^2$' \
		occurrences ' (old|new): [0-9a-f]{16} page 0x[0-9a-f]+ Normal rw'
	check "stack_of_write.$cpu" 0 'violation_without_sink_is_reported' console
	check "stack_of_break_too.$cpu" 0 '^1$' occurrences 'removed, and not flushed since, by:'
	check "system_goes_on.$cpu" 0 'wideleaf-verdict: pass' console
	check "panic_if_asked.$cpu" 0 \
		'Kernel panic - not syncing: bbm_check=panic' boot panic "$cpu"
	check "report_before_panic.$cpu" 0 '^1$' occurrences 'BUG: bbm_check: made-before-flush'
	check "off_says_nothing.$cpu" 0 'wideleaf-verdict: pass' boot off "$cpu"
	check "off_no_report.$cpu" 0 '^0$' occurrences 'BUG: bbm_check:'
done
ktap_end
