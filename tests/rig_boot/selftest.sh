#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Self test of the rig: boots that go wrong, on a real kernel.
#
# Usage: CONFIG=4k tests/rig_boot/selftest.sh    from the top directory; KTAP
# shellcheck disable=SC2317 # functions are called through check()
set -eu

top=$(pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. "$top/rig/ktap.sh"
unset SUITES LIST ONLY CMDLINE INITRD QEMU_ARGS TIMEOUT IMAGE CPU SMP MEM NODES DRY \
	MAXMEM DISK MONITOR FIRMWARE DTS \
	2>/dev/null || :

boot() {
	env LOG="$tmp/console" TIMEOUT=20 "$@" "$top/rig/boot.sh" "$CONFIG"
}

check cpu_unknown_gives_qemus_message 1 "QEMU failed: .*nonsense" boot CPU=nonsense
one_line cpu_unknown_one_line
check config_unbuilt_named 1 "no kernel .*; run 'make build CONFIG=none' first" \
	"$top/rig/boot.sh" none
check qemu_missing_named 3 'qemu-none is missing' boot QEMU=qemu-none
check mem_nonsense_named 2 'MEM=lots' boot MEM=lots
check smp_nonsense_named 2 'SMP=zero' boot SMP=zero
check nodes_uneven_named 2 'cannot be shared out to NODES=3' boot NODES=3
check accel_nonsense_named 2 'ACCEL=warp' boot ACCEL=warp
check maxmem_small_named 2 'MAXMEM=1G is not above MEM=2G' boot MEM=2G MAXMEM=1G
check disk_missing_named 1 'no such file: DISK=/none/disk' boot DISK=/none/disk
check disk_nonsense_named 2 'DISK=big' boot DISK=big
check firmware_missing_named 1 'no such file: FIRMWARE=none.fd' boot FIRMWARE=none.fd
printf 'nonsense\n' > "$tmp/bad.dts"
check dts_nonsense_named 1 'bad.dts' boot DTS="$tmp/bad.dts"
printf '/dts-v1/;\n/plugin/;\n&nothing { a; };\n' > "$tmp/unfit.dts"
check dts_that_does_not_fit_named 1 'does not fit' boot DTS="$tmp/unfit.dts"
check dry_prints_command 0 "'-cpu' 'cortex-a53'" boot DRY=1 CPU=cortex-a53
check nodes_get_distances 0 "dist,src=0,dst=1,val=20" boot DRY=1 NODES=2

# Suites that go wrong in one way each.
t=$tmp/tests
suite() {
	mkdir -p "$t/$1"
	{
		echo "CONFIGS=$CONFIG"
		cat
	} > "$t/$1/suite"
	printf '#!/bin/sh\n%s\n' "$2" > "$t/$1/do.sh"
	echo "RUN=do.sh" >> "$t/$1/suite"
}
suite good 'echo fine' < /dev/null
suite bad 'echo sorry; exit 1' < /dev/null
suite skips 'echo no such thing; exit 4' < /dev/null
suite skips_listed 'echo no such thing; exit 4' <<'END'
SKIPS="no such thing"
END
suite hangs 'sleep 1000' <<'END'
SECONDS_EACH=2
END
suite hangs_all 'sleep 1000' <<'END'
SECONDS_EACH=1000
TIMEOUT=15
END
suite warns 'echo WARNING > /sys/kernel/debug/provoke-crash/DIRECT' < /dev/null
suite panics 'echo c > /proc/sysrq-trigger' < /dev/null
suite reports 'echo l > /proc/sysrq-trigger' < /dev/null
suite reports_listed 'echo "<4>WARNING: on purpose" > /dev/kmsg' <<'END'
REPORTS="1 WARNING: on purpose"
END
suite reports_missing 'true' <<'END'
REPORTS="1 WARNING: on purpose"
END
suite powers_off 'busybox poweroff -f' < /dev/null
suite nested 'printf "1..2\nok 1 a\nnot ok 2 b\n"' < /dev/null
suite expects 'true' <<'END'
EXPECT="
^Run /init as init process
^this line is not there
"
END
suite prepares 'cat prepared' <<'END'
PREPARE=prepare.sh
END
cat > "$t/prepares/prepare.sh" <<'END'
#!/bin/sh
echo here it is > "$1/prepared"
END
suite prepares_nothing 'true' <<'END'
PREPARE=prepare.sh
END
cat > "$t/prepares_nothing/prepare.sh" <<'END'
#!/bin/sh
echo cannot prepare that >&2
exit 1
END
chmod +x "$t"/*/prepare.sh

mkdir -p "$tmp/broken/one" "$tmp/broken/two"
# shellcheck disable=SC2016 # the suite's
echo 'SMP=$nothing_has_set_this' > "$tmp/broken/one/suite"
echo 'RUN=do.sh' > "$tmp/broken/two/suite"
check suite_unreadable_named 1 'tests/one/suite cannot be read' \
	env TESTS="$tmp/broken" LIST=1 "$top/rig/test.sh"

runner() {
	TESTS=$t TEST_OUT=$tmp/out "$top/rig/test.sh"
}
rc=0
runner > "$tmp/all" 2> "$tmp/all.err" < /dev/null || rc=$?
sed 's/^/# /' "$tmp/all"
ktap_result "$([ $rc = 1 ] && echo 0 || echo 1)" runner_fails_if_one_fails

# said NAME PATTERN - the runner printed such a line
said() {
	said_rc=0
	grep -qE -- "$2" "$tmp/all" || said_rc=1
	ktap_result $said_rc "$1"
}
said suite_good_passes "^ok [0-9]+ good\.$CONFIG\.b1$"
said suite_bad_fails "^not ok [0-9]+ bad\.$CONFIG\.b1$"
said suite_skip_unlisted_fails "^not ok [0-9]+ skips\."
said suite_skip_listed_skips "^ok [0-9]+ skips_listed\."
said skip_has_reason '^    ok [0-9]+ do # SKIP no such thing$'
said guest_hang_is_killed "^not ok [0-9]+ hangs\.$CONFIG"
said boot_hang_is_killed '^    # stopped after 15 s'
said panic_is_named '^    # report: Kernel panic - not syncing: sysrq triggered crash'
said warning_is_named '^    # report: WARNING: CPU: '
said report_fails "^not ok [0-9]+ reports\."
said report_listed_passes "^ok [0-9]+ reports_listed\."
said report_missing_fails "^    # 0 reports 'WARNING: on purpose', expected 1"
said no_verdict_fails "^    # no verdict"
said failures_are_listed_last "^# failed: bad\.$CONFIG\.b1: do"
said nested_result_fails '^    not ok [0-9]+ do\.b$'
said nested_result_passes '^    ok [0-9]+ do\.a$'
said expected_text_missing_fails "^    not ok [0-9]+ prints '.this line is not there'"
said expected_text_there_passes "^    ok [0-9]+ prints '.Run /init as init process'"
said prepared_file_is_there "^ok [0-9]+ prepares\."
said prepare_failure_is_named '^    # cannot prepare that'
said prepare_failure_fails "^not ok [0-9]+ prepares_nothing\."
passed=$(grep -cE '^    ok [0-9]+' "$tmp/all" || :)
skipped=$(grep -cE '^    ok [0-9]+ .* # SKIP' "$tmp/all" || :)
failed=$(grep -cE '^    not ok [0-9]+' "$tmp/all" || :)
last=$(tail -n 1 "$tmp/all")
[ "$last" = "$((passed - skipped)) passed, $failed failed, $skipped skipped" ] && rc=0 || rc=1
[ $rc = 0 ] || echo "# $last, but counted $passed $skipped $failed"
ktap_result $rc last_line_counts_every_result

only() { SUITES=$1 runner; }
check suite_unknown_named 2 "no suite 'nothere'" only nothere
check runner_passes_if_all_pass 0 '^2 passed, 0 failed, 0 skipped$' only "good"
ktap_end
