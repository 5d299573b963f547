// SPDX-License-Identifier: Apache-2.0
/*
 * What a writer that is killed at a random moment leaves: every window that it said was written,
 * and at most the one that it was at. FG_STORE_KILLS: so many moments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "samples.h"

#include "common/temp_dir.h"
#include "store/store_merge.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOUR  1699999200u
#define KILLS 25
#define WHOLE 0, 4000000000u

/* Writes window after window, and merges now and then; tells each window that is written. */
static void write_for_ever(const char *dir, uint64_t first, int fd)
{
	struct store_process process = samples_process(4711, 5, "org.example.Main");
	struct store *store = samples_open(dir, HOUR);

	for (uint64_t i = first;; i++) {
		const struct wall_clock later = samples_clock(HOUR + 10 * (int64_t)i + 100000);

		if (samples_write(store, HOUR, &process, "A.a", HOUR + 10 * i, 1) != 0 ||
		    write(fd, "x", 1) != 1)
			_exit(1);
		if (i % 7 == 0 && store_merge(store, &later) < 0)
			_exit(1);
	}
}

/* Lets a child write for so long. Returns the windows that it said it had written. */
static uint64_t run_and_kill(const char *dir, uint64_t first, long us)
{
	const struct timespec wait = {.tv_nsec = us * 1000};
	uint64_t told = 0;
	char bytes[256];
	int fds[2];
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		close(fds[0]);
		write_for_ever(dir, first, fds[1]);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], bytes, 1), 1); /* it is at work */
	nanosleep(&wait, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (told = 1; (n = read(fds[0], bytes, sizeof(bytes))) > 0;)
		told += (uint64_t)n;
	close(fds[0]);
	return told;
}

static void a_killed_writer_costs_at_most_the_window_it_was_at(void **state)
{
	const char *const text = getenv("FG_STORE_KILLS");
	const int kills = text ? atoi(text) : KILLS;
	const unsigned seed = (unsigned)time(NULL);
	char dir[TEMP_DIR_BYTES];
	uint64_t windows = 0, lost_at_most = 0;

	print_message("seed %u\n", seed);
	srandom(seed);
	temp_dir_make(dir);
	for (int i = 0; i < kills; i++) {
		const uint64_t told = windows + run_and_kill(dir, windows, random() % 30000);
		const uint64_t there = samples_count(dir, "A.a", WHOLE);
		struct store *store;

		assert_in_range(there, told, told + 1);
		store = samples_open(dir, HOUR);
		lost_at_most += store->stats.swept;
		assert_int_equal(store->stats.missing, 0);
		store_close(store);
		assert_int_equal(samples_count(dir, "A.a", WHOLE), there);
		windows = there;
	}
	print_message("%d kills, %llu windows, %llu files swept\n", kills,
		      (unsigned long long)windows, (unsigned long long)lost_at_most);
	temp_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_writer_costs_at_most_the_window_it_was_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
