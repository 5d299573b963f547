// SPDX-License-Identifier: Apache-2.0
/* Claims about loop/engine.h: a loop that cannot start returns the reason. */
#include "loop/engine.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include <cmocka.h>

static bool signals_fail;

/* Replaces the C library's function: may return an error, and then does not set errno. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	if (signals_fail)
		return EPERM;
	return sigprocmask(how, set, old) < 0 ? errno : 0;
}

static void error_that_leaves_errno_alone_is_returned(void **state)
{
	static const struct engine_options options = {.socket_path = "/nonexistent/agent"};
	struct engine engine;

	signals_fail = true;
	errno = 0;
	assert_int_equal(engine_open(&engine, &options), -EPERM);
	errno = ENOTTY; /* another call's */
	assert_int_equal(engine_open(&engine, &options), -EPERM);
	signals_fail = false;
}

/* This program is no zygote, so that there are no parsers, and none of what comes after them. */
static void what_has_not_begun_does_not_have_to_end(void **state)
{
	static const struct engine_options options = {.socket_path = "/nonexistent/agent"};
	struct engine engine;

	assert_int_equal(engine_open(&engine, &options), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_that_leaves_errno_alone_is_returned),
		cmocka_unit_test(what_has_not_begun_does_not_have_to_end),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
