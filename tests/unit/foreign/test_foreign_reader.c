// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about foreign/foreign_reader.h and foreign_file.h: a map of this process's own, which
 * grows and is replaced, and a directory in the place of a container's root with things that bite.
 * All claims hold with parsers and without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "confine/parser.h"
#include "foreign/foreign_reader.h"

static char root[TEMP_DIR_BYTES];
static char own[64]; /* /tmp/perf-<our PID>.map */
static struct foreign_owner owner;
static struct foreign_reader reader;
static struct foreign_reader_stats stats;

static int set_up_group(void **state)
{
	char tmp[TEMP_DIR_BYTES + 8];

	owner = (struct foreign_owner){.pid = getpid(), .inner_pid = getpid()};
	snprintf(own, sizeof(own), "/tmp/perf-%d.map", (int)getpid());
	temp_dir_make(root);
	snprintf(tmp, sizeof(tmp), "%s/tmp", root);
	return mkdir(tmp, 0755);
}

static int tear_down_group(void **state)
{
	temp_dir_remove(root);
	return 0;
}

static const struct parser_limits roles[PARSER_ROLES] = {
	[PARSER_MAPS] = {.serve = foreign_parser_serve,
			 .memory_bytes = UINT64_C(1) << 40,
			 .cpu_seconds = 10,
			 .has_spares = true},
};

static bool has_parsers;

static int set_up_parsers(void **state)
{
	has_parsers = true;
	return zygote_start() < 0 ? -1 : set_up_group(state);
}

static int tear_down_parsers(void **state)
{
	parser_drop_spares();
	zygote_stop();
	return tear_down_group(state);
}

static int set_up(void **state)
{
	unlink(own);
	stats = (struct foreign_reader_stats){0};
	return 0;
}

static int tear_down(void **state)
{
	foreign_reader_fini(&reader);
	unlink(own);
	return 0;
}

/* Returns the bytes that were read. A parser that has not answered is asked again. */
static size_t step_at_most(size_t bytes)
{
	struct foreign_room room = {.bytes = bytes, .wait_ns = UINT64_MAX, .take_ns = UINT64_MAX};
	const uint64_t before = stats.read_bytes;

	reader.look_ns = 0;
	do
		foreign_reader_step(&reader, &owner, &room, &stats);
	while (reader.parser && room.bytes > 0);
	while (reader.parser)
		foreign_reader_step(&reader, &owner, &(struct foreign_room){.wait_ns = UINT64_MAX},
				    &stats);
	return stats.read_bytes - before;
}

static void step(void)
{
	step_at_most(SIZE_MAX);
}

static const char *name_at(uint64_t addr)
{
	const struct code_range *range =
		reader.map ? foreign_map_find(reader.map, addr, clock_now_ns()) : NULL;

	return range ? range->name : "";
}

/* ---- growth ---- */

static void what_is_appended_is_read_and_nothing_twice(void **state)
{
	files_append(own, "1000 10 one\n");
	step();
	assert_string_equal(name_at(0x1000), "one");
	files_append(own, "2000 10 two\n");
	step();
	step();
	assert_string_equal(name_at(0x2000), "two");
	assert_int_equal(stats.maps.text.lines, 2);
	assert_int_equal(stats.read_bytes, 24);
}

static void until_the_files_end_is_read_lines_of_the_past_may_come(void **state)
{
	const uint64_t before_ns = clock_now_ns();
	uint64_t opened_ns, later_ns;

	assert_false(foreign_reader_is_behind(&reader, before_ns, before_ns)); /* no file */
	files_append(own, "1000 10 one\n");
	step_at_most(1);
	opened_ns = reader.opened_ns;
	later_ns = opened_ns + FOREIGN_PATIENCE_NS;
	assert_true(foreign_reader_is_behind(&reader, before_ns, opened_ns));
	assert_true(foreign_reader_is_behind(&reader, opened_ns + 1, later_ns - 1));
	assert_false(foreign_reader_is_behind(&reader, opened_ns + 1, later_ns));
	step();
	assert_false(foreign_reader_is_behind(&reader, before_ns, opened_ns));
	assert_false(foreign_reader_is_behind(&reader, opened_ns, opened_ns));
	later_ns = reader.whole_ns + 1;
	assert_true(foreign_reader_is_behind(&reader, later_ns, later_ns));
	assert_false(foreign_reader_is_behind(&reader, reader.whole_ns + 1,
					      reader.whole_ns + FOREIGN_PATIENCE_NS));
	/* A parser that answers late takes one step more. */
	assert_true(has_parsers ? stats.steps >= 2 : stats.steps == 2);
	foreign_reader_close(&reader);
	assert_false(foreign_reader_is_behind(&reader, later_ns, later_ns));
}

