#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Count the instructions of a boot, from reset to the first test: with the
# checker, with the checker built in and off, and of the same kernel without it.
#
# Usage: tests/bbm_cost/cost.sh     from the top directory; prints KTAP
# Environment: CONFIG=4k-bbm, the variant with the checker; MOST=3, how many
#              times as long a boot may take; CC=cc, the host's compiler, for the
#              plugin; QEMU=qemu-system-aarch64.
# shellcheck disable=SC2317 # functions are called through check()
. "$(dirname "$0")/../../rig/lib.sh"

with=${CONFIG:-4k-bbm}
without=${with%-bbm}
MOST=${MOST:-3}
[ "$with" != "$without" ] || usage_error "CONFIG=$with (a variant NAME-bbm)"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$TOP/rig/ktap.sh"

stop() {
	echo "Bail out! $*"
	exit 1
}

"$TOP/rig/build.sh" "$without" || stop "$without does not build"
build_plugin opcount "$tmp/opcount.so"

mkdir "$tmp/stage"
"${CROSS_COMPILE}gcc" -static -O2 -Wall -Wextra -Werror \
	-o "$tmp/stage/boot_end" "$TOP/tests/bbm_cost/boot_end.c" ||
	stop "cannot build boot_end.c"
echo "boot_end 60 ./boot_end" > "$tmp/stage/run"
"$TOP/rig/initramfs.sh"
"$TOP/rig/initramfs.sh" "$tmp/stage.cpio.gz" "$tmp/stage"

# count VARIANT NAME CMDLINE - one boot; every source of chance is pinned
count() {
	CPU=b1 SMP=1 MEM=1G NODES=1 CMDLINE="nokaslr rodata=full $3" \
		TIMEOUT=240 ACCEL=tcg INITRD=$tmp/stage.cpio.gz LOG=$tmp/$2.console \
		QEMU_ARGS="-icount shift=0,sleep=off -seed 1
			-machine dtb-randomness=off
			-rtc base=2026-01-01,clock=vm
			-plugin $tmp/opcount.so,boot=on,out=$tmp/$2.count" \
		"$TOP/rig/boot.sh" "$1" >&2 || stop "no boot of $1 with $3"
	insns=$(sed -n 's/^region=0 .* insns=\([0-9]*\) .*/\1/p' "$tmp/$2.count")
	[ -n "$insns" ] || stop "$1 with $3 did not get to its end"
	echo "# $2: $insns instructions"
}

count "$without" without ''
none=$insns
count "$with" off bbm_check=off
off=$insns
count "$with" on bbm_check=panic
on=$insns

checked() {
	grep -a 'bbm_check: checking kernel page tables' "$tmp/$1.console" ||
		{ echo 'nothing of it'; return 1; }
}

# at_most A TIMES B - print the ratio, and fail if it is above
at_most() {
	awk -v a="$1" -v times="$2" -v b="$3" 'BEGIN {
		printf "%d is %.3f times %d\n", a, a / b, b
		exit a > times * b
	}'
}

echo "# on: $(at_most "$on" "$MOST" "$none" || :)"
echo "# off: $(at_most "$off" "$MOST" "$none" || :)"
check checker_is_on 0 'panic on violation' checked on
check checker_is_off 1 'nothing of it' checked off
check boot_with_checker_is_short_enough 0 times at_most "$on" "$MOST" "$none"
# What a static key and a function call cost, and no more.
check boot_with_checker_off_is_like_without 0 times at_most "$off" 1.1 "$none"
# Else the plugin, or the checker, has seen nothing.
check checker_costs_something 1 times at_most "$on" 1 "$off"
ktap_end
