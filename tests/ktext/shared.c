// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load ktext_shared.ko, which does the work, many times: its own text, too, is
 * mapped anew each time and runs on every CPU.
 *
 * Usage: shared [TIMES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	int i, err;

	for (i = 0; i < times; i++) {
		err = guest_load("ktext_shared.ko", "");
		if (!err)
			err = guest_unload("ktext_shared");
		if (err) {
			printf("round %d: %s\n", i, strerror(-err));
			return 1;
		}
	}

	return 0;
}
