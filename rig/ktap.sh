# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# KTAP for shell tests on the host. Sourced; needs $tmp, a directory.
#
#	check NAME STATUS PATTERN command...
# The command must end with STATUS and print a line that matches PATTERN.

ktap_n=0


ktap_result() {
	ktap_n=$((ktap_n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $ktap_n $2"
	else
		echo "not ok $ktap_n $2"

	fi
}

check() {
	ktap_name=$1 ktap_want=$2 ktap_pattern=$3
	shift 3
	ktap_rc=0
	# shellcheck disable=SC2154 # tmp: see above
	("$@") > "$tmp/output" 2>&1 < /dev/null || ktap_rc=$?
	if [ "$ktap_rc" = "$ktap_want" ] && grep -qE -- "$ktap_pattern" "$tmp/output"; then
		ktap_result 0 "$ktap_name"
		return
	fi
	echo "# exit code $ktap_rc (expected $ktap_want), output (expected '$ktap_pattern'):"
	sed 's/^/#   /' "$tmp/output" | head -n 20
	ktap_result 1 "$ktap_name"
}

# one_line NAME - the last check printed one line only
one_line() {
	ktap_rc=0
	[ "$(grep -c . "$tmp/output")" = 1 ] || ktap_rc=1
	[ $ktap_rc = 0 ] || sed 's/^/#   /' "$tmp/output" | head -n 20
	ktap_result $ktap_rc "$1"
}

ktap_end() {
	echo "1..$ktap_n"
	exit 0
}
