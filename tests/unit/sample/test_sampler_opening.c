// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about samplers that tasks open, stop and close; see sample/sampler_opening.h. Skips
 * where this user may not sample the whole system.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sample/sampler_opening.h"

#include <dirent.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_UID   54321
#define CAN_PERFMON 38
#define SMALL_STACK (8u << 10)

enum { FITS, CANNOT_SAMPLE, IS_SMALLER, FAILS };

/* Keeps all later tasks waiting, until a byte comes. */
struct holding_task {
	struct worker_task base;
	int fd;
};

static void hold_up(struct worker_task *base)
{
	char byte;

	if (read(((struct holding_task *)base)->fd, &byte, 1) != 1)
		abort();
}

static size_t count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static struct sampler_options options_of(struct worker *worker)
{
	return (struct sampler_options){.event = "cpu-clock",
					.hz = 99,
					.stack_bytes = SAMPLER_DEFAULT_STACK_BYTES,
					.worker = worker};
}

static void count_sample(void *arg, const struct record *record)
{
	*(size_t *)arg += record->kind == RECORD_SAMPLE;
}

/* This process is busy, so that it is sampled. */
static size_t sample(struct sampler *sampler)
{
	size_t n = 0;

	for (int i = 0; i < 100000000 && n == 0; i++) {
		if (i % 1000000 == 0)
			sampler_read(sampler, count_sample, &n);
	}
	return n;
}

static void a_sampler_is_closed_and_the_next_one_opened_behind_the_callers_back(void **state)
{
	struct holding_task held = {.base.run = hold_up};
	struct sampler_opening *opening;
	struct sampler_options options;
	struct worker_stats stats;
	struct worker *worker;
	struct sampler *sampler;
	size_t with_one;
	eventfd_t woken;
	int fds[2], wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(worker_new(&worker), 0);
	options = options_of(worker);
	if (sampler_open(&options, &sampler) < 0) {
		print_message("no system-wide events for this user here\n");
		skip();
	}
	with_one = count_fds();
	held.fd = fds[0];
	worker_add(worker, &held.base);
	sampler_stop(sampler);
	sampler_stop(sampler); /* nothing more to do */
	assert_true(sampler_read_ns(sampler) > 0);
	sampler_close(sampler);
	assert_int_equal(sampler_opening_start(&options, wake_fd, &opening), 0);
	worker_stats(worker, &stats);
	assert_int_equal(stats.waiting, 4);
	assert_false(sampler_opening_is_done(opening));
	assert_int_equal(count_fds(), with_one); /* nothing is closed or opened here */
	assert_int_equal(write(fds[1], "", 1), 1);
	assert_int_equal(sampler_opening_end(opening, &sampler), 0);
	assert_int_equal(eventfd_read(wake_fd, &woken), 0);
	assert_int_equal(count_fds(), with_one); /* those of the new one */
	assert_true(sample(sampler) > 0);
	sampler_close(sampler);
	worker_free(worker);
	assert_true(count_fds() < with_one);
	close(wake_fd);
	close(fds[0]);
	close(fds[1]);
}

static void what_an_task_cannot_open_is_said_to_its_owner(void **state)
{
	struct sampler_opening *opening;
	struct sampler_options options;
	struct worker *worker;
	struct sampler *sampler;
	int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	assert_int_equal(worker_new(&worker), 0);
	options = options_of(worker);
	options.hz = 4000000000u; /* more than any kernel allows */
	sampler_problem_set("");
	assert_int_equal(sampler_opening_start(&options, wake_fd, &opening), 0);
	assert_true(sampler_opening_end(opening, &sampler) < 0);
	assert_non_null(strstr(sampler_problem(), "perf_event_open: "));
	worker_free(worker);
	close(wake_fd);
}

/* Another user may lock so much memory; this user's own limit is shared with other programs. */
static int become_other_user(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {0};

	caps[CAN_PERFMON / 32].permitted = caps[CAN_PERFMON / 32].effective = 1u
									      << CAN_PERFMON % 32;
	return prctl(PR_SET_KEEPCAPS, 1) < 0 || setresuid(OTHER_UID, OTHER_UID, OTHER_UID) < 0 ||
			       syscall(SYS_capset, &header, caps) < 0
		       ? -1
		       : 0;
}

/* Opens a sampler, and another right after, with memory for one. */
static int open_two(void)
{
	struct worker *worker;
	struct sampler_options options;
	struct sampler_opening *opening;
	struct sampler_stats stats;
	struct sampler *sampler;
	struct rlimit limit;
	int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return FAILS;
	options = options_of(NULL);
	options.stack_bytes = SMALL_STACK; /* with rings that most limits allow */
	if (sampler_open(&options, &sampler) < 0)
		return CANNOT_SAMPLE;
	sampler_stats(sampler, &stats); /* of a user who may lock any memory */
	sampler_close(sampler);
	limit.rlim_cur = stats.ring_bytes;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) < 0 || become_other_user() < 0)
		return CANNOT_SAMPLE;
	if (worker_new(&worker) < 0) /* with the new user's rights */
		return FAILS;
	options.worker = worker;
	if (sampler_open(&options, &sampler) < 0)
		return CANNOT_SAMPLE;
	sampler_stats(sampler, &stats);
	if (stats.is_ring_smaller)
		return CANNOT_SAMPLE;
	sampler_stop(sampler);
	sampler_close(sampler);
	if (sampler_opening_start(&options, wake_fd, &opening) < 0 ||
	    sampler_opening_end(opening, &sampler) < 0)
		return FAILS;
	sampler_stats(sampler, &stats);
	return stats.is_ring_smaller ? IS_SMALLER : FITS;
}

static void the_next_sampler_has_the_locked_memory_of_the_last_one(void **state)
{
	const pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(open_two());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT_SAMPLE) {
		print_message("another user may not sample the whole system here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), FITS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_sampler_is_closed_and_the_next_one_opened_behind_the_callers_back),
		cmocka_unit_test(what_an_task_cannot_open_is_said_to_its_owner),
		cmocka_unit_test(the_next_sampler_has_the_locked_memory_of_the_last_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
