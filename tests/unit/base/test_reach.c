// SPDX-License-Identifier: Apache-2.0
/* Claims about base/reach.h: calls are made elsewhere, and one that never ends holds up nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/reach.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct asked {
	int number;
};

/* Tells of the process that makes the call. */
static int run_number(const void *request, size_t len, int fd)
{
	const pid_t pid = getpid();

	if (fd >= 0)
		(void)!write(fd, &pid, sizeof(pid));
	return len == sizeof(struct asked) ? ((const struct asked *)request)->number : -EBADMSG;
}

static int run_open(const void *request, size_t len, int fd)
{
	const int opened = open(request, O_RDONLY | O_CLOEXEC);

	return opened < 0 ? -errno : opened;
}

/* Says that it has begun, and does not end. */
static int run_never(const void *request, size_t len, int fd)
{
	(void)!write(fd, "x", 1);
	while (pause() < 0)
		continue;
	return 0;
}

/* Tells of the process that has forked this one. */
static int run_parent(const void *request, size_t len, int fd)
{
	const pid_t pid = getppid();

	return write(fd, &pid, sizeof(pid)) == (ssize_t)sizeof(pid) ? 0 : -EIO;
}

static const struct reach_role parent_role = {run_parent, false};
static const struct reach_role number_role = {run_number, false};
static const struct reach_role open_role = {run_open, true};
static const struct reach_role never_role = {run_never, false};

static int setup(void **state)
{
	return reach_start();
}

static int teardown(void **state)
{
	reach_stop();
	return 0;
}

static void a_call_is_made_by_another_process(void **state)
{
	const struct asked asked = {4711};
	int fds[2];
	pid_t pid = 0;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(reach_call(&number_role, &asked, sizeof(asked), fds[1]), 4711);
	assert_int_equal(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
	assert_true(pid > 0 && pid != getpid());
	close(fds[0]);
	close(fds[1]);
}

static void what_it_opens_is_the_callers(void **state)
{
	static const char missing[] = "/nonexistent", null[] = "/dev/null";
	const int fd = reach_call(&open_role, null, sizeof(null), REACH_NO_FD);
	char byte;

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
	assert_int_equal(reach_call(&open_role, missing, sizeof(missing), REACH_NO_FD), -ENOENT);
}

static void a_request_that_is_too_long_is_refused(void **state)
{
	static const char bytes[REACH_MAX_BYTES + 1];

	assert_int_equal(reach_call(&number_role, bytes, sizeof(bytes), REACH_NO_FD),
			 -ENAMETOOLONG);
}

struct waiter {
	int fd, result;
};

static void *wait_in_vain(void *arg)
{
	struct waiter *const waiter = arg;

	waiter->result = reach_call(&never_role, NULL, 0, waiter->fd);
	return NULL;
}

static void who_is_not_answered_holds_up_nobody_and_ends_with_the_process(void **state)
{
	const struct asked asked = {1};
	struct waiter waiter = {.result = 0};
	pthread_t thread;
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	waiter.fd = fds[1];
	assert_int_equal(thread_start(&thread, wait_in_vain, &waiter), 0);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(reach_call(&number_role, &asked, sizeof(asked), REACH_NO_FD), 1);
	reach_stop();
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(waiter.result, -ECHILD);
	assert_int_equal(reach_call(&number_role, &asked, sizeof(asked), REACH_NO_FD), -ECHILD);
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1),
			 0); /* the process has ended, and had nothing else */
	close(fds[0]);
}

/* As it does within fork(2), while the kernel keeps all processes from forking. */
static void a_process_that_stands_still_is_not_waited_for(void **state)
{
	const struct asked asked = {1};
	pid_t caller;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(reach_call(&parent_role, &asked, sizeof(asked), fds[1]), 0);
	assert_int_equal(read(fds[0], &caller, sizeof(caller)), sizeof(caller));
	assert_int_equal(kill(caller, SIGSTOP), 0);
	reach_stop();
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_call_is_made_by_another_process, setup, teardown),
		cmocka_unit_test_setup_teardown(what_it_opens_is_the_callers, setup, teardown),
		cmocka_unit_test_setup_teardown(a_request_that_is_too_long_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			who_is_not_answered_holds_up_nobody_and_ends_with_the_process, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_process_that_stands_still_is_not_waited_for,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
