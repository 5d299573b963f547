// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a process and its mapping -> its scope, and the file behind the mapping
 * units:   none
 * threads: the model's
 * errors:  negative errno; -ETIMEDOUT: the process does not answer (base/guarded.h)
 * source:  files/module_file.h, files/file_scope.h
 *
 * What leads to a process's files may have to be waited for while the process hangs in execve(2),
 * see base/process_stat.h. So each is a guarded call.
 */
#ifndef FG_FILES_OPENING_H
#define FG_FILES_OPENING_H

#include "files/file_scope.h"
#include "memory/address_space.h"

#include <sys/stat.h>

struct opened {
	struct file_scope scope; /* zero-filled: not known */
	int fd;			 /* as module_file_open returns it; the caller's */
	struct stat st;
	const char *reason; /* of a negative fd; static */
};

/* Always sets all of ret. */
void opening_run(pid_t pid, const struct mapping *mapping, struct opened *ret);
/* The process's root directory, if it still is the scope's; else negative. */
int opening_root(pid_t pid, const struct file_scope *scope);

#endif
