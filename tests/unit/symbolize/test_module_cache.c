// SPDX-License-Identifier: Apache-2.0
/*
 * The cache on mappings of this process and of children, with files that are replaced, deleted,
 * linked out of the root and no files at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../files/mapped_file.h"
#include "common/child.h"
#include "common/files.h"
#include "memory/space_reader.h"
#include "symbolize/module_cache.h"
#include "symbolize/parsers.h"
#include "fixture.h"

#define PLENTY	(64u << 20)
#define NOWHERE 0x600000000000 /* nothing is mapped there */

static const char source_one[] = "int only_in_one(int x) { return x * 5; }\n";
static const char source_two[] = "int only_in_two(int x) { return x * 7; }\n";
static const char source_three[] = "int only_in_three(int x) { return x * 9; }\n";

/* A library made of source, which is mapped. */
static struct mapped map_library(const char *source)
{
	char *path = fixture_new_library("c", source, "");
	struct mapped mapped = mapped_file(path);

	free(path);
	return mapped;
}

static struct table_cache *new_cache(size_t max_bytes)
{
	struct table_cache *cache;

	assert_int_equal(table_cache_new(max_bytes, false, &cache), 0);
	module_cache_attach(cache);
	return cache;
}

static struct table_stats stats_of(const struct table_cache *cache)
{
	struct table_stats stats;

	table_cache_table_stats(cache, TABLE_SYMBOLS, &stats);
	return stats;
}

static void assert_reason(struct table_cache *cache, pid_t pid, const struct mapping *mapping,
			  const char *expected)
{
	const char *reason = NULL;

	assert_null(module_cache_find(cache, pid, mapping, &reason));
	assert_non_null(reason);
	assert_string_equal(reason, expected);
}

static struct elf_symbols *find(struct table_cache *cache, pid_t pid, const struct mapping *mapping)
{
	const char *reason = NULL;
	struct elf_symbols *symbols = module_cache_find(cache, pid, mapping, &reason);

	if (!symbols)
		fail_msg("%s: %s", mapping->path, reason ? reason : "no reason");
	return symbols;
}

static const char *name_in(struct elf_symbols *symbols, const struct mapping *mapping,
			   const void *addr)
{
	uint64_t elf_addr, offset;

	assert_int_equal(elf_symbols_addr_of(symbols,
					     (uintptr_t)addr - mapping->start + mapping->file_off,
					     &elf_addr),
			 0);
	return elf_symbols_find(symbols, elf_addr, &offset);
}

static void addresses_of_this_process_are_named(void **state)
{
	void *const own = (void *)(uintptr_t)addresses_of_this_process_are_named;
	void *const libc = (void *)(uintptr_t)qsort;
	struct table_cache *cache = new_cache(PLENTY);
	struct mapped here = mapped_address(own), there = mapped_address(libc);
	const char *name;

	assert_string_equal(name_in(find(cache, getpid(), &here.mapping), &here.mapping, own),
			    "addresses_of_this_process_are_named");
	name = name_in(find(cache, getpid(), &there.mapping), &there.mapping, libc);
	assert_non_null(name);
	assert_non_null(strstr(name, "qsort"));
	mapped_fini(&here);
	mapped_fini(&there);
	table_cache_free(cache);
}

static void every_mapping_of_this_process_is_answered(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	struct address_space space = {0};
	const char *reason = NULL;

	assert_int_equal(address_space_read(&space, getpid()), 0);
	for (size_t i = 0; i < space.count; i++) {
		const struct mapping *mapping = &space.mappings[i];

		if (mapping->inode != 0)
			find(cache, getpid(), mapping);
		else if (!module_cache_find(cache, getpid(), mapping, &reason))
			assert_string_equal(reason, "no file");
	}
	assert_int_equal(stats_of(cache).failed, 0);
	address_space_fini(&space);
	table_cache_free(cache);
}

