// SPDX-License-Identifier: Apache-2.0
/* Claims about maps/map_writer.h, with times of their own. */
#include "maps/map_writer.h"

#include "whole_map.h"

#include "base/file.h"
#include "common/temp_dir.h"

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
#include <unistd.h>

#define PID 424242
#define MS  UINT64_C(1000000)

static char dir[TEMP_DIR_BYTES], path[128], beside[128];
static struct code_map *code;
static struct map_writer writer;
static size_t
	fails_calloc_bytes; /* there is no memory for objects of that size; 0: for all there is */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	return size == fails_calloc_bytes ? NULL : __real_calloc(n, size);
}

static int set_up(void **state)
{
	writer = (struct map_writer){0};
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/perf-%d.map", dir, PID);
	snprintf(beside, sizeof(beside), "%s/perf-%d.map.fgcollect", dir, PID);
	return code_map_new(&code);
}

static int tear_down(void **state)
{
	map_writer_fini(&writer);
	code_map_free(code);
	unlink(path);
	unlink(beside);
	temp_dir_remove_empty(dir);
	return 0;
}

static void add(uint64_t addr, const char *name, uint64_t now_ns)
{
	const struct code_range range = {
		.addr = addr, .size = 16, .birth_ns = now_ns, .name = name};

	assert_int_equal(code_map_add(code, &range, false), 1);
	map_writer_mark(&writer, code, &range, now_ns);
}

static void add_if_new(uint64_t addr, const char *name, uint64_t now_ns)
{
	const struct code_range range = {
		.addr = addr, .size = 16, .birth_ns = now_ns, .name = name};

	if (code_map_add(code, &range, false) == 1)
		map_writer_mark(&writer, code, &range, now_ns);
}

static int step(uint64_t now_ns)
{
	return map_writer_step(&writer, dir, PID, code, now_ns);
}

/* Goes on at once with what is written in several pieces. */
static int step_on(uint64_t now_ns)
{
	int n;

	do
		n = step(now_ns);
	while (n == 0 && writer.draft && !writer.draft->is_whole);
	return n;
}

static void check_text(const char *file, const char *expected)
{
	char *text;

	assert_true(file_read_whole(file, 1 << 20, &text) >= 0);
	assert_string_equal(text, expected);
	free(text);
}

