// SPDX-License-Identifier: Apache-2.0
/* Checks outputs first and writes them last, see output.h. */
#include "app/output.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_check_path(const char *path)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	const size_t len = slash ? (size_t)(slash - path) : 0;
	struct stat st;

	if (strlen(path) >= sizeof(dir)) {
		log_error("-o %.40s...: the path is too long", path);
		return -ENAMETOOLONG;
	}
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		log_error("-o %s: something that is no file is there", path);
		return -EISDIR;
	}
	if (len > 0)
		memcpy(dir, path, len);
	strcpy(dir + len, slash == path ? "/" : len ? "" : ".");
	if (stat(dir, &st) < 0) {
		const int err = -errno;

		log_error("-o %s: %s: %s: make the directory first", path, dir, strerror(-err));
		return err;
	}
	if (!S_ISDIR(st.st_mode)) {
		log_error("-o %s: %s is not a directory", path, dir);
		return -ENOTDIR;
	}
	if (access(dir, W_OK | X_OK) < 0) {
		const int err = -errno;

		log_error("-o %s: cannot write into %s: %s", path, dir, strerror(-err));
		return err;
	}
	return 0;
}

int output_check(const struct options *options)
{
	for (size_t i = 0; i < options->n_outputs; i++) {
		const int err = output_check_path(options->outputs[i].path);

		if (err)
			return err;
	}
	return 0;
}

int output_write(const struct output *output, struct recorder *recorder,
		 const struct render_options *options)
{
	struct file_atomic file;
	int err = file_atomic_open(&file, output->path, 0644);

	if (!err) {
		err = recorder->ops->render(recorder, output->format, options, file.stream);
		if (err)
			file_atomic_abandon(&file);
		else
			err = file_atomic_commit(&file);
	}
	if (err)
		log_error("cannot write %s: %s", output->path, strerror(-err));
	return err;
}
