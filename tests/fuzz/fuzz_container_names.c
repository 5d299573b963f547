// SPDX-License-Identifier: Apache-2.0
/*
 * Names of containers, from the files that engines keep on the host. The input is parts with a zero
 * byte between them: the first is a text in the form of /proc/<pid>/cgroup, the others become the
 * files of a root directory that is made here. The container's record names it, in what follows all
 * bytes are the input's.
 *
 * Whatever they say: all texts are clean and terminated, an ID is one that the cgroup has, what one
 * who is not root has named gets no pod from the files, and a second reading says the same.
 */
#include "fuzzer.h"

#include "container/container_names.h"
#include "container/container_records.h"

#include "base/utf8.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID64	  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DOCKER	  "/var/lib/docker/containers/" ID64 "/config.v2.json"
#define BUNDLE	  "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID64 "/config.json"
#define STORAGE	  "/var/lib/containers/storage/overlay-containers/containers.json"
#define LOGS	  "/var/log/containers"
#define PODS	  "/var/log/pods"
#define CGROUP	  "/sys/fs/cgroup"
#define N_FILES	  3
#define MAX_NAMES 2 /* files in a directory of logs */

static const char *const files[N_FILES] = {DOCKER, BUNDLE, STORAGE};
static char root[] = "/tmp/fuzz-names.XXXXXX";
static struct cgroup_tree tree;

static void path_of(const char *path, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s%s", root, path);
}

static void make_dirs(const char *path)
{
	char part[PATH_MAX];

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(part, sizeof(part), "%s%.*s", root, (int)(at - path), path);
		mkdir(part, 0755);
	}
}

static void write_file(const char *path, const char *text, size_t len)
{
	char whole[PATH_MAX];
	FILE *file;

	path_of(path, whole);
	file = fopen(whole, "w");
	if (!file || fwrite(text, 1, len, file) != len || fclose(file) != 0)
		abort();
}

static void remove_file(const char *path)
{
	char whole[PATH_MAX];

	path_of(path, whole);
	unlink(whole);
}

