// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load the benchmark; its figures go to the console.
 *
 * Usage: bench_guest [PARAMETER=VALUE]...
 * Exit status: 0 it ran, 1 it did not (the reason is on the console).
 */
#include <stdio.h>
#include <string.h>

#include "guest.h"

int main(int argc, char **argv)
{
	char params[128] = "";
	int i, err;

	for (i = 1; i < argc; i++) {
		strncat(params, argv[i], sizeof(params) - strlen(params) - 2);
		strcat(params, " ");
	}
	err = guest_load("kpgtable_bench.ko", params);
	if (err) {
		printf("kpgtable_bench.ko: %s\n", strerror(-err));
		return 1;
	}
	return 0;
}
