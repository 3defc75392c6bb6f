#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Remove what was built; refuse while build/linux holds work of its own.
#
# Usage: rig/clean.sh        kernels and results
#        rig/clean.sh all    everything in build/ and dist/, downloads too
# Exit codes: 0 ok, 1 refused, 2 usage.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worklib.sh"

case ${1:-} in
'')
	"$TOP/rig/config.sh" -l | while read -r name; do
		rm -rf "${BUILD:?}/$name" "${BUILD:?}/bisect-$name"
	done
	rm -rf "${BUILD:?}/test" "${BUILD:?}/bench" "${BUILD:?}/run" \
		"${BUILD:?}/log" "${BUILD:?}/bisect" "${BUILD:?}/initramfs" \
		"${BUILD:?}"/initramfs.cpio.gz
	;;
all)
	if [ -d "$WORK/.git" ]; then
		write_exclude
		left=$(unexported)
		if [ -n "$left" ]; then
			printf '%s\n' "$left" >&2
			die "build/linux holds the above, which patches/ does not:" \
			    "'make refresh' exports it, or remove build/ by hand"
		fi
	fi
	# What the rig made: BUILD= may be a disk that holds other things.
	"$TOP/rig/config.sh" -l | while read -r name; do
		rm -rf "${BUILD:?}/$name" "${BUILD:?}/bisect-$name"
	done
	if [ "$BUILD" = "$TOP/build" ]; then
		rm -rf "${BUILD:?}"
	else
		for d in pristine linux state dl test bench run log bisect \
			initramfs initramfs.cpio.gz el2 bbm-off; do
			rm -rf "${BUILD:?}/$d"
		done
	fi
	rm -rf "$TOP/dist"
	;;
*)
	usage_error "unknown argument '$1' (clean.sh [all])"
	;;
esac
