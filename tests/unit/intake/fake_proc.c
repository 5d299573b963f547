// SPDX-License-Identifier: Apache-2.0
/* A directory that looks like /proc, see fake_proc.h. */
#include "common/files.h"
#include "fake_proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER_LINES "7f0000000000-7f0000001000 r-xp 00000000 08:01 12   /usr/lib/libc.so.6\n"

char fake_proc[TEMP_DIR_BYTES], fake_root[96];

void fake_proc_make(void)
{
	temp_dir_make(fake_proc);
	snprintf(fake_root, sizeof(fake_root), "%s/root-of-all", fake_proc);
	assert_int_equal(mkdir(fake_root, 0755), 0);
}

void fake_proc_remove(void)
{
	temp_dir_remove(fake_proc);
}

static void write_file(pid_t pid, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d/%s", fake_proc, (int)pid, name);
	files_write(path, text);
}

static void make_link(pid_t pid, const char *name, const char *target)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d/%s", fake_proc, (int)pid, name);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

void fake_proc_add(pid_t pid, uint64_t ticks, const char *exe, const char *maps)
{
	char path[96], stat[256];

	snprintf(path, sizeof(path), "%s/%d", fake_proc, (int)pid);
	mkdir(path, 0755);
	snprintf(stat, sizeof(stat),
		 "%d (java) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 9 0 %" PRIu64 " 0 0",
		 (int)pid, ticks);
	write_file(pid, "stat", stat);
	write_file(pid, "maps", maps ? maps : OTHER_LINES);
	make_link(pid, "root", fake_root);
	snprintf(stat, sizeof(stat), "Name:\t%s\nVmExe:\t%8zu kB\n", strrchr(exe, '/') + 1,
		 strlen(exe));
	write_file(pid, "status", stat);
}

void fake_proc_add_listening(pid_t pid, uint64_t ticks, const char *path)
{
	char maps[512];

	snprintf(maps, sizeof(maps),
		 OTHER_LINES "7f0000002000-7f0000003000 ---p 00000000 00:01 9        "
			     "/memfd:fgagent-listen:%s (deleted)\n",
		 path);
	fake_proc_add(pid, ticks, "/usr/bin/java", path ? maps : NULL);
}

void fake_proc_set_aside(pid_t pid)
{
	char path[96], aside[96];

	snprintf(path, sizeof(path), "%s/%d", fake_proc, (int)pid);
	snprintf(aside, sizeof(aside), "%s/ended-%d", fake_proc, (int)pid);
	assert_int_equal(rename(path, aside), 0);
}

void fake_proc_drop(pid_t pid)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%d", fake_proc, (int)pid);
	temp_dir_remove(path);
}
