// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about loop/signal_watch.h: a signal that ends the program ends it, whatever the loop does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "loop/signal_watch.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* The child's exit code; it gets the signals one after the other. */
static int code_of(void (*act)(int signal_fd, struct signal_watch *watch))
{
	const pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct signal_watch *watch;
		const int fd = block_signals();

		if (signal_watch_start(fd, &watch) < 0)
			_exit(3);
		act(fd, watch);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static _Noreturn void stand(int signal_fd, struct signal_watch *watch)
{
	kill(getpid(), SIGHUP);
	kill(getpid(), SIGTERM);
	for (;;)
		pause();
}

static _Noreturn void read_and_end(int signal_fd, struct signal_watch *watch)
{
	struct signalfd_siginfo info;

	kill(getpid(), SIGTERM);
	if (read(signal_fd, &info, sizeof(info)) != sizeof(info))
		_exit(3);
	signal_watch_take(watch);
	kill(getpid(), SIGTERM); /* somebody is impatient */
	signal_watch_stop(watch);
	_exit(7);
}

static _Noreturn void end_without_a_signal(int signal_fd, struct signal_watch *watch)
{
	signal_watch_stop(watch);
	_exit(8);
}

static void a_signal_that_nobody_reads_ends_the_program(void **state)
{
	assert_int_equal(code_of(stand), EXIT_FAILURE);
}

static void a_signal_that_is_read_leaves_the_end_to_the_program(void **state)
{
	assert_int_equal(code_of(read_and_end), 7);
	assert_int_equal(code_of(end_without_a_signal), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_that_nobody_reads_ends_the_program),
		cmocka_unit_test(a_signal_that_is_read_leaves_the_end_to_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
