#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Configure one kernel variant, and check that every asked option survived.
#
# Usage: rig/config.sh NAME      NAME as in config/variants, or base-NAME
#        rig/config.sh -l        list the variants
# Environment: SRC, OUTDIR instead of the usual source and output directories;
#              LAX=1 lets options get lost (rig/bisect.sh).
# Exit codes: 0 ok, 1 failed, 2 usage.
. "$(dirname "$0")/lib.sh"

variants() {
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$TOP/config/variants"
}

[ $# = 1 ] || usage_error "one variant, please (config.sh NAME)"
if [ "$1" = -l ]; then
	variants | awk '{ print $1; print "base-" $1 }'
	exit 0
fi

name=$1
plain=${name#base-}
fragments=$(variants | awk -v n="$plain" '$1 == n { $1 = ""; print }')
[ -n "$fragments" ] || usage_error "no kernel variant '$name'; there are:" \
	"$(variants | awk '{ printf "%s ", $1 }')and base-NAME of each"

src=$WORK
[ "$plain" = "$name" ] || src=$PRISTINE
src=${SRC:-$src}
out=${OUTDIR:-$BUILD/$name}
mkdir -p "$out"

set --
for f in $fragments; do
	case $name/$f in base-*/wideleaf*) continue ;; esac
	[ -f "$TOP/config/$f.config" ] ||
		die "config/variants names config/$f.config, which is not there"
	set -- "$@" "$TOP/config/$f.config"
done

# The last word on an option wins; allnoconfig answers the rest with no.
awk '/^CONFIG_[A-Za-z0-9_]*=/ { k = substr($0, 1, index($0, "=") - 1) }
     /^# CONFIG_[A-Za-z0-9_]* is not set/ { k = $2 }
     k != "" { if (!(k in v)) o[++n] = k; v[k] = $0; k = "" }
     END { for (i = 1; i <= n; i++) print v[o[i]] }' "$@" > "$out/asked.new"

# Same question, same tree, same answer: leave .config and its date alone.
stamp=$({ cat "$out/asked.new"
	  "${CROSS_COMPILE}gcc" --version 2>/dev/null | head -n 1
	  if [ "$src" != "$PRISTINE" ]; then
		  cat "$STATE/patches.sum" 2>/dev/null || :
		  grep -h Kconfig "$STATE/overlay.sums" 2>/dev/null || :
	  fi; } | sha1sum)
if [ -z "${LAX:-}" ] && [ -f "$out/.config" ] &&
   [ "$stamp" = "$(cat "$out/config.stamp" 2>/dev/null)" ]; then
	rm -f "$out/asked.new"
	exit 0
fi
mv "$out/asked.new" "$out/asked"

if ! make -s -C "$src" O="$out" ARCH=arm64 KCONFIG_ALLCONFIG="$out/asked" \
	allnoconfig > "$out/config.log" 2>&1; then
	cat "$out/config.log" >&2
	die "cannot configure $name (see above)"
fi

lost=$(while read -r line; do
	case $line in
	'#'*)
		k=${line#\# }
		k=${k% is not set}
		! grep -q "^$k=" "$out/.config" || echo "$k(not n)"
		;;
	*)
		grep -qxF "$line" "$out/.config" || echo "${line#CONFIG_}"
		;;
	esac
done < "$out/asked")
if [ -n "$lost" ] && [ -z "${LAX:-}" ]; then
	rm -f "$out/config.stamp"
	die "$name: these options did not survive (a dependency is missing):" \
	    "$(echo "$lost" | tr "\n" " ")"
fi
echo "$stamp" > "$out/config.stamp"
