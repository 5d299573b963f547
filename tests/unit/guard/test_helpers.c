// SPDX-License-Identifier: Apache-2.0
/* Claims about calls that return in time, late, or never; see guard/helpers.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/helpers.h"

#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_LATE 3
#define WAIT_NS	 UINT64_C(5000000)
#define LONG_NS	 UINT64_C(20000000000)

/* A call that returns when a byte comes through its pipe, or its pipe is closed; -1: at once. */
struct waiting_call {
	struct helpers_call base;
	int fd;
	atomic_int *freed;
	int result;
	int cpu; /* that it has run on */
};

static void wait_for_byte(struct helpers_call *base)
{
	struct waiting_call *const call = (struct waiting_call *)base;
	char byte;

	call->cpu = sched_getcpu();
	if (call->fd >= 0 && read(call->fd, &byte, 1) < 0)
		call->result = -1;
	else
		call->result = 1;
}

static void count_and_free(struct helpers_call *base)
{
	struct waiting_call *const call = (struct waiting_call *)base;

	atomic_fetch_add(call->freed, 1);
	free(call);
}

static struct waiting_call *make_call(int fd, atomic_int *freed)
{
	struct waiting_call *call = calloc(1, sizeof(*call));

	assert_non_null(call);
	*call = (struct waiting_call){
		.base = {.run = wait_for_byte, .free = count_and_free}, .fd = fd, .freed = freed};
	return call;
}

static void wait_until(atomic_int *count, int wanted)
{
	for (int i = 0; i < 1000000 && atomic_load(count) < wanted; i++)
		poll(NULL, 0, 1);
	assert_int_equal(atomic_load(count), wanted);
}

static void wait_until_none_is_late(const struct helpers *helpers)
{
	struct helpers_stats stats = {.late = 1};

	for (int i = 0; i < 1000000 && stats.late > 0; i++) {
		helpers_stats(helpers, &stats);
		poll(NULL, 0, 1);
	}
	assert_int_equal(stats.late, 0);
}

static void test_call_that_returns_in_time_is_done_and_the_callers(void **state)
{
	struct helpers *helpers;
	struct helpers_stats stats;
	atomic_int freed = 0;
	struct waiting_call *call = make_call(-1, &freed);

	assert_int_equal(helpers_new(MAX_LATE, &helpers), 0);
	for (int i = 0; i < 100; i++) {
		call->result = 0;
		assert_int_equal(helpers_run(helpers, &call->base, LONG_NS), HELPERS_DONE);
		assert_int_equal(call->result, 1);
	}
	helpers_stats(helpers, &stats);
	assert_int_equal(stats.calls, 100);
	assert_int_equal(stats.late_calls + stats.refused_calls, 0);
	free(call);
	helpers_free(helpers);
	assert_int_equal(atomic_load(&freed), 0);
}

/* The calls begin where the caller is, which goes from processor to processor. */
static void test_calls_run_on_the_callers_processor(void **state)
{
	struct helpers *helpers;
	atomic_int freed = 0;
	struct waiting_call *call = make_call(-1, &freed);
	cpu_set_t allowed;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	assert_int_equal(helpers_new(MAX_LATE, &helpers), 0);
	assert_int_equal(helpers_run(helpers, &call->base, LONG_NS), HELPERS_DONE);
	for (int i = 0; i < 10 * CPU_SETSIZE; i++) {
		const int cpu = i % CPU_SETSIZE;
		cpu_set_t one;

		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		assert_int_equal(helpers_run(helpers, &call->base, LONG_NS), HELPERS_DONE);
		assert_int_equal(call->cpu, cpu);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
	free(call);
	helpers_free(helpers);
}

static void test_late_call_is_left_alone_and_freed_when_it_returns(void **state)
{
	struct helpers *helpers;
	struct helpers_stats stats;
	atomic_int freed = 0;
	struct waiting_call *quick = make_call(-1, &freed);
	int pipe_fds[2];

	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(helpers_new(MAX_LATE, &helpers), 0);
	assert_int_equal(helpers_run(helpers, &make_call(pipe_fds[0], &freed)->base, WAIT_NS),
			 HELPERS_LATE);
	/* Others are served meanwhile. */
	assert_int_equal(helpers_run(helpers, &quick->base, LONG_NS), HELPERS_DONE);
	helpers_stats(helpers, &stats);
	assert_int_equal(stats.late, 1);
	assert_int_equal(atomic_load(&freed), 0);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	wait_until(&freed, 1);
	wait_until_none_is_late(helpers);
	free(quick);
	helpers_free(helpers);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void test_no_more_helpers_are_abandoned_than_is_allowed(void **state)
{
	struct helpers *helpers;
	struct helpers_stats stats;
	atomic_int freed = 0;
	struct waiting_call *refused = make_call(-1, &freed);
	int pipe_fds[2];

	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(helpers_new(MAX_LATE, &helpers), 0);
	for (int i = 0; i < MAX_LATE; i++)
		assert_int_equal(
			helpers_run(helpers, &make_call(pipe_fds[0], &freed)->base, WAIT_NS),
			HELPERS_LATE);
	assert_int_equal(helpers_run(helpers, &refused->base, WAIT_NS), HELPERS_NONE);
	assert_int_equal(refused->result, 0);
	helpers_stats(helpers, &stats);
	assert_int_equal(stats.refused_calls, 1);
	assert_int_equal(stats.late, MAX_LATE);
	close(pipe_fds[1]); /* all of them return */
	wait_until(&freed, MAX_LATE);
	wait_until_none_is_late(helpers);
	assert_int_equal(helpers_run(helpers, &refused->base, LONG_NS), HELPERS_DONE);
	free(refused);
	helpers_free(helpers);
	close(pipe_fds[0]);
}

static void test_freed_helpers_leave_late_calls_to_themselves(void **state)
{
	struct helpers *helpers;
	atomic_int freed = 0;
	int pipe_fds[2];

	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(helpers_new(MAX_LATE, &helpers), 0);
	assert_int_equal(helpers_run(helpers, &make_call(pipe_fds[0], &freed)->base, WAIT_NS),
			 HELPERS_LATE);
	helpers_free(helpers);
	assert_int_equal(atomic_load(&freed), 0);
	close(pipe_fds[1]);
	wait_until(&freed, 1);
	close(pipe_fds[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_that_returns_in_time_is_done_and_the_callers),
		cmocka_unit_test(test_calls_run_on_the_callers_processor),
		cmocka_unit_test(test_late_call_is_left_alone_and_freed_when_it_returns),
		cmocka_unit_test(test_no_more_helpers_are_abandoned_than_is_allowed),
		cmocka_unit_test(test_freed_helpers_leave_late_calls_to_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
