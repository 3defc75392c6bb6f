#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Bring up CPUs 1 to 3 late and see who may join.
# Environment: LATE=accepted (all three), refused (CPU 3 is), or unset (all CPUs
#              were there from the start).
# Exit codes: 0 passed, 1 failed.

cpus=/sys/devices/system/cpu
failed=0

is_online() {
	[ "$(cat $cpus/cpu"$1"/online)" = 1 ]
}

expect() {
	if [ "$1" = yes ]; then
		is_online "$2" || { echo "CPU $2 is not online"; failed=1; }
	else
		! is_online "$2" || { echo "CPU $2 is online"; failed=1; }
	fi
}

case ${LATE:-} in
'')
	expect yes 1
	expect yes 2
	expect yes 3
	# A CPU that was there from the start may leave and come back.
	echo 0 > $cpus/cpu3/online
	expect no 3
	echo 1 > $cpus/cpu3/online
	expect yes 3
	;;
accepted|refused)
	expect no 1
	expect no 2
	expect no 3
	last=yes
	[ "$LATE" = accepted ] || last=no
	echo 1 > $cpus/cpu1/online
	expect yes 1
	echo 1 > $cpus/cpu3/online 2>/dev/null
	expect $last 3
	# A refused CPU does no harm to the next one.
	echo 1 > $cpus/cpu2/online
	expect yes 2
	;;
*)
	echo "LATE=$LATE: accepted, refused or unset"
	exit 1
	;;
esac

exit $failed
