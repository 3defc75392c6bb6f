#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Have hot_cut.ko add memory where there is none, and take blocks out of it.
#
# Exit codes: 0 passed, 1 failed.
set -eu

can_split=0
if dmesg | grep -q 'detected: BBM level 2 without TLB conflict aborts' ||
   grep -q 'rodata=full' /proc/cmdline; then
	can_split=1
fi

echo offline > /sys/devices/system/memory/auto_online_blocks
# Beyond the memory and the devices of the machine.
insmod hot_cut.ko start=$((1 << 37)) can_split=$can_split
left=$(dmesg | grep -c 'is part of a larger leaf' || :)
echo "left mapped: $left times"
if dmesg | grep -q 'a block that is removed stays mapped'; then
	[ "$left" != 0 ]
else
	[ "$left" = 0 ]
fi
