// SPDX-License-Identifier: Apache-2.0
/*
 * The cache on mappings of this process and of a child. That files are opened with care is
 * module_cache's test, which has the same cache below.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../elf/unwind_image.h"
#include "common/child.h"
#include "elf/cfi_section.h"
#include "files/cfi_cache.h"
#include "mapped_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PLENTY (64u << 20)

static struct table_cache *cache;

static void new_cache(size_t max_bytes)
{
	assert_int_equal(table_cache_new(max_bytes, false, &cache), 0);
	cfi_cache_attach(cache);
}

static int free_cache(void **state)
{
	table_cache_free(cache);
	cache = NULL;
	return 0;
}

static struct table_stats stats_of_cache(void)
{
	struct table_stats stats;

	table_cache_table_stats(cache, TABLE_UNWIND, &stats);
	return stats;
}

static const struct cfi_table *find(pid_t pid, const struct mapping *mapping)
{
	const char *reason = NULL;
	const struct cfi_table *table = cfi_cache_find(cache, pid, mapping, &reason);

	if (!table)
		fail_msg("%s: %s", mapping->path, reason ? reason : "no reason");
	return table;
}

static void assert_reason(const struct mapping *mapping, const char *expected)
{
	const char *reason = NULL;

	assert_null(cfi_cache_find(cache, getpid(), mapping, &reason));
	assert_non_null(reason);
	assert_string_equal(reason, expected);
}

static void rule_of_running_code_is_found(void **state)
{
	const uint64_t addr = (uintptr_t)&nanosleep;
	struct mapped libc = mapped_address((const void *)(uintptr_t)addr);
	const struct cfi_table *table;
	uint64_t elf_addr;

	new_cache(PLENTY);
	table = find(getpid(), &libc.mapping);
	assert_int_equal(cfi_table_addr_of(table, addr - libc.mapping.start + libc.mapping.file_off,
					   &elf_addr),
			 0);
	assert_non_null(cfi_table_find(table, elf_addr));
	assert_int_equal(cfi_table_find(table, elf_addr)->kind, CFI_REG);
	mapped_fini(&libc);
}

static void second_look_up_reads_nothing(void **state)
{
	struct mapped fixture;
	const struct cfi_table *table;

	fixture = mapped_file(FG_UNWIND_FIXTURE);
	new_cache(PLENTY);
	table = find(getpid(), &fixture.mapping);
	assert_ptr_equal(find(getpid(), &fixture.mapping), table);
	assert_int_equal(stats_of_cache().loads, 1);
	assert_int_equal(stats_of_cache().hits, 1);
	assert_int_equal(stats_of_cache().tables, 1);
	assert_int_equal(stats_of_cache().bytes, cfi_table_bytes(table));
	mapped_fini(&fixture);
}

static void processes_share_a_table(void **state)
{
	struct mapped fixture;
	const struct cfi_table *table;
	pid_t child;

	fixture = mapped_file(FG_UNWIND_FIXTURE);
	new_cache(PLENTY);
	table = find(getpid(), &fixture.mapping);
	child = child_start();
	assert_ptr_equal(find(child, &fixture.mapping), table);
	assert_int_equal(stats_of_cache().loads, 1);
	assert_int_equal(stats_of_cache().tables, 1);
	child_end(child);
	table_cache_forget(cache, child);
	assert_ptr_equal(find(getpid(), &fixture.mapping), table);
	mapped_fini(&fixture);
}

static void copy_file(const char *from, int to)
{
	const int fd = open(from, O_RDONLY | O_CLOEXEC);
	char buf[65536];
	ssize_t n;

	assert_true(fd >= 0);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		assert_int_equal(write(to, buf, (size_t)n), n);
	close(fd);
}

static void copies_of_a_file_share_a_table(void **state)
{
	char path[] = "/tmp/fg-cfi-XXXXXX";
	const int to = mkstemp(path);
	struct mapped fixture, copy;

	assert_true(to >= 0);
	copy_file(FG_UNWIND_FIXTURE, to);
	close(to);
	fixture = mapped_file(FG_UNWIND_FIXTURE);
	copy = mapped_file(path);
	new_cache(PLENTY);
	assert_ptr_equal(find(getpid(), &fixture.mapping), find(getpid(), &copy.mapping));
	assert_int_equal(stats_of_cache().loads, 2);
	assert_int_equal(stats_of_cache().tables, 1);
	unlink(path);
	mapped_fini(&fixture);
	mapped_fini(&copy);
}

static void least_recently_used_table_goes_first(void **state)
{
	struct mapped fixture, debug;

	fixture = mapped_file(FG_UNWIND_FIXTURE);
	debug = mapped_file(FG_UNWIND_DEBUG_FIXTURE);
	new_cache(1);
	find(getpid(), &fixture.mapping);
	find(getpid(), &debug.mapping);
	assert_int_equal(stats_of_cache().tables, 1);
	assert_int_equal(stats_of_cache().evicted, 1);
	find(getpid(), &fixture.mapping);
	assert_int_equal(stats_of_cache().loads, 3);
	mapped_fini(&fixture);
	mapped_fini(&debug);
}

/* Two files whose tables do not fit together, as by turns on one stack. */
static void files_are_read_no_more_often_than_is_allowed(void **state)
{
	struct mapped fixture, debug;

	fixture = mapped_file(FG_UNWIND_FIXTURE);
	debug = mapped_file(FG_UNWIND_DEBUG_FIXTURE);
	new_cache(1);
	table_cache_allow(cache, 2);
	find(getpid(), &fixture.mapping);
	find(getpid(), &debug.mapping);
	for (int i = 0; i < 100; i++) {
		assert_reason(&fixture.mapping, "put off");
		find(getpid(), &debug.mapping);
	}
	assert_int_equal(stats_of_cache().loads, 2);
	assert_int_equal(stats_of_cache().put_off, 100);
	table_cache_allow(cache, 1);
	find(getpid(), &fixture.mapping);
	assert_int_equal(stats_of_cache().loads, 3);
	mapped_fini(&fixture);
	mapped_fini(&debug);
}

