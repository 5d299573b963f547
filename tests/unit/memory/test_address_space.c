// SPDX-License-Identifier: Apache-2.0
/* Claims about memory/address_space.h. */
#include "memory/address_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/process_stat.h"
#include "common/child.h"
#include "memory/space_reader.h"

static int make_space(void **state)
{
	*state = calloc(1, sizeof(struct address_space));
	return *state ? 0 : -1;
}

static int free_space(void **state)
{
	address_space_fini(*state);
	free(*state);
	return 0;
}

static void parse(struct address_space *space, const char *text)
{
	assert_int_equal(address_space_parse(space, text, strlen(text)), 0);
}

static int add(struct address_space *space, uint64_t start, uint64_t end, const char *path)
{
	const struct mapping mapping = {
		.start = start,
		.end = end,
		.file_off = 0x1000000 + start,
		.dev_major = 8,
		.inode = path[0] == '/' ? 7 : 0,
		.path = path,
	};

	return address_space_add(space, &mapping);
}

/* text: "start-end path," for each mapping. */
static void check_space(const struct address_space *space, const char *text)
{
	char got[4096] = "";
	size_t len = 0;

	for (size_t i = 0; i < space->count; i++) {
		const struct mapping *m = &space->mappings[i];

		len += (size_t)snprintf(got + len, sizeof(got) - len, "%llx-%llx %s,",
					(unsigned long long)m->start, (unsigned long long)m->end,
					m->path);
	}
	assert_string_equal(got, text);
}

static void check_path(const char *line, const char *path, bool is_deleted)
{
	struct address_space space = {0};

	parse(&space, line);
	assert_int_equal(space.count, 1);
	assert_string_equal(space.mappings[0].path, path);
	assert_int_equal(space.mappings[0].is_deleted, is_deleted);
	address_space_fini(&space);
}

/* A process has copied the code of its library to memory of huge pages, in the library's place. */
static void code_that_was_moved_is_the_files_that_lies_around_it(void **state)
{
	struct address_space *space = *state;

	parse(space, "1000-2000 r--p 00000000 08:01 7 /lib/a.so\n"
		     "2000-6000 r-xp 00000000 00:00 0\n"
		     "6000-7000 r--p 00005000 08:01 7 /lib/a.so\n"
		     "9000-a000 r-xp 00000000 08:01 8 /lib/b.so\n"
		     "a000-b000 r-xp 00000000 00:00 0\n"
		     "b000-c000 r-xp 00000000 00:00 0\n");
	parse(space, "c000-d000 r-xp 00003000 08:01 8 /lib/b.so\n");
	check_space(space, "2000-6000 /lib/a.so,9000-d000 /lib/b.so,");
	assert_int_equal(address_space_find(space, 0x2000)->file_off, 0x1000);
	assert_int_equal(address_space_find(space, 0xc000)->file_off, 0); /* of all */
}

static void other_memory_beside_files_is_nobodys(void **state)
{
	static const char *const lists[] = {
		/* Where the file would not go on, with a gap, and of another file. */
		"1000-2000 r--p 00000000 08:01 7 /a\n2000-3000 r-xp 00000000 00:00 0\n"
		"3000-4000 r--p 00001000 08:01 7 /a\n",
		"1000-2000 r--p 00000000 08:01 7 /a\n2001-3000 r-xp 00000000 00:00 0\n"
		"3000-4000 r--p 00002000 08:01 7 /a\n",
		"1000-2000 r--p 00000000 08:01 7 /a\n2000-3000 r-xp 00000000 00:00 0\n"
		"3000-4000 r--p 00002000 08:01 9 /a\n",
		/* Data lies between, or the kernel has a name for the memory. */
		"1000-2000 r--p 00000000 08:01 7 /a\n2000-2800 rw-p 00000000 00:00 0\n"
		"2800-3000 r-xp 00000000 00:00 0\n3000-4000 r--p 00002000 08:01 7 /a\n",
		"1000-2000 r--p 00000000 08:01 7 /a\n2000-3000 r-xp 00000000 00:00 0 [heap]\n"
		"3000-4000 r--p 00002000 08:01 7 /a\n",
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct address_space space = {0};

		parse(&space, lists[i]);
		assert_int_equal(space.count, 1);
		assert_int_equal(space.mappings[0].inode, 0);
		address_space_fini(&space);
	}
}

