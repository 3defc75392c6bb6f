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
#   TOPOLOGY=      instead of these three, a word for each node: CPUS/MEMORY, as
#                  in "0-1/512M -/512M 2/0"; - for a node without CPUs
#   CMDLINE=       added to the kernel's command line
#   INITRD=        a cpio.gz appended to ours
#   CPUS=          CPUs that differ from each other, "0=bbm:3 1-3=bbm:2" (el2.sh)
#   DISK=          /dev/vda: size of an empty disk, as in 512M; or a file with a
#                  slash in its name, which is kept; or "kernel", a copy of the image
#   MAXMEM=        up to this much memory may be plugged in, as in 8G
#   MONITOR=1      what the guest writes to /dev/vport0p1 are commands to QEMU's
#                  monitor, and its answers come back there
#   FIRMWARE=      a UEFI image, or "edk2" for Debian's: EFI and ACPI instead of a
#                  devicetree
#   DTS=           a devicetree overlay, laid over what QEMU gives the kernel
#   QEMU_ARGS=     added to QEMU's
#   RAM_FILES=     path: node N's memory is a file there, RAM_FILES with N
#                  appended, which plugins can tell from the others
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
TOPOLOGY=${TOPOLOGY:-}
TIMEOUT=${TIMEOUT:-600}
ACCEL=${ACCEL:-tcg}
CPUS=${CPUS:-}
LOG=${LOG:-}
DISK=${DISK:-}
MAXMEM=${MAXMEM:-}
MONITOR=${MONITOR:-}
FIRMWARE=${FIRMWARE:-}
DTS=${DTS:-}
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

# mib NAME VALUE - a size in MiB
mib() {
	case $2 in
	*[!0-9GM]*|''|[GM]*) usage_error "$1=$2 (a number with M or G, as in 1G)" ;;
	*G) echo $((${2%G} * 1024)) ;;
	*M) echo "${2%M}" ;;
	*) echo "$2" ;;
	esac
}
if [ -n "$TOPOLOGY" ]; then
	SMP=0
	MEM=0
	NODES=0
	for node in $TOPOLOGY; do
		case $node in
		*[!0-9GM/-]*|*/*/*|/*) usage_error "TOPOLOGY=$TOPOLOGY (CPUS/MEMORY ...)" ;;
		*/*) ;;
		*) usage_error "TOPOLOGY=$TOPOLOGY (CPUS/MEMORY ...)" ;;
		esac
		last=${node%/*}
		last=${last##*-}
		[ -z "$last" ] || [ "$last" -lt "$SMP" ] || SMP=$((last + 1))
		MEM=$((MEM + $(mib TOPOLOGY "${node#*/}")))
		NODES=$((NODES + 1))
	done
fi
mem=$(mib MEM "$MEM")
for v in "SMP=$SMP" "NODES=$NODES" "TIMEOUT=$TIMEOUT"; do
	case ${v#*=} in
	*[!0-9]*|''|0) usage_error "$v (a number above 0)" ;;
	esac
done

