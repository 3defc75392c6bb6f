#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's own test_vmalloc on two kernels, compared by instructions.
#
# Usage: bench/peer.sh BASE OURS
#   BASE, OURS  as in config/variants; they must be built
# One CPU under -icount shift=0, where a microsecond of the guest's clock is
# a thousand instructions. A test that costs more than LIMIT percent more than
# on BASE fails the run.
# Output: build/bench/peer.tsv
# Environment: LIMIT=2 percent; LOOPS=10, times a number of each test's own;
#              TIMEOUT=900 seconds for one boot; QEMU=qemu-system-aarch64.
# Exit codes: 0 ok, 1 a test is dearer or did not run, 2 usage, 3 missing tool.
. "$(dirname "$0")/../rig/lib.sh"

[ $# = 2 ] || usage_error "which two variants? (peer.sh BASE OURS)"
OUT=$BUILD/bench
LIMIT=${LIMIT:-2}
LOOPS=${LOOPS:-10}
QEMU=${QEMU:-qemu-system-aarch64}
suite=$TOP/tests/test_vmalloc

need "$QEMU" qemu-system-arm
mkdir -p "$OUT"
"$TOP/rig/initramfs.sh"

# run_peer NAME - one boot; leaves OUT/NAME.peer, lines "TEST USEC"
run_peer() {
	ext=$BUILD/$1/ext/peer
	mkdir -p "$ext"
	cmp -s "$suite/vmalloc_peer.c" "$ext/vmalloc_peer.c" ||
		cp "$suite/vmalloc_peer.c" "$ext/"
	echo "obj-m := vmalloc_peer.o" > "$ext/Kbuild"
	"$TOP/rig/build.sh" "$1" "M=$ext" modules > "$OUT/$1.peer.build" 2>&1 || {
		cat "$OUT/$1.peer.build" >&2
		die "tests/test_vmalloc/vmalloc_peer.c does not build for $1"
	}
	stage=$OUT/stage.$1.peer
	rm -rf "$stage"
	mkdir -p "$stage"
	cp "$ext/vmalloc_peer.ko" "$stage/"
	# shellcheck disable=SC2086 # include paths
	"${CROSS_COMPILE}gcc" -D_GNU_SOURCE -static -O2 -Wall -Wextra -Werror \
		-I"$TOP/rig/guest" -I"$PRISTINE/tools/testing/selftests" \
		-o "$stage/all_tests" "$suite/all_tests.c" "$TOP/rig/guest/libguest.c" ||
		die "cannot build tests/test_vmalloc/all_tests.c"
	echo "all_tests 800 ./all_tests $LOOPS 1" > "$stage/run"
	"$TOP/rig/initramfs.sh" "$OUT/$1.peer.cpio.gz" "$stage"
	CPU=b1 SMP=1 MEM=1G NODES=1 CMDLINE="nokaslr rodata=full" \
		TIMEOUT=${TIMEOUT:-900} INITRD=$OUT/$1.peer.cpio.gz \
		LOG=$OUT/$1.peer.console QEMU=$QEMU \
		QEMU_ARGS="-icount shift=0,sleep=off -seed 1
			-machine dtb-randomness=off
			-rtc base=2026-01-01,clock=vm" \
		"$TOP/rig/boot.sh" "$1"
	grep -q 'wideleaf-verdict: pass' "$OUT/$1.peer.console" ||
		die "test_vmalloc did not end well on $1;" \
			"see $OUT/$1.peer.console"
	tr -d '\r' < "$OUT/$1.peer.console" |
		sed -n 's/^.*peer=\([^ ]*\) usec=\([0-9]*\).*/\1 \2/p' > "$OUT/$1.peer"
	[ -s "$OUT/$1.peer" ] || die "test_vmalloc did not run on $1;" \
		"see $OUT/$1.peer.console"
}

run_peer "$1"
run_peer "$2"
ret=0
awk -v limit="$LIMIT" '
BEGIN { OFS = "\t"; print "test", "base", "ours", "percent", "verdict" }
NR == FNR { base[$1] = $2; next }
{
	more = base[$1] ? 100 * ($2 - base[$1]) / base[$1] : 999
	bad = more > limit
	failed += bad
	seen[$1]
	printf "%s\t%d\t%d\t%+.1f\t%s\n", $1, base[$1], $2, more, \
		bad ? "DEARER" : "ok"
}
END {
	for (test in base)
		if (!(test in seen)) {
			print test, base[test], "-", "-", "DID NOT RUN"
			failed++
		}
	exit failed || !length(base)
}' "$OUT/$1.peer" "$OUT/$2.peer" > "$OUT/peer.tsv" || ret=1
column -t "$OUT/peer.tsv" 2>/dev/null || cat "$OUT/peer.tsv"
exit $ret
