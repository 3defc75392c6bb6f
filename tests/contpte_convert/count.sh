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
"${CC:-cc}" -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden \
	-o "$plugin" "$top/rig/plugins/opcount.c" -ldl
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

# Of three rounds the last, when everything has run before. Its regions are the
# last two: unfold, fold.
# field NAME REGION FIELD
field() {
	tail -n 2 "$tmp/$1.regions" | sed -n "$2{s/.* $3=\\([0-9]*\\).*/\\1/;p}"
}
for region in 1:unfold 2:fold; do
	n=${region%%:*}
	what=${region#*:}
	echo "# $what, with: $(tail -n 2 "$tmp/with.regions" | sed -n "${n}p")"
	echo "# $what, without: $(tail -n 2 "$tmp/without.regions" | sed -n "${n}p")"
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
