#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compile what the patches of kernel replication touch from a tree without them,
# and compare with what the kernel of CONFIG, which leaves the option off, has
# been made of.
#
# Debug information and the line numbers of WARN() differ, as lines move. Of the
# code only patching.o may: three functions that wrote text became one helper.
#
# Usage: tests/ktext_off/off.sh     from the top directory; prints KTAP
# Environment: CONFIG=tiny-text-off, a variant without replication, built.
# shellcheck disable=SC2317 # functions are called through check()
. "$(dirname "$0")/../../rig/lib.sh"

CONFIG=${CONFIG:-tiny-text-off}
with=$BUILD/$CONFIG
src=$BUILD/ktext-off/linux
without=$BUILD/ktext-off/$CONFIG
patches=$(cd "$TOP/patches" && ls 40[0-9][0-9]-*.patch)

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$TOP/rig/ktap.sh"

stop() {
	echo "Bail out! $*"
	exit 1
}

touched() {
	(cd "$TOP/patches" && for p in $patches; do
		sed -n 's,^+++ b/,,p' "$p"
	done) | sort -u
}

# edit FILE - give a file of the copy contents of its own: it has a hard link
edit() {
	cp "$src/$1" "$src/$1.own"
	mv "$src/$1.own" "$src/$1"
}

make_tree() {
	rm -rf "$src"
	mkdir -p "$src"
	(cd "$WORK" && for f in * .[a-z]*; do
		[ "$f" = .git ] || cp -al "$f" "$src/"
	done) || return 1
	touched | while read -r f; do
		edit "$f"
	done
	for p in $(printf '%s\n' "$patches" | sort -r); do
		patch -d "$src" -R -p1 -F3 -s -f < "$TOP/patches/$p" || return 1
		series_claims | awk -v p="$p" '$1 == p { print $2 }' |
			(cd "$src" && xargs -r rm)
	done
}

# What was touched itself, and what is made with the headers that were.
objects() {
	(cd "$WORK" && {
		touched | grep '\.c$'
		ls arch/arm64/kernel/*.c arch/arm64/mm/*.c mm/vmalloc.c mm/memory.c
	}) | grep -v patching.c | sort -u | while read -r f; do
		[ ! -f "$with/${f%.c}.o" ] || echo "${f%.c}.o"
	done
}

code() {
	"${CROSS_COMPILE}objcopy" -g -x -R .comment -R __bug_table \
		-R .rela__bug_table "$1" "$2"
}

same() {
	code "$with/$1" "$tmp/with.o"
	code "$without/$1" "$tmp/without.o"
	cmp "$tmp/with.o" "$tmp/without.o" && echo same
}

build() {
	SRC=$src OUTDIR=$without "$TOP/rig/build.sh" "$CONFIG" "$@" >&2
}

! grep -q '^CONFIG_KERNEL_REPLICATION=y' "$with/.config" ||
	usage_error "CONFIG=$CONFIG has replication on"
[ -n "$patches" ] || stop "no patches 40xx"
make_tree || stop "no tree without replication"
objects=$(objects)
echo "# $(echo "$objects" | grep -c .) objects"
# shellcheck disable=SC2086 # several words
build $objects || stop "it does not build without replication"

for o in $objects; do
	check "$(echo "${o%.o}" | tr /- __)" 0 same same "$o"
done

# And would a difference be seen?
edit mm/execmem.c
sed -i 's/^\tvfree(ptr);/\tvfree_atomic(ptr);/' "$src/mm/execmem.c"
build mm/execmem.o || stop "the changed tree does not build"
check change_of_a_call_is_seen 1 differ same mm/execmem.o
rm -rf "$src"
ktap_end
