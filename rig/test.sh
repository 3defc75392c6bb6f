#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Run suites: build the kernels they need, boot each, judge each console.
#
# A suite is a directory tests/SUITE with a file "suite", a shell fragment that
# sets what differs from these defaults:
#   DESC=		one line, for people
#   ROWS=		what it proves (ids of the requirements)
#   CONFIGS=4k		kernel variants  \
#   CPUS=b1		CPUs (boot.sh)    > every combination is one boot
#   VARIANTS=		lines "NAME: command line" /
#   CMDLINE=		command line of every boot
#   KUNIT=		glob of KUnit suites to run
#   RUN=		lines "FILE [ARGUMENTS]": guest programs of this directory,
#			FILE.c is compiled, anything else is run as it is
#   MODULES=		kernel modules of this directory, FILE.c; they become
#			/suite/FILE.ko
#   PREPARE=		a script of this directory, run here with the directory that
#			becomes /suite, to put more files there
#   EXPECT=		lines: extended regular expressions that the console must
#			show; EXPECT_NAME= for one variant only (- becomes _)
#   REFUSE=		and those it must not show; REFUSE_NAME=
#   REPORTS=		lines "COUNT REGEX": reports that the kernel is to print,
#			no more and no fewer; REPORTS_NAME=
#   SKIPS=		regex of the skips "NAME SKIP reason" that are in order;
#			SKIPS_NAME=
#   SMP=2 MEM=1G NODES=1 MAXMEM= DISK= MONITOR= FIRMWARE= QEMU_ARGS=
#			as in boot.sh; SMP_NAME=. NAMED_FIRMWARE is what make was given
#   TOPOLOGY=		as in boot.sh; TOPOLOGY_NAME=
#   DTS=		a devicetree overlay of this directory; DTS_NAME=
#   MIX=		CPUs that differ from each other (CPUS= in boot.sh); MIX_NAME=
#   SECONDS_EACH=60	for one guest program
#   TIMEOUT=120		for one boot
#   HOST=		a script of this directory, run here instead of a boot, with
#			CONFIG= set; it prints KTAP. CONFIGS=- needs no kernel
#   LONG=		1: only in test-all
# A guest program exits with 0 (passed), 4 (skipped; its last line says why) or
# anything else (failed); it may print KTAP results of its own.
#
# Usage: rig/test.sh
# Environment: SUITES="a b" selects; LIST=1 lists; TEST_ALL=1 takes long ones too;
#              ONLY=REGEX runs matching boots only; ACCEL, QEMU as in boot.sh;
#              TESTS, TEST_OUT: directories of the suites and of the results;
#              BBM=1: boot kernels with the break-before-make checker instead,
#              where there are such variants, and have it panic.
# Exit codes: 0 all passed, 1 something failed or nothing ran, 2 usage.
. "$(dirname "$0")/lib.sh"

OUT=${TEST_OUT:-$BUILD/test}
TESTS=${TESTS:-$TOP/tests}
SUITES=${SUITES:-}
LIST=${LIST:-}
TEST_ALL=${TEST_ALL:-}
ONLY=${ONLY:-.}
ACCEL=${ACCEL:-tcg}
# A suite has a FIRMWARE of its own, and may take this one instead.
# shellcheck disable=SC2034 # suites read it
NAMED_FIRMWARE=${FIRMWARE:-}
BBM=${BBM:-}

# load SUITE - read its fragment over the defaults
# shellcheck disable=SC2034 # some are read by name, in lines_of
load() {
	# Nothing of the suite before: these are set for one of its variants each.
	for v in $(set | sed -nE 's/^((EXPECT|REFUSE|REPORTS|SKIPS|MIX|DTS|SMP|TOPOLOGY)_[A-Za-z0-9_]*)=.*/\1/p'); do
		unset "$v"
	done
	DESC='' ROWS='' CONFIGS=4k CPUS=b1 VARIANTS='' CMDLINE='' KUNIT='' RUN=''
	MODULES='' EXPECT='' REFUSE='' REPORTS='' SKIPS='' SMP=2 MEM=1G NODES=1
	QEMU_ARGS='' SECONDS_EACH=60 TIMEOUT=120 HOST='' LONG='' MIX=''
	MAXMEM='' DISK='' MONITOR='' FIRMWARE='' DTS='' TOPOLOGY='' PREPARE=''
	# shellcheck disable=SC1090 # a file of the suite
	. "$TESTS/$1/suite"
	# The CPU is the host's there.
	[ "$ACCEL" != kvm ] || CPUS=host
	[ -z "$BBM" ] || under_checker
}

