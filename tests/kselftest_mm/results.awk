# SPDX-License-Identifier: GPL-2.0-only
# Print what a selftest of mm says so that the rig finds a result with a name in it
# for each thing that was tested.
#
# Usage: PROGRAM | awk -f results.awk -v program=PROGRAM -v list=FILE [-v dies=STATUS]
# A line "PROGRAM: REGEX" of FILE names results that fail on the base as well: they
# become expected failures, and fail if they pass. With dies= the program is to end
# early, with this status.
# Exit codes: 0 what the program exits with holds, 255 something failed, anything
#             else: nothing unexpected failed if the program exits with this.

BEGIN {
	while ((getline line < list) > 0)
		if (index(line, program ": ") == 1)
			expected[++nr_expected] = substr(line, length(program) + 3)
}

function result(ok, name, directive,    i, known) {
	for (i = 1; i <= nr_expected; i++)
		if (name ~ ("^(" expected[i] ")$"))
			known = 1
	if (known && !ok) {
		ok = 1
		directive = "XFAIL as on the base"
		failed_as_expected++
	} else if (known && directive == "") {
		ok = 0
		print "# expected to fail: " name
	}
	if (!ok)
		failed++
	results++
	print (ok ? "ok " : "not ok ") results " " name \
		(directive == "" ? "" : " # " directive)
	fflush()
}

# khugepaged tells what it does next, and then good news in green, bad in red.
function end_of_run_test() {
	if (run_test != "")
		result(!red, run_test, yellow ? "SKIP" : "")
	red = yellow = 0
	run_test = ""
}

{
	sub(/\r$/, "")
	sub(/.*\r/, "")
	red = red || index($0, "\033[31m")
	yellow = yellow || index($0, "\033[33m")
	gsub(/\033\[[0-9]*m/, "")
}

/^Run test: / {
	end_of_run_test()
	run_test = substr($0, 11)
}

# uffd-unit-tests has all of it in one line.
/^Testing .*\.\.\. (done|skipped|failed)/ {
	name = reason = $0
	sub(/^Testing /, "", name)
	sub(/\.\.\. .*/, "", name)
	sub(/.*\[reason: /, "", reason)
	sub(/\]$/, "", reason)
	if (/\.\.\. failed/)
		print "# " reason
	result(!/\.\.\. failed/, name, /\.\.\. skipped/ ? "SKIP " reason : "")
	next
}

# What cow, gup_longterm and madv_populate are at is in a line of its own. They do so
# much that all that passes counts as one.
/^# \[RUN\] / {
	run = substr($0, 9)
}

/^TAP version/ {
	tap = 1
	plan = -1
}

/^1\.\.[0-9]+/ {
	plan = substr($0, 4) + 0
	if (plan)
		next
}

/^(not )?ok [0-9]+ / {
	ok = /^ok/
	name = $0
	sub(/^(not )?ok [0-9]+ (- )?/, "", name)
	directive = ""
	if (match(name, /# *(SKIP|XFAIL) */)) {
		directive = substr(name, RSTART + 2)
		name = substr(name, 1, RSTART - 1)
	}
	sub(/ +$/, "", name)
	got++
	if (run != "")
		name = run (name == "" ? "" : ": " name)
	else if (name == "")
		name = substr(directive, index(directive, " ") + 1)
	if (run != "" && ok && directive == "") {
		print "# passed: " name
		fflush()
	} else {
		result(ok, name, directive)
	}
	next
}

{
	print
	fflush()
}

END {
	end_of_run_test()
	if (!NR)
		print "it says nothing"
	if (dies != "")
		result(1, "the rest", "XFAIL dies as on the base")
	else if (tap && plan != got + 0) {
		print "# " got + 0 " results where " plan " were planned"
		failed++
	}
	if (run != "")
		result(1, "everything else", "")
	if (failed)
		exit 255
	if (dies != "")
		exit dies
	exit tap && failed_as_expected ? 1 : failed_as_expected + 0
}
