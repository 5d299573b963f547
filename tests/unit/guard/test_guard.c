// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about calls that return late or never, and about who has to wait then; see guard/guard.h.
 * The guard's clock is pretended, so that pauses take no time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "guard/guard.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define BEGIN_NS (1000 * CLOCK_NS_PER_SEC)

static struct guard *guard;
static _Atomic uint64_t now_ns; /* as pretended, also on helpers' threads */
static atomic_int ran, freed;

#define HOURS 1000000 /* times GUARD_WAIT_NS */

/* A call that returns when its pipe is closed; without a pipe at once. */
struct pipe_call {
	struct guarded_call base;
	int fd; /* -1: no pipe */
};

static void wait_for_end(struct guarded_call *base)
{
	const struct pipe_call *const call = (struct pipe_call *)base;
	char byte;

	if (call->fd < 0 || read(call->fd, &byte, 1) == 0)
		atomic_fetch_add(&ran, 1);
	clock_pretend(now_ns);
}

static void count_free(struct guarded_call *base)
{
	const struct pipe_call *const call = (struct pipe_call *)base;

	if (call->fd >= 0)
		close(call->fd);
	free(base);
	atomic_fetch_add(&freed, 1);
}

static struct guarded_call *make_call(int fd)
{
	struct pipe_call *call = calloc(1, sizeof(*call));

	assert_non_null(call);
	*call = (struct pipe_call){.base = {.run = wait_for_end, .free = count_free}, .fd = fd};
	return &call->base;
}

/* The end of a pipe that a call waits for, and the call. */
struct waiting {
	struct guarded_call *call;
	int end;
};

static struct waiting make_waiting(void)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	return (struct waiting){.call = make_call(fds[0]), .end = fds[1]};
}

/* A call that returns. The helper runs it when the machine has time for it. */
static enum guarded_end run_in_time(pid_t pid, struct guarded_call *call)
{
	enum guarded_end end;

	guard_be_patient(guard, HOURS);
	end = guarded_run(pid, call);
	guard_be_patient(guard, 1);
	return end;
}

static enum guarded_end run_quick(pid_t pid)
{
	struct guarded_call *call = make_call(-1);
	const enum guarded_end end = run_in_time(pid, call);

	assert_int_not_equal(end, GUARDED_LATE);
	free(call);
	return end;
}

static int run_late(pid_t pid)
{
	const struct waiting waiting = make_waiting();

	assert_int_equal(guarded_run(pid, waiting.call), GUARDED_LATE);
	return waiting.end;
}

static struct guard_stats look(void)
{
	struct guard_stats stats;

	guard_stats(guard, &stats);
	return stats;
}

static void wait_until(const atomic_int *count, int wanted)
{
	for (int i = 0; i < 2000000 && atomic_load(count) < wanted; i++)
		poll(NULL, 0, 1);
	assert_int_equal(atomic_load(count), wanted);
}

/* Lets the late call return, and waits until the guard has seen it. */
static void let_return(int end)
{
	const size_t before = look().unanswered;

	close(end);
	for (int i = 0; i < 2000000 && look().unanswered >= before; i++)
		poll(NULL, 0, 1);
	assert_int_equal(look().unanswered, before - 1);
}

static void pass(uint64_t ns)
{
	now_ns += ns;
	clock_pretend(now_ns);
}

/* PIDs of a hundred are of one user; from 10,000 on those of a thousand are in one container. */
static struct owner owner_of(void *arg, pid_t pid)
{
	return (struct owner){.container = pid < 10000 ? 0 : (uint64_t)pid / 1000,
			      .user = (uint64_t)pid / 100};
}

static int set_up(void **state)
{
	now_ns = BEGIN_NS;
	clock_pretend(now_ns);
	atomic_store(&ran, 0);
	atomic_store(&freed, 0);
	assert_int_equal(guard_new(owner_of, NULL, &guard), 0);
	guarded_use(guard_runner(guard));
	return 0;
}

static int tear_down(void **state)
{
	guarded_use(NULL);
	guard_free(guard);
	clock_pretend(0);
	return 0;
}

static void a_call_in_time_is_the_callers(void **state)
{
	for (int i = 0; i < 50; i++)
		assert_int_equal(run_quick(100 + i), GUARDED_DONE);
	assert_int_equal(atomic_load(&ran), 50);
	assert_int_equal(atomic_load(&freed), 0);
	assert_int_equal(look().late_calls + look().paused_calls, 0);
}

