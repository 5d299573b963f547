// SPDX-License-Identifier: Apache-2.0
/* Claims about target/map_writer.h, with times of their own. */
#include "target/map_writer.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define PID 424242
#define MS  UINT64_C(1000000)

static char dir[64], path[128];
static struct code_map *code;
static struct map_writer writer;

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/fg-map-writer-XXXXXX");
	writer = (struct map_writer){0};
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/perf-%d.map", dir, PID);
	return code_map_new(&code);
}

static int tear_down(void **state)
{
	(void)state;
	map_writer_fini(&writer);
	code_map_free(code);
	unlink(path);
	return rmdir(dir); /* nothing else is left in it */
}

static void add(uint64_t addr, const char *name, uint64_t now_ns)
{
	const struct code_range range = {
		.addr = addr, .size = 16, .birth_ns = now_ns, .name = name};

	assert_int_equal(code_map_add(code, &range, false), 1);
	map_writer_mark(&writer, &range, now_ns);
}

static int step(uint64_t now_ns)
{
	return map_writer_step(&writer, dir, PID, code, now_ns);
}

static void check_map(const char *expected)
{
	char *text;

	assert_true(file_read_whole(path, 1 << 20, &text) >= 0);
	assert_string_equal(text, expected);
	free(text);
}

static size_t count_files(void)
{
	DIR *stream = opendir(dir);
	size_t count = 0;

	while (readdir(stream))
		count++;
	closedir(stream);
	return count - 2;
}

/* The first map of all, and a second change that waits for its time. */
static uint64_t write_first_and_change(void)
{
	add(0x1000, "first", 1000 * MS);
	assert_int_equal(step(1029 * MS), 0);
	assert_int_equal(step(1030 * MS), 1);
	check_map("0 0 fg\n1000 10 first\n");
	add(0x3000, "second", 1040 * MS);
	return writer.next_ns;
}

static void nothing_changed_nothing_due(void **state)
{
	(void)state;
	assert_int_equal(map_writer_due_ns(&writer), 0);
	assert_int_equal(step(5000 * MS), 0);
	assert_int_equal(count_files(), 0);
}

static void maps_appear_100_ms_apart(void **state)
{
	const uint64_t next = write_first_and_change();

	(void)state;
	assert_true(next >= 1130 * MS && next < 1135 * MS);
	assert_int_equal(step(next - 1), 0);
	check_map("0 0 fg\n1000 10 first\n");
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n1000 10 first\n3000 10 second\n");
	assert_int_equal(step(next + 1000 * MS), 0);
}

static void what_comes_after_the_draft_was_begun_is_in_the_map(void **state)
{
	const uint64_t next = write_first_and_change();

	(void)state;
	assert_true(map_writer_due_ns(&writer) < next);
	assert_int_equal(step(map_writer_due_ns(&writer)), 0);
	assert_int_equal(count_files(), 2);
	assert_int_equal(map_writer_due_ns(&writer), next);
	add(0x2000, "late", next - 1);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n1000 10 first\n3000 10 second\n2000 10 late\n");
	assert_int_equal(count_files(), 1);
	assert_int_equal(map_writer_due_ns(&writer), 0);
}

static void a_draft_with_a_line_that_was_replaced_is_made_anew(void **state)
{
	const uint64_t next = write_first_and_change();

	(void)state;
	assert_int_equal(step(map_writer_due_ns(&writer)), 0);
	assert_non_null(writer.draft);
	add(0x3008, "usurper", next - 1);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n1000 10 first\n3008 10 usurper\n");
}

/* What was added later stands behind, which tells a copy from a map that was made anew. */
static void a_map_begins_as_the_last_one_did(void **state)
{
	const uint64_t next = write_first_and_change();

	(void)state;
	add(0x800, "lower", next - 50 * MS);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n1000 10 first\n800 10 lower\n3000 10 second\n");
	add(0x400, "lowest", next);
	assert_int_equal(step(next + 1000 * MS), 1);
	check_map("0 0 fg\n1000 10 first\n800 10 lower\n3000 10 second\n400 10 lowest\n");
}

