// SPDX-License-Identifier: Apache-2.0
/*
 * Reads one source after the other, the one that says most first, see container_names.h: Docker's
 * record, OCI bundles of containerd and CRI-O, the storage of Podman and CRI-O, links to logs, and
 * directories of logs.
 */
#include "container/container_names.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "guard/mount_namespace.h"
#include "container/container_records.h"
#include "container/host_files.h"
#include "container/mount_info.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STORAGE_DIR   "/var/lib/containers/storage"
#define FS_TYPE_BYTES 32

/* Where Docker's packages keep records, and where Docker's snap does. */
static const char *const docker_dirs[] = {"/var/lib/docker/containers",
					  "/var/snap/docker/common/var-lib-docker/containers"};

#define DOCKER_DIRS (sizeof(docker_dirs) / sizeof(docker_dirs[0]))

void container_names_init(struct container_names *names, const char *root, const char *mounts_path)
{
	/* This process has mounts of its own, and PID 1 is outside of its container. */
	const bool asks_first = !root && mount_namespace_is_other(1, NULL) > 0;
	struct stat st;

	*names = (struct container_names){
		.root_fd = -1, .mounts_path = mounts_path, .proc = "/proc"};
	if (asks_first)
		names->root_fd = open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!names->mounts_path)
		names->mounts_path =
			names->root_fd >= 0 ? "/proc/1/mountinfo" : "/proc/self/mountinfo";
	if (names->root_fd < 0)
		names->root_fd = open(root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (names->root_fd >= 0 && fstat(names->root_fd, &st) == 0)
		names->owner = st.st_uid;
}

void container_names_fini(struct container_names *names)
{
	if (names->root_fd >= 0)
		close(names->root_fd);
	names->root_fd = -1;
}

/* A file with facts about containers, in a directory of the host. */
struct source {
	uid_t owner; /* who alone may write the file */
	const char *dir;
	const char *file;
	size_t max_bytes;
	enum container_record_kind kind;
};

/* Counts what others than its owner may write, and says so once. */
static void distrust(struct container_names *names, uid_t owner, const char *dir, const char *file)
{
	if (names->untrusted++ > 0 || owner != names->owner)
		return;
	log_warning("names of containers are not read from %s%s%s: it or a directory above it can "
		    "be written by others than user %u: chown it, or chmod go-w",
		    dir, file[0] ? "/" : "", file, (unsigned)owner);
}

/*
 * Whether no file system that may never answer is on the path, which a user has chosen: the host's
 * mounts are asked, and not the path.
 */
static bool is_on_disk(const struct container_names *names, const char *path)
{
	static const char *const types[] = {"ext2", "ext3", "ext4",  "xfs",	 "btrfs",
					    "f2fs", "zfs",  "tmpfs", "bcachefs", NULL};
	_cleanup_free_ char *text = NULL;
	char type[FS_TYPE_BYTES];

	if (file_read_whole(names->mounts_path, MOUNT_INFO_MAX_BYTES, &text) < 0 ||
	    !mount_info_type_of(text, path, type, sizeof(type)))
		return false;
	for (size_t i = 0; types[i]; i++) {
		if (strcmp(type, types[i]) == 0)
			return true;
	}
	return false;
}

static int open_dir(const struct container_names *names, const struct source *source)
{
	if (source->owner == names->owner)
		return host_dir_open(names->root_fd, source->dir, names->owner);
	return is_on_disk(names, source->dir) ? host_dir_open_of_user(names->root_fd, source->dir)
					      : -EPERM;
}

static void count_error(struct container_names *names, int err)
{
	names->broken += err == -EBADMSG;
	names->lost += err == -EPROTO;
	names->delayed += err == -EAGAIN;
}

/* Whether the file was there and said something about the container. */
static bool read_source(struct container_names *names, const struct source *source,
			struct container *container)
{
	_cleanup_close_ int dir = open_dir(names, source);
	_cleanup_free_ char *text = NULL;
	ssize_t len = dir;
	int err;

	if (dir >= 0)
		len = host_file_read(dir, source->file, source->owner,
				     source->owner == names->owner ? source->max_bytes
								   : CONTAINER_USERS_MAX_BYTES,
				     &text);
	if (len == -EPERM)
		distrust(names, source->owner, source->dir, dir < 0 ? "" : source->file);
	if (dir >= 0 && (len == -EFBIG || len == -EINVAL || len == -ELOOP))
		names->broken++;
	if (len < 0)
		return false;
	names->reads++;
	err = record_parser_read(&names->waits, source->kind, text, (size_t)len, container, NULL);
	count_error(names, err);
	return err == 0;
}

