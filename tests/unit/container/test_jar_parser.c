// SPDX-License-Identifier: Apache-2.0
/* Parsers of jars, honest ones and those that a jar has taken over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "container/jar_parser.h"

static char class[JAR_CLASS_BYTES];

/* ---- in the parser ---- */

static void tell(int sock, int32_t err, const char *text, size_t len)
{
	struct jar_answer answer = {.err = err};

	memset(answer.class, 'x', sizeof(answer.class));
	memcpy(answer.class, text, len);
	parser_send(sock, &answer.err, sizeof(answer) - offsetof(struct jar_answer, err), -1);
}

/* The jar's first byte says what its parser does. */
static void serve(int sock)
{
	char byte, what = 0;
	int fd = -1;

	if (parser_receive(sock, &byte, sizeof(byte), &fd) < 0 || pread(fd, &what, 1, 0) < 0)
		return;
	switch (what) {
	case 'c': /* a class */
		tell(sock, 0, "com.example.Shop", sizeof("com.example.Shop"));
		break;
	case 'n': /* no class */
		tell(sock, -ENOENT, "", 1);
		break;
	case 'u': /* without an end */
		tell(sock, 0, "", 0);
		break;
	case 'e': /* empty */
		tell(sock, 0, "", 1);
		break;
	case 'p': /* an error that is none */
		tell(sock, 17, "Shop", 5);
		break;
	case 'x': /* what harms a terminal */
		tell(sock, 0, "\033[31mShop", 10);
		break;
	case 'h': /* for ever */
		while (read(sock, &byte, 1) != 0)
			continue;
		break;
	default:
		abort();
	}
}

/* ---- in the collector ---- */

static const struct parser_limits roles[PARSER_ROLES] = {
	[PARSER_JARS] = {.serve = serve, .memory_bytes = UINT64_C(1) << 40, .cpu_seconds = 10},
};

static int start(void **state)
{
	return zygote_start();
}

static int stop(void **state)
{
	zygote_stop();
	return 0;
}

/* Asks until there is an answer; is_late: the parser's time is over at once. */
static int ask(const char *what, bool is_late)
{
	const int fd = memfd_create("jar", MFD_CLOEXEC);
	struct jar_parser parser;
	int err;

	assert_int_equal(write(fd, what, 1), 1);
	while ((err = jar_parser_start(getpid(), fd, clock_now_ns(), &parser)) == -EAGAIN)
		usleep(1000);
	assert_int_equal(err, 0);
	close(fd);
	while ((err = jar_parser_take(&parser, is_late ? UINT64_MAX : 0, class)) == -EAGAIN)
		usleep(1000);
	assert_int_equal(parser.parser.sock, -1);
	return err;
}

static void an_honest_parser_says_the_class(void **state)
{
	assert_int_equal(ask("c", false), 0);
	assert_string_equal(class, "com.example.Shop");
	assert_int_equal(ask("n", false), -ENOENT);
}

static void what_no_parser_says_is_not_taken(void **state)
{
	static const char *const lies[] = {"u", "e", "p"};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		assert_int_equal(ask(lies[i], false), -EPROTO);
	assert_int_equal(ask("x", false), 0);
	assert_string_equal(class, "?[31mShop");
}

static void a_parser_that_dies_is_told(void **state)
{
	assert_int_equal(ask("a", false), -EPROTO);
}

static void a_parser_that_is_late_is_killed(void **state)
{
	assert_int_equal(ask("h", true), -EPROTO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(an_honest_parser_says_the_class),
		TEST(what_no_parser_says_is_not_taken),
		TEST(a_parser_that_dies_is_told),
		TEST(a_parser_that_is_late_is_killed),
	};

	zygote_become(argc, argv, roles);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