static void only_gaps_are_filled(void **state)
{
	const struct mapping mapping = {
		.start = 0x1000, .end = 0x9000, .file_off = 0x100000, .inode = 7, .path = "/new"};
	struct address_space *space = *state;

	assert_int_equal(add(space, 0x800, 0x2000, "/a"), 0);
	assert_int_equal(add(space, 0x3000, 0x4000, "/b"), 0);
	assert_int_equal(add(space, 0x8000, 0xa000, "/c"), 0);
	assert_int_equal(address_space_fill(space, &mapping), 0);
	check_space(space, "800-2000 /a,2000-3000 /new,3000-4000 /b,4000-8000 /new,8000-a000 /c,");
	assert_int_equal(address_space_find(space, 0x2000)->file_off, 0x101000);
	assert_int_equal(address_space_find(space, 0x4000)->file_off, 0x103000);
	assert_int_equal(address_space_fill(space, &mapping), 0);
	assert_int_equal(space->count, 5);
}

static void an_empty_space_is_one_gap(void **state)
{
	const struct mapping mapping = {.start = 0x1000, .end = 0x9000, .path = "/new"};

	assert_int_equal(address_space_fill(*state, &mapping), 0);
	check_space(*state, "1000-9000 /new,");
}

/* ---- maps ---- */

static void line_of_maps_gives_all_fields(void **state)
{
	const struct address_space *space = *state;
	const struct mapping *m;

	parse(*state, "7f1c2a000000-7f1c2a021000 r-xp 00002000 fd:1f 18446744073709551615"
		      "          /usr/lib/libz.so.1.2.13\n");
	assert_int_equal(space->count, 1);
	m = &space->mappings[0];
	assert_int_equal(m->start, 0x7f1c2a000000);
	assert_int_equal(m->end, 0x7f1c2a021000);
	assert_int_equal(m->file_off, 0x2000);
	assert_int_equal(m->dev_major, 0xfd);
	assert_int_equal(m->dev_minor, 0x1f);
	assert_true(m->inode == UINT64_MAX);
	assert_false(m->is_deleted);
	assert_string_equal(m->path, "/usr/lib/libz.so.1.2.13");
}

static void only_executable_mappings_are_kept(void **state)
{
	parse(*state, "1000-2000 r--p 00000000 08:01 12 /bin/true\n"
		      "2000-3000 r-xp 00001000 08:01 12 /bin/true\n"
		      "3000-4000 rw-p 00002000 08:01 12 /bin/true\n"
		      "4000-5000 rwxp 00000000 00:00 0 \n"
		      "5000-6000 --xs 00000000 00:00 0 [vsyscall]\n");
	check_space(*state, "2000-3000 /bin/true,4000-5000 ,5000-6000 [vsyscall],");
}

static void paths_are_as_the_process_sees_them(void **state)
{
	check_path("1000-2000 r-xp 0 8:1 9 /with some  spaces/x.so\n", "/with some  spaces/x.so",
		   false);
	check_path("1000-2000 r-xp 0 8:1 9 /gone.so (deleted)\n", "/gone.so", true);
	check_path("1000-2000 r-xp 0 8:1 9 /not.so(deleted)\n", "/not.so(deleted)", false);
	check_path("1000-2000 r-xp 0 8:1 9 /new\\012line\n", "/new\nline", false);
	check_path("1000-2000 r-xp 0 8:1 9 /tail\\01", "/tail\\01", false);
	check_path("1000-2000 r-xp 0 0:1 9 /memfd:jit (deleted)\n", "/memfd:jit", true);
	check_path("1000-2000 r-xp 0 0:0 0 [vdso]\n", "[vdso]", false);
	check_path("1000-2000 r-xp 0 0:0 0 [anon:code heap]\n", "[anon:code heap]", false);
	check_path("1000-2000 r-xp 0 0:0 0 \n", "", false);
	check_path("1000-2000 r-xp 0 0:0 0\n", "", false);
	check_path("1000-2000 r-xp 0 0:0 0", "", false);
	check_path("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    [vsyscall]\n",
		   "[vsyscall]", false);
}

