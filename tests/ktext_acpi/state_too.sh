#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The programs that acpi.sh runs on the nodes, if it finds them.
#
# Usage: state_too.sh DIRECTORY
cp "$(dirname "$0")/state.sh" "$1/"
