#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Install what the rig needs from Debian, or print the one command that does.
#
# Usage: rig/deps.sh
# Exit codes: 0 all there, 1 cannot be installed, 3 something is missing and this
#             is not root: the command to run is printed.
. "$(dirname "$0")/lib.sh"

packages="make gcc libc6-dev bc flex bison libelf-dev libssl-dev xz-utils git
	qemu-system-arm qemu-efi-aarch64 device-tree-compiler gzip perl patch ccache"
case $HOST_ARCH in
aarch64|arm64) ;;
x86_64) packages="$packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross" ;;
*) die "hosts are x86-64 or arm64 Debian 12 or 13, this is $HOST_ARCH" ;;
esac

need dpkg-query "dpkg (a Debian 12 or 13 system is needed)"
missing=
for p in $packages; do
	dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null |
		grep -qx installed || missing="$missing $p"
done
if [ -z "$missing" ]; then
	exit 0
fi

# Builds do without it.
if [ "$missing" = " ccache" ] && [ "$(id -u)" != 0 ]; then
	say "no ccache here: what is built again takes as long again"
	exit 0
fi

command="apt-get update && apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" != 0 ]; then
	say "packages are missing; please run, as root: $command"
	exit 3
fi

need_space 2000 /var/cache
mkdir -p "$STATE"
say "installing$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list
{
	apt-get -q update &&
	apt-get -q install -y --no-install-recommends $missing
} > "$STATE/deps.log" 2>&1 < /dev/null ||
	die "cannot install$missing: $(grep '^E:' "$STATE/deps.log" | head -n 1)" \
	    "(all of it is in $STATE/deps.log; a Debian 12 or 13 mirror is needed)"
