// SPDX-License-Identifier: Apache-2.0
/*
 * Who gets the ring buffer of waits when there is not enough of it. Needs root and a kernel of
 * version 6.18 with BTF.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "common/child.h"
#include "wall/wait_source.h"

#define MS	      1000000
#define RING_BYTES    262144
#define STORM_THREADS 20

static _Atomic uint64_t *n_waits; /* of the sleeper, in memory of both processes */

static void sleep_ns(long ns)
{
	const struct timespec time = {.tv_nsec = ns};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static struct wait_source *open_source(void)
{
	const struct wait_source_options options = {
		.quantum_ns = 2 * MS, .stack_bytes = 48 << 10, .ring_bytes = RING_BYTES};
	struct wait_source *source;
	char why[BPF_LOAD_WHY_BYTES];

	if (wait_source_open(&options, &source, why) == 0)
		return source;
	print_message("no waits here: %s\n", why);
	assert_true(wait_source_check(why) < 0); /* or else it has to be possible */
	skip();
	return NULL;
}

/* Waits again and again, with a stack as small as the sleeper's: either has room, or neither. */
static void *storm(void *arg)
{
	volatile uint8_t below[2048];

	memset((void *)(uintptr_t)below, 1, sizeof(below));
	while (below[0])
		sleep_ns(2 * MS);
	return arg;
}

static pid_t start_storm(void)
{
	pthread_t thread;
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < STORM_THREADS; i++)
		pthread_create(&thread, NULL, storm, NULL);
	storm(NULL);
	_exit(1);
}

static pid_t start_sleeper(void)
{
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;; (*n_waits)++)
		sleep_ns(20 * MS);
}

struct pair {
	pid_t sleeper;
	uint64_t n_sleeper, n_storm;
};

static void on_wait_of_two(void *arg, const struct wait_reading *wait)
{
	struct pair *const pair = arg;

	pair->n_sleeper += wait->pid == pair->sleeper;
	pair->n_storm += wait->pid != pair->sleeper;
}

/* The ring buffer is far too small for the one, and large enough for the other. */
static void who_waits_without_end_takes_no_waits_of_another_group(void **state)
{
	struct wait_source *const source = open_source();
	const uint64_t groups[] = {1, 2};
	const struct wait_owners owners = {.groups = groups, .n_groups = 2};
	pid_t pids[] = {start_storm(), 0};
	struct pair pair = {0};
	struct wait_source_stats stats;
	uint64_t before, waits;

	(void)state;
	*n_waits = 0;
	pids[1] = pair.sleeper = start_sleeper();
	assert_int_equal(wait_source_want(source, &owners, pids, 2), 0);
	poll(NULL, 0, 200);
	wait_source_read(source, on_wait_of_two, &pair);
	pair.n_sleeper = 0;
	before = *n_waits;
	for (int i = 0; i < 60; i++) {
		poll(NULL, 0, 50);
		wait_source_read(source, on_wait_of_two, &pair);
	}
	waits = *n_waits - before;
	wait_source_stats(source, &stats);
	print_message("%d of %d waits were read, and %d of the storm, which lost %d\n",
		      (int)pair.n_sleeper, (int)waits, (int)pair.n_storm, (int)stats.lost);
	assert_true(stats.lost > 100);
	assert_true(waits > 50);
	assert_true(pair.n_sleeper * 100 >= (waits - 1) * 97);
	wait_source_close(source);
	child_end(pids[0]);
	child_end(pids[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_without_end_takes_no_waits_of_another_group),
	};

	n_waits = mmap(NULL, sizeof(*n_waits), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (n_waits == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