static void the_vdso_is_named(void **state)
{
	const struct mapping small = {.start = 0xf7fc0000, .end = 0xf7fc2000, .path = "[vdso]"};
	struct table_cache *cache = new_cache(PLENTY);
	struct address_space space = {0};
	bool seen = false;

	assert_int_equal(address_space_read(&space, getpid()), 0);
	for (size_t i = 0; i < space.count; i++) {
		const struct mapping *mapping = &space.mappings[i];

		if (strcmp(mapping->path, "[vdso]") != 0)
			continue;
		seen = true;
		assert_true(elf_symbols_count(find(cache, getpid(), mapping)) > 0);
		assert_true(
			fixture_has_name(find(cache, getpid(), mapping), "__vdso_clock_gettime") ||
			fixture_has_name(find(cache, getpid(), mapping), "__kernel_clock_gettime"));
	}
	assert_true(seen);
	assert_reason(cache, getpid(), &small, "vDSO of a 32-bit process");
	address_space_fini(&space);
	table_cache_free(cache);
}

static void memory_without_a_file_is_said_to_be_so(void **state)
{
	static const char *const paths[] = {"", "[heap]", "//anon", "[vsyscall]"};
	struct table_cache *cache = new_cache(PLENTY);

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const struct mapping mapping = {
			.start = 0x700000000000, .end = 0x700000001000, .path = paths[i]};

		assert_reason(cache, getpid(), &mapping, "no file");
	}
	table_cache_free(cache);
}

static void a_known_mapping_takes_no_second_load(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	struct mapped one;

	fixture_need_compiler();
	one = map_library(source_one);
	assert_true(fixture_has_name(find(cache, getpid(), &one.mapping), "only_in_one"));
	for (unsigned i = 0; i < 100; i++)
		find(cache, getpid(), &one.mapping);
	assert_int_equal(stats_of(cache).loads, 1);
	assert_int_equal(stats_of(cache).hits, 100);
	assert_int_equal(stats_of(cache).tables, 1);
	mapped_fini(&one);
	table_cache_free(cache);
}

static void processes_share_a_file(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	struct elf_symbols *symbols;
	struct mapped one;
	pid_t child;

	fixture_need_compiler();
	one = map_library(source_one);
	child = child_start();
	symbols = find(cache, getpid(), &one.mapping);
	assert_ptr_equal(find(cache, child, &one.mapping), symbols);
	assert_int_equal(stats_of(cache).loads, 1);
	child_end(child);
	mapped_fini(&one);
	table_cache_free(cache);
}

static void copies_of_a_file_share_a_table(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	struct mapped one, copy, two;
	struct elf_symbols *symbols;

	fixture_need_compiler();
	one = map_library(source_one);
	copy = map_library(source_one);
	two = map_library(source_two);
	symbols = find(cache, getpid(), &one.mapping);
	assert_ptr_equal(find(cache, getpid(), &copy.mapping), symbols);
	assert_ptr_not_equal(find(cache, getpid(), &two.mapping), symbols);
	assert_int_equal(stats_of(cache).loads, 3);
	assert_int_equal(stats_of(cache).tables, 2);
	mapped_fini(&one);
	mapped_fini(&copy);
	mapped_fini(&two);
	table_cache_free(cache);
}

static void a_file_that_took_the_place_is_not_read(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	struct mapping elsewhere;
	struct mapped one;
	char *other;

	fixture_need_compiler();
	one = map_library(source_one);
	other = fixture_new_library("c", source_two, "");
	/* No such range in map_files, so that the path is all there is. */
	elsewhere = one.mapping;
	elsewhere.start -= 1u << 30;
	elsewhere.end -= 1u << 30;
	assert_int_equal(rename(other, one.mapping.path), 0);
	assert_reason(cache, getpid(), &elsewhere, "not the mapped file");
	assert_int_equal(stats_of(cache).loads, 0);
	assert_int_equal(stats_of(cache).failed, 1);
	free(other);
	mapped_fini(&one);
	table_cache_free(cache);
}

static void a_wrong_device_is_not_the_file(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	struct mapped one;

	fixture_need_compiler();
	one = map_library(source_one);
	one.mapping.start -= 1u << 30;
	one.mapping.end -= 1u << 30;
	one.mapping.dev_minor ^= 1;
	assert_reason(cache, getpid(), &one.mapping, "not the mapped file");
	mapped_fini(&one);
	table_cache_free(cache);
}

