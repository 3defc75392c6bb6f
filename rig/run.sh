#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Build one kernel, boot it with the feature and without it, compare.
#
# Usage: rig/run.sh
# Environment: CONFIG=4k; MEM=4G of the guest (256G also shows what the feature
#              was made for; that takes some minutes and 6 GiB of this host);
#              IMAGE= takes that kernel, and leaves the costs out.
# Output: the report, also in build/run/report.txt.
# Exit codes: 0 ok, 1 failed, 3 missing tool.
. "$(dirname "$0")/lib.sh"

CONFIG=${CONFIG:-4k}
MEM=${MEM:-4G}
OUT=$BUILD/run
mkdir -p "$OUT"

step() {
	printf '[%3d s] %s\n' "$(($(date +%s) - begin))" "$*" >&2
}
begin=$(date +%s)

if [ -z "${IMAGE:-}" ]; then
	step "source: Linux $KVER with $(series_patches | grep -c . || :) patches"
	"$TOP/rig/tree.sh"
	step "kernel: $CONFIG"
	"$TOP/rig/build.sh" "$CONFIG"
fi
step "guest: init, busybox and the reporter"
"$TOP/rig/initramfs.sh"

stage=$OUT/stage
rm -rf "$stage"
mkdir -p "$stage"
"${CROSS_COMPILE}gcc" -D_GNU_SOURCE -static -O2 -Wall -Wextra -Werror \
	-I"$TOP/rig/guest" -o "$stage/report" "$TOP/rig/guest/report.c" \
	"$TOP"/rig/guest/lib*.c || die "cannot build rig/guest/report.c"
echo "report 200 ./report" > "$stage/run"
"$TOP/rig/initramfs.sh" "$OUT/stage.cpio.gz" "$stage"

# A guest of this size needs that much of the host, for its struct pages.
gib=${MEM%G}
case $gib in
*[!0-9]*) gib=1 ;;
esac
limit=$((120 + gib * 2))

# boot NAME CMDLINE - one boot; its figures in build/run/NAME
boot() {
	step "boot: $1 (${2:-no switch}, $MEM)"
	CPU=b1 SMP=2 MEM=$MEM NODES=1 CMDLINE="$2" INITRD=$OUT/stage.cpio.gz \
		TIMEOUT=$limit LOG=$OUT/$1.console QEMU_ARGS='' "$TOP/rig/boot.sh" "$CONFIG" ||
		die "the kernel did not come up; its console is in $OUT/$1.console"
	grep -q 'wideleaf-verdict: pass' "$OUT/$1.console" ||
		die "the guest did not report; its console is in $OUT/$1.console"
	tr -d '\r' < "$OUT/$1.console" | sed -n 's/^.*report: //p' > "$OUT/$1"
}

boot with "rodata=full"
# Init hands REPORT on to the reporter.
quick=
[ "$gib" -lt 64 ] || quick=" REPORT=quick"
boot without "rodata=full arm64.nobbml2$quick"
if [ "$gib" -ge 64 ]; then
	boot ceiling "rodata=off$quick"
else
	rm -f "$OUT/ceiling"
	: > "$OUT/ceiling"
fi

# Counts repeat exactly, so they are kept until the kernel or the benchmark changes.
costs=$OUT/costs
if [ -n "${IMAGE:-}" ]; then
	rm -f "$costs" "$costs.stamp"
else
	stamp=$(cat "$BUILD/$CONFIG/arch/arm64/boot/Image" "$TOP"/bench/* | sha1sum)
	if [ "$stamp" != "$(cat "$costs.stamp" 2>/dev/null)" ]; then
		step "cost of set_memory, in instructions"
		rm -f "$costs.stamp"
		"$TOP/bench/costs.sh" "$CONFIG" > "$costs" ||
			die "the benchmark failed (see above)"
		echo "$stamp" > "$costs.stamp"
	fi
fi

awk -v mem="$MEM" -v config="$CONFIG" '
function size(kb) {
	if (kb >= 1048576 && kb % 1048576 == 0) return kb / 1048576 " GiB"
	if (kb >= 1024 && kb % 1024 == 0) return kb / 1024 " MiB"
	return kb " KiB"
}
function row(name, a, b, c) {
	printf "  %-34s %14s %14s%s\n", name, a, b, c == "" ? "" : "  " c
}
{
	which = FILENAME
	sub(/.*\//, "", which)
	i = index($0, "=")
	v[which, substr($0, 1, i - 1)] = substr($0, i + 1)
}
function get(which, key) { return v[which, key] }
# Number of leaves, from the dump or, where that would take too long, DirectMap.
function leaves(which, kind, kb,    name) {
	if (get(which, "leaves." kind) != "")
		return get(which, "leaves." kind)
	name = kb >= 1048576 ? kb / 1048576 "G" : kb >= 1024 ? kb / 1024 "M" : kb "k"
	return get(which, "DirectMap" name) / kb
}
END {
	printf "\nLinux %s, %s, rodata=full, guest of %s\n", get("with", "kernel"), config, mem
	printf "CPU: MIDR %s; BBM level 2 without TLB conflict aborts: %s\n\n",
		get("with", "midr"), get("with", "bbml2")
	row("", "with", "without", "")
	row("", "", "arm64.nobbml2", "")
	row("BBM level 2 in use", get("with", "bbml2"), get("without", "bbml2"), "")
	print "  leaves of the linear map"
	n = split("PUD CONT_PMD PMD CONT_PTE PTE", kinds, " ")
	for (i = 1; i <= n; i++) {
		kb = get("with", "leaf_kb." kinds[i]) + 0
		if (kb)
			row(sprintf("  %-9s %s", kinds[i], size(kb)),
			    leaves("with", kinds[i], kb), leaves("without", kinds[i], kb), "")
	}
	a = get("with", "linear_tables") * get("with", "page_kb")
	b = get("without", "linear_tables") * get("without", "page_kb")
	if (get("without", "linear_tables") != "")
		row("page tables of the linear map, kB", a, b, sprintf("%+d", a - b))
	else
		row("page tables of the linear map, kB", a, "-", "")
	a = get("with", "MemTotal")
	b = get("without", "MemTotal")
	row("MemTotal, kB", a, b, sprintf("%+d (%.1f MiB)", a - b, (a - b) / 1024))
	if (get("ceiling", "MemTotal") != "")
		row("MemTotal with rodata=off, kB", "", "",
		    get("ceiling", "MemTotal") sprintf(" (%+d)", a - get("ceiling", "MemTotal")))
}' "$OUT/with" "$OUT/without" "$OUT/ceiling" > "$OUT/report.txt"
{
	if [ -f "$costs" ]; then
		echo
		cat "$costs"
	else
		echo
		echo "  Costs: 'make bench' compares base and ours."
	fi
	echo
	echo "Report: $OUT/report.txt; consoles: $OUT/with.console, $OUT/without.console"
} >> "$OUT/report.txt"
step "done"
cat "$OUT/report.txt"