# Variants of the same name with -bbm behind the page size or "tiny": 4k-bbm-debug.
under_checker() {
	CMDLINE="$CMDLINE bbm_check=panic"
	# Nothing is booted there.
	[ -z "$HOST" ] || CONFIGS=''
	CONFIGS=$(for c in $CONFIGS; do
		c=${c%%-*}-bbm${c#"${c%%-*}"}
		! grep -q "^${c}[[:space:]]" "$TOP/config/variants" || echo "$c"
	done)
}

# lines_of VAR VARIANT - the lines of VAR and of VAR_VARIANT
lines_of() {
	eval "printf '%s\n' \"\$$1\""
	if [ -n "$2" ]; then
		suffix=$(printf '%s' "$2" | tr -c 'A-Za-z0-9\n' _)
		eval "printf '%s\n' \"\${$1_$suffix:-}\""
	fi
}

# last_of VAR VARIANT - the variant's own value, or else that of all
last_of() {
	lines_of "$1" "$2" | sed '/^[[:space:]]*$/d' | tail -n 1
}

selected() {
	if [ -n "$SUITES" ]; then
		for s in $SUITES; do
			[ -f "$TESTS/$s/suite" ] || usage_error "no suite '$s';" \
				"'make test LIST=1' lists them"
			echo "$s"
		done
		return
	fi
	for f in "$TESTS"/*/suite; do
		[ -f "$f" ] || continue
		s=${f%/suite}
		s=${s##*/}
		long=$(load "$s" > /dev/null && echo "$LONG") ||
			die "tests/$s/suite cannot be read"
		[ -n "$long" ] && [ -z "$TEST_ALL" ] || echo "$s"
	done
	return 0
}

# boots SUITE - "SUITE CONFIG CPU VARIANT" of every boot, - for none
boots() (
	load "$1"
	if [ -n "$HOST" ]; then
		for config in $CONFIGS; do
			echo "$1 $config - -"
		done
		return
	fi
	variants=$(printf '%s\n' "$VARIANTS" | sed -n 's/^[[:space:]]*\([^:[:space:]]*\):.*/\1/p')
	for config in $CONFIGS; do
		for cpu in $CPUS; do
			for v in ${variants:--}; do
				echo "$1 $config $cpu $v"
			done
		done
	done
)

job_name() {
	name=$1
	[ "$2" = - ] || name=$name.$2
	[ "$3" = - ] || name=$name.$(printf '%s' "$3" | tr -c 'A-Za-z0-9.\n' _)
	[ "$4" = - ] || name=$name.$4
	echo "$name"
}

# Compile and pack what the guest runs; one archive per suite and kernel.
stage_suite() {
	stage=$OUT/stage/$1.$2
	rm -rf "$stage" "$stage.cpio.gz"
	mkdir -p "$stage"
	tests=$TESTS/$1

	for m in $MODULES; do
		ext=$BUILD/$2/ext/$1
		mkdir -p "$ext"
		for f in "$tests"/*.[ch]; do
			cmp -s "$f" "$ext/${f##*/}" || cp "$f" "$ext/"
		done
	done
	if [ -n "$MODULES" ]; then
		for m in $MODULES; do
			echo "obj-m += ${m%.c}.o"
		done > "$ext/Kbuild"
		"$TOP/rig/build.sh" "$2" "M=$ext" modules > "$stage.log" 2>&1 || {
			cat "$stage.log" >&2
			return 1
		}
		for m in $MODULES; do
			cp "$ext/${m%.c}.ko" "$stage/"
		done
	fi

	: > "$stage/run"
	[ -n "$RUN" ] || RUN='init'
	printf '%s\n' "$RUN" | while read -r file arguments; do
		case $file in
		'')
			continue
			;;
		init)
			echo "init 10 true" >> "$stage/run"
			continue
			;;
		*.c)
			program=${file%.c}
			compile_guest "$tests/$file" "$stage/$program" || exit 1
			;;
		*)
			program=$file
			cp "$tests/$file" "$stage/$program" || exit 1
			chmod +x "$stage/$program"
			;;
		esac
		name=${program%.sh}
		[ -z "$arguments" ] || name=$name-$(printf '%s' "$arguments" |
			tr -c 'A-Za-z0-9\n' _)
		echo "$name $SECONDS_EACH ./$program $arguments" >> "$stage/run"
	done || return 1
	[ -z "$PREPARE" ] || "$tests/$PREPARE" "$stage" || return 1
	"$TOP/rig/initramfs.sh" "$stage.cpio.gz" "$stage"
}

