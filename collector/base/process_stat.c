// SPDX-License-Identifier: Apache-2.0
/*
 * Reads /proc/<pid>, see process_stat.h. /proc/<pid>/stat is "pid (comm) state ppid ...". comm may
 * hold any characters, parentheses and spaces included, so fields are counted from the last ')'.
 */
#include "base/process_stat.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number in a field; p is the text behind the comm. 0: there are fewer fields. */
static uint64_t field_behind_comm(const char *p, int number)
{
	for (int field = 2; p && field < number; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

static int read_start_ticks(int dir_fd, const char *path, uint64_t *ret)
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
	*ret = field_behind_comm(p, 22);
	return 0;
}

int process_stat_start_ticks(pid_t pid, uint64_t *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return read_start_ticks(AT_FDCWD, path, ret);
}

int process_stat_start_ticks_at(int proc_fd, uint64_t *ret)
{
	return read_start_ticks(proc_fd, "stat", ret);
}

uint64_t process_stat_ticks_age_ns(uint64_t ticks)
{
	struct timespec since_boot;
	uint64_t began_ns, now_ns;

	clock_gettime(CLOCK_BOOTTIME, &since_boot);
	now_ns = (uint64_t)since_boot.tv_sec * CLOCK_NS_PER_SEC + (uint64_t)since_boot.tv_nsec;
	began_ns = ticks * (CLOCK_NS_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
	return now_ns > began_ns ? now_ns - began_ns : 0;
}

uint64_t process_stat_age_ns(pid_t pid)
{
	uint64_t ticks;

	if (process_stat_start_ticks(pid, &ticks) < 0)
		return UINT64_MAX;
	return process_stat_ticks_age_ns(ticks);
}

time_t process_stat_started_at(pid_t pid)
{
	struct timespec now, since_boot;
	uint64_t ticks;

	if (process_stat_start_ticks(pid, &ticks) < 0)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &since_boot);
	return now.tv_sec - since_boot.tv_sec + (time_t)(ticks / (uint64_t)sysconf(_SC_CLK_TCK));
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

pid_t process_stat_inner_pid(pid_t pid, pid_t tid)
{
	char path[64], text[8192];
	const char *line, *last;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return tid;
	line++;
	last = line + strcspn(line, "\n");
	while (last > line && last[-1] >= '0' && last[-1] <= '9')
		last--;
	return (pid_t)strtol(last, NULL, 10);
}

static uint64_t kilobytes_of(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

uint64_t process_stat_code_bytes(pid_t pid)
{
	char path[64], text[8192];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return 0;
	return (kilobytes_of(text, "\nVmExe:") + kilobytes_of(text, "\nVmLib:")) << 10;
}

bool process_stat_thread(pid_t pid, pid_t tid, uint64_t *ret_ticks, char *ret_comm, size_t size)
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
