// SPDX-License-Identifier: Apache-2.0
/*
 * Processes with very many threads, and with threads that end while they are read: nothing is left
 * out, and time sums up. Needs root and a kernel of version 5.18 with BTF.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/map64.h"
#include "common/child.h"
#include "wall/thread_source.h"
#include "wall/thread_times.h"

#define STACK_BYTES  (48u << 10)
#define THREAD_BYTES (128u << 10) /* of memory for a stack */
#define TICKS	     12
#define SHORT_TICKS  300
#define ROUNDS	     8
/* A sanitizer's threads are too large, and there may be one or two of its own. */
#ifdef FG_SANITIZED
#define CROWD	 1000u
#define NOT_OURS 2u
#else
#define CROWD	 10000u
#define NOT_OURS 0u
#endif

/* In memory of both processes. */
struct board {
	_Atomic unsigned started, churned;
	_Atomic pid_t inner_pid; /* as the process itself knows it */
	uint32_t futex;
};

static struct board *board;

/* What a test finds of a process's threads. */
struct crowd {
	struct thread_source *source;
	struct thread_times *times;
	pid_t pid;
	struct map64 last_ns;			/* TID -> time of the last reading */
	uint64_t n_readings, n_stacks, n_first; /* of the process's first thread */
	uint64_t us, n_samples;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *idle(void *arg)
{
	board->started++;
	for (;;)
		syscall(SYS_futex, &board->futex, FUTEX_WAIT, 0, NULL, NULL, 0);
	return arg;
}

static void *end_soon(void *arg)
{
	board->churned++;
	sched_yield();
	return arg;
}

static bool start_thread(void *(*run)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;
	bool has_started;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	has_started = pthread_create(&thread, &attr, run, NULL) == 0;
	pthread_attr_destroy(&attr);
	return has_started;
}

static void run_crowd(void)
{
	for (unsigned i = 0; i < CROWD; i++) {
		if (!start_thread(idle))
			_exit(1);
	}
	for (;;)
		pause();
}

static void run_few(void)
{
	for (unsigned i = 0; i < CROWD / 20; i++) {
		if (!start_thread(idle))
			_exit(1);
	}
	for (;;)
		pause();
}

/* Some of these threads are always about to begin or to end. */
static void run_churn(void)
{
	for (;;) {
		if (!start_thread(end_soon))
			sched_yield();
	}
}

static void run_alone(void)
{
	board->inner_pid = getpid();
	for (;;)
		pause();
}

static pid_t start(void (*run)(void), unsigned long flags)
{
	pid_t pid;

	memset(board, 0, sizeof(*board));
	pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
	}
	return pid;
}

static void wait_for(const _Atomic unsigned *count, unsigned n, pid_t pid)
{
	while (*count < n) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			fail_msg("the machine lets a process have %u threads", *count);
		poll(NULL, 0, 10);
	}
}

static void on_record(void *arg, const struct record *record)
{
	struct crowd *const crowd = arg;

	crowd->us += record->sample.weight;
	crowd->n_samples++;
}

static void on_forget(void *arg, pid_t tid)
{
	thread_source_forget(((struct crowd *)arg)->source, tid);
}

static void on_reading(void *arg, const struct thread_reading *reading)
{
	struct crowd *const crowd = arg;

	assert_int_equal(reading->pid, crowd->pid);
	crowd->n_readings++;
	crowd->n_stacks += reading->has_stack;
	crowd->n_first += reading->tid == crowd->pid;
	map64_put(&crowd->last_ns, (uint64_t)reading->tid, (void *)(uintptr_t)reading->time_ns);
	if (crowd->times)
		thread_times_read(crowd->times, reading);
}

static struct crowd open_crowd(void)
{
	const struct thread_source_options options = {.stack_bytes = STACK_BYTES};
	struct crowd crowd = {0};
	char why[BPF_LOAD_WHY_BYTES];

	if (thread_source_open(&options, &crowd.source, why) < 0) {
		print_message("no BPF here: %s\n", why);
		skip();
	}
	return crowd;
}

static void want(struct crowd *crowd)
{
	assert_int_equal(thread_source_want(crowd->source, &crowd->pid, 1), 0);
}

/* Returns how long it took. */
static uint64_t tick(struct crowd *crowd)
{
	const uint64_t began_ns = now_ns();
	uint64_t lost = 1;

	assert_int_equal(thread_source_tick(crowd->source, on_reading, crowd, &lost), 0);
	assert_int_equal(lost, 0);
	if (crowd->times)
		thread_times_end_tick(crowd->times, lost, now_ns());
	return now_ns() - began_ns;
}

static void close_crowd(struct crowd *crowd)
{
	struct thread_source_stats stats;

	thread_source_stats(crowd->source, &stats);
	thread_source_close(crowd->source);
	thread_times_free(crowd->times);
	map64_fini(&crowd->last_ns);
	assert_int_equal(stats.lost + stats.lost_stacks + stats.broken + stats.unlisted, 0);
}

