// SPDX-License-Identifier: Apache-2.0
/*
 * Reads one source after the other, the one that says most first, see container_names.h: Docker's
 * record, OCI bundles of containerd and CRI-O, the storage of Podman and CRI-O, the kubelet's
 * mounts, links to logs, and directories of logs.
 */
#include "container/container_names.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mount_namespace.h"
#include "container/container_records.h"
#include "container/host_files.h"
#include "container/mount_info.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCKER_DIR "/var/lib/docker/containers"
#define MAX_PLACES 8 /* mounts of one file system */

typedef int take_record(const char *text, size_t len, struct container *container);

void container_names_init(struct container_names *names, const char *root, const char *mounts_path)
{
	/* This process has mounts of its own, and PID 1 is outside of its container. */
	const bool asks_first = !root && mount_namespace_is_other(1, NULL) > 0;

	*names = (struct container_names){.root_fd = -1, .mounts_path = mounts_path};
	if (asks_first)
		names->root_fd = open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!names->mounts_path)
		names->mounts_path =
			names->root_fd >= 0 ? "/proc/1/mountinfo" : "/proc/self/mountinfo";
	if (names->root_fd < 0)
		names->root_fd = open(root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void container_names_fini(struct container_names *names)
{
	if (names->root_fd >= 0)
		close(names->root_fd);
	names->root_fd = -1;
}

/* A file with facts about containers, in a directory of the host. */
struct source {
	const char *dir;
	const char *file;
	size_t max_bytes;
	take_record *take;
};

/* Whether the file was there and said something about the container. */
static bool read_source(struct container_names *names, const struct source *source,
			struct container *container)
{
	_cleanup_close_ int dir = host_dir_open(names->root_fd, source->dir);
	_cleanup_free_ char *text = NULL;
	ssize_t len;
	int err;

	if (dir < 0)
		return false;
	len = host_file_read(dir, source->file, source->max_bytes, &text);
	if (len == -EFBIG || len == -EINVAL || len == -ELOOP)
		names->broken++;
	if (len < 0)
		return false;
	names->reads++;
	err = source->take(text, (size_t)len, container);
	names->broken += err == -EBADMSG;
	return err == 0;
}

static bool read_docker(struct container_names *names, const char *dir, struct container *container)
{
	char file[CONTAINER_ID_BYTES + 32];
	const struct source source = {.dir = dir,
				      .file = file,
				      .max_bytes = CONTAINER_RECORD_MAX_BYTES,
				      .take = container_records_docker};

	snprintf(file, sizeof(file), "%s/config.v2.json", container->id);
	return read_source(names, &source, container);
}

static void remember_dir(struct container_names *names, const char *place)
{
	for (unsigned i = 0; i < CONTAINER_NAMES_MAX_DIRS; i++) {
		if (strcmp(names->docker_dirs[i], place) == 0)
			return;
	}
	names->last_dir = (names->last_dir + 1) % CONTAINER_NAMES_MAX_DIRS;
	strcpy(names->docker_dirs[names->last_dir], place);
}

/*
 * Reads Docker's record of the container. Docker's directory of containers is found by the
 * directory whose /etc/hostname the container mounts: the container's own, or that of the container
 * whose network it shares. The record is the container's own in both cases.
 */
static bool read_docker_by_mount(struct container_names *names, const struct mount_info *mounts,
				 struct container *container)
{
	char place[PATH_MAX];

	if (!mounts->id[0])
		return false;
	for (unsigned i = 0; i < MAX_PLACES; i++) {
		_cleanup_free_ char *text = NULL;
		char *id;

		if (file_read_whole(names->mounts_path, MOUNT_INFO_MAX_BYTES, &text) < 0 ||
		    !mount_info_place(text, mounts, i, place))
			return false;
		id = strstr(place, mounts->id);
		if (!id || id == place)
			return false;
		id[-1] = '\0';
		if (!place[0] || !read_docker(names, place, container))
			continue;
		remember_dir(names, place);
		return true;
	}
	return false;
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
		"/var/lib/containers/storage/overlay-containers",
	};
	char file[CONTAINER_ID_BYTES + 32];
	struct source source = {.file = file,
				.max_bytes = CONTAINER_RECORD_MAX_BYTES,
				.take = container_records_oci};
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

static bool read_storage_at(struct container_names *names, const char *storage,
			    struct container *container)
{
	static const char *const files[] = {"overlay-containers/containers.json",
					    "vfs-containers/containers.json",
					    "btrfs-containers/containers.json"};
	struct source source = {.dir = storage,
				.max_bytes = CONTAINER_STORAGE_MAX_BYTES,
				.take = container_records_storage};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		source.file = files[i];
		if (read_source(names, &source, container))
			return true;
	}
	return false;
}

