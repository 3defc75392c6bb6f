#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Run the benchmark on one kernel variant, twice, and keep what it printed.
#
# Usage: bench/run.sh NAME      NAME as in config/variants; it must be built
# Output: build/bench/NAME.ops      lines "op=... insns=..." of the guest
#         build/bench/NAME.regions  barriers per region, from rig/plugins
#         build/bench/NAME.machine  what ran it
# Environment: QEMU=qemu-system-aarch64; CC=cc, the host's compiler, for the
#              plugin; TIMEOUT=300 seconds for one boot.
#              BENCH_OUT= another directory than build/bench; BENCH_CMDLINE=
#              added to the kernel's command line.
# Exit codes: 0 ok, 1 failed or the two runs differ, 2 usage, 3 missing tool.
. "$(dirname "$0")/../rig/lib.sh"

[ $# = 1 ] || usage_error "which variant? (run.sh NAME)"
name=$1
OUT=${BENCH_OUT:-$BUILD/bench}
QEMU=${QEMU:-qemu-system-aarch64}
CC=${CC:-cc}
# The CPU on which the feature is on; one only, or counts mean nothing.
cpu=b1
cmdline="nokaslr rodata=full${BENCH_CMDLINE:+ $BENCH_CMDLINE}"

need "$CC" gcc
need "$QEMU" qemu-system-arm
mkdir -p "$OUT"

plugin=$OUT/opcount.so
"$CC" -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden \
	-o "$plugin" "$TOP/rig/plugins/opcount.c" -ldl ||
	die "cannot build rig/plugins/opcount.c"

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

stage=$OUT/stage.$name
rm -rf "$stage"
mkdir -p "$stage"
cp "$ext/kpgtable_bench.ko" "$stage/"
"${CROSS_COMPILE}gcc" -D_GNU_SOURCE -static -O2 -Wall -Wextra -Werror \
	-I"$TOP/rig/guest" -o "$stage/bench_guest" "$TOP/bench/bench_guest.c" \
	"$TOP/rig/guest/libguest.c" ||
	die "cannot build bench/bench_guest.c"
echo "bench_guest 240 ./bench_guest" > "$stage/run"
"$TOP/rig/initramfs.sh"
"$TOP/rig/initramfs.sh" "$OUT/$name.cpio.gz" "$stage"

# run_once SUFFIX - one boot; every source of chance is pinned
run_once() {
	CPU=$cpu SMP=1 MEM=1G NODES=1 CMDLINE=$cmdline TIMEOUT=${TIMEOUT:-300} \
		INITRD=$OUT/$name.cpio.gz LOG=$OUT/$name.console$1 QEMU=$QEMU \
		QEMU_ARGS="-icount shift=0,sleep=off -seed 1
			-machine dtb-randomness=off
			-rtc base=2026-01-01,clock=vm
			-plugin $plugin,out=$OUT/$name.regions$1" \
		"$TOP/rig/boot.sh" "$name"
	tr -d '\r' < "$OUT/$name.console$1" |
		sed -n 's/^.*kpgtable_bench: //p' > "$OUT/$name.ops$1"
	if ! grep -q '^end ' "$OUT/$name.ops$1"; then
		tail -n 5 "$OUT/$name.console$1" >&2
		die "the benchmark did not finish on $name;" \
		    "see $OUT/$name.console$1"
	fi
}

say "$name"
run_once .1
run_once .2
for kind in ops regions; do
	cmp -s "$OUT/$name.$kind.1" "$OUT/$name.$kind.2" ||
		die "two runs of $name differ ($OUT/$name.$kind.1 and .2):" \
		    "these counts mean nothing"
	mv "$OUT/$name.$kind.1" "$OUT/$name.$kind"
	rm -f "$OUT/$name.$kind.2"
done

{
	"$QEMU" --version | sed -n '1s/^/qemu: /p'
	echo "cpu: $cpu, smp 1, 1G, $cmdline"
	"${CROSS_COMPILE}gcc" --version | sed -n '1s/^/compiler: /p'
} > "$OUT/$name.machine"
{
	sed -n 's/^\(\[[^]]*\] \)*Linux version \([^ ]*\).*/kernel: \2/p' \
		"$OUT/$name.console.1" | head -n 1 | tr -d '\r'
	grep '^CONFIG_' "$BUILD/$name/.config" | sha256sum |
		sed 's/^\(.\{12\}\).*/config: \1/'
} > "$OUT/$name.kernel"