# In a subshell: it has names of its own.
compile_guest() (
	set -- "$1" "$2" "$TOP"/rig/guest/lib*.c
	program=$1
	output=$2
	shift 2
	[ -f "$1" ] || shift
	"${CROSS_COMPILE}gcc" -D_GNU_SOURCE -static -O2 -Wall -Wextra -Werror \
		-I"$TOP/rig/guest" -I"$WORK/tools/testing/selftests" \
		-o "$output" "$program" "$@" -lpthread
)

# Add up one list of results, and print it as KTAP nested in the job.
report() {
	awk -v job="$1" -v count="$OUT/count" '
	/^#/ { print "    " $0; next }
	{
		n++
		name = $0
		sub(/^[a-z]* /, "", name)
		if (sub(/ # /, " # SKIP ", name) && $1 == "skip")
			sub(/# SKIP (SKIP|XFAIL|TODO) */, "# SKIP ", name)
		else
			sub(/ # SKIP.*/, "", name)
		printf "    %s %d %s\n", $1 == "fail" ? "not ok" : "ok", n, name
		total[$1]++
	}
	END {
		printf "    1..%d\n", n
		printf "%d %d %d\n", total["pass"], total["fail"], total["skip"] >> count
		exit total["fail"] || !n
	}' "$2" > "$2.ktap" && rc=0 || rc=1
	number=$((number + 1))
	echo "    # Subtest: $1"
	cat "$2.ktap"
	if [ "$rc" = 0 ]; then
		echo "ok $number $1"
	else
		# What KUnit says of an expectation stands before its verdict.
		grep -A 4 -E 'EXPECTATION FAILED|ASSERTION FAILED' "$OUT/$1/console" \
			2>/dev/null | head -n 25 | sed 's/^/    # /'
		# And what a script says of itself.
		grep '^Bail out!' "$OUT/$1/console" 2>/dev/null | sed 's/^/    # /'
		tail -n 5 "$OUT/$1/console.err" 2>/dev/null | sed 's/^/    # /'
		echo "not ok $number $1"
		echo "# see $OUT/$1/"
		sed -n "s/^fail \([^#]*\)/# failed: $1: \1/p" "$2" >> "$OUT/failed"
	fi
}

run_boot() {
	job=$(job_name "$@")
	dir=$OUT/$job
	rm -rf "$dir"
	mkdir -p "$dir"
	load "$1"
	variant=$4
	[ "$variant" != - ] || variant=''

	if [ -n "$HOST" ]; then
		say "$job"
		rc=0
		# make exports CPUS, which means something else to boot.sh.
		(cd "$TOP" && CPUS='' CONFIG=$2 timeout -k 5 "$TIMEOUT" \
			"$TESTS/$1/$HOST") \
			> "$dir/console" 2> "$dir/console.err" < /dev/null || rc=$?
		ended=
		[ $rc = 0 ] || ended="$HOST ended with $rc"
		# Our own scripts give no verdict of a guest's.
		echo "wideleaf-verdict: host" >> "$dir/console"
	else
		cmdline=$CMDLINE
		if [ -n "$variant" ]; then
			cmdline="$cmdline $(printf '%s\n' "$VARIANTS" |
				sed -n "s/^[[:space:]]*$variant:[[:space:]]*//p")"
		fi
		[ -z "$KUNIT" ] ||
			cmdline="$cmdline kunit.enable=1 kunit.filter_glob=$KUNIT"

		if [ ! -f "$OUT/stage/$1.$2.cpio.gz" ] &&
		   ! (stage_suite "$1" "$2") 2> "$dir/stage.log"; then
			{
				sed 's/^/# /' "$dir/stage.log" | head -n 20
				echo "fail build of the guest programs"
			} > "$dir/result"
			report "$job" "$dir/result"
			return
		fi
		say "$job"
		ended=
		mix=$(last_of MIX "$variant")
		dts=$(last_of DTS "$variant")
		smp=$(last_of SMP "$variant")
		topology=$(last_of TOPOLOGY "$variant")
		CPU=$3 CPUS=$mix SMP=$smp MEM=$MEM NODES=$NODES CMDLINE=$cmdline \
			INITRD=$OUT/stage/$1.$2.cpio.gz QEMU_ARGS=$QEMU_ARGS \
			TOPOLOGY=$topology MAXMEM=$MAXMEM DISK=$DISK MONITOR=$MONITOR \
			FIRMWARE=$FIRMWARE DTS=${dts:+$TESTS/$1/$dts} \
			TIMEOUT=$TIMEOUT LOG=$dir/console \
			"$TOP/rig/boot.sh" "$2" 2> "$dir/boot.err" ||
			ended=$(sed 's/^boot: error: //' "$dir/boot.err" | head -n 1)
	fi
	[ -f "$dir/console" ] || : > "$dir/console"

	for list in EXPECT REFUSE REPORTS; do
		lines_of "$list" "$variant" | sed '/^[[:space:]]*$/d' > "$dir/$list"
	done
	# shellcheck disable=SC2097,SC2098 # -v takes no backslashes, ENVIRON does
	awk -f "$TOP/rig/judge.awk" -v deny="$TOP/rig/splat.deny" \
		-v allow="$TOP/rig/splat.allow" -v expect="$dir/EXPECT" \
		-v refuse="$dir/REFUSE" -v reports="$dir/REPORTS" \
		-v skips="$(last_of SKIPS "$variant")" -v kunit="${KUNIT:+1}" -v ended="$ended" \
		"$dir/console" > "$dir/result" || echo "fail judge" >> "$dir/result"
	report "$job" "$dir/result"
}

suites=$(selected) || exit
if [ -n "$LIST" ]; then
	for s in $suites; do
		(load "$s"; printf '%-19s %-23s %s\n' "$s" "${HOST:+host }$CONFIGS" \
			"$DESC${ROWS:+ [$ROWS]}")
	done
	exit 0
fi
[ -n "$suites" ] || die "there are no suites in tests/"

for f in splat.deny splat.allow; do
	[ -f "$TOP/rig/$f" ] || die "rig/$f is missing: no verdict without it"
done
rm -rf "$OUT"
mkdir -p "$OUT"
: > "$OUT/count"
: > "$OUT/failed"
for s in $suites; do
	boots "$s" || die "tests/$s/suite cannot be read"
done > "$OUT/all"
grep -E "$ONLY" "$OUT/all" > "$OUT/boots" || die "no boot matches ONLY=$ONLY"

"$TOP/rig/tree.sh"
"$TOP/rig/initramfs.sh"

begin=$(date +%s)
number=0
echo "KTAP version 1"
echo "1..$(grep -c . "$OUT/boots")"

# One kernel after the other, and at once all that runs on it. The next kernels
# are built meanwhile, from the time that boots leave: few keep all CPUs busy.
# Kernels that are soon built come first, for there is nothing to boot before.
configs=$(cut -d' ' -f2 "$OUT/boots" |
	awk '!seen[$0]++ { print /^-$/ ? 0 : /^tiny/ ? 1 : 2, $0 }' |
	sort -s -n -k1,1 | cut -d' ' -f2)
mkdir "$OUT/built"
(
	for config in $configs; do
		rc=0
		[ "$config" = - ] ||
			nice -n 19 "$TOP/rig/build.sh" "$config" < /dev/null || rc=$?
		echo "$rc" > "$OUT/built/$config.new"
		mv "$OUT/built/$config.new" "$OUT/built/$config"
	done
) &
builder=$!
trap 'kill "$builder" 2>/dev/null || :' EXIT
for config in $configs; do
	grep -E "^[^ ]+ $config " "$OUT/boots" > "$OUT/boots.now"
	while [ ! -f "$OUT/built/$config" ]; do
		kill -0 "$builder" 2>/dev/null || [ -f "$OUT/built/$config" ] ||
			die "$config: its build came to no end"
		sleep 0.5
	done
	built=1
	[ "$(cat "$OUT/built/$config")" = 0 ] || built=
	while read -r s c cpu v <&3; do
		if [ -n "$built" ]; then
			run_boot "$s" "$c" "$cpu" "$v"
		else
			job=$(job_name "$s" "$c" "$cpu" "$v")
			mkdir -p "$OUT/$job"
			echo "fail kernel $c does not build" > "$OUT/$job/result"
			report "$job" "$OUT/$job/result"
		fi
	done 3< "$OUT/boots.now"
done

# shellcheck disable=SC2046 # three numbers
set -- $(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$OUT/count")
head -n 50 "$OUT/failed"
echo "# $(($(date +%s) - begin)) s; consoles and results are in $OUT"
echo "$1 passed, $2 failed, $3 skipped"
[ "$2" = 0 ] && [ "$1" -gt 0 ]