/* As of a process with an agent, whose perf map is read only while it is wanted. */
static void a_map_that_is_wanted_may_have_any_lines_until_it_was_looked_for(void **state)
{
	const uint64_t now_ns = clock_now_ns();

	assert_false(foreign_reader_is_wanted(&reader, now_ns));
	foreign_reader_want(&reader, now_ns);
	assert_true(foreign_reader_is_wanted(&reader, now_ns));
	assert_true(foreign_reader_is_behind(&reader, now_ns, now_ns));
	assert_false(foreign_reader_is_behind(&reader, now_ns, now_ns + FOREIGN_PATIENCE_NS));
	step(); /* there is none */
	assert_false(foreign_reader_is_behind(&reader, now_ns, now_ns));
	assert_false(foreign_reader_is_wanted(&reader, now_ns + FOREIGN_WANTED_NS));
}

static void a_map_that_is_wanted_again_is_looked_at_at_once(void **state)
{
	const uint64_t now_ns = clock_now_ns() + 2 * FOREIGN_WANTED_NS;

	files_append(own, "1000 10 one\n");
	foreign_reader_want(&reader, clock_now_ns());
	step();
	assert_false(foreign_reader_is_behind(&reader, now_ns, now_ns)); /* it was read long ago */
	foreign_reader_want(&reader, now_ns);
	assert_int_equal(reader.next_ns, 0);
	assert_int_equal(reader.look_ns, 0);
	assert_true(foreign_reader_is_behind(&reader, now_ns, now_ns));
}

/* Each file is new, and is not read to its end. */
static void a_process_that_replaces_its_map_again_and_again_delays_nobody(void **state)
{
	const uint64_t ran_ns = clock_now_ns();

	files_append(own, "1000 10 one\n");
	step_at_most(1);
	assert_true(foreign_reader_is_behind(&reader, ran_ns, reader.opened_ns));
	reader.opened_ns = ran_ns + FOREIGN_PATIENCE_NS; /* as of a file that has come since */
	assert_true(foreign_reader_is_behind(&reader, ran_ns, ran_ns + FOREIGN_PATIENCE_NS - 1));
	assert_false(foreign_reader_is_behind(&reader, ran_ns, ran_ns + FOREIGN_PATIENCE_NS));
}

static void a_process_that_writes_nothing_has_no_map(void **state)
{
	step();
	assert_null(reader.map);
	assert_int_equal(stats.refused, 0);
}

static void a_map_that_became_shorter_is_read_anew(void **state)
{
	files_append(own, "1000 10 one\n2000 10 two\n");
	step();
	assert_int_equal(truncate(own, 0), 0);
	files_append(own, "1000 10 uno\n");
	step();
	assert_string_equal(name_at(0x1000), "uno");
	assert_int_equal(stats.restarts, 1);
}

static void another_map_under_the_name_is_read_from_its_beginning(void **state)
{
	char other[80];

	files_append(own, "1000 10 one\n");
	step();
	snprintf(other, sizeof(other), "%s.new", own);
	files_append(other, "1000 10 uno\n3000 10 tre\n");
	assert_int_equal(rename(other, own), 0);
	step();
	assert_string_equal(name_at(0x1000), "uno");
	assert_string_equal(name_at(0x3000), "tre");
	assert_int_equal(stats.restarts, 1);
}

static void the_last_lines_are_read_when_the_name_is_gone(void **state)
{
	files_append(own, "1000 10 one\n");
	step();
	files_append(own, "2000 10 two\n");
	unlink(own);
	step();
	assert_string_equal(name_at(0x2000), "two");
}

static void a_step_ends_at_its_bound(void **state)
{
	FILE *file = fopen(own, "w");

	for (int i = 0; i < 100000; i++)
		fprintf(file, "%x 10 name%d\n", 0x100000 + i * 16, i);
	fclose(file);
	assert_true(step_at_most(1) < 1u << 20);
	assert_int_equal(reader.whole_ns, 0);
	step();
	assert_string_equal(name_at(0x100000 + 99999 * 16), "name99999");
	assert_true(reader.whole_ns > 0);
}

static void a_fifo_in_its_place_is_refused_once_and_does_not_block(void **state)
{
	assert_int_equal(mkfifo(own, 0644), 0);
	step();
	step();
	assert_null(reader.map);
	assert_int_equal(stats.refused, 1);
}

static void a_map_of_ours_is_left_alone(void **state)
{
	files_append(own, "0 0 fg\n1000 10 java\n");
	step();
	assert_null(reader.map);
}

static void other_code_begins_with_nothing(void **state)
{
	files_append(own, "1000 10 one\n");
	step();
	foreign_reader_restart(&reader);
	assert_null(reader.map);
	assert_false(reader.is_open);
}

/* A name of the line that a piece ends in must not be cut. */
static void lines_go_on_in_the_next_piece(void **state)
{
	const size_t lines = FOREIGN_PIECE_BYTES * 3 / 19;
	FILE *file = fopen(own, "w");

	for (size_t i = 0; i < lines; i++)
		fprintf(file, "%06zx 10 name%04zx\n", 0x100000 + i * 16, i);
	fclose(file);
	step();
	assert_int_equal(stats.maps.text.lines, lines);
	assert_int_equal(stats.maps.text.broken, 0);
	assert_int_equal(foreign_map_count(reader.map), lines);
	for (size_t i = 0; i < lines; i++) {
		char expected[16];

		snprintf(expected, sizeof(expected), "name%04zx", i);
		assert_string_equal(name_at(0x100000 + i * 16), expected);
	}
}

