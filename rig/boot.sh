#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Boot one kernel variant in QEMU, for a limited time.
#
# Usage: rig/boot.sh NAME
# Environment, with defaults:
#   CPU=b1         b1 = max with the MIDR of AmpereOne, which has BBM level 2
#                  without conflict aborts; max; a76; or any -cpu of QEMU
#   SMP=2 MEM=1G   CPUs and memory
#   NODES=1        NUMA nodes; CPUs and memory are shared out evenly
#   CMDLINE=       added to the kernel's command line
#   INITRD=        a cpio.gz appended to ours
#   CPUS=          CPUs that differ from each other, "0=bbm:3 1-3=bbm:2" (el2.sh)
#   QEMU_ARGS=     added to QEMU's
#   TIMEOUT=600    seconds until QEMU is stopped
#   ACCEL=tcg      or kvm, on an arm64 host
#   LOG=           file for the console; without it, the terminal
#   IMAGE=         kernel image, instead of the variant's
#   QEMU=qemu-system-aarch64
#   DRY=1          print the command only
# Exit codes: 0 the guest ended by itself, 1 it did not start or had to be
#             stopped, 2 usage, 3 missing tool.
. "$(dirname "$0")/lib.sh"

[ $# = 1 ] || usage_error "which variant? (boot.sh NAME)"
QEMU=${QEMU:-qemu-system-aarch64}
CPU=${CPU:-b1}
SMP=${SMP:-2}
MEM=${MEM:-1G}
NODES=${NODES:-1}
TIMEOUT=${TIMEOUT:-600}
ACCEL=${ACCEL:-tcg}
CPUS=${CPUS:-}
LOG=${LOG:-}
IMAGE=${IMAGE:-$BUILD/$1/arch/arm64/boot/Image}

need "$QEMU" qemu-system-arm
need timeout coreutils
[ -f "$IMAGE" ] || die "no kernel $IMAGE; run 'make build CONFIG=$1' first"

case $CPU in
b1) cpu=max,midr=0xc00fac30,pauth-impdef=on ;;
max) cpu=max,pauth-impdef=on ;;
a76) cpu=cortex-a76 ;;
*) cpu=$CPU ;;
esac
case $ACCEL in
tcg) ;;
kvm)
	[ -w /dev/kvm ] || die "no /dev/kvm that may be used here (ACCEL=kvm)"
	case $HOST_ARCH in
	aarch64|arm64) cpu=host ;;
	*) die "ACCEL=kvm needs an arm64 host, this is $HOST_ARCH" ;;
	esac
	;;
*) usage_error "ACCEL=$ACCEL (tcg or kvm)" ;;
esac

mib() {
	case $1 in
	*[!0-9GM]*|''|[GM]*) usage_error "MEM=$1 (a number with M or G, as in 1G)" ;;
	*G) echo $((${1%G} * 1024)) ;;
	*M) echo "${1%M}" ;;
	*) echo "$1" ;;
	esac
}
mem=$(mib "$MEM")
for v in "SMP=$SMP" "NODES=$NODES" "TIMEOUT=$TIMEOUT"; do
	case ${v#*=} in
	*[!0-9]*|''|0) usage_error "$v (a number above 0)" ;;
	esac
done

initrd=$BUILD/initramfs.cpio.gz
[ -f "$initrd" ] || "$TOP/rig/initramfs.sh"
if [ -n "${INITRD:-}" ]; then
	[ -f "$INITRD" ] || die "no such file: INITRD=$INITRD"
	joined=$(mktemp "${TMPDIR:-/tmp}/initrd.XXXXXX")
	trap 'rm -f "$joined"' EXIT
	cat "$initrd" "$INITRD" > "$joined"
	initrd=$joined
fi

# earlycon: a kernel that dies early says so. panic=-1 with -no-reboot: a panic
# ends QEMU. Suites of KUnit run only when asked for.
# printk.devkmsg=on: results come through /dev/kmsg, and none may be dropped.
cmdline="console=ttyAMA0 earlycon panic=-1 loglevel=7 printk.devkmsg=on"
case " ${CMDLINE:-} " in
*" kunit."*) ;;
*) cmdline="$cmdline kunit.enable=0" ;;
esac
cmdline="$cmdline ${CMDLINE:-}"

set -- -machine virt,gic-version=3 -accel "$ACCEL" -cpu "$cpu" -smp "$SMP" \
	-m "${mem}M" -nic none -display none -no-reboot \
	-kernel "$IMAGE" -initrd "$initrd" -append "$cmdline"

# reserve=off: a guest larger than this host is fine while it stays empty.
if [ "$NODES" = 1 ]; then
	set -- "$@" -object "memory-backend-ram,id=ram0,size=${mem}M,reserve=off" \
		-machine memory-backend=ram0
else
	[ $((SMP % NODES + mem % NODES)) = 0 ] ||
		usage_error "SMP=$SMP and MEM=$MEM cannot be shared out to NODES=$NODES"
	per=$((SMP / NODES))
	i=0
	while [ $i -lt "$NODES" ]; do
		cpus=$((i * per))
		[ $per = 1 ] || cpus=$cpus-$((i * per + per - 1))
		set -- "$@" -object \
			"memory-backend-ram,id=ram$i,size=$((mem / NODES))M,reserve=off" \
			-numa "node,nodeid=$i,cpus=$cpus,memdev=ram$i"
		j=0
		while [ $j -lt $i ]; do
			set -- "$@" -numa "dist,src=$j,dst=$i,val=$((10 + 10 * (i - j)))"
			j=$((j + 1))
		done
		i=$((i + 1))
	done
fi

# These replace -kernel, so they come after it.
if [ -n "$CPUS" ]; then
	[ "$ACCEL" = tcg ] || usage_error "CPUS= works with ACCEL=tcg only"
	el2=$(SMP=$SMP "$TOP/rig/el2.sh" "$IMAGE" "$CPUS") || exit
	while read -r arg; do
		set -- "$@" "$arg"
	done <<-END
		$el2
	END
fi

if [ -z "$LOG" ]; then
	set -- "$@" -serial mon:stdio
else
	set -- "$@" -serial stdio -monitor none
fi
# shellcheck disable=SC2086 # several arguments, separated by blanks
set -- "$QEMU" "$@" ${QEMU_ARGS:-}

if [ -n "${DRY:-}" ]; then
	printf "'%s' " "$@"
	echo
	exit 0
fi

rc=0
if [ -z "$LOG" ]; then
	timeout --foreground -k 5 "$TIMEOUT" "$@" || rc=$?
else
	printf '# %s\n' "$*" > "$LOG.cmd"
	timeout -k 5 "$TIMEOUT" "$@" < /dev/null > "$LOG" 2> "$LOG.err" || rc=$?
fi
case $rc in
0) ;;
124|137)
	die "stopped after $TIMEOUT s (TIMEOUT=): the guest did not end by itself"
	;;
*)
	if [ -n "$LOG" ]; then
		die "QEMU failed: $(grep -v warning "$LOG.err" | head -n 1)"
	fi
	die "QEMU failed (its message is above)"
	;;
esac