static void a_late_call_has_its_process_wait_and_no_other(void **state)
{
	const int end = run_late(100);

	pass(CLOCK_NS_PER_SEC); /* far past the pause: the call has not returned */
	assert_int_equal(run_quick(100), GUARDED_PAUSED);
	assert_int_equal(run_quick(101), GUARDED_DONE);
	assert_int_equal(look().unanswered, 1);
	assert_int_equal(look().paused_calls, 1);
	let_return(end);
	wait_until(&freed, 1);
	assert_int_equal(run_quick(100), GUARDED_DONE);
	assert_int_equal(look().late_calls, 1);
}

/* As let_return, and for a long time it did not. */
static void let_return_later(int end)
{
	pass(GUARD_SOON_NS + 1);
	let_return(end);
}

static void pauses_double_and_are_forgotten(void **state)
{
	let_return_later(run_late(100)); /* one alone is no reason to wait */
	assert_int_equal(run_quick(100), GUARDED_DONE);
	let_return_later(run_late(100)); /* GUARD_PAUSE_NS is over when the call returns */
	for (unsigned i = 1; i < 5; i++) {
		let_return_later(run_late(100));
		pass((GUARD_PAUSE_NS << i) - GUARD_SOON_NS - 2);
		assert_int_equal(run_quick(100), GUARDED_PAUSED);
		pass(1);
		assert_int_equal(run_quick(100), GUARDED_DONE);
	}
	pass(200 * CLOCK_NS_PER_SEC);
	let_return(run_late(100));
	assert_int_equal(run_quick(100), GUARDED_DONE);
}

/* Eight of them count as one that did not, and the ninth is the second. */
static void a_process_whose_calls_return_soon_hardly_has_to_wait(void **state)
{
	for (unsigned i = 0; i < GUARD_PARTS; i++) {
		let_return(run_late(100));
		assert_int_equal(run_quick(100), GUARDED_DONE);
	}
	let_return(run_late(100));
	assert_int_equal(run_quick(100), GUARDED_PAUSED);
	pass(GUARD_PAUSE_NS);
	assert_int_equal(run_quick(100), GUARDED_DONE);
}

/* As on a host that is busy all day. */
static void a_process_whose_calls_are_late_now_and_then_has_no_pause(void **state)
{
	for (unsigned i = 0; i < 4 * GUARD_PARTS; i++) {
		let_return(run_late(100));
		assert_int_equal(run_quick(100), GUARDED_DONE);
		pass(GUARD_FORGET_NS);
	}
}

static void an_owner_has_few_late_calls_at_a_time(void **state)
{
	int ends[GUARD_OWNER_LATE];

	for (int i = 0; i < GUARD_OWNER_LATE; i++)
		ends[i] = run_late(100 + i);
	assert_int_equal(run_quick(150), GUARDED_PAUSED);
	assert_int_equal(run_quick(200), GUARDED_DONE);
	let_return(ends[0]);
	assert_int_equal(run_quick(150), GUARDED_DONE);
	for (int i = 1; i < GUARD_OWNER_LATE; i++)
		let_return(ends[i]);
}

/* One user of a container leaves something to the others, and the container to other containers. */
static void a_container_has_twice_the_late_calls_of_a_user(void **state)
{
	int ends[2 * GUARD_OWNER_LATE];

	for (int i = 0; i < GUARD_OWNER_LATE; i++)
		ends[i] = run_late(10000 + i);
	assert_int_equal(run_quick(10050), GUARDED_PAUSED);
	for (int i = GUARD_OWNER_LATE; i < 2 * GUARD_OWNER_LATE; i++) {
		assert_int_equal(run_quick(10150), GUARDED_DONE);
		ends[i] = run_late(10100 + i);
	}
	assert_int_equal(run_quick(10150), GUARDED_PAUSED);
	assert_int_equal(run_quick(10250), GUARDED_PAUSED);
	assert_int_equal(run_quick(11050), GUARDED_DONE);
	assert_int_equal(run_quick(100), GUARDED_DONE);
	for (int i = 0; i < 2 * GUARD_OWNER_LATE; i++)
		let_return(ends[i]);
}

