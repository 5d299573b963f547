// SPDX-License-Identifier: Apache-2.0
/* Claims about container/mount_info.h: what the mounts of a container tell of it. */
#include "container/mount_info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID  "6efe8f0e-3b4c-4d5e-9f00-112233445566"

static struct mount_info info;

static void parse(const char *text)
{
	char *copy = strdup(text);

	mount_info_parse(copy, &info);
	free(copy);
}

static void docker_mounts_the_hostname_from_where_it_keeps_the_record(void **state)
{
	parse("1 2 0:50 / / rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/d/overlay2/x/diff\n"
	      "3 2 8:1 /data/docker/containers/" ID64 "/hostname /etc/hostname rw,relatime - ext4 "
	      "/dev/sda1 rw\n");
	assert_string_equal(info.id, ID64);
	assert_string_equal(info.hostname_device, "8:1");
	assert_string_equal(info.hostname_path, "/data/docker/containers/" ID64 "/hostname");
	assert_string_equal(info.upper_dir, "/d/overlay2/x/diff");
}

static void the_kubelet_mounts_by_pod_and_container(void **state)
{
	parse("3 2 8:1 /var/lib/kubelet/pods/" UID "/etc-hosts /etc/hosts rw master:1 - ext4 x rw\n"
	      "4 2 8:1 /var/lib/kubelet/pods/" UID "/containers/app/1a2b3c4d /dev/termination-log "
	      "rw - ext4 x rw\n");
	assert_string_equal(info.pod_uid, UID);
	assert_string_equal(info.container_name, "app");
	parse("4 2 8:9 /pods/" UID "/containers/app/1 /dev/termination-log rw - ext4 x rw\n");
	assert_string_equal(info.container_name, "app"); /* a file system of the kubelet's own */
}

static void names_that_kubernetes_does_not_allow_are_not_taken(void **state)
{
	static const char *const roots[] = {
		"/pods/../containers/app/1",	       "/pods/" UID "/containers/../1",
		"/pods/" UID "/containers/\\033[2J/1", "/pods/" UID "/containers//1",
		"/pods/" UID "/containers/App/1",      "/pods/" UID "x/containers/app/1",
	};
	char text[512];

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(text, sizeof(text), "4 2 8:1 %s /dev/termination-log rw - ext4 x rw\n",
			 roots[i]);
		parse(text);
		assert_string_equal(info.container_name, "");
	}
}

static void lines_that_are_none_are_passed_over(void **state)
{
	parse("");
	parse("\n\n1\n1 2 3 4 5\n- - - - - - -\n1 2 8:1 / /etc/hostname rw\n");
	assert_string_equal(info.id, "");
	parse("1 2 0:1 / / rw - overlay\n1 2 0:1 / / rw - overlay o upperdir=relative\n");
	assert_string_equal(info.upper_dir, "");
}

static bool place(const char *mounts, unsigned number, char ret[PATH_MAX])
{
	char *copy = strdup(mounts);
	const bool is_found = mount_info_place(copy, &info, number, ret);

	free(copy);
	return is_found;
}

static void a_path_is_found_wherever_its_file_system_is_mounted(void **state)
{
	static const char host[] = "1 0 8:1 / / rw - ext4 x rw\n"
				   "2 1 8:2 / /else rw - ext4 x rw\n"
				   "3 1 8:1 /data /mnt/a\\040b rw - ext4 x rw\n"
				   "4 1 8:1 /dat /no rw - ext4 x rw\n";
	char ret[PATH_MAX];

	info = (struct mount_info){.hostname_device = "8:1", .hostname_path = "/data/x/hostname"};
	assert_true(place(host, 0, ret));
	assert_string_equal(ret, "/data/x/hostname");
	assert_true(place(host, 1, ret));
	assert_string_equal(ret, "/mnt/a b/x/hostname");
	assert_false(place(host, 2, ret));
	assert_false(place("", 0, ret));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(docker_mounts_the_hostname_from_where_it_keeps_the_record),
		cmocka_unit_test(the_kubelet_mounts_by_pod_and_container),
		cmocka_unit_test(names_that_kubernetes_does_not_allow_are_not_taken),
		cmocka_unit_test(lines_that_are_none_are_passed_over),
		cmocka_unit_test(a_path_is_found_wherever_its_file_system_is_mounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
