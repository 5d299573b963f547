// SPDX-License-Identifier: Apache-2.0
/* Lines that are written by a thread, to somebody who may not read them. */
#include "sinks/dump_queue.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX_BYTES 4096
#define FOR_EVER  UINT64_C(1000000000000)

struct fixture {
	int pipe[2];
	struct dump_queue *queue;
};

static int set_up(void **state)
{
	struct fixture *const fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	assert_int_equal(pipe(fixture->pipe), 0);
	assert_int_equal(dump_queue_new(fixture->pipe[1], MAX_BYTES, &fixture->queue), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *const fixture = *state;

	close(fixture->pipe[0]);
	close(fixture->pipe[1]);
	free(fixture);
	return 0;
}

static void add(struct fixture *fixture, const char *line)
{
	dump_queue_add(fixture->queue, line, strlen(line));
}

static struct dump_queue_stats stats_of(struct fixture *fixture)
{
	struct dump_queue_stats stats;

	dump_queue_stats(fixture->queue, &stats);
	return stats;
}

/* Nobody reads: there is soon no room for more. */
static void add_until_lost(struct fixture *fixture)
{
	while (stats_of(fixture).lost == 0)
		add(fixture, "one of many lines that are all alike");
}

static void lines_are_written_in_order(void **state)
{
	struct fixture *const fixture = *state;
	char text[64] = "";

	add(fixture, "first");
	add(fixture, "second");
	assert_true(dump_queue_close(fixture->queue, FOR_EVER));
	assert_int_equal(read(fixture->pipe[0], text, sizeof(text) - 1), 13);
	assert_string_equal(text, "first\nsecond\n");
}

/* What the lines that were read say of those that are missing, and how many they are. */
struct told {
	unsigned long long lines, lost;
};

static void count(const char *line, struct told *told)
{
	unsigned long long lost = 0;

	if (sscanf(line, "lost %llu lines that nobody read", &lost) == 1)
		told->lost += lost;
	else
		told->lines++;
}

static void lines_that_nobody_reads_are_lost_and_said_to_be(void **state)
{
	struct fixture *const fixture = *state;
	FILE *const reader = fdopen(dup(fixture->pipe[0]), "r");
	struct told told = {0};
	uint64_t lines;
	char line[128];

	assert_non_null(reader);
	add_until_lost(fixture);
	/* Somebody reads again. */
	while (told.lost == 0) {
		add(fixture, "later");
		assert_non_null(fgets(line, sizeof(line), reader));
		count(line, &told);
	}
	lines = stats_of(fixture).lines;
	assert_int_equal(fcntl(fixture->pipe[1], F_SETPIPE_SZ, 1 << 20), 1 << 20);
	assert_true(dump_queue_close(fixture->queue, FOR_EVER));
	close(fixture->pipe[1]);
	while (fgets(line, sizeof(line), reader))
		count(line, &told);
	assert_int_equal(told.lines + told.lost, lines);
	fclose(reader);
	fixture->pipe[1] = dup(fixture->pipe[0]); /* for tear_down */
}

static void fill(int fd)
{
	const int flags = fcntl(fd, F_GETFL);

	assert_int_equal(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
	while (write(fd, ".", 1) == 1)
		continue;
	assert_int_equal(fcntl(fd, F_SETFL, flags), 0);
}

static void the_end_does_not_wait_for_who_does_not_read(void **state)
{
	struct fixture *const fixture = *state;

	fill(fixture->pipe[1]);
	add(fixture, "nobody reads this");
	assert_false(dump_queue_close(fixture->queue, 1));
	/* The thread that is left behind comes to its end before the pipe does. */
	for (char c = '.'; c != '\n';)
		assert_int_equal(read(fixture->pipe[0], &c, 1), 1);
}

static void lines_that_cannot_be_written_are_lost(void **state)
{
	struct fixture *const fixture = *state;

	signal(SIGPIPE, SIG_IGN);
	close(fixture->pipe[0]);
	fixture->pipe[0] = dup(fixture->pipe[1]);
	add(fixture, "lost");
	while (stats_of(fixture).lost == 0)
		continue;
	add(fixture, "lost, too");
	assert_int_equal(stats_of(fixture).lost, 2);
	assert_true(dump_queue_close(fixture->queue, FOR_EVER));
}

static void a_line_for_which_there_is_never_room_is_lost(void **state)
{
	struct fixture *const fixture = *state;
	static char line[MAX_BYTES];

	memset(line, 'a', sizeof(line) - 1);
	add(fixture, line);
	assert_int_equal(stats_of(fixture).lost, 1);
	assert_true(dump_queue_close(fixture->queue, FOR_EVER));
	assert_int_equal(read(fixture->pipe[0], line, sizeof(line)),
			 strlen("lost   1 lines that nobody read\n"));
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(lines_are_written_in_order),
		CLAIM(lines_that_nobody_reads_are_lost_and_said_to_be),
		CLAIM(the_end_does_not_wait_for_who_does_not_read),
		CLAIM(lines_that_cannot_be_written_are_lost),
		CLAIM(a_line_for_which_there_is_never_room_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
