// SPDX-License-Identifier: Apache-2.0
/* The places of debug files below two root directories, see debug_paths.h. */
#include "elf/debug_paths.h"

#include "base/cleanup.h"
#include "base/reach.h"
#include "base/root_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"
#define PATH_BYTES 4096
#define FORMS	   (DEBUG_PATHS_COUNT / 2) /* places in one root directory: by build ID, by names */

static bool is_sound(const struct debug_wish *wish)
{
	return wish->build_id_len <= sizeof(wish->build_id) &&
	       memchr(wish->name, '\0', sizeof(wish->name)) && !strchr(wish->name, '/') &&
	       strcmp(wish->name, ".") != 0 && strcmp(wish->name, "..") != 0;
}

/* Returns whether there is such a path. */
static bool format_build_id(const struct debug_wish *wish, char *path, size_t size)
{
	int len = snprintf(path, size, DEBUG_ROOT "/.build-id/%02x/", wish->build_id[0]);

	for (size_t i = 1; i < wish->build_id_len; i++)
		len += snprintf(path + len, size - (size_t)len, "%02x", wish->build_id[i]);
	snprintf(path + len, size - (size_t)len, ".debug");
	return wish->build_id_len > 1;
}

/* The forms have places for the file's directory and for the name. */
static bool format_named(const struct debug_wish *wish, const char *file, unsigned form, char *path,
			 size_t size)
{
	static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", DEBUG_ROOT "%.*s/%s"};
	const char *slash = file ? strrchr(file, '/') : NULL;
	int len;

	if (!slash || !wish->name[0])
		return false;
	/* NOLINTNEXTLINE: the formats are those of forms. */
	len = snprintf(path, size, forms[form], (int)(slash - file), file, wish->name);
	return len < (int)size;
}

/* Whether the file begins as an ELF file does. Another process opens it. */
static int run_is_elf(const void *request, size_t len, int path_fd)
{
	_cleanup_close_ const int fd = root_file_read(path_fd);
	char magic[SELFMAG];

	(void)request;
	(void)len;
	return fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

static const struct reach_role is_elf_role = {run_is_elf, false};

static bool may_be_read_by_all(int path_fd, const struct stat *st)
{
	return (st->st_mode & S_IROTH) && reach_call(&is_elf_role, NULL, 0, path_fd) == 1;
}

static int try(int root, const char *path, const struct stat *self, bool is_host)
{
	struct stat st;
	const int fd = root_file_open_at(root, path, O_PATH, RESOLVE_IN_ROOT);

	if (fd < 0)
		return -ENOENT;
	if (root_file_stat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (self && st.st_dev == self->st_dev && st.st_ino == self->st_ino) ||
	    (is_host && !may_be_read_by_all(fd, &st))) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

int debug_paths_find(const struct debug_place *place, const struct debug_wish *wish, unsigned *at,
		     bool *ret_is_targets)
{
	_cleanup_close_ const int host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (unsigned i = *at; is_sound(wish) && i < DEBUG_PATHS_COUNT; i++) {
		const bool is_targets = i < FORMS;
		const unsigned form = i % FORMS;
		const int root = is_targets ? place->root : host;
		char path[PATH_BYTES];
		int fd;

		if (root < 0 ||
		    !(form == 0 ? format_build_id(wish, path, sizeof(path))
				: format_named(wish, place->path, form - 1, path, sizeof(path))))
			continue;
		fd = try(root, path, place->self, !is_targets);
		if (fd < 0)
			continue;
		*at = i;
		*ret_is_targets = is_targets;
		return fd;
	}
	return -ENOENT;
}

int debug_paths_open(const struct debug_place *place, const struct debug_wish *wish, unsigned *at,
		     bool *ret_is_targets)
{
	_cleanup_close_ const int path_fd = debug_paths_find(place, wish, at, ret_is_targets);

	return path_fd < 0 ? path_fd : root_file_read(path_fd);
}
