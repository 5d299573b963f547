// SPDX-License-Identifier: Apache-2.0
/*
 * Perf maps that take over their parser: the first word of a piece says what its parser does. The
 * collector loses that piece and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "common/files.h"
#include "confine/parser.h"
#include "confine/parser_text.h"
#include "foreign/foreign_reader.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char own[64]; /* /tmp/perf-<our PID>.map */
static struct foreign_owner owner;
static struct foreign_reader reader;
static struct foreign_reader_stats stats;

/* ---- in the parser ---- */

struct lie {
	const char *word;
	struct foreign_answer_head head;
	uint64_t addr; /* of the one record, if there is one */
	uint32_t size;
	uint16_t len;
	size_t sent; /* of the record and the line behind it */
};

#define RECORD(bytes)	   .head = {.records_bytes = 14 + (bytes)}, .sent = 14 + (bytes)
#define WITH(field, value) .head = {.records_bytes = 15, .field = (value)}, .sent = 15

static const struct lie lies[] = {
	{"records_past_all", .head = {.records_bytes = UINT64_MAX - 31}},
	{"records_too_many", .head = {.records_bytes = UINT64_C(1) << 30}},
	{"line_too_long", .head = {.line_bytes = FOREIGN_LINE_BYTES + 1},
	 .sent = FOREIGN_LINE_BYTES + 1},
	{"odd_bool", .head = {.is_long = 2}},
	{"half_a_head_of_a_record", .head = {.records_bytes = 13}, .sent = 13},
	{"no_size", RECORD(1), .addr = 1, .len = 1},
	{"past_the_last_address", RECORD(1), .addr = UINT64_MAX, .size = 1, .len = 1},
	{"no_name", RECORD(0), .addr = 1, .size = 1},
	{"long_name", RECORD(1025), .addr = 1, .size = 1, .len = 1025},
	{"name_past_its_record", RECORD(1), .addr = 1, .size = 1, .len = 2},
	{"more_lines_than_bytes", WITH(broken, UINT64_MAX), .addr = 1, .size = 1, .len = 1},
	{"more_cut_than_lines", WITH(cut, 2), .addr = 1, .size = 1, .len = 1},
	{"end_in_the_answer", .head = {.records_bytes = 15}, .addr = 1, .size = 1, .len = 1,
	 .sent = 14},
};

#define LIES (sizeof(lies) / sizeof(lies[0]))

static bool says(const char *piece, const char *word)
{
	return strncmp(piece, word, strlen(word)) == 0;
}

static void tell(int sock, const struct lie *lie)
{
	char bytes[4096] = {0};

	memcpy(bytes, &lie->addr, 8);
	memcpy(bytes + 8, &lie->size, 4);
	memcpy(bytes + 12, &lie->len, 2);
	memset(bytes + 14, 'a', 2000);
	parser_send(sock, &lie->head, sizeof(lie->head), -1);
	parser_send(sock, bytes, lie->sent, -1);
}

/* Sends the record of a name with a NUL and controls in it, and an array that is an open line. */
static void tell_unclean(int sock)
{
	static const char record[] = "\0\x10\0\0\0\0\0\0\x10\0\0\0\x05\0a\0\n\xff\x1b";
	const struct foreign_answer_head head = {.records_bytes = sizeof(record) - 1};

	parser_send(sock, &head, sizeof(head), -1);
	parser_send(sock, record, sizeof(record) - 1, -1);
}

static void serve(int sock)
{
	struct foreign_text text;
	char *piece, byte, *answer;
	size_t len;

	if (parser_text_receive(sock, &text, sizeof(text), &piece, &len) < 0)
		return;
	for (size_t i = 0; i < LIES; i++) {
		if (says(piece, lies[i].word)) {
			tell(sock, &lies[i]);
			return;
		}
	}
	if (says(piece, "die"))
		abort();
	if (says(piece, "forbidden"))
		socket(AF_UNIX, SOCK_STREAM, 0);
	if (says(piece, "hang"))
		while (recv(sock, &byte, 1, 0) != 0)
			;
	if (says(piece, "unclean"))
		tell_unclean(sock);
	else if (foreign_answer_make(&text, piece, len, &answer, &len) == 0)
		parser_send(sock, answer, len, -1);
}

