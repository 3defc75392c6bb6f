# SPDX-License-Identifier: GPL-2.0-only
# Torture for as long as one likes, on every kernel with the checker; ONLY= picks
# from those. Included by the Makefile.

MINUTES ?= 0
export MINUTES

.PHONY: torture
torture:
	$(Q)SUITES=torture TEST_ALL=1 rig/test.sh