static void a_map_with_a_line_that_was_replaced_is_made_anew(void **state)
{
	const uint64_t next = write_first_and_change();

	(void)state;
	add(0x800, "lower", next - 50 * MS);
	add(0x1008, "usurper", next - 50 * MS);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n800 10 lower\n1008 10 usurper\n3000 10 second\n");
}

static void a_map_that_somebody_wrote_to_is_made_anew(void **state)
{
	const uint64_t next = write_first_and_change();
	FILE *file = fopen(path, "r+");

	(void)state;
	assert_non_null(file);
	usleep(20000); /* the clock of file times ticks every 4 ms */
	fputs("0 0 FG\n1000 10 thief\n", file);
	fclose(file);
	add(0x800, "lower", next - 50 * MS);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n800 10 lower\n1000 10 first\n3000 10 second\n");
}

static void a_map_of_somebody_elses_is_made_anew(void **state)
{
	const uint64_t next = write_first_and_change();

	(void)state;
	assert_int_equal(chmod(path, 0666), 0); /* so that it could have been anybody */
	add(0x800, "lower", next - 50 * MS);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n800 10 lower\n1000 10 first\n3000 10 second\n");
}

static void a_map_that_is_gone_is_made_anew(void **state)
{
	const uint64_t next = write_first_and_change();

	(void)state;
	assert_int_equal(unlink(path), 0);
	add(0x800, "lower", next - 50 * MS);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n800 10 lower\n1000 10 first\n3000 10 second\n");
}

static void maps_are_in_the_style_that_their_owner_chose(void **state)
{
	const struct code_range range = {
		.addr = 0x1000, .size = 16, .class_name = "a/B", .name = "c"};

	(void)state;
	writer.style.dotted = true;
	assert_int_equal(code_map_add(code, &range, false), 1);
	map_writer_mark(&writer, &range, 1000 * MS);
	assert_int_equal(step(2000 * MS), 1);
	check_map("0 0 fg\n1000 10 a.B::c\n");
}

static void another_program_starts_anew(void **state)
{
	const uint64_t next = write_first_and_change();

	(void)state;
	assert_int_equal(step(map_writer_due_ns(&writer)), 0);
	assert_non_null(writer.draft);
	code_map_free(code);
	assert_int_equal(code_map_new(&code), 0);
	map_writer_restart(&writer, next - 1);
	assert_int_equal(count_files(), 1);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n");
}

static void a_failed_write_is_tried_again_after_a_second(void **state)
{
	(void)state;
	add(0x1000, "first", 1000 * MS);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(step(1100 * MS), -EISDIR);
	assert_int_equal(writer.failures, 1);
	assert_true(writer.next_ns >= 2100 * MS);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(step(writer.next_ns), 1);
	check_map("0 0 fg\n1000 10 first\n");
}

static void who_gives_up_leaves_no_draft(void **state)
{
	write_first_and_change();
	(void)state;
	assert_int_equal(step(map_writer_due_ns(&writer)), 0);
	map_writer_give_up(&writer);
	assert_int_equal(count_files(), 1);
	assert_int_equal(map_writer_due_ns(&writer), 0);
}

#define WRITER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WRITER_TEST(nothing_changed_nothing_due),
		WRITER_TEST(maps_appear_100_ms_apart),
		WRITER_TEST(what_comes_after_the_draft_was_begun_is_in_the_map),
		WRITER_TEST(a_draft_with_a_line_that_was_replaced_is_made_anew),
		WRITER_TEST(a_map_begins_as_the_last_one_did),
		WRITER_TEST(a_map_with_a_line_that_was_replaced_is_made_anew),
		WRITER_TEST(a_map_that_somebody_wrote_to_is_made_anew),
		WRITER_TEST(a_map_of_somebody_elses_is_made_anew),
		WRITER_TEST(a_map_that_is_gone_is_made_anew),
		WRITER_TEST(maps_are_in_the_style_that_their_owner_chose),
		WRITER_TEST(another_program_starts_anew),
		WRITER_TEST(a_failed_write_is_tried_again_after_a_second),
		WRITER_TEST(who_gives_up_leaves_no_draft),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
