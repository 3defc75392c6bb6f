# SPDX-License-Identifier: GPL-2.0-only
# Judge the console of one test boot.
#
# Usage: awk -f judge.awk -v deny=FILE -v allow=FILE -v expect=FILE
#	-v refuse=FILE -v reports=FILE -v skips=ERE -v kunit=0|1
#	-v ended=TEXT CONSOLE
# Output: one line per test, "pass NAME", "fail NAME" or "skip NAME # REASON",
# with "# TEXT" lines above those they explain. The last test is "boot": the
# guest gave its verdict, ended by itself, and printed no report.
#
# A result line of KTAP counts if nothing is nested in it. Plans and numbers are
# checked. A line that a test printed (indented) is no report of the kernel's.

function read_list(file, list,    n, line) {
	n = 0
	while ((getline line < file) > 0)
		if (line !~ /^#/ && line !~ /^[[:space:]]*$/)
			list[++n] = line
	close(file)
	return n
}

function note(text) {
	notes = notes "# " text "\n"
}

function result(verdict, name, text) {
	failures += verdict == "fail"
	printf "%s%s %s%s\n", notes, verdict, name, text == "" ? "" : " # " text
	notes = ""
}

# The names of the enclosing tests, then its own.
function full_name(depth, name,    d, path) {
	path = ""
	for (d = 0; d <= depth; d += 4)
		if (d in subtest && subtest[d] != name)
			path = path subtest[d] "."
	return path name
}

# Everything nested deeper than this is over: was its plan kept?
function close_deeper(depth,    d) {
	for (d in plan) {
		if (d + 0 <= depth)
			continue
		if (plan[d] != got[d])
			broken = broken sprintf("# %d results where %d were planned\n",
						got[d], plan[d])
		delete plan[d]
		delete got[d]
	}
	for (d in subtest)
		if (d + 0 > depth)
			delete subtest[d]
	for (d in nested)
		if (d + 0 > depth)
			delete nested[d]
}

function one_result(depth,    ok, number, name, directive) {
	ok = text !~ /^ *not ok/
	sub(/^ *(not )?ok */, "", text)
	number = text + 0
	sub(/^[0-9]+ *(- *)?/, "", text)
	directive = ""
	if (match(text, / *# *(SKIP|XFAIL|TODO)/)) {
		directive = substr(text, RSTART)
		text = substr(text, 1, RSTART - 1)
		sub(/^ *# */, "", directive)
	}
	sub(/ *#.*/, "", text)
	name = text

	close_deeper(depth + 4)
	if (depth in plan && number != got[depth] + 1)
		broken = broken sprintf("# %s has number %d, not %d\n", name, number,
					got[depth] + 1)
	got[depth]++

	leaf = !nested[depth + 4]
	# A result that others are nested in: it must not be worse than they.
	if (depth + 4 in plan && plan[depth + 4] != got[depth + 4]) {
		note(sprintf("%s: %d results where %d were planned", name,
			     got[depth + 4], plan[depth + 4]))
		result("fail", full_name(depth, name) ".plan")
	}
	delete plan[depth + 4]
	delete got[depth + 4]
	delete nested[depth + 4]
	delete subtest[depth + 4]
	nested[depth] = 1

	if (!booted)
		kunit_results++
	if (leaf || (!ok && !failed_inside[depth + 4])) {
		name = full_name(depth, name)
		if (directive != "") {
			if (skips == "" || (name " " directive) !~ skips) {
				note("this skip is not on the suite's list (SKIPS=)")
				result("fail", name, directive)
				failed_inside[depth] = 1
			} else {
				result("skip", name, directive)
			}
		} else {
			result(ok ? "pass" : "fail", name)
			if (!ok)
				failed_inside[depth] = 1
		}
	} else if (!ok) {
		failed_inside[depth] = 1
	}
	delete failed_inside[depth + 4]
}

BEGIN {
	denies = read_list(deny, deny_re)
	allows = read_list(allow, allow_re)
	expects = read_list(expect, expect_re)
	refuses = read_list(refuse, refuse_re)
	wanted = read_list(reports, want_re)
	for (i = 1; i <= wanted; i++) {
		want_count[i] = want_re[i] + 0
		sub(/^[0-9]+ +/, "", want_re[i])
	}
	last_report = -1000
}

{
	sub(/\r$/, "")
	# Colours and the like of an interactive console.
	gsub(/\033\[[0-9;]*[A-Za-z]/, "")
	text = $0
	sub(/^\[ *[0-9]+\.[0-9]+\](\[[ TC0-9]+\])? ?/, "", text)
	if (text != "")
		last = text

	for (i = 1; i <= expects; i++)
		if (text ~ expect_re[i])
			seen[i] = 1
	for (i = 1; i <= refuses; i++)
		if (text ~ refuse_re[i])
			refused[i] = text

	if (text ~ /^wideleaf-init: /)
		booted = 1
	if (text ~ /^wideleaf-verdict: /)
		verdict = text

	# What was planned in this kernel is planned again in the next.
	if (text ~ /^kexec_core: Starting new kernel/) {
		split("", plan)
		split("", got)
		split("", nested)
		split("", subtest)
	}

	match(text, /^ */)
	depth = RLENGTH

	if (text ~ /^ *(not )?ok [0-9]+( |$)/) {
		one_result(depth)
		next
	}
	if (text ~ /^ *1\.\.[0-9]+/) {
		number = text
		sub(/^ *1\.\./, "", number)
		close_deeper(depth)
		if (depth in plan && plan[depth] != got[depth])
			broken = broken sprintf("# %d results where %d were planned\n",
						got[depth], plan[depth])
		# TAP allows the plan behind the results as well.
		if (depth in plan || !got[depth])
			got[depth] = 0
		plan[depth] = number + 0
		next
	}
	if (text ~ /^ *# Subtest: /) {
		name = text
		sub(/^ *# Subtest: /, "", name)
		subtest[depth] = name
		next
	}
	if (text ~ /^ *not ok/ || text ~ /^ *# .*: (EXPECTATION|ASSERTION) FAILED/)
		note(text)

	if (depth > 0)
		next
	for (i = 1; i <= denies; i++)
		if (text ~ ("^(" deny_re[i] ")"))
			break
	if (i > denies)
		next
	# The trace that belongs to a report is not another one.
	if (text ~ /^Call trace:/ && NR - last_report < 60)
		next
	last_report = NR
	for (i = 1; i <= allows; i++)
		if (text ~ ("^(" allow_re[i] ")"))
			next
	for (i = 1; i <= wanted; i++)
		if (text ~ ("^(" want_re[i] ")")) {
			want_seen[i]++
			next
		}
	if (surprises++ < 5)
		surprise = surprise "# report: " text "\n"
}

END {
	close_deeper(-1)
	for (i = 1; i <= expects; i++) {
		if (!seen[i])
			note("not on the console: " expect_re[i])
		result(seen[i] ? "pass" : "fail", "prints '" expect_re[i] "'")
	}
	for (i = 1; i <= refuses; i++) {
		if (i in refused)
			note(refused[i])
		result(i in refused ? "fail" : "pass", "lacks '" refuse_re[i] "'")
	}

	bad = 0
	notes = notes broken surprise
	if (broken != "" || surprises)
		bad = 1
	for (i = 1; i <= wanted; i++)
		if (want_seen[i] + 0 != want_count[i]) {
			note(sprintf("%d reports '%s', expected %d", want_seen[i],
				     want_re[i], want_count[i]))
			bad = 1
		}
	if (kunit && !kunit_results) {
		note("no result of KUnit: is the suite in this kernel?")
		bad = 1
	}
	if (ended != "") {
		note(ended)
		bad = 1
	}
	if (verdict == "") {
		note("no verdict; the last line was: " last)
		bad = 1
	} else if (verdict !~ /^wideleaf-verdict: (pass|host)/ && !failures) {
		# Something failed that left no result of its own.
		note(verdict)
		bad = 1
	}
	result(bad ? "fail" : "pass", "boot")
}
