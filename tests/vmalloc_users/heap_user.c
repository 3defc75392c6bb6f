// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver that maps a dma-buf into the kernel, as display and camera drivers do.
 *
 * The number of a file descriptor written to /sys/kernel/debug/heap_user maps
 * that buffer, until another write of -1. Reading gives "addr=N size=N wrong=N":
 * how many of its 64-bit words were not their own index; it inverts them all.
 */
#include <linux/debugfs.h>
#include <linux/dma-buf.h>
#include <linux/iosys-map.h>
#include <linux/module.h>

static DEFINE_MUTEX(lock);
static struct dma_buf *buffer;
static struct iosys_map map;
static unsigned long wrong;
static struct dentry *file;

static void drop_buffer(void)
{
	if (!buffer)
		return;
	dma_buf_vunmap_unlocked(buffer, &map);
	dma_buf_put(buffer);
	buffer = NULL;
}

static int take_buffer(int fd)
{
	unsigned long i;
	u64 *words;
	int ret;

	buffer = dma_buf_get(fd);
	if (IS_ERR(buffer)) {
		ret = PTR_ERR(buffer);
		buffer = NULL;
		return ret;
	}
	ret = dma_buf_vmap_unlocked(buffer, &map);
	if (ret) {
		dma_buf_put(buffer);
		buffer = NULL;
		return ret;
	}

	words = map.vaddr;
	wrong = 0;
	for (i = 0; i < buffer->size / sizeof(*words); i++) {
		wrong += words[i] != i;
		words[i] = ~words[i];
	}

	return 0;
}

static ssize_t show(struct file *f, char __user *text, size_t size, loff_t *pos)
{
	char line[96];
	int nr = 0;

	mutex_lock(&lock);
	if (buffer)
		nr = scnprintf(line, sizeof(line), "addr=%lu size=%zu wrong=%lu\n",
			       (unsigned long)map.vaddr, buffer->size, wrong);
	mutex_unlock(&lock);
	return simple_read_from_buffer(text, size, pos, line, nr);
}

static ssize_t command(struct file *f, const char __user *text, size_t size,
		       loff_t *pos)
{
	int fd, ret = kstrtoint_from_user(text, size, 0, &fd);

	if (ret)
		return ret;
	mutex_lock(&lock);
	drop_buffer();
	if (fd >= 0)
		ret = take_buffer(fd);
	mutex_unlock(&lock);
	return ret ?: size;
}

static const struct file_operations ops = {
	.owner	= THIS_MODULE,
	.read	= show,
	.write	= command,
};

static int __init heap_user_init(void)
{
	file = debugfs_create_file("heap_user", 0600, NULL, NULL, &ops);
	return 0;
}

static void __exit heap_user_exit(void)
{
	debugfs_remove(file);
	drop_buffer();
}

module_init(heap_user_init);
module_exit(heap_user_exit);

MODULE_DESCRIPTION("Maps a dma-buf into the kernel");
MODULE_IMPORT_NS(DMA_BUF);
MODULE_LICENSE("GPL");
