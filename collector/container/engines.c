// SPDX-License-Identifier: Apache-2.0
/* Looks through /proc for engines, by the names of programs, see engines.h. */
#include "container/engines.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FDS	       4096  /* of one process */
#define MAX_FDS_IN_ALL 16384 /* of a search: a user may have any number of such processes */

struct search {
	int proc_fd;
	uid_t user;
	bool is_host;
	struct engine_dir *found;
	unsigned count, left_out, fds_left;
};

/* ---- whose a process is ---- */

static bool read_link(int fd, const char *name, char ret[PATH_MAX])
{
	const ssize_t len = readlinkat(fd, name, ret, PATH_MAX - 1);

	if (len < 0)
		return false;
	ret[len] = '\0';
	return true;
}

/* Whether a link to a program leads to one of that name. */
static bool is_program(const char *exe, const char *wanted)
{
	static const char gone[] = " (deleted)"; /* replaced by a newer one */
	const char *const slash = strrchr(exe, '/'), *const name = slash ? slash + 1 : exe;
	const size_t len = strlen(wanted);

	return strncmp(name, wanted, len) == 0 && (!name[len] || strcmp(name + len, gone) == 0);
}

/* Whether the four user IDs of the process are the user's: a setuid program's are not. */
static bool is_of_user(int fd, uid_t user)
{
	char text[4096], *line;
	unsigned ids[4];

	if (file_read_small_at(fd, "status", text, sizeof(text)) <= 0)
		return false;
	line = strstr(text, "\nUid:");
	if (!line || sscanf(line, "\nUid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4)
		return false;
	for (size_t i = 0; i < 4; i++) {
		if (ids[i] != user)
			return false;
	}
	return true;
}

/*
 * Whether the process is outside of all containers: in the namespaces of PID 1, or in the
 * collector's own if those of PID 1 cannot be read.
 */
static bool is_on_host(int proc_fd, int fd)
{
	static const char *const links[][3] = {{"ns/user", "1/ns/user", "self/ns/user"},
					       {"ns/mnt", "1/ns/mnt", "self/ns/mnt"}};
	char theirs[PATH_MAX], host[PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		if (!read_link(fd, links[i][0], theirs))
			return false;
		if (!read_link(proc_fd, links[i][1], host) &&
		    !read_link(proc_fd, links[i][2], host))
			return false;
		if (strcmp(theirs, host) != 0)
			return false;
	}
	return true;
}

static bool is_of_search(const struct search *search, int fd)
{
	return is_of_user(fd, search->user) &&
	       (!search->is_host || is_on_host(search->proc_fd, fd));
}

/* ---- which files a process has open ---- */

static void add(struct search *search, bool is_docker, const char *path)
{
	struct engine_dir *const found = search->found;

	for (unsigned i = 0; i < search->count; i++) {
		if (found[i].is_docker == is_docker && strcmp(found[i].path, path) == 0)
			return;
	}
	if (search->count == ENGINES_MAX) {
		search->left_out++;
		return;
	}
	found[search->count].is_docker = is_docker;
	strcpy(found[search->count++].path, path);
}

static bool cut_suffix(char *path, const char *suffix)
{
	const size_t len = strlen(path), n = strlen(suffix);

	if (path[0] != '/' || len <= n || strcmp(path + len - n, suffix) != 0)
		return false;
	path[len - n] = '\0';
	return true;
}

/* Cuts the last component off. */
static bool cut_name(char *path)
{
	char *const slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

static void take_docker(struct search *search, char path[PATH_MAX])
{
	static const char below[] = "/containers";

	if (cut_suffix(path, "/volumes/metadata.db") && strlen(path) + sizeof(below) <= PATH_MAX)
		add(search, true, strcat(path, below));
}

static void take_conmon(struct search *search, char path[PATH_MAX])
{
	if (cut_suffix(path, "/userdata/ctl") && cut_name(path) &&
	    cut_suffix(path, "-containers") && cut_name(path))
		add(search, false, path);
}

static void look_at_files(struct search *search, int fd, void (*take)(struct search *, char *))
{
	const int fds = openat(fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fds < 0 ? NULL : fdopendir(fds);
	const struct dirent *entry;
	unsigned left = MAX_FDS;

	if (!dir && fds >= 0)
		close(fds);
	while (dir && left-- > 0 && search->fds_left > 0 && (entry = readdir(dir))) {
		char path[PATH_MAX];

		search->left_out += --search->fds_left == 0;
		if (read_link(dirfd(dir), entry->d_name, path))
			take(search, path);
	}
}

/* Most processes cost one system call. */
static void look_at_process(struct search *search, const char *pid)
{
	char path[NAME_MAX + sizeof("/exe")], exe[PATH_MAX];
	_cleanup_close_ int fd = -1;
	bool is_docker;

	snprintf(path, sizeof(path), "%s/exe", pid);
	if (!read_link(search->proc_fd, path, exe))
		return;
	is_docker = is_program(exe, "dockerd");
	if (!is_docker && !is_program(exe, "conmon"))
		return;
	fd = openat(search->proc_fd, pid, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || !read_link(fd, "exe", exe) ||
	    !is_program(exe, is_docker ? "dockerd" : "conmon") || !is_of_search(search, fd))
		return;
	look_at_files(search, fd, is_docker ? take_docker : take_conmon);
}

unsigned engines_find(const char *proc, uid_t user, bool is_host,
		      struct engine_dir ret[ENGINES_MAX], unsigned *ret_left_out)
{
	_cleanup_closedir_ DIR *dir = opendir(proc);
	struct search search = {
		.user = user, .is_host = is_host, .found = ret, .fds_left = MAX_FDS_IN_ALL};
	const struct dirent *entry;

	*ret_left_out = 0;
	if (!dir)
		return 0;
	search.proc_fd = dirfd(dir);
	while (search.fds_left > 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			look_at_process(&search, entry->d_name);
	}
	*ret_left_out = search.left_out;
	return search.count;
}