/* ---- in the collector ---- */

static const struct parser_limits roles[PARSER_ROLES] = {
	[PARSER_MAPS] = {.serve = serve, .memory_bytes = UINT64_C(1) << 40, .cpu_seconds = 10},
};

static int start(void **state)
{
	owner = (struct foreign_owner){.pid = getpid(), .inner_pid = getpid()};
	snprintf(own, sizeof(own), "/tmp/perf-%d.map", (int)getpid());
	stats = (struct foreign_reader_stats){0};
	return zygote_start() < 0;
}

static int stop(void **state)
{
	foreign_reader_fini(&reader);
	unlink(own);
	zygote_stop();
	return 0;
}

static uint64_t take_ns = UINT64_MAX;

static void step_once(uint64_t wait_ns)
{
	struct foreign_room room = {.bytes = SIZE_MAX, .wait_ns = wait_ns, .take_ns = take_ns};

	foreign_reader_step(&reader, &owner, &room, &stats);
}

/* Until the file has been read to its end: a parser may not be had at once, on a busy machine. */
static void read_all(void)
{
	uint64_t whole_ns;

	do {
		whole_ns = reader.whole_ns;
		step_once(UINT64_MAX);
	} while (reader.parser || reader.whole_ns == whole_ns);
}

static void begin_reading(void)
{
	while (!reader.parser)
		step_once(0);
}

static const char *name_at(uint64_t addr)
{
	const struct code_range *range =
		reader.map ? foreign_map_find(reader.map, addr, UINT64_MAX) : NULL;

	return range ? range->name : "";
}

static void assert_costs_one_piece(const char *word)
{
	const uint64_t lost = stats.lost, lines = stats.maps.text.lines;
	char line[64];

	snprintf(line, sizeof(line), "%s\n", word);
	files_append(own, line);
	read_all();
	assert_int_equal(stats.lost, lost + 1);
	assert_int_equal(stats.maps.text.lines, lines);
	assert_int_equal(stats.maps.text.broken, 0);
	snprintf(line, sizeof(line), "%zx 10 %s\n", 0x1000 * (size_t)(lines + 1), word);
	files_append(own, line);
	read_all();
	assert_string_equal(name_at(0x1000 * (lines + 1)), word);
	assert_int_equal(stats.lost, lost + 1);
}

static void each_lie_costs_one_piece(void **state)
{
	for (size_t i = 0; i < LIES; i++)
		assert_costs_one_piece(lies[i].word);
	assert_int_equal(foreign_map_count(reader.map), LIES);
}

static void a_parser_that_dies_costs_one_piece(void **state)
{
	struct zygote_stats parsers;

	assert_costs_one_piece("die");
	assert_costs_one_piece("forbidden");
	do {
		zygote_tend();
		zygote_stats(&parsers);
	} while (parsers.died < 2);
	assert_int_equal(parsers.forbidden, 1);
}

/* The rest of the line would be another line. */
static void what_follows_a_lost_piece_in_its_line_is_broken(void **state)
{
	files_append(own, "die 1000 10 ");
	read_all();
	assert_int_equal(stats.lost, 1);
	files_append(own, "2000 10 wrong\n3000 10 right\n");
	read_all();
	assert_int_equal(stats.lost, 1);
	assert_int_equal(stats.maps.text.broken, 1);
	assert_string_equal(name_at(0x2000), "");
	assert_string_equal(name_at(0x3000), "right");
}

static void names_of_a_parser_are_cleaned(void **state)
{
	files_append(own, "unclean\n");
	read_all();
	assert_int_equal(stats.lost, 0);
	assert_string_equal(name_at(0x1000), "a????");
}

