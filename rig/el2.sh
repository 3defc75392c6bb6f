#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Print the QEMU arguments that give each CPU its own MIDR and BBM level.
#
# Usage: rig/el2.sh IMAGE "CPUS"
#   IMAGE  the kernel that runs on these CPUs
#   CPUS   one or more groups, separated by blanks: RANGE=KEY:VALUE[,KEY:VALUE]
#          RANGE is a CPU number, FIRST-LAST, or * for all
#          midr:VALUE  MIDR_EL1, hexadecimal with or without 0x
#          bbm:VALUE   ID_AA64MMFR2_EL1.BBM, 0 to 15
#          A later group adds to an earlier one and wins over it.
#          Example: "*=midr:0xc00fac30 2=midr:0x000f0510,bbm:2"
# The arguments are printed one per line. They go after all others, since they
# replace -kernel and extend -machine: QEMU takes the last -kernel and merges
# -machine options. The machine must be virt with gic-version=3.
# Environment: SMP=2 is the number of CPUs of the machine.
# Exit codes: 0 ok, 1 failed, 2 usage, 3 missing tool.
. "$(dirname "$0")/lib.sh"

SMP=${SMP:-2}
EL2=$BUILD/el2
EXAMPLE='as in "0=bbm:3 1-3=bbm:2"'

# As in el2/el2.h.
CPU_TABLE=0x403ff000
CPU_TABLE_MAGIC=0x3153555043324c45
GUEST_IMAGE=0x40400000
MAX_CPUS=64

is_number() {
	case $1 in
	''|*[!0-9]*|?????*) return 1 ;;
	esac
}

# Leading zeros would make it octal in arithmetic.
decimal() {
	printf '%s\n' "$1" | sed 's/^0*\(.\)/\1/'
}

# check_setting KEY:VALUE - sets key and value
check_setting() {
	key=${1%%:*}
	value=${1#*:}
	[ "$key" != "$1" ] || usage_error "CPUS: '$1' is not KEY:VALUE, $EXAMPLE"

	case $key in
	midr)
		value=${value#0[xX]}
		case $value in
		''|*[!0-9a-fA-F]*|?????????*)
			usage_error "CPUS: '$1' (1 to 8 hexadecimal digits)"
			;;
		esac
		;;
	bbm)
		if ! is_number "$value" || [ "$value" -gt 15 ]; then
			usage_error "CPUS: '$1' (a number from 0 to 15)"
		fi
		value=$(decimal "$value")
		;;
	*)
		usage_error "CPUS: no key '$key'; there are midr and bbm"
		;;
	esac
}

# check_range RANGE - sets first and last
check_range() {
	case $1 in
	'*')
		first=0
		last=$((SMP - 1))
		return
		;;
	*-*)
		first=${1%%-*}
		last=${1#*-}
		;;
	*)
		first=$1
		last=$1
		;;
	esac
	if ! is_number "$first" || ! is_number "$last"; then
		usage_error "CPUS: '$1' is not a CPU, FIRST-LAST or *"
	fi
	first=$(decimal "$first")
	last=$(decimal "$last")
	[ "$first" -le "$last" ] ||
		usage_error "CPUS: '$1': the first CPU is above the last"
	[ "$last" -lt "$SMP" ] ||
		usage_error "CPUS: there is no CPU $last; with SMP=$SMP the last" \
			    "is CPU $((SMP - 1))"
}

# One line "CPU KEY VALUE" for each setting, in the order given.
parse() {
	set -f
	# shellcheck disable=SC2086 # groups are separated by blanks
	set -- $1
	set +f
	[ $# -gt 0 ] || usage_error "CPUS is empty; say what differs, $EXAMPLE"

	for group; do
		range=${group%%=*}
		[ "$range" != "$group" ] ||
			usage_error "CPUS: '$group' is not RANGE=KEY:VALUE, $EXAMPLE"
		check_range "$range"

		rest=${group#*=},
		while [ -n "$rest" ]; do
			check_setting "${rest%%,*}"
			rest=${rest#*,}
			cpu=$first
			while [ "$cpu" -le "$last" ]; do
				echo "$cpu $key $value"
				cpu=$((cpu + 1))
			done
		done
	done
}

# word_of CPU SETTINGS - its word for the table, nothing if it has no setting.
# Put together as text: arithmetic of a shell may not reach bit 63.
word_of() {
	midr=$(printf '%s\n' "$2" | sed -n "s/^$1 midr //p" | tail -n 1)
	bbm=$(printf '%s\n' "$2" | sed -n "s/^$1 bbm //p" | tail -n 1)
	case $midr+$bbm in
	+) ;;
	+*) printf '0x8000000%x00000000\n' "$bbm" ;;
	*+) printf '0x40000000%08x\n' "0x$midr" ;;
	*) printf '0xc000000%x%08x\n' "$bbm" "0x$midr" ;;
	esac
}

# QEMU wants a comma in a value doubled.
escape() {
	printf '%s\n' "$1" | sed 's/,/,,/g'
}

[ $# = 2 ] || usage_error "which kernel, which CPUs? (el2.sh IMAGE CPUS)"
if ! is_number "$SMP" || [ "$SMP" -lt 1 ] || [ "$SMP" -gt "$MAX_CPUS" ]; then
	usage_error "SMP=$SMP (a number from 1 to $MAX_CPUS when CPUS= is used)"
fi
settings=$(parse "$2")
[ -f "$1" ] || die "no kernel $1"

need make make
need "${CROSS_COMPILE}gcc" "gcc-aarch64-linux-gnu (on arm64: gcc)"
mkdir -p "$EL2"
make -s -C "$TOP/rig/el2" O="$EL2" > "$EL2/log" 2>&1 ||
	die "cannot build rig/el2: $(grep -m 1 -i error "$EL2/log" || tail -n 1 "$EL2/log")"

printf '%s\n' -machine virtualization=on -kernel "$EL2/el2.bin" \
	-device "loader,file=$(escape "$1"),addr=$GUEST_IMAGE,force-raw=on" \
	-device "loader,addr=$CPU_TABLE,data=$CPU_TABLE_MAGIC,data-len=8"
cpu=0
while [ "$cpu" -lt "$SMP" ]; do
	word=$(word_of "$cpu" "$settings")
	[ -z "$word" ] ||
		printf -- '-device\nloader,addr=%#x,data=%s,data-len=8\n' \
			$((CPU_TABLE + 8 + cpu * 8)) "$word"
	cpu=$((cpu + 1))
done
