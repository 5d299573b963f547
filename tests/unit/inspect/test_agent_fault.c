// SPDX-License-Identifier: Apache-2.0
/* Claims about inspect/agent_fault.h: why an agent that is there has not connected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "inspect/agent_fault.h"

/* An agent that dials, and whose container has nothing. */
static const struct agent_sight nothing = {.dial_error = -ENODATA, .open_error = -ENOENT};

/* The same, with the collector's directory, where a collector has its socket. */
static const struct agent_sight whole = {
	.dial_error = -ENODATA,
	.has_directory = true,
	.is_our_directory = true,
	.is_socket = true,
	.is_our_socket = true,
	.has_our_socket = true,
};

static void check(const struct agent_sight *sight, enum agent_fault fault)
{
	assert_int_equal(agent_fault_of(sight), fault);
}

/* What people read has the words. */
static void check_words(enum agent_fault fault, const char *what, const char *fix)
{
	const struct agent_fault_text *const text = agent_fault_text(fault);

	assert_true(!what || strstr(text->what, what));
	assert_true(!fix || strstr(text->fix, fix));
}

static void an_agent_that_is_switched_off_is_so_whatever_it_sees(void **state)
{
	struct agent_sight sight = whole;

	sight.is_off = true;
	check(&sight, AGENT_OFF);
	sight.is_to_listen = true;
	check(&sight, AGENT_OFF);
	check_words(AGENT_OFF, "FGAGENT_OPTS=off", "without that variable");
}

static void a_place_to_listen_that_is_not_there_is_told_from_one_that_is(void **state)
{
	struct agent_sight sight = nothing;

	sight.is_to_listen = true;
	check(&sight, AGENT_NO_PLACE);
	check_words(AGENT_NO_PLACE, NULL, "socket=listen:/tmp/");
	sight.has_directory = true;
	check(&sight, AGENT_DEAF);
}

static void a_directory_that_was_made_anew_is_told_from_none_and_from_ours(void **state)
{
	struct agent_sight sight = nothing;

	check(&sight, AGENT_NO_DIRECTORY);
	sight.has_directory = true;
	check(&sight, AGENT_OLD_DIRECTORY);
	sight.is_our_directory = true;
	check(&sight, AGENT_LATE);
}

static void the_socket_of_a_directory_that_was_made_anew_is_foreign(void **state)
{
	struct agent_sight sight = whole;

	sight.is_our_socket = sight.is_our_directory = false;
	check(&sight, AGENT_FOREIGN_SOCKET);
	check_words(AGENT_FOREIGN_SOCKET, "not the collector's", "start the container again");
	sight.has_our_socket = false;
	check(&sight, AGENT_NO_COLLECTOR);
}

static void a_socket_that_is_mounted_by_itself_is_told_before_whose_it_is(void **state)
{
	struct agent_sight sight = whole;

	sight.is_our_socket = sight.is_our_directory = false;
	sight.is_mounted_alone = true;
	check(&sight, AGENT_LONE_SOCKET);
	check_words(AGENT_LONE_SOCKET, "mounted by itself", "mount the directory");
}

static void without_a_right_nothing_is_concluded(void **state)
{
	struct agent_sight sight = nothing;

	sight.open_error = -EACCES;
	check(&sight, AGENT_HIDDEN);
}

static void a_file_in_the_sockets_place_and_an_agent_that_is_silent_are_told(void **state)
{
	struct agent_sight sight = whole;

	check(&sight, AGENT_SILENT);
	sight.is_socket = sight.is_our_socket = false;
	check(&sight, AGENT_NO_SOCKET);
}

static void a_listening_agent_that_serves_another_collector_is_held(void **state)
{
	struct agent_sight sight = nothing;

	sight.dial_error = 0;
	check(&sight, AGENT_UNCALLED);
	sight.holder = 4711; /* one more collector may wait */
	check(&sight, AGENT_HELD);
	sight.holder = 0;
	sight.dial_error = -EAGAIN; /* and one waits already */
	check(&sight, AGENT_HELD);
	sight.dial_error = -ECONNREFUSED;
	check(&sight, AGENT_UNREACHED);
	check_words(AGENT_HELD, NULL, "fgcollect --watch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_agent_that_is_switched_off_is_so_whatever_it_sees),
		cmocka_unit_test(a_place_to_listen_that_is_not_there_is_told_from_one_that_is),
		cmocka_unit_test(a_directory_that_was_made_anew_is_told_from_none_and_from_ours),
		cmocka_unit_test(the_socket_of_a_directory_that_was_made_anew_is_foreign),
		cmocka_unit_test(a_socket_that_is_mounted_by_itself_is_told_before_whose_it_is),
		cmocka_unit_test(without_a_right_nothing_is_concluded),
		cmocka_unit_test(a_file_in_the_sockets_place_and_an_agent_that_is_silent_are_told),
		cmocka_unit_test(a_listening_agent_that_serves_another_collector_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
