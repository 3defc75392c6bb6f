#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Count TLBI and DSB of an unfold and a fold of user PTEs, with BBML2 and without
# it, on one kernel. What must be gone is the flush in contpte_convert(): one
# DSB before the TLBIs and one behind them, and at least one TLBI. Everything
# else, such as mprotect's own flush, must be there as before: both kinds of boot
# must agree in it, and some TLBI must be left.
#
# Usage: CONFIG=4k tests/contpte_convert/count.sh	from the top directory; KTAP
set -eu

top=$(pwd)
. "$top/rig/lib.sh"
. "$top/rig/ktap.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

plugin=$tmp/opcount.so
build_plugin opcount "$plugin"
mkdir "$tmp/stage"
# shellcheck disable=SC2086 # a list of files
"${CROSS_COMPILE}gcc" -D_GNU_SOURCE -static -O2 -Wall -Wextra -Werror \
	-I"$top/rig/guest" -I"$WORK/tools/testing/selftests" \
	-o "$tmp/stage/fold" "$top/tests/contpte_convert/fold.c" \
	"$top"/rig/guest/lib*.c -lpthread
echo "fold 60 ./fold" > "$tmp/stage/run"
"$top/rig/initramfs.sh" "$tmp/stage.cpio.gz" "$tmp/stage"

# count NAME CMDLINE - boot, and keep the counts of its regions in $tmp/NAME
count() {
	CPU=b1 SMP=1 MEM=1G TIMEOUT=60 LOG=$tmp/$1.console CMDLINE=$2 \
		INITRD=$tmp/stage.cpio.gz \
		QEMU_ARGS="-plugin $plugin,out=$tmp/$1.regions" \
		"$top/rig/boot.sh" "$CONFIG" &&
		grep -q 'wideleaf-verdict: pass' "$tmp/$1.console"
	rc=$?
	ktap_result $rc "boot_$1"
	[ $rc = 0 ] || sed 's/^/# /' "$tmp/$1.console"
}
count with ""
count without "arm64.nobbml2"

# Regions are unfold and fold in turn. An interrupt may fall into any of them, so
# of all rounds the least counts.
# field NAME REGION FIELD
field() {
	sed -n "s/^region=[0-9]* .* $3=\([0-9]*\).*/\1/p" "$tmp/$1.regions" |
		awk -v n="$2" 'NR % 2 == n % 2 && (min == "" || $1 < min) { min = $1 }
			       END { print min }'
}
for region in 1:unfold 2:fold; do
	n=${region%%:*}
	what=${region#*:}
	for name in with without; do
		echo "# $what, $name: insns=$(field $name "$n" insns)" \
			"dsb=$(field $name "$n" dsb) tlbi=$(field $name "$n" tlbi)"
	done
	dsb=$(($(field without "$n" dsb) - $(field with "$n" dsb)))
	tlbi=$(($(field without "$n" tlbi) - $(field with "$n" tlbi)))
	[ "$dsb" = 2 ] && rc=0 || rc=1
	ktap_result $rc "${what}_saves_two_dsb"
	[ "$tlbi" -ge 1 ] && rc=0 || rc=1
	ktap_result $rc "${what}_saves_tlbi"
	[ "$(field with "$n" tlbi)" -ge 1 ] && rc=0 || rc=1
	ktap_result $rc "${what}_keeps_flush_of_mprotect"
done
ktap_end
