#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Does the tree build after every patch of the series, and boot?
#
# One work tree and one output directory per configuration, so that each step
# compiles only what its patch touches. Options that a later patch adds are left
# out until then.
#
# Usage: rig/bisect.sh
# Environment: BISECT_CONFIGS="4k base-4k": base-NAME is NAME with all options of
#              ours off. FROM=2000 starts at the patch whose
#              name begins so.
# Exit codes: 0 ok, 1 failed.
. "$(dirname "$0")/lib.sh"

CONFIGS=${BISECT_CONFIGS:-4k base-4k}
FROM=${FROM:-}
tree=$BUILD/bisect
[ -n "$(series_patches)" ] || die "patches/series is empty"
series_patches | grep -q "^$FROM" ||
	usage_error "FROM=$FROM: no patch has a name that begins so"
"$TOP/rig/fetch.sh"
"$TOP/rig/initramfs.sh"
need patch patch

# Hard links: patch and cp --remove-destination make a new file for a change.
rm -rf "$tree"
mkdir -p "$tree"
cp -rpl "$PRISTINE/." "$tree/" 2>/dev/null || cp -rp "$PRISTINE/." "$tree/"

skip=$FROM
for p in $(series_patches); do
	if grep -q '^diff --git' "$TOP/patches/$p"; then
		patch -d "$tree" -p1 -F0 -s --no-backup-if-mismatch < "$TOP/patches/$p" ||
			die "$p does not apply"
	fi
	series_claims | sed -n "s/^$p //p" | while read -r f; do
		mkdir -p "$tree/$(dirname "$f")"
		cp --remove-destination "$TOP/linux/$f" "$tree/$f"
	done
	case $p in
	"$skip"*) skip= ;;
	esac
	[ -z "$skip" ] || continue

	for config in $CONFIGS; do
		SRC=$tree OUTDIR=$BUILD/bisect-$config LAX=1 \
			"$TOP/rig/build.sh" "$config" || die "$config does not build after $p"
		IMAGE=$BUILD/bisect-$config/arch/arm64/boot/Image
		mkdir -p "$BUILD/log"
		log=$BUILD/log/bisect
		printf 'init 10 true\n' > "$BUILD/log/run"
		mkdir -p "$BUILD/log/bisect-suite"
		mv "$BUILD/log/run" "$BUILD/log/bisect-suite/run"
		"$TOP/rig/initramfs.sh" "$log.cpio.gz" "$BUILD/log/bisect-suite"
		IMAGE=$IMAGE LOG=$log TIMEOUT=60 INITRD=$log.cpio.gz "$TOP/rig/boot.sh" "$config"
		grep -q 'wideleaf-verdict: pass' "$log" || die "$config does not boot after $p"
	done
	say "$p: builds and boots"
done
say "every step builds and boots ($CONFIGS)"
