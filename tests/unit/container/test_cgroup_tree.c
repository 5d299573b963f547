// SPDX-License-Identifier: Apache-2.0
/* Claims about container/cgroup_tree.h: whose word the name of a cgroup is. */
#include "container/cgroup_tree.h"

#include "common/child.h"
#include "common/files.h"
#include "common/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

static char root[TEMP_DIR_BYTES];
static struct cgroup_tree tree;

static void make_dir(const char *path, uid_t owner, mode_t mode)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	assert_int_equal(mkdir(whole, 0755), 0);
	assert_int_equal(chown(whole, owner, owner), 0);
	assert_int_equal(chmod(whole, mode), 0);
}

static void read_tree(const char *mounts)
{
	char path[TEMP_DIR_BYTES + 16];
	const int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	cgroup_tree_fini(&tree);
	snprintf(path, sizeof(path), "%s/mountinfo", root);
	files_write(path, mounts);
	cgroup_tree_init(&tree, root_fd, path);
	close(root_fd);
}

static int set_up(void **state)
{
	temp_dir_make(root);
	if (geteuid() != 0)
		return 0;
	make_dir("/v2", 0, 0755);
	make_dir("/v2/system.slice", 0, 0755);
	make_dir("/v2/user.slice", 0, 0755);
	make_dir("/v2/user.slice/user@1000.service", 1000, 0755);
	make_dir("/v2/user.slice/user@1000.service/app.slice", 1000, 0755);
	make_dir("/v2/user.slice/user@1000.service/own", 0, 0755);
	make_dir("/v2/shared", 0, 0775);
	make_dir("/cpu", 0, 0755);
	make_dir("/cpu/docker", NOBODY, 0755);
	make_dir("/named", 0, 0755);
	make_dir("/named/docker", 0, 0755);
	return 0;
}

static int tear_down(void **state)
{
	cgroup_tree_fini(&tree);
	temp_dir_remove(root);
	return 0;
}

static void skip_unless_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("needs root, who alone may give directories away\n");
	skip();
}

#define V2    "1 0 0:1 / /v2 rw - cgroup2 cgroup2 rw\n"
#define CPU   "2 0 0:2 / /cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
#define NAMED "3 0 0:3 / /named rw - cgroup cgroup rw,xattr,name=systemd\n"

/* The owner of the first directory that is not root's; -ENODATA: no hierarchy; other errors. */
static int owner_of(const char *key, const char *path)
{
	const struct cgroup_hierarchy *hierarchy = cgroup_tree_find(&tree, key, strlen(key), &path);
	uid_t owner = 0;
	const int err =
		hierarchy ? cgroup_tree_owner(hierarchy, path, strlen(path), &owner) : -ENODATA;

	return err ? err : (int)owner;
}

static void directories_of_root_are_roots_word(void **state)
{
	skip_unless_root();
	read_tree(V2);
	assert_int_equal(owner_of("", "/"), 0);
	assert_int_equal(owner_of("", "/system.slice/"), 0);
	assert_int_equal(owner_of("", "/user.slice"), 0);
}

static void below_a_users_directory_all_is_the_users_word(void **state)
{
	skip_unless_root();
	read_tree(V2);
	assert_int_equal(owner_of("", "/user.slice/user@1000.service/"), 1000);
	assert_int_equal(owner_of("", "/user.slice/user@1000.service/app.slice/"), 1000);
	assert_int_equal(owner_of("", "/user.slice/user@1000.service/own/"), 1000);
}

static void a_directory_that_a_group_may_write_is_nobodys_word(void **state)
{
	skip_unless_root();
	read_tree(V2);
	assert_int_equal(owner_of("", "/shared"), (int)CGROUP_TREE_NOBODY);
}