/*
 * Reads the storage of containers: at its usual place, or two directories above the container's
 * layer.
 */
static void read_storage(struct container_names *names, const struct mount_info *mounts,
			 struct container *container)
{
	static const char layers[] = "/overlay/";
	char storage[PATH_MAX];
	char *at, *last = NULL;

	if (read_storage_at(names, "/var/lib/containers/storage", container))
		return;
	strcpy(storage, mounts->upper_dir);
	for (at = storage; (at = strstr(at, layers)); at++)
		last = at;
	if (!last || last == storage)
		return;
	*last = '\0';
	read_storage_at(names, storage, container);
}

/* Reads the first name in a directory that take accepts. */
static void read_log_names(struct container_names *names, const char *path,
			   int (*take)(const char *name, struct container *container),
			   struct container *container)
{
	_cleanup_closedir_ DIR *dir = host_dir_list(names->root_fd, path);
	const struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		if (n++ == CONTAINER_NAMES_MAX_ENTRIES) {
			names->unlisted++;
			return;
		}
		if (take(entry->d_name, container) == 0)
			return;
	}
}

static void take_kubelet_mounts(const struct mount_info *mounts, struct container *container)
{
	if (!mounts->pod_uid[0] ||
	    (container->pod_uid[0] && strcmp(container->pod_uid, mounts->pod_uid) != 0))
		return;
	strcpy(container->pod_uid, mounts->pod_uid);
	if (!container->name[0])
		strcpy(container->name, mounts->container_name);
}

static bool is_whole(const struct container *container)
{
	return container->name[0] && (!container->pod_uid[0] || container->pod[0]);
}

void container_names_read(struct container_names *names, char *mounts_text,
			  struct container *container)
{
	char nothing[] = "";
	struct mount_info mounts;

	mount_info_parse(mounts_text ? mounts_text : nothing, &mounts);
	if (names->root_fd < 0)
		return;
	if (!read_docker(names, DOCKER_DIR, container))
		read_docker_by_mount(names, &mounts, container);
	if (!is_whole(container))
		read_bundles(names, container);
	if (!is_whole(container))
		read_storage(names, &mounts, container);
	take_kubelet_mounts(&mounts, container);
	if (!is_whole(container))
		read_log_names(names, "/var/log/containers", container_records_log_link, container);
	if (!is_whole(container) && container->pod_uid[0])
		read_log_names(names, "/var/log/pods", container_records_log_dir, container);
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
	ssize_t len;

	snprintf(file, sizeof(file), "%s/config.v2.json", container->id);
	len = host_file_read(dir, file, CONTAINER_RECORD_MAX_BYTES, &text);
	if (len < 0 || container_records_docker(text, (size_t)len, container) < 0)
		return false;
	names->reads++;
	return is_called(container, name) && !container_records_docker_runs(text, (size_t)len);
}

static bool find_stopped_in(struct container_names *names, const char *path, const char *name,
			    struct container *ret)
{
	_cleanup_closedir_ DIR *dir = host_dir_list(names->root_fd, path);
	const struct dirent *entry;
	unsigned n = 0;

	while (dir && n < CONTAINER_NAMES_MAX_STOPPED && (entry = readdir(dir))) {
		struct container container = {0};

		if (container_id_of_path(entry->d_name, container.id) < 0 ||
		    strcmp(container.id, entry->d_name) != 0)
			continue;
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
	if (find_stopped_in(names, DOCKER_DIR, name, ret))
		return true;
	for (unsigned i = 0; i < CONTAINER_NAMES_MAX_DIRS; i++) {
		if (names->docker_dirs[i][0] &&
		    find_stopped_in(names, names->docker_dirs[i], name, ret))
			return true;
	}
	return false;
}