static void need_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("needs root: /proc/<pid>/map_files\n");
	skip();
}

static void a_deleted_file_is_read_through_map_files(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	struct mapped one;

	fixture_need_compiler();
	need_root();
	one = map_library(source_one);
	assert_int_equal(unlink(one.mapping.path), 0);
	mapped_refresh(&one);
	assert_true(one.mapping.is_deleted);
	assert_true(fixture_has_name(find(cache, getpid(), &one.mapping), "only_in_one"));
	mapped_fini(&one);
	table_cache_free(cache);
}

static void a_replaced_file_is_read_through_map_files(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	struct mapped one;
	char *other;

	fixture_need_compiler();
	need_root();
	one = map_library(source_one);
	other = fixture_new_library("c", source_two, "");
	assert_int_equal(rename(other, one.mapping.path), 0);
	assert_true(fixture_has_name(find(cache, getpid(), &one.mapping), "only_in_one"));
	free(other);
	mapped_fini(&one);
	table_cache_free(cache);
}

static void a_process_that_is_gone_is_named_by_what_is_known(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	struct mapped one, two;
	pid_t gone;

	fixture_need_compiler();
	one = map_library(source_one);
	two = map_library(source_two);
	gone = child_gone();
	find(cache, getpid(), &one.mapping);
	assert_true(fixture_has_name(find(cache, gone, &one.mapping), "only_in_one"));
	assert_reason(cache, gone, &two.mapping, "file is gone");
	mapped_fini(&one);
	mapped_fini(&two);
	table_cache_free(cache);
}

static void other_things_than_files_are_never_opened(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	char *path = fixture_new_path("fifo");
	struct mapping mapping;

	assert_int_equal(mkfifo(path, 0600), 0);
	mapping = mapping_made_up(path, NOWHERE);
	assert_reason(cache, getpid(), &mapping, "not a regular file");
	mapping = mapping_made_up("/tmp", NOWHERE);
	assert_reason(cache, getpid(), &mapping, "not a regular file");
	mapping = mapping_made_up("/dev/zero", NOWHERE);
	assert_reason(cache, getpid(), &mapping, "not a regular file");
	free(path);
	table_cache_free(cache);
}

static void a_magic_link_is_not_followed(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	char *path = fixture_new_path("link");
	struct mapping mapping;

	assert_int_equal(symlink("/proc/self/exe", path), 0);
	mapping = mapping_made_up(path, NOWHERE);
	assert_reason(cache, getpid(), &mapping, "path leads out of the container");
	free(path);
	table_cache_free(cache);
}

static void what_is_no_elf_is_remembered_as_such(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	char *path = fixture_new_path("text");
	struct mapping mapping;

	files_write(path, "#!/bin/sh\n");
	mapping = mapping_made_up(path, NOWHERE);
	for (unsigned i = 0; i < 10; i++)
		assert_reason(cache, getpid(), &mapping, "no ELF");
	assert_int_equal(stats_of(cache).loads, 1);
	assert_int_equal(stats_of(cache).failed, 1);
	free(path);
	table_cache_free(cache);
}

static void another_file_at_the_same_place_is_looked_at(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	struct mapping first, second;
	struct mapped one, two;

	fixture_need_compiler();
	one = map_library(source_one);
	two = map_library(source_two);
	first = one.mapping;
	second = two.mapping;
	second.start = first.start;
	second.end = first.end;
	assert_true(fixture_has_name(find(cache, getpid(), &first), "only_in_one"));
	assert_true(fixture_has_name(find(cache, getpid(), &second), "only_in_two"));
	mapped_fini(&one);
	mapped_fini(&two);
	table_cache_free(cache);
}

/* A cache that holds two of three tables of about equal size. */
static struct table_cache *new_cache_of_two(const struct mapped *one)
{
	struct table_cache *cache = new_cache(PLENTY);
	size_t bytes;

	find(cache, getpid(), &one->mapping);
	bytes = stats_of(cache).bytes;
	table_cache_free(cache);
	return new_cache(bytes * 2 + bytes / 2);
}

