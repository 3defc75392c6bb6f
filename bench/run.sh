#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Run the benchmark on one kernel variant, twice, and keep what it printed.
#
# Usage: bench/run.sh NAME [AS [CMDLINE [ONLY]]]
#   NAME     as in config/variants; it must be built
#   AS       name for the results, default NAME
#   CMDLINE  added to the kernel's command line
#   ONLY     only the operations whose name begins like this
# Output: build/bench/AS.ops      lines "op=... insns=..." of the guest
#         build/bench/AS.regions  barriers per region, from rig/plugins
#         build/bench/AS.machine  what ran it
#         build/bench/AS.kernel   what it ran on
# Environment: QEMU=qemu-system-aarch64; CC=cc, the host's compiler, for the
#              plugin; TIMEOUT=300 seconds for one boot.
# Exit codes: 0 ok, 1 failed or the two runs differ, 2 usage, 3 missing tool.
. "$(dirname "$0")/../rig/lib.sh"

case $# in
[1-4]) ;;
*) usage_error "which variant? (run.sh NAME)" ;;
esac
name=$1
as=${2:-$1}
more=${3:-}
only=${4:-}
OUT=$BUILD/bench
QEMU=${QEMU:-qemu-system-aarch64}
# The CPU on which the feature is on; one only, or counts mean nothing.
cpu=b1
cmdline="nokaslr rodata=full${more:+ $more}"

need "$QEMU" qemu-system-arm
mkdir -p "$OUT"

plugin=$OUT/opcount.so
build_plugin opcount "$plugin"

# An external module is built where its source is, so the source is copied.
ext=$BUILD/$name/ext/bench
mkdir -p "$ext"
for f in "$TOP/bench/kpgtable_bench.c" "$TOP/tests/leaf_split/ksym.h"; do
	cmp -s "$f" "$ext/${f##*/}" || cp "$f" "$ext/"
done
echo "obj-m := kpgtable_bench.o" > "$ext/Kbuild"
"$TOP/rig/build.sh" "$name" "M=$ext" modules > "$OUT/$name.build" 2>&1 || {
	cat "$OUT/$name.build" >&2
	die "bench/kpgtable_bench.c does not build for $name"
}

stage=$OUT/stage.$as
rm -rf "$stage"
mkdir -p "$stage"
cp "$ext/kpgtable_bench.ko" "$stage/"
"${CROSS_COMPILE}gcc" -D_GNU_SOURCE -static -O2 -Wall -Wextra -Werror \
	-I"$TOP/rig/guest" -o "$stage/bench_guest" "$TOP/bench/bench_guest.c" \
	"$TOP/rig/guest/libguest.c" ||
	die "cannot build bench/bench_guest.c"
echo "bench_guest 240 ./bench_guest${only:+ only=$only}" > "$stage/run"
"$TOP/rig/initramfs.sh"
"$TOP/rig/initramfs.sh" "$OUT/$as.cpio.gz" "$stage"

# run_once SUFFIX - one boot; every source of chance is pinned
run_once() {
	CPU=$cpu SMP=1 MEM=1G NODES=1 CMDLINE=$cmdline TIMEOUT=${TIMEOUT:-300} \
		INITRD=$OUT/$as.cpio.gz LOG=$OUT/$as.console$1 QEMU=$QEMU \
		QEMU_ARGS="-icount shift=0,sleep=off -seed 1
			-machine dtb-randomness=off
			-rtc base=2026-01-01,clock=vm
			-plugin $plugin,out=$OUT/$as.regions$1" \
		"$TOP/rig/boot.sh" "$name"
	tr -d '\r' < "$OUT/$as.console$1" |
		sed -n 's/^.*kpgtable_bench: //p' > "$OUT/$as.ops$1"
	if ! grep -q '^end ' "$OUT/$as.ops$1"; then
		tail -n 5 "$OUT/$as.console$1" >&2
		die "the benchmark did not finish on $as;" \
		    "see $OUT/$as.console$1"
	fi
}

say "$as"
run_once .1
run_once .2
for kind in ops regions; do
	cmp -s "$OUT/$as.$kind.1" "$OUT/$as.$kind.2" ||
		die "two runs of $as differ ($OUT/$as.$kind.1 and .2):" \
		    "these counts mean nothing"
	mv "$OUT/$as.$kind.1" "$OUT/$as.$kind"
	rm -f "$OUT/$as.$kind.2"
done

{
	"$QEMU" --version | sed -n '1s/^/qemu: /p'
	echo "cpu: $cpu, smp 1, 1G"
	"${CROSS_COMPILE}gcc" --version | sed -n '1s/^/compiler: /p'
} > "$OUT/$as.machine"
{
	sed -n 's/^\(\[[^]]*\] \)*Linux version \([^ ]*\).*/kernel: \2/p' \
		"$OUT/$as.console.1" | head -n 1 | tr -d '\r'
	grep '^CONFIG_' "$BUILD/$name/.config" | sha256sum |
		sed 's/^\(.\{12\}\).*/config: \1/'
	echo "command line: $cmdline"
} > "$OUT/$as.kernel"
