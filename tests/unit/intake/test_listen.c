// SPDX-License-Identifier: Apache-2.0
/* Claims about intake/listen.h. */
#include "intake/listen.h"

#include "base/log.h"
#include "common/files.h"
#include "common/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char dir[TEMP_DIR_BYTES], inner[TEMP_DIR_BYTES + 16], path[TEMP_DIR_BYTES + 32];

static int set_up(void **state)
{
	log_set_level(LOG_LEVEL_SILENT);
	temp_dir_make(dir);
	snprintf(inner, sizeof(inner), "%s/inner", dir);
	snprintf(path, sizeof(path), "%s/socket", inner);
	return 0;
}

static int tear_down(void **state)
{
	temp_dir_remove(dir);
	return 0;
}

static int prepare(void)
{
	return listen_prepare_private(path, "--publish");
}

static int listen_at(const char *at)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", at);
	assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void missing_directory_is_made_for_this_user_to_write(void **state)
{
	struct stat st;

	assert_int_equal(prepare(), 0);
	assert_int_equal(stat(inner, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
}

static void directory_to_which_others_write_is_refused(void **state)
{
	assert_int_equal(prepare(), 0);
	assert_int_equal(chmod(inner, 0775), 0);
	assert_int_equal(prepare(), -EPERM);
	assert_int_equal(chmod(inner, 0757), 0);
	assert_int_equal(prepare(), -EPERM);
	assert_int_equal(chmod(inner, 01777), 0); /* nobody removes what is another's there */
	assert_int_equal(prepare(), 0);
}

static void directory_above_to_which_others_write_is_refused(void **state)
{
	assert_int_equal(prepare(), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(prepare(), -EPERM);
	assert_int_equal(listen_prepare(path, "--socket"), 0);
}

static void directory_of_another_user_is_refused(void **state)
{
	if (geteuid() != 0) {
		print_message("not root: cannot give a directory away\n");
		skip();
	}
	assert_int_equal(prepare(), 0);
	assert_int_equal(chown(inner, 65534, 65534), 0);
	assert_int_equal(prepare(), -EPERM);
}

/* The directory to which the link leads counts. */
static void link_to_a_directory_of_others_is_refused(void **state)
{
	char other[TEMP_DIR_BYTES + 16];

	snprintf(other, sizeof(other), "%s/other", dir);
	assert_int_equal(mkdir(other, 0700), 0);
	assert_int_equal(symlink(other, inner), 0);
	assert_int_equal(prepare(), 0);
	assert_int_equal(chmod(other, 0777), 0);
	assert_int_equal(prepare(), -EPERM);
}

static void what_is_no_socket_stays(void **state)
{
	char target[TEMP_DIR_BYTES + 16];
	struct stat st;

	assert_int_equal(prepare(), 0);
	files_write(path, "mine");
	assert_int_equal(prepare(), -EEXIST);
	assert_int_equal(unlink(path), 0);
	snprintf(target, sizeof(target), "%s/target", dir);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(prepare(), -EEXIST);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void socket_of_the_living_stays_and_of_the_dead_goes(void **state)
{
	int fd;

	assert_int_equal(prepare(), 0);
	fd = listen_at(path);
	assert_int_equal(listen_owner(path), getpid());
	assert_int_equal(prepare(), -EADDRINUSE);
	close(fd);
	assert_int_equal(listen_owner(path), 0);
	assert_int_equal(prepare(), 0);
	assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CLAIM(missing_directory_is_made_for_this_user_to_write),
		CLAIM(directory_to_which_others_write_is_refused),
		CLAIM(directory_above_to_which_others_write_is_refused),
		CLAIM(directory_of_another_user_is_refused),
		CLAIM(link_to_a_directory_of_others_is_refused),
		CLAIM(what_is_no_socket_stays),
		CLAIM(socket_of_the_living_stays_and_of_the_dead_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
