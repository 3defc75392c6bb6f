#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Self test of the rig, on a kernel of three files: fetch, tree, refresh, series
# and the judge of consoles.
#
# Usage: tests/rig_tree/selftest.sh     from the top directory; prints KTAP
# shellcheck disable=SC2317 # functions are called through check()
set -eu

top=$(pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$top/rig/ktap.sh"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@localhost
export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@localhost
unset BUILD KVER KPACKAGE KTAG SUITES LIST TARBALL TAKE DROP V 2>/dev/null || :

# A project of its own around the scripts under test.
p=$tmp/project
mkdir -p "$p/patches" "$p/linux" "$p/config"
cp -r "$top/rig" "$top/base.mk" "$p/"
echo "# order" > "$p/patches/series"

# kernel DIR SUBLEVEL - a source that the rig takes for Linux
kernel() {
	mkdir -p "$1/mm" "$1/scripts"
	printf 'VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = %s\n' "$2" > "$1/Makefile"
	printf 'int a;\nint b;\nint c;\n\nint f(void)\n{\n\treturn 1;\n}\n' > "$1/mm/vmalloc.c"
	echo 'obj-y := vmalloc.o' > "$1/mm/Makefile"
	printf '#!/bin/sh\n' > "$1/scripts/checkpatch.pl"
	chmod +x "$1/scripts/checkpatch.pl"
	for d in drivers/gpu drivers/net drivers/media drivers/staging drivers/scsi \
		 drivers/infiniband sound; do
		mkdir -p "$1/$d"
		echo "driver" > "$1/$d/Kconfig"
	done
}

pinned=$(sed -n 's/^KVER := 6\.12\.//p' "$p/base.mk")
kernel "$tmp/src/linux" "$pinned"
tar -C "$tmp/src" -cJf "$tmp/linux.tar.xz" linux
kernel "$tmp/new/linux" 999
tar -C "$tmp/new" -cJf "$tmp/newer.tar.xz" linux
sed 's/^PATCHLEVEL.*/PATCHLEVEL = 9/' "$tmp/new/linux/Makefile" > "$tmp/m"
mv "$tmp/m" "$tmp/new/linux/Makefile"
tar -C "$tmp/new" -cJf "$tmp/wrong.tar.xz" linux

tree() { "$p/rig/tree.sh"; }
refresh() { "$p/rig/refresh.sh"; }
series() { "$p/rig/series.sh"; }
work=$p/build/linux

# Sources.
export TARBALL="$tmp/wrong.tar.xz"
check fetch_other_version_refused 1 'is Linux 6\.9\.999; Linux 6\.12\.[0-9]+ is needed' tree
rm -rf "$p/build"
export TARBALL="$tmp/newer.tar.xz"
check fetch_newer_goes_on 0 'source is 6\.12\.999, not 6\.12\.[0-9]+: going on' tree
rm -rf "$p/build"
echo junk > "$tmp/broken.tar.xz"
export TARBALL="$tmp/broken.tar.xz"
check fetch_broken_archive_named 1 'cannot unpack .*broken.tar.xz' tree
rm -rf "$p/build"
mkdir "$tmp/bin"
printf '#!/bin/sh\necho "E: Unable to locate package" >&2\nexit 100\n' > "$tmp/bin/apt-get"
chmod +x "$tmp/bin/apt-get"
no_registry() {
	PATH=$tmp/bin:$PATH TARBALL='' KPACKAGE=linux-source-0.0 "$p/rig/fetch.sh"
}
check fetch_no_registry_named 1 'no linux-source-0.0 to be had: E: Unable' no_registry
rm -rf "$p/build"
printf '#!/bin/sh\necho "F 1 1 1 1 1"\necho "d 9 9 7 1 /"\n' > "$tmp/bin/df"
chmod +x "$tmp/bin/df"
no_space() { PATH=$tmp/bin:$PATH "$p/rig/fetch.sh"; }
check fetch_no_space_named 1 'has 7 MiB free, [0-9]+ MiB are needed' no_space
one_line fetch_no_space_one_line
rm -rf "$p/build"

# The tree, with nothing in the series.
export TARBALL="$tmp/linux.tar.xz"
check tree_empty_series 0 '0 patches applied' tree
stamp() { find "$work" -type f ! -path '*/.git/*' -printf '%p %T@\n' | sort | sha1sum; }
before=$(stamp)
tree > "$tmp/output" 2>&1 || :
[ "$before" = "$(stamp)" ] && [ ! -s "$tmp/output" ] && rc=0 || rc=1
ktap_result "$rc" tree_second_run_changes_nothing

# The overlay.
mkdir -p "$p/linux/mm"
echo 'int new;' > "$p/linux/mm/new.c"
touch -d 2001-01-01 "$p/linux/mm/new.c"
check overlay_copied 0 'no patch of the series claims linux/mm/new.c' tree
cmp -s "$p/linux/mm/new.c" "$work/mm/new.c" &&
	[ -n "$(find "$work/mm/new.c" -newer "$tmp/linux.tar.xz")" ] && rc=0 || rc=1
ktap_result "$rc" overlay_copy_has_a_new_date
[ -z "$(git -C "$work" status --porcelain)" ] && rc=0 || rc=1
ktap_result "$rc" overlay_unseen_by_git
echo 'int edited;' > "$work/mm/new.c"
check overlay_edit_in_work_refused 1 'mm/new.c was edited in build/linux' tree
TAKE=1 tree > /dev/null 2>&1 || :
grep -q edited "$p/linux/mm/new.c" && rc=0 || rc=1
ktap_result "$rc" overlay_edit_taken
echo 'int x;' > "$p/linux/mm/vmalloc.c"
check overlay_over_base_refused 1 'linux/mm/vmalloc.c exists in the base' tree
rm "$p/linux/mm/vmalloc.c"
mv "$p/linux/mm/new.c" "$tmp/new.c"
tree > /dev/null 2>&1 || :
[ ! -e "$work/mm/new.c" ] && rc=0 || rc=1
ktap_result "$rc" overlay_removal_followed
mv "$tmp/new.c" "$p/linux/mm/new.c"

# Commits to patches and back.
sed -i 's/return 1/return 2/' "$work/mm/vmalloc.c"
check refresh_uncommitted_refused 1 'commit the above' refresh
git -C "$work" commit -qam 'mm/vmalloc: Return two

One is not enough.'
echo "# changed" >> "$p/patches/series"
echo "1000-x.patch" >> "$p/patches/series"
check tree_unexported_refused 1 'which patches/ does not' tree
check refresh_both_changed_refused 1 'both hold news' refresh
echo "# order" > "$p/patches/series"
check refresh_writes 0 'wrote patches/2001-return-two.patch' refresh
grep -qx 2001-return-two.patch "$p/patches/series" && rc=0 || rc=1
ktap_result "$rc" refresh_extends_series
patch=$p/patches/2001-return-two.patch
! grep -qE '^-- $|Patch-name|^ .*\|' "$patch" &&
	grep -q '^From 0000000000000000000000000000000000000000 ' "$patch" && rc=0 || rc=1
ktap_result "$rc" refresh_normalised
sum=$(cat "$p"/patches/* | sha1sum)
refresh > "$tmp/output" 2>&1 || :
[ "$sum" = "$(cat "$p"/patches/* | sha1sum)" ] && [ ! -s "$tmp/output" ] && rc=0 || rc=1
ktap_result "$rc" refresh_is_a_fixed_point
before=$(git -C "$work" rev-parse HEAD)
rm -rf "$p/build/linux" "$p/build/state/patches.sum"
check tree_from_patches 0 '1 patches applied' tree
[ "$before" = "$(git -C "$work" rev-parse HEAD)" ] && rc=0 || rc=1
ktap_result "$rc" tree_same_commits_again

# A patch that claims a file and has a hook, and one that only claims.
sed -i 's/^int b;/int b;\nint b2;/' "$work/mm/vmalloc.c"
git -C "$work" commit -qam 'mm: Hook

Text.

Patch-name: 1000-hook.patch'
git -C "$work" commit -q --allow-empty -m 'mm: Add a file

Text.

Patch-name: 1001-file.patch'
refresh > "$tmp/output" 2>&1 || :
check series_unclaimed_refused 1 'no patch claims linux/mm/new.c' series
sed -i 's/^1001-file.patch/#+ mm\/new.c\n1001-file.patch/' "$p/patches/series"
tree > "$tmp/output" 2>&1
check series_written 0 '3 patches in dist/' series
sum=$(cat "$p"/dist/*.patch | sha1sum)
series > /dev/null 2>&1 || :
[ "$sum" = "$(cat "$p"/dist/*.patch | sha1sum)" ] && rc=0 || rc=1
ktap_result "$rc" series_same_bytes_twice
apply_to_full_tree() {
	rm -rf "$tmp/full"
	cp -r "$tmp/src/linux" "$tmp/full"
	cd "$tmp/full"
	git init -q .
	git add -A
	git commit -qm base
	git am -q "$p"/dist/*-000[1-9]-*.patch
	cmp "$work/mm/vmalloc.c" mm/vmalloc.c && cmp "$p/linux/mm/new.c" mm/new.c
	echo same
}
check series_gives_the_tree_we_build 0 '^same$' apply_to_full_tree
sed -i 's/^#+ mm/#+ mm\/new.c\n#+ mm/' "$p/patches/series"
check series_double_claim_refused 1 'claims mm/new.c twice' series

# A patch that does not fit, and one that is missing.
sed -i '/^#+/d' "$p/patches/series"
echo '#+ mm/new.c' >> "$p/patches/series"
cp "$patch" "$tmp/saved"
sed -i 's/return 1/return 7/' "$patch"
check tree_unfit_patch_named 1 'patches/2001-return-two.patch does not fit' tree
one_line tree_unfit_patch_one_line
cp "$tmp/saved" "$patch"
echo 9999-none.patch >> "$p/patches/series"
check tree_missing_patch_named 1 'names 9999-none.patch, which is not there' tree

# Variants.
printf '4k base\n' > "$p/config/variants"
check config_unknown_variant 2 "no kernel variant 'nonsense'; there are: 4k" \
	"$p/rig/config.sh" nonsense
one_line config_unknown_variant_one_line

# The judge: every console below must fail or pass for the reason named.
: > "$tmp/none"
printf '1 WARNING: CPU: .* at expected\n' > "$tmp/reports"
judge() {
	awk -f "$top/rig/judge.awk" -v deny="$top/rig/splat.deny" \
		-v allow="$top/rig/splat.allow" -v expect="${expect:-$tmp/none}" \
		-v refuse="$tmp/none" -v reports="${reports:-$tmp/none}" \
		-v skips="${skips:-}" -v kunit="${kunit:-0}" -v ended="${ended:-}" \
		"$tmp/console"
}
console() {
	{
		echo "[    0.000000] Booting Linux"
		cat
	} > "$tmp/console"
}
good='[    1.000000] wideleaf-init: 1 tests
[    1.000000] KTAP version 1
[    1.000000] 1..1
[    1.100000]     # Subtest: t
[    1.200000] ok 1 t
[    1.200000] wideleaf-verdict: pass'

echo "$good" | console
check judge_passes 0 '^pass boot' judge
check judge_counts_leaf 0 '^pass t$' judge
ended="stopped after 5 s"
check judge_timeout_fails 0 '^fail boot' judge
ended=
echo "$good" | grep -v verdict | console
check judge_no_verdict_fails 0 '^fail boot' judge
echo '[    1.0] wideleaf-verdict: fail (init could not set up the guest)' | console
check judge_failed_setup_fails 0 '^fail boot' judge
{ echo "$good"; echo '[    2.0] Kernel panic - not syncing: x'; } | console
check judge_panic_fails 0 '^# report: Kernel panic' judge
{ echo '[    0.5] WARNING: CPU: 0 PID: 1 at f+0x1/0x2'; echo "$good"; } | console
check judge_warning_fails 0 '^fail boot' judge
{ echo '[    0.5] WARNING: CPU: 0 PID: 1 at expected+0x1/0x2'; echo "$good"; } | console
reports=$tmp/reports
check judge_expected_report_passes 0 '^pass boot' judge
echo "$good" | console
check judge_missing_report_fails 0 "^# 0 reports .*, expected 1" judge
{ echo '[    0.5] WARNING: CPU: 0 PID: 1 at expected+0x1/0x2'
  echo '[    0.6] WARNING: CPU: 0 PID: 1 at expected+0x1/0x2'; echo "$good"; } | console
check judge_extra_report_fails 0 "^# 2 reports .*, expected 1" judge
reports=
echo "$good" | sed 's/1\.\.1/1..2/' | console
check judge_short_plan_fails 0 '^# 1 results where 2 were planned' judge
printf 'ok 1 a\nok 2 b\n1..2\nwideleaf-verdict: host\n' | console
check judge_plan_behind_passes 0 '^pass boot' judge
printf 'ok 1 a\nok 2 b\n1..3\nwideleaf-verdict: host\n' | console
check judge_plan_behind_short_fails 0 '^# 2 results where 3 were planned' judge
echo "$good" | sed 's/ok 1 t/ok 2 t/' | console
check judge_wrong_number_fails 0 '^# t has number 2, not 1' judge
echo "$good" | sed 's/ok 1 t/not ok 1 t/' | console
check judge_failed_test_fails 0 '^fail t$' judge
echo "$good" | sed 's/ok 1 t/ok 1 t # SKIP no such CPU/' | console
check judge_unlisted_skip_fails 0 '^fail t # SKIP no such CPU' judge
skips='^t SKIP no such'
check judge_listed_skip_skips 0 '^skip t # SKIP no such CPU' judge
skips=
echo "$good" | console
kunit=1
check judge_no_kunit_fails 0 '^# no result of KUnit' judge
{ printf 'KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: s\n    1..2\n'
  printf '    ok 1 a\n    not ok 2 b\n# s: pass:1 fail:1\nnot ok 1 s\n'; echo "$good"; } | console
check judge_kunit_case_fails 0 '^fail s\.b$' judge
check judge_kunit_other_passes 0 '^pass s\.a$' judge
kunit=0
echo '^never seen' > "$tmp/expect"
expect=$tmp/expect
echo "$good" | console
check judge_missing_text_fails 0 "^fail prints '.never seen'" judge

ktap_end
