# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# The work tree build/linux: its git repository and its overlay. Sourced
# after lib.sh by tree.sh, refresh.sh and series.sh.
#
# build/linux is a repository of its own: tag "base" is the pinned source, then
# one commit per patch of patches/series. Overlay files are copied in, untracked
# and excluded. refs/wideleaf/exported is the last commit that patches/ holds.

# Large directories that no patch touches: not tracked, hard links to pristine.
UNTRACKED="drivers/gpu drivers/net drivers/media drivers/staging
	drivers/scsi drivers/infiniband sound"

EXPORTED=refs/wideleaf/exported

wgit() {
	git_plain -C "$WORK" -c gc.auto=0 -c core.compression=0 \
		-c advice.detachedHead=false "$@"
}

patches_hash() {
	(
		cd "$TOP/patches" 2>/dev/null || exit 0
		series_patches
		for p in $(series_patches); do
			cat "$p" 2>/dev/null || echo "missing $p"
		done
	) | sha1sum | cut -d' ' -f1
}

# Paths git must not see in the work tree.
write_exclude() {
	{
		echo /GNUmakefile
		for d in $UNTRACKED; do echo "/$d/"; done
		overlay_files | sed 's,^,/,'
		[ ! -f "$STATE/overlay.sums" ] ||
			sed 's,^[0-9a-f]*  ,/,' "$STATE/overlay.sums"
	} > "$WORK/.git/info/exclude"
}

# Print what build/linux holds that patches/ does not; nothing if all exported.
unexported() {
	wgit status --porcelain
	[ "$(wgit rev-parse HEAD)" = "$(wgit rev-parse $EXPORTED)" ] ||
		wgit log --oneline $EXPORTED..HEAD
}

# apply_series REPO BASE - commit the series on BASE, without touching any
# work tree; print the last commit. Each commit carries a Patch-name line.
apply_series() (
	repo=$1
	tip=$(git_plain -C "$repo" rev-parse "$2^{commit}")
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	export GIT_INDEX_FILE="$tmp/index"
	git_plain -C "$repo" read-tree "$2"
	for p in $(series_patches); do
		f=$TOP/patches/$p
		[ -f "$f" ] || die "patches/series names $p, which is not there"
		git_plain mailinfo -b "$tmp/msg" "$tmp/diff" < "$f" > "$tmp/info" ||
			die "patches/$p is not a mail (make it with 'make refresh')"
		if grep -q '^diff --git' "$tmp/diff"; then
			git_plain -C "$repo" apply --cached --whitespace=nowarn \
				"$tmp/diff" 2> "$tmp/err" ||
				die "patches/$p does not fit this source:" \
				    "$(head -n 1 "$tmp/err")" \
				    "(made for $KVER; see docs/rig.md, new base)"
		fi
		{
			sed -n 's/^Subject: //p' "$tmp/info"
			echo
			cat "$tmp/msg"
			echo
			echo "Patch-name: $p"
		} > "$tmp/commit"
		tree=$(git_plain -C "$repo" write-tree)
		date=$(sed -n 's/^Date: //p' "$tmp/info")
		tip=$(
			GIT_AUTHOR_NAME=$(sed -n 's/^Author: //p' "$tmp/info")
			GIT_AUTHOR_EMAIL=$(sed -n 's/^Email: //p' "$tmp/info")
			GIT_AUTHOR_DATE=$date
			GIT_COMMITTER_DATE=$date
			export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
			export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
			git_plain -C "$repo" commit-tree -p "$tip" \
				-F "$tmp/commit" "$tree"
		)
	done
	echo "$tip"
)