static void nobody_waits_for_a_parser_that_hangs(void **state)
{
	struct zygote_stats parsers;

	files_append(own, "hang\n");
	begin_reading();
	for (int i = 0; i < 100; i++)
		step_once(0);
	assert_non_null(reader.parser);
	assert_int_equal(stats.lost, 0);
	clock_pretend(clock_now_ns() + FOREIGN_PARSER_NS);
	step_once(0);
	clock_pretend(0);
	assert_null(reader.parser);
	assert_int_equal(stats.lost, 1);
	zygote_stats(&parsers);
	assert_int_equal(parsers.killed, 1);
	files_append(own, "1000 10 next\n");
	read_all();
	assert_string_equal(name_at(0x1000), "next");
}

/* Many lines cost others no more than a few at a time. */
static void lines_that_a_step_has_no_time_for_are_taken_by_the_next(void **state)
{
	static const size_t lines = 5 * FOREIGN_LINES_AT_ONCE + 1;
	char line[32];

	for (size_t i = 0; i < lines; i++) {
		snprintf(line, sizeof(line), "%zx 1 a\n", 0x1000 + i);
		files_append(own, line);
	}
	begin_reading();
	take_ns = 0;
	while (reader.parser) {
		const size_t before = foreign_map_count(reader.map);

		step_once(UINT64_MAX);
		assert_true(foreign_map_count(reader.map) <= before + FOREIGN_LINES_AT_ONCE);
	}
	take_ns = UINT64_MAX;
	assert_int_equal(foreign_map_count(reader.map), lines);
	assert_int_equal(stats.maps.text.lines, lines);
	read_all();
	assert_int_equal(foreign_map_count(reader.map), lines);
	assert_int_equal(stats.lost, 0);
}

static void a_file_that_is_closed_takes_its_parser_along(void **state)
{
	files_append(own, "hang\n");
	begin_reading();
	foreign_reader_restart(&reader);
	assert_null(reader.parser);
}

static void an_answer_is_no_longer_than_a_piece_allows(void **state)
{
	struct foreign_answer_head head = {.records_bytes = 3 * FOREIGN_PIECE_BYTES};

	assert_int_equal(foreign_answer_bytes(&head), sizeof(head) + 3 * FOREIGN_PIECE_BYTES);
	head.records_bytes = 4 * FOREIGN_PIECE_BYTES;
	assert_int_equal(foreign_answer_bytes(&head), 0);
	head.records_bytes = UINT64_MAX;
	assert_int_equal(foreign_answer_bytes(&head), 0);
}

static void count_line(void *arg, const struct foreign_line *line)
{
	++*(unsigned *)arg;
}

static void an_answer_has_no_more_lines_than_its_piece(void **state)
{
	static const char piece[] = "1 1 a\n2 1 b\n3 1 c\n";
	struct foreign_text text = {.used = 0};
	struct foreign_text_stats counts = {0};
	unsigned lines = 0;
	const struct foreign_sink sink = {.fn = count_line, .arg = &lines};
	struct foreign_taking taking = {.piece_len = 2};
	char *answer;

	assert_int_equal(foreign_answer_make(&text, piece, strlen(piece), &answer, &taking.len), 0);
	taking.answer = answer;
	assert_true(foreign_answer_take(&taking, SIZE_MAX, &sink, &text, &counts) < 0);
	assert_int_equal(lines, 0);
	taking.piece_len = 3;
	assert_int_equal(foreign_answer_take(&taking, 2, &sink, &text, &counts), 1);
	assert_int_equal(lines, 2);
	assert_int_equal(foreign_answer_take(&taking, 2, &sink, &text, &counts), 0);
	assert_int_equal(lines, 3);
	assert_int_equal(counts.lines, 3);
	free(answer);
}

/* The largest answer that the parser makes fits: it is the one of the shortest lines. */
static void the_longest_answer_fits(void **state)
{
	static char piece[FOREIGN_PIECE_BYTES];
	struct foreign_text text = {.used = 0};
	struct foreign_answer_head head;
	char *answer;
	size_t len;

	for (size_t i = 0; i < sizeof(piece); i++)
		piece[i] = "1 1 a\n"[i % 6];
	memset(text.line, '1', 1);
	text.used = 1;
	assert_int_equal(foreign_answer_make(&text, piece, sizeof(piece), &answer, &len), 0);
	memcpy(&head, answer, sizeof(head));
	assert_int_equal(foreign_answer_bytes(&head), len);
	assert_true(head.records_bytes > 2 * FOREIGN_PIECE_BYTES);
	free(answer);
}

