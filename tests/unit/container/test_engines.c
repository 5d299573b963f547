// SPDX-License-Identifier: Apache-2.0
/* Claims about container/engines.h: who is believed to be an engine, in a /proc made up here. */
#include "container/engines.h"

#include "own_proc.h"

#include "common/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#define USER 1000
#define DATA "/data/volumes/metadata.db"
#define CTL  "/p/overlay-containers/0123/userdata/ctl"

static char root[TEMP_DIR_BYTES], proc[TEMP_DIR_BYTES + 8];
static struct engine_dir found[ENGINES_MAX];
static unsigned left_out;

static int set_up(void **state)
{
	temp_dir_make(root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	own_proc_make(proc);
	return 0;
}

static int tear_down(void **state)
{
	temp_dir_remove(root);
	return 0;
}

/* wanted NULL: no engine is found. */
static void check(uid_t user, bool is_host, const char *wanted)
{
	const unsigned count = engines_find(proc, user, is_host, found, &left_out);

	assert_int_equal(count, wanted != NULL);
	if (wanted)
		assert_string_equal(found[0].path, wanted);
}

static void docker_is_where_its_volumes_are_open(void **state)
{
	own_proc_add(proc, 7, "dockerd", 0, DATA);
	check(0, true, "/data/containers");
	assert_true(found[0].is_docker);
}

static void podman_is_where_a_monitor_has_its_fifo(void **state)
{
	own_proc_add(proc, 7, "conmon", 0, CTL);
	own_proc_add(proc, 8, "conmon", 0, "/p/overlay-containers/4567/userdata/ctl");
	check(0, true, "/p");
	assert_false(found[0].is_docker);
}

static void other_files_say_nothing(void **state)
{
	static const char *const files[] = {"/data/metadata.db",
					    "/volumes/metadata.db",
					    "data/volumes/metadata.db",
					    "/data/volumes/metadata.db (deleted)",
					    "socket:[1]",
					    CTL};

	own_proc_add(proc, 7, "dockerd", 0, "/dev/null");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		own_proc_link(proc, 7, "fd/3", files[i]);
		check(0, true, NULL);
	}
	own_proc_add(proc, 8, "conmon", 0, "/p/containers/0123/userdata/ctl");
	check(0, true, NULL);
	own_proc_link(proc, 8, "fd/3", "/userdata/ctl");
	check(0, true, NULL);
}

/* A container's root user can give a process this name, and have such a file open. */
static void a_process_in_a_container_is_no_engine_of_the_host(void **state)
{
	own_proc_add(proc, 7, "dockerd", 0, DATA);
	own_proc_link(proc, 7, "ns/mnt", "mnt:[2]");
	check(0, true, NULL);
	own_proc_link(proc, 7, "ns/mnt", "mnt:[1]");
	own_proc_link(proc, 7, "ns/user", "user:[2]");
	check(0, true, NULL);
	own_proc_link(proc, 7, "ns/user", "user:[1]");
	check(0, true, "/data/containers");
}

static void without_a_look_at_pid_1_the_collectors_own_namespaces_count(void **state)
{
	char path[TEMP_DIR_BYTES + 32];

	own_proc_add(proc, 7, "dockerd", 0, DATA);
	snprintf(path, sizeof(path), "%s/1/ns/mnt", proc);
	assert_int_equal(unlink(path), 0);
	check(0, true, NULL);
	snprintf(path, sizeof(path), "%s/self", proc);
	assert_int_equal(symlink("7", path), 0);
	check(0, true, "/data/containers");
}

/* Neither a setuid program nor one with such a beginning is the engine. */
static void another_program_of_that_name_is_no_engine(void **state)
{
	own_proc_add(proc, 7, "dockerd", 0, DATA);
	own_proc_link(proc, 7, "exe", "/usr/bin/su");
	check(0, true, NULL);
	own_proc_link(proc, 7, "exe", "/usr/bin/dockerd-rootless");
	check(0, true, NULL);
	own_proc_link(proc, 7, "exe", "/usr/bin/dockerd (deleted)");
	check(0, true, "/data/containers");
	for (int i = 0; i < 4; i++) {
		char text[64];

		snprintf(text, sizeof(text), "Name:\tx\nUid:\t%d\t%d\t%d\t%d\n", (i == 0) * USER,
			 (i == 1) * USER, (i == 2) * USER, (i == 3) * USER);
		own_proc_write(proc, 7, "status", text);
		check(0, true, NULL);
	}
}

static void engines_of_a_user_are_that_users(void **state)
{
	own_proc_add(proc, 7, "dockerd", USER, DATA);
	own_proc_link(proc, 7, "ns/mnt", "mnt:[2]"); /* as those of rootless engines are */
	own_proc_link(proc, 7, "ns/user", "user:[2]");
	check(USER, false, "/data/containers");
	check(USER + 1, false, NULL);
	check(0, true, NULL);
}

static void engines_past_the_most_are_counted(void **state)
{
	for (int i = 0; i <= ENGINES_MAX; i++) {
		char data[64];

		snprintf(data, sizeof(data), "/data%d/volumes/metadata.db", i);
		own_proc_add(proc, 10 + i, "dockerd", 0, data);
	}
	assert_int_equal(engines_find(proc, 0, true, found, &left_out), ENGINES_MAX);
	assert_int_equal(left_out, 1);
}

/* A user makes as many such processes, with as many files, as they like. */
static void a_search_looks_at_so_many_files_and_says_so(void **state)
{
	char path[256];

	for (int pid = 1001; pid <= 1005; pid++) {
		own_proc_add(proc, pid, "conmon", 1000, "/x");
		for (int fd = 100; fd < 4200; fd++) {
			snprintf(path, sizeof(path), "%s/%d/fd/%d", proc, pid, fd);
			assert_int_equal(symlink("/y", path), 0);
		}
	}
	assert_int_equal(engines_find(proc, 1000, false, found, &left_out), 0);
	assert_int_equal(left_out, 1);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(docker_is_where_its_volumes_are_open),
		TEST(podman_is_where_a_monitor_has_its_fifo),
		TEST(other_files_say_nothing),
		TEST(a_process_in_a_container_is_no_engine_of_the_host),
		TEST(without_a_look_at_pid_1_the_collectors_own_namespaces_count),
		TEST(another_program_of_that_name_is_no_engine),
		TEST(engines_of_a_user_are_that_users),
		TEST(engines_past_the_most_are_counted),
		TEST(a_search_looks_at_so_many_files_and_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
