// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pid 1 of the test guests.
 *
 * With a file /suite/run it is a test runner: one line there is one test,
 * "NAME SECONDS COMMAND...", run by /bin/sh in /suite. Results are KTAP. The
 * very last line is the verdict, so that nothing that fails later can hide
 * behind it, and then the machine is switched off. Without that file it starts a
 * shell on the console.
 *
 * All output of tests goes through /dev/kmsg: one write is one line there, in
 * order with what the kernel prints, while lines written to a tty may be torn
 * apart by a message of another CPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_FILE	"/suite/run"
#define VERDICT		"wideleaf-verdict"
#define MARK		"wideleaf-init"
/* A record of /dev/kmsg may not be longer than 1024 bytes. */
#define KMSG_MAX	900
#define EXIT_SKIP	4

static int kmsg_fd = -1;

static void emit(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static void emit(const char *fmt, ...)
{
	char line[KMSG_MAX + 64];
	va_list ap;
	int head, n;

	head = snprintf(line, sizeof(line), "<6>");
	va_start(ap, fmt);
	n = vsnprintf(line + head, sizeof(line) - head, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (head + n >= (int)sizeof(line))
		n = sizeof(line) - head - 1;

	if (kmsg_fd < 0 || write(kmsg_fd, line, head + n) < 0)
		dprintf(STDOUT_FILENO, "%s\n", line + head);
}

static void __attribute__((noreturn)) power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void __attribute__((noreturn)) give_up(const char *what)
{
	emit("init: %s: %s", what, strerror(errno));
	emit(VERDICT ": fail (init could not set up the guest)");
	power_off();
}

static void must_mount(const char *type, const char *where)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, NULL) && errno != EBUSY)
		give_up(where);
}

static void set_up(void)
{
	must_mount("devtmpfs", "/dev");
	kmsg_fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	if (kmsg_fd < 0)
		give_up("/dev/kmsg");
	must_mount("proc", "/proc");
	must_mount("sysfs", "/sys");
	must_mount("tmpfs", "/tmp");
	/* A kernel without debugfs is a valid choice. */
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);

	setenv("PATH", "/bin:/sbin:/suite", 1);
	setenv("HOME", "/tmp", 1);
	setenv("TERM", "linux", 0);
}

/* Run argv and wait; for setting up only, its output goes to the console. */
static int run_plain(char *const argv[])
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	return status;
}

static void install_busybox(void)
{
	char *const argv[] = { "/bin/busybox", "--install", "-s", "/bin", NULL };

	if (run_plain(argv))
		give_up("busybox --install");
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000L + ts.tv_nsec / 1000000;
}

/* Lines of one test, passed on as they become complete. */
struct line_buf {
	char text[KMSG_MAX];
	size_t used;
	char last[200];
};

static void flush_line(struct line_buf *lb)
{
	if (!lb->used)
		return;
	lb->text[lb->used] = '\0';
	emit("    %s", lb->text);
	snprintf(lb->last, sizeof(lb->last), "%.199s", lb->text);
	lb->used = 0;
}

static void add_output(struct line_buf *lb, const char *data, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (data[i] == '\n') {
			flush_line(lb);
			continue;
		}
		/* kmsg would show control characters as escapes. */
		if (data[i] == '\r')
			continue;
		lb->text[lb->used++] = data[i] == '\t' ? ' ' : data[i];
		if (lb->used == sizeof(lb->text) - 1)
			flush_line(lb);
	}
}

/*
 * Run one command in a process group of its own. Returns its exit code, 128 + n
 * for signal n, -1 if it was killed at its time limit.
 */
static int run_test(const char *command, int seconds, struct line_buf *lb)
{
	long end = now_ms() + seconds * 1000L;
	bool timed_out = false;
	int out[2], status;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC))
		give_up("pipe");
	pid = fork();
	if (pid < 0)
		give_up("fork");
	if (!pid) {
		int null = open("/dev/null", O_RDONLY);

		setpgid(0, 0);
		dup2(null, STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(out[1], STDERR_FILENO);
		if (chdir("/suite"))
			_exit(126);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(out[1]);

	/* End of file comes when the last process of the test is gone. */
	for (;;) {
		struct pollfd pfd = { .fd = out[0], .events = POLLIN };
		long left = end - now_ms();
		char data[4096];
		ssize_t n;

		if (left <= 0) {
			timed_out = true;
			break;
		}
		n = poll(&pfd, 1, left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			continue;
		n = read(out[0], data, sizeof(data));
		if (n <= 0)
			break;
		add_output(lb, data, n);
	}
	flush_line(lb);
	close(out[0]);
	kill(-pid, SIGKILL);
	if (waitpid(pid, &status, 0) < 0)
		give_up("waitpid");
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;

	if (timed_out)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

static void run_suite(FILE *list)
{
	int total = 0, failed = 0, skipped = 0, n = 0;
	char line[1024];

	while (fgets(line, sizeof(line), list))
		total++;
	rewind(list);

	emit(MARK ": %d tests", total);
	emit("KTAP version 1");
	emit("1..%d", total);
	while (fgets(line, sizeof(line), list)) {
		struct line_buf lb = { .used = 0 };
		char name[128], command[800];
		int seconds, rc;

		n++;
		if (sscanf(line, "%127s %d %799[^\n]", name, &seconds,
			   command) != 3) {
			emit("not ok %d malformed line in " RUN_FILE, n);
			failed++;
			continue;
		}

		emit("    # Subtest: %s", name);
		rc = run_test(command, seconds, &lb);
		if (!rc) {
			emit("ok %d %s", n, name);
		} else if (rc == EXIT_SKIP) {
			emit("ok %d %s # SKIP %s", n, name, lb.last);
			skipped++;
		} else {
			if (rc < 0)
				emit("# %s: killed after %d s", name, seconds);
			else
				emit("# %s: exit code %d", name, rc);
			emit("not ok %d %s", n, name);
			failed++;
		}
	}

	/* Last of all: whatever goes wrong before this leaves no verdict. */
	emit(VERDICT ": %s (%d of %d failed, %d skipped)",
	     failed || !total ? "fail" : "pass", failed, total, skipped);
}

static void run_shell(void)
{
	char name[64] = "", path[80];
	FILE *f = fopen("/sys/class/tty/console/active", "re");
	pid_t pid;
	int fd;

	if (!f || fscanf(f, "%63s", name) != 1)
		snprintf(name, sizeof(name), "ttyAMA0");
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/dev/%s", name);

	pid = fork();
	if (!pid) {
		/* A session with a terminal of its own, for job control. */
		setsid();
		fd = open(path, O_RDWR);
		if (fd >= 0) {
			ioctl(fd, TIOCSCTTY, 1);
			dup2(fd, STDIN_FILENO);
			dup2(fd, STDOUT_FILENO);
			dup2(fd, STDERR_FILENO);
		}
		puts("\nThis is the guest. 'exit' or Ctrl-A x ends it.");
		fflush(stdout);
		execl("/bin/sh", "-sh", NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(-1, NULL, 0) != pid)
		;
}

int main(void)
{
	FILE *list;

	if (getpid() != 1) {
		fprintf(stderr, "init: this is pid 1 of a test guest\n");
		return 2;
	}
	set_up();
	install_busybox();

	list = fopen(RUN_FILE, "re");
	if (list)
		run_suite(list);
	else
		run_shell();
	power_off();
}
