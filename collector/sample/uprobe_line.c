// SPDX-License-Identifier: Apache-2.0
/*
 * Writes uprobe_events of a trace file system, see uprobe_line.h. A line is
 *
 *   p:GROUP/EVENT PATH:0xOFFSET(0xSEMAPHORE)	adds; the parentheses only with a semaphore
 *   -:GROUP/EVENT				removes
 *
 * The kernel resolves PATH while the line is written, and keeps the file. A path with a space or a
 * colon cannot be said, so that a descriptor is named.
 */
#include "sample/uprobe_line.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/process_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MAX_LINES_BYTES (1u << 20)
#define PREFIX		"fgcollect_"

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* The directory of a mounted trace file system with uprobes. */
static int open_traces(void)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const int dir = open(places[i], O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		if (dir < 0)
			continue;
		/* Without tracefs the directory is empty. A right that is missing is said later. */
		if (faccessat(dir, "uprobe_events", F_OK, AT_EACCESS) == 0 || errno == EACCES)
			return dir;
		close(dir);
	}
	return -ENOENT;
}

/* O_TRUNC would remove the lines of all. */
static int write_line(int dir, const char *line)
{
	_cleanup_close_ int fd = openat(dir, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	const size_t len = strlen(line);
	ssize_t written;

	if (fd < 0)
		return -errno;
	written = write(fd, line, len);
	if (written < 0)
		return -errno;
	return written == (ssize_t)len ? 0 : -EIO;
}

static int remove_by_name(int dir, const char *name)
{
	char line[UPROBE_LINE_NAME_BYTES + 8];

	snprintf(line, sizeof(line), "-:%s\n", name);
	return write_line(dir, line);
}

/*
 * Whether the process is this user's. Another's has no right to the lines, and could have whoever
 * asks for its start wait.
 */
static bool is_our_users(pid_t pid)
{
	char path[32], text[4096];
	const char *line;
	unsigned uid, effective;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (file_read_small(path, text, sizeof(text)) <= 0)
		return false;
	line = strstr(text, "\nUid:");
	return line && sscanf(line, "\nUid: %u %u", &uid, &effective) == 2 &&
	       effective == geteuid();
}

/* Whether the line is of a collector that is gone. If so, writes its name. */
static bool is_stale(const char *line, char ret_name[UPROBE_LINE_NAME_BYTES])
{
	uint64_t ticks, now_ticks;
	char event[32 + 1];
	int pid, err;

	if (sscanf(line, "p:" PREFIX "%d_%" SCNu64 "/%32[a-z0-9]", &pid, &ticks, event) != 3 ||
	    pid <= 0)
		return false;
	if (is_our_users(pid)) {
		err = process_stat_read_ticks(pid, &now_ticks);
		if (err != -ESRCH && (err || now_ticks == ticks))
			return false;
	}
	snprintf(ret_name, UPROBE_LINE_NAME_BYTES, PREFIX "%d_%" PRIu64 "/%s", pid, ticks, event);
	return true;
}

static int sweep(int dir)
{
	_cleanup_free_ char *lines = malloc(MAX_LINES_BYTES);
	_cleanup_close_ int fd = openat(dir, "uprobe_events", O_RDONLY | O_CLOEXEC);
	char name[UPROBE_LINE_NAME_BYTES], *rest = NULL;
	ssize_t len;
	int removed = 0;

	if (!lines)
		return -ENOMEM;
	if (fd < 0)
		return -errno;
	len = file_read_up_to(fd, lines, MAX_LINES_BYTES - 1);
	if (len < 0)
		return (int)len;
	lines[len] = '\0';
	for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (is_stale(line, name))
			removed += remove_by_name(dir, name) == 0;
	}
	return removed;
}

int uprobe_line_sweep(void)
{
	_cleanup_close_ int dir = open_traces();

	return dir < 0 ? dir : sweep(dir);
}

static int make_name(char ret[UPROBE_LINE_NAME_BYTES])
{
	uint64_t ticks, number;
	const int err = process_stat_read_ticks(getpid(), &ticks);

	if (err)
		return err;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	snprintf(ret, UPROBE_LINE_NAME_BYTES, PREFIX "%d_%" PRIu64 "/p%016" PRIx64, (int)getpid(),
		 ticks, number);
	return 0;
}

static int read_id(int dir, const char *name, uint64_t *ret)
{
	char path[UPROBE_LINE_NAME_BYTES + 16], text[32], *end;
	ssize_t len;

	snprintf(path, sizeof(path), "events/%s/id", name);
	len = file_read_small_at(dir, path, text, sizeof(text));
	if (len < 0)
		return (int)len;
	*ret = strtoull(text, &end, 10);
	return end == text ? -EBADMSG : 0;
}

int uprobe_line_add(int file_fd, uint64_t file_off, uint64_t semaphore_off, struct uprobe_line *ret)
{
	_cleanup_close_ int dir = open_traces();
	struct uprobe_line made = {0};
	char line[256], semaphore[32] = "";
	int err;

	if (dir < 0)
		return dir;
	(void)sweep(dir); /* what stays does nothing */
	err = make_name(made.name);
	if (err)
		return err;
	if (semaphore_off)
		snprintf(semaphore, sizeof(semaphore), "(0x%" PRIx64 ")", semaphore_off);
	snprintf(line, sizeof(line), "p:%s /proc/self/fd/%d:0x%" PRIx64 "%s\n", made.name, file_fd,
		 file_off, semaphore);
	err = write_line(dir, line);
	if (err)
		return err;
	err = read_id(dir, made.name, &made.id);
	if (err) {
		(void)remove_by_name(dir, made.name);
		return err;
	}
	*ret = made;
	return 0;
}

int uprobe_line_remove(struct uprobe_line *line)
{
	_cleanup_close_ int dir = -1;
	int err;

	if (!line->name[0])
		return 0;
	dir = open_traces();
	if (dir < 0)
		return dir;
	err = remove_by_name(dir, line->name);
	if (!err)
		line->name[0] = '\0';
	return err;
}
