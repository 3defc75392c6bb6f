// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures of this guest that 'make run' compares.
 *
 * Prints "report: KEY=VALUE", one a line. Exit status: 0, or 1 if something
 * could not be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "guest.h"
#include "leaves.h"

#define MIDR_PATH "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"
#define BBML2_TEXT "detected: BBM level 2 without TLB conflict aborts"
/* READ_ALL of syslog(2). */
#define LOG_READ_ALL 3
#define LOG_SIZE (4 << 20)

static void report(const char *key, const char *value)
{
	printf("report: %s=%s\n", key, value);
}

static void report_u64(const char *key, uint64_t value)
{
	printf("report: %s=%" PRIu64 "\n", key, value);
}

/* Does the log of the kernel hold this text? */
static bool log_has(const char *text)
{
	char *log = calloc(1, LOG_SIZE + 1);
	bool has = false;

	if (log && klogctl(LOG_READ_ALL, log, LOG_SIZE) > 0)
		has = strstr(log, text);
	free(log);
	return has;
}

/* Lines "NAME: VALUE" or "NAME VALUE" whose name starts so, all of them. */
static int report_lines(const char *path, const char *prefix)
{
	char line[256], name[64];
	unsigned long long value;
	FILE *f;

	f = fopen(path, "re");
	if (!f) {
		perror(path);
		return -1;
	}
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, prefix, strlen(prefix)) ||
		    sscanf(line, "%63[^: ]%*[: ]%llu", name, &value) != 2)
			continue;
		report_u64(name, value);
	}
	fclose(f);
	return 0;
}

/*
 * Tables of one level that the linear map needs: one for each @span of it that
 * holds at least one leaf of less than @span.
 */
static uint64_t count_tables(const struct pt_dump *dump, uint64_t span)
{
	uint64_t tables = 0, next = 0;
	size_t i;

	for (i = 0; i < dump->nr; i++) {
		const struct pt_range *range = &dump->ranges[i];
		uint64_t first = range->start / span;
		uint64_t last = (range->end - 1) / span;

		if (!range->linear || dump->geo.size[range->kind] >= span)
			continue;
		/* The span that the range before ended in is counted already. */
		if (tables && first < next)
			first = next;
		if (last >= first)
			tables += last - first + 1;
		next = last + 1;
	}
	return tables;
}

static int report_linear_map(void)
{
	uint64_t leaves[PT_NR_KINDS], bytes[PT_NR_KINDS];
	uint64_t page = sysconf(_SC_PAGESIZE);
	/* One page of descriptors spans that much at each level. */
	uint64_t pmd = page * (page / sizeof(uint64_t));
	uint64_t pud = pmd * (page / sizeof(uint64_t));
	struct pt_dump dump;
	char key[64];
	int kind;

	if (pt_read_path(&dump, NULL, 0))
		return -1;
	pt_histogram(&dump, leaves, bytes);
	for (kind = PT_NR_KINDS - 1; kind >= 0; kind--) {
		if (!dump.geo.size[kind])
			continue;
		snprintf(key, sizeof(key), "leaf_kb.%s", pt_kind_name(kind));
		report_u64(key, dump.geo.size[kind] >> 10);
		snprintf(key, sizeof(key), "leaves.%s", pt_kind_name(kind));
		report_u64(key, leaves[kind]);
		snprintf(key, sizeof(key), "mapped_kb.%s", pt_kind_name(kind));
		report_u64(key, bytes[kind] >> 10);
	}
	report_u64("linear_tables",
		   count_tables(&dump, pmd) + count_tables(&dump, pud));
	report_u64("page_kb", page >> 10);
	pt_free(&dump);
	return 0;
}

int main(void)
{
	struct utsname uts;
	const char *mode;
	char text[64];
	int bad = 0;

	uname(&uts);
	report("kernel", uts.release);
	if (guest_read(MIDR_PATH, text, sizeof(text))) {
		bad = 1;
	} else {
		text[strcspn(text, "\n")] = '\0';
		report("midr", text);
	}
	report("bbml2", log_has(BBML2_TEXT) ? "yes" : "no");
	bad |= report_lines("/proc/meminfo", "MemTotal");
	bad |= report_lines("/proc/meminfo", "DirectMap");
	bad |= report_lines("/proc/meminfo", "PageTables");
	bad |= report_lines("/proc/vmstat", "direct_map");
	/* The dump walks all entries, several times: too long with pages and 256G. */
	mode = getenv("REPORT");
	if (!mode || strcmp(mode, "quick"))
		bad |= report_linear_map();
	return bad ? 1 : 0;
}