static void lines_that_do_not_parse_are_skipped(void **state)
{
	parse(*state, "\n"
		      "x\n"
		      "1000 2000 r-xp 0 8:1 9 /a\n"
		      "1000-2000 r-x\n"
		      "1000-2000 r-xp\n"
		      "1000-2000 r-xp 0\n"
		      "1000-2000 r-xp 0 8:1\n"
		      "1000-2000 r-xp 0 8:1 /a\n"
		      "1000-2000 r-xp 0 8:1 9/a\n"
		      "11112222333344445-2000 r-xp 0 8:1 9 /a\n"
		      "1000-2000 r-xp 0 8:1 18446744073709551616 /a\n"
		      "2000-1000 r-xp 0 8:1 9 /a\n"
		      "1000-1000 r-xp 0 8:1 9 /a\n"
		      "-2000 r-xp 0 8:1 9 /a\n"
		      "5000-6000 r-xp 0 8:1 9 /b\n");
	check_space(*state, "5000-6000 /b,");
}

static void text_with_zero_bytes_is_harmless(void **state)
{
	static const char text[] = "1000-2000 r-xp 0 8:1 9 /a\0b\n3000-4000 r-xp 0 8:1 9\0/c\n";

	assert_int_equal(address_space_parse(*state, text, sizeof(text)), 0);
	check_space(*state, "1000-2000 /a,");
	assert_int_equal(address_space_parse(*state, text, 0), 0);
}

/* ---- look-ups ---- */

static void address_resolves_to_its_mapping(void **state)
{
	add(*state, 0x3000, 0x4000, "/c");
	add(*state, 0x1000, 0x2000, "/a");
	add(*state, 0x2000, 0x2800, "/b");
	assert_null(address_space_find(*state, 0xfff));
	assert_string_equal(address_space_find(*state, 0x1000)->path, "/a");
	assert_string_equal(address_space_find(*state, 0x1fff)->path, "/a");
	assert_string_equal(address_space_find(*state, 0x2000)->path, "/b");
	assert_null(address_space_find(*state, 0x2800));
	assert_null(address_space_find(*state, 0x2fff));
	assert_string_equal(address_space_find(*state, 0x3fff)->path, "/c");
	assert_null(address_space_find(*state, 0x4000));
	assert_null(address_space_find(*state, UINT64_MAX));
}

static void empty_space_finds_nothing(void **state)
{
	assert_null(address_space_find(*state, 0));
	assert_null(address_space_find(*state, UINT64_MAX));
}

/* ---- changes ---- */

static void new_mapping_replaces_what_it_covers(void **state)
{
	add(*state, 0x1000, 0x2000, "/a");
	add(*state, 0x3000, 0x4000, "/b");
	add(*state, 0x5000, 0x6000, "/c");
	add(*state, 0x3000, 0x4000, "/d");
	check_space(*state, "1000-2000 /a,3000-4000 /d,5000-6000 /c,");
	add(*state, 0x2000, 0x7000, "/e");
	check_space(*state, "1000-2000 /a,2000-7000 /e,");
}

static void new_mapping_cuts_its_neighbours(void **state)
{
	const struct mapping *m;

	add(*state, 0x1000, 0x4000, "/a");
	add(*state, 0x5000, 0x8000, "/b");
	add(*state, 0x3000, 0x6000, "/c");
	check_space(*state, "1000-3000 /a,3000-6000 /c,6000-8000 /b,");
	m = address_space_find(*state, 0x6000);
	assert_int_equal(m->file_off, 0x1000000 + 0x6000);
}

static void new_mapping_splits_what_it_is_inside_of(void **state)
{
	add(*state, 0x1000, 0x9000, "/a");
	add(*state, 0x3000, 0x4000, "/b");
	check_space(*state, "1000-3000 /a,3000-4000 /b,4000-9000 /a,");
	assert_int_equal(address_space_find(*state, 0x1000)->file_off, 0x1001000);
	assert_int_equal(address_space_find(*state, 0x4000)->file_off, 0x1004000);
}

