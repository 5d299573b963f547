// SPDX-License-Identifier: Apache-2.0
/* Claims about container/host_files.h: which files of the host are believed. */
#include "container/host_files.h"

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
static int root_fd;

static const char *at(const char *path)
{
	static char whole[4][256];
	static unsigned next;
	char *const ret = whole[next++ % 4];

	snprintf(ret, sizeof(whole[0]), "%s%s", root, path);
	return ret;
}

/* /a/b/c with the file c/d/e */
static int set_up(void **state)
{
	umask(022);
	temp_dir_make(root);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(root_fd >= 0);
	assert_int_equal(mkdir(at("/a"), 0755), 0);
	assert_int_equal(mkdir(at("/a/b"), 0755), 0);
	assert_int_equal(mkdir(at("/a/b/c"), 0755), 0);
	assert_int_equal(mkdir(at("/a/b/c/d"), 0755), 0);
	files_write(at("/a/b/c/d/e"), "text");
	return 0;
}

static int tear_down(void **state)
{
	close(root_fd);
	temp_dir_remove(root);
	return 0;
}

/* What reading the file says: its length, or an error. */
static ssize_t read_below(const char *dir)
{
	const int fd = host_dir_open(root_fd, dir, getuid());
	char *text = NULL;
	ssize_t len;

	if (fd < 0)
		return fd;
	len = host_file_read(fd, "d/e", getuid(), 100, &text);
	if (len >= 0)
		assert_string_equal(text, "text");
	free(text);
	close(fd);
	return len;
}

#define CHECK(dir, wanted) assert_int_equal(read_below(dir), wanted)

static void a_file_that_only_its_owner_may_write_is_read(void **state)
{
	CHECK("/a/b/c", 4);
	CHECK("a//b/./c/", 4);
	CHECK("/a/x/c", -ENOENT);
	CHECK("/a/b/c/d/e", -ENOTDIR);
}

static void what_group_or_others_may_write_is_not_believed(void **state)
{
	static const char *const paths[] = {"", "/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/b/c/d/e"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(chmod(at(paths[i]), 0775), 0);
		CHECK("/a/b/c", -EPERM);
		assert_int_equal(chmod(at(paths[i]), 0757), 0);
		CHECK("/a/b/c", -EPERM);
		assert_int_equal(chmod(at(paths[i]), 0755), 0);
		CHECK("/a/b/c", 4);
	}
}

/* As Ubuntu has /var/log. */
static void the_group_that_writes_logs_may_write_above(void **state)
{
	if (getuid() != 0) {
		print_message("needs root to give a directory to a group\n");
		skip();
	}
	assert_int_equal(mkdir(at("/etc"), 0755), 0);
	assert_int_equal(chown(at("/a"), 0, 104), 0);
	assert_int_equal(chmod(at("/a"), 0775), 0);
	CHECK("/a/b/c", -EPERM);
	files_write(at("/etc/group"), "adm:x:4:\nsyslog:x:104:\n");
	CHECK("/a/b/c", 4);
	files_write(at("/etc/group"), "asyslog:x:104:\nsyslog:x:10:\nsyslog2:x:104:\n");
	CHECK("/a/b/c", -EPERM);
	files_write(at("/etc/group"), "syslog:x:104:\n");
	assert_int_equal(chmod(at("/a"), 0777), 0);
	CHECK("/a/b/c", -EPERM);
	assert_int_equal(chmod(at("/a"), 0755), 0);
	assert_int_equal(chown(at("/a/b/c"), 0, 104), 0);
	assert_int_equal(chmod(at("/a/b/c"), 0775), 0);
	CHECK("/a/b/c", -EPERM);
}

static void what_is_anothers_is_not_believed(void **state)
{
	static const char *const paths[] = {"/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/b/c/d/e"};

	if (getuid() != 0) {
		print_message("needs root, who alone may give files away\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(chown(at(paths[i]), NOBODY, 0), 0);
		CHECK("/a/b/c", -EPERM);
		assert_int_equal(chown(at(paths[i]), 0, 0), 0);
	}
	CHECK("/a/b/c", 4);
}

static void a_directory_as_tmp_is_good_above_another_of_the_owner(void **state)
{
	assert_int_equal(chmod(at("/a"), 01777), 0);
	CHECK("/a/b/c", 4);
	assert_int_equal(chmod(at("/a/b/c"), 01777), 0);
	CHECK("/a/b/c", -EPERM);
}

static void links_of_the_owner_are_followed_above_the_directory(void **state)
{
	assert_int_equal(symlink("b", at("/a/link")), 0);
	assert_int_equal(symlink("/a/link/../b/c", at("/far")), 0);
	CHECK("/a/link/c", 4);
	CHECK("/far", 4);
	assert_int_equal(symlink("/../../a/b/c", at("/out")), 0);
	CHECK("/out", 4); /* the root directory is not left */
	assert_int_equal(symlink("round", at("/round")), 0);
	CHECK("/round", -ELOOP);
	assert_int_equal(chmod(at("/a/b"), 0775), 0);
	CHECK("/far", -EPERM); /* the target's directories count as well */
}

static void links_of_others_are_not_followed(void **state)
{
	if (getuid() != 0) {
		print_message("needs root, who alone may give files away\n");
		skip();
	}
	assert_int_equal(symlink("b", at("/a/link")), 0);
	assert_int_equal(lchown(at("/a/link"), NOBODY, NOBODY), 0);
	CHECK("/a/link/c", -EPERM);
}

static void links_below_the_directory_are_not_followed(void **state)
{
	assert_int_equal(rename(at("/a/b/c/d"), at("/a/b/c/x")), 0);
	assert_int_equal(symlink("x", at("/a/b/c/d")), 0);
	CHECK("/a/b/c", -ELOOP);
}

static void an_overlay_is_not_believed(void **state)
{
	char options[512];

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		print_message("needs root, who alone may mount\n");
		skip();
	}
	close(root_fd); /* which is in the other mount namespace */
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdir(at("/over"), 0755), 0);
	assert_int_equal(mkdir(at("/lower"), 0755), 0);
	snprintf(options, sizeof(options), "lowerdir=%s:%s", at("/a/b"), at("/lower"));
	if (mount("overlay", at("/over"), "overlay", 0, options) < 0) {
		print_message("needs overlay file systems\n");
		skip();
	}
	CHECK("/over/c", -EPERM);
	assert_int_equal(umount(at("/over")), 0);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_that_only_its_owner_may_write_is_read),
		TEST(what_group_or_others_may_write_is_not_believed),
		TEST(the_group_that_writes_logs_may_write_above),
		TEST(what_is_anothers_is_not_believed),
		TEST(a_directory_as_tmp_is_good_above_another_of_the_owner),
		TEST(links_of_the_owner_are_followed_above_the_directory),
		TEST(links_of_others_are_not_followed),
		TEST(links_below_the_directory_are_not_followed),
		TEST(an_overlay_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
