// SPDX-License-Identifier: Apache-2.0
/* Claims about whom a process belongs to; the processes are real. See guard/owner.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/files.h"
#include "common/temp_dir.h"
#include "guard/owner.h"
#include "guard/subordinates.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOMEBODY 65534

static void become_somebody(void)
{
	if (setresgid(SOMEBODY, SOMEBODY, SOMEBODY) < 0 ||
	    setresuid(SOMEBODY, SOMEBODY, SOMEBODY) < 0)
		_exit(1);
}

static void hide(void)
{
	become_somebody();
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		_exit(1);
}

static void write_map(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		_exit(1);
	close(fd);
}

/* Makes a namespace where it is root, and a further one in that namespace. */
static void nest(void)
{
	become_somebody();
	if (prctl(PR_SET_DUMPABLE, 1) < 0 || unshare(CLONE_NEWUSER) < 0)
		_exit(1);
	write_map("/proc/self/setgroups", "deny");
	write_map("/proc/self/gid_map", "0 65534 1");
	write_map("/proc/self/uid_map", "0 65534 1");
	if (unshare(CLONE_NEWUSER) < 0)
		_exit(1);
}

/* The owner of a child that has done this. */
static struct owner owner_after(void (*act)(void), const char *container_id)
{
	struct owner owner;
	int fds[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		act();
		close(fds[0]);
		if (write(fds[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	owner = owner_of_process(pid, container_id, strlen(container_id));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return owner;
}

static void who_hides_is_still_who_they_are(void **state)
{
	assert_int_equal(owner_after(hide, "").user, SOMEBODY);
}

static void whoever_makes_namespaces_stays_the_user_of_what_is_inside(void **state)
{
	assert_int_equal(owner_after(nest, "").user, SOMEBODY);
}

static void map_of(const char *text, uint64_t uid, const char *expected)
{
	char said[24];
	static struct subordinates known;

	subordinates_parse(&known, text);
	snprintf(said, sizeof(said), "%llu", (unsigned long long)subordinates_user(&known, uid));
	assert_string_equal(said, expected);
}

static void who_has_subordinate_ids_is_one_user_for_each_range(void **state)
{
	static const char text[] = "# two ranges\nann:100000:65536\n\n1001:200000:10\n"
				   "broken\nbob:300000:0\neve:400000\ncarl:500000:1";

	map_of(text, 99999, "99999");
	map_of(text, 100000, "100000");
	map_of(text, 165535, "100000");
	map_of(text, 165536, "165536");
	map_of(text, 200009, "200000");
	map_of(text, 200010, "200010");
	map_of(text, 300000, "300000");
	map_of(text, 400000, "400000");
	map_of(text, 500000, "500000");
	map_of("", 100000, "100000");
}

/* A user of the host may be any of these in a namespace of their own. */
static void be_a_subordinate(void)
{
	if (setresuid(1234567, 1234567, 1234567) < 0)
		_exit(1);
}

static void subordinates_are_read_below_the_root(void **state)
{
	char dir[] = "/tmp/fg-owner-XXXXXX", path[64];
	int root;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/etc", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/etc/subuid", dir);
	files_write(path, "ann:1234500:100\n");
	root = open(dir, O_PATH | O_DIRECTORY);
	owner_read_subordinates(root);
	assert_int_equal(owner_after(be_a_subordinate, "").user, 1234500);
	assert_int_equal(unlink(path), 0);
	owner_read_subordinates(root);
	assert_int_equal(owner_after(be_a_subordinate, "").user, 1234567);
	close(root);
	temp_dir_remove(dir);
}

static void users_are_told_apart_and_containers_too(void **state)
{
	const struct owner host = owner_of_process(getpid(), "", 0);
	const struct owner a = owner_of_process(getpid(), "a", 1);
	const struct owner b = owner_of_process(getpid(), "b", 1);

	assert_int_equal(host.user, getuid());
	assert_int_equal(host.container, 0);
	assert_true(a.container != 0 && b.container != 0 && a.container != b.container);
	assert_int_equal(a.user, b.user);
}

static void who_is_gone_is_nobody(void **state)
{
	const pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(owner_of_process(pid, "", 0).user == OWNER_NOBODY);
}

static struct owner_use use_of(struct owner owner, const struct owner *holders, size_t count)
{
	struct owner_use use = {0};

	for (size_t i = 0; i < count; i++)
		owner_count(&use, owner, holders[i]);
	return use;
}

static void users_of_a_container_leave_something_to_each_other(void **state)
{
	const struct owner holders[] = {{1, 0}, {1, 0}, {1, 1}, {2, 0}, {0, 0}, {0, 1}};
	const size_t n = sizeof(holders) / sizeof(holders[0]);

	assert_true(owner_has_all(use_of((struct owner){1, 0}, holders, n), 2));
	assert_false(owner_has_all(use_of((struct owner){1, 1}, holders, n), 2));
	assert_false(owner_has_all(use_of((struct owner){1, 2}, holders, n), 2));
	assert_false(owner_has_all(use_of((struct owner){0, 0}, holders, n), 2));
	assert_true(owner_has_all(use_of((struct owner){0, 0}, holders, n), 1));
	assert_false(owner_has_all(use_of((struct owner){0, 2}, holders, n), 1));
	assert_true(owner_has_all(use_of((struct owner){1, 2}, holders, n), 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_hides_is_still_who_they_are),
		cmocka_unit_test(whoever_makes_namespaces_stays_the_user_of_what_is_inside),
		cmocka_unit_test(who_has_subordinate_ids_is_one_user_for_each_range),
		cmocka_unit_test(subordinates_are_read_below_the_root),
		cmocka_unit_test(users_are_told_apart_and_containers_too),
		cmocka_unit_test(who_is_gone_is_nobody),
		cmocka_unit_test(users_of_a_container_leave_something_to_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
