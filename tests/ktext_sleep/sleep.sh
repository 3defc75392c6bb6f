#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Sleep in every way that the machine offers. Awake again, each CPU is on the
# tables of its node, all copies agree, and text can be written as before.
#
# Usage: sleep.sh idle|disk
# Needs ktext_writers.ko; a clock for idle, /dev/vda for disk.
# Exit codes: 0 passed, 1 failed.
set -u

dir=/sys/kernel/debug/numa_replication
rounds=/sys/module/ktext_writers/parameters/rounds
failed=0

fail() {
	echo "$*"
	failed=1
}

check() {
	# It looks at the table of each CPU, too.
	grep -q '^copies=[1-9].* different=0$' $dir/compare || {
		head -n 20 $dir/compare
		fail "copies or tables differ $1"
	}
	echo 1 > $rounds || fail "old text $1"
}

insmod ktext_writers.ko || exit 1
check before
case $1 in
idle)
	# Without it nothing would ever end the sleep.
	echo +2 > /sys/class/rtc/rtc0/wakealarm || exit 1
	echo freeze > /sys/power/state || fail "it does not sleep"
	;;
disk)
	mkswap /dev/vda && swapon /dev/vda || exit 1
	sed 's/ .*//' /sys/class/block/vda/dev > /sys/power/resume || exit 1
	echo test_resume > /sys/power/disk || exit 1
	echo disk > /sys/power/state || fail "it does not hibernate"
	swapoff /dev/vda || fail "swap stays"
	;;
esac
check after
rmmod ktext_writers || fail "the module stays"
tail -n 1 $dir/compare
exit $failed
