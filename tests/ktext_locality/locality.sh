#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Boot with the locality plugin, load all CPUs with system calls and the text of
# a module, and judge where they fetched kernel instructions from: with
# replication from their own node, without it from one node all of them.
#
# Usage: CONFIG=tiny-text tests/ktext_locality/locality.sh
#        from the top directory; KTAP
set -eu

top=$(pwd)
. "$top/rig/lib.sh"
need gcc gcc
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

gcc -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden \
	-o "$tmp/locality.so" rig/plugins/locality.c -ldl
mkdir "$tmp/stage"
"${CROSS_COMPILE}gcc" -D_GNU_SOURCE -static -O2 -Wall -Wextra -Werror \
	-Irig/guest -o "$tmp/stage/load" tests/ktext_locality/load.c \
	rig/guest/libguest.c -lpthread
ext=$BUILD/$CONFIG/ext/ktext_locality
mkdir -p "$ext"
cp tests/ktext_locality/ktext_large.c "$ext/"
echo "obj-m += ktext_large.o" > "$ext/Kbuild"
rig/build.sh "$CONFIG" "M=$ext" modules >&2
cp "$ext/ktext_large.ko" "$tmp/stage/"
echo "load 200 ./load 5" > "$tmp/stage/run"
rig/initramfs.sh "$tmp/stage.cpio.gz" "$tmp/stage"

number=0
failed=0
result() {
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number $2"
	else
		echo "not ok $number $2"
		failed=1
	fi
}

# measure NODES CMDLINE - prints the share of own fetches, in parts per 100000,
# the trampoline left out
measure() {
	rm -f "$tmp"/ram* "$tmp/out"
	CPU=b1 SMP=4 MEM=2G NODES=$1 CMDLINE=$2 INITRD=$tmp/stage.cpio.gz \
		LOG=$tmp/console RAM_FILES=$tmp/ram TIMEOUT=400 \
		QEMU_ARGS="-plugin $tmp/locality.so,out=$tmp/out,ram=$tmp/ram,nodes=$1" \
		rig/boot.sh "$CONFIG" >&2 || return 1
	grep -q 'verdict: pass' "$tmp/console" || return 1
	sed 's/^/# /' "$tmp/out" >&3
	awk -v tramp="$tmp/tramp" '{
		for (i = 1; i <= NF; i++) {
			split($i, f, "=")
			n[f[1]] += f[2]
		}
	}
	END {
		all = n["own"] + n["other"] + n["unknown"]
		# An idle guest would prove nothing.
		if (all < 1000000)
			exit 1
		printf "# trampoline: %d own, %d other\n", n["tramp_own"],
			n["tramp_other"] > tramp
		printf "%d\n", 100000 * n["own"] / all
	}' "$tmp/out" || return 1
	cat "$tmp/tramp" >&3
}

# expect NAME NODES CMDLINE LEAST MOST
expect() {
	if share=$(measure "$2" "$3"); then
		echo "# $1: $share of 100000 fetches from the own node"
		rc=0
		[ "$share" -ge "$4" ] && [ "$share" -le "$5" ] || rc=1
		result $rc "$1"
	else
		result 1 "$1"
	fi
}

exec 3>&1
echo "KTAP version 1"
if [ -n "${TEST_ALL:-}" ]; then
	echo "1..4"
	expect nodes_4_replicated 4 "kpti=0" 99900 100000
	expect nodes_2_replicated 2 "kpti=0" 99900 100000
else
	echo "1..2"
fi
expect nodes_4_kpti_replicated 4 "kpti=1" 99900 100000
# The share without it is what the CPUs of the home node do, one in four.
expect nodes_4_off 4 "kernel_replication=off" 10000 40000
exit $failed
