// SPDX-License-Identifier: Apache-2.0
/* Claims about container/mount_info.h. */
#include "container/mount_info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOST                                                                                       \
	"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"                                                     \
	"2 1 0:5 / /home rw shared:1 - nfs4 srv:/home rw\n"                                        \
	"3 2 8:2 / /home/u rw master:1 shared:2 - xfs /dev/sdb1 rw\n"

static void check_next(char **at, const char *root, const char *point, const char *type,
		       const char *options)
{
	struct mount_info mount;

	assert_true(mount_info_next(at, &mount));
	assert_string_equal(mount.root, root);
	assert_string_equal(mount.point, point);
	assert_string_equal(mount.type, type);
	assert_string_equal(mount.options, options);
}

static void each_line_is_a_mount(void **state)
{
	char text[] =
		"25 1 0:22 /../.. /sys/fs/a\\040b rw,nosuid shared:9 - cgroup2 c rw,nsdelegate\n"
		"26 1 0:23 / /b rw\n";
	char *at = text;

	check_next(&at, "/../..", "/sys/fs/a b", "cgroup2", "rw,nsdelegate");
	check_next(&at, "/", "/b", "", "");
	assert_false(mount_info_next(&at, &(struct mount_info){0}));
}

static void lines_that_are_none_are_passed_over(void **state)
{
	char text[] = "\n\n1\n1 2 3 4 5\n- - - - - - -\n1 2 8:1 / /a rw - \n1 2 8:1 / /b rw - t\n";
	char *at = text;

	check_next(&at, "-", "-", "", "");
	check_next(&at, "/", "/a", "", "");
	check_next(&at, "/", "/b", "t", "");
	assert_false(mount_info_next(&at, &(struct mount_info){0}));
}

static void check_type(const char *mounts, const char *path, const char *wanted)
{
	char *copy = strdup(mounts), type[8] = "";

	assert_int_equal(mount_info_type_of(copy, path, type, sizeof(type)), wanted[0] != '\0');
	assert_string_equal(wanted[0] ? type : "", wanted);
	free(copy);
}

static void a_path_lies_in_the_deepest_mount_above_it(void **state)
{
	check_type(HOST, "/var", "ext4");
	check_type(HOST, "/home", "nfs4");
	check_type(HOST, "/home/user", "nfs4");
	check_type(HOST, "/home/u", "xfs");
	check_type(HOST, "/home/u/x", "xfs");
}

static void a_later_mount_hides_what_was_there(void **state)
{
	check_type(HOST "4 1 0:9 / /home/u rw - fuse.x x rw\n", "/home/u/x", "fuse.x");
	check_type(HOST "4 1 0:9 / /home rw - fuse.x x rw\n", "/home/u/x", "fuse.x");
	check_type(HOST "4 1 0:9 / / rw - tmpfs x rw\n", "/var", "tmpfs");
}

static void a_type_that_is_not_known_is_no_type(void **state)
{
	check_type("", "/var", "");
	check_type(HOST "4 1 0:9 / /home/u rw\n", "/home/u/x", "");
	check_type(HOST "4 1 0:9 / /home/u rw - fuse.longer x rw\n", "/home/u/x", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_is_a_mount),
		cmocka_unit_test(lines_that_are_none_are_passed_over),
		cmocka_unit_test(a_path_lies_in_the_deepest_mount_above_it),
		cmocka_unit_test(a_later_mount_hides_what_was_there),
		cmocka_unit_test(a_type_that_is_not_known_is_no_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
