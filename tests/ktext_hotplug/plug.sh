#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Memory is plugged in, reached from every CPU, used, and pulled out, twice: what
# one CPU's tables gain or lose, those of all nodes do.
#
# Usage: plug.sh START SIZE
# START and SIZE are those of the virtio memory device "more".
# Needs ktext_plugged.ko and QEMU's monitor at /dev/vport0p1.
# Exit codes: 0 passed, 1 failed.
set -u

start=$1
size=$2
dir=/sys/kernel/debug/numa_replication
blocks=/sys/devices/system/memory
failed=0

fail() {
	echo "$*"
	failed=1
}

# Bytes of the device that are memory now.
plugged() {
	total=0
	while IFS=' -' read -r first last name; do
		case $name in
		*virtio_mem*)
			total=$((total + 0x$last - 0x$first + 1))
			;;
		esac
	done <<-END
		$(grep 'System RAM (virtio_mem)' /proc/iomem)
	END
	echo $total
}

wait_for() {
	for _ in $(seq 200); do
		[ "$(plugged)" != "$1" ] || return 0
		sleep 0.1
	done
	fail "$(plugged) bytes are plugged in, not $1"
}

# Of each block of the device.
states() {
	for block in "$blocks"/memory*; do
		id=$((${block##*memory} * block_size))
		[ $id -lt $((start)) ] || [ $id -ge $((start + size)) ] ||
			echo "$1" > "$block/state" || fail "$block is not $1"
	done
}

# reach WHETHER - every CPU can, or no CPU can
reach() {
	if insmod ktext_plugged.ko "start=$start" "size=$size" "there=$1"; then
		rmmod ktext_plugged || fail "the module stays"
	else
		fail "not all CPUs agree that memory is there: $1"
	fi
	cat $dir/compare
	grep -q 'different=0$' $dir/compare || fail "tables or copies differ"
}

block_size=$((0x$(cat $blocks/block_size_bytes)))
# Answers are of no use, but have to go somewhere.
cat /dev/vport0p1 > /dev/null &
reader=$!

reach 0
for round in 1 2; do
	echo "round $round"
	echo "qom-set more requested-size $size" > /dev/vport0p1
	wait_for $((size))
	reach 1
	states online_movable
	# More than the other nodes have.
	mkdir -p /tmp/fill
	mount -t tmpfs -o size=90% none /tmp/fill
	dd if=/dev/zero of=/tmp/fill/zeros bs=1M count=2200 2> /dev/null ||
		fail "memory cannot be filled"
	umount /tmp/fill
	states offline
	echo "qom-set more requested-size 0" > /dev/vport0p1
	wait_for 0
	reach 0
done
kill $reader
exit $failed