static void the_least_recently_used_table_goes_first(void **state)
{
	struct mapped one, two, three;
	struct table_cache *cache;

	fixture_need_compiler();
	one = map_library(source_one);
	two = map_library(source_two);
	three = map_library(source_three);
	cache = new_cache_of_two(&one);
	find(cache, getpid(), &one.mapping);
	find(cache, getpid(), &two.mapping);
	find(cache, getpid(), &three.mapping);
	assert_int_equal(stats_of(cache).evicted, 1);
	assert_int_equal(stats_of(cache).tables, 2);
	find(cache, getpid(), &two.mapping);
	assert_int_equal(stats_of(cache).loads, 3); /* so it was the first that went */
	assert_true(fixture_has_name(find(cache, getpid(), &one.mapping), "only_in_one"));
	assert_int_equal(stats_of(cache).loads, 4);
	find(cache, getpid(), &two.mapping);
	assert_int_equal(stats_of(cache).loads, 4); /* and then the third */
	assert_int_equal(stats_of(cache).evicted, 2);
	mapped_fini(&one);
	mapped_fini(&two);
	mapped_fini(&three);
	table_cache_free(cache);
}

static void a_table_larger_than_the_bound_still_serves(void **state)
{
	struct table_cache *cache = new_cache(1);
	struct mapped one;

	fixture_need_compiler();
	one = map_library(source_one);
	assert_true(fixture_has_name(find(cache, getpid(), &one.mapping), "only_in_one"));
	assert_true(fixture_has_name(find(cache, getpid(), &one.mapping), "only_in_one"));
	assert_int_equal(stats_of(cache).loads, 1);
	mapped_fini(&one);
	table_cache_free(cache);
}

static void forgetting_a_process_keeps_the_tables(void **state)
{
	struct table_cache *cache = new_cache(PLENTY);
	struct mapped one;

	fixture_need_compiler();
	one = map_library(source_one);
	find(cache, getpid(), &one.mapping);
	table_cache_forget(cache, getpid());
	table_cache_forget(cache, getpid());
	table_cache_forget(cache, 4194303);
	find(cache, getpid(), &one.mapping);
	assert_int_equal(stats_of(cache).loads, 1);
	assert_int_equal(stats_of(cache).hits, 0);
	mapped_fini(&one);
	table_cache_free(cache);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_of_this_process_are_named),
		cmocka_unit_test(every_mapping_of_this_process_is_answered),
		cmocka_unit_test(the_vdso_is_named),
		cmocka_unit_test(memory_without_a_file_is_said_to_be_so),
		cmocka_unit_test(a_known_mapping_takes_no_second_load),
		cmocka_unit_test(processes_share_a_file),
		cmocka_unit_test(copies_of_a_file_share_a_table),
		cmocka_unit_test(a_file_that_took_the_place_is_not_read),
		cmocka_unit_test(a_wrong_device_is_not_the_file),
		cmocka_unit_test(a_deleted_file_is_read_through_map_files),
		cmocka_unit_test(a_replaced_file_is_read_through_map_files),
		cmocka_unit_test(a_process_that_is_gone_is_named_by_what_is_known),
		cmocka_unit_test(other_things_than_files_are_never_opened),
		cmocka_unit_test(a_magic_link_is_not_followed),
		cmocka_unit_test(what_is_no_elf_is_remembered_as_such),
		cmocka_unit_test(another_file_at_the_same_place_is_looked_at),
		cmocka_unit_test(the_least_recently_used_table_goes_first),
		cmocka_unit_test(a_table_larger_than_the_bound_still_serves),
		cmocka_unit_test(forgetting_a_process_keeps_the_tables),
	};
	int failed;

	zygote_become(argc, argv, parser_roles);
	failed = cmocka_run_group_tests(tests, NULL, fixture_remove_all);
	/* And the same once more, with files read by parsers. */
	if (zygote_start() < 0)
		return 1;
	failed += cmocka_run_group_tests_name("with parsers", tests, NULL, fixture_remove_all);
	zygote_stop();
	return failed;
}
