#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What set_memory costs on one kernel with the feature and with it switched off.
# For "make run"; "make bench" compares with a kernel that lacks the code.
#
# Usage: bench/costs.sh NAME     a built variant
# Output: a table; figures are kept until the kernel or the benchmark changes.
# Exit codes: those of bench/run.sh.
. "$(dirname "$0")/../rig/lib.sh"

[ $# = 1 ] || usage_error "which variant? (costs.sh NAME)"
OUT=$BUILD/run/costs.d
mkdir -p "$OUT"

stamp=$(cat "$BUILD/$1/arch/arm64/boot/Image" "$TOP"/bench/*.[ch] "$TOP/bench/run.sh" |
	sha1sum)
if [ "$stamp" != "$(cat "$OUT/stamp" 2>/dev/null)" ]; then
	rm -f "$OUT/stamp"
	BENCH_OUT=$OUT/with "$TOP/bench/run.sh" "$1"
	BENCH_OUT=$OUT/without BENCH_CMDLINE=arm64.nobbml2 "$TOP/bench/run.sh" "$1"
	echo "$stamp" > "$OUT/stamp"
fi

awk '
	function field(name,    i) {
		for (i = 1; i <= NF; i++)
			if (index($i, name "=") == 1)
				return substr($i, length(name) + 2)
		return ""
	}
	/^op=set_memory/ && field("insns") != "" {
		op = field("op")
		if (!(op in seen))
			order[++n] = op
		seen[op] = 1
		insns[FILENAME, op] = field("insns")
	}
	END {
		printf "  %-34s %14s %14s\n", "instructions per call", "with", "without"
		for (i = 1; i <= n; i++)
			printf "  %-34s %14s %14s\n", "  " order[i],
				insns[ARGV[1], order[i]], insns[ARGV[2], order[i]]
	}' "$OUT/with/$1.ops" "$OUT/without/$1.ops"
