// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enter a second kernel with kexec_file_load() (SPEC L3).
 *
 * The disk holds the image of the kernel that runs. The first time, it is loaded
 * with an initramfs made of this very guest, and entered; kexec copies the linear
 * map for that, whatever leaves it has. The second time there is nothing left to
 * do but to say that it worked. The command line tells the two apart.
 *
 * Usage: next_kernel
 * Needs /dev/vda, root and an initramfs in which /suite/run runs this.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/reboot.h>

#include "guest.h"
#include "kselftest.h"

#define AGAIN	" wideleaf_second=1"
#define IMAGE	"/tmp/Image"
#define INITRD	"/tmp/initrd"
/* What is mounted is wanted as an empty directory. */
#define DEVICES	"printf '%s\\n' dev dev/console dev/null proc sys tmp"
#define FILES	"find init bin sbin etc suite"
#define PACK	"cpio -o -H newc 2> /dev/null"

static int open_or_die(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		ksft_exit_fail_perror(path);
	return fd;
}

int main(void)
{
	char cmdline[1024];
	long ret;

	if (guest_read("/proc/cmdline", cmdline, sizeof(cmdline)))
		ksft_exit_fail_msg("/proc/cmdline cannot be read\n");
	if (strstr(cmdline, AGAIN)) {
		ksft_print_header();
		ksft_set_plan(1);
		guest_write("/dev/kmsg", "wideleaf-kexec: second kernel\n");
		ksft_test_result_pass("next_kernel\n");
		ksft_finished();
	}

	/* A disk is no regular file, which is what kexec reads. */
	if (system("cat /dev/vda > " IMAGE) ||
	    system("cd / && (" DEVICES "; " FILES ") | " PACK " > " INITRD))
		ksft_exit_fail_msg("no image or no initramfs\n");

	cmdline[strcspn(cmdline, "\n")] = '\0';
	strncat(cmdline, AGAIN, sizeof(cmdline) - strlen(cmdline) - 1);
	ret = syscall(SYS_kexec_file_load, open_or_die(IMAGE),
		      open_or_die(INITRD), strlen(cmdline) + 1, cmdline, 0UL);
	if (ret)
		ksft_exit_fail_perror("kexec_file_load");
	reboot(LINUX_REBOOT_CMD_KEXEC);
	ksft_exit_fail_perror("reboot");
}
