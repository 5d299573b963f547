// SPDX-License-Identifier: Apache-2.0
/* Points of the agent's file and of files that are not its like, with and without parsers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../elf/probe_image.h"
#include "common/child.h"
#include "common/temp_dir.h"
#include "files/probe_cache.h"
#include "mapped_file.h"
#include "slow_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLENTY (64u << 20)

static struct table_cache *cache;
static char dir[TEMP_DIR_BYTES];

static int set_up(void **state)
{
	temp_dir_make(dir);
	assert_int_equal(table_cache_new(PLENTY, false, &cache), 0);
	probe_cache_attach(cache);
	return 0;
}

static int tear_down(void **state)
{
	table_cache_free(cache);
	cache = NULL;
	temp_dir_remove(dir);
	return 0;
}

static struct table_stats stats_of(enum table_of of)
{
	struct table_stats stats;

	table_cache_table_stats(cache, of, &stats);
	return stats;
}

static const struct probe_notes *find(pid_t pid, const struct mapping *mapping)
{
	const char *reason = NULL;
	const struct probe_notes *notes = probe_cache_find(cache, pid, mapping, &reason);

	if (!notes)
		fail_msg("%s: %s", mapping->path, reason ? reason : "no reason");
	return notes;
}

static void assert_reason(const struct mapping *mapping, const char *expected)
{
	const char *reason = NULL;

	assert_null(probe_cache_find(cache, getpid(), mapping, &reason));
	assert_non_null(reason);
	assert_string_equal(reason, expected);
}

/* Copies what from has into a new file of the test's directory. */
static void copy_to(const char *name, int from, char ret_path[128])
{
	char bytes[4096];
	ssize_t len;
	off_t at = 0;
	int fd;

	snprintf(ret_path, 128, "%s/%s", dir, name);
	fd = open(ret_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	for (; (len = pread(from, bytes, sizeof(bytes), at)) > 0; at += len)
		assert_int_equal(write(fd, bytes, (size_t)len), len);
	close(fd);
}

static void copy_agent(const char *name, char ret_path[128])
{
	const int fd = open(FG_AGENT, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	copy_to(name, fd, ret_path);
	close(fd);
}

/* A file of that image, which is done with. */
static void write_image(struct probe_image *image, const char *name, char ret_path[128])
{
	const int fd = probe_image_open(image);

	copy_to(name, fd, ret_path);
	close(fd);
	probe_image_fini(image);
}

static void points_of_the_mapped_agent_are_found_once(void **state)
{
	struct mapped agent = mapped_file(FG_AGENT);
	const struct probe_notes *notes = find(getpid(), &agent.mapping);

	assert_non_null(probe_notes_find(notes, "fgagent", "alloc__arm", NULL));
	assert_ptr_equal(find(getpid(), &agent.mapping), notes);
	assert_int_equal(stats_of(TABLE_PROBES).loads, 1);
	assert_int_equal(stats_of(TABLE_PROBES).hits, 1);
	assert_int_equal(stats_of(TABLE_PROBES).tables, 1);
	assert_int_equal(stats_of(TABLE_PROBES).bytes, sizeof(*notes));
	assert_int_equal(stats_of(TABLE_PROBES).left_out, 0);
	mapped_fini(&agent);
}

static void copies_of_the_agent_share_a_table(void **state)
{
	struct mapping other;
	char path[128];

	copy_agent("other.so", path);
	other = mapping_made_up(path, 0x600000000000);
	{
		struct mapped agent = mapped_file(FG_AGENT);

		assert_ptr_equal(find(getpid(), &other), find(getpid(), &agent.mapping));
		mapped_fini(&agent);
	}
	assert_int_equal(stats_of(TABLE_PROBES).loads, 2);
	assert_int_equal(stats_of(TABLE_PROBES).tables, 1);
}

static void a_file_without_points_has_a_reason(void **state)
{
	struct mapped libc = mapped_address((const void *)(uintptr_t)&abort);
	struct probe_image image;
	struct mapping mapping;
	char path[128];

	probe_image_init(&image, EM_X86_64);
	write_image(&image, "empty.so", path);
	mapping = mapping_made_up(path, 0x600000000000);
	assert_reason(&mapping, "no probe points");
	assert_reason(&mapping, "no probe points");
	assert_int_equal(stats_of(TABLE_PROBES).loads, 1);
	assert_int_equal(stats_of(TABLE_PROBES).failed, 1);
	assert_reason(&libc.mapping, "no probe points"); /* it has notes of others */
	mapped_fini(&libc);
}

static void points_that_lead_nowhere_are_counted(void **state)
{
	struct probe_image image;
	struct mapping mapping;
	char path[128];

	probe_image_init(&image, EM_X86_64);
	probe_image_add(&image, "fgagent", "alloc", 1, 0);
	probe_image_add(&image, "fgagent", "alloc", 2, 0);
	write_image(&image, "nowhere.so", path);
	mapping = mapping_made_up(path, 0x600000000000);
	assert_reason(&mapping, "probe notes that lead nowhere");
	probe_image_init(&image, EM_X86_64);
	for (unsigned i = 0; i < PROBE_NOTES_MAX + 3; i++)
		probe_image_add(&image, "fgagent", "alloc", PROBE_IMAGE_CODE, 0);
	write_image(&image, "many.so", path);
	mapping = mapping_made_up(path, 0x600000010000);
	assert_int_equal(find(getpid(), &mapping)->count, PROBE_NOTES_MAX);
	assert_int_equal(stats_of(TABLE_PROBES).left_out, 2 + 3);
	assert_int_equal(stats_of(TABLE_UNWIND).left_out, 0);
}

static void broken_and_large_files_have_reasons(void **state)
{
	struct probe_image image;
	struct mapping mapping;
	char path[128];

	probe_image_init(&image, EM_X86_64);
	image.type = SHT_PROGBITS;
	probe_image_add(&image, "fgagent", "alloc", PROBE_IMAGE_CODE, 0);
	write_image(&image, "broken.so", path);
	mapping = mapping_made_up(path, 0x600000000000);
	assert_reason(&mapping, "no ELF");
	probe_image_init(&image, EM_X86_64);
	while (image.notes_len <= PROBE_NOTES_MAX_BYTES)
		probe_image_add(&image, "fgagent", "alloc", PROBE_IMAGE_CODE, 0);
	write_image(&image, "large.so", path);
	mapping = mapping_made_up(path, 0x600000010000);
	assert_reason(&mapping, "probe notes too large");
	mapping = (struct mapping){.start = 0x600000020000, .end = 0x600000021000, .path = ""};
	assert_reason(&mapping, "no file");
}

/* What table_cache_expect loads of the agent's file, with a loader. */
static void points_are_not_read_ahead_of_need(void **state)
{
	struct mapped agent = mapped_file(FG_AGENT);
	const char *reason = NULL;

	table_cache_free(cache);
	assert_int_equal(table_cache_new(PLENTY, true, &cache), 0);
	probe_cache_attach(cache);
	table_cache_set_kind(cache, TABLE_UNWIND, &slow_kind);
	slow_kind_close();
	table_cache_expect(cache, getpid(), &agent.mapping);
	assert_int_equal(stats_of(TABLE_UNWIND).loading, 1);
	assert_int_equal(stats_of(TABLE_PROBES).loading, 0);
	assert_null(probe_cache_find(cache, getpid(), &agent.mapping, &reason));
	assert_string_equal(reason, "still loading");
	assert_int_equal(stats_of(TABLE_PROBES).loading, 1);
	slow_kind_open();
	while (stats_of(TABLE_PROBES).loads + stats_of(TABLE_UNWIND).loads < 2)
		table_cache_step(cache);
	assert_int_equal(stats_of(TABLE_PROBES).loads, 1);
	assert_int_equal(stats_of(TABLE_PROBES).loading, 0);
	assert_int_equal(stats_of(TABLE_UNWIND).loading, 0);
	find(getpid(), &agent.mapping);
	mapped_fini(&agent);
}

/* Where a descriptor leads to. */
static ino_t inode_behind(int fd)
{
	char path[64];
	struct stat st;

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static void a_descriptor_leads_to_the_file_whatever_its_name_does(void **state)
{
	struct mapped agent;
	char path[128], other[128];
	struct stat st;
	int fd;

	copy_agent("mapped.so", path);
	copy_agent("other.so", other);
	agent = mapped_file(path);
	assert_int_equal(stat(path, &st), 0);
	find(getpid(), &agent.mapping);
	assert_int_equal(rename(other, path), 0);
	fd = table_cache_dup_file(cache, getpid(), &agent.mapping);
	assert_int_equal(inode_behind(fd), st.st_ino);
	close(fd);
	mapped_fini(&agent);
}

static void a_descriptor_is_the_callers_own(void **state)
{
	struct mapped agent = mapped_file(FG_AGENT);
	struct stat st;
	int fd;

	assert_int_equal(stat(FG_AGENT, &st), 0);
	fd = table_cache_dup_file(cache, getpid(), &agent.mapping); /* before any table */
	assert_int_equal(inode_behind(fd), st.st_ino);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	table_cache_forget(cache, getpid());
	assert_int_equal(inode_behind(fd), st.st_ino);
	close(fd);
	fd = table_cache_dup_file(cache, getpid(), &agent.mapping);
	assert_int_equal(inode_behind(fd), st.st_ino);
	close(fd);
	mapped_fini(&agent);
}

/* The cache has a quarter of the process's descriptors. */
static void a_file_that_is_held_no_more_is_found_again(void **state)
{
	struct mapped agent = mapped_file(FG_AGENT);
	struct rlimit limit, lower;
	struct mapping mappings[16];
	char paths[16][128], name[16];
	int fd;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	lower = (struct rlimit){.rlim_cur = 40, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &lower), 0);
	table_cache_free(cache);
	assert_int_equal(table_cache_new(PLENTY, false, &cache), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	probe_cache_attach(cache);
	table_cache_see(cache, getpid(), &agent.mapping);
	for (unsigned i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "%u.so", i);
		copy_agent(name, paths[i]);
		mappings[i] = mapping_made_up(paths[i], 0x600000000000 + i * 0x10000);
		table_cache_see(cache, getpid(), &mappings[i]);
	}
	fd = table_cache_dup_file(cache, getpid(), &agent.mapping);
	assert_int_equal(inode_behind(fd), agent.mapping.inode);
	close(fd);
	mapped_fini(&agent);
}

static void a_file_that_has_changed_has_no_descriptor(void **state)
{
	struct mapped agent;
	char path[128];
	int fd;

	copy_agent("mapped.so", path);
	agent = mapped_file(path);
	find(getpid(), &agent.mapping);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "x", 1, 0x100), 1);
	close(fd);
	assert_int_equal(table_cache_dup_file(cache, getpid(), &agent.mapping), -ESTALE);
	mapped_fini(&agent);
}

