#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Switch KFENCE on, wait until it has taken objects, and write past one of them.
set -e
stats=/sys/kernel/debug/kfence/stats

count() {
	sed -n "s/^$1: *//p" "$stats"
}

echo 10 > /sys/module/kfence/parameters/sample_interval
dmesg | grep -q 'kfence: initialized' || {
	echo "KFENCE has no pool"
	exit 1
}
i=0
while [ "$(count 'total allocations')" -lt 20 ]; do
	i=$((i + 1))
	if [ $i -gt 600 ]; then
		cat "$stats"
		exit 1
	fi
	# What makes the kernel allocate.
	ls -R /proc/self > /dev/null 2>&1 || :
done
insmod overrun.ko
[ "$(count 'total bugs')" = 1 ]
cat "$stats"
