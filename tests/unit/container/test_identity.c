// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about container/containers.h: who runs in a cgroup of another's name, or mounts files of
 * another's name, is not shown under that name; what is known of containers is accounted and has
 * its limits. The processes, cgroups and mounts are real.
 */
#include "container/containers.h"

#include "common/charged.h"
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

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID64   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define FAR64  "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define NOBODY 65534
#define LEDGER                                                                                     \
	"{\"ID\":\"" ID64 "\",\"Name\":\"/k8s_ledger_bank-0_prod_"                                 \
	"6efe8f0e-3b4c-4d5e-9f00-112233445566_0\"}"

static char root[TEMP_DIR_BYTES], mounts_path[96], cgroup[PATH_MAX / 2];
static struct containers containers;

/* ---- a host with cgroups, files and processes ---- */

/* The mount point of the cgroups of version 2; false: there is none. */
static bool find_cgroups(char ret[PATH_MAX / 4])
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[4096];
	bool is_found = false;

	while (mounts && !is_found && fgets(line, sizeof(line), mounts))
		is_found = sscanf(line, "%*s %1000s cgroup2 ", ret) == 1 &&
			   strstr(line, " cgroup2 ") != NULL;
	if (mounts)
		fclose(mounts);
	return is_found;
}

static int set_up(void **state)
{
	char point[PATH_MAX / 4];

	(void)state;
	temp_dir_make(root);
	chmod(root, 0755);
	snprintf(mounts_path, sizeof(mounts_path), "%s/mountinfo", root);
	files_write(mounts_path, "1 0 8:1 / / rw - ext4 x rw\n");
	cgroup[0] = '\0';
	if (geteuid() == 0 && find_cgroups(point)) {
		snprintf(cgroup, sizeof(cgroup), "%s/fg-test-%d", point, (int)getpid());
		if (mkdir(cgroup, 0755) < 0)
			cgroup[0] = '\0';
	}
	return 0;
}

static int remove_cgroup(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP ? rmdir(path) : 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (cgroup[0])
		assert_int_equal(nftw(cgroup, remove_cgroup, 8, FTW_DEPTH | FTW_PHYS), 0);
	temp_dir_remove(root);
	return 0;
}

static void skip_without_rights(void)
{
	if (cgroup[0])
		return;
	print_message("needs root and cgroups of version 2 that can be written\n");
	skip();
}

/* Makes all directories of a path that ends in '/', or of a file, below base. */
static void make_dirs(const char *base, const char *path, uid_t owner)
{
	char part[PATH_MAX];

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(part, sizeof(part), "%s%.*s", base, (int)(at - path), path);
		if (mkdir(part, 0755) == 0)
			assert_int_equal(chown(part, owner, owner), 0);
	}
}

static void write_record(const char *path, const char *text, uid_t owner)
{
	char whole[PATH_MAX];

	make_dirs(root, path, owner);
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	files_write(whole, text);
	assert_int_equal(chown(whole, owner, owner), 0);
}

static void write_to(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	const size_t len = strlen(text);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		_exit(3);
	close(fd);
}

