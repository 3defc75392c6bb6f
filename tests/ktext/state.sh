#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# So many nodes have a copy, in their own memory and through their own tables, and
# one has the original. Without copies there is nothing to look at, either.
#
# Usage: state.sh [COPIES]
# Without an argument copies= on the kernel command line counts.
# Exit codes: 0 passed, 1 failed.
set -u

copies=${1:-$(sed -n 's/.*copies=\([0-9]*\).*/\1/p' /proc/cmdline)}
dir=/sys/kernel/debug/numa_replication
failed=0

fail() {
	echo "$*"
	failed=1
}

if [ "$copies" = 0 ]; then
	[ ! -e $dir ] || fail "there is a $dir"
	exit $failed
fi

cat $dir/state
[ "$(grep -c 'state=home' $dir/state)" = 1 ] || fail "not one home"
[ "$(grep -c 'state=copy' $dir/state)" = "$copies" ] ||
	fail "not $copies copies"

for node in "$dir"/node*; do
	nid=${node##*/node}
	cat "$node/page_tables" > /tmp/tables
	# Lines that name another node than this one.
	if grep -v " node=$nid\( \|$\)" /tmp/tables; then
		fail "node $nid has parts elsewhere"
	fi
	grep -q '^table ' /tmp/tables || fail "node $nid shows no tables"
	grep -q '^0x' /tmp/tables || fail "node $nid maps nothing"
	# AP[2], bit 7 of each descriptor: no copy may be writable.
	if grep '^0x' /tmp/tables | grep -v 'attributes=0x[0-9a-f]*[89a-f][0-9a-f]$'; then
		fail "node $nid maps its copy writable"
	fi
done
cat "$dir"/node*/page_tables | head -n 30

# R9: text and rodata, and at most 256 KiB of tables, 512 with 64K pages.
limit=262144
# AT_PAGESZ of the auxiliary vector.
[ "$(od -A n -t d8 -v /proc/self/auxv | awk '$1 == 6 { print $2 }')" != 65536 ] ||
	limit=524288
# "Kernel code" goes from _text to the end of rodata.
IFS=' -' read -r first last rest <<END
$(grep 'Kernel code' /proc/iomem)
END
code=$((0x$last - 0x$first + 1))
sed -n 's/.*state=copy.* bytes=\([0-9]*\) table_bytes=\([0-9]*\)$/\1 \2/p' \
	$dir/state > /tmp/bytes
[ "$(grep -c . /tmp/bytes)" = "$copies" ] || fail "no bytes in $dir/state"
while read -r bytes table_bytes; do
	echo "$bytes bytes of $code in $rest, and $table_bytes of tables"
	if [ "$bytes" = 0 ] || [ "$bytes" -gt $code ]; then
		fail "a copy of $bytes bytes, of $code of text and rodata"
	fi
	[ "$table_bytes" -le $limit ] || fail "$table_bytes bytes of tables"
done < /tmp/bytes

cat $dir/compare
# BPF keeps some memory for programs to come, and has copies of that.
seen=$(sed -n 's/^copies=\([0-9]*\) different=0$/\1/p' $dir/compare)
[ "${seen:-0}" -ge "$copies" ] || fail "copies differ, or lack"
exit $failed