static void a_file_that_is_not_there_has_no_descriptor(void **state)
{
	struct mapping none = {.start = 0x600000000000, .end = 0x600000001000, .path = ""};
	struct table_cache_stats stats;
	char path[128];

	assert_int_equal(table_cache_dup_file(cache, getpid(), &none), -ENOENT);
	table_cache_stats(cache, &stats);
	assert_int_equal(stats.mappings, 0);
	copy_agent("gone.so", path);
	none = mapping_made_up(path, 0x600000000000);
	unlink(path);
	assert_int_equal(table_cache_dup_file(cache, getpid(), &none), -ENOENT);
}

static void a_process_that_is_gone_has_no_descriptor(void **state)
{
	struct mapped agent = mapped_file(FG_AGENT);
	const pid_t child = child_start();

	child_end(child);
	find(getpid(), &agent.mapping); /* another process has the file */
	assert_true(table_cache_dup_file(cache, child, &agent.mapping) < 0);
	mapped_fini(&agent);
}

static const struct parser_limits roles[PARSER_ROLES] = {
	[PARSER_PROBES] = {.serve = probe_cache_parse,
			   .memory_bytes = UINT64_C(1) << 31,
			   .cpu_seconds = 60},
};

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(points_of_the_mapped_agent_are_found_once),
		TEST(copies_of_the_agent_share_a_table),
		TEST(a_file_without_points_has_a_reason),
		TEST(points_that_lead_nowhere_are_counted),
		TEST(broken_and_large_files_have_reasons),
		TEST(a_descriptor_leads_to_the_file_whatever_its_name_does),
		TEST(a_descriptor_is_the_callers_own),
		TEST(a_file_that_is_held_no_more_is_found_again),
		TEST(a_file_that_has_changed_has_no_descriptor),
		TEST(a_file_that_is_not_there_has_no_descriptor),
		TEST(a_process_that_is_gone_has_no_descriptor),
	};
	const struct CMUnitTest with_loader[] = {TEST(points_are_not_read_ahead_of_need)};
	int failed;

	zygote_become(argc, argv, roles);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	failed += cmocka_run_group_tests_name("with a loader", with_loader, NULL, NULL);
	/* And the same once more, with files read by parsers. */
	if (zygote_start() < 0)
		return 1;
	failed += cmocka_run_group_tests_name("with parsers", tests, NULL, NULL);
	zygote_stop();
	return failed;
}
