#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Have base functions changed that we re-implement, mirror or rely on?
#
# patches/watch lists them: "FILE FUNCTION HASH", # starts a comment that says
# why. The hash is of the function's text in the base.
#
# Usage: rig/watch.sh
# Environment: APPROVE=1 writes the hashes of the present base, after a look.
# Exit codes: 0 unchanged, 1 changed or gone.
. "$(dirname "$0")/lib.sh"

WATCH=$TOP/patches/watch
"$TOP/rig/fetch.sh"
[ -f "$WATCH" ] || die "no patches/watch"

# The text of one function or macro: from its first line to the closing brace.
text_of() {
	awk -v fn="$2" '
	!on && $0 ~ ("(^|[ \t*])" fn "\\(") && /^[A-Za-z_#]/ && !/;[ \t]*$/ { on = 1 }
	on { print }
	on && /^}/ { exit }
	on && /^#define/ { macro = 1 }
	on && macro && !/\\$/ { exit }' "$PRISTINE/$1"
}

bad=0
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
while read -r line; do
	case $line in
	''|'#'*)
		echo "$line" >> "$tmp"
		continue
		;;
	esac
	# shellcheck disable=SC2086 # three words
	set -- $line
	[ -f "$PRISTINE/$1" ] || {
		say "$1 is gone (was watched for $2)"
		bad=1
		echo "$line" >> "$tmp"
		continue
	}
	body=$(text_of "$1" "$2")
	if [ -z "$body" ]; then
		say "$1: $2() is gone"
		bad=1
		echo "$line" >> "$tmp"
		continue
	fi
	now=$(printf '%s\n' "$body" | sha1sum | cut -c1-12)
	echo "$1 $2 $now" >> "$tmp"
	[ "$now" != "${3:-}" ] || continue
	[ -n "${APPROVE:-}" ] || {
		say "$1: $2() is not what it was; it reads now:"
		printf '%s\n' "$body" >&2
		bad=1
	}
done < "$WATCH"

if [ -n "${APPROVE:-}" ]; then
	cp "$tmp" "$WATCH"
	say "approved; the rest of the work is the diff of patches/watch"
fi
[ $bad = 0 ] || die "look at the above, adapt, then 'make watch APPROVE=1'"
