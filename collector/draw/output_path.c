// SPDX-License-Identifier: Apache-2.0
/* Checks the place of an output before the work for it begins, see output_path.h. */
#include "draw/output_path.h"

#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_path_check(const char *option, const char *path)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	const size_t len = slash ? (size_t)(slash - path) : 0;
	struct stat st;

	if (strlen(path) >= sizeof(dir)) {
		log_error("%s %.40s...: the path is too long", option, path);
		return -ENAMETOOLONG;
	}
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		log_error("%s %s: something that is no file is there", option, path);
		return -EISDIR;
	}
	if (len > 0)
		memcpy(dir, path, len);
	strcpy(dir + len, slash == path ? "/" : len ? "" : ".");
	if (stat(dir, &st) < 0) {
		const int err = -errno;

		log_error("%s %s: %s: %s: make the directory first", option, path, dir,
			  strerror(-err));
		return err;
	}
	if (!S_ISDIR(st.st_mode)) {
		log_error("%s %s: %s is not a directory", option, path, dir);
		return -ENOTDIR;
	}
	if (access(dir, W_OK | X_OK) < 0) {
		const int err = -errno;

		log_error("%s %s: cannot write into %s: %s", option, path, dir, strerror(-err));
		return err;
	}
	return 0;
}
