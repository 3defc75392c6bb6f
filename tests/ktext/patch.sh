#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Patch kernel text in every way there is, from every CPU, while all CPUs run
# it, and see that all copies agree afterwards and that patches took effect.
# Exit codes: 0 passed, 1 failed.
set -u

dir=/sys/kernel/debug/numa_replication
trace=/sys/kernel/tracing
cpus=$(nproc)
failed=0

fail() {
	echo "$*"
	failed=1
}

compare() {
	grep -q "^copies=[1-9].* different=0$" $dir/compare || {
		head -n 20 $dir/compare
		fail "copies differ after $1"
	}
}

on_cpu() {
	on=$1
	shift
	taskset $((1 << on)) "$@"
}

# Goes through kernel text again and again until it is killed. It leaves time
# to others: tracing all of it is slow.
busy() {
	while :; do
		grep -q . /proc/self/stat
		usleep 20000
	done
}

[ -d $trace/events ] || mount -t tracefs none /sys/kernel/tracing || exit 1
pids=
cpu=0
while [ $cpu -lt "$cpus" ]; do
	busy &
	pids="$pids $!"
	taskset -p $((1 << cpu)) $! > /dev/null
	cpu=$((cpu + 1))
done
# shellcheck disable=SC2064 # the list is complete
trap "kill $pids" EXIT

# ftrace: all functions, from the first CPU and from the last.
for cpu in 0 $((cpus - 1)); do
	echo "ftrace on CPU $cpu"
	on_cpu "$cpu" sh -c "echo function > $trace/current_tracer" ||
		fail "cannot trace"
	usleep 100000
	# Functions stay patched, but cost less.
	echo 0 > $trace/tracing_on
	compare "tracing on, CPU $cpu"
	# What every CPU runs is what has been patched.
	other=0
	while [ $other -lt "$cpus" ]; do
		grep -q '[a-z]' $trace/per_cpu/cpu$other/trace ||
			fail "CPU $other runs untraced text"
		other=$((other + 1))
	done
	on_cpu "$cpu" sh -c "echo nop > $trace/current_tracer"
	echo > $trace/trace
	echo 1 > $trace/tracing_on
	compare "tracing off, CPU $cpu"
done

# kprobes: set on one CPU, hit on all of them.
cpu=0
while [ $cpu -lt "$cpus" ]; do
	echo "kprobe on CPU $cpu"
	on_cpu "$cpu" sh -c "echo 'p:ktext vfs_read' > $trace/kprobe_events" ||
		fail "cannot set a kprobe"
	echo 1 > $trace/events/kprobes/ktext/enable
	compare "setting a kprobe"
	other=0
	while [ $other -lt "$cpus" ]; do
		on_cpu "$other" grep -q Linux /proc/version
		other=$((other + 1))
	done
	echo 0 > $trace/events/kprobes/ktext/enable
	for other in $(seq 0 $((cpus - 1))); do
		grep -q "\[0*$other\].*ktext:" $trace/trace ||
			fail "CPU $other did not hit the kprobe of CPU $cpu"
	done
	echo > $trace/trace
	echo > $trace/kprobe_events
	compare "removing a kprobe"
	cpu=$((cpu + 1))
done

# Static keys: trace events and sched_schedstats have them.
for round in 1 2 3; do
	echo "static keys, round $round"
	for cpu in $(seq 0 $((cpus - 1))); do
		on_cpu "$cpu" sh -c "echo 1 > $trace/events/sched/enable"
		on_cpu $((cpus - 1 - cpu)) \
			sh -c "echo 0 > $trace/events/sched/enable"
	done
	compare "static keys, round $round"
done

exit $failed