static void code_heap_that_grows_is_one_mapping(void **state)
{
	add(*state, 0x1000, 0x2000, "//anon");
	add(*state, 0x3000, 0x4000, "//anon");
	add(*state, 0x4000, 0x5000, "");
	add(*state, 0x2000, 0x3000, "//anon");
	check_space(*state, "1000-4000 //anon,4000-5000 ,");
	add(*state, 0x2000, 0x3000, "//anon"); /* again */
	check_space(*state, "1000-4000 //anon,4000-5000 ,");
}

static void file_mappings_join_only_where_the_file_goes_on(void **state)
{
	struct mapping m = {
		.start = 0x3000, .end = 0x4000, .inode = 7, .dev_major = 8, .path = "/a"};

	add(*state, 0x1000, 0x2000, "/a");
	add(*state, 0x2000, 0x3000, "/a");
	assert_int_equal(address_space_add(*state, &m), 0);
	check_space(*state, "1000-3000 /a,3000-4000 /a,");
}

static void senseless_mapping_is_refused(void **state)
{
	assert_int_equal(add(*state, 0x2000, 0x2000, "/a"), -EINVAL);
	assert_int_equal(add(*state, 0x2000, 0x1000, "/a"), -EINVAL);
	check_space(*state, "");
}

static void path_given_as_deleted_loses_the_suffix(void **state)
{
	add(*state, 0x1000, 0x2000, "/a (deleted)");
	check_space(*state, "1000-2000 /a,");
	assert_true(address_space_find(*state, 0x1000)->is_deleted);
}

static void mappings_are_limited_and_the_rest_counted(void **state)
{
	struct address_space *space = *state;

	for (uint64_t i = 0; i < ADDRESS_SPACE_MAX; i++)
		assert_int_equal(add(space, i * 0x2000, i * 0x2000 + 0x1000, "/a"), 0);
	assert_int_equal(add(space, 0x1000, 0x1800, "/b"), -ENOSPC);
	assert_int_equal(add(space, 0x400, 0x800, "/b"), -ENOSPC); /* would split */
	assert_int_equal(space->dropped, 2);
	assert_int_equal(space->count, ADDRESS_SPACE_MAX);
	assert_int_equal(add(space, 0x0, 0x1000, "/b"), 0); /* in place of another */
	assert_string_equal(address_space_find(space, 0)->path, "/b");
}

static void copy_is_independent(void **state)
{
	struct address_space copy = {0};

	add(*state, 0x1000, 0x2000, "/a");
	add(*state, 0x3000, 0x4000, "/b");
	add(&copy, 0x7000, 0x8000, "/old");
	assert_int_equal(address_space_copy(&copy, *state), 0);
	add(*state, 0x1000, 0x4000, "/c");
	check_space(&copy, "1000-2000 /a,3000-4000 /b,");
	address_space_fini(&copy);
	check_space(&copy, "");
	assert_int_equal(address_space_copy(&copy, *state), 0);
	assert_int_equal(address_space_copy(&copy, &copy), 0);
	check_space(&copy, "1000-4000 /c,");
	address_space_fini(&copy);
}

/* ---- random changes beside a page table ---- */

#define MODEL_PAGES 64u

static void random_changes_agree_with_a_page_table(void **state)
{
	static const char *const paths[] = {"/a", "/b", "//anon", ""};
	const char *pages[MODEL_PAGES] = {0};
	uint32_t random = 1;

	for (int step = 0; step < 20000; step++) {
		uint32_t start, end;
		const char *path;

		random = random * 1664525u + 1013904223u;
		path = paths[random >> 30];
		start = (random >> 8) % MODEL_PAGES;
		end = start + 1 + (random >> 16) % 12;
		end = end < MODEL_PAGES ? end : MODEL_PAGES;
		assert_int_equal(add(*state, start * 0x1000, end * 0x1000, path), 0);
		for (uint32_t i = start; i < end; i++)
			pages[i] = path;
		for (uint32_t i = 0; i < MODEL_PAGES; i++) {
			const struct mapping *m = address_space_find(*state, i * 0x1000 + 5);

			assert_int_equal(m != NULL, pages[i] != NULL);
			if (!m)
				continue;
			assert_string_equal(m->path, pages[i]);
			if (m->inode)
				assert_int_equal(m->file_off - m->start, 0x1000000);
		}
	}
}

