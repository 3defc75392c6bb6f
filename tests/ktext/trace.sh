#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Trace all functions, switched on and off by a CPU of one node and of another:
# every CPU runs traced text then, and all copies agree.
# Exit codes: 0 passed, 1 failed, 4 skipped.
set -u

dir=/sys/kernel/debug/numa_replication
trace=/sys/kernel/tracing
last=$(($(nproc) - 1))
failed=0

fail() {
	echo "$*"
	failed=1
}

on_cpu() {
	cpu=$1
	shift
	taskset $((1 << cpu)) "$@"
}

compare() {
	grep -q "^copies=[1-9].* different=0$" $dir/compare || {
		head -n 20 $dir/compare
		fail "copies differ with tracing $1"
	}
}

[ -d $trace/events ] || mount -t tracefs none $trace 2> /dev/null
if ! grep -q function $trace/available_tracers; then
	echo "no function tracer in this kernel"
	exit 4
fi

for by in 0 "$last"; do
	# All functions are patched, but what that itself runs is not recorded: it
	# takes minutes with KASAN.
	echo 0 > $trace/tracing_on
	echo > $trace/trace
	on_cpu "$by" sh -c "echo function > $trace/current_tracer" ||
		fail "cannot trace"
	echo 1 > $trace/tracing_on
	for cpu in $(seq 0 "$last"); do
		on_cpu "$cpu" cat /proc/self/stat > /dev/null
	done
	# Before anything is read, or the reader traces itself for ever.
	echo 0 > $trace/tracing_on
	compare "on, by CPU $by"
	for cpu in $(seq 0 "$last"); do
		# What is read is per CPU, so a few lines are enough to tell.
		head -n 40 "$trace/per_cpu/cpu$cpu/trace" |
			grep -q "\[0*$cpu\]" ||
			fail "CPU $cpu runs text that is not traced"
	done
	on_cpu "$by" sh -c "echo nop > $trace/current_tracer" ||
		fail "cannot stop tracing"
done
compare off

exit $failed
