#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Write the mailable series to dist/: overlay and patches become one, in order.
#
# A thin repository holds only the base files that the patches touch; blob names
# are those of a full tree, so the mails apply anywhere. The result is the same,
# byte for byte, on each run. It is then applied to a fresh copy of the source,
# by git am and by patch without fuzz, and both must agree.
#
# Usage: rig/series.sh
# Environment: VERSION=1 of the posting.
# Exit codes: 0 ok, 1 failed, 3 missing tool.
. "$(dirname "$0")/lib.sh"

DIST=$TOP/dist
VERSION=${VERSION:-1}
export TZ=UTC

need git git
need patch patch
need perl perl
"$TOP/rig/fetch.sh"
[ -n "$(series_patches)" ] || die "patches/series is empty: there is no series yet"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
thin=$tmp/thin

sgit() {
	git_plain -C "$thin" -c gc.auto=0 "$@"
}

# 1. Claims: each once, each there, none in the base, no file without.
series_claims > "$tmp/claims"
twice=$(cut -d' ' -f2 "$tmp/claims" | sort | uniq -d | head -n 1)
[ -z "$twice" ] || die "patches/series claims $twice twice"
late=$(sed -n 's/^- //p' "$tmp/claims" | head -n 1)
[ -z "$late" ] || die "patches/series claims $late after the last patch"
while read -r p f; do
	[ -f "$TOP/linux/$f" ] || die "$p claims $f, which is not in linux/"
	[ ! -e "$PRISTINE/$f" ] || die "linux/$f exists in the base"
done < "$tmp/claims"
for f in $(overlay_files); do
	grep -q " $f$" "$tmp/claims" || die "no patch claims linux/$f"
done

# 2. The thin base.
git_plain init -q -b base "$thin"
# The kernel's own rules for what a hunk header names, which build/linux has.
printf '%s\n' '*.[chS] diff=cpp' > "$thin/.git/info/attributes"
for p in $(series_patches); do
	[ -f "$TOP/patches/$p" ] || die "patches/series names $p, which is not there"
	sed -n 's,^diff --git a/\(.*\) b/.*,\1,p' "$TOP/patches/$p"
done | sort -u > "$tmp/touched"
while read -r f; do
	[ -f "$PRISTINE/$f" ] || continue
	mkdir -p "$thin/$(dirname "$f")"
	cp -p "$PRISTINE/$f" "$thin/$f"
done < "$tmp/touched"
sgit add -A -f
GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' \
	sgit commit -q --allow-empty -m "Linux $KVER, the files touched"
sgit tag thin-base
sgit checkout -q -b series

# 3. One commit per patch, with the files it claims.
for p in $(series_patches); do
	sgit am -q --empty=keep --committer-date-is-author-date "$TOP/patches/$p" \
		> "$tmp/am.log" 2>&1 || {
		cat "$tmp/am.log" >&2
		die "patches/$p does not apply to Linux $(cat "$STATE/version")"
	}
	sed -n "s/^$p //p" "$tmp/claims" > "$tmp/now"
	while read -r f; do
		mkdir -p "$thin/$(dirname "$f")"
		cp "$TOP/linux/$f" "$thin/$f"
		sgit add -f "$f"
	done < "$tmp/now"
	date=$(sgit log -1 --format=%aI)
	GIT_COMMITTER_DATE=$date sgit commit -q --amend --no-edit
	[ -n "$(sgit diff-tree --no-commit-id --name-only -r HEAD)" ] ||
		die "patches/$p changes nothing"
done

# 4. The mails.
rm -rf "$DIST"
mkdir -p "$DIST"
# The cover carries the committer's date: that of the last patch, not of today.
GIT_COMMITTER_DATE=$(sgit log -1 --format=%aI series) \
sgit -c core.abbrev=12 -c diff.algorithm=myers format-patch -q --no-signature \
	--zero-commit --no-renames --cover-letter -v"$VERSION" -o "$DIST" thin-base..series
