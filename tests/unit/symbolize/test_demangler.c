// SPDX-License-Identifier: Apache-2.0
/*
 * Names by real parsers, and by parsers that a name has taken over: the text of the name says what
 * its parser does. Nobody but the file of that name loses anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "confine/flat.h"
#include "confine/parser.h"
#include "symbolize/demangler.h"
#include "symbolize/parsers.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RUN	 "_ZN10JavaThread3runEv"
#define RUN_TEXT "JavaThread::run"
#define GOOD	 1 /* files */
#define BAD	 2

static struct demangler *demangler;

/* ---- the parser ---- */

static void lie(int sock, const char *name)
{
	struct flat_writer writer = {.sock = sock};
	uint32_t len = 4;

	if (strstr(name, "crash"))
		abort();
	if (strstr(name, "forbidden"))
		socket(AF_UNIX, SOCK_STREAM, 0);
	if (strstr(name, "late"))
		for (char byte;;)
			recv(sock, &byte, 1, 0); /* nothing comes */
	if (strstr(name, "long"))
		len = 4096;
	if (strstr(name, "endless"))
		len = UINT32_MAX - 1;
	flat_write(&writer, &len, sizeof(len));
	if (strstr(name, "half")) {
		flat_write(&writer, "ab", 2);
		_exit(0);
	}
	if (strstr(name, "zero"))
		flat_write(&writer, "a\0bc", 4);
	else
		for (int i = 0; i < 4096 && !writer.err; i++)
			flat_write(&writer, "abcd", 4);
}

/* Reads what stays to be read. False: the socket has ended. */
static bool peek(int sock, void *ret, size_t len)
{
	ssize_t n;

	do
		n = recv(sock, ret, len, MSG_PEEK);
	while (n > 0 && (size_t)n < len);
	return n > 0;
}

/* Answers as a parser does, unless the first name says what to do. */
static void serve(int sock)
{
	struct {
		uint32_t count, style, len;
	} head;
	char name[256] = "";

	if (peek(sock, &head, sizeof(head)) && head.len < sizeof(name) - sizeof(head) &&
	    peek(sock, name, sizeof(head) + head.len)) {
		if (strncmp(name + sizeof(head), "_Z-", 3) == 0)
			lie(sock, name + sizeof(head));
	}
	demangler_parse(sock);
}

static struct parser_limits roles[PARSER_ROLES] = {
	[PARSER_NAMES] = {.serve = serve, .memory_bytes = UINT64_C(1) << 40, .cpu_seconds = 30},
};

/* ---- the collector ---- */

static int start(void **state)
{
	return zygote_start() < 0 ? -1 : demangler_new(&demangler);
}

static int stop(void **state)
{
	demangler_free(demangler);
	zygote_stop();
	return 0;
}

static const char *find(const char *name, uint64_t file, enum demangle_style style)
{
	const struct demangler_question question = {.name = name, .file = file, .style = style};

	return demangler_find(demangler, &question);
}

/* Steps until the thread has answered. */
static void step(void)
{
	const uint64_t answers = demangler_answers(demangler);

	demangler_step(demangler);
	while (demangler_answers(demangler) == answers) {
		struct pollfd fd = {.fd = demangler_fd(demangler), .events = POLLIN};

		poll(&fd, 1, 100);
		demangler_step(demangler);
	}
}

static uint64_t left(void)
{
	struct demangler_stats stats;

	demangler_stats(demangler, &stats);
	return stats.left;
}

static const char *wait_for(const char *name, uint64_t file, enum demangle_style style)
{
	const char *text = find(name, file, style);

	if (text)
		return text;
	step();
	return find(name, file, style);
}

static void a_text_comes_later_and_stays(void **state)
{
	assert_null(find(RUN, GOOD, DEMANGLE_PLAIN));
	assert_null(find(RUN, GOOD, DEMANGLE_PLAIN)); /* asked for once */
	step();
	assert_string_equal(find(RUN, GOOD, DEMANGLE_PLAIN), RUN_TEXT);
	demangler_step(demangler);
	assert_string_equal(find(RUN, GOOD, DEMANGLE_PLAIN), RUN_TEXT);
	assert_int_equal(left(), 0);
}

