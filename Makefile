# SPDX-License-Identifier: GPL-2.0-only
# Front door: 'make help' lists what there is.

include base.mk

CONFIG ?= 4k
V ?= 0
BUILD ?= build

# Passed on to the scripts, which know the defaults (see their headers).
export KVER KPACKAGE KTAG BUILD V J W TARBALL TAKE DROP CCACHE
export CPU CPUS SMP MEM MAXMEM NODES CMDLINE INITRD DISK MONITOR FIRMWARE DTS
export QEMU_ARGS TIMEOUT ACCEL IMAGE QEMU DRY
export SUITES LIST ONLY VERSION APPROVE FROM BISECT_CONFIGS

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-print-directory --no-builtin-rules
.DEFAULT_GOAL := help

Q := $(if $(filter 0,$(V)),@,)

-include bench/bench.mk
-include tests/torture/torture.mk

.PHONY: help
help:
	@echo 'Wideleaf: wide, cheap and local kernel page tables for arm64 Linux $(KVER)'
	@echo
	@echo 'Get'
	@echo '  deps      install the packages needed (as root), or print the command'
	@echo '  tree      patched source in build/linux; quick when nothing changed'
	@echo '  refresh   export the commits of build/linux to patches/'
	@echo 'Build'
	@echo '  build     kernel and modules of CONFIG in build/CONFIG'
	@echo '  configs   list the kernel variants'
	@echo 'Run'
	@echo '  run       one kernel with and without the feature, and a report'
	@echo '  boot      CONFIG in QEMU, console here [CPU= SMP= MEM= NODES= CMDLINE='
	@echo '            INITRD= CPUS= DISK= MAXMEM= MONITOR= FIRMWARE= DTS='
	@echo '            QEMU_ARGS= TIMEOUT= ACCEL=]'
	@echo '  bench     instruction counts, base against ours'
	@echo '            bench-peer: the tests of lib/test_vmalloc.c likewise'
	@echo 'Check'
	@echo '  test      every suite; SUITES="a b" selects, LIST=1 lists'
	@echo '  test-all  and the long ones, on more kernels'
	@echo '  torture   the mappings of the kernel itself, MINUTES=n for each boot'
	@echo '  lint      shellcheck, checkpatch, kernel-doc and rules of our own'
	@echo '  watch     base functions that we mirror: have they changed?'
	@echo 'Ship'
	@echo '  series    a series for git am, in dist/'
	@echo '  bisect    build after every patch of it'
	@echo '  clean     remove kernels and results; distclean: all of build/'
	@echo
	@echo 'Now: CONFIG=$(CONFIG) KVER=$(KVER) V=$(V) BUILD=$(BUILD)' \
		'CROSS_COMPILE=$(or $(CROSS_COMPILE),by host)'
	@echo 'See docs/rig.md.'

.PHONY: deps
deps:
	$(Q)rig/deps.sh

.PHONY: tree
tree:
	$(Q)rig/tree.sh

.PHONY: refresh
refresh:
	$(Q)rig/refresh.sh

.PHONY: build
build: tree
	$(Q)rig/build.sh $(CONFIG)

.PHONY: configs
configs:
	$(Q)rig/config.sh -l

.PHONY: boot
boot:
	$(Q)rig/boot.sh $(CONFIG)

.PHONY: test
test: deps
	$(Q)rig/test.sh

.PHONY: test-all
test-all: deps
	$(Q)TEST_ALL=1 rig/test.sh

.PHONY: run
run: deps
	$(Q)rig/run.sh

.PHONY: lint
lint:
	$(Q)rig/lint.sh

.PHONY: watch
watch:
	$(Q)rig/watch.sh

.PHONY: series
series:
	$(Q)rig/series.sh

.PHONY: bisect
bisect:
	$(Q)rig/bisect.sh

# Downloads and sources stay; so does build/linux, which may hold work.
.PHONY: clean
clean:
	$(Q)rig/clean.sh

.PHONY: distclean
distclean:
	$(Q)rig/clean.sh all
