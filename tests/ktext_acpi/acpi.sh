#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# ACPI has told the kernel of its nodes, they have copies, and text is written to
# all of them.
#
# EDK2 up to 2022.11 reports flash as write-combining memory, which the kernel
# takes for RAM. No node has it, so the kernel puts everything on one.
#
# Usage: acpi.sh COPIES
# Needs state.sh and ktext_writers.ko.
# Exit codes: 0 passed, 1 failed, 4 skipped.
set -u

rounds=/sys/module/ktext_writers/parameters/rounds

if ! [ -e /sys/firmware/acpi/tables/SRAT ]; then
	echo "there is no SRAT"
	exit 1
fi
if dmesg | grep -q 'NUMA: no nodes coverage for' &&
   dmesg | grep -q 'NUMA: Faking a node'; then
	echo "the firmware reports flash as memory of no node"
	exit 4
fi
sh ./state.sh "$1" || exit 1
insmod ktext_writers.ko || exit 1
echo 1 > $rounds || exit 1
rmmod ktext_writers