/* ---- this machine ---- */

static void own_maps_contain_this_function(void **state)
{
	const uint64_t here = (uint64_t)(uintptr_t)&own_maps_contain_this_function;
	const struct mapping *m;

	add(*state, 0x1000, 0x2000, "/stale");
	assert_int_equal(address_space_read(*state, getpid()), 0);
	m = address_space_find(*state, here);
	assert_non_null(m);
	assert_non_null(strstr(m->path, "test_address_space"));
	assert_true(m->inode != 0);
	assert_null(address_space_find(*state, 0x1000));
}

/* What is executable and not writable, file or not, is what VmExe and VmLib are of. */
static void size_of_code_is_what_the_kernel_counts(void **state)
{
	struct address_space *space = *state;
	uint64_t before;
	void *code, *generated;

	assert_int_equal(address_space_read(space, getpid()), 0);
	assert_true(space->code_bytes > 0);
	assert_int_equal(space->code_bytes, process_stat_code_bytes(getpid()));
	before = space->code_bytes;
	code = mmap(NULL, 12288, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	generated = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(process_stat_code_bytes(getpid()), before + 12288);
	assert_int_equal(address_space_read(space, getpid()), 0);
	assert_int_equal(space->code_bytes, before + 12288);
	munmap(code, 12288);
	munmap(generated, 8192);
}

static void what_was_told_of_since_is_left(void **state)
{
	struct mapping told = {
		.start = 0x3000, .end = 0x4000, .inode = 7, .path = "/told", .since_ns = 10};

	add(*state, 0x1000, 0x2000, "/read");
	address_space_add(*state, &told);
	told.start = 0x5000;
	told.end = 0x6000;
	told.since_ns = 20;
	address_space_add(*state, &told);
	address_space_forget_before(*state, 10);
	check_space(*state, "3000-4000 /told,5000-6000 /told,");
	address_space_forget_before(*state, 11);
	check_space(*state, "5000-6000 /told,");
	address_space_forget_before(*state, 21);
	check_space(*state, "");
}

static void process_that_is_gone_leaves_the_space_alone(void **state)
{
	const pid_t pid = child_gone();

	add(*state, 0x1000, 0x2000, "/a");
	assert_int_equal(address_space_read(*state, pid), -ENOENT);
	check_space(*state, "1000-2000 /a,");
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, make_space, free_space)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(only_gaps_are_filled),
		CLAIM(code_that_was_moved_is_the_files_that_lies_around_it),
		CLAIM(other_memory_beside_files_is_nobodys),
		CLAIM(an_empty_space_is_one_gap),
		CLAIM(line_of_maps_gives_all_fields),
		CLAIM(only_executable_mappings_are_kept),
		CLAIM(paths_are_as_the_process_sees_them),
		CLAIM(lines_that_do_not_parse_are_skipped),
		CLAIM(text_with_zero_bytes_is_harmless),
		CLAIM(address_resolves_to_its_mapping),
		CLAIM(empty_space_finds_nothing),
		CLAIM(new_mapping_replaces_what_it_covers),
		CLAIM(new_mapping_cuts_its_neighbours),
		CLAIM(new_mapping_splits_what_it_is_inside_of),
		CLAIM(code_heap_that_grows_is_one_mapping),
		CLAIM(file_mappings_join_only_where_the_file_goes_on),
		CLAIM(senseless_mapping_is_refused),
		CLAIM(path_given_as_deleted_loses_the_suffix),
		CLAIM(mappings_are_limited_and_the_rest_counted),
		CLAIM(copy_is_independent),
		CLAIM(random_changes_agree_with_a_page_table),
		CLAIM(own_maps_contain_this_function),
		CLAIM(size_of_code_is_what_the_kernel_counts),
		CLAIM(what_was_told_of_since_is_left),
		CLAIM(process_that_is_gone_leaves_the_space_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
