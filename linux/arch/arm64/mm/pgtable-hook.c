// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registration and dispatch of the page-table setter hook.
 *
 * Consumers are few (a checker, a table replicator, a test) and come and go
 * rarely, while stores are frequent, so the list is read under RCU and a
 * static key keeps the setters clean while the list is empty.
 *
 * Invariants:
 *  I1 (always). The static key is enabled while a consumer is on the list.
 *  I2 (always). A consumer is called for every store that starts after
 *      pgtable_hook_register() returned, and never after
 *      pgtable_hook_unregister() returned.
 *
 * Locking: pgtable_hook_mutex for the list. The static key is patched with
 *   the mutex held: text_mutex and cpus_read_lock() nest inside it.
 * TLB and barriers: none; the caller's store comes after the hook.
 * Failure: cannot fail.
 * See: Documentation/arch/arm64/kernel-leaves.rst
 */

#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/rculist.h>

#include <asm/pgtable-hook.h>

DEFINE_STATIC_KEY_FALSE(pgtable_hook_key);

static DEFINE_MUTEX(pgtable_hook_mutex);
static LIST_HEAD(pgtable_hooks);

void __pgtable_hook(void *entryp, u64 new, enum pgtable_hook_level level)
{
	struct pgtable_hook *hook;

	/*
	 * Stores happen before RCU watches this CPU (idle, early boot) too;
	 * disabled preemption is a read side for synchronize_rcu() there.
	 */
	preempt_disable_notrace();
	list_for_each_entry_rcu(hook, &pgtable_hooks, list, true)
		hook->store(entryp, new, level);
	preempt_enable_notrace();
}

void pgtable_hook_register(struct pgtable_hook *hook)
{
	mutex_lock(&pgtable_hook_mutex);
	list_add_tail_rcu(&hook->list, &pgtable_hooks);
	static_branch_inc(&pgtable_hook_key);
	mutex_unlock(&pgtable_hook_mutex);
}

void pgtable_hook_unregister(struct pgtable_hook *hook)
{
	mutex_lock(&pgtable_hook_mutex);
	static_branch_dec(&pgtable_hook_key);
	list_del_rcu(&hook->list);
	mutex_unlock(&pgtable_hook_mutex);

	/* Partner of the preemption-disabled section in __pgtable_hook(). */
	synchronize_rcu();
}
