// SPDX-License-Identifier: Apache-2.0
/* Reads and writes palette.map, see draw_colors.h. */
#include "draw/draw_colors.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH "palette.map"

/*
 * Opens a regular file only: to open or read another file, such as a FIFO, may never end. NULL:
 * errno says why.
 */
static FILE *open_regular(void)
{
	const int fd = open(PATH, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	FILE *stream;

	if (fd < 0)
		return NULL;
	stream = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
	if (stream)
		return stream;
	close(fd);
	errno = EINVAL;
	return NULL;
}

int draw_colors_read(struct name_colors *colors)
{
	FILE *const stream = open_regular();
	int err = stream ? name_colors_read(colors, stream) : -errno;

	if (stream)
		fclose(stream);
	if (err == -ENOENT)
		return 0;
	if (err)
		log_error("--cp: " PATH " cannot be read: %s", strerror(-err));
	else if (colors->ignored > 0)
		log_warning("--cp: %llu lines of " PATH " left out; the first is line %llu, which "
			    "is not like name->rgb(1,2,3)",
			    (unsigned long long)colors->ignored,
			    (unsigned long long)colors->first_ignored);
	return err;
}

int draw_colors_write(const struct name_colors *colors)
{
	struct file_atomic file;
	int err = file_atomic_open(&file, PATH, file_output_mode(PATH));

	if (!err) {
		err = name_colors_write(colors, file.stream);
		if (err)
			file_atomic_abandon(&file);
		else
			err = file_atomic_commit(&file);
	}
	if (err)
		log_error("--cp: " PATH " cannot be written: %s", strerror(-err));
	return err;
}
