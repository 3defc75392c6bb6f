#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Print the QEMU arguments that give each CPU its own MIDR and BBM level.
#
# Usage: el2.sh IMAGE "CPUS"
#
#   IMAGE  the kernel Image that runs on these CPUs
#   CPUS   one or more groups, separated by spaces: RANGE=KEY:VALUE[,KEY:VALUE]
#          RANGE is a CPU number, FIRST-LAST, or * for all
#          midr:VALUE  MIDR_EL1, hexadecimal with or without 0x
#          bbm:VALUE   ID_AA64MMFR2_EL1.BBM, 0 to 15
#          A later group adds to an earlier one and wins over it.
#          Example: "*=midr:0xc00fac30 2=midr:0x000f0510,bbm:2"
#
# The arguments are printed one per line. They go after all others, since they
# replace -kernel and extend -machine: QEMU takes the last -kernel and merges
# -machine options. The machine must be virt with gic-version=3.
#
# Environment:
#   SMP    number of CPUs of the machine (default 4)
#   O      where el2.bin is, built if missing or old (default build/el2)
#
# Exit codes: 0 ok, 1 failed, 2 usage
set -eu

rig=$(cd "$(dirname "$0")" && pwd)
smp=${SMP:-4}
out=${O:-$rig/../build/el2}

# As in el2/el2.h.
cpu_table=0x403ff000
cpu_table_magic=0x3153555043324c45
guest_image=0x40400000
max_cpus=64

die() {
	echo "el2.sh: $1" >&2
	exit "${2:-2}"
}

is_number() {
	case $1 in
	'' | *[!0-9]*) return 1 ;;
	esac
	[ "${#1}" -le 4 ]
}

# Leading zeros would make the shell read a number as octal.
decimal() {
	printf '%s\n' "$1" | sed 's/^0*\(.\)/\1/'
}

[ $# -eq 2 ] || die "usage: el2.sh IMAGE \"CPUS\", for example \"0=bbm:3 1-3=bbm:2\""
image=$1
cpus=$2

if ! is_number "$smp" || [ "$smp" -lt 1 ]; then
	die "SMP=$smp: not a number of CPUs"
fi
[ "$smp" -le "$max_cpus" ] || die "SMP=$smp: at most $max_cpus CPUs with CPUS="
[ -f "$image" ] || die "$image: no such kernel Image" 1

# One line "cpu key value" for each setting, in the order given.
parse() {
	set -f
	# shellcheck disable=SC2086 # groups are separated by spaces
	set -- $cpus
	set +f
	[ $# -gt 0 ] || die 'CPUS is empty; example: "0=bbm:3 1-3=bbm:2"'

	for group; do
		range=${group%%=*}
		settings=${group#*=}
		[ "$range" != "$group" ] ||
			die "CPUS: \"$group\": no \"=\"; want RANGE=KEY:VALUE"

		case $range in
		'*')
			first=0
			last=$((smp - 1))
			;;
		*-*)
			first=${range%%-*}
			last=${range#*-}
			;;
		*)
			first=$range
			last=$range
			;;
		esac
		if ! is_number "$first" || ! is_number "$last"; then
			die "CPUS: \"$range\": want a CPU, FIRST-LAST or *"
		fi
		first=$(decimal "$first")
		last=$(decimal "$last")
		[ "$first" -le "$last" ] ||
			die "CPUS: \"$range\": first CPU is above the last"
		[ "$last" -lt "$smp" ] ||
			die "CPUS: CPU $last does not exist, the machine has CPUs 0 to $((smp - 1))"

		[ -n "$settings" ] ||
			die "CPUS: \"$group\": nothing set; want RANGE=KEY:VALUE"
		rest=$settings,
		while [ -n "$rest" ]; do
			setting=${rest%%,*}
			rest=${rest#*,}
			check_setting "$setting"
			cpu=$first
			while [ "$cpu" -le "$last" ]; do
				echo "$cpu $key $value"
				cpu=$((cpu + 1))
			done
		done
	done
}

# Sets key and value.
check_setting() {
	key=${1%%:*}
	value=${1#*:}
	[ "$key" != "$1" ] || die "CPUS: \"$1\": no \":\"; want KEY:VALUE"

	case $key in
	midr)
		value=${value#0[xX]}
		case $value in
		'' | *[!0-9a-fA-F]* | ?????????*)
			die "CPUS: \"$1\": want 1 to 8 hexadecimal digits"
			;;
		esac
		;;
	bbm)
		if ! is_number "$value" || [ "$value" -gt 15 ]; then
			die "CPUS: \"$1\": want a number from 0 to 15"
		fi
		value=$(decimal "$value")
		;;
	*)
		die "CPUS: \"$key\": unknown key, want midr or bbm"
		;;
	esac
}

# The word of one CPU for the table, empty if nothing is set for it.
# printf, since a shell's numbers may not reach bit 63.
word_of() {
	midr=
	bbm=
	while read -r cpu key value; do
		[ "$cpu" = "$1" ] || continue
		case $key in
		midr) midr=$value ;;
		bbm) bbm=$value ;;
		esac
	done <<-END
		$settings_of_all
	END
	case $midr+$bbm in
	+) ;;
	+*) printf '0x8000000%x00000000\n' "$bbm" ;;
	*+) printf '0x40000000%08x\n' "0x$midr" ;;
	*) printf '0xc000000%x%08x\n' "$bbm" "0x$midr" ;;
	esac
}

settings_of_all=$(parse)

make -s -C "$rig/el2" O="$(mkdir -p "$out" && cd "$out" && pwd)" >&2 ||
	die "cannot build $out/el2.bin; see the compiler's message above" 1

# QEMU wants a comma in a file name doubled.
escape() {
	printf '%s\n' "$1" | sed 's/,/,,/g'
}

printf '%s\n' -machine virtualization=on -kernel "$out/el2.bin" \
	-device "loader,file=$(escape "$image"),addr=$guest_image,force-raw=on" \
	-device "loader,addr=$cpu_table,data=$cpu_table_magic,data-len=8"
cpu=0
while [ "$cpu" -lt "$smp" ]; do
	word=$(word_of "$cpu")
	[ -z "$word" ] ||
		printf '%s\n' -device "loader,addr=$(printf '%#x' \
			$((cpu_table + 8 + cpu * 8))),data=$word,data-len=8"
	cpu=$((cpu + 1))
done
