// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load every CPU with system calls, and with the text of a module, between the
 * markers of the locality plugin.
 *
 * Usage: load SECONDS
 * Needs ktext_large.ko.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"

#define RUN_MODULE	"/sys/module/ktext_large/parameters/run"
/* Of the loops of CPU 0. The module runs on all CPUs each time. */
#define MODULE_EVERY	200

static bool stop;

static void *loop(void *data)
{
	long loops = 0, cpu = (long)data;
	cpu_set_t set;
	char text[4096];
	char *page;
	int fd;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("sched_setaffinity");
		exit(1);
	}

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		/* Entry and exit, file systems, memory, the scheduler. */
		fd = open("/proc/self/stat", O_RDONLY);
		if (fd < 0 || read(fd, text, sizeof(text)) <= 0) {
			perror("/proc/self/stat");
			exit(1);
		}
		close(fd);
		page = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED) {
			perror("mmap");
			exit(1);
		}
		page[0] = 1;
		munmap(page, 65536);
		sched_yield();
		if (!cpu && !(loops++ % MODULE_EVERY) &&
		    guest_write(RUN_MODULE, "1")) {
			fprintf(stderr, RUN_MODULE " does not run\n");
			exit(1);
		}
	}

	return NULL;
}

int main(int argc, char **argv)
{
	long cpu, nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int seconds = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t threads[64];

	if (seconds <= 0 || nr_cpus > 64) {
		fprintf(stderr, "usage: load SECONDS, on up to 64 CPUs\n");
		return 2;
	}

	if (guest_load_plain("ktext_large.ko", "")) {
		fprintf(stderr, "ktext_large.ko cannot be loaded\n");
		return 1;
	}
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		if (pthread_create(&threads[cpu], NULL, loop, (void *)cpu)) {
			perror("pthread_create");
			return 1;
		}
	}

	__asm__ volatile("hint #0x70");
	sleep(seconds);
	__asm__ volatile("hint #0x71");

	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		pthread_join(threads[cpu], NULL);
	printf("loaded %ld CPUs for %d s\n", nr_cpus, seconds);

	return 0;
}
