#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Do the nodes have copies exactly where the command line lets them?
# Exit codes: 0 passed, 1 failed.
set -u

dir=/sys/kernel/debug/numa_replication

case " $(cat /proc/cmdline) " in
*' kernel_replication=off '*|*' rodata=off '*)
	[ ! -e $dir ] || { echo "there is a $dir"; exit 1; }
	;;
*)
	cat $dir/state
	# Where the linear map cannot be split, a copy is not possible.
	if grep -q 'state=copy' $dir/state; then
		# Of the image, and of text that is older than the copies.
		copies='[1-9][0-9]*'
	else
		grep -q 'state=unprotected' $dir/state || exit 1
		copies=0
	fi
	cat $dir/compare
	grep -q "^copies=$copies different=0\$" $dir/compare || exit 1
	# Written to, a file to read refuses, and nothing changes.
	before=$(cat $dir/state)
	for file in $dir/state $dir/compare; do
		if echo 1 2>/dev/null > "$file"; then
			echo "$file could be written"
			exit 1
		fi
	done
	[ "$before" = "$(cat $dir/state)" ] || exit 1
	;;
esac
exit 0
