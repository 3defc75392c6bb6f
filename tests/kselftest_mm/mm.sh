#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Run one of the kernel's selftests of mm as run_vmtests.sh does, which needs bash,
# and print its results as the rig has them.
#
# Usage: mm.sh PROGRAM [ARGUMENTS]	in a directory with results.awk and expected
# Exit codes: the program's (0 passed, 4 skipped), but 0 if it fails as expected.
set -u

program=$1
shift
pools=/sys/kernel/mm/hugepages

# pages KIB - how many huge pages of this size the program is to find
pages() {
	case $program in
	hugetlb_madv_vs_map)
		# One and no other.
		[ "$1" = "$default" ] && echo 1 || echo 0
		;;
	compaction_test)
		echo 0
		;;
	*)
		# 256 MiB of the default size, and of each other at least what
		# thuge-gen wants. Larger ones take too much memory and time.
		if [ "$1" = "$default" ] && [ "$1" -lt 65536 ]; then
			echo $((262144 / $1))
		elif [ "$1" -le 32768 ]; then
			echo 4
		else
			echo 0
		fi
		;;
	esac
}

dies=
pmd_mib=$(($(cat /sys/kernel/mm/transparent_hugepage/hpage_pmd_size) >> 20))
case $pmd_mib-$program-$* in
2-*)
	;;
*-khugepaged-all:anon|*-khugepaged--s*|512-khugepaged-*)
	# A table is filled with parts of as many huge pages: of 32 MiB, these take
	# 64 GiB. And with shmem four at once are wanted.
	echo "huge pages are too large for this memory"
	exit 4
	;;
512-pagemap_ioctl-*|512-uffd-unit-tests-*)
	# They get no such page and use it all the same, on the base as well.
	dies=139
	;;
esac

# Where there is a disk, memory is swapped out to it.
if [ -b /dev/vda ] && ! grep -q '^/dev/vda' /proc/swaps; then
	mkswap /dev/vda > /dev/null && swapon /dev/vda || exit 1
fi

echo 1 > /proc/sys/vm/compact_memory
default=$(sed -n 's/^Hugepagesize: *\([0-9]*\) kB/\1/p' /proc/meminfo)
for pool in "$pools"/hugepages-*kB; do
	[ -d "$pool" ] || continue
	kib=${pool##*-}
	kib=${kib%kB}
	want=$(pages "$kib")
	echo "$want" > "$pool/nr_hugepages"
	got=$(cat "$pool/nr_hugepages")
	[ "$got" = "$want" ] || echo "# $got huge pages of $kib kB, not $want"
done
# For thuge-gen, as high as it goes.
[ ! -f /proc/sys/kernel/shmmax ] || echo $((1 << 50)) > /proc/sys/kernel/shmmax

rm -f /tmp/rc
{
	"./$program" "$@" 2>&1
	echo $? > /tmp/rc
} | awk -v program="$program" -v list=expected -v dies="$dies" -f results.awk
in_order=$?
rc=$(cat /tmp/rc)
if [ -n "$dies" ] && [ "$rc" != "$dies" ]; then
	echo "it was expected to end with $dies, not $rc"
	exit 1
fi
case $in_order in
0) ;;
255) [ "$rc" != 0 ] || rc=1 ;;
"$dies") rc=0 ;;
"$rc") rc=0 ;;
esac
exit "$rc"
