#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Build the series for x86-64 and boot it with test_vmalloc and the suites vmbatch,
# with a virtual memmap and without; build its generic objects for riscv64.
#
# Usage: tests/other_arches/build_and_boot.sh	from the top directory; KTAP
# Skips what has no compiler here, and the boot without the packages
#	qemu-system-x86 busybox-static
# Exit codes: 0, results are in the KTAP.
# shellcheck disable=SC2317 # functions are called by name
set -eu

top=$(pwd)
. "$top/rig/lib.sh"
. "$top/rig/ktap.sh"
here=$top/tests/other_arches
tmp=$(mktemp -d)
qemu=
trap '[ -z "$qemu" ] || kill "$qemu" 2>/dev/null || :; rm -rf "$tmp"' EXIT

skip() {
	echo "ok $((ktap_n += 1)) $1 # SKIP $2"
}

# Where ours is the host's own compiler, or a cross compiler.
prefix_of() {
	[ "$HOST_ARCH" = "$1" ] || echo "$1-linux-gnu-"
}

# kernel ARCH PREFIX DIRECTORY MAKE-ARGUMENT...
kernel() {
	arch=$1 prefix=$2 out=$3
	shift 3
	make -C "$WORK" O="$out" ARCH="$arch" CROSS_COMPILE="$prefix" \
		KBUILD_BUILD_TIMESTAMP='2026-01-01 00:00:00 UTC' \
		KBUILD_BUILD_USER=wideleaf KBUILD_BUILD_HOST=wideleaf \
		LOCALVERSION='' -j"$J" "$@"
}

# configure ARCH PREFIX DIRECTORY [OPTION] - and see that nothing asked for is lost
configure() {
	mkdir -p "$3"
	cp "$here/generic.config" "$tmp/config"
	echo "${4-}" >> "$tmp/config"
	kernel "$1" "$2" "$3" KCONFIG_ALLCONFIG="$tmp/config" \
		allnoconfig > "$tmp/log" 2>&1 || return
	grep '^CONFIG' "$tmp/config" > "$tmp/asked"
	grep -vxFf "$3/.config" "$tmp/asked" > "$tmp/lost" || :
	sed 's/^/# lost: /' "$tmp/lost"
	[ ! -s "$tmp/lost" ]
}

# step NAME COMMAND... - its output only if it fails
step() {
	name=$1
	shift
	rc=0
	"$@" > "$tmp/step" 2>&1 || rc=1
	[ $rc = 0 ] || { grep -E 'error|warning|lost|Error' "$tmp/step" |
		head -n 20 | sed 's/^/# /'; }
	ktap_result $rc "$name"
	return $rc
}

no_warning() {
	"$@" > "$tmp/build" 2>&1 || { cat "$tmp/build"; return 1; }
	! grep -E '^[^ ]*(mm/(vmalloc|vmstat|tests/[a-z_]*)|vmap-leaf)\.[ch].*warning' \
		"$tmp/build"
}

# The initramfs: pid 1 of the arm64 guests, all_tests, and the module.
pack() {
	# As in rig/guest: /bin/sh runs one line for each test.
	busybox=$(command -v busybox)
	cc -D_GNU_SOURCE -static -O2 -Wall -Wextra -Werror \
		-o "$tmp/init" "$top/rig/guest/init.c" || return
	cc -D_GNU_SOURCE -static -O2 -Wall -Wextra -Werror -I"$top/rig/guest" \
		-I"$WORK/tools/testing/selftests" -o "$tmp/all_tests" \
		"$top/tests/test_vmalloc/all_tests.c" "$top/rig/guest/libguest.c" || return
	cat > "$tmp/list" <<-END
	dir /dev 0755 0 0
	nod /dev/console 0600 0 0 c 5 1
	dir /bin 0755 0 0
	dir /proc 0755 0 0
	dir /sys 0755 0 0
	dir /tmp 1777 0 0
	file /bin/busybox $busybox 0755 0 0
	slink /bin/sh busybox 0755 0 0
	file /init $tmp/init 0755 0 0
	dir /suite 0755 0 0
	file /suite/run $tmp/run 0644 0 0
	file /suite/all_tests $tmp/all_tests 0755 0 0
	file /suite/vmalloc_peer.ko $1/lib/test_vmalloc.ko 0644 0 0
	END
	echo 'all_tests 600 ./all_tests 1' > "$tmp/run"
	"$BUILD/initramfs/gen_init_cpio" -t 0 "$tmp/list" | gzip -n -1 > "$tmp/initrd"
}

