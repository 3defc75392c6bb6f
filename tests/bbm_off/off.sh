#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compile the files that the checker hooks into from a tree without its patch,
# and compare with what the kernel of CONFIG, which leaves the option off, has
# been made of.
#
# Debug information, the line numbers of WARN() and those in the names of
# initcalls differ, as lines move; nothing else may.
#
# Usage: tests/bbm_off/off.sh     from the top directory; prints KTAP
# Environment: CONFIG=4k, a variant without the checker, built.
# shellcheck disable=SC2317 # functions are called through check()
. "$(dirname "$0")/../../rig/lib.sh"

CONFIG=${CONFIG:-4k}
patch=3000-arm64-mm-break-before-make-checker.patch
with=$BUILD/$CONFIG
src=$BUILD/bbm-off/linux
without=$BUILD/bbm-off/$CONFIG

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$TOP/rig/ktap.sh"

stop() {
	echo "Bail out! $*"
	exit 1
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
	sed -n 's,^+++ b/,,p' "$TOP/patches/$patch" | while read -r f; do
		edit "$f"
	done
	# Later patches have written beside its lines.
	patch -d "$src" -R -p1 -F3 -s -f < "$TOP/patches/$patch" || return 1
	series_claims | awk -v p="$patch" '$1 == p { print $2 }' |
		(cd "$src" && xargs rm)
}

# What calls the functions that are hooked, and was built.
objects() {
	(cd "$WORK" && {
		echo arch/arm64/kernel/setup.c
		echo mm/page_alloc.c
		grep -rlE --include=*.c '\b(flush_tlb_(all|kernel_range)|__flush_tlb_kernel_pgtable)\(' \
			arch/arm64 mm kernel
	}) | grep -vE '/(bbmchk|tests|kvm)/' | sort -u | while read -r f; do
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

! grep -q '^CONFIG_ARM64_BBM_CHECK=y' "$with/.config" ||
	usage_error "CONFIG=$CONFIG has the checker on"
make_tree || stop "no tree without $patch"
objects=$(objects)
echo "# $(echo "$objects" | grep -c .) objects"
# shellcheck disable=SC2086 # several words
build $objects || stop "it does not build without $patch"

for o in $objects; do
	check "$(echo "${o%.o}" | tr /- __)" 0 same same "$o"
done

# And would a difference be seen?
edit arch/arm64/include/asm/tlbflush.h
sed -i 's/^\t__tlbi(vmalle1is);/&\n\tisb();/' "$src/arch/arm64/include/asm/tlbflush.h"
build arch/arm64/mm/mmu.o || stop "the changed tree does not build"
check change_of_a_helper_is_seen 1 differ same arch/arm64/mm/mmu.o
rm -rf "$src"
ktap_end