/* As unshare -Ur -m: root of a user namespace of its own, which may mount in its own view. */
static void unshare_as_user(uid_t uid)
{
	char map[64];

	/* A process that has changed its user is dumpable again only when it says so. */
	if (uid != 0 && (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0 ||
			 prctl(PR_SET_DUMPABLE, 1) < 0))
		_exit(4);
	if (unshare(uid != 0 ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) < 0)
		_exit(5);
	if (uid != 0) {
		write_to("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "0 %d 1", (int)uid);
		write_to("/proc/self/uid_map", map);
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(6);
}

/*
 * Starts a process of uid in the cgroup at path below the test's. hostname, unless NULL, is the
 * file below root that the process mounts at /etc/hostname.
 */
static pid_t start(const char *path, uid_t uid, const char *hostname)
{
	char procs[PATH_MAX], file[PATH_MAX], c;
	int ready[2];
	pid_t pid;

	snprintf(procs, sizeof(procs), "%s%scgroup.procs", cgroup, path);
	snprintf(file, sizeof(file), "%s%s", root, hostname ? hostname : "");
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	/* After fork(2) the thread sanitizer's thread would be there: none may be in unshare(2). */
	pid = _Fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* where a test fails and leaves it behind */
		write_to(procs, "0");
		if (hostname) {
			unshare_as_user(uid);
			if (mount(file, "/etc/hostname", NULL, MS_BIND, NULL) < 0)
				_exit(7);
		}
		if (write(ready[1], "x", 1) != 1)
			_exit(8);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1) {
		int status;

		waitpid(pid, &status, 0);
		fail_msg("the process did not become ready: status %#x", (unsigned)status);
	}
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Checks how the process is shown; then ends it. */
static void check(pid_t pid, const char *id, const char *name, const char *pod)
{
	const struct container_entry *entry = containers_hold(&containers, pid, 1);
	char seen[PATH_MAX] = "(none)", wanted[PATH_MAX];

	if (entry)
		snprintf(seen, sizeof(seen), "%s, container \"%s\" of pod \"%s/%s\" (%s)",
			 entry->container.id, entry->container.name, entry->container.name_space,
			 entry->container.pod, entry->container.pod_uid);
	snprintf(wanted, sizeof(wanted), "%s, container \"%s\" of pod \"%s", id, name, pod);
	end(pid);
	containers_release(&containers, (struct container_entry *)entry);
	if (strncmp(seen, wanted, strlen(wanted)) != 0)
		fail_msg("the process is shown as %s, not as %s", seen, wanted);
}

/* ---- the attempts ---- */

#define PLANTED "/planted/containers/" ID64

/* unshare -Ur -m, mount --bind hostname /etc/hostname, in a cgroup that the user may divide. */
static void a_user_that_mounts_a_planted_record_has_no_name_of_it(void **state)
{
	skip_without_rights();
	make_dirs(cgroup, "/user/docker-" ID64 ".scope/", NOBODY);
	write_record(PLANTED "/hostname", "", NOBODY);
	write_record(PLANTED "/config.v2.json", LEDGER, NOBODY);
	containers_init(&containers, NULL, NULL);
	check(start("/user/docker-" ID64 ".scope/", NOBODY, PLANTED "/hostname"),
	      "user-65534:" ID64, "", "/\" ()");
	containers_fini(&containers);
}

/* A container's root user writes into a volume, so that the files are the host's root's. */
static void a_container_that_mounts_a_planted_record_has_no_name_of_it(void **state)
{
	skip_without_rights();
	make_dirs(cgroup, "/docker-" ID64 ".scope/", 0);
	write_record(PLANTED "/hostname", "", 0);
	write_record(PLANTED "/config.v2.json", LEDGER, 0);
	containers_init(&containers, NULL, NULL);
	check(start("/docker-" ID64 ".scope/", 0, PLANTED "/hostname"), ID64, "", "/\" ()");
	containers_fini(&containers);
}

/* The file's path within its file system is all that mountinfo has of a mount. */
static void a_user_that_mounts_a_file_of_a_pods_path_is_in_no_pod(void **state)
{
	static const char path[] =
		"/kubelet/pods/6efe8f0e-3b4c-4d5e-9f00-112233445566/containers/ledger/1a2b";

	skip_without_rights();
	make_dirs(cgroup, "/docker-" ID64 ".scope/", 0);
	write_record(path, "", NOBODY);
	containers_init(&containers, NULL, NULL);
	check(start("/docker-" ID64 ".scope/", NOBODY, path), ID64, "", "/\" ()");
	containers_fini(&containers);
}

static void a_users_cgroup_of_a_containers_name_is_not_that_container(void **state)
{
	skip_without_rights();
	make_dirs(cgroup, "/user.slice/user-65534.slice/", 0);
	make_dirs(cgroup, "/user.slice/user-65534.slice/user@65534.service/docker-" ID64 ".scope/",
		  NOBODY);
	make_dirs(cgroup, "/system.slice/docker-" ID64 ".scope/", 0);
	write_record("/var/lib/docker/containers/" ID64 "/config.v2.json", LEDGER, 0);
	containers_init(&containers, root, mounts_path);
	check(start("/user.slice/user-65534.slice/user@65534.service/docker-" ID64 ".scope/",
		    NOBODY, NULL),
	      "user-65534:" ID64, "", "/\" ()");
	check(start("/system.slice/docker-" ID64 ".scope/", 0, NULL), ID64, "ledger",
	      "prod/bank-0\"");
	containers_fini(&containers);
}

/* systemd in a container may make cgroups below the container's own. */
static void a_containers_cgroup_of_anothers_name_is_not_that_container(void **state)
{
	skip_without_rights();
	make_dirs(cgroup, "/system.slice/docker-" FAR64 ".scope/docker-" ID64 ".scope/", 0);
	write_record("/var/lib/docker/containers/" ID64 "/config.v2.json", LEDGER, 0);
	containers_init(&containers, root, mounts_path);
	check(start("/system.slice/docker-" FAR64 ".scope/docker-" ID64 ".scope/", 0, NULL),
	      "in-fedcba987654:" ID64, "", "/\" ()");
	containers_fini(&containers);
}

static void a_users_cgroup_of_a_pods_name_is_not_that_pods(void **state)
{
	static const char path[] = "/user/kubepods-pod6efe8f0e_3b4c_4d5e_9f00_112233445566.slice/"
				   "cri-containerd-" ID64 ".scope/";

	skip_without_rights();
	make_dirs(cgroup, path, NOBODY);
	write_record("/var/log/pods/prod_bank-0_6efe8f0e-3b4c-4d5e-9f00-112233445566/x", "", 0);
	containers_init(&containers, root, mounts_path);
	check(start(path, NOBODY, NULL), "user-65534:" ID64, "", "/\" ()");
	containers_fini(&containers);
}

/* ---- room ---- */

#define MANY 300

/* Moves the process into cgroup after cgroup of its own name, and holds each as a container. */
static unsigned hold_many(pid_t pid, const char *format, uid_t owner,
			  struct container_entry *ret[MANY])
{
	unsigned held = 0;

	for (unsigned i = 0; i < MANY; i++) {
		char path[256], procs[PATH_MAX], text[16];

		snprintf(path, sizeof(path), format, i);
		make_dirs(cgroup, path, owner);
		snprintf(procs, sizeof(procs), "%s%scgroup.procs", cgroup, path);
		snprintf(text, sizeof(text), "%d", (int)pid);
		files_write(procs, text);
		ret[i] = containers_hold(&containers, pid, 1);
		held += ret[i] != NULL;
	}
	return held;
}

static void release_many(struct container_entry *held[MANY])
{
	for (unsigned i = 0; i < MANY; i++)
		containers_release(&containers, held[i]);
}

#define ROOTS "/docker-%064x.scope/"
#define USERS "/user/docker-%064x.scope/"

static void what_is_known_of_containers_is_accounted(void **state)
{
	struct container_entry *held[MANY];
	struct containers_stats stats;
	pid_t pid;

	skip_without_rights();
	for (unsigned i = 0; i < MANY; i++) {
		static char text[65536];
		char path[PATH_MAX];
		int len = snprintf(text, sizeof(text),
				   "{\"ID\":\"%064x\",\"Name\":\"/n%u\","
				   "\"Config\":{\"Labels\":{\"a\":\"b\"",
				   i, i);

		for (unsigned j = 0; j < 40; j++)
			len += snprintf(text + len, sizeof(text) - (size_t)len,
					",\"label%u\":\"%0200u\"", j, j);
		snprintf(text + len, sizeof(text) - (size_t)len, "}}}");
		snprintf(path, sizeof(path), "/var/lib/docker/containers/%064x/config.v2.json", i);
		write_record(path, text, 0);
	}
	make_dirs(cgroup, "/first/", 0);
	pid = start("/first/", 0, NULL);
	containers_init(&containers, root, mounts_path);
	charged_begin();
	assert_int_equal(hold_many(pid, ROOTS, 0, held), MANY);
	print_message("%zu KiB given, %zu KiB accounted\n", charged_given() >> 10,
		      containers_bytes(&containers) >> 10);
	assert_true(containers_bytes(&containers) > 2u << 20);
	if (charged_can_count()) {
		assert_true(containers_bytes(&containers) >= charged_given() / 10 * 9);
		assert_true(containers_bytes(&containers) <= charged_given() / 10 * 11);
	}
	release_many(held);
	containers.max_bytes = 3u << 19; /* lowered: unused ones go */
	for (unsigned i = 0; i < MANY; i++)
		containers_step(&containers, 2);
	assert_true(containers.bytes <= containers.max_bytes);
	assert_int_equal(hold_many(pid, ROOTS, 0, held), MANY); /* without labels */
	containers_stats(&containers, &stats);
	assert_true(stats.labels_left_out > 0);
	assert_true(containers.bytes <= containers.max_bytes);
	release_many(held);
	end(pid);
	containers_fini(&containers);
}

static void a_users_containers_leave_room_for_others(void **state)
{
	struct container_entry *users[MANY], *roots[MANY];
	unsigned held;
	pid_t pid;

	skip_without_rights();
	make_dirs(cgroup, "/first/", 0);
	make_dirs(cgroup, "/user/", NOBODY);
	pid = start("/first/", 0, NULL);
	containers_init(&containers, root, mounts_path);
	containers.max_bytes = 1u << 20;
	held = hold_many(pid, USERS, NOBODY, users);
	assert_in_range(held, 20, MANY / 2);
	assert_int_equal(containers.refused, MANY - held);
	assert_true(containers.bytes <= containers.max_bytes / CONTAINERS_SHARE);
	assert_int_equal(hold_many(pid, ROOTS, 0, roots), MANY);
	release_many(users);
	release_many(roots);
	end(pid);
	containers_fini(&containers);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_user_that_mounts_a_planted_record_has_no_name_of_it),
		TEST(a_container_that_mounts_a_planted_record_has_no_name_of_it),
		TEST(a_user_that_mounts_a_file_of_a_pods_path_is_in_no_pod),
		TEST(a_users_cgroup_of_a_containers_name_is_not_that_container),
		TEST(a_containers_cgroup_of_anothers_name_is_not_that_container),
		TEST(a_users_cgroup_of_a_pods_name_is_not_that_pods),
		TEST(what_is_known_of_containers_is_accounted),
		TEST(a_users_containers_leave_room_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
