// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load every CPU with system calls, between the markers of the locality
 * plugin.
 *
 * Usage: load SECONDS
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

static bool stop;

static void *loop(void *data)
{
	long cpu = (long)data;
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