# boot NAME BZIMAGE REPORTS
# The machine has no firmware that could switch it off: the verdict ends it.
boot() {
	qemu-system-x86_64 -machine q35 -cpu max -smp 4 -m 2G -nic none -display none \
		-no-reboot -serial stdio -monitor none -kernel "$2" -initrd "$tmp/initrd" \
		-append "console=ttyS0 panic=-1 loglevel=7 printk.devkmsg=on
			kunit.enable=1 kunit.filter_glob=vmbatch*" \
		> "$tmp/console" 2> "$tmp/console.err" < /dev/null &
	qemu=$!
	seconds=0
	while [ $seconds -lt 900 ] && kill -0 $qemu 2>/dev/null &&
	      ! grep -q 'wideleaf-verdict:' "$tmp/console"; do
		sleep 1
		seconds=$((seconds + 1))
	done
	kill $qemu 2>/dev/null || :
	wait $qemu 2>/dev/null || :
	qemu=
	tr -d '\r' < "$tmp/console" > "$BUILD/$1/console"
	# What vmbatch_refuse and vmbatch_cut provoke.
	echo "$3 WARNING: .* at mm/vmalloc.c:" > "$tmp/reports"
	: > "$tmp/none"
	awk -f "$top/rig/judge.awk" -v deny="$top/rig/splat.deny" \
		-v allow="$top/rig/splat.allow" -v expect="$tmp/none" \
		-v refuse="$tmp/none" -v reports="$tmp/reports" -v skips='SKIP .*' \
		-v kunit=1 -v ended='' "$BUILD/$1/console" > "$tmp/result" || :
	while read -r verdict name; do
		case $verdict in
		pass) ktap_result 0 "$1.$name" ;;
		fail) ktap_result 1 "$1.$name" ;;
		skip) skip "$1.${name%% # *}" "${name#* # }" ;;
		*) echo "$verdict $name" ;;
		esac
	done < "$tmp/result"
}

# x86 NAME REPORTS [OPTION]
x86() {
	out=$BUILD/$1
	prefix=$(prefix_of x86_64)
	command -v "${prefix}gcc" > /dev/null || {
		skip "$1" "no compiler for x86_64 here"
		return
	}
	step "$1.configures" configure x86_64 "$prefix" "$out" "${3-}" || return 0
	step "$1.builds" no_warning kernel x86_64 "$prefix" "$out" bzImage modules ||
		return 0
	if ! command -v qemu-system-x86_64 > /dev/null ||
	   ! command -v busybox > /dev/null; then
		skip "$1.boots" "no qemu-system-x86_64 or no busybox here"
		return
	fi
	step "$1.packs" pack "$out" || return 0
	boot "$1" "$out/arch/x86/boot/bzImage" "$2"
}

riscv64() {
	out=$BUILD/riscv64
	prefix=$(prefix_of riscv64)
	command -v "${prefix}gcc" > /dev/null || {
		skip riscv64 "no compiler for riscv64 here"
		return
	}
	step riscv64.configures configure riscv "$prefix" "$out" || return 0
	# Every generic source that the series adds or touches, but for what this
	# architecture does not support.
	objects=$({
		for p in $(series_patches); do
			sed -n 's#^+++ b/##p' "$top/patches/$p"
		done
		overlay_files
	} | grep -E '^(mm|kernel|lib|fs)/.*\.c$' | grep -v '^mm/ktext/' | sort -u | sed 's/\.c$/.o/')
	# shellcheck disable=SC2086 # a list of names without blanks
	step riscv64.builds no_warning kernel riscv "$prefix" "$out" $objects
}

x86 x86_64 11 CONFIG_SPARSEMEM_VMEMMAP=y
# Neighbours in the memmap need not be neighbours in memory there, and what
# vmbatch_cut cuts has no memmap.
x86 x86_64_sparse 7
riscv64 || :
ktap_end
