// SPDX-License-Identifier: Apache-2.0
/* Claims about work that nobody waits for; see guard/worker.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define WORKER 100

/* What tasks have noted. Only the thread writes, and the test reads once all have ended. */
struct notes {
	int order[WORKER + 1];
	size_t count;
	pthread_t thread;
	bool has_signals;
};

struct noting_task {
	struct worker_task base;
	struct notes *notes;
	int number;
	int fd; /* waits until a byte comes from here; -1: does not wait */
};

static void note(struct worker_task *base)
{
	struct noting_task *const task = (struct noting_task *)base;
	struct notes *const notes = task->notes;
	sigset_t set;
	char byte;

	if (task->fd >= 0 && read(task->fd, &byte, 1) != 1)
		abort();
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	notes->has_signals |= !sigismember(&set, SIGTERM);
	notes->thread = pthread_self();
	notes->order[notes->count++] = task->number;
	free(task);
}

static void add(struct worker *worker, struct notes *notes, int number, int fd)
{
	struct noting_task *task = malloc(sizeof(*task));

	assert_non_null(task);
	*task = (struct noting_task){
		.base = {.run = note}, .notes = notes, .number = number, .fd = fd};
	worker_add(worker, &task->base);
}

static void check_order(const struct notes *notes, size_t count)
{
	assert_int_equal(notes->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(notes->order[i], i);
	assert_false(notes->has_signals);
	assert_false(pthread_equal(notes->thread, pthread_self()));
}

static void worker_run_in_their_order_while_the_owner_goes_on(void **state)
{
	struct worker_stats stats;
	struct notes notes = {0};
	struct worker *worker;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(worker_new(&worker), 0);
	add(worker, &notes, 0, fds[0]);
	for (int i = 1; i < WORKER; i++)
		add(worker, &notes, i, -1);
	worker_stats(worker, &stats);
	assert_int_equal(stats.added, WORKER);
	assert_int_equal(stats.waiting, WORKER); /* the first one waits for its byte */
	assert_int_equal(write(fds[1], "", 1), 1);
	worker_wait(worker);
	check_order(&notes, WORKER);
	worker_stats(worker, &stats);
	assert_int_equal(stats.waiting, 0);
	assert_int_equal(stats.here, 0);
	worker_free(worker);
	close(fds[0]);
	close(fds[1]);
}

static void an_end_comes_after_all_tasks(void **state)
{
	struct notes notes = {0};
	struct worker *worker;

	assert_int_equal(worker_new(&worker), 0);
	for (int i = 0; i < WORKER; i++)
		add(worker, &notes, i, -1);
	worker_free(worker);
	check_order(&notes, WORKER);
}

static void who_has_no_worker_neither_waits_nor_has_a_thread(void **state)
{
	struct worker *worker;

	assert_int_equal(worker_new(&worker), 0);
	worker_wait(worker);
	worker_free(worker);
	worker_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worker_run_in_their_order_while_the_owner_goes_on),
		cmocka_unit_test(an_end_comes_after_all_tasks),
		cmocka_unit_test(who_has_no_worker_neither_waits_nor_has_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