static void check_map(const char *expected)
{
	check_text(path, expected);
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

#define TICK (25 * MS)

/*
 * When the next map appears if nothing comes at its tick. Asked of the writer, since how long the
 * last one took, and by how much that was late, are real times.
 */
static uint64_t appears_ns(void)
{
	uint64_t from = writer.changed_ns + 5 * MS;

	if (from < writer.next_ns)
		from = writer.next_ns;
	return (from + TICK - 1) / TICK * TICK + 2 * MS;
}

/*
 * The first map of all, at a tick and a little, and a second change that waits for its time, which
 * is returned.
 */
static uint64_t write_first_and_change(void)
{
	add(0x1000, "first", 1000 * MS);
	assert_int_equal(step(1027 * MS - 1), 0);
	assert_int_equal(step(1027 * MS), 1);
	check_map("0 0 fg\n1000 10 first\n");
	add(0x3000, "second", 1040 * MS);
	assert_true(writer.next_ns >= writer.written_ns + 95 * MS);
	return appears_ns();
}

static void nothing_changed_nothing_due(void **state)
{
	assert_int_equal(map_writer_due_ns(&writer), 0);
	assert_int_equal(step(5000 * MS), 0);
	assert_int_equal(count_files(), 0);
}

static void maps_appear_100_ms_apart(void **state)
{
	const uint64_t next = write_first_and_change();

	assert_int_equal(step(next - 1), 0);
	check_map("0 0 fg\n1000 10 first\n");
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n1000 10 first\n3000 10 second\n");
	assert_int_equal(step(next + 1000 * MS), 0);
}

static void what_comes_after_the_draft_was_begun_is_in_the_map(void **state)
{
	const uint64_t next = write_first_and_change();

	assert_true(map_writer_due_ns(&writer) < next);
	assert_int_equal(step(map_writer_due_ns(&writer)), 0);
	assert_int_equal(count_files(), 2);
	assert_int_equal(map_writer_due_ns(&writer), next);
	add(0x2000, "late", next - 1);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n1000 10 first\n3000 10 second\n2000 10 late\n");
}

static void what_is_kept_for_the_next_map_goes_after_a_second(void **state)
{
	const uint64_t next = write_first_and_change();

	assert_int_equal(step(next), 1);
	assert_int_equal(count_files(), 2);
	assert_int_equal(step(writer.written_ns + 1000 * MS - 1), 0);
	assert_int_equal(count_files(), 2);
	assert_int_equal(map_writer_due_ns(&writer), writer.written_ns + 1000 * MS);
	assert_int_equal(step(map_writer_due_ns(&writer)), 0);
	assert_int_equal(count_files(), 1);
	assert_int_equal(map_writer_due_ns(&writer), 0);
	add(0x2000, "late", 3000 * MS);
	assert_int_equal(step(4000 * MS), 1);
	check_map("0 0 fg\n1000 10 first\n3000 10 second\n2000 10 late\n");
}

static void a_line_that_was_replaced_after_the_draft_was_begun_is_taken_out(void **state)
{
	const uint64_t next = write_first_and_change();

	assert_int_equal(step(map_writer_due_ns(&writer)), 0);
	assert_non_null(writer.draft);
	add(0x3008, "usurper", next - 1);
	add(0x3010, "usurper of the usurper", next - 1);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n1000 10 first\n000000000 0 fg\n0000000000 0 fg\n"
		  "3000 8 second\n3010 10 usurper of the usurper\n3008 8 usurper\n");
}

/* What was added later stands behind, which tells a copy from a map that was made anew. */
static void a_map_begins_as_the_last_one_did(void **state)
{
	const uint64_t next = write_first_and_change();

	add(0x800, "lower", next - 50 * MS);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n1000 10 first\n800 10 lower\n3000 10 second\n");
	add(0x400, "lowest", next);
	assert_int_equal(step(next + 1000 * MS), 1);
	check_map("0 0 fg\n1000 10 first\n800 10 lower\n3000 10 second\n400 10 lowest\n");
}

static void a_map_comes_as_soon_as_something_came_at_its_tick(void **state)
{
	const uint64_t next = write_first_and_change();

	assert_int_equal(step(next - TICK), 0);
	assert_non_null(writer.draft);
	add(0x2000, "late", next - 2 * MS);
	assert_int_equal(map_writer_due_ns(&writer), next - 2 * MS);
	assert_int_equal(step(next - 2 * MS - 1), 0);
	assert_int_equal(step(next - 2 * MS), 1);
	check_map("0 0 fg\n1000 10 first\n3000 10 second\n2000 10 late\n");
}

/* A little late again and again must not add up. */
static void a_map_that_was_late_does_not_make_the_next_one_late(void **state)
{
	const uint64_t next = write_first_and_change();

	assert_int_equal(step(next + 2 * MS), 1);
	if (writer.took_ns * 10 < 95 * MS)
		assert_int_equal(writer.next_ns, writer.written_ns + 95 * MS);
	writer.next_ns = next + 2 * MS + 95 * MS; /* as if it had taken no time */
	add(0x2000, "late", next + 10 * MS);
	assert_int_equal(step(next + 100 * MS - 1), 0);
	assert_int_equal(step(next + 100 * MS), 1);
}

static void a_line_that_was_replaced_is_taken_out(void **state)
{
	const uint64_t next = write_first_and_change();

	assert_int_equal(step(next), 1);
	add(0x1008, "usurper", next + 10 * MS);
	assert_int_equal(step(appears_ns()), 1);
	check_map("0 0 fg\n00000000 0 fg\n3000 10 second\n1000 8 first\n1008 10 usurper\n");
}