# What this boot alone needs; gone with it.
tmp=$(mktemp -d "${TMPDIR:-/tmp}/boot.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

initrd=$BUILD/initramfs.cpio.gz
[ -f "$initrd" ] || "$TOP/rig/initramfs.sh"
if [ -n "${INITRD:-}" ]; then
	[ -f "$INITRD" ] || die "no such file: INITRD=$INITRD"
	cat "$initrd" "$INITRD" > "$tmp/initrd"
	initrd=$tmp/initrd
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

memory=${mem}M
if [ -n "$MAXMEM" ]; then
	maxmem=$(mib MAXMEM "$MAXMEM")
	[ "$maxmem" -gt "$mem" ] || usage_error "MAXMEM=$MAXMEM is not above MEM=$MEM"
	memory=$memory,slots=8,maxmem=${maxmem}M
fi

set -- -machine virt,gic-version=3 -accel "$ACCEL" -cpu "$cpu" -smp "$SMP" \
	-m "$memory" -nic none -display none -no-reboot \
	-kernel "$IMAGE" -initrd "$initrd" -append "$cmdline"

# backend NODE MIB - the memory of a node
# reserve=off: a guest larger than this host is fine while it stays empty.
backend() {
	if [ -n "${RAM_FILES:-}" ]; then
		echo "memory-backend-file,id=ram$1,size=$2M,share=on,mem-path=$RAM_FILES$1"
	else
		echo "memory-backend-ram,id=ram$1,size=$2M,reserve=off"
	fi
}

if [ -n "$TOPOLOGY" ]; then
	i=0
	for node in $TOPOLOGY; do
		cpus=${node%/*}
		per=$(mib TOPOLOGY "${node#*/}")
		node=node,nodeid=$i
		[ "$cpus" = - ] || node=$node,cpus=$cpus
		if [ "$per" != 0 ]; then
			set -- "$@" -object "$(backend $i "$per")"
			node=$node,memdev=ram$i
		fi
		set -- "$@" -numa "$node"
		i=$((i + 1))
	done
elif [ "$NODES" = 1 ]; then
	set -- "$@" -object "$(backend 0 "$mem")" -machine memory-backend=ram0
else
	[ $((SMP % NODES + mem % NODES)) = 0 ] ||
		usage_error "SMP=$SMP and MEM=$MEM cannot be shared out to NODES=$NODES"
	per=$((SMP / NODES))
	i=0
	while [ $i -lt "$NODES" ]; do
		cpus=$((i * per))
		[ $per = 1 ] || cpus=$cpus-$((i * per + per - 1))
		set -- "$@" -object "$(backend $i $((mem / NODES)))" \
			-numa "node,nodeid=$i,cpus=$cpus,memdev=ram$i"
		j=0
		while [ $j -lt $i ]; do
			set -- "$@" -numa "dist,src=$j,dst=$i,val=$((10 + 10 * (i - j)))"
			j=$((j + 1))
		done
		i=$((i + 1))
	done
fi

case $DISK in
'')
	;;
*/*)
	[ -f "$DISK" ] || die "no such file: DISK=$DISK"
	;;
kernel)
	cp "$IMAGE" "$tmp/disk"
	# Whole sectors, or the last ones could not be read.
	truncate -s %512 "$tmp/disk"
	DISK=$tmp/disk
	;;
*)
	size=$(mib DISK "$DISK")
	truncate -s "${size}M" "$tmp/disk"
	DISK=$tmp/disk
	;;
esac
[ -z "$DISK" ] || set -- "$@" -drive "file=$DISK,if=none,format=raw,id=disk0" \
	-device virtio-blk-device,drive=disk0

# QEMU talks to itself: one end is its monitor, the other the guest's port.
[ -z "$MONITOR" ] || set -- "$@" \
	-chardev "socket,id=monitor,path=$tmp/monitor,server=on,wait=off" \
	-mon chardev=monitor,mode=readline \
	-device virtio-serial-device \
	-chardev "socket,id=port,path=$tmp/monitor" \
	-device virtserialport,chardev=port,name=monitor

case $FIRMWARE in
'')
	;;
edk2)
	need_file /usr/share/qemu-efi-aarch64/QEMU_EFI.fd qemu-efi-aarch64
	set -- "$@" -bios /usr/share/qemu-efi-aarch64/QEMU_EFI.fd
	;;
*)
	[ -f "$FIRMWARE" ] || die "no such file: FIRMWARE=$FIRMWARE"
	set -- "$@" -bios "$FIRMWARE"
	;;
esac

if [ -n "$DTS" ]; then
	[ -f "$DTS" ] || die "no such file: DTS=$DTS"
	[ -z "$FIRMWARE$CPUS" ] || usage_error "DTS= goes with neither FIRMWARE= nor CPUS="
	need dtc device-tree-compiler
	need fdtoverlay device-tree-compiler
	"$QEMU" "$@" -machine "dumpdtb=$tmp/machine.dtb" > "$tmp/log" 2>&1 ||
		die "QEMU failed: $(head -n 1 "$tmp/log")"
	dtc -q -@ -o "$tmp/overlay.dtbo" "$DTS" > "$tmp/log" 2>&1 ||
		die "$DTS: $(head -n 1 "$tmp/log")"
	fdtoverlay -i "$tmp/machine.dtb" -o "$tmp/merged.dtb" "$tmp/overlay.dtbo" \
		> "$tmp/log" 2>&1 || die "$DTS does not fit: $(head -n 1 "$tmp/log")"
	set -- "$@" -dtb "$tmp/merged.dtb"
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
