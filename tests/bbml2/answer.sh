#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Was the system's answer logged once or not at all, and did it not taint?
# Exit codes: 0 passed, 1 failed.

times=$(dmesg | grep -c "BBM level 2 without TLB conflict aborts")
echo "lines about the capability: $times"
[ "$times" -le 1 ] || exit 1

# Bit 2: CPUs out of specification.
tainted=$(cat /proc/sys/kernel/tainted)
echo "tainted: $tainted"
[ $((tainted & 4)) = 0 ]
