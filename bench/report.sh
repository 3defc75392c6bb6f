#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compare the figures of two kernels, print them, and judge them.
#
# Usage: bench/report.sh BASE OURS     names that bench/run.sh has run
# Output: build/bench/ops.tsv, and the same as a table.
#   Columns: op, base, ours (instructions, median), ratio, DSB/ISB/TLBI of base
#   and of ours, target, verdict. Verdicts: met and MISSED for targets in force;
#   "later" for those of work that is not in yet, judged for information only;
#   - without a target.
# Exit codes: 0 every target in force is met and the figures are sound, 1 not,
#             2 usage.
. "$(dirname "$0")/../rig/lib.sh"

[ $# = 2 ] || usage_error "which two? (report.sh BASE OURS)"
OUT=$BUILD/bench
for name in "$1" "$2"; do
	for kind in ops regions machine kernel; do
		[ -f "$OUT/$name.$kind" ] ||
			die "no $OUT/$name.$kind; run 'make bench' first"
	done
done
cmp -s "$OUT/$1.machine" "$OUT/$2.machine" ||
	die "$1 and $2 were measured by different machines:" \
	    "compare $OUT/$1.machine and $OUT/$2.machine"

: > "$OUT/problems"
awk -v problems="$OUT/problems" -f "$TOP/bench/report.awk" \
	which=base kind=ops "$OUT/$1.ops" kind=regions "$OUT/$1.regions" \
	which=ours kind=ops "$OUT/$2.ops" kind=regions "$OUT/$2.regions" \
	kind=targets "$TOP/bench/targets.tsv" > "$OUT/all"
grep -v '^#' "$OUT/all" > "$OUT/ops.tsv"

echo "Instructions per call, one CPU, median; DSB/ISB/TLBI in the call"
sed 's/^/  /' "$OUT/$1.machine"
for name in "$1" "$2"; do
	echo "  $name: $(tr '\n' ' ' < "$OUT/$name.kernel")"
done
sed -n 's/^begin /  /p' "$OUT/$2.ops"
echo
awk -F '\t' '
	{ for (i = 1; i <= NF; i++) {
		cell[NR, i] = $i
		if (length($i) > width[i])
			width[i] = length($i)
	  } }
	END {
		for (n = 1; n <= NR; n++) {
			line = ""
			for (i = 1; i <= 8; i++) {
				# Names to the left, figures to the right.
				side = (i == 1 || i == 8) ? "-" : ""
				line = line sprintf("%" side width[i] "s  ",
						    cell[n, i])
			}
			sub(/ +$/, "", line)
			print line
		}
	}' "$OUT/ops.tsv"
echo
grep '^#' "$OUT/all" | sort || :
echo "All of it: $OUT/ops.tsv"

if [ -s "$OUT/problems" ]; then
	while read -r line; do
		say "$line"
	done < "$OUT/problems"
	exit 1
fi
