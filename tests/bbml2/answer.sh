#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Is the system's answer logged once, or not at all?
# Exit codes: 0 passed, 1 failed.

times=$(dmesg | grep -c "BBM level 2 without TLB conflict aborts")
echo "lines about the capability: $times"
[ "$times" -le 1 ]