static bool read_docker(struct container_names *names, const char *dir, uid_t owner,
			struct container *container)
{
	char file[CONTAINER_ID_BYTES + 32];
	const struct source source = {.owner = owner,
				      .dir = dir,
				      .file = file,
				      .max_bytes = CONTAINER_RECORD_MAX_BYTES,
				      .kind = RECORD_DOCKER};

	snprintf(file, sizeof(file), "%s/config.v2.json", container_engine_id(container));
	return read_source(names, &source, container);
}

static bool read_bundles(struct container_names *names, struct container *container)
{
	static const char *const dirs[] = {
		"/run/containerd/io.containerd.runtime.v2.task/k8s.io",
		"/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io",
		"/run/containerd/io.containerd.runtime.v2.task/default",
	};
	static const char *const storage_dirs[] = {
		"/run/containers/storage/overlay-containers",
		STORAGE_DIR "/overlay-containers",
	};
	char file[CONTAINER_ID_BYTES + 32];
	struct source source = {.owner = names->owner,
				.file = file,
				.max_bytes = CONTAINER_RECORD_MAX_BYTES,
				.kind = RECORD_OCI};
	bool is_found = false;

	snprintf(file, sizeof(file), "%s/config.json", container->id);
	for (size_t i = 0; !is_found && i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		source.dir = dirs[i];
		is_found = read_source(names, &source, container);
	}
	snprintf(file, sizeof(file), "%s/userdata/config.json", container->id);
	for (size_t i = 0; !is_found && i < sizeof(storage_dirs) / sizeof(storage_dirs[0]); i++) {
		source.dir = storage_dirs[i];
		is_found = read_source(names, &source, container);
	}
	return is_found;
}

static bool read_storage(struct container_names *names, const char *storage, uid_t owner,
			 struct container *container)
{
	static const char *const dirs[] = {"overlay-containers", "vfs-containers",
					   "btrfs-containers"};
	char dir[PATH_MAX + 32];
	struct source source = {.owner = owner,
				.dir = dir,
				.file = "containers.json",
				.max_bytes = CONTAINER_STORAGE_MAX_BYTES,
				.kind = RECORD_STORAGE};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(dir, sizeof(dir), "%s/%s", storage, dirs[i]);
		if (read_source(names, &source, container))
			return true;
	}
	return false;
}

/* Asks engines whose directories are known. */
static bool read_engines(struct container_names *names, bool is_docker,
			 const struct engine_dir *engines, unsigned count, uid_t owner,
			 struct container *container)
{
	for (unsigned i = 0; i < count; i++) {
		const char *const path = engines[i].path;

		if (engines[i].is_docker == is_docker &&
		    (is_docker ? read_docker(names, path, owner, container)
			       : read_storage(names, path, owner, container)))
			return true;
	}
	return false;
}

/* Whether it is time for a search, which looks at all processes of the host. */
static bool may_search(uint64_t *searched_ns)
{
	const uint64_t now_ns = clock_now_ns();

	if (*searched_ns != 0 && now_ns - *searched_ns < CONTAINER_NAMES_SEARCH_NS)
		return false;
	*searched_ns = now_ns;
	return true;
}

/* Directories of engines that have ended stay known until another engine is found. */
static bool search(struct container_names *names)
{
	_cleanup_free_ struct engine_dir *found = NULL;
	unsigned count, left_out = 0;

	if (!may_search(&names->searched_ns))
		return false;
	found = calloc(ENGINES_MAX, sizeof(*found));
	count = found ? engines_find(names->proc, names->owner, true, found, &left_out) : 0;
	names->engines_left_out += left_out;
	if (count == 0)
		return false;
	memcpy(names->engines, found, sizeof(names->engines));
	names->n_engines = count;
	return true;
}

/* Reads the first name in a directory that take accepts. */
static void read_log_names(struct container_names *names, const char *path,
			   int (*take)(const char *name, struct container *container),
			   struct container *container)
{
	_cleanup_close_ const int fd = host_dir_open(names->root_fd, path, names->owner);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : host_dir_list(fd);
	const struct dirent *entry;
	size_t n = 0;

	if (fd == -EPERM)
		distrust(names, names->owner, path, "");
	while (dir && (entry = readdir(dir))) {
		if (n++ == CONTAINER_NAMES_MAX_ENTRIES) {
			names->unlisted++;
			return;
		}
		if (take(entry->d_name, container) == 0)
			return;
	}
}

static bool is_whole(const struct container *container)
{
	return container->name[0] && (!container->pod_uid[0] || container->pod[0]);
}

static void read_pod(struct container_names *names, struct container *container)
{
	if (container->pod_uid[0] && !container->pod[0])
		read_log_names(names, "/var/log/pods", container_records_log_dir, container);
}