static void what_is_not_mangled_needs_no_parser(void **state)
{
	static const char plain[] = "main";
	char long_name[DEMANGLE_MAX_BYTES + 8];

	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	memcpy(long_name, "_Z", 2);
	assert_ptr_equal(find(plain, GOOD, DEMANGLE_PLAIN), plain);
	assert_ptr_equal(find(long_name, GOOD, DEMANGLE_PLAIN), long_name);
	assert_string_equal(wait_for("_Zx", GOOD, DEMANGLE_PLAIN), "_Zx");
	assert_int_equal(left(), 0);
}

static void each_style_has_its_text(void **state)
{
	static const char name[] = "_ZNSt6vectorIiSaIiEE9push_backERKi";

	assert_string_equal(wait_for(name, GOOD, DEMANGLE_PLAIN),
			    "std::vector<int, std::allocator<int> >::push_back");
	assert_string_equal(wait_for(name, GOOD, DEMANGLE_SIMPLE), "std::vector<...>::push_back");
	assert_string_equal(wait_for(name, GOOD, DEMANGLE_FULL),
			    "std::vector<int, std::allocator<int> >::push_back(int const&)");
	assert_string_equal(wait_for(RUN "@plt", GOOD, DEMANGLE_PLAIN), RUN_TEXT "@plt");
}

/* More names than go at once, with texts of all lengths. */
static void all_of_many_names_come(void **state)
{
	const unsigned count = DEMANGLER_MAX_NAMES + 100;
	unsigned missing = count;

	for (int round = 0; round < 3 && missing > 0; round++) {
		missing = 0;
		for (unsigned i = 0; i < count; i++) {
			char name[64], text[64];
			const char *found;

			snprintf(text, sizeof(text), "number%u::run", i);
			snprintf(name, sizeof(name), "_ZN%zunumber%u3runEv", strlen(text) - 5, i);
			found = find(name, GOOD + i % 7, DEMANGLE_PLAIN);
			missing += !found;
			if (found)
				assert_string_equal(found, text);
		}
		if (missing > 0)
			step();
	}
	assert_int_equal(missing, 0);
	assert_int_equal(left(), 0);
}

/* Fills the memory for names several times over; what is asked for at the end is still answered. */
static void names_without_end_are_forgotten(void **state)
{
	struct demangler_stats stats;
	char name[4096];

	for (unsigned i = 0; i < 8 * 1024; i++) {
		const int n = snprintf(name, sizeof(name), "_ZN%u", 3800u);

		memset(name + n, 'a' + (int)(i % 26), 3800);
		snprintf(name + n + 3800 - 8, 16, "%08uEv", i);
		if (!find(name, GOOD, DEMANGLE_PLAIN) && i % 64 == 63)
			step();
		demangler_stats(demangler, &stats);
		assert_true(stats.bytes < (24u << 20));
	}
	assert_string_equal(wait_for(RUN, GOOD, DEMANGLE_PLAIN), RUN_TEXT);
}

/* Another file's names of the same request are whole. */
static void check_lie(const char *name)
{
	assert_null(find(name, BAD, DEMANGLE_PLAIN));
	assert_null(find(RUN, GOOD, DEMANGLE_PLAIN));
	step();
	assert_string_equal(find(name, BAD, DEMANGLE_PLAIN), name);
	assert_string_equal(find(RUN, GOOD, DEMANGLE_PLAIN), RUN_TEXT);
	assert_int_equal(left(), 1);
	/* The next names of the file have a parser again. */
	assert_string_equal(wait_for("_ZN3Foo3barEv", BAD, DEMANGLE_PLAIN), "Foo::bar");
}

static void a_parser_that_crashes(void **state)
{
	check_lie("_Z-crash");
}

static void a_parser_that_makes_a_forbidden_call(void **state)
{
	check_lie("_Z-forbidden");
}

static void a_parser_that_sends_half_a_text(void **state)
{
	check_lie("_Z-half");
}

static void a_parser_that_sends_a_zero(void **state)
{
	check_lie("_Z-zero");
}

static void a_parser_that_sends_too_long_a_text(void **state)
{
	check_lie("_Z-long");
}

static void a_parser_that_promises_all_memory(void **state)
{
	check_lie("_Z-endless");
}

