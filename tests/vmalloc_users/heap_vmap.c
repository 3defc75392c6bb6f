// SPDX-License-Identifier: GPL-2.0-only
/*
 * 128 MiB of the dma-buf system heap, which takes blocks of order 8, 4 and 0,
 * are mapped into the kernel with large leaves, each page in its place.
 *
 * Needs heap_user.ko in the current directory, root and debugfs.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"
#include "leaves.h"

#define STATE	"/sys/kernel/debug/heap_user"
#define SIZE	(128UL << 20)

/* As in <linux/dma-heap.h>, which is younger than some C libraries. */
struct heap_allocation {
	__u64 len;
	__u32 fd;
	__u32 fd_flags;
	__u64 heap_flags;
};

#define HEAP_ALLOC	_IOWR('H', 0x0, struct heap_allocation)

static int allocate(unsigned long size)
{
	struct heap_allocation request = {
		.len = size, .fd_flags = O_RDWR | O_CLOEXEC,
	};
	int heap = open("/dev/dma_heap/system", O_RDONLY);

	if (heap < 0)
		ksft_exit_fail_perror("/dev/dma_heap/system");
	if (ioctl(heap, HEAP_ALLOC, &request))
		ksft_exit_fail_perror("allocation");
	close(heap);
	return request.fd;
}

int main(void)
{
	unsigned long addr, size, wrong;
	uint64_t *words, i, large = 0;
	char text[96];
	bool mapped;
	int fd;

	ksft_print_header();
	ksft_set_plan(4);
	if (guest_load_plain("heap_user.ko", ""))
		ksft_exit_fail_msg("cannot load heap_user.ko\n");
	fd = allocate(SIZE);
	words = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (words == MAP_FAILED)
		ksft_exit_fail_perror("mmap");
	for (i = 0; i < SIZE / sizeof(*words); i++)
		words[i] = i;

	snprintf(text, sizeof(text), "%d", fd);
	ksft_test_result(!guest_write(STATE, text), "driver_maps_the_buffer\n");
	if (guest_read(STATE, text, sizeof(text)) ||
	    guest_field(text, "addr=", &addr) ||
	    guest_field(text, "size=", &size) ||
	    guest_field(text, "wrong=", &wrong))
		ksft_exit_fail_msg("cannot read " STATE "\n");
	ksft_test_result(size == SIZE && !wrong, "driver_sees_every_word\n");

	mapped = pt_read_large(addr, size, &large);
	ksft_print_msg("%llu of %lu KiB are in large leaves\n",
		       (unsigned long long)large >> 10, SIZE >> 10);
	/* Most of a fresh machine is in blocks of order 8. */
	ksft_test_result(mapped && large >= SIZE / 2,
			 "most_is_in_large_leaves\n");

	for (i = 0; i < SIZE / sizeof(*words); i++)
		if (words[i] != ~i)
			break;
	ksft_test_result(i == SIZE / sizeof(*words),
			 "program_sees_what_the_driver_wrote\n");

	if (guest_write(STATE, "-1"))
		ksft_print_msg("the driver keeps the buffer\n");
	munmap(words, SIZE);
	close(fd);
	if (guest_unload("heap_user"))
		ksft_print_msg("heap_user.ko stays loaded\n");
	ksft_finished();
}
