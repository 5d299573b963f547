// SPDX-License-Identifier: Apache-2.0
/* Claims about work that nobody waits for; see guard/errands.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guard/errands.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define ERRANDS 100

/* What errands have noted. Only the thread writes, and the test reads once all have ended. */
struct notes {
	int order[ERRANDS + 1];
	size_t count;
	pthread_t thread;
	bool has_signals;
};

struct noting_errand {
	struct errand base;
	struct notes *notes;
	int number;
	int fd; /* waits until a byte comes from here; -1: does not wait */
};

static void note(struct errand *base)
{
	struct noting_errand *const errand = (struct noting_errand *)base;
	struct notes *const notes = errand->notes;
	sigset_t set;
	char byte;

	if (errand->fd >= 0 && read(errand->fd, &byte, 1) != 1)
		abort();
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	notes->has_signals |= !sigismember(&set, SIGTERM);
	notes->thread = pthread_self();
	notes->order[notes->count++] = errand->number;
	free(errand);
}

static void add(struct errands *errands, struct notes *notes, int number, int fd)
{
	struct noting_errand *errand = malloc(sizeof(*errand));

	assert_non_null(errand);
	*errand = (struct noting_errand){
		.base = {.run = note}, .notes = notes, .number = number, .fd = fd};
	errands_add(errands, &errand->base);
}

static void check_order(const struct notes *notes, size_t count)
{
	assert_int_equal(notes->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(notes->order[i], i);
	assert_false(notes->has_signals);
	assert_false(pthread_equal(notes->thread, pthread_self()));
}

static void errands_run_in_their_order_while_the_owner_goes_on(void **state)
{
	struct errands_stats stats;
	struct notes notes = {0};
	struct errands *errands;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(errands_new(&errands), 0);
	add(errands, &notes, 0, fds[0]);
	for (int i = 1; i < ERRANDS; i++)
		add(errands, &notes, i, -1);
	errands_stats(errands, &stats);
	assert_int_equal(stats.added, ERRANDS);
	assert_int_equal(stats.waiting, ERRANDS); /* the first one waits for its byte */
	assert_int_equal(write(fds[1], "", 1), 1);
	errands_wait(errands);
	check_order(&notes, ERRANDS);
	errands_stats(errands, &stats);
	assert_int_equal(stats.waiting, 0);
	assert_int_equal(stats.here, 0);
	errands_free(errands);
	close(fds[0]);
	close(fds[1]);
}

static void an_end_comes_after_all_errands(void **state)
{
	struct notes notes = {0};
	struct errands *errands;

	assert_int_equal(errands_new(&errands), 0);
	for (int i = 0; i < ERRANDS; i++)
		add(errands, &notes, i, -1);
	errands_free(errands);
	check_order(&notes, ERRANDS);
}

static void who_has_no_errands_neither_waits_nor_has_a_thread(void **state)
{
	struct errands *errands;

	assert_int_equal(errands_new(&errands), 0);
	errands_wait(errands);
	errands_free(errands);
	errands_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errands_run_in_their_order_while_the_owner_goes_on),
		cmocka_unit_test(an_end_comes_after_all_errands),
		cmocka_unit_test(who_has_no_errands_neither_waits_nor_has_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