/* Into which the map before the last one was made. */
static void a_map_is_written_into_the_file_of_the_one_before_the_last(void **state)
{
	const uint64_t next = write_first_and_change();
	struct stat first, third;

	assert_int_equal(stat(path, &first), 0);
	assert_int_equal(step(next), 1);
	add(0x1008, "usurper", next + 10 * MS);
	assert_int_equal(step(appears_ns()), 1);
	assert_int_equal(stat(path, &third), 0);
	assert_int_equal(third.st_ino, first.st_ino);
	check_map("0 0 fg\n00000000 0 fg\n3000 10 second\n1000 8 first\n1008 10 usurper\n");
	add(0x3008, "another", writer.written_ns + 10 * MS);
	assert_int_equal(step(appears_ns()), 1);
	check_map("0 0 fg\n00000000 0 fg\n000000000 0 fg\n1000 8 first\n1008 10 usurper\n"
		  "3000 8 second\n3008 10 another\n");
	assert_int_equal(writer.pair->reuses, 2);
	assert_int_equal(count_files(), 2);
}

static void a_map_that_somebody_reads_does_not_change(void **state)
{
	const uint64_t next = write_first_and_change();
	FILE *reader = fopen(path, "r");
	char text[64];

	assert_non_null(reader);
	assert_int_equal(step(next), 1);
	add(0x1008, "usurper", next + 10 * MS);
	assert_int_equal(step(appears_ns()), 1);
	assert_int_equal(writer.pair->reuses, 0);
	check_map("0 0 fg\n00000000 0 fg\n3000 10 second\n1000 8 first\n1008 10 usurper\n");
	text[fread(text, 1, sizeof(text) - 1, reader)] = '\0';
	assert_string_equal(text, "0 0 fg\n1000 10 first\n");
	fclose(reader);
}

/* Begins a line of the file that is open, so that its time is another one than before. */
static void write_foreign(FILE *file, const char *line)
{
	usleep(20000); /* the clock of file times ticks every 4 ms */
	fputs(line, file);
	assert_int_equal(fflush(file), 0);
}

static void what_others_write_into_a_spare_has_the_name_again(void **state)
{
	const uint64_t next = write_first_and_change();
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	assert_int_equal(step(next), 1);
	write_foreign(file, "7000 10 foreign\n");
	add(0x1008, "usurper", next + 10 * MS);
	assert_int_equal(step(appears_ns()), 1);
	assert_int_equal(writer.pair->reuses, 0);
	write_foreign(file, "8000 10 later\n");
	fclose(file);
	check_map("0 0 --\n00000000 0 fg\n7000 10 foreign\n8000 10 later\n");
	check_text(beside,
		   "0 0 fg\n00000000 0 fg\n3000 10 second\n1000 8 first\n1008 10 usurper\n");
	assert_true(writer.is_beside);
	add(0x5000, "third", writer.written_ns + 10 * MS);
	assert_int_equal(step(appears_ns()), 1);
	check_map("0 0 --\n00000000 0 fg\n7000 10 foreign\n8000 10 later\n");
}

/* It has opened the map in its place, and writes its first line long after. */
static void spare_that_others_have_open_has_the_name_again_when_all_is_quiet(void **state)
{
	const uint64_t next = write_first_and_change();
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	assert_int_equal(step(next), 1);
	assert_int_equal(step(writer.written_ns + 1000 * MS), 0);
	fputs("7000 10 foreign\n", file);
	fclose(file);
	check_map("0 0 --\n00000000 0 fg\n7000 10 foreign\n");
	check_text(beside, "0 0 fg\n1000 10 first\n3000 10 second\n");
	assert_int_equal(count_files(), 2);
}

