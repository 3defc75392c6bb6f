#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Export the commits of build/linux to patches/, one normalised mail each.
#
# A commit keeps its file name through the Patch-name line of its message. A new
# commit gets one from such a line, or from its subject and its neighbour's
# number. Claims and comments of patches/series stay with their patch.
#
# Usage: rig/refresh.sh
# Exit codes: 0 ok, 1 failed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worklib.sh"

[ -d "$WORK/.git" ] || die "no build/linux; run 'make tree' first"
write_exclude
dirty=$(wgit status --porcelain)
if [ -n "$dirty" ]; then
	printf '%s\n' "$dirty" >&2
	die "commit the above in build/linux first (git -C build/linux commit -a)"
fi
if [ -f "$STATE/patches.sum" ] && [ "$(patches_hash)" != "$(cat "$STATE/patches.sum")" ]; then
	die "patches/ changed since build/linux was made; both hold news:" \
	    "set one aside (git stash in the project, or a branch in build/linux)"
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/patches"
: > "$tmp/names"

derive_name() {
	last=$(tail -n 1 "$tmp/names" | sed -n 's/^\([0-9]\{4\}\)-.*/\1/p')
	number=$((${last:-2000} + 1))
	slug=$(printf '%s' "$1" | sed 's/^[^ ]*: //' | tr '[:upper:]' '[:lower:]' |
		tr -cs 'a-z0-9\n' '-' | cut -c1-48 | sed 's/^-//; s/-$//')
	printf '%04d-%s.patch\n' "$number" "$slug"
}

for c in $(wgit rev-list --reverse base..HEAD); do
	subject=$(wgit log -1 --format=%s "$c")
	case $subject in
	'fixup! '*|'squash! '*)
		die "'$subject': fold it first" \
		    "(git -C build/linux rebase -i --autosquash base)"
		;;
	esac
	name=$(wgit log -1 --format=%B "$c" | sed -n 's/^Patch-name: *//p' | tail -n 1)
	case $name in
	*/*|*' '*) die "'$name' is not a patch name" ;;
	'') name=$(derive_name "$subject") ;;
	esac
	! grep -qxF "$name" "$tmp/names" || die "two commits are named $name"
	echo "$name" >> "$tmp/names"
	wgit -c core.abbrev=12 -c diff.algorithm=myers format-patch -1 --stdout \
		--always --no-signature --zero-commit -N --no-stat \
		--no-renames "$c" |
		awk '/^Patch-name:/ && !body { blank = 0; next }
		     /^---$/ || /^diff --git / { body = 1 }
		     !body && /^$/ { blank++; next }
		     { while (blank > 0) { print ""; blank-- } print }' \
		> "$tmp/patches/$name"
done

# The series: each name with the comment lines that stood above it.
awk -v names="$tmp/names" '
	FNR == NR && FILENAME == names { order[++n] = $0; next }
	/^#/ || /^[[:space:]]*$/ { block = block $0 "\n"; next }
	{ above[$1] = block; known[$1] = 1; block = "" }
	END {
		for (i = 1; i <= n; i++) {
			printf "%s%s\n", above[order[i]], order[i]
			delete known[order[i]]
		}
		printf "%s", block
		for (p in known)
			if (above[p] ~ /(^|\n)#\+ /)
				print p > "/dev/stderr"
	}' "$tmp/names" "$TOP/patches/series" > "$tmp/series" 2> "$tmp/lost"
if [ -s "$tmp/lost" ]; then
	die "these patches are gone but claim overlay files; move their '#+' lines" \
	    "first: $(tr '\n' ' ' < "$tmp/lost")"
fi

for p in $(series_patches); do
	grep -qxF "$p" "$tmp/names" || rm -f "$TOP/patches/$p"
done
while read -r p; do
	cmp -s "$tmp/patches/$p" "$TOP/patches/$p" && continue
	cp "$tmp/patches/$p" "$TOP/patches/$p"
	say "wrote patches/$p"
done < "$tmp/names"
cmp -s "$tmp/series" "$TOP/patches/series" || cp "$tmp/series" "$TOP/patches/series"

# Patches must give back the very tree they came from.
tip=$(apply_series "$WORK" base)
[ "$(wgit rev-parse "$tip^{tree}")" = "$(wgit rev-parse 'HEAD^{tree}')" ] ||
	die "patches/ does not give back the tree of build/linux; please look:" \
	    "git -C build/linux diff $tip HEAD"
wgit reset -q --soft "$tip"
wgit update-ref $EXPORTED "$tip"
patches_hash > "$STATE/patches.sum"