static void a_parser_that_never_answers_ends_and_its_file_is_refused(void **state)
{
	struct zygote_stats stats;

	assert_null(find("_Z-late", BAD, DEMANGLE_PLAIN));
	assert_null(find(RUN, GOOD, DEMANGLE_PLAIN));
	step();
	assert_string_equal(find("_Z-late", BAD, DEMANGLE_PLAIN), "_Z-late");
	assert_string_equal(find(RUN, GOOD, DEMANGLE_PLAIN), RUN_TEXT);
	assert_string_equal(find("_ZN3Foo3barEv", BAD, DEMANGLE_PLAIN), "_ZN3Foo3barEv");
	assert_null(find("_ZN3Foo3barEv", GOOD, DEMANGLE_PLAIN));
	assert_int_equal(left(), 2);
	zygote_stats(&stats);
	assert_int_equal(stats.killed, 1);
}

/* Arguments of which each is a pair of the one before: the text would have 2^34 parts. */
static void doubling_name(unsigned number, char *name, size_t size)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	int n = snprintf(name, size, "_Z4f%03uI1AIiiE", number);

	for (unsigned i = 1; i < 35; i++)
		n += snprintf(name + n, size - (size_t)n, "S0_IS%c_S%c_E", digits[i], digits[i]);
	snprintf(name + n, size - (size_t)n, "Evv");
}

/*
 * The parser stops in time, and the file's further names stay as they are for a while. The clock by
 * which the parser would be killed stands: a busy machine may take that long.
 */
static void names_that_take_long_are_left(void **state)
{
	struct zygote_stats stats;
	char name[2048];

	clock_pretend(clock_now_ns());
	for (unsigned i = 0; i < 200; i++) {
		doubling_name(i, name, sizeof(name));
		assert_null(find(name, BAD, DEMANGLE_SIMPLE));
	}
	assert_null(find(RUN, GOOD, DEMANGLE_PLAIN));
	step();
	assert_true(left() > 0);
	zygote_stats(&stats);
	assert_int_equal(stats.killed, 0);
	assert_string_equal(find(name, BAD, DEMANGLE_SIMPLE), name);
	assert_string_equal(find("_ZN3Foo3barEv", BAD, DEMANGLE_PLAIN), "_ZN3Foo3barEv");
	assert_string_equal(find(RUN, GOOD, DEMANGLE_PLAIN), RUN_TEXT);
	assert_string_equal(wait_for("_ZN3Foo3barEv", GOOD, DEMANGLE_PLAIN), "Foo::bar");
	clock_pretend(0);
}

static void a_demangler_that_ends_while_it_waits(void **state)
{
	struct zygote_stats stats;

	for (unsigned i = 0; i < 3; i++)
		assert_null(find("_Z-late", BAD + i, DEMANGLE_PLAIN));
	demangler_step(demangler);
	do { /* until the thread waits for the first parser */
		usleep(20000);
		zygote_stats(&stats);
	} while (stats.started == 0);
	usleep(20000);
}

static void without_a_zygote_names_are_demangled_at_once(void **state)
{
	assert_int_equal(demangler_new(&demangler), 0);
	assert_int_equal(demangler_fd(demangler), -1);
	assert_string_equal(find(RUN, GOOD, DEMANGLE_PLAIN), RUN_TEXT);
	assert_string_equal(find("main", GOOD, DEMANGLE_PLAIN), "main");
	demangler_free(demangler);
}

int main(int argc, char **argv)
{
#define WITH_PARSERS(test) cmocka_unit_test_setup_teardown(test, start, stop)
	const struct CMUnitTest tests[] = {
		WITH_PARSERS(a_text_comes_later_and_stays),
		WITH_PARSERS(what_is_not_mangled_needs_no_parser),
		WITH_PARSERS(each_style_has_its_text),
		WITH_PARSERS(all_of_many_names_come),
		WITH_PARSERS(names_without_end_are_forgotten),
		WITH_PARSERS(a_parser_that_crashes),
		WITH_PARSERS(a_parser_that_makes_a_forbidden_call),
		WITH_PARSERS(a_parser_that_sends_half_a_text),
		WITH_PARSERS(a_parser_that_sends_a_zero),
		WITH_PARSERS(a_parser_that_sends_too_long_a_text),
		WITH_PARSERS(a_parser_that_promises_all_memory),
		WITH_PARSERS(a_parser_that_never_answers_ends_and_its_file_is_refused),
		WITH_PARSERS(names_that_take_long_are_left),
		WITH_PARSERS(a_demangler_that_ends_while_it_waits),
		cmocka_unit_test(without_a_zygote_names_are_demangled_at_once),
	};

	zygote_become(argc, argv, roles);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