static void what_is_broken_or_cut_is_counted(void **state)
{
	char name[FOREIGN_NAME_BYTES * 3];

	memset(name, 'n', sizeof(name));
	memcpy(name, "2000 10 ", 8);
	name[sizeof(name) - 2] = '\n';
	name[sizeof(name) - 1] = '\0';
	files_append(own, "0 0 none\nword\n1000 10 \x01one\n");
	files_append(own, name);
	files_append(own, "3000 10 th");
	step();
	files_append(own, "ree\n");
	step();
	assert_string_equal(name_at(0x1000), "?one");
	assert_int_equal(strlen(name_at(0x2000)), FOREIGN_NAME_BYTES);
	assert_string_equal(name_at(0x3000), "three");
	assert_int_equal(stats.maps.text.broken, 2);
	assert_int_equal(stats.maps.text.cut, 1);
	assert_int_equal(stats.maps.text.lines, 3);
}

/* ---- hostile ground ---- */

static void path_in_root(char *ret, size_t size, const char *name)
{
	snprintf(ret, size, "%s/tmp/%s", root, name);
}

static int open_in_root(const char *name)
{
	char path[80];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "tmp/%s", name);
	fd = foreign_file_open_at(root, path, &owner, &st);
	if (fd >= 0)
		close(fd);
	return fd;
}

static void a_regular_file_is_opened(void **state)
{
	char path[80];

	path_in_root(path, sizeof(path), "regular");
	files_append(path, "1000 10 one\n");
	assert_true(open_in_root("regular") >= 0);
}

static void a_link_does_not_lead_out_of_the_root(void **state)
{
	char path[80];

	files_append(own, "1000 10 outside\n");
	path_in_root(path, sizeof(path), "link");
	assert_int_equal(symlink(own, path), 0);
	assert_int_equal(open_in_root("link"), -ENOENT);
	path_in_root(path, sizeof(path), "up");
	assert_int_equal(symlink("../../../../../../etc/passwd", path), 0);
	assert_int_equal(open_in_root("up"), -ENOENT);
	path_in_root(path, sizeof(path), "magic");
	assert_int_equal(symlink("/proc/self/fd/0", path), 0);
	assert_int_equal(open_in_root("magic"), -ENOENT);
}

static void what_is_no_regular_file_is_refused(void **state)
{
	char path[80];

	path_in_root(path, sizeof(path), "directory");
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(open_in_root("directory"), -EINVAL);
	path_in_root(path, sizeof(path), "fifo");
	assert_int_equal(mkfifo(path, 0644), 0);
	assert_int_equal(open_in_root("fifo"), -EINVAL);
}

static void a_file_of_another_user_is_refused(void **state)
{
	char path[80];

	path_in_root(path, sizeof(path), "foreign");
	files_append(path, "1000 10 evil\n");
	if (chown(path, 12345, 12345) < 0)
		skip(); /* only root can make one */
	assert_int_equal(open_in_root("foreign"), -EACCES);
}

static void a_file_that_is_older_than_the_process_is_refused(void **state)
{
	const struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
	char path[80];

	path_in_root(path, sizeof(path), "old");
	files_append(path, "1000 10 stale\n");
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	owner.began_at = 2000000;
	assert_int_equal(open_in_root("old"), -ESTALE);
	owner.began_at = 0;
	assert_true(open_in_root("old") >= 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(what_is_appended_is_read_and_nothing_twice),
		CASE(until_the_files_end_is_read_lines_of_the_past_may_come),
		CASE(a_map_that_is_wanted_may_have_any_lines_until_it_was_looked_for),
		CASE(a_map_that_is_wanted_again_is_looked_at_at_once),
		CASE(a_process_that_replaces_its_map_again_and_again_delays_nobody),
		CASE(a_process_that_writes_nothing_has_no_map),
		CASE(a_map_that_became_shorter_is_read_anew),
		CASE(another_map_under_the_name_is_read_from_its_beginning),
		CASE(the_last_lines_are_read_when_the_name_is_gone),
		CASE(a_step_ends_at_its_bound),
		CASE(a_fifo_in_its_place_is_refused_once_and_does_not_block),
		CASE(a_map_of_ours_is_left_alone),
		CASE(other_code_begins_with_nothing),
		CASE(lines_go_on_in_the_next_piece),
		CASE(what_is_broken_or_cut_is_counted),
		CASE(a_regular_file_is_opened),
		CASE(a_link_does_not_lead_out_of_the_root),
		CASE(what_is_no_regular_file_is_refused),
		CASE(a_file_of_another_user_is_refused),
		CASE(a_file_that_is_older_than_the_process_is_refused),
	};

	zygote_become(argc, argv, roles);
	return cmocka_run_group_tests(tests, set_up_group, tear_down_group) +
	       cmocka_run_group_tests(tests, set_up_parsers, tear_down_parsers);
}
