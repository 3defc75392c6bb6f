#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Make the guest's initramfs: our static init and Debian's static busybox.
#
# Usage: rig/initramfs.sh               makes build/initramfs.cpio.gz
#        rig/initramfs.sh OUT DIR       packs DIR as /suite into OUT, to be
#                                       appended to the former
# Exit codes: 0 ok, 1 failed, 3 missing tool.
. "$(dirname "$0")/lib.sh"

GEN=$BUILD/initramfs/gen_init_cpio
STAGE=$BUILD/initramfs
INITRAMFS=$BUILD/initramfs.cpio.gz
CFLAGS="-D_GNU_SOURCE -static -O2 -Wall -Wextra -Werror"

need "${CROSS_COMPILE}gcc" "gcc-aarch64-linux-gnu (on arm64: gcc)"
need gzip gzip
mkdir -p "$STAGE" "$DL"

# The kernel's own packer: no root needed for the console node.
if [ ! -x "$GEN" ]; then
	need cc gcc
	cc -O2 -o "$GEN" "$PRISTINE/usr/gen_init_cpio.c" ||
		die "cannot build gen_init_cpio from $PRISTINE/usr"
fi

# pack LIST OUT - write the archive only if it changed
pack() {
	"$GEN" -t 0 "$1" | gzip -n -1 > "$2.new" || die "cannot pack $2"
	if cmp -s "$2.new" "$2"; then
		rm -f "$2.new"
	else
		mv "$2.new" "$2"
	fi
}

if [ $# = 2 ]; then
	list=$2.list
	{
		echo "dir /suite 0755 0 0"
		(cd "$2" && find . -mindepth 1 | sort) | while read -r f; do
			f=${f#./}
			if [ -d "$2/$f" ]; then
				echo "dir /suite/$f 0755 0 0"
			elif [ -x "$2/$f" ]; then
				echo "file /suite/$f $2/$f 0755 0 0"
			else
				echo "file /suite/$f $2/$f 0644 0 0"
			fi
		done
	} > "$list"
	pack "$list" "$1"
	exit 0
fi

# arm64 packages of Debian, on any host: a private apt with its own lists, so
# that the host needs no second architecture.
fetch_arm64() {
	need apt-get apt
	need dpkg-deb dpkg
	apt=$DL/apt-arm64
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$DL/arm64"
	: > "$apt/status"
	cat > "$apt/conf" <<-END
	APT::Architecture "arm64";
	APT::Architectures { "arm64"; };
	APT::Get::AllowUnauthenticated "false";
	Dir::State::lists "$apt/lists";
	Dir::State::status "$apt/status";
	Dir::Cache "$apt/cache";
	Debug::NoLocking "true";
	END
	say "fetching $* for arm64 from Debian"
	# Some other source of this host may lack arm64: what counts is the result.
	APT_CONFIG=$apt/conf apt-get -q update > "$apt/log" 2>&1 || :
	(cd "$DL/arm64" && APT_CONFIG=$apt/conf apt-get -q download "$@") >> "$apt/log" 2>&1 ||
		die "no $* for arm64 to be had:" \
		    "$(grep -E '^(E|W):' "$apt/log" | tail -n 1)" \
		    "(put a Debian 12 or 13 mirror into /etc/apt/sources.list)"
}

BUSYBOX=$STAGE/busybox
if [ ! -f "$BUSYBOX" ]; then
	ls "$DL"/arm64/busybox-static_*.deb >/dev/null 2>&1 || fetch_arm64 busybox-static
	rm -rf "$STAGE/unpacked"
	dpkg-deb -x "$DL"/arm64/busybox-static_*.deb "$STAGE/unpacked"
	for f in usr/bin/busybox bin/busybox; do
		[ ! -f "$STAGE/unpacked/$f" ] || cp "$STAGE/unpacked/$f" "$BUSYBOX"
	done
	[ -f "$BUSYBOX" ] || die "busybox-static holds no busybox"
fi

init=$STAGE/init
if newer "$TOP/rig/guest/init.c" "$init"; then
	# shellcheck disable=SC2086 # a list of flags
	"${CROSS_COMPILE}gcc" $CFLAGS -o "$init" "$TOP/rig/guest/init.c" ||
		die "cannot build rig/guest/init.c (is libc6-dev-arm64-cross there?)"
fi

cat > "$STAGE/list" <<END
dir /dev 0755 0 0
nod /dev/console 0600 0 0 c 5 1
nod /dev/null 0666 0 0 c 1 3
dir /bin 0755 0 0
dir /sbin 0755 0 0
dir /proc 0755 0 0
dir /sys 0755 0 0
dir /tmp 1777 0 0
dir /etc 0755 0 0
file /bin/busybox $BUSYBOX 0755 0 0
slink /bin/sh busybox 0755 0 0
file /init $init 0755 0 0
END
pack "$STAGE/list" "$INITRAMFS"
