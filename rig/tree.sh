#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Make build/linux: pristine source, patches as commits, overlay copied in.
#
# Usage: rig/tree.sh        make or update it; quick when nothing changed
#        rig/tree.sh base   only the pristine source
# Environment: TAKE=1 takes overlay files edited in build/linux back to linux/;
#              DROP=1 overwrites them.
# Exit codes: 0 ok, 1 failed, 2 usage, 3 missing tool.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/worklib.sh"

TAKE=${TAKE:-}
DROP=${DROP:-}

case ${1:-} in
''|base) ;;
*) usage_error "unknown argument '$1' (tree.sh [base])" ;;
esac

"$(dirname "$0")/fetch.sh"
[ "${1:-}" != base ] || exit 0

need git git
need flock util-linux
mkdir -p "$STATE"

# Two at once would spoil the tree: the second waits for the first.
exec 8> "$STATE/tree.lock"
flock -w 900 8 || die "another make tree does not end"

make_work() {
	need_space 4000 "$BUILD"
	say "copying the source to build/linux"
	rm -rf "$WORK.tmp" "$WORK"
	mkdir -p "$WORK.tmp"
	set --
	for d in $UNTRACKED; do set -- "$@" "--exclude=./$d"; done
	tar -C "$PRISTINE" "$@" -cf - . | tar -C "$WORK.tmp" -xf -
	for d in $UNTRACKED; do
		mkdir -p "$WORK.tmp/$(dirname "$d")"
		cp -rpl "$PRISTINE/$d" "$WORK.tmp/$d" 2>/dev/null || {
			rm -rf "${WORK.tmp:?}/$d"
			cp -rp "$PRISTINE/$d" "$WORK.tmp/$d"
		}
	done

	# One pack instead of 50000 loose objects, uncompressed: several times
	# faster, and the repository never leaves this machine.
	say "importing it into git"
	git_plain init -q -b series "$WORK.tmp"
	for d in $UNTRACKED; do echo "/$d/"; done > "$WORK.tmp/.git/info/exclude"
	set --
	for d in $UNTRACKED; do set -- "$@" ":(exclude)$d"; done
	git_plain -C "$WORK.tmp" -c core.bigFileThreshold=1 -c core.compression=0 \
		-c gc.auto=0 add -A -f -- . "$@"
	GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' \
		git_plain -C "$WORK.tmp" commit -q -m "Linux $(cat "$STATE/version")"
	git_plain -C "$WORK.tmp" tag base
	git_plain -C "$WORK.tmp" update-ref $EXPORTED base

	# GNU make prefers this file: foreign modules then need no ARCH=.
	cat > "$WORK.tmp/GNUmakefile" <<-END
	# Written by rig/tree.sh: defaults for this architecture and compiler.
	export ARCH ?= arm64
	export CROSS_COMPILE ?= $CROSS_COMPILE
	export LOCALVERSION ?=
	include \$(dir \$(lastword \$(MAKEFILE_LIST)))Makefile
	END
	rm -f "$STATE/overlay.sums" "$STATE/patches.sum"
	mv "$WORK.tmp" "$WORK"
}

update_series() {
	want=$(patches_hash)
	if [ -f "$STATE/patches.sum" ] && [ "$want" = "$(cat "$STATE/patches.sum")" ]; then
		return
	fi
	left=$(unexported)
	if [ -n "$left" ]; then
		printf '%s\n' "$left" >&2
		die "build/linux holds the above, which patches/ does not:" \
		    "commit it there and 'make refresh', or drop it:" \
		    "git -C build/linux reset --hard $EXPORTED"
	fi
	tip=$(apply_series "$WORK" base)
	wgit reset -q --hard "$tip"
	wgit update-ref $EXPORTED "$tip"
	echo "$want" > "$STATE/patches.sum"
	say "$(series_patches | grep -c .) patches applied"
}

# One way, linux/ to build/linux, by content: a file restored with an older
# date must still be rebuilt, one that did not change must not.
sync_overlay() {
	sums=$STATE/overlay.sums
	[ -f "$sums" ] || : > "$sums"
	overlay_files > "$STATE/overlay.list"

	edited=$( (cd "$WORK" && sha1sum -c --quiet "$sums" 2>/dev/null) |
		sed -n 's/: FAILED$//p')
	for f in $edited; do
		[ -f "$TOP/linux/$f" ] || continue
		! cmp -s "$TOP/linux/$f" "$WORK/$f" || continue
		if [ -n "$TAKE" ]; then
			cp "$WORK/$f" "$TOP/linux/$f"
			say "took $f"
		elif [ -z "$DROP" ]; then
			die "$f was edited in build/linux; it belongs to linux/:" \
			    "'make tree TAKE=1' takes the edit, DROP=1 drops it"
		fi
	done

	clash=$(xargs -r git -C "$WORK" ls-tree -r --name-only base -- \
		< "$STATE/overlay.list" | head -n 1)
	[ -z "$clash" ] ||
		die "linux/$clash exists in the base: change it by a patch instead"

	while read -r f; do
		! cmp -s "$TOP/linux/$f" "$WORK/$f" || continue
		mkdir -p "$WORK/$(dirname "$f")"
		rm -f "$WORK/$f"
		cp "$TOP/linux/$f" "$WORK/$f"
	done < "$STATE/overlay.list"

	sed 's/^[0-9a-f]*  //' "$sums" | while read -r f; do
		grep -qxF "$f" "$STATE/overlay.list" || rm -f "$WORK/$f"
	done
	(cd "$WORK" && xargs -r sha1sum < "$STATE/overlay.list") > "$sums.new"
	mv "$sums.new" "$sums"

	series_claims | cut -d' ' -f2 | sort > "$STATE/claims"
	comm -23 "$STATE/overlay.list" "$STATE/claims" | while read -r f; do
		say "note: no patch of the series claims linux/$f yet"
	done
	comm -13 "$STATE/overlay.list" "$STATE/claims" | while read -r f; do
		say "note: the series claims $f, which is not in linux/"
	done
}

[ -d "$WORK/.git" ] || make_work
write_exclude
update_series
sync_overlay
write_exclude