cover=$(echo "$DIST"/v"$VERSION"-0000-*.patch)

if [ -f "$TOP/docs/cover.md" ]; then
	commit=$(git -C "$TOP" rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
	# Its first line is the subject, the rest the text.
	awk -v text="$TOP/docs/cover.md" -v base="$KTAG" -v commit="$commit" '
	BEGIN {
		getline subject < text
		sub(/^#+ */, "", subject)
		while ((getline line < text) > 0)
			body = body line "\n"
		sub(/^\n+/, "", body)
	}
	/^Subject:/ { sub(/\*\*\* SUBJECT HERE \*\*\*/, subject) }
	/^\*\*\* BLURB HERE \*\*\*$/ {
		printf "%s\nMade from commit %s for %s.\n", body, commit, base
		next
	}
	{ print }' "$cover" > "$tmp/cover"
	cp "$tmp/cover" "$cover"
fi
mails=$(echo "$DIST"/v"$VERSION"-*.patch | tr ' ' '\n' | grep -v -- '-0000-')

# 5. Every hunk is still in the function it was written for.
n=0
for p in $(series_patches); do
	n=$((n + 1))
	mail=$(echo "$DIST"/v"$VERSION"-"$(printf '%04d' $n)"-*.patch)
	for side in "$TOP/patches/$p" "$mail"; do
		awk '/^diff --git/ { f = $3 } /^--- \/dev\/null/ { f = "" }
		     /^@@ / && f != "" { sub(/^@@ [^@]*@@/, ""); print f ":" $0 }' "$side" \
			> "$tmp/hunks.$([ "$side" = "$mail" ] && echo new || echo old)"
	done
	cmp -s "$tmp/hunks.old" "$tmp/hunks.new" || {
		diff "$tmp/hunks.old" "$tmp/hunks.new" >&2 || :
		die "patches/$p: a hunk landed elsewhere than where it was made for"
	}
done

# 6. Style, then a fresh tree by two ways.
style=0
for m in $mails; do
	"$PRISTINE/scripts/checkpatch.pl" --root="$PRISTINE" --no-tree --strict --quiet \
		--no-summary --terse --show-types \
		--ignore FILE_PATH_CHANGES,MISSING_SIGN_OFF,COMMIT_LOG_LONG_LINE "$m" >&2 || style=1
done
[ $style = 0 ] || die "checkpatch has findings (above)"

git_plain clone -q -b base "$thin" "$tmp/fresh" 2>/dev/null
# shellcheck disable=SC2086 # a list of names without blanks
git_plain -C "$tmp/fresh" -c gc.auto=0 am -q $mails > "$tmp/am.log" 2>&1 || {
	cat "$tmp/am.log" >&2
	die "git am does not take the series in dist/"
}
[ "$(git_plain -C "$tmp/fresh" rev-parse 'HEAD^{tree}')" = \
  "$(sgit rev-parse 'series^{tree}')" ] || die "git am gives another tree"

mkdir "$tmp/plain"
sgit archive thin-base | tar -C "$tmp/plain" -xf -
for m in $mails; do
	patch -d "$tmp/plain" -p1 -F0 -s --no-backup-if-mismatch < "$m" ||
		die "patch -F0 does not take ${m##*/}"
done
(cd "$tmp/fresh" && find . -type f ! -path './.git/*' | sort | xargs sha1sum) > "$tmp/a"
(cd "$tmp/plain" && find . -type f | sort | xargs -r sha1sum) > "$tmp/b"
cmp -s "$tmp/a" "$tmp/b" || die "patch and git am give different trees"

# And the tree is the one we build: the base, the patches, linux/.
while read -r _ f; do
	cmp -s "$TOP/linux/$f" "$tmp/fresh/$f" || die "the series changes $f twice"
done < "$tmp/claims"

say "$(series_patches | grep -c .) patches in dist/; git am takes them on Linux $KVER"