/*
 * Makes late calls, two for processes at pid and each further step, until look has to wait: of the
 * first nobody knows when it returns, and the second one returns at once, so that a pause is seen.
 * Meanwhile some are forgotten. Returns how many of the first there were.
 */
static int be_late_until_paused(pid_t pid, pid_t step, pid_t look, int most)
{
	int n = 0;

	while (n < most) {
		let_return_later(run_late(pid + n * step));
		let_return(run_late(pid + n * step + step / 2));
		n++;
		if (run_quick(look) == GUARDED_PAUSED)
			break;
	}
	return n;
}

/* Few late calls are of the same user. */
static void a_container_with_many_late_calls_has_to_wait(void **state)
{
	const int n = be_late_until_paused(10000, 12, 10950, 4 * GUARD_OWNER_CALLS);

	assert_in_range(n, 2 * GUARD_OWNER_CALLS, 4 * GUARD_OWNER_CALLS - 1);
	assert_int_equal(run_quick(10950), GUARDED_PAUSED);
	assert_int_equal(run_quick(11050), GUARDED_DONE);
	pass(2 * GUARD_PAUSE_NS);
	assert_int_equal(run_quick(10950), GUARDED_DONE);
}

/* Each call is for another process. */
static void an_owner_with_many_late_calls_has_to_wait(void **state)
{
	const int n = be_late_until_paused(100, 2, 199, 2 * GUARD_OWNER_CALLS);

	assert_in_range(n, GUARD_OWNER_CALLS, 2 * GUARD_OWNER_CALLS - 1);
	assert_int_equal(run_quick(199), GUARDED_PAUSED);
	assert_int_equal(run_quick(200), GUARDED_DONE);
	pass(2 * GUARD_PAUSE_NS);
	assert_int_equal(run_quick(199), GUARDED_DONE);
	pass(2 * GUARD_FORGET_NS); /* two calls less are counted now, and one more */
	let_return(run_late(190));
	assert_int_equal(run_quick(199), GUARDED_DONE);
}

/* As on a busy host, of which nobody's processes are to blame. */
static void calls_that_return_soon_count_little(void **state)
{
	for (int i = 0; i < 5 * GUARD_OWNER_CALLS; i++) {
		assert_int_equal(run_quick(10099), GUARDED_DONE);
		assert_int_equal(run_quick(199), GUARDED_DONE);
		let_return(run_late(100 + i));
		let_return(run_late(10000 + i));
	}
	assert_int_equal(look().paused_calls, 0);
}

/* However long nobody looks. */
static void a_call_that_has_returned_soon_says_so(void **state)
{
	for (int i = 0; i < 2 * GUARD_OWNER_CALLS; i++) {
		const int end = run_late(100 + i);

		close(end);
		wait_until(&freed, i + 1);
		pass(GUARD_SOON_NS + 1);
	}
	assert_int_equal(run_quick(150), GUARDED_DONE);
}

static void no_more_calls_are_late_than_there_are_helpers(void **state)
{
	int ends[GUARD_MAX_LATE];

	for (int i = 0; i < GUARD_MAX_LATE; i++)
		ends[i] = run_late(100 * (1 + i));
	assert_int_equal(run_quick(9900), GUARDED_PAUSED);
	let_return(ends[0]);
	assert_int_equal(run_quick(9900), GUARDED_DONE);
	for (int i = 1; i < GUARD_MAX_LATE; i++)
		let_return(ends[i]);
}

/* However many are late, a turn does not become longer. */
static void in_a_turn_late_calls_are_waited_for_only_so_long(void **state)
{
	enum { MOST = 1 + (GUARD_TURN_NS - GUARD_WAIT_NS) / GUARD_SHORT_NS };
	int ends[MOST];

	guard_begin_turn(guard);
	for (int i = 0; i < MOST; i++)
		ends[i] = run_late(100 * (1 + i));
	assert_int_equal(run_quick(9900), GUARDED_PAUSED);
	guard_begin_turn(guard);
	assert_int_equal(run_quick(9900), GUARDED_DONE);
	for (int i = 0; i < MOST; i++)
		let_return(ends[i]);
}

static void a_left_call_runs_and_is_freed(void **state)
{
	for (int i = 1; i <= 20; i++) {
		guarded_leave(100, make_call(-1));
		wait_until(&freed, i);
	}
	assert_int_equal(atomic_load(&ran), 20);
	for (int i = 0; i < 2000000 && look().left_calls > 0; i++)
		poll(NULL, 0, 1);
	assert_int_equal(look().left_calls, 0);
}

