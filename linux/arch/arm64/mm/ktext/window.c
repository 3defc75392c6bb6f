// SPDX-License-Identifier: GPL-2.0-only
/*
 * The replicated window of an arm64 kernel, and access to its bytes.
 *
 * The window is kernel text and rodata up to the page directories that end the
 * rodata segment. Those are read by software through their address in the
 * image and by the hardware at their one physical place, so no node may see a
 * copy of them.
 *
 * Invariants:
 *  I1 (always). The original is read through the linear map: at its own
 *      address each CPU sees the copy of its node.
 *  I2 (always). No leaf crosses the edges of the window: map_kernel() maps the
 *      page directories as a segment of their own.
 *
 * Locking: each page is copied and compared with the lock of the text writers
 *   held, by aarch64_text_copy() and aarch64_text_equal().
 * TLB and barriers: kleaf_change() flushes; sync_icache_aliases() makes what
 *   was copied visible to instruction fetch on all CPUs.
 * Failure: as kleaf_change(), nothing is changed.
 * See: Documentation/mm/kernel-replication.rst
 */

#include <linux/mm.h>
#include <linux/sched.h>

#include <asm/cacheflush.h>
#include <asm/kleaf.h>
#include <asm/patching.h>
#include <asm/sections.h>
#include <asm/virt.h>

#include "ktext.h"

bool arch_ktext_possible(void)
{
	/* The text and rodata of its hypervisor are no longer the host's. */
	return !is_protected_kvm_enabled();
}

void arch_ktext_window(struct ktext_window *window)
{
	window->start = (unsigned long)_text;
	window->end = (unsigned long)idmap_pg_dir;
	/* With 64K pages a block is 512 MiB: the image has contiguous PTEs. */
	window->max_order = (IS_ENABLED(CONFIG_ARM64_64K_PAGES) ?
			     CONT_PTE_SHIFT : PMD_SHIFT) - PAGE_SHIFT;
}

void arch_ktext_copy(void *dst, unsigned long addr, size_t size)
{
	size_t done;

	for (done = 0; done < size; done += PAGE_SIZE) {
		aarch64_text_copy(dst + done,
				  aarch64_text_alias((void *)addr + done),
				  PAGE_SIZE);
		cond_resched();
	}

	/*
	 * Partner of the instruction fetches of the node's CPUs. They see
	 * another alias of this memory, which matters to a VIPT cache.
	 */
	sync_icache_aliases((unsigned long)dst, (unsigned long)dst + size);
}

bool arch_ktext_equal(const void *copy, unsigned long addr, size_t size)
{
	size_t done;

	for (done = 0; done < size; done += PAGE_SIZE) {
		if (!aarch64_text_equal(copy + done,
					aarch64_text_alias((void *)addr + done),
					PAGE_SIZE))
			return false;
	}

	return true;
}

int arch_ktext_protect(void *addr, size_t size, bool readonly)
{
	unsigned long start = (unsigned long)__tag_reset(addr);

	if (readonly)
		return kleaf_change(start, start + size, __pgprot(PTE_RDONLY),
				    __pgprot(PTE_WRITE));

	return kleaf_change(start, start + size, __pgprot(PTE_WRITE),
			    __pgprot(PTE_RDONLY));
}
