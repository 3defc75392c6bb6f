// SPDX-License-Identifier: GPL-2.0-only
/* Small things that the guest programs share; see guest.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

#define LOOKUP	"kallsyms_lookup_name"

static unsigned long find_lookup(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long addr, found = 0;
	char name[128];

	if (!file)
		return 0;
	while (!found &&
	       fscanf(file, "%lx %*c %127s%*[^\n]", &addr, name) >= 2)
		if (!strcmp(name, LOOKUP))
			found = addr;
	fclose(file);
	return found;
}

int guest_load_plain(const char *path, const char *params)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, params, 0))
		ret = -errno;
	close(fd);
	return ret;
}

int guest_load(const char *path, const char *params)
{
	char all[256];

	snprintf(all, sizeof(all), "lookup=0x%lx %s", find_lookup(), params);
	return guest_load_plain(path, all);
}

int guest_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

int guest_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	int ret = 0;

	if (fd < 0)
		return -errno;
	got = read(fd, text, size - 1);
	if (got < 0)
		ret = -errno;
	text[got < 0 ? 0 : got] = '\0';
	close(fd);
	return ret;
}

int guest_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int guest_field(const char *text, const char *name, unsigned long *value)
{
	const char *at = text;

	while ((at = strstr(at, name))) {
		if (at == text || at[-1] == ' ') {
			*value = strtoul(at + strlen(name), NULL, 0);
			return 0;
		}
		at++;
	}
	return -1;
}
