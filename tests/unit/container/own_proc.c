// SPDX-License-Identifier: Apache-2.0
/* Processes that are files, see own_proc.h. */
#include "own_proc.h"

#include "common/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 512

void own_proc_write(const char *path, int pid, const char *name, const char *text)
{
	char file[PATH_BYTES];

	snprintf(file, sizeof(file), "%s/%d/%s", path, pid, name);
	files_write(file, text);
}

void own_proc_link(const char *path, int pid, const char *name, const char *target)
{
	char link[PATH_BYTES];

	snprintf(link, sizeof(link), "%s/%d/%s", path, pid, name);
	unlink(link);
	assert_int_equal(symlink(target, link), 0);
}

static void make_dir(const char *path, int pid, const char *name)
{
	char dir[PATH_BYTES];

	snprintf(dir, sizeof(dir), "%s/%d%s", path, pid, name);
	assert_int_equal(mkdir(dir, 0755), 0);
}

void own_proc_add(const char *path, int pid, const char *program, uid_t uid, const char *open_file)
{
	char text[256];

	make_dir(path, pid, "");
	make_dir(path, pid, "/ns");
	make_dir(path, pid, "/fd");
	snprintf(text, sizeof(text), "Name:\t%s\nUid:\t%u\t%u\t%u\t%u\n", program, (unsigned)uid,
		 (unsigned)uid, (unsigned)uid, (unsigned)uid);
	own_proc_write(path, pid, "status", text);
	snprintf(text, sizeof(text), "/usr/bin/%s", program);
	own_proc_link(path, pid, "exe", text);
	own_proc_link(path, pid, "ns/user", "user:[1]");
	own_proc_link(path, pid, "ns/mnt", "mnt:[1]");
	own_proc_link(path, pid, "fd/3", open_file);
}

void own_proc_make(const char *path)
{
	assert_int_equal(mkdir(path, 0755), 0);
	own_proc_add(path, 1, "init", 0, "/dev/null");
}
