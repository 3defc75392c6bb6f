# SPDX-License-Identifier: GPL-2.0-only
# Torture for as long as one likes; included by the Makefile.

MINUTES ?= 0
export MINUTES

.PHONY: torture
torture:
	$(Q)SUITES=torture rig/test.sh