/* Asks the engines of the host's owner. */
static void read_as_owner(struct container_names *names, struct container *container)
{
	const uid_t owner = names->owner;
	bool is_dockers = false;

	for (size_t i = 0; !is_dockers && i < DOCKER_DIRS; i++)
		is_dockers = read_docker(names, docker_dirs[i], owner, container);
	if (!is_dockers)
		read_engines(names, true, names->engines, names->n_engines, owner, container);
	if (!is_whole(container))
		read_bundles(names, container);
	if (!is_whole(container) && !read_storage(names, STORAGE_DIR, owner, container))
		read_engines(names, false, names->engines, names->n_engines, owner, container);
	if (!container->name[0] && search(names) &&
	    !read_engines(names, true, names->engines, names->n_engines, owner, container))
		read_engines(names, false, names->engines, names->n_engines, owner, container);
	if (!is_whole(container))
		read_log_names(names, "/var/log/containers", container_records_log_link, container);
	read_pod(names, container);
}

/* Asks the engines of the container's user. What these say of pods is not taken. */
static void read_as_user(struct container_names *names, struct container *container)
{
	_cleanup_free_ struct engine_dir *engines = NULL;
	const uid_t user = container->user;
	unsigned count, left_out = 0;

	if (user == CGROUP_TREE_NOBODY || !may_search(&names->searched_users_ns))
		return;
	engines = calloc(ENGINES_MAX, sizeof(*engines));
	count = engines ? engines_find(names->proc, user, false, engines, &left_out) : 0;
	names->engines_left_out += left_out;
	if (!read_engines(names, true, engines, count, user, container))
		read_engines(names, false, engines, count, user, container);
	container->pod_uid[0] = container->pod[0] = container->name_space[0] = '\0';
}

void container_names_read(struct container_names *names, struct container *container)
{
	if (names->root_fd < 0)
		return;
	switch (container->namer) {
	case CONTAINER_NAMED_BY_ROOT:
		read_as_owner(names, container);
		return;
	case CONTAINER_NAMED_BY_USER:
		read_as_user(names, container);
		return;
	case CONTAINER_NAMED_BY_CONTAINER:
		read_pod(names, container);
		return;
	case CONTAINER_NAMED_BY_ANYONE:
		return;
	}
}

/* ---- containers that do not run ---- */

static bool is_called(const struct container *container, const char *name)
{
	return strcmp(container->name, name) == 0 ||
	       strncmp(container->id, name, strlen(name)) == 0;
}

static bool is_stopped_at(struct container_names *names, int dir, const char *name,
			  struct container *container)
{
	char file[CONTAINER_ID_BYTES + 32];
	_cleanup_free_ char *text = NULL;
	bool runs = false;
	ssize_t len;
	int err;

	snprintf(file, sizeof(file), "%s/config.v2.json", container->id);
	len = host_file_read(dir, file, names->owner, CONTAINER_RECORD_MAX_BYTES, &text);
	/* Most records are of others. No name of Docker's has a character that JSON escapes. */
	if (len < 0 ||
	    (!is_called(container, name) && !memmem(text, (size_t)len, name, strlen(name))))
		return false;
	names->reads++;
	err = record_parser_read(&names->waits, RECORD_DOCKER, text, (size_t)len, container, &runs);
	count_error(names, err);
	return err == 0 && is_called(container, name) && !runs;
}

static bool find_stopped_in(struct container_names *names, const char *path, const char *name,
			    struct container *ret)
{
	_cleanup_close_ const int fd = host_dir_open(names->root_fd, path, names->owner);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : host_dir_list(fd);
	const struct dirent *entry;
	unsigned n = 0;

	while (dir && n < CONTAINER_NAMES_MAX_STOPPED && (entry = readdir(dir))) {
		struct container container = {0};

		if (!container_is_id(entry->d_name) ||
		    strlen(entry->d_name) >= sizeof(container.id))
			continue;
		strcpy(container.id, entry->d_name);
		n++;
		if (is_stopped_at(names, dirfd(dir), name, &container)) {
			*ret = container;
			return true;
		}
		container_fini(&container);
	}
	names->unlisted += n == CONTAINER_NAMES_MAX_STOPPED;
	return false;
}

bool container_names_find_stopped(struct container_names *names, const char *name,
				  struct container *ret)
{
	if (names->root_fd < 0 || !name[0])
		return false;
	for (size_t i = 0; i < DOCKER_DIRS; i++) {
		if (find_stopped_in(names, docker_dirs[i], name, ret))
			return true;
	}
	search(names);
	for (unsigned i = 0; i < names->n_engines; i++) {
		if (names->engines[i].is_docker &&
		    find_stopped_in(names, names->engines[i].path, name, ret))
			return true;
	}
	return false;
}
