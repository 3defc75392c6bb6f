#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Check the form of everything in this repository.
#
# Usage: rig/lint.sh
# Exit codes: 0 clean, 1 findings (each printed), 3 missing tool.
. "$(dirname "$0")/lib.sh"

cd "$TOP"
need git git
need perl perl
need shellcheck shellcheck
[ -f "$PRISTINE/scripts/checkpatch.pl" ] || "$TOP/rig/fetch.sh"

bad=0
found() {
	say "$*"
	bad=1
}

# What git knows, and what it would add.
files() {
	git ls-files -co --exclude-standard -- "$@" | while read -r f; do
		[ ! -f "$f" ] || echo "$f"
	done
}

scripts=$(files 'rig/*.sh' 'tests/*.sh' 'bench/*.sh' 'tools/*.sh' .ci/run)
# shellcheck disable=SC2086 # a list of names without blanks
shellcheck $scripts || found "shellcheck has findings"

# Guest scripts run in busybox, everything else in sh or bash: all must parse.
for f in $(files 'tests/*/suite'); do
	sh -n "$f" || found "$f does not parse"
done

for f in $(files); do
	case $f in
	patches/*.patch|COPYING|LICENSE*|*.md|*.tsv|*.json) continue ;;
	.gitignore|.shellcheckrc|*/.kunitconfig) continue ;;
	patches/series|patches/watch|config/*|rig/splat.*) continue ;;
	*.rst) ;;
	esac
	head -n 3 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-only' ||
		found "$f: no 'SPDX-License-Identifier: GPL-2.0-only' in its first lines"
done

# Neither paths of one machine nor other languages than C, shell and make.
for f in $(files); do
	case $f in
	*.py) found "$f: no Python here" ;;
	rig/lint.sh) ;;
	*)
		! grep -nE '(^|[^A-Za-z0-9_.$}-])/(work|home)/' "$f" ||
			found "$f: a path of one machine"
		;;
	esac
done

# Kernel style. FILE_PATH_CHANGES, MISSING_SIGN_OFF: whoever posts the series
# adds those.
checkpatch() {
	"$PRISTINE/scripts/checkpatch.pl" --root="$PRISTINE" --no-tree --strict \
		--quiet --no-summary --terse --show-types \
		--ignore FILE_PATH_CHANGES,MISSING_SIGN_OFF "$@"
}

for f in $(files 'linux/*.[chS]' 'linux/*Kconfig' 'linux/*Makefile'); do
	checkpatch -f "$f" || found "checkpatch: $f"
done
for f in $(files 'bench/*.[ch]' 'rig/*.[ch]' 'tests/*.[ch]'); do
	# Programs and modules of ours, outside of the kernel's tree.
	checkpatch --ignore FILE_PATH_CHANGES,MISSING_SIGN_OFF,PREFER_KERNEL_TYPES,CONST_STRUCT,PREFER_DEFINED_ATTRIBUTE_MACRO,CAMELCASE,ARRAY_SIZE,EMBEDDED_FUNCTION_NAME,ENOSYS \
		-f "$f" || found "checkpatch: $f"
done
for p in $(series_patches); do
	# A patch that only adds overlay files has no hunk of its own.
	grep -q '^diff --git' "patches/$p" || continue
	# By standard input: a file that git tracks would be taken for source.
	checkpatch --ignore FILE_PATH_CHANGES,MISSING_SIGN_OFF,COMMIT_LOG_LONG_LINE \
		- < "patches/$p" || found "checkpatch: patches/$p"
done

for f in $(files 'linux/*.[ch]'); do
	out=$("$PRISTINE/scripts/kernel-doc" -none -Wall "$f" 2>&1) || :
	[ -z "$out" ] || {
		printf '%s\n' "$out" >&2
		found "kernel-doc: $f"
	}
done

# Each kernel-doc of a function says in which context, and what it returns.
for f in $(files 'linux/*.[ch]'); do
	awk -v f="$f" '
	/^\/\*\*$/ { doc = 1; body = ""; at = NR; next }
	doc && /\*\// {
		doc = 0
		if (body ~ /^ \* [A-Za-z0-9_]+\(\)/) {
			if (body !~ /\n \* Context:/) print f ":" at ": no Context section"
			if (body !~ /\n \* Return:/ && !void) need = at
		}
		next
	}
	doc { body = body $0 "\n"; next }
	need && NF {
		if ($0 !~ /(^|[ \t])void [a-z_]/) print f ":" need ": no Return section"
		need = 0
	}' "$f"
done > "${TMPDIR:-/tmp}/lint.$$"
# A barrier or flush without a comment just above it says nothing about its partner.
for f in $(files 'linux/*.[ch]'); do
	awk -v f="$f" '
	/(^|[^A-Za-z0-9_])(dsb|isb|__tlbi|__tlbi_user|__tlbi_level)\(/ && !/^[ \t]*(\*|\/\*|#define)/ {
		if (!above && $0 !~ /\/\*.*\*\//)
			print f ":" NR ": barrier without a comment above it"
		next
	}
	/\*\/[ \t]*$/ { above = 1; next }
	/^[ \t]*$/ { next }
	{ above = 0 }' "$f"
done >> "${TMPDIR:-/tmp}/lint.$$"
if [ -s "${TMPDIR:-/tmp}/lint.$$" ]; then
	cat "${TMPDIR:-/tmp}/lint.$$" >&2
	found "comments are missing"
fi
rm -f "${TMPDIR:-/tmp}/lint.$$"

# The manifest: claimed once, there, and nothing unclaimed.
series_claims | cut -d' ' -f2 | sort | uniq -d | while read -r f; do
	echo "$f"
done | grep . && found "claimed twice (above)"
for f in $(series_claims | cut -d' ' -f2); do
	[ -f "linux/$f" ] || found "patches/series claims $f, which is not in linux/"
done
for f in $(overlay_files); do
	series_claims | grep -q " $f$" || found "no patch claims linux/$f"
done
for p in patches/*.patch; do
	[ -f "$p" ] || continue
	series_patches | grep -qxF "${p#patches/}" || found "$p is not in patches/series"
done

if [ $bad = 0 ]; then
	say "clean"
fi
exit $bad
