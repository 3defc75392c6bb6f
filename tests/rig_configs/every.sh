#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Configure every kernel variant: config.sh says which option got lost.
#
# Usage: tests/rig_configs/every.sh	from the top directory; KTAP
# shellcheck disable=SC2317 # configure is called by name
set -eu

top=$(pwd)
. "$top/rig/lib.sh"
. "$top/rig/ktap.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export OUTDIR="$tmp/out"

configure() {
	"$top/rig/config.sh" "$1" && grep -c '=[ym]$' "$OUTDIR/.config"
}

for name in $("$top/rig/config.sh" -l | grep -v '^base-'); do
	check "$name" 0 '^[0-9]+$' configure "$name"
	rm -rf "$OUTDIR"
done
ktap_end
