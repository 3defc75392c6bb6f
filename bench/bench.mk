# SPDX-License-Identifier: GPL-2.0-only
# Included by the top Makefile. See docs/bench.md.

BENCH_BASE ?= base-tiny-4k
BENCH_OURS ?= tiny-4k

.PHONY: bench
bench: tree
	$(Q)rig/build.sh $(BENCH_BASE)
	$(Q)rig/build.sh $(BENCH_OURS)
	$(Q)bench/run.sh $(BENCH_BASE)
	$(Q)bench/run.sh $(BENCH_OURS)
	$(Q)bench/report.sh $(BENCH_BASE) $(BENCH_OURS)

.PHONY: bench-peer
bench-peer: tree
	$(Q)rig/build.sh $(BENCH_BASE)
	$(Q)rig/build.sh $(BENCH_OURS)
	$(Q)bench/peer.sh $(BENCH_BASE) $(BENCH_OURS)
