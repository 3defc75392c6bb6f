# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Common part of the rig's scripts: paths, messages, tool checks. Sourced.
#
# Environment: V=1 shows every command; BUILD (build) is the work directory;
#              J (all cores) is the number of jobs.
# Exit codes of all scripts: 0 ok, 1 failed, 2 usage, 3 missing tool, 4 skipped.

# shellcheck disable=SC2034 # for the scripts that source this
set -eu
export LC_ALL=C

TOP=$(cd "$(dirname "$0")/.." && pwd)
while [ ! -f "$TOP/base.mk" ] && [ "$TOP" != / ]; do TOP=$(dirname "$TOP"); done
BUILD=${BUILD:-$TOP/build}
case $BUILD in
/*) ;;
*) BUILD=$TOP/$BUILD ;;
esac
J=${J:-$(nproc 2>/dev/null || echo 2)}
V=${V:-0}
[ "$V" = 0 ] || set -x

PRISTINE=$BUILD/pristine
WORK=$BUILD/linux
STATE=$BUILD/state
DL=$BUILD/dl

base_var() {
	sed -n "s/^$1 := *//p" "$TOP/base.mk"
}
KVER=${KVER:-$(base_var KVER)}
KPACKAGE=${KPACKAGE:-$(base_var KPACKAGE)}
KTAG=${KTAG:-$(base_var KTAG)}

# The kernel's own makefiles take neither.
case $TOP$BUILD in
*[[:space:]:]*)
	printf '%s\n' "error: a path with a blank or a colon in it: $TOP, $BUILD;" \
		"move the checkout, or point BUILD= elsewhere" >&2
	exit 2
	;;
esac

# Interrupted: what EXIT has to clean up is cleaned up.
trap 'exit 130' INT
trap 'exit 143' TERM

ME=${0##*/}
ME=${ME%.sh}

say() {
	printf '%s: %s\n' "$ME" "$*" >&2
}

die() {
	say "error: $*"
	exit 1
}

usage_error() {
	say "error: $*"
	exit 2
}

# need TOOL PACKAGE - stop unless the tool is there
need() {
	command -v "$1" >/dev/null 2>&1 && return
	say "error: $1 is missing; run 'make deps' or: apt-get install $2"
	exit 3
}

# need_file FILE PACKAGE - stop unless the file is there
need_file() {
	[ -f "$1" ] && return
	say "error: $1 is missing; run 'make deps' or: apt-get install $2"
	exit 3
}

# build_plugin NAME OUT - compile rig/plugins/NAME.c for the QEMU of this host
build_plugin() {
	need "${CC:-cc}" gcc
	"${CC:-cc}" -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden \
		-o "$2" "$TOP/rig/plugins/$1.c" -ldl ||
		die "cannot build rig/plugins/$1.c"
}

# need_space MIB DIR - stop unless that much is free
need_space() {
	mkdir -p "$2"
	free_mib=$(df -Pm "$2" | awk 'NR == 2 { print $4 }')
	[ "$free_mib" -ge "$1" ] ||
		die "$2 has $free_mib MiB free, $1 MiB are needed;" \
		    "free some, or point BUILD= at a larger disk"
}

# Our own git calls: no user or system settings, a fixed identity.
git_plain() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null \
	GIT_COMMITTER_NAME=wideleaf GIT_COMMITTER_EMAIL=wideleaf@localhost \
	GIT_AUTHOR_NAME=${GIT_AUTHOR_NAME:-wideleaf} \
	GIT_AUTHOR_EMAIL=${GIT_AUTHOR_EMAIL:-wideleaf@localhost} \
		git "$@"
}

HOST_ARCH=$(uname -m)
case $HOST_ARCH in
aarch64|arm64)
	CROSS_COMPILE=${CROSS_COMPILE-}
	;;
*)
	CROSS_COMPILE=${CROSS_COMPILE-aarch64-linux-gnu-}
	;;
esac
export CROSS_COMPILE

# Patch names of the series, in order.
series_patches() {
	[ -f "$TOP/patches/series" ] || return 0
	sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$TOP/patches/series"
}

# "patch path" for every overlay file claimed by the series.
series_claims() {
	[ -f "$TOP/patches/series" ] || return 0
	awk '/^#\+ / { claim[++n] = $2; next }
	     /^#/ || /^[[:space:]]*$/ { next }
	     { for (i = 1; i <= n; i++) print $1, claim[i]; n = 0 }
	     END { for (i = 1; i <= n; i++) print "-", claim[i] }' \
		"$TOP/patches/series"
}

# Overlay files, kernel paths.
overlay_files() {
	[ -d "$TOP/linux" ] || return 0
	(cd "$TOP/linux" && find . -type f ! -name '*~' ! -name '.*.sw?' |
		sed 's,^\./,,' | sort)
}

# newer A B - is A newer than B, or B not there?
newer() {
	[ ! -e "$2" ] || [ -n "$(find "$1" -newer "$2")" ]
}