/* An empty file of that name, if a file can have that name. False: none was made. */
static bool make_name(const char *dir, const char *name, char ret[PATH_MAX])
{
	int fd;

	if (!name[0] || name[0] == '.' || strchr(name, '/') || strlen(name) > NAME_MAX)
		return false;
	snprintf(ret, PATH_MAX, "%s%s/%s", root, dir, name);
	fd = open(ret, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* A hierarchy with one directory of another user's. */
static void set_up(void)
{
	char mounts[PATH_MAX], users[PATH_MAX];
	static const char *const dirs[] = {DOCKER,   BUNDLE,   STORAGE,
					   LOGS "/", PODS "/", CGROUP "/user/x/"};
	static const char mounts_text[] = "1 0 8:1 / / rw - ext4 x rw\n"
					  "2 1 0:2 / " CGROUP " rw - cgroup2 cgroup2 rw\n";
	int root_fd;

	if (!mkdtemp(root) || chmod(root, 0755) < 0)
		abort();
	umask(022);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		make_dirs(dirs[i]);
	path_of(CGROUP "/user", users);
	chmod(users, 0777);
	write_file("/mounts", mounts_text, sizeof(mounts_text) - 1);
	path_of("/mounts", mounts);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cgroup_tree_init(&tree, root_fd, mounts);
	close(root_fd);
	if (tree.count != 1)
		abort();
}

static void tear_down(void)
{
	char command[PATH_MAX + 16];

	cgroup_tree_fini(&tree);
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	if (system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", root);
}

static void check_text(const char *text, size_t size)
{
	const size_t len = strnlen(text, size);
	uint32_t code;

	if (len == size)
		abort();
	for (size_t at = 0; at < len;) {
		at += utf8_next(text + at, len - at, &code);
		if (code == UTF8_BAD)
			abort();
	}
}

static void check(const struct container *container)
{
	check_text(container->id, sizeof(container->id));
	check_text(container->name, sizeof(container->name));
	check_text(container->pod, sizeof(container->pod));
	check_text(container->name_space, sizeof(container->name_space));
	check_text(container->image, sizeof(container->image));
	if (container->pod[0] && !container_is_pod_name(container->pod, strlen(container->pod)))
		abort();
	if (container->pod_uid[0] &&
	    !container_is_pod_uid(container->pod_uid, strlen(container->pod_uid)))
		abort();
	if (container->labels.count > LABEL_SET_MAX)
		abort();
	for (size_t i = 0; i < container->labels.count; i++) {
		check_text(container->labels.labels[i].key, LABEL_KEY_BYTES);
		check_text(container->labels.labels[i].value, LABEL_VALUE_BYTES);
	}
}

/* The ID stands in the text; it is root's word only if no directory of others is above it. */
static void check_id(const struct container *container, const char *cgroup)
{
	const char *const id = container_engine_id(container);

	if (!container_is_id(id) || !strstr(cgroup, id) ||
	    container_owner_len(container->id) > strlen(container->id) ||
	    container_short_len(container->id) > (int)strlen(container->id))
		abort();
	if (container->namer == CONTAINER_NAMED_BY_ROOT && strcmp(id, container->id) != 0)
		abort();
}

static void read_names(const struct container *parsed, struct container *ret)
{
	struct container_names names;
	char mounts[PATH_MAX], proc[PATH_MAX];

	path_of("/mounts", mounts);
	path_of("/proc", proc); /* there is no engine */
	container_names_init(&names, root, mounts);
	names.proc = proc;
	*ret = *parsed;
	ret->labels = (struct label_set){0};
	container_names_read(&names, ret);
	check(ret);
	if (strcmp(ret->id, parsed->id) != 0 ||
	    (parsed->namer != CONTAINER_NAMED_BY_ROOT &&
	     (ret->name[0] || ret->image[0] || ret->labels.count)))
		abort();
	container_names_fini(&names);
}

static void check_stopped(void)
{
	struct container_names names;
	struct container stopped = {0};
	char mounts[PATH_MAX], proc[PATH_MAX];

	path_of("/mounts", mounts);
	path_of("/proc", proc);
	container_names_init(&names, root, mounts);
	names.proc = proc;
	if (container_names_find_stopped(&names, "web", &stopped)) {
		check(&stopped);
		if (strcmp(stopped.id, ID64) != 0 || strcmp(stopped.name, "web") != 0)
			abort();
	}
	container_fini(&stopped);
	container_names_fini(&names);
}

static void read_all(const char *cgroup)
{
	struct container parsed, first, second;

	check_stopped();
	if (container_parse(cgroup, &tree, &parsed) < 0)
		parsed = (struct container){.id = ID64, .namer = CONTAINER_NAMED_BY_ROOT};
	else
		check_id(&parsed, cgroup);
	check(&parsed);
	read_names(&parsed, &first);
	read_names(&parsed, &second);
	if (strcmp(first.name, second.name) != 0 || strcmp(first.pod, second.pod) != 0 ||
	    strcmp(first.name_space, second.name_space) != 0 ||
	    strcmp(first.image, second.image) != 0 || first.labels.count != second.labels.count)
		abort();
	container_fini(&first);
	container_fini(&second);
}

/* The next part of the input, terminated where it ends. */
static const char *next_part(char **at, const char *end, size_t *ret_len)
{
	char *const part = *at;
	size_t len = (size_t)(end - part);
	char *const zero = memchr(part, '\0', len);

	if (zero)
		len = (size_t)(zero - part);
	*at = part + len + (zero != NULL);
	*ret_len = len;
	return part;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *const text = malloc(size + 1), *at = text;
	const char *const end = text + size;
	char made[2 * MAX_NAMES][PATH_MAX];
	const char *cgroup;
	size_t len, n_made = 0;

	if (!text)
		return 0;
	if (!tree.count) {
		set_up();
		atexit(tear_down);
	}
	memcpy(text, data, size);
	text[size] = '\0';
	cgroup = next_part(&at, end, &len);
	for (size_t i = 0; i < N_FILES; i++) {
		const char *const part = next_part(&at, end, &len);

		if (len > 0)
			write_file(files[i], part, len);
	}
	for (size_t i = 0; i < 2 * MAX_NAMES; i++)
		n_made += make_name(i % 2 ? PODS : LOGS, next_part(&at, end, &len), made[n_made]);
	read_all(cgroup);
	for (size_t i = 0; i < N_FILES; i++)
		remove_file(files[i]);
	for (size_t i = 0; i < n_made; i++)
		unlink(made[i]);
	free(text);
	return 0;
}