static void left_calls_that_hang_hold_up_their_owner_alone(void **state)
{
	enum { HANG = GUARD_OWNER_LEFT + 2 };
	struct guarded_call *opening = make_call(-1);
	struct waiting waiting[HANG];

	for (int i = 0; i < HANG; i++) {
		waiting[i] = make_waiting();
		guarded_leave(100 + i, waiting[i].call);
	}
	guarded_leave(200, make_call(-1));
	wait_until(&freed, 1);
	opening->opens = true;
	assert_int_equal(run_in_time(150, opening), GUARDED_PAUSED);
	assert_int_equal(run_in_time(250, opening), GUARDED_DONE);
	assert_int_equal(run_quick(150), GUARDED_DONE);
	for (int i = 0; i < HANG; i++)
		close(waiting[i].end);
	for (int i = 0; i < 2000000 && look().left_calls > 0; i++)
		poll(NULL, 0, 1);
	assert_int_equal(atomic_load(&freed), HANG + 1);
	assert_int_equal(run_in_time(150, opening), GUARDED_DONE);
	free(opening);
}

static void left_calls_return_before_the_end_unless_they_hang(void **state)
{
	enum { CALLS = 3 * GUARD_MAX_LEFT };
	const struct waiting waiting = make_waiting();

	for (int i = 0; i < CALLS; i++)
		guarded_leave(100, make_call(-1));
	guard_settle(guard);
	assert_int_equal(look().left_calls, 0);
	assert_int_equal(atomic_load(&ran), CALLS);
	assert_int_equal(atomic_load(&freed), CALLS);
	guarded_leave(100, waiting.call);
	guard_settle(guard);
	assert_int_equal(look().left_calls, 1);
	close(waiting.end);
	guard_settle(guard);
	assert_int_equal(atomic_load(&ran), CALLS + 1);
}

/* Of left calls that have not begun nothing remains; those that run end later. */
static void a_guard_ends_while_calls_hang(void **state)
{
	struct waiting waiting[GUARD_OWNER_LEFT + 2];
	const int late = run_late(200);

	for (int i = 0; i < GUARD_OWNER_LEFT + 2; i++) {
		waiting[i] = make_waiting();
		guarded_leave(100, waiting[i].call);
	}
	guarded_use(NULL);
	guard_free(guard);
	wait_until(&freed, 2);
	close(late);
	for (int i = 0; i < GUARD_OWNER_LEFT + 2; i++)
		close(waiting[i].end);
	wait_until(&freed, GUARD_OWNER_LEFT + 3);
	assert_int_equal(guard_new(owner_of, NULL, &guard), 0); /* for tear_down */
}

static void without_a_guard_the_caller_runs_the_call(void **state)
{
	guarded_use(NULL);
	assert_int_equal(run_quick(100), GUARDED_DONE);
	guarded_leave(100, make_call(-1));
	assert_int_equal(atomic_load(&ran), 2);
	assert_int_equal(atomic_load(&freed), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_call_in_time_is_the_callers),
		TEST(a_late_call_has_its_process_wait_and_no_other),
		TEST(pauses_double_and_are_forgotten),
		TEST(a_process_whose_calls_return_soon_hardly_has_to_wait),
		TEST(a_process_whose_calls_are_late_now_and_then_has_no_pause),
		TEST(an_owner_has_few_late_calls_at_a_time),
		TEST(an_owner_with_many_late_calls_has_to_wait),
		TEST(a_container_has_twice_the_late_calls_of_a_user),
		TEST(a_container_with_many_late_calls_has_to_wait),
		TEST(calls_that_return_soon_count_little),
		TEST(a_call_that_has_returned_soon_says_so),
		TEST(no_more_calls_are_late_than_there_are_helpers),
		TEST(in_a_turn_late_calls_are_waited_for_only_so_long),
		TEST(a_left_call_runs_and_is_freed),
		TEST(left_calls_that_hang_hold_up_their_owner_alone),
		TEST(left_calls_return_before_the_end_unless_they_hang),
		TEST(a_guard_ends_while_calls_hang),
		TEST(without_a_guard_the_caller_runs_the_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