/* The time of all threads from start_ns up to their last readings. */
static uint64_t time_read_us(const struct crowd *crowd, uint64_t start_ns)
{
	size_t pos = 0;
	uint64_t tid, us = 0;
	void *last_ns;

	while (map64_next(&crowd->last_ns, &pos, &tid, &last_ns))
		us += ((uint64_t)(uintptr_t)last_ns - start_ns) / 1000;
	return us;
}

static void ten_thousand_threads_are_all_read_and_their_time_is_whole(void **state)
{
	struct crowd crowd = open_crowd();
	struct thread_times_stats stats;
	uint64_t first_ns, start_ns, ns = 0, read_us;

	crowd.pid = start(run_crowd, 0);
	wait_for(&board->started, CROWD, crowd.pid);
	want(&crowd);
	start_ns = now_ns();
	crowd.times = thread_times_new(&(struct thread_times_options){
		.start_ns = start_ns, .emit = on_record, .forget = on_forget, .arg = &crowd});
	first_ns = tick(&crowd);
	assert_in_range(crowd.n_readings, CROWD + 1, CROWD + 1 + NOT_OURS);
	assert_true(crowd.n_stacks >= CROWD);
	for (unsigned i = 1; i < TICKS; i++)
		ns += tick(&crowd);
	thread_times_flush(crowd.times);
	thread_times_stats(crowd.times, &stats);
	read_us = time_read_us(&crowd, start_ns);
	assert_int_equal(crowd.n_readings % TICKS, 0);
	assert_in_range(crowd.last_ns.count, CROWD + 1, CROWD + 1 + NOT_OURS);
	assert_int_equal(stats.threads_left_out, 0);
	assert_int_equal(stats.time_us[0] + stats.time_us[1] + stats.time_us[2], crowd.us);
	/* Each sample and each thread are rounded once. */
	assert_in_range(crowd.us, read_us - crowd.n_samples,
			read_us + crowd.n_samples + crowd.last_ns.count);
	print_message("%u idle threads: %llu us for the first tick, %llu us for each other one; "
		      "%llu stacks, %llu dropped, %zu KiB kept\n",
		      CROWD, (unsigned long long)first_ns / 1000,
		      (unsigned long long)ns / 1000 / (TICKS - 1),
		      (unsigned long long)crowd.n_stacks, (unsigned long long)stats.dropped_stacks,
		      stats.stack_bytes >> 10);
	child_end(crowd.pid);
	close_crowd(&crowd);
}

static void threads_that_end_while_they_are_read_take_no_other_ones_with_them(void **state)
{
	struct crowd crowd = open_crowd();

	crowd.pid = start(run_churn, 0);
	wait_for(&board->churned, 10, crowd.pid);
	want(&crowd);
	for (unsigned i = 0; i < SHORT_TICKS; i++)
		tick(&crowd);
	print_message("%llu readings of %zu threads, of some %u that were there\n",
		      (unsigned long long)crowd.n_readings, crowd.last_ns.count, board->churned);
	assert_int_equal(crowd.n_first, SHORT_TICKS);
	child_end(crowd.pid);
	close_crowd(&crowd);
}

/* It ends by itself, at some moment of some tick. */
static void a_process_may_end_while_it_is_read(void **state)
{
	struct crowd crowd = open_crowd();

	for (unsigned i = 0; i < ROUNDS; i++) {
		pid_t killer;

		crowd.pid = start(run_few, 0);
		wait_for(&board->started, CROWD / 20, crowd.pid);
		want(&crowd);
		tick(&crowd);
		killer = fork();
		if (killer == 0) {
			poll(NULL, 0, 5 * (int)i);
			kill(crowd.pid, SIGKILL);
			_exit(0);
		}
		while (waitpid(crowd.pid, NULL, WNOHANG) == 0) {
			for (pid_t tid = crowd.pid; tid < crowd.pid + (pid_t)CROWD / 20; tid++)
				thread_source_forget(crowd.source, tid);
			tick(&crowd);
		}
		child_check(killer);
		crowd.n_readings = 0;
		tick(&crowd);
		assert_int_equal(crowd.n_readings, 0);
	}
	close_crowd(&crowd);
}

static void threads_of_a_pid_namespace_have_the_hosts_numbers(void **state)
{
	struct crowd crowd = open_crowd();

	crowd.pid = start(run_alone, CLONE_NEWPID);
	while (!board->inner_pid)
		poll(NULL, 0, 1);
	assert_int_equal(board->inner_pid, 1);
	want(&crowd);
	tick(&crowd);
	assert_in_range(crowd.n_readings, 1, 1 + NOT_OURS);
	assert_int_equal(crowd.n_first, 1);
	child_end(crowd.pid);
	close_crowd(&crowd);
}

static int make_board(void **state)
{
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return board == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_thousand_threads_are_all_read_and_their_time_is_whole),
		cmocka_unit_test(threads_that_end_while_they_are_read_take_no_other_ones_with_them),
		cmocka_unit_test(a_process_may_end_while_it_is_read),
		cmocka_unit_test(threads_of_a_pid_namespace_have_the_hosts_numbers),
	};

	return cmocka_run_group_tests(tests, make_board, NULL);
}
