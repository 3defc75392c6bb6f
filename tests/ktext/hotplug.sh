#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPUs leave and come back, one at a time and all but one, with a kprobe set
# meanwhile: who comes back runs patched text.
# Exit codes: 0 passed, 1 failed, 4 skipped.
set -u

cpus=/sys/devices/system/cpu
dir=/sys/kernel/debug/numa_replication
trace=/sys/kernel/tracing
last=$(($(nproc) - 1))
failed=0

fail() {
	echo "$*"
	failed=1
}

[ -d $trace/events ] || mount -t tracefs none $trace || exit 1

# Whatever ran before, and was stopped.
echo nop > $trace/current_tracer
echo 0 > $trace/events/enable
echo > $trace/trace

for round in 1 2 3; do
	for cpu in $(seq 1 $last); do
		echo 0 > $cpus/cpu"$cpu"/online || fail "CPU $cpu stays"
	done
	echo 'p:gone vfs_read' > $trace/kprobe_events || fail "no kprobe"
	echo 1 > $trace/events/kprobes/gone/enable
	for cpu in $(seq 1 $last); do
		echo 1 > $cpus/cpu"$cpu"/online || fail "CPU $cpu is lost"
		taskset $((1 << cpu)) grep -q Linux /proc/version
	done
	# First, or reading the trace would add to it for ever.
	echo 0 > $trace/events/kprobes/gone/enable
	for cpu in $(seq 1 $last); do
		grep -q "\[0*$cpu\].*gone:" $trace/trace ||
			fail "CPU $cpu came back to old text, round $round"
	done
	echo > $trace/kprobe_events
	echo > $trace/trace
done

cat $dir/compare
grep -q "different=0$" $dir/compare || fail "copies differ"
exit $failed
