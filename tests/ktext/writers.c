// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load ktext_writers.ko, have it write to text on all CPUs, and see that all
 * copies agree afterwards, if there are any.
 *
 * Usage: writers ROUNDS
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "guest.h"

int main(int argc, char **argv)
{
	int ret, nr_copies;

	ret = guest_load_plain("ktext_writers.ko", "");
	if (ret) {
		printf("ktext_writers.ko: %s\n", strerror(-ret));
		return 1;
	}
	ret = guest_write("/sys/module/ktext_writers/parameters/rounds",
			  argc > 1 ? argv[1] : "1");
	if (ret)
		printf("writing text: %s\n", strerror(-ret));

	nr_copies = guest_compare_copies();
	if (nr_copies == -ENOENT)
		printf("this kernel made no copies\n");
	else if (nr_copies < 0)
		ret = nr_copies;
	if (guest_unload("ktext_writers")) {
		printf("the module stays\n");
		ret = 1;
	}

	return !!ret;
}
