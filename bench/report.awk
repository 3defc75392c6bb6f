# SPDX-License-Identifier: GPL-2.0-only
# Join the figures of two kernels; see report.sh.
#
# Usage: awk -v problems=FILE -f report.awk which=base BASE.ops \
#	which=base kind=regions BASE.regions (likewise for ours) \
#	kind=targets targets.tsv
# Output: one line per op, tab separated; problems, one per line, in FILE.

function problem(text) {
	print text > problems
	bad++
}

# Value of the field NAME= of the current line, or "".
function field(name,    i) {
	for (i = 1; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return ""
}


kind == "ops" && /^op=/ {
	op = field("op")
	if (field("error") != "") {
		problem(which ": " op " failed: " $0)
		next
	}
	insns[which, op] = field("insns")
	region[which, op] = field("region")
	first[which, op] = field("first")
	if (field("min") != field("max"))
		spread[which, op] = field("min") " to " field("max")
	if (field("runs_up") != "")
		runs[which, op] = field("runs_up") " ascending, " \
			field("runs_any") " either way"
	if (op != "empty" && !(op in known)) {
		known[op] = 1
		order[++ops] = op
	}
	next
}

kind == "regions" && /^region=/ {
	outside[which, field("region")] = field("insns")
	barriers[which, field("region")] = field("dsb") "/" field("isb") "/" \
		field("tlbi")
	isbs[which, field("region")] = field("isb")
	next
}

kind == "regions" {
	problem(which ": a measured call never ended: " $0)
	next
}

kind == "targets" && !/^#/ && NF {
	target[$1] = $2
	force[$1] = $3
	row[$1] = $4
	targets[++nr_targets] = $1
	next
}

# The two counters, one inside the guest and one outside, must agree.
function check(which, op,    r, e, in_call) {
	r = region[which, op]
	e = region[which, "empty"]
	in_call = outside[which, r] - outside[which, e]
	if (!((which, r) in outside) || in_call != insns[which, op] + 0)
		problem(which ": " op ": the guest counts " insns[which, op] \
			" instructions, the plugin " in_call)
}

function base_name(op) {
	sub(/\.first$/, "", op)
	return op
}

function figure(which, op) {
	if (op ~ /\.first$/)
		return first[which, base_name(op)]
	return insns[which, op]
}

# DSB/ISB/TLBI of the call; the two ISBs of the counter's reads are not its own.
function call_barriers(which, op,    r, parts) {
	if (op ~ /\.first$/)
		return "-"
	r = region[which, op]
	split(barriers[which, r], parts, "/")
	return parts[1] "/" (parts[2] - isbs[which, region[which, "empty"]]) \
		"/" parts[3]
}

function verdict(op, base, ours,    limit, met) {
	if (base == "" || ours == "")
		return "missing"
	if (target[op] == "-")
		return "-"
	limit = target[op]
	sub(/^1:/, "", limit)
	met = ours * limit <= base + 0
	if (force[op] != "now")
		return met ? "later (met)" : "later (not yet)"
	return met ? "met" : "MISSED"
}

END {
	OFS = "\t"
	print "op", "base", "ours", "ratio", "base_dsb/isb/tlbi", \
		"ours_dsb/isb/tlbi", "target", "verdict"
	for (i = 1; i <= nr_targets; i++) {
		op = targets[i]
		if (!(base_name(op) in known)) {
			problem(op " is in targets.tsv but was not measured")
			continue
		}
		base = figure("base", op)
		ours = figure("ours", op)
		v = verdict(op, base, ours)
		ratio = "-"
		if (base + 0 && ours + 0)
			ratio = sprintf("1:%.2f", base / ours)
		print op, base, ours, ratio, call_barriers("base", op), \
			call_barriers("ours", op), target[op], v
		if (v == "MISSED")
			problem(op " costs " ours ", more than " target[op] \
				" of base, " base " (" row[op] ")")
		if (v == "missing")
			problem(op " has no figure")
		if (op !~ /\.first$/) {
			check("base", op)
			check("ours", op)
		}
		listed[base_name(op)] = 1
	}
	for (i = 1; i <= ops; i++)
		if (!(order[i] in listed))
			problem(order[i] " was measured but is not in targets.tsv")
	for (key in runs) {
		split(key, parts, SUBSEP)
		print "# runs of " parts[2] ", " parts[1] ": " runs[key]
	}
	for (key in spread) {
		split(key, parts, SUBSEP)
		print "# spread of " parts[2] ", " parts[1] ": " spread[key]
	}
	close(problems)
}
