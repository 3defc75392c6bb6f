#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Patch all of kernel text, again and again.
set -e
cd /sys/kernel/tracing

[ "$(wc -l < available_filter_functions)" -gt 1000 ]
for round in 1 2 3; do
	for tracer in function nop function_graph nop; do
		echo $tracer > current_tracer
		ls /proc > /dev/null
	done
	echo "p:probe$round vfs_read" >> kprobe_events
	echo 1 > events/kprobes/probe$round/enable
	cat /proc/version > /dev/null
	grep -q "probe$round" trace
	echo 0 > events/kprobes/probe$round/enable
	echo > kprobe_events
	echo > trace
done
echo function > current_tracer
ls /proc > /dev/null
echo 0 > tracing_on
[ "$(grep -c . trace)" -gt 100 ]
echo nop > current_tracer
