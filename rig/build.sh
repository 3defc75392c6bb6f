#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Build one kernel variant, Image and modules, in build/NAME.
#
# Usage: rig/build.sh NAME [MAKE-TARGET...]    default: Image modules
# Environment: J jobs; V=1 shows commands; W=1 asks for more warnings;
#              CCACHE=0 leaves ccache out; CC=, or LLVM=1, as the kernel has them;
#              SRC, OUTDIR as in config.sh.
# Exit codes: 0 ok, 1 failed, 2 usage, 3 missing tool.
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || usage_error "which variant? (build.sh NAME)"
name=$1
shift
[ $# -gt 0 ] || set -- Image modules

need make make
need flock util-linux
need bc bc
need flex flex
need bison bison
need "${CROSS_COMPILE}gcc" "gcc-aarch64-linux-gnu (on arm64: gcc)"

"$TOP/rig/config.sh" "$name"
case $name in
base-*) src=${SRC:-$PRISTINE} ;;
*) src=${SRC:-$WORK} ;;
esac
out=${OUTDIR:-$BUILD/$name}
[ -f "$out/vmlinux" ] || need_space 1500 "$out"

# The same source gives the same image: no date, user, host or git state in it.
export KBUILD_BUILD_TIMESTAMP='2026-01-01 00:00:00 UTC'
export KBUILD_BUILD_USER=wideleaf KBUILD_BUILD_HOST=wideleaf
export LOCALVERSION=
gcc=${CROSS_COMPILE}gcc
if [ "${CCACHE:-1}" != 0 ] && command -v ccache >/dev/null 2>&1; then
	gcc="ccache $gcc"
	# Depend mode: a miss costs no second run of the preprocessor.
	export CCACHE_BASEDIR="$TOP" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
fi

# Two builds in one directory would spoil it: the second waits for the first.
exec 9> "$out/build.lock"
flock -n 9 || {
	say "$name: waiting for another build of it"
	flock -w 3600 9 || die "$name: another build of it does not end"
}

log=$out/build.log
begin=$(date +%s)
fresh=
[ -f "$out/vmlinux" ] || fresh=1
if [ -n "$fresh" ]; then
	say "$name: building a kernel (some minutes)"
fi

run_make() {
	if [ -n "${LLVM:-}" ]; then
		set -- LLVM="$LLVM" "$@"
	else
		set -- CC="${CC:-$gcc}" "$@"
	fi
	make -C "$src" O="$out" ARCH=arm64 ${W:+W="$W"} -j"$J" "$@"
}

# Progress: one line every 30 s, from how many objects there are so far.
progress() {
	while sleep 30; do
		say "$name: $(grep -c '^  *[A-Z]* *' "$log" || :) steps," \
		    "$(($(date +%s) - begin)) s"
	done
}
progress 9>&- &
pid=$!
trap 'kill $pid 2>/dev/null || :' EXIT
rc=0
run_make "$@" > "$log" 2>&1 || rc=$?
kill $pid 2>/dev/null || :
trap - EXIT

if [ $rc != 0 ]; then
	grep -n -E -B2 -A8 'error:|Error [0-9]|undefined reference|No space' "$log" |
		head -n 40 >&2 || :
	die "$name does not build; all of it is in $log"
fi
grep -E 'warning:' "$log" >&2 || :
say "$name: built in $(($(date +%s) - begin)) s"
