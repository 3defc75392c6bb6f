#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# All of the disk can be read through the SMMU, and is what it should be.
set -e
disk=/dev/vda
bytes=$(cat /sys/block/vda/size)
[ "$bytes" -gt 0 ]
read=$(dd if=$disk bs=1M iflag=direct 2>/dev/null | wc -c)
[ "$read" = "$((bytes * 512))" ]
[ "$(dd if=$disk bs=1M iflag=direct 2>/dev/null | tr -d '\0' | wc -c)" = 0 ]
echo "$bytes sectors read"
