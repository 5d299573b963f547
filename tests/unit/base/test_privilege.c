// SPDX-License-Identifier: Apache-2.0
/* What this process may do, and whose files another process sees. */
#include "base/capability.h"
#include "guard/mount_namespace.h"
#include "common/child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* The kernel's other word on it. */
static uint64_t effective_by_status(void)
{
	FILE *const stream = fopen("/proc/self/status", "r");
	char line[256];
	uint64_t bits = 0;

	assert_non_null(stream);
	while (fgets(line, sizeof(line), stream))
		sscanf(line, "CapEff: %" SCNx64, &bits);
	fclose(stream);
	return bits;
}

static void capabilities_are_those_in_effect(void **state)
{
	const uint64_t bits = effective_by_status();

	for (int i = 0; i <= CAP_LAST_CAP; i++)
		assert_int_equal(capability_is_effective(i), bits >> i & 1);
	assert_false(capability_is_effective(-1));
	assert_false(capability_is_effective(CAP_LAST_CAP + 1));
}

static void capability_that_is_only_permitted_is_not_there(void **state)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	const pid_t child = fork();

	if (child == 0) {
		bool has_any = syscall(SYS_capget, &header, data) != 0;

		data[0].effective = data[1].effective = 0; /* they stay permitted */
		has_any |= syscall(SYS_capset, &header, data) != 0;
		for (int i = 0; i <= CAP_LAST_CAP; i++)
			has_any |= capability_is_effective(i);
		_exit(has_any);
	}
	child_check(child);
}

static void own_mounts_are_not_of_another(void **state)
{
	struct mount_namespace own, other = {.inode = 1};
	struct stat st;

	assert_int_equal(stat("/proc/self/ns/mnt", &st), 0);
	assert_int_equal(mount_namespace_read(getpid(), &own), 0);
	assert_true(own.inode == st.st_ino && own.dev == st.st_dev);
	assert_int_equal(mount_namespace_is_other(getpid(), &other), 0);
	assert_int_equal(other.inode, 1);
	assert_int_equal(mount_namespace_read(INT32_MAX, &own), -ENOENT);
	assert_int_equal(mount_namespace_is_other(INT32_MAX, NULL), -ENOENT);
}

static void a_process_with_mounts_of_its_own_is_told_apart(void **state)
{
	struct mount_namespace other = {0}, again = {0};
	int ready[2], is_other;
	char word = 0;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		const bool is_apart =
			unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;

		if (write(ready[1], is_apart ? "y" : "n", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal((int)read(ready[0], &word, 1), 1);
	is_other = mount_namespace_is_other(child, &other);
	mount_namespace_read(child, &again);
	child_end(child);
	close(ready[0]);
	close(ready[1]);
	if (word != 'y')
		skip(); /* neither root nor user namespaces */
	assert_int_equal(is_other, 1);
	assert_true(other.inode != 0 && other.inode == again.inode && other.dev == again.dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities_are_those_in_effect),
		cmocka_unit_test(capability_that_is_only_permitted_is_not_there),
		cmocka_unit_test(own_mounts_are_not_of_another),
		cmocka_unit_test(a_process_with_mounts_of_its_own_is_told_apart),
	};

	return cmocka_run_group_tests_name("privilege", tests, NULL, NULL);
}
