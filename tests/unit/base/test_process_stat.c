// SPDX-License-Identifier: Apache-2.0
/* Claims about base/process_stat.h: who is gone, and what is not asked for then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/process_stat.h"
#include "common/child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned calls;

/* No call is answered, as by a process that hangs. */
static enum guarded_end answer_nothing(void *arg, pid_t pid, struct guarded_call *call)
{
	calls++;
	return GUARDED_PAUSED;
}

static void leave(void *arg, pid_t pid, struct guarded_call *call)
{
	call->free(call);
}

static const struct guarded_runner silent = {.run = answer_nothing, .leave = leave};

static int teardown(void **state)
{
	guarded_use(NULL);
	calls = 0;
	return 0;
}

static void who_does_not_say_when_it_began_is_not_gone(void **state)
{
	uint64_t ticks, inode = 0, known = 0;

	assert_int_equal(process_stat_begin(getpid(), &ticks, &known), 0);
	guarded_use(&silent);
	assert_int_equal(process_stat_start_ticks(getpid(), &ticks), -ETIMEDOUT);
	assert_false(process_stat_is_gone(getpid(), ticks, &inode));
	assert_int_equal(inode, 0); /* it is asked again the next time */
	calls = 0;
	assert_false(process_stat_is_gone(getpid(), ticks, &known));
	assert_int_equal(calls, 0); /* its directory in /proc is the one that it had */
}

static void who_began_at_another_time_is_another(void **state)
{
	uint64_t ticks, inode = 0;

	assert_int_equal(process_stat_start_ticks(getpid(), &ticks), 0);
	assert_true(process_stat_is_gone(getpid(), ticks + 1, &inode));
	assert_int_equal(inode, 0);
	assert_false(process_stat_is_gone(getpid(), ticks, &inode));
	assert_true(inode != 0);
}

static void the_end_of_a_process_is_seen_without_a_question(void **state)
{
	const pid_t pid = fork();
	uint64_t inode = 0;
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	guarded_use(&silent);
	assert_true(process_stat_is_over(pid)); /* a zombie */
	assert_true(process_stat_is_gone(pid, 1, &inode));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(process_stat_is_over(pid));
	assert_false(process_stat_is_over(getpid()));
	assert_int_equal(calls, 0);
}

static void names_of_threads_are_read_without_a_question(void **state)
{
	char before[16], comm[16];
	pid_t inner = 0;

	guarded_use(&silent);
	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "a\\b\nc d");
	assert_true(process_stat_thread_names(getpid(), getpid(), &inner, comm, sizeof(comm)));
	prctl(PR_SET_NAME, before);
	assert_string_equal(comm, "a\\b\nc d");
	assert_int_equal(inner, process_stat_inner_pid(getpid(), getpid()));
	assert_false(process_stat_thread_names(child_gone(), 1, &inner, comm, sizeof(comm)));
	assert_int_equal(calls, 0);
}

/* At any time the process has had at least what this thread has had. */
static void processor_time_is_that_of_all_threads(void **state)
{
	const uint64_t own_ns = clock_thread_ns();
	siginfo_t info;
	pid_t child;

	assert_true(process_stat_cpu_ns(getpid()) >= own_ns);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED), 0);
	assert_int_equal(process_stat_cpu_ns(child), 0);
}

static void a_fork_that_began_no_program_is_told_apart(void **state)
{
	const pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_true(process_stat_is_forked(pid));
	assert_false(process_stat_is_forked(getpid()));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(process_stat_is_forked(pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(who_does_not_say_when_it_began_is_not_gone, teardown),
		cmocka_unit_test_teardown(who_began_at_another_time_is_another, teardown),
		cmocka_unit_test_teardown(the_end_of_a_process_is_seen_without_a_question,
					  teardown),
		cmocka_unit_test_teardown(processor_time_is_that_of_all_threads, teardown),
		cmocka_unit_test_teardown(a_fork_that_began_no_program_is_told_apart, teardown),
		cmocka_unit_test_teardown(names_of_threads_are_read_without_a_question, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
