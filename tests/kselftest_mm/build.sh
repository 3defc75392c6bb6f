#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Build the kernel's own selftests of mm, as far as a stage directory runs them.
#
# They are compiled from build/linux by its Makefile, statically, with its headers;
# what is up to date in build/kselftest_mm is not compiled again.
#
# Usage: build.sh STAGE		PROGRAM in a line "... ./mm.sh PROGRAM ..." of
#				STAGE/run becomes STAGE/PROGRAM
# Exit codes: 0 ok, 1 failed, 3 missing tool.
. "$(dirname "$0")/../../rig/lib.sh"

need make make
need "${CROSS_COMPILE}gcc" "gcc-aarch64-linux-gnu (on arm64: gcc)"
stage=$1
here=$(cd "$(dirname "$0")" && pwd)
out=$BUILD/kselftest_mm
programs=$(sed -n 's,.*\./mm\.sh \([^ ]*\).*,\1,p' "$stage/run" | sort -u)
mkdir -p "$out/headers" "$out/bin"

# The kernel's headers come first: some are younger than those of the host.
make -s -C "$WORK" O="$out/headers" ARCH=arm64 headers > "$out/log" 2>&1 || {
	tail -n 5 "$out/log" >&2
	die "cannot make the kernel's headers"
}

# KSFT_SKIP: khugepaged.c of 6.12 uses it without including kselftest.h.
# LDLIBS: without libcap, see include/.
set --
for p in $programs; do
	set -- "$@" "$out/bin/$p"
done
make -C "$WORK/tools/testing/selftests/mm" ARCH=arm64 CROSS_COMPILE="$CROSS_COMPILE" \
	CC="${CROSS_COMPILE}gcc" OUTPUT="$out/bin" \
	KHDR_INCLUDES="-isystem $out/headers/usr/include" LDFLAGS=-static \
	LDLIBS='-lrt -lpthread -lm' EXTRA_CFLAGS="-DKSFT_SKIP=4 -I$here/include" \
	"$@" >> "$out/log" 2>&1 || {
	grep -E 'error:|\*\*\*' "$out/log" | head -n 10 >&2
	die "the selftests do not build; all of it is in $out/log"
}
for p in $programs; do
	"${CROSS_COMPILE}strip" -o "$stage/$p" "$out/bin/$p"
done
cp "$here/results.awk" "$here/expected" "$stage/"
