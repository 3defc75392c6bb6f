// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PMU without hardware that keeps its AUX buffer as the SPE and TRBE drivers
 * do: the pages of the ring buffer, mapped once more with vmap().
 *
 * /sys/kernel/debug/aux_pmu shows the mapping; writing a number to it fills the
 * buffer, through that mapping, with words made of the number and their offset.
 */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

struct aux_buffer {
	u64 *base;
	unsigned long nr_pages;
};

static DEFINE_MUTEX(lock);
static struct aux_buffer *current_buffer;
static struct dentry *file;

static void *aux_setup(struct perf_event *event, void **pages, int nr_pages,
		       bool overwrite)
{
	struct aux_buffer *buf = kzalloc(sizeof(*buf), GFP_KERNEL);
	struct page **list;
	int i;

	list = kvmalloc_array(nr_pages, sizeof(*list), GFP_KERNEL);
	if (!buf || !list)
		goto free;
	for (i = 0; i < nr_pages; i++)
		list[i] = virt_to_page(pages[i]);
	buf->nr_pages = nr_pages;
	buf->base = vmap(list, nr_pages, VM_MAP, PAGE_KERNEL);
	if (!buf->base)
		goto free;
	kvfree(list);

	mutex_lock(&lock);
	current_buffer = buf;
	mutex_unlock(&lock);
	return buf;
free:
	kvfree(list);
	kfree(buf);
	return NULL;
}

static void aux_free(void *aux)
{
	struct aux_buffer *buf = aux;

	mutex_lock(&lock);
	if (current_buffer == buf)
		current_buffer = NULL;
	mutex_unlock(&lock);
	vunmap(buf->base);
	kfree(buf);
}

static struct pmu aux_pmu;

static int aux_event_init(struct perf_event *event)
{
	return event->attr.type == aux_pmu.type ? 0 : -ENOENT;
}

static int aux_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED;
	return 0;
}

static void aux_del(struct perf_event *event, int flags)
{
}

static void aux_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
}

static void aux_stop(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED;
}

static void aux_read(struct perf_event *event)
{
}

static struct pmu aux_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_sw_context,
	.capabilities	= PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_AUX_PREFER_LARGE,
	.event_init	= aux_event_init,
	.add		= aux_add,
	.del		= aux_del,
	.start		= aux_start,
	.stop		= aux_stop,
	.read		= aux_read,
	.setup_aux	= aux_setup,
	.free_aux	= aux_free,
};

static ssize_t show(struct file *f, char __user *text, size_t size, loff_t *pos)
{
	char line[80];
	int nr = 0;

	mutex_lock(&lock);
	if (current_buffer)
		nr = scnprintf(line, sizeof(line), "addr=%lu pages=%lu\n",
			       (unsigned long)current_buffer->base,
			       current_buffer->nr_pages);
	mutex_unlock(&lock);
	return simple_read_from_buffer(text, size, pos, line, nr);
}

static ssize_t fill(struct file *f, const char __user *text, size_t size,
		    loff_t *pos)
{
	unsigned long long number;
	unsigned long i, nr_words;
	int ret = kstrtoull_from_user(text, size, 0, &number);

	if (ret)
		return ret;
	mutex_lock(&lock);
	if (current_buffer) {
		nr_words = current_buffer->nr_pages * PAGE_SIZE / sizeof(u64);
		for (i = 0; i < nr_words; i++)
			current_buffer->base[i] = number + i;
	}
	mutex_unlock(&lock);
	return current_buffer ? size : -ENODEV;
}

static const struct file_operations ops = {
	.owner	= THIS_MODULE,
	.read	= show,
	.write	= fill,
};

static int __init aux_pmu_init(void)
{
	int ret = perf_pmu_register(&aux_pmu, "aux_pmu", -1);

	if (!ret)
		file = debugfs_create_file("aux_pmu", 0600, NULL, NULL, &ops);
	return ret;
}

static void __exit aux_pmu_exit(void)
{
	debugfs_remove(file);
	perf_pmu_unregister(&aux_pmu);
}

module_init(aux_pmu_init);
module_exit(aux_pmu_exit);

MODULE_DESCRIPTION("PMU that only has an AUX buffer");
MODULE_LICENSE("GPL");
