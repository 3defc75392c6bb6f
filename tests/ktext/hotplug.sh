#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPUs leave and come back, with text written meanwhile: who comes back is on the
# tables of its node and runs what was written.
#
# Usage: hotplug.sh ROUNDS
# Needs ktext_writers.ko.
# Exit codes: 0 passed, 1 failed.
set -u

cpus=/sys/devices/system/cpu
dir=/sys/kernel/debug/numa_replication
rounds=/sys/module/ktext_writers/parameters/rounds
last=$(($(nproc) - 1))
failed=0

fail() {
	echo "$*"
	failed=1
}

insmod ktext_writers.ko || exit 1
for round in $(seq "$1"); do
	for cpu in $(seq 1 $last); do
		echo 0 > $cpus/cpu"$cpu"/online || fail "CPU $cpu stays"
	done
	echo 1 > $rounds || fail "old text, alone, round $round"
	for cpu in $(seq 1 $last); do
		echo 1 > $cpus/cpu"$cpu"/online || fail "CPU $cpu is lost"
	done
	echo 1 > $rounds || fail "old text, round $round"
done
rmmod ktext_writers || fail "the module stays"

# It looks at the table of each CPU, too.
cat $dir/compare
grep -q "different=0$" $dir/compare || fail "copies or tables differ"
exit $failed
