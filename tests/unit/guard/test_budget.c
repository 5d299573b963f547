// SPDX-License-Identifier: Apache-2.0
/* How much memory may be taken, by the files that the kernel would have. */
#include "guard/budget.h"
#include "common/files.h"
#include "common/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static char dir[TEMP_DIR_BYTES];
static char own[128], meminfo[128], v1[128], v2[128], hybrid[128];
static struct budget_files files;

/* A limit of a cgroup; the cgroup is made. */
static void limit(const char *root, const char *cgroup, const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", root, cgroup);
	for (char *at = path + strlen(root); (at = strchr(at + 1, '/'));) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s%s/%s", root, cgroup, name);
	files_write(path, text);
}

static int set_up(void **state)
{
	temp_dir_make(dir);
	snprintf(own, sizeof(own), "%s/own", dir);
	snprintf(meminfo, sizeof(meminfo), "%s/meminfo", dir);
	snprintf(v1, sizeof(v1), "%s/v1", dir);
	snprintf(v2, sizeof(v2), "%s/v2", dir);
	snprintf(hybrid, sizeof(hybrid), "%s/hybrid", dir);
	mkdir(v1, 0700);
	mkdir(v2, 0700);
	files = (struct budget_files){own, meminfo, v1, v2, hybrid};
	files_write(meminfo, "MemFree: 1 kB\nMemTotal:       67108864 kB\n"); /* 64 GiB */
	files_write(own, "0::/system.slice/fgcollect.service\n");
	return 0;
}

static int tear_down(void **state)
{
	temp_dir_remove(dir);
	return 0;
}

static void without_a_limit_it_is_4_gib_or_a_quarter_of_the_memory(void **state)
{
	assert_int_equal(budget_allowed(&files), 4 * GIB);
	files_write(meminfo, "MemTotal:        2097152 kB\n");
	assert_int_equal(budget_allowed(&files), 512 * MIB);
	files_write(meminfo, "MemTotal:        1024 kB\n");
	assert_int_equal(budget_allowed(&files), BUDGET_LEAST);
}

static void it_is_three_quarters_of_the_cgroups_limit(void **state)
{
	limit(v2, "/system.slice/fgcollect.service", "memory.max", "1073741824\n");
	assert_int_equal(budget_allowed(&files), 768 * MIB);
}

static void the_least_limit_above_counts(void **state)
{
	limit(v2, "/system.slice/fgcollect.service", "memory.max", "max\n");
	assert_int_equal(budget_allowed(&files), 4 * GIB);
	limit(v2, "/system.slice", "memory.max", "2147483648\n");
	assert_int_equal(budget_allowed(&files), 1536 * MIB);
	limit(v2, "/system.slice/fgcollect.service", "memory.max", "536870912\n");
	assert_int_equal(budget_allowed(&files), 384 * MIB);
}

static void version_1_is_read_too(void **state)
{
	files_write(own, "5:cpu,cpuacct:/a\n4:hugetlb,memory:/a/b\n0::/c\n");
	limit(v1, "/a/b", "memory.limit_in_bytes", "9223372036854771712\n"); /* none */
	assert_int_equal(budget_allowed(&files), 4 * GIB);
	limit(v1, "/a", "memory.limit_in_bytes", "1073741824\n");
	assert_int_equal(budget_allowed(&files), 768 * MIB);
}

/* In a container the own cgroup is the root of what is mounted, whatever its path. */
static void a_containers_own_limit_is_at_the_root(void **state)
{
	files_write(own, "4:memory:/docker/0123456789ab\n");
	limit(v1, "", "memory.limit_in_bytes", "1073741824\n");
	assert_int_equal(budget_allowed(&files), 768 * MIB);
	files_write(own, "0::/\n");
	limit(v2, "", "memory.max", "536870912\n");
	assert_int_equal(budget_allowed(&files), 384 * MIB);
}

static void pools_are_parts_of_it(void **state)
{
	struct budget budget;

	budget_init(&budget, GIB);
	assert_int_equal(budget.bytes, GIB);
	assert_true(budget.tables + budget.messages + budget.held + budget.tree + budget.period +
			    budget.waiting <=
		    GIB / 2);
	assert_true(budget.methods <= GIB / 8 && budget.foreign <= GIB / 8);
	budget_init(&budget, 4 * GIB);
	assert_int_equal(budget.tables, 512 * MIB);
	assert_int_equal(budget.messages, 64 * MIB);
	assert_int_equal(budget.held, 64 * MIB);
	assert_int_equal(budget.period, 256 * MIB);
	assert_int_equal(budget.waiting, 544 * MIB);
	assert_int_equal(budget.methods, 128 * MIB);
	assert_int_equal(budget.foreign, 256 * MIB);
}

static void processes_have_what_the_pools_leave_and_at_least_a_half(void **state)
{
	struct budget budget;

	budget_init(&budget, GIB);
	assert_int_equal(budget_processes(&budget, 0), GIB);
	assert_int_equal(budget_processes(&budget, GIB / 4), 3 * (GIB / 4));
	assert_int_equal(budget_processes(&budget, 4 * GIB), GIB / 2);
}

#define BUDGET_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BUDGET_TEST(without_a_limit_it_is_4_gib_or_a_quarter_of_the_memory),
		BUDGET_TEST(it_is_three_quarters_of_the_cgroups_limit),
		BUDGET_TEST(the_least_limit_above_counts),
		BUDGET_TEST(version_1_is_read_too),
		BUDGET_TEST(a_containers_own_limit_is_at_the_root),
		BUDGET_TEST(pools_are_parts_of_it),
		BUDGET_TEST(processes_have_what_the_pools_leave_and_at_least_a_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