static void failure_is_remembered_with_its_reason(void **state)
{
	struct mapped none;
	struct unwind_image image;
	char path[] = "/tmp/fg-cfi-XXXXXX";
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	unwind_image_init(&image, EM_X86_64);
	unwind_image_append(&image, image.len, "\0\0\0\0\0\0\0\0", 8);
	memset(image.bytes + image.len - 8, 0, 8);
	assert_int_equal(write(fd, image.bytes, image.len), image.len);
	close(fd);
	none = mapped_file(path);
	new_cache(PLENTY);
	assert_reason(&none.mapping, "no unwind rules");
	assert_reason(&none.mapping, "no unwind rules");
	assert_int_equal(stats_of_cache().loads, 1);
	assert_int_equal(stats_of_cache().failed, 1);
	unlink(path);
	mapped_fini(&none);
}

/* The file is read, not mapped: one that shrinks costs its rules, not the collector. */
static void file_cut_under_its_process_keeps_the_rules_that_were_read(void **state)
{
	char path[] = "/tmp/fg-cfi-XXXXXX";
	const int fd = mkstemp(path);
	struct mapped before, after;
	const struct cfi_table *table;

	assert_true(fd >= 0);
	copy_file(FG_UNWIND_FIXTURE, fd);
	before = mapped_file(path);
	new_cache(PLENTY);
	table = find(getpid(), &before.mapping);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_ptr_equal(find(getpid(), &before.mapping), table);
	after = mapped_file(path); /* where nobody has looked yet */
	assert_reason(&after.mapping, "no ELF");
	assert_int_equal(ftruncate(fd, 0), 0);
	table_cache_forget(cache, getpid());
	assert_reason(&before.mapping, "no ELF");
	close(fd);
	unlink(path);
	mapped_fini(&before);
	mapped_fini(&after);
}

