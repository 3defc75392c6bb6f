// SPDX-License-Identifier: GPL-2.0-only
/* The user's side of leaf_poke; see poke.h. */
#include <inttypes.h>
#include <stdio.h>

#include "guest.h"
#include "poke.h"

int poke(const char *verb, uint64_t addr)
{
	char text[64];

	snprintf(text, sizeof(text), "%s 0x%" PRIx64, verb, addr);
	return guest_write(POKE_DIR "cmd", text);
}

bool poke_contents_ok(unsigned long want_skipped)
{
	unsigned long pages, skipped, bad;
	char text[256];

	if (guest_read(POKE_DIR "verify", text, sizeof(text)) ||
	    guest_field(text, "pages=", &pages) ||
	    guest_field(text, "skipped=", &skipped) ||
	    guest_field(text, "bad=", &bad)) {
		printf("# leaf_poke/verify cannot be read\n");
		return false;
	}
	if (pages && !bad && skipped == want_skipped)
		return true;
	printf("# contents: %s", text);
	return false;
}