static void a_line_longer_than_a_block_is_taken_out(void **state)
{
	const struct perf_map_lines lines = {.offset = 3, .len = 3 * 4096 + 5};
	char text[3 * 4096 + 16];
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(perf_map_pair_blank(fileno(file), lines), 0);
	assert_int_equal(fread(text, 1, sizeof(text), file), lines.offset + lines.len);
	assert_int_equal(strspn(text + 3, "0"), lines.len - strlen(" 0 fg\n"));
	assert_memory_equal(text + 3 + lines.len - strlen(" 0 fg\n"), " 0 fg\n", 6);
	fclose(file);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines in order, which the caller frees with *ret_text. */
static size_t sorted_lines(char **ret_text, char *lines[], size_t max)
{
	size_t n = 0;

	assert_true(file_read_whole(path, 4 << 20, ret_text) >= 0);
	for (char *line = strtok(*ret_text, "\n"); line && n < max; line = strtok(NULL, "\n")) {
		if (strncmp(line, "00", 2) != 0) /* not one that was taken out */
			lines[n++] = line;
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	return n;
}

#define MANY	   6000
#define MOST_LINES 60000

/* The map has the lines that one would that is made at once, in its place. Returns how many. */
static size_t check_as_made_anew(void)
{
	static char *copied[MOST_LINES], *anew[MOST_LINES];
	char *copied_text, *anew_text;
	const size_t n = sorted_lines(&copied_text, copied, MOST_LINES);

	assert_int_equal(unlink(path), 0);
	assert_true(whole_map_write(dir, PID, code, PERF_MAP_MAX_BYTES) == 0);
	assert_int_equal(sorted_lines(&anew_text, anew, MOST_LINES), n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(copied[i], anew[i]);
	free(copied_text);
	free(anew_text);
	return n;
}

/* Of a map larger than what is copied at once, so many of the ranges are replaced. */
static void check_replaced(size_t every)
{
	for (size_t i = 0; i < MANY; i++)
		add(0x100000 + i * 32, i % 2 ? "of_even_length" : "of_another", 1000 * MS);
	assert_int_equal(step_on(1027 * MS), 1);
	for (size_t i = 0; i < MANY; i += every)
		add(0x100008 + i * 32, "usurper", 1040 * MS);
	assert_int_equal(step_on(appears_ns()), 1);
	assert_int_equal(check_as_made_anew(), 1 + MANY + MANY / every); /* with what is left */
}

static void a_copy_is_what_would_be_made_anew(void **state)
{
	check_replaced(100);
}

static void so_is_a_copy_of_which_more_was_replaced_than_is_remembered(void **state)
{
	check_replaced(2);
}

/* Code comes, goes and is replaced, before drafts and after them, with pauses and without. */
static void maps_of_code_that_changes_all_the_time_are_what_would_be_made_anew(void **state)
{
	static const char *const names[] = {"a", "of_even_length", "of_a_length_that_is_odd"};
	uint64_t now_ns = 1000 * MS;
	size_t appeared = 0, reuses = 0;

	srandom(1);
	for (int i = 0; i < 20000; i++) {
		const uint64_t addr = 0x100000 + (uint64_t)(random() % 2000) * 8;
		const uint64_t due_ns = map_writer_due_ns(&writer);

		now_ns += (uint64_t)(random() % 2) * MS;
		if (random() % 3 == 0)
			code_map_remove(code, addr, now_ns);
		else if (!code_map_find(code, addr, now_ns) || random() % 2)
			add_if_new(addr, names[random() % 3], now_ns);
		if (random() % 500 == 0)
			code_map_expire(code, now_ns, 10);
		if (due_ns && now_ns >= due_ns && step(now_ns) == 1 && ++appeared % 10 == 0) {
			reuses += writer.pair->reuses;
			check_as_made_anew(); /* which takes the place of the map: it starts anew */
		}
	}
	assert_true(appeared > 50);
	assert_true(reuses > appeared / 2);
}

static void a_map_that_somebody_wrote_to_is_left_and_ours_is_beside(void **state)
{
	const uint64_t next = write_first_and_change();
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	write_foreign(file, "7000 10 foreign\n");
	add(0x800, "lower", next - 50 * MS);
	assert_int_equal(step(next), 1);
	write_foreign(file, "8000 10 later\n");
	fclose(file);
	check_map("0 0 --\n00000000 0 fg\n7000 10 foreign\n8000 10 later\n");
	check_text(beside, "0 0 fg\n800 10 lower\n1000 10 first\n3000 10 second\n");
}

/* Nothing of ours is in a file that its writer has emptied. */
static void a_map_that_somebody_began_anew_is_left_as_it_is(void **state)
{
	const uint64_t next = write_first_and_change();
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	write_foreign(file, "7000 10 foreign\n");
	fclose(file);
	assert_int_equal(step(next), 1);
	check_map("7000 10 foreign\n");
	check_text(beside, "0 0 fg\n1000 10 first\n3000 10 second\n");
}

static void ours_has_the_name_again_once_the_other_is_gone(void **state)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs("7000 10 foreign\n", file);
	fclose(file);
	add(0x1000, "first", 1000 * MS);
	assert_int_equal(step(1027 * MS), 1);
	assert_true(writer.is_beside);
	check_map("7000 10 foreign\n");
	check_text(beside, "0 0 fg\n1000 10 first\n");
	assert_int_equal(unlink(path), 0);
	add(0x3000, "second", 1040 * MS);
	assert_int_equal(step(appears_ns()), 1);
	assert_false(writer.is_beside);
	check_map("0 0 fg\n1000 10 first\n3000 10 second\n");
	assert_int_equal(count_files(), 1);
}

/* Of a process whose second generator has written to it just before the process ended. */
static void map_that_somebody_wrote_to_last_is_not_ours_when_its_writer_ends(void **state)
{
	FILE *file;

	write_first_and_change();
	file = fopen(path, "a");
	assert_non_null(file);
	write_foreign(file, "7000 10 foreign\n");
	fclose(file);
	map_writer_give_up(&writer);
	check_map("0 0 --\n00000000 0 fg\n7000 10 foreign\n");
}

static void a_map_of_somebody_elses_is_made_anew(void **state)
{
	const uint64_t next = write_first_and_change();

	assert_int_equal(chmod(path, 0666), 0); /* so that it could have been anybody */
	add(0x800, "lower", next - 50 * MS);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n800 10 lower\n1000 10 first\n3000 10 second\n");
}

static void a_map_that_is_gone_is_made_anew(void **state)
{
	const uint64_t next = write_first_and_change();

	assert_int_equal(unlink(path), 0);
	add(0x800, "lower", next - 50 * MS);
	assert_int_equal(step(next), 1);
	check_map("0 0 fg\n800 10 lower\n1000 10 first\n3000 10 second\n");
}

static void maps_are_in_the_style_that_their_owner_chose(void **state)
{
	const struct code_range range = {
		.addr = 0x1000, .size = 16, .class_name = "a/B", .name = "c"};

	writer.style.dotted = true;
	assert_int_equal(code_map_add(code, &range, false), 1);
	map_writer_mark(&writer, code, &range, 1000 * MS);
	assert_int_equal(step(2000 * MS), 1);
	check_map("0 0 fg\n1000 10 a.B::c\n");
}

static void another_program_starts_anew(void **state)
{
	const uint64_t next = write_first_and_change();

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
	add(0x1000, "first", 1000 * MS);
	assert_int_equal(map_writer_step(&writer, "/nonexistent/fg", PID, code, 1100 * MS),
			 -ENOENT);
	assert_int_equal(writer.failures, 1);
	assert_int_equal(step(2100 * MS - 1), 0);
	assert_int_equal(step(appears_ns()), 1);
	check_map("0 0 fg\n1000 10 first\n");
}

static void without_memory_there_is_no_draft_and_the_map_comes_later(void **state)
{
	add(0x1000, "first", 1000 * MS);
	fails_calloc_bytes = sizeof(struct perf_map_pair);
	assert_int_equal(step(1027 * MS), -ENOMEM);
	fails_calloc_bytes = 0;
	assert_null(writer.draft);
	assert_int_equal(writer.failures, 1);
	assert_int_equal(step(2027 * MS), 0);
	assert_int_equal(step(appears_ns()), 1);
	check_map("0 0 fg\n1000 10 first\n");
}

static void who_gives_up_leaves_no_draft(void **state)
{
	write_first_and_change();
	assert_int_equal(step(map_writer_due_ns(&writer)), 0);
	map_writer_give_up(&writer);
	assert_int_equal(count_files(), 1);
	assert_int_equal(map_writer_due_ns(&writer), 0);
}

#define WRITER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/*
 * While the pieces are written, ranges come and go: in those that are written and in those that are
 * still to come.
 */
static void a_large_map_is_written_in_pieces(void **state)
{
	enum { COUNT = 3 * PERF_MAP_PIECE + 100 };
	uint64_t at = 1000 * MS;
	size_t pieces = 0, left = COUNT;

	for (uint64_t i = 0; i < COUNT; i++)
		add(0x100000 + i * 16, "first", at);
	for (; step(at) != 1; at += MS) {
		assert_true(at < 60000 * MS);
		if (!writer.draft || writer.draft->is_whole)
			continue;
		pieces++;
		for (uint64_t i = pieces; i < COUNT; i += 1000, left--) {
			code_map_remove(code, 0x100000 + i * 16, at);
			map_writer_mark(&writer, code, NULL, at);
		}
		code_map_expire(code, at + MS, 0);
		add(0x10 * pieces, "later", at);
		left++;
	}
	assert_int_equal(pieces, 3);
	assert_int_equal(check_as_made_anew(), 1 + left);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WRITER_TEST(nothing_changed_nothing_due),
		WRITER_TEST(a_large_map_is_written_in_pieces),
		WRITER_TEST(maps_appear_100_ms_apart),
		WRITER_TEST(what_comes_after_the_draft_was_begun_is_in_the_map),
		WRITER_TEST(what_is_kept_for_the_next_map_goes_after_a_second),
		WRITER_TEST(a_line_that_was_replaced_after_the_draft_was_begun_is_taken_out),
		WRITER_TEST(a_map_begins_as_the_last_one_did),
		WRITER_TEST(a_map_comes_as_soon_as_something_came_at_its_tick),
		WRITER_TEST(a_map_that_was_late_does_not_make_the_next_one_late),
		WRITER_TEST(a_line_that_was_replaced_is_taken_out),
		WRITER_TEST(a_line_longer_than_a_block_is_taken_out),
		WRITER_TEST(a_map_is_written_into_the_file_of_the_one_before_the_last),
		WRITER_TEST(a_map_that_somebody_reads_does_not_change),
		WRITER_TEST(what_others_write_into_a_spare_has_the_name_again),
		WRITER_TEST(spare_that_others_have_open_has_the_name_again_when_all_is_quiet),
		WRITER_TEST(maps_of_code_that_changes_all_the_time_are_what_would_be_made_anew),
		WRITER_TEST(a_copy_is_what_would_be_made_anew),
		WRITER_TEST(so_is_a_copy_of_which_more_was_replaced_than_is_remembered),
		WRITER_TEST(a_map_that_somebody_wrote_to_is_left_and_ours_is_beside),
		WRITER_TEST(a_map_that_somebody_began_anew_is_left_as_it_is),
		WRITER_TEST(ours_has_the_name_again_once_the_other_is_gone),
		WRITER_TEST(map_that_somebody_wrote_to_last_is_not_ours_when_its_writer_ends),
		WRITER_TEST(a_map_of_somebody_elses_is_made_anew),
		WRITER_TEST(a_map_that_is_gone_is_made_anew),
		WRITER_TEST(maps_are_in_the_style_that_their_owner_chose),
		WRITER_TEST(another_program_starts_anew),
		WRITER_TEST(a_failed_write_is_tried_again_after_a_second),
		WRITER_TEST(without_memory_there_is_no_draft_and_the_map_comes_later),
		WRITER_TEST(who_gives_up_leaves_no_draft),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
