#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Figures made up for the purpose go through bench/report.sh: does it accept the
# good ones and refuse each kind of bad ones?
#
# Usage: tests/bench_report/report.sh     from the top directory; prints KTAP
# shellcheck disable=SC2317 # functions are called through check()
set -eu

top=$(pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$top/rig/ktap.sh"

BUILD=$tmp
export BUILD
OUT=$tmp/bench
mkdir -p "$OUT"
ops=$(awk -F '\t' '!/^#/ && $1 !~ /\.first$/ { print $1 }' \
	"$top/bench/targets.tsv")

# made_up NAME COST - every operation costs COST; 5 and 7 for the empty call
made_up() {
	{
		echo "begin repeat=15 warmup=8 page_size=4096"
		echo "op=empty insns=5 region=0"
	} > "$OUT/$1.ops"
	echo "region=0 vcpu=0 insns=7 dsb=0 isb=2 tlbi=0" > "$OUT/$1.regions"
	r=0
	for op in $ops; do
		r=$((r + 1))
		echo "op=$op insns=$2 min=$2 max=$2 first=$2 n=15 region=$r" \
			>> "$OUT/$1.ops"
		echo "region=$r vcpu=0 insns=$(($2 + 7)) dsb=9 isb=11 tlbi=3" \
			>> "$OUT/$1.regions"
	done
	echo "end ops=$r of=$r" >> "$OUT/$1.ops"
	echo "qemu: one" > "$OUT/$1.machine"
	echo "kernel: one" > "$OUT/$1.kernel"
}

fresh() {
	made_up base 100000
	made_up ours 1000
}

# put FILE FROM TO - change the made-up figures, which must make a difference
put() {
	sed "s/$2/$3/" "$OUT/$1" > "$OUT/new"
	if cmp -s "$OUT/new" "$OUT/$1"; then
		echo "Bail out! nothing to change in $1"
		exit 1
	fi
	mv "$OUT/new" "$OUT/$1"
}

report() {
	"$top/bench/report.sh" base ours
}

# ours_costs N - set_memory_ro_256 costs N, 20000 being a fifth of base
ours_costs() {
	put ours.ops "op=set_memory_ro_256 insns=1000" "op=set_memory_ro_256 insns=$1"
	put ours.regions "^region=1 vcpu=0 insns=1007" "region=1 vcpu=0 insns=$(($1 + 7))"
}

fresh
check figures_good_accepted 0 'set_memory_ro_256 +100000 +1000 +1:100.00 +9/9/3' report
fresh
ours_costs 20000
check target_just_met_accepted 0 'set_memory_ro_256 +100000 +20000 .* met$' report
fresh
ours_costs 20001
check target_just_missed_refused 1 'set_memory_ro_256 costs 20001, more than 1:5' report
fresh
made_up ours 200000
check everything_dearer_refused 1 'set_memory_rw_256 .* MISSED$' report
fresh
put ours.regions '^region=3 vcpu=0 insns=1007' 'region=3 vcpu=0 insns=1008'
check counters_differ_refused 1 'the guest counts 1000 instructions, the plugin 1001' report
fresh
put base.ops '^op=set_memory_ro_256 .*' 'op=set_memory_ro_256 error=-12 in=run'
check operation_failed_refused 1 'base: set_memory_ro_256 failed' report
fresh
put ours.ops '^op=vmap_4k .*' ''
check operation_missing_refused 1 'vmap_4k has no figure' report
fresh
echo "op=vmap_9k insns=1 min=1 max=1 first=1 n=15 region=0" >> "$OUT/base.ops"
check operation_unknown_refused 1 'vmap_9k was measured but is not in' report
fresh
echo "open=0" >> "$OUT/ours.regions"
check region_open_refused 1 'a measured call never ended' report
fresh
echo "qemu: two" > "$OUT/ours.machine"
check machines_differ_refused 1 'measured by different machines' report
fresh
rm "$OUT/base.ops"
check figures_missing_refused 1 "run 'make bench' first" report
check usage_wrong_refused 2 'which two' "$top/bench/report.sh" base
ktap_end
