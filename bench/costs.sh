#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What set_memory costs on one kernel, with the feature and without it.
#
# Usage: bench/costs.sh NAME     NAME as in config/variants; it must be built
# Output: a table for people on standard output.
# Exit codes: 0 ok, 1 failed, 2 usage, 3 missing tool.
. "$(dirname "$0")/../rig/lib.sh"

[ $# = 1 ] || usage_error "which variant? (costs.sh NAME)"
OUT=$BUILD/bench
"$TOP/bench/run.sh" "$1" "$1.with" "" set_memory
"$TOP/bench/run.sh" "$1" "$1.without" arm64.nobbml2 set_memory

awk '
	{
		for (i = 1; i <= NF; i++) {
			n = index($i, "=")
			v[substr($i, 1, n - 1)] = substr($i, n + 1)
		}
		which = FILENAME ~ /\.with\.ops$/ ? "with" : "without"
	}
	/^op=set_memory/ {
		if (!(v["op"] in seen))
			order[++ops] = v["op"]
		seen[v["op"]] = 1
		insns[which, v["op"]] = /error=/ ? "error" : v["insns"]
	}
	END {
		print "  Instructions per call, one CPU (256 pages, 1 page of vmalloc)"
		printf "  %-34s %14s %14s\n", "", "with", "without"
		for (i = 1; i <= ops; i++)
			printf "  %-34s %14s %14s\n", order[i],
				insns["with", order[i]], insns["without", order[i]]
		exit !ops
	}' "$OUT/$1.with.ops" "$OUT/$1.without.ops"