/* As packages are upgraded: another file has the path, the process goes on with the old one. */
static void replaced_file_is_not_taken_for_the_one_that_is_mapped(void **state)
{
	char path[] = "/tmp/fg-cfi-XXXXXX", other[] = "/tmp/fg-cfi-XXXXXX";
	const int fd = mkstemp(path), other_fd = mkstemp(other);
	struct mapped old, new, fixture;
	const char *reason = NULL;
	const struct cfi_table *table;

	assert_true(fd >= 0 && other_fd >= 0);
	copy_file(FG_UNWIND_FIXTURE, fd);
	copy_file(FG_UNWIND_DEBUG_FIXTURE, other_fd);
	old = mapped_file(path);
	assert_int_equal(rename(other, path), 0);
	new = mapped_file(path);
	fixture = mapped_file(FG_UNWIND_FIXTURE);
	new_cache(PLENTY);
	/* With privilege it is found through map_files, without it is gone. */
	table = cfi_cache_find(cache, getpid(), &old.mapping, &reason);
	assert_true(!table || table == find(getpid(), &fixture.mapping));
	assert_true(table || reason);
	assert_ptr_not_equal(find(getpid(), &new.mapping), find(getpid(), &fixture.mapping));
	close(fd);
	close(other_fd);
	unlink(path);
	mapped_fini(&old);
	mapped_fini(&new);
	mapped_fini(&fixture);
}

/* A file with holes says it has more than it takes: no memory for that. */
static void rules_beyond_the_bound_are_refused_and_not_read_again(void **state)
{
	static struct unwind_image image;
	char path[] = "/tmp/fg-cfi-XXXXXX";
	const int fd = mkstemp(path);
	const uint64_t size = CFI_SECTION_MAX_BYTES + UNWIND_IMAGE_MAX;
	Elf64_Phdr *const segment = (void *)(image.bytes + sizeof(Elf64_Ehdr));
	struct mapped large;

	assert_true(fd >= 0);
	unwind_image_init(&image, EM_X86_64);
	segment->p_filesz = segment->p_memsz = size;
	assert_int_equal(write(fd, image.bytes, image.len), image.len);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	close(fd);
	large = mapped_file(path);
	new_cache(PLENTY);
	assert_reason(&large.mapping, "unwind rules too large");
	assert_reason(&large.mapping, "unwind rules too large");
	assert_int_equal(stats_of_cache().loads, 1);
	assert_int_equal(stats_of_cache().bytes, 0);
	unlink(path);
	mapped_fini(&large);
}

static void vdso_has_rules(void **state)
{
	const struct mapping vdso = {.start = UINT64_C(0x7fff00000000),
				     .end = UINT64_C(0x7fff00002000),
				     .path = "[vdso]"};
	const struct mapping anonymous = {.start = 0x1000, .end = 0x2000, .path = ""};

	new_cache(PLENTY);
	find(getpid(), &vdso);
	assert_int_equal(stats_of_cache().tables, 1);
	assert_reason(&anonymous, "no file");
}

static const struct parser_limits roles[PARSER_ROLES] = {
	[PARSER_UNWIND] = {.serve = cfi_cache_parse,
			   .memory_bytes = UINT64_C(1) << 31,
			   .cpu_seconds = 60},
};

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(rule_of_running_code_is_found, free_cache),
		cmocka_unit_test_teardown(second_look_up_reads_nothing, free_cache),
		cmocka_unit_test_teardown(processes_share_a_table, free_cache),
		cmocka_unit_test_teardown(copies_of_a_file_share_a_table, free_cache),
		cmocka_unit_test_teardown(least_recently_used_table_goes_first, free_cache),
		cmocka_unit_test_teardown(files_are_read_no_more_often_than_is_allowed, free_cache),
		cmocka_unit_test_teardown(failure_is_remembered_with_its_reason, free_cache),
		cmocka_unit_test_teardown(file_cut_under_its_process_keeps_the_rules_that_were_read,
					  free_cache),
		cmocka_unit_test_teardown(replaced_file_is_not_taken_for_the_one_that_is_mapped,
					  free_cache),
		cmocka_unit_test_teardown(rules_beyond_the_bound_are_refused_and_not_read_again,
					  free_cache),
		cmocka_unit_test_teardown(vdso_has_rules, free_cache),
	};
	int failed;

	zygote_become(argc, argv, roles);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	/* And the same once more, with files read by parsers. */
	if (zygote_start() < 0)
		return 1;
	failed += cmocka_run_group_tests_name("with parsers", tests, NULL, NULL);
	zygote_stop();
	return failed;
}