/* Has parsers fail before they read anything. */
static void no_byte_is_lost_while_no_parser_can_be_started(void **state)
{
	zygote_stop();
	assert_int_equal(zygote_start_without_parsers(), 0);
	files_append(own, "1000 10 one\n");
	while (stats.delayed == 0)
		step_once(UINT64_MAX);
	assert_int_equal(stats.lost, 0);
	assert_string_equal(name_at(0x1000), "");
	zygote_stop();
	assert_int_equal(zygote_start(), 0);
	read_all();
	assert_string_equal(name_at(0x1000), "one");
	assert_int_equal(stats.maps.text.lines, 1);
}

static void only_so_many_parsers_are_there_at_a_time(void **state)
{
	const struct foreign_text text = {.used = 0};
	struct foreign_parser *parsers[FOREIGN_MAX_PARSERS], *more;

	struct owner who = {0};

	for (size_t i = 0; i < FOREIGN_MAX_PARSERS; i++) {
		who.user = i / FOREIGN_SHARE;
		assert_int_equal(foreign_parser_start(who, &text, "hang\n", 5, &parsers[i]), 0);
	}
	who.user++;
	assert_true(foreign_parser_start(who, &text, "hang\n", 5, &more) < 0);
	for (size_t i = 0; i < FOREIGN_MAX_PARSERS; i++)
		foreign_parser_free(parsers[i]);
	assert_int_equal(foreign_parser_start(who, &text, "hang\n", 5, &more), 0);
	foreign_parser_free(more);
}

/* Users of a container and the container have their shares; others are not in their way. */
static void an_owner_has_a_share_of_parsers(void **state)
{
	const struct owner users[] = {{7, 1}, {7, 2}, {7, 3}, {8, 1}, {0, 1}};
	const size_t has[] = {FOREIGN_SHARE, FOREIGN_SHARE, 0, FOREIGN_SHARE, FOREIGN_SHARE};
	const struct foreign_text text = {.used = 0};
	struct foreign_parser *parsers[FOREIGN_MAX_PARSERS];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		size_t held = 0;

		while (foreign_parser_start(users[i], &text, "hang\n", 5, &parsers[n]) == 0) {
			n++;
			held++;
		}
		assert_int_equal(held, has[i]);
	}
	while (n > 0)
		foreign_parser_free(parsers[--n]);
}

int main(int argc, char **argv)
{
#define WITH_ZYGOTE(test) cmocka_unit_test_setup_teardown(test, start, stop)
	const struct CMUnitTest tests[] = {
		WITH_ZYGOTE(each_lie_costs_one_piece),
		WITH_ZYGOTE(a_parser_that_dies_costs_one_piece),
		WITH_ZYGOTE(what_follows_a_lost_piece_in_its_line_is_broken),
		WITH_ZYGOTE(names_of_a_parser_are_cleaned),
		WITH_ZYGOTE(nobody_waits_for_a_parser_that_hangs),
		WITH_ZYGOTE(lines_that_a_step_has_no_time_for_are_taken_by_the_next),
		WITH_ZYGOTE(a_file_that_is_closed_takes_its_parser_along),
		cmocka_unit_test(an_answer_is_no_longer_than_a_piece_allows),
		cmocka_unit_test(an_answer_has_no_more_lines_than_its_piece),
		cmocka_unit_test(the_longest_answer_fits),
		WITH_ZYGOTE(no_byte_is_lost_while_no_parser_can_be_started),
		WITH_ZYGOTE(only_so_many_parsers_are_there_at_a_time),
		WITH_ZYGOTE(an_owner_has_a_share_of_parsers),
	};

	zygote_become(argc, argv, roles);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
