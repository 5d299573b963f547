// SPDX-License-Identifier: Apache-2.0
/*
 * Reads /proc/<pid>, see process_stat.h. /proc/<pid>/stat is "pid (comm) state ppid ...". comm may
 * hold any characters, parentheses and spaces included, so fields are counted from the last ')'.
 */
#include "base/process_stat.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/guarded.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number in a field; p is the text behind the comm. 0: there are fewer fields. */
static uint64_t field_behind_comm(const char *p, int number)
{
	for (int field = 2; p && field < number; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

#define STAT_FLAGS	  9
#define STAT_START_TICKS  22
#define FORKED_NOT_EXECED 0x40 /* PF_FORKNOEXEC of the kernel's linux/sched.h */

/* Reads a field of stat. */
static int read_stat(int dir_fd, const char *path, int number, uint64_t *ret)
{
	char text[1024];
	const char *p;
	const ssize_t len = file_read_small_at(dir_fd, path, text, sizeof(text));

	if (len < 0)
		return len == -ENOENT ? -ESRCH : (int)len;
	p = strrchr(text, ')');
	if (!p || p[1] != ' ')
		return -EBADMSG;
	/* A main thread that has ended is a zombie as long as other threads live. */
	if (p[2] == 'X' || (p[2] == 'Z' && field_behind_comm(p, 20) <= 1))
		return -ESRCH;
	*ret = field_behind_comm(p, number);
	return 0;
}

static int read_stat_of(pid_t pid, int number, uint64_t *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return read_stat(AT_FDCWD, path, number, ret);
}

int process_stat_read_ticks(pid_t pid, uint64_t *ret)
{
	return read_stat_of(pid, STAT_START_TICKS, ret);
}

int process_stat_read_ticks_at(int proc_fd, uint64_t *ret)
{
	return read_stat(proc_fd, "stat", STAT_START_TICKS, ret);
}

struct stat_call {
	struct guarded_call base;
	pid_t pid;
	int proc_fd; /* negative: by the PID */
	int number;  /* of the field */
	int err;
	uint64_t value;
};

static void run_stat(struct guarded_call *base)
{
	struct stat_call *const call = (struct stat_call *)base;

	call->err = call->proc_fd < 0
			    ? read_stat_of(call->pid, call->number, &call->value)
			    : read_stat(call->proc_fd, "stat", call->number, &call->value);
}

static void free_stat(struct guarded_call *base)
{
	struct stat_call *const call = (struct stat_call *)base;

	if (call->proc_fd >= 0)
		close(call->proc_fd);
	free(call);
}

/* proc_fd: the call's from now on. */
static int read_guarded(pid_t pid, int proc_fd, int number, uint64_t *ret)
{
	struct stat_call *call = calloc(1, sizeof(*call));
	enum guarded_end end;
	int err;

	if (!call) {
		if (proc_fd >= 0)
			close(proc_fd);
		return -ENOMEM;
	}
	*call = (struct stat_call){.base = {.run = run_stat, .free = free_stat},
				   .pid = pid,
				   .proc_fd = proc_fd,
				   .number = number};
	end = guarded_run(pid, &call->base);
	if (end == GUARDED_LATE)
		return -ETIMEDOUT;
	err = end == GUARDED_DONE ? call->err : -ETIMEDOUT;
	if (!err)
		*ret = call->value;
	free_stat(&call->base);
	return err;
}

int process_stat_start_ticks(pid_t pid, uint64_t *ret)
{
	return read_guarded(pid, -1, STAT_START_TICKS, ret);
}

bool process_stat_is_forked(pid_t pid)
{
	uint64_t flags;

	return read_guarded(pid, -1, STAT_FLAGS, &flags) == 0 && (flags & FORKED_NOT_EXECED);
}

int process_stat_start_ticks_at(int proc_fd, pid_t pid, uint64_t *ret)
{
	const int fd = fcntl(proc_fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -errno : read_guarded(pid, fd, STAT_START_TICKS, ret);
}

/* Where the kernel has no pidfd, or there is no descriptor for one. */
static bool is_gone_by_status(pid_t pid)
{
	char path[64], text[8192];
	const char *threads;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	len = file_read_small(path, text, sizeof(text));
	if (len <= 0)
		return len == -ENOENT || len == -ESRCH;
	/* A main thread that has ended is a zombie as long as other threads live. */
	threads = strstr(text, "\nThreads:");
	return strstr(text, "\nState:\tX") ||
	       (strstr(text, "\nState:\tZ") && threads && strtoul(threads + 9, NULL, 10) <= 1);
}

bool process_stat_is_over(pid_t pid)
{
	struct pollfd polled = {.events = POLLIN};
	bool is_over;

	polled.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (polled.fd < 0)
		return errno == ESRCH || is_gone_by_status(pid);
	is_over = poll(&polled, 1, 0) > 0;
	close(polled.fd);
	return is_over;
}

static uint64_t inode_of(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

int process_stat_begin(pid_t pid, uint64_t *ret_ticks, uint64_t *ret_inode)
{
	const uint64_t seen = inode_of(pid);
	const int err = process_stat_start_ticks(pid, ret_ticks);

	if (!err)
		*ret_inode = seen;
	return err;
}

bool process_stat_is_gone(pid_t pid, uint64_t start_ticks, uint64_t *inode)
{
	const uint64_t seen = inode_of(pid);
	uint64_t ticks;
	int err;

	if (process_stat_is_over(pid))
		return true;
	if (start_ticks == 0 || (seen != 0 && seen == *inode))
		return false;
	err = process_stat_start_ticks(pid, &ticks);
	if (!err && ticks == start_ticks)
		*inode = seen;
	return err == -ESRCH || (!err && ticks != start_ticks);
}

uint64_t process_stat_ticks_age_ns(uint64_t ticks)
{
	const uint64_t now_ns = clock_read_ns(CLOCK_BOOTTIME);
	const uint64_t began_ns = ticks * (CLOCK_NS_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));

	return now_ns > began_ns ? now_ns - began_ns : 0;
}

uint64_t process_stat_age_ns(pid_t pid)
{
	uint64_t ticks;

	if (process_stat_start_ticks(pid, &ticks) < 0)
		return UINT64_MAX;
	return process_stat_ticks_age_ns(ticks);
}

static time_t time_of(uint64_t ticks)
{
	const uint64_t began_ns = clock_unix_now_ns() - process_stat_ticks_age_ns(ticks);

	return (time_t)(began_ns / CLOCK_NS_PER_SEC);
}

time_t process_stat_started_at(pid_t pid)
{
	uint64_t ticks;

	return process_stat_start_ticks(pid, &ticks) < 0 ? 0 : time_of(ticks);
}

time_t process_stat_read_started_at(pid_t pid)
{
	uint64_t ticks;

	return process_stat_read_ticks(pid, &ticks) < 0 ? 0 : time_of(ticks);
}

pid_t process_stat_last_pid(void)
{
	char text[128];
	const char *last;

	if (file_read_small("/proc/loadavg", text, sizeof(text)) <= 0)
		return 0;
	last = strrchr(text, ' ');
	return last ? (pid_t)strtol(last, NULL, 10) : 0;
}

pid_t process_stat_pid_of(pid_t tid)
{
	static const char name[] = "\nTgid:";
	char path[64], text[8192];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, name);
	return line ? (pid_t)strtol(line + strlen(name), NULL, 10) : 0;
}

/* The thread ID in the innermost PID namespace, by the text of a status file. */
static pid_t inner_of(const char *status, pid_t tid)
{
	const char *line = strstr(status, "\nNSpid:"), *last;

	if (!line)
		return tid;
	line++;
	last = line + strcspn(line, "\n");
	while (last > line && last[-1] >= '0' && last[-1] <= '9')
		last--;
	return (pid_t)strtol(last, NULL, 10);
}

pid_t process_stat_inner_pid(pid_t pid, pid_t tid)
{
	char path[64], text[8192];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	return file_read_small(path, text, sizeof(text)) <= 0 ? 0 : inner_of(text, tid);
}

/* The first line is "Name:", a tab, and the comm, in which newlines and backslashes are escaped. */
static void copy_name(const char *status, char *ret, size_t size)
{
	const char *p = strncmp(status, "Name:\t", 6) == 0 ? status + 6 : "";
	size_t n = 0;

	for (; *p && *p != '\n' && n + 1 < size; p++) {
		const bool is_escaped = p[0] == '\\' && (p[1] == 'n' || p[1] == '\\');

		p += is_escaped;
		ret[n++] = is_escaped && *p == 'n' ? '\n' : *p;
	}
	ret[n] = '\0';
}

bool process_stat_thread_names(pid_t pid, pid_t tid, pid_t *ret_inner, char *ret_comm, size_t size)
{
	char path[64], text[8192];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return false;
	*ret_inner = inner_of(text, tid);
	copy_name(text, ret_comm, size);
	return true;
}

static uint64_t kilobytes_of(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

uint64_t process_stat_cpu_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) == 0 ? clock_read_ns(clock) : 0;
}

uint64_t process_stat_code_bytes(pid_t pid)
{
	char path[64], text[8192];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return 0;
	return (kilobytes_of(text, "\nVmExe:") + kilobytes_of(text, "\nVmLib:")) << 10;
}

bool process_stat_read_thread(pid_t pid, pid_t tid, uint64_t *ret_ticks, char *ret_comm,
			      size_t size)
{
	char path[64], text[1024], *from, *to;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return false;
	from = strchr(text, '(');
	to = strrchr(text, ')');
	if (!from || !to || to < from)
		return false;
	*ret_ticks = field_behind_comm(to, 22);
	*to = '\0';
	snprintf(ret_comm, size, "%s", from + 1);
	return true;
}

uint64_t process_stat_program_at(int dir_fd, const char *path)
{
	char text[8192], name[64];
	uint64_t bytes;

	if (file_read_small_at(dir_fd, path, text, sizeof(text)) <= 0)
		return 0;
	copy_name(text, name, sizeof(name));
	bytes = kilobytes_of(text, "\nVmExe:");
	return quick_hash_text(bytes + 1, name, strlen(name));
}

void process_stat_comm(pid_t pid, pid_t tid, char *ret, size_t size)
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	len = file_read_small(path, ret, size);
	if (len < 0)
		len = 0;
	if (len > 0 && ret[len - 1] == '\n')
		len--;
	ret[len] = '\0';
}
