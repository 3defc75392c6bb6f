// SPDX-License-Identifier: GPL-2.0-only
/* What /proc/meminfo and /proc/vmstat say of the linear map; see leaves.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaves.h"

/* "DirectMap64k:" for 65536, "DirectMap32M:", "DirectMap1G:" */
static void line_name(uint64_t size, char *name, size_t room)
{
	if (size >> 30)
		snprintf(name, room, "DirectMap%" PRIu64 "G:", size >> 30);
	else if (size >> 20)
		snprintf(name, room, "DirectMap%" PRIu64 "M:", size >> 20);
	else
		snprintf(name, room, "DirectMap%" PRIu64 "k:", size >> 10);
}

/* Return: 1 found, 0 no such line, -1 unreadable. */
static int line_kb(const char *meminfo, const char *name, uint64_t *kb)
{
	FILE *file = fopen(meminfo, "r");
	char line[128];
	int ret = 0;

	if (!file) {
		printf("%s: %s\n", meminfo, strerror(errno));
		return -1;
	}
	while (!ret && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) &&
		    sscanf(line + strlen(name), " %" SCNu64 " kB", kb) == 1)
			ret = 1;
	fclose(file);
	return ret;
}

enum pt_directmap pt_check_directmap(const struct pt_dump *dump,
				     const char *meminfo)
{
	uint64_t leaves[PT_NR_KINDS], bytes[PT_NR_KINDS], kb;
	unsigned int found = 0, missing = 0, wrong = 0;
	char name[32];
	int kind, ret;

	if (!meminfo)
		meminfo = "/proc/meminfo";
	pt_histogram(dump, leaves, bytes);
	for (kind = 0; kind < PT_NR_KINDS; kind++) {
		if (!dump->geo.size[kind])
			continue;
		line_name(dump->geo.size[kind], name, sizeof(name));
		ret = line_kb(meminfo, name, &kb);
		if (ret < 0)
			return PT_DIRECTMAP_WRONG;
		if (!ret) {
			missing++;
			continue;
		}
		found++;
		if (kb != bytes[kind] >> 10) {
			printf("%s %" PRIu64 " kB, but %" PRIu64
			       " kB are mapped so\n", name, kb,
			       bytes[kind] >> 10);
			wrong++;
		}
	}
	if (!found)
		return PT_DIRECTMAP_NONE;
	if (missing)
		printf("%u of the DirectMap lines are missing\n", missing);
	return missing || wrong ? PT_DIRECTMAP_WRONG : PT_DIRECTMAP_RIGHT;
}

bool pt_read_splits(unsigned long splits[PT_NR_KINDS])
{
	static const char * const names[PT_NR_KINDS] = {
		[PT_CONT_PTE]	= "direct_map_cont_pte_splits ",
		[PT_PMD]	= "direct_map_pmd_splits ",
		[PT_CONT_PMD]	= "direct_map_cont_pmd_splits ",
		[PT_PUD]	= "direct_map_pud_splits ",
	};
	FILE *file = fopen("/proc/vmstat", "r");
	bool counted = false;
	char line[128];
	int kind;

	memset(splits, 0, PT_NR_KINDS * sizeof(*splits));
	while (file && fgets(line, sizeof(line), file)) {
		for (kind = 0; kind < PT_NR_KINDS; kind++) {
			const char *name = names[kind];

			if (!name || strncmp(line, name, strlen(name)))
				continue;
			splits[kind] = strtoul(line + strlen(name), NULL, 10);
			counted = true;
		}
	}
	if (file)
		fclose(file);
	return counted;
}
