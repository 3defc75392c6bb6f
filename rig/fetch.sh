#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Find the pinned kernel source and unpack it, untouched, to build/pristine.
#
# Usage: rig/fetch.sh
# Environment: TARBALL=FILE takes that source package instead of looking for one.
# Exit codes: 0 ok, 1 failed, 3 missing tool.
. "$(dirname "$0")/lib.sh"

version_of() {
	awk -F' *= *' '/^VERSION/ { v = $2 } /^PATCHLEVEL/ { p = $2 }
		/^SUBLEVEL/ { s = $2 } END { print v "." p "." s }' "$1/Makefile"
}

if [ -f "$PRISTINE/Makefile" ]; then
	[ -f "$PRISTINE/mm/vmalloc.c" ] ||
		die "$PRISTINE is incomplete; remove it and run again"
	exit 0
fi

need xz xz-utils
need tar tar
need_space 8000 "$BUILD"
mkdir -p "$DL" "$STATE"

find_tarball() {
	for t in ${TARBALL:+"$TARBALL"} "/usr/src/$KPACKAGE.tar.xz" \
		 "$DL/usr/src/$KPACKAGE.tar.xz"; do
		if [ -f "$t" ]; then
			echo "$t"
			return
		fi
	done
}

tarball=$(find_tarball)
if [ -z "$tarball" ]; then
	need apt-get apt
	need dpkg-deb dpkg
	say "downloading $KPACKAGE (150 MB)"
	rm -f "$DL/$KPACKAGE"_*.deb
	if ! (cd "$DL" && apt-get -q download "$KPACKAGE" >"$STATE/fetch.log" 2>&1); then
		die "no $KPACKAGE to be had: $(grep '^E:' "$STATE/fetch.log" | head -n 1)" \
		    "(run 'apt-get update' with a Debian 12 or 13 mirror," \
		    "or give the file: make tree TARBALL=...)"
	fi
	dpkg-deb -x "$DL/$KPACKAGE"_*.deb "$DL"
	tarball=$(find_tarball)
	[ -n "$tarball" ] || die "$KPACKAGE holds no $KPACKAGE.tar.xz"
fi

say "unpacking $tarball"
rm -rf "$PRISTINE.tmp"
mkdir -p "$PRISTINE.tmp"
tar -C "$PRISTINE.tmp" --strip-components=1 -xf "$tarball" ||
	die "cannot unpack $tarball; remove it and run again"

found=$(version_of "$PRISTINE.tmp")
if [ "$found" != "$KVER" ]; then
	case $found in
	6.12.*)
		say "source is $found, not $KVER: going on if the patches apply"
		;;
	*)
		die "$tarball is Linux $found; Linux $KVER is needed" \
		    "(give another: make tree TARBALL=...)"
		;;
	esac
fi
echo "$found" > "$STATE/version"
mv "$PRISTINE.tmp" "$PRISTINE"
say "Linux $found is in $PRISTINE"
