// SPDX-License-Identifier: Apache-2.0
/* Claims about loop/engine.h: a loop that cannot start returns the reason. */
#include "loop/engine.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include <cmocka.h>

/* Replaces the C library's function: returns an error and does not set errno. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	(void)how;
	(void)set;
	(void)old;
	return EPERM;
}

static void error_that_leaves_errno_alone_is_returned(void **state)
{
	static const struct engine_options options = {.socket_path = "/nonexistent/agent"};
	struct engine engine;

	errno = 0;
	assert_int_equal(engine_open(&engine, &options), -EPERM);
	errno = ENOTTY; /* another call's */
	assert_int_equal(engine_open(&engine, &options), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_that_leaves_errno_alone_is_returned),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
