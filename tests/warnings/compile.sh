#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compile every file that the series adds or touches, with warnings on, and again
# from the untouched source where that has the file. A warning that only ours has
# is a finding; line numbers do not count, since lines move.
#
# Usage: CONFIG=4k tests/warnings/compile.sh	from the top directory; KTAP
# Environment: CLANG=clang, which needs ld.lld as well; skipped where missing.
# shellcheck disable=SC2317 # functions are called by name
set -eu

top=$(pwd)
. "$top/rig/lib.sh"
. "$top/rig/ktap.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Sources of arm64, of generic code and of drivers. Files of other architectures,
# and those that only others include, are not compiled by themselves.
{
	for p in $(series_patches); do
		sed -n 's#^+++ b/##p' "patches/$p"
	done
	overlay_files
} | grep -E '^(arch/arm64|mm|kernel|lib|drivers)/.*\.c$' | sort -u > "$tmp/files"

# compile SOURCE OUT FILES MAKE-ARGUMENT... - the warnings, without numbers
compile() {
	src=$1 out=$2 list=$3
	shift 3
	# What is up to date would not be compiled, and not warn.
	(cd "$out" && sed 's/\.c$/.o/' "$list" | xargs rm -f)
	# -k: a file that another option leaves out does not hide the rest.
	# shellcheck disable=SC2046 # a list of names without blanks
	make -C "$src" O="$out" ARCH=arm64 CROSS_COMPILE="$CROSS_COMPILE" -k -j"$J" \
		"$@" $(sed 's/\.c$/.o/' "$list") > "$tmp/log" 2>&1 || :
	grep -E '(warning|error):' "$tmp/log" |
		sed -E 's/:[0-9]+(:[0-9]+)?:/:/g; s#^(\.\./)*##; s#'"$src"'/##g' | sort
}

# compare NAME CONFIG-COMMAND MAKE-ARGUMENT... - ours against base
compare() {
	name=$1 configure=$2
	shift 2
	mkdir -p "$BUILD/warnings-$name" "$BUILD/warnings-base-$name"
	if ! $configure "$WORK" "$BUILD/warnings-$name" "$@" > "$tmp/configure" 2>&1 ||
	   ! $configure "$PRISTINE" "$BUILD/warnings-base-$name" "$@" >> "$tmp/configure" 2>&1; then
		tail -n 5 "$tmp/configure" | sed 's/^/# /'
		ktap_result 1 "$name"
		return
	fi
	while read -r f; do
		[ ! -f "$PRISTINE/$f" ] || echo "$f"
	done < "$tmp/files" > "$tmp/files.base"
	compile "$WORK" "$BUILD/warnings-$name" "$tmp/files" "$@" > "$tmp/ours"
	grep -cE '^  (CC|CHECK)' "$tmp/log" > "$tmp/compiled" || :
	compile "$PRISTINE" "$BUILD/warnings-base-$name" "$tmp/files.base" "$@" > "$tmp/base"
	echo "# $name: $(cat "$tmp/compiled") steps, $(grep -c . "$tmp/ours") warnings," \
		"$(grep -c . "$tmp/base") in base"
	comm -23 "$tmp/ours" "$tmp/base" > "$tmp/new"
	sed 's/^/# /' "$tmp/new"
	[ "$(cat "$tmp/compiled")" -gt 20 ] && [ ! -s "$tmp/new" ] && rc=0 || rc=1
	ktap_result "$rc" "$name"
}

kernel_make() {
	src=$1 out=$2
	shift 2
	make -C "$src" O="$out" ARCH=arm64 CROSS_COMPILE="$CROSS_COMPILE" -j"$J" "$@"
}

# Both leave everything that is generated, which compiling single files needs.
# All options of ours are on: a file whose option is off would not make sense.
from_variant() {
	src=$1 out=$2
	shift 2
	cat "$BUILD/$CONFIG/.config" config/wideleaf*.config > "$out/.config"
	kernel_make "$src" "$out" "$@" olddefconfig prepare modules_prepare
}
allmodconfig() {
	src=$1 out=$2
	shift 2
	kernel_make "$src" "$out" "$@" allmodconfig prepare modules_prepare
}

compare gcc from_variant W=1
if command -v sparse > /dev/null 2>&1; then
	compare sparse from_variant C=2
else
	echo "ok $((ktap_n += 1)) sparse # SKIP no sparse here"
fi
compare gcc-allmodconfig allmodconfig W=1
if command -v "${CLANG:-clang}" > /dev/null 2>&1 && command -v ld.lld > /dev/null 2>&1; then
	compare clang from_variant LLVM=1 W=1
	compare clang-allmodconfig allmodconfig LLVM=1 W=1
else
	echo "ok $((ktap_n += 1)) clang # SKIP no clang here"
	echo "ok $((ktap_n += 1)) clang-allmodconfig # SKIP no clang here"
fi
ktap_end