static void each_hierarchy_has_its_own_directories(void **state)
{
	skip_unless_root();
	read_tree(V2 CPU NAMED);
	assert_int_equal(owner_of("cpu,cpuacct", "/docker"), NOBODY);
	assert_int_equal(owner_of("cpuacct,cpu", "/docker"), NOBODY);
	assert_int_equal(owner_of("name=systemd", "/docker"), 0);
	assert_int_equal(owner_of("name=system", "/docker"), -ENODATA);
	assert_int_equal(owner_of("memory", "/docker"), -ENODATA);
	assert_int_equal(owner_of("", "/docker"), -ENOENT);
	read_tree(CPU);
	assert_int_equal(owner_of("", "/system.slice"), -ENODATA);
}

/* As in a machine that is a container: /proc shows paths from the first machine's root. */
static void what_is_above_the_hosts_mount_is_left_out(void **state)
{
	skip_unless_root();
	read_tree("1 0 0:1 /docker/0123 /v2 rw - cgroup2 cgroup2 rw\n");
	assert_int_equal(owner_of("", "/docker/0123/user.slice/user@1000.service"), 1000);
	assert_int_equal(owner_of("", "/docker/0123"), 0);
	assert_int_equal(owner_of("", "/docker/01234/user.slice"), -ENODATA);
	assert_int_equal(owner_of("", "/user.slice"), -ENODATA);
}

/* ---- with a cgroup namespace of the collector's own ---- */

/* The mount point of the cgroups of version 2; false: there is none. */
static bool find_cgroups(char ret[256])
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[4096];
	bool is_found = false;

	while (mounts && !is_found && fgets(line, sizeof(line), mounts))
		is_found = strstr(line, " cgroup2 rw") && sscanf(line, "%*s %255s", ret) == 1;
	if (mounts)
		fclose(mounts);
	return is_found;
}

/* Moves the child into a cgroup two levels down, which becomes its root; and looks from there. */
static int look_from_below(const char *cgroup)
{
	char path[512];
	int root_fd;

	snprintf(path, sizeof(path), "%s/a/own/cgroup.procs", cgroup);
	files_write(path, "0");
	if (unshare(CLONE_NEWCGROUP | CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", root, "cgroup2", 0, NULL) < 0)
		return 2;
	root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cgroup_tree_init(&tree, root_fd, "/proc/self/mountinfo");
	if (owner_of("", "/") != 0 || owner_of("", "/../root") != 0)
		return 3;
	if (owner_of("", "/../../user/x") != NOBODY || owner_of("", "/../users") != NOBODY)
		return 4;
	return owner_of("", "/../none") == -ENOENT ? 0 : 5;
}

static void a_path_above_the_collectors_own_namespace_is_found(void **state)
{
	static const char *const dirs[] = {"", "/a", "/a/own", "/a/root", "/a/users", "/user"};
	char point[256], cgroup[384], path[512];
	pid_t pid;

	if (geteuid() != 0 || !find_cgroups(point)) {
		print_message("needs root and cgroups of version 2 that can be written\n");
		skip();
	}
	snprintf(cgroup, sizeof(cgroup), "%s/fg-test-%d", point, (int)getpid());
	for (size_t i = 0; i < 6; i++) {
		snprintf(path, sizeof(path), "%s%s", cgroup, dirs[i]);
		assert_int_equal(mkdir(path, 0755), 0);
		if (strstr(dirs[i], "user"))
			assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	}
	snprintf(path, sizeof(path), "%s/user/x", cgroup);
	assert_int_equal(mkdir(path, 0755), 0);
	pid = fork();
	if (pid == 0)
		_exit(look_from_below(cgroup));
	child_check(pid);
	assert_int_equal(rmdir(path), 0);
	for (size_t i = 6; i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", cgroup, dirs[i]);
		assert_int_equal(rmdir(path), 0);
	}
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(directories_of_root_are_roots_word),
		TEST(below_a_users_directory_all_is_the_users_word),
		TEST(a_directory_that_a_group_may_write_is_nobodys_word),
		TEST(each_hierarchy_has_its_own_directories),
		TEST(what_is_above_the_hosts_mount_is_left_out),
		TEST(a_path_above_the_collectors_own_namespace_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
