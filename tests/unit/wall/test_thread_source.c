// SPDX-License-Identifier: Apache-2.0
/*
 * What threads of a real process do, and what samples of wall-clock time say of it. Needs root and
 * a kernel of version 5.18 with BTF.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
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
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/reach.h"
#include "common/child.h"
#include "guard/reader.h"
#include "sample/bpf_layout.h"
#include "sample/sample_regs.h"
#include "wall/thread_source.h"
#include "wall/thread_times.h"

#define STACK_BYTES  (48u << 10)
#define TICK_MS	     50
#define RUN_MS	     2000
#define MARK	     UINT64_C(0x6d61726b6d61726b)
#define SLEEP_NS     300000000
#define HOLE_BYTES   (5 * 4096)
#define SLEEPER_NAME "sleeps"
/* Threads that a sanitizer has in a process, at most. */
#ifdef FG_SANITIZED
#define NOT_OURS 2
#else
#define NOT_OURS 0
#endif
#define MANY_THREADS 200
#define NO_PID	     (1 << 22) /* the kernel gives none of these */

enum role {
	SLEEPS,
	SPINS,
	WAITS,
	SHARES, /* a CPU, with the next one */
	SHARES_TOO,
	N_ROLES,
};

/* In memory of both processes. */
struct board {
	_Atomic pid_t tids[N_ROLES];
	_Atomic unsigned started;
	_Atomic bool is_done;	       /* the first thread has nothing more to do than to sleep */
	_Atomic uint64_t overslept_ns; /* that the sleeper has waited for a CPU, or run */
	uint32_t futex;
};

struct seen {
	pid_t tid;
	uint64_t first_ns, last_ns;
	uint64_t us[3];
	uint64_t ran_ns; /* as /proc has it */
	uint64_t delay_ns;
	uint64_t n_stacks, n_blocked, n_marked, n_hole, n_kernel;
	int32_t syscall;
	char comm[SAMPLE_COMM_BYTES]; /* of the last reading */
};

struct run {
	struct thread_source *source;
	struct thread_times *times;
	pid_t pid;
	struct seen seen[N_ROLES];
	uint64_t n_readings, n_stacks;
	uint64_t overslept_ns;
};

static struct board *board;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void begin(enum role role)
{
	board->tids[role] = (pid_t)syscall(SYS_gettid);
	board->started++;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void spin(void)
{
	for (volatile uint64_t i = 0;; i++)
		;
}

/* The number that the test looks for lies above memory that was never written to. */
__attribute__((noinline)) static void sleep_above_a_hole(void)
{
	const uint64_t began_ns = now_ns();
	volatile uint8_t hole[HOLE_BYTES];

	__asm__ volatile("" : : "r"(hole) : "memory"); /* nothing of it is written to */
	for (uint64_t n = 1;; n++) {
		nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
		board->overslept_ns = now_ns() - began_ns - n * SLEEP_NS;
	}
}

static void *sleeper(void *arg)
{
	volatile uint64_t mark[8];

	prctl(PR_SET_NAME, SLEEPER_NAME);
	for (size_t i = 0; i < 8; i++)
		mark[i] = MARK;
	__asm__ volatile("" : : "r"(mark) : "memory");
	begin(SLEEPS);
	sleep_above_a_hole();
	return arg;
}

static void *spinner(void *arg)
{
	pin(0);
	begin(SPINS);
	spin();
	return arg;
}

static void *waiter(void *arg)
{
	volatile uint64_t mark[8];

	for (size_t i = 0; i < 8; i++)
		mark[i] = MARK;
	__asm__ volatile("" : : "r"(mark) : "memory");
	begin(WAITS);
	for (;;)
		syscall(SYS_futex, &board->futex, FUTEX_WAIT, 0, NULL, NULL, 0);
	return arg;
}

static void *sharer(void *arg)
{
	pin(sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 1 : 0);
	begin(board->tids[SHARES] ? SHARES_TOO : SHARES);
	spin();
	return arg;
}

static void *idler(void *arg)
{
	board->started++;
	for (;;)
		syscall(SYS_futex, &board->futex, FUTEX_WAIT, 0, NULL, NULL, 0);
	return arg;
}

static void run_threads(void *(*const *fns)(void *), size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned before = board->started;
		pthread_t thread;

		if (pthread_create(&thread, NULL, fns[i], NULL) != 0)
			_exit(1);
		while (board->started == before)
			poll(NULL, 0, 1);
	}
}

static void run_roles(void)
{
	void *(*const fns[])(void *) = {sleeper, spinner, waiter, sharer, sharer};

	run_threads(fns, sizeof(fns) / sizeof(fns[0]));
}

static void run_sleeper(void)
{
	void *(*const fns[])(void *) = {sleeper};

	run_threads(fns, 1);
}

static void run_many(void)
{
	void *(*fns[MANY_THREADS])(void *);

	for (size_t i = 0; i < MANY_THREADS; i++)
		fns[i] = idler;
	run_threads(fns, MANY_THREADS);
}

/* The threads of a process: up to n into `tids`; returns how many. */
static size_t threads_of(pid_t pid, pid_t *tids, size_t n)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;
	size_t count = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	assert_non_null(dir);
	while (count < n && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			tids[count++] = atoi(entry->d_name);
	}
	closedir(dir);
	return count;
}

static bool is_asleep(pid_t pid, pid_t tid)
{
	char path[64], text[512];
	const char *state;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	assert_true(file_read_small(path, text, sizeof(text)) > 0);
	state = strrchr(text, ')');
	return state && strncmp(state, ") S", 3) == 0;
}

/* Starts a process whose first thread starts n others, and returns when the first one sleeps. */
static pid_t start(void (*run)(void), unsigned n)
{
	pid_t pid;

	memset(board, 0, sizeof(*board));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		board->is_done = true;
		for (;;)
			pause();
	}
	while (board->started < n || !board->is_done || !is_asleep(pid, pid))
		poll(NULL, 0, 1);
	return pid;
}

/* Starts a process whose threads all sleep, and returns when the last one does. */
static pid_t start_many(void)
{
	const pid_t pid = start(run_many, MANY_THREADS);
	pid_t tids[MANY_THREADS + 1 + NOT_OURS];
	const size_t n = threads_of(pid, tids, sizeof(tids) / sizeof(tids[0]));

	assert_true(n > MANY_THREADS);
	for (size_t i = 0; i < n; i++) {
		while (!is_asleep(pid, tids[i]))
			poll(NULL, 0, 1);
	}
	return pid;
}

/* Other processes begin threads meanwhile: the numbers of these need not follow each other. */
static void forget_all(const struct run *run)
{
	pid_t tids[MANY_THREADS + 1 + NOT_OURS];
	const size_t n = threads_of(run->pid, tids, sizeof(tids) / sizeof(tids[0]));

	for (size_t i = 0; i < n; i++)
		thread_source_forget(run->source, tids[i]);
}

static bool has_mark(const struct sample *sample, uint32_t from)
{
	for (uint32_t off = from; off + sizeof(uint64_t) <= sample->stack_len;
	     off += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, sample->stack + off, sizeof(word));
		if (word == MARK)
			return true;
	}
	return false;
}

static struct seen *seen_of(struct run *run, pid_t tid)
{
	for (size_t i = 0; i < N_ROLES; i++) {
		if (run->seen[i].tid == tid)
			return &run->seen[i];
	}
	return NULL;
}

static void on_record(void *arg, const struct record *record)
{
	const struct sample *const sample = &record->sample;
	struct seen *const seen = seen_of(arg, record->tid);

	if (!seen)
		return;
	seen->us[sample->state] += sample->weight;
	if (sample->state != THREAD_BLOCKED || !sample->regs)
		return;
	seen->n_blocked++;
	seen->n_marked += has_mark(sample, 0);
	seen->n_hole += has_mark(sample, HOLE_BYTES);
	seen->n_kernel += sample->kernel.len > 0;
	seen->syscall = sample_syscall(sample);
	assert_int_equal(sample_regs_get(sample->regs, SAMPLE_REG_SP) % 8, 0);
}

static void on_forget(void *arg, pid_t tid)
{
	thread_source_forget(((struct run *)arg)->source, tid);
}

static void on_reading(void *arg, const struct thread_reading *reading)
{
	struct run *const run = arg;
	struct seen *const seen = seen_of(run, reading->tid);

	assert_int_equal(reading->pid, run->pid);
	run->n_readings++;
	run->n_stacks += reading->has_stack;
	if (seen) {
		seen->first_ns = seen->first_ns ? seen->first_ns : reading->time_ns;
		seen->last_ns = reading->time_ns;
		seen->delay_ns = reading->delay_ns;
		seen->n_stacks += reading->has_stack;
		memcpy(seen->comm, reading->comm, sizeof(seen->comm));
	}
	if (run->times)
		thread_times_read(run->times, reading);
}

static struct thread_source *open_source(size_t ring_bytes)
{
	const struct thread_source_options options = {.stack_bytes = STACK_BYTES,
						      .ring_bytes = ring_bytes};
	struct thread_source *source;
	char why[BPF_LOAD_WHY_BYTES];

	if (thread_source_open(&options, &source, why) < 0) {
		print_message("no BPF here: %s\n", why);
		skip();
	}
	return source;
}

static struct run open_run(size_t ring_bytes)
{
	return (struct run){.source = open_source(ring_bytes)};
}

static uint64_t tick(struct run *run)
{
	uint64_t lost;

	assert_int_equal(thread_source_tick(run->source, on_reading, run, &lost), 0);
	return lost;
}

/* As a collector would: tick by tick, with jitter. */
static void tick_for(struct run *run, unsigned ms)
{
	const uint64_t until = now_ns() + (uint64_t)ms * 1000000;

	while (now_ns() < until) {
		thread_times_end_tick(run->times, tick(run), now_ns());
		poll(NULL, 0, TICK_MS - 10 + rand() % 20);
	}
}

static uint64_t ran_ns(pid_t pid, pid_t tid)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	assert_true(file_read_small(path, text, sizeof(text)) > 0);
	return strtoull(text, NULL, 10);
}

/* The samples of a process of all roles, in one run for all tests of them. */
static struct run run_of_roles(void)
{
	static struct run run;
	struct thread_source_stats stats;

	if (run.pid)
		return run;
	run = open_run(0);
	run.pid = start(run_roles, N_ROLES);
	run.times = thread_times_new(&(struct thread_times_options){
		.start_ns = now_ns(), .emit = on_record, .forget = on_forget, .arg = &run});
	for (size_t i = 0; i < N_ROLES; i++)
		run.seen[i].tid = board->tids[i];
	assert_int_equal(thread_source_want(run.source, &run.pid, 1), 0);
	run.overslept_ns = board->overslept_ns;
	for (size_t i = 0; i < N_ROLES; i++)
		run.seen[i].ran_ns = ran_ns(run.pid, run.seen[i].tid);
	tick_for(&run, RUN_MS);
	for (size_t i = 0; i < N_ROLES; i++)
		run.seen[i].ran_ns = ran_ns(run.pid, run.seen[i].tid) - run.seen[i].ran_ns;
	run.overslept_ns = board->overslept_ns - run.overslept_ns;
	thread_times_flush(run.times);
	thread_source_stats(run.source, &stats);
	assert_int_equal(stats.lost + stats.lost_stacks + stats.broken, 0);
	child_end(run.pid);
	thread_times_free(run.times);
	thread_source_close(run.source);
	for (size_t i = 0; i < N_ROLES; i++)
		print_message("role %zu: %llu us running, %llu runnable, %llu blocked\n", i,
			      (unsigned long long)run.seen[i].us[THREAD_RUNNING],
			      (unsigned long long)run.seen[i].us[THREAD_RUNNABLE],
			      (unsigned long long)run.seen[i].us[THREAD_BLOCKED]);
	return run;
}

static uint64_t sum_of(const struct seen *seen)
{
	return seen->us[THREAD_RUNNING] + seen->us[THREAD_RUNNABLE] + seen->us[THREAD_BLOCKED];
}

static void check_percent(const struct seen *seen, uint64_t us, unsigned least, unsigned most)
{
	const uint64_t sum = sum_of(seen);

	assert_true(sum > 0);
	assert_in_range(us * 100 / sum, least, most);
}

static void the_states_of_a_thread_sum_up_to_its_time(void **state)
{
	const struct run run = run_of_roles();

	for (size_t i = 0; i < N_ROLES; i++) {
		const struct seen *const seen = &run.seen[i];
		const uint64_t us = (seen->last_ns - seen->first_ns) / 1000;

		assert_true(us > (RUN_MS - 200) * 1000);
		assert_in_range(sum_of(seen), us - us / 100, us + us / 100);
	}
}

/* But for the time in which a sleep has ended and there was no CPU, which the sleeper knows. */
static void threads_that_sleep_or_wait_are_blocked(void **state)
{
	const struct run run = run_of_roles();

	check_percent(&run.seen[SLEEPS],
		      run.seen[SLEEPS].us[THREAD_BLOCKED] + run.overslept_ns / 1000, 95, 105);
	check_percent(&run.seen[WAITS], run.seen[WAITS].us[THREAD_BLOCKED], 95, 100);
}

/* On a busy machine a thread that wants to run waits for its CPU; it is never blocked. */
static void threads_that_spin_run_or_wait_for_a_cpu(void **state)
{
	const struct run run = run_of_roles();

	for (enum role role = SPINS; role < N_ROLES; role++) {
		const struct seen *const seen = &run.seen[role];

		if (role == WAITS)
			continue;
		check_percent(seen, seen->us[THREAD_RUNNING] + seen->us[THREAD_RUNNABLE], 95, 100);
		/* Of which running, up to the last reading: what /proc says. */
		check_percent(seen,
			      2 * sum_of(seen) + seen->us[THREAD_RUNNING] - seen->ran_ns / 1000,
			      194, 205);
	}
	assert_true(run.seen[SHARES].delay_ns > UINT64_C(300000000));
	check_percent(&run.seen[SHARES], run.seen[SHARES].us[THREAD_RUNNABLE], 30, 100);
	check_percent(&run.seen[SHARES_TOO], run.seen[SHARES_TOO].us[THREAD_RUNNABLE], 30, 100);
}

static void a_blocked_sample_has_the_system_call_and_both_stacks(void **state)
{
	const struct run run = run_of_roles();
	const struct seen *const sleeps = &run.seen[SLEEPS], *const waits = &run.seen[WAITS];

	assert_true(sleeps->n_blocked > 2 && waits->n_blocked >= 2);
	assert_int_equal(sleeps->n_marked, sleeps->n_blocked);
	assert_int_equal(sleeps->n_kernel, sleeps->n_blocked);
	assert_int_equal(waits->n_marked, waits->n_blocked);
	assert_int_equal(waits->n_kernel, waits->n_blocked);
#ifdef SYS_nanosleep
	assert_true(sleeps->syscall == SYS_clock_nanosleep || sleeps->syscall == SYS_nanosleep);
#else
	assert_int_equal(sleeps->syscall, SYS_clock_nanosleep);
#endif
	assert_int_equal(waits->syscall, SYS_futex);
}

static void a_stack_goes_on_behind_pages_that_were_never_written_to(void **state)
{
	const struct run run = run_of_roles();

	assert_int_equal(run.seen[SLEEPS].n_hole, run.seen[SLEEPS].n_blocked);
}

static void a_reading_has_the_name_of_its_thread(void **state)
{
	const struct run run = run_of_roles();

	assert_string_equal(run.seen[SLEEPS].comm, SLEEPER_NAME);
	assert_string_not_equal(run.seen[WAITS].comm, "");
	assert_string_not_equal(run.seen[WAITS].comm, SLEEPER_NAME);
}

static void a_thread_that_waits_on_has_one_stack(void **state)
{
	const struct run run = run_of_roles();

	assert_int_equal(run.seen[WAITS].n_stacks, 1);
	assert_in_range(run.seen[SLEEPS].n_stacks, RUN_MS / 300 - 3, RUN_MS / 300 + 2);
}

static void whose_stack_was_forgotten_has_it_in_the_next_reading(void **state)
{
	struct run run = open_run(0);

	run.pid = start_many();
	thread_source_want(run.source, &run.pid, 1);
	tick(&run);
	assert_true(run.n_stacks >= MANY_THREADS);
	run.n_stacks = 0;
	tick(&run);
	assert_in_range(run.n_stacks, 0, 3 + NOT_OURS);
	run.n_stacks = 0;
	thread_source_forget(run.source, run.pid);
	tick(&run);
	assert_in_range(run.n_stacks, 1, 3 + NOT_OURS);
	child_end(run.pid);
	thread_source_close(run.source);
}

/* The stacks of one tick are many times as large as the ring buffer. */
static void a_small_ring_buffer_is_emptied_while_threads_are_read(void **state)
{
	struct run run = open_run(256 << 10);
	struct thread_source_stats stats;

	run.pid = start_many();
	thread_source_want(run.source, &run.pid, 1);
	for (unsigned i = 0; i < 5; i++) {
		forget_all(&run);
		tick(&run);
	}
	thread_source_stats(run.source, &stats);
	child_end(run.pid);
	thread_source_close(run.source);
	assert_int_equal(stats.lost + stats.lost_stacks, 0);
	assert_in_range(run.n_readings, 5 * (MANY_THREADS + 1), 5 * (MANY_THREADS + 1 + NOT_OURS));
	assert_true(run.n_stacks >= 5 * MANY_THREADS);
}

static void what_has_no_room_is_counted(void **state)
{
	struct run run = open_run((size_t)sysconf(_SC_PAGESIZE)); /* a stack has more bytes */
	struct thread_source_stats stats;

	run.pid = start(run_sleeper, 1);
	thread_source_want(run.source, &run.pid, 1);
	for (unsigned i = 0; i < 3; i++)
		tick(&run);
	thread_source_stats(run.source, &stats);
	child_end(run.pid);
	thread_source_close(run.source);
	assert_in_range(stats.lost_stacks, 3, 3 * (2 + NOT_OURS));
	assert_int_equal(stats.lost, 0);
	assert_in_range(run.n_readings, 6, 3 * (2 + NOT_OURS)); /* though without stacks */
}

static void threads_of_whom_nobody_wants_do_not_come(void **state)
{
	struct run run = open_run(0);
	uint64_t readings;

	run.pid = start(run_sleeper, 1);
	tick(&run);
	assert_int_equal(run.n_readings, 0);
	thread_source_want(run.source, &run.pid, 1);
	tick(&run);
	assert_in_range(run.n_readings, 2, 2 + NOT_OURS);
	readings = run.n_readings;
	thread_source_want(run.source, NULL, 0);
	tick(&run);
	assert_int_equal(run.n_readings, readings);
	child_end(run.pid);
	thread_source_close(run.source);
}

/* The last one of a list has no room. */
static void whoever_has_no_room_in_the_table_is_counted_at_each_tick(void **state)
{
	static pid_t pids[BPF_MAX_WANTED + 1];
	struct run run = open_run(0);
	struct thread_source_stats stats;

	run.pid = start(run_sleeper, 1);
	for (pid_t i = 0; i < (pid_t)BPF_MAX_WANTED; i++)
		pids[i] = NO_PID + i;
	pids[BPF_MAX_WANTED] = run.pid;
	assert_int_equal(thread_source_want(run.source, pids, BPF_MAX_WANTED + 1), 1);
	assert_int_equal(tick(&run), 1);
	assert_int_equal(tick(&run), 1);
	assert_int_equal(run.n_readings, 0);
	assert_int_equal(thread_source_want(run.source, pids + 1, BPF_MAX_WANTED), 0);
	assert_int_equal(tick(&run), 0);
	assert_in_range(run.n_readings, 2, 2 + NOT_OURS);
	thread_source_stats(run.source, &stats);
	assert_int_equal(stats.unlisted, 2);
	child_end(run.pid);
	thread_source_close(run.source);
}

static void what_a_tick_of_idle_threads_costs_is_told(void **state)
{
	struct run run = open_run(0);
	uint64_t first_ns, ns;

	run.pid = start_many();
	thread_source_want(run.source, &run.pid, 1);
	first_ns = now_ns();
	tick(&run);
	first_ns = now_ns() - first_ns;
	ns = now_ns();
	for (unsigned i = 0; i < 20; i++)
		tick(&run);
	ns = (now_ns() - ns) / 20;
	child_end(run.pid);
	thread_source_close(run.source);
	print_message("%d idle threads: %llu us for the first tick, %llu us for each other one\n",
		      MANY_THREADS, (unsigned long long)first_ns / 1000,
		      (unsigned long long)ns / 1000);
}

static void whoever_lacks_the_right_is_told(void **state)
{
	const pid_t pid = fork();

	if (pid == 0) {
		const struct thread_source_options options = {.stack_bytes = STACK_BYTES};
		struct thread_source *source;
		char why[BPF_LOAD_WHY_BYTES];

		if (!child_becomes_nobody() || thread_source_open(&options, &source, why) == 0)
			_exit(1);
		_exit(strstr(why, "CAP_BPF") ? 0 : 2);
	}
	child_check(pid);
}

static int make_board(void **state)
{
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return board == MAP_FAILED ? -1 : 0;
}

static ssize_t run_pid(const void *request, size_t len, int fd, void *bytes)
{
	const pid_t pid = getpid();

	memcpy(bytes, &pid, sizeof(pid));
	return sizeof(pid);
}

static const struct reader_role pid_role = {run_pid};

/* The process of the reader that whoever takes one next gets. */
static pid_t next_reader(void)
{
	struct reader *const reader = reader_take();
	const void *bytes;
	pid_t pid;

	reader_set(reader, &pid_role, NULL, 0);
	assert_true(reader_begin(reader, REACH_NO_FD));
	assert_true(reader_wait(reader, UINT64_MAX));
	assert_int_equal(reader_result(reader, &bytes), sizeof(pid));
	memcpy(&pid, bytes, sizeof(pid));
	reader_give(reader);
	return pid;
}

static void *tick_in_vain(void *arg)
{
	uint64_t lost;

	return (void *)(intptr_t)thread_source_tick(((struct run *)arg)->source, on_reading, arg,
						    &lost);
}

static void readers_make_ticks(void **state)
{
	struct run run;

	assert_int_equal(reach_start(), 0);
	run = open_run(256 << 10); /* several calls of a reader a tick */
	run.pid = start_many();
	thread_source_want(run.source, &run.pid, 1);
	tick(&run);
	child_end(run.pid);
	thread_source_close(run.source);
	reach_stop();
	assert_in_range(run.n_readings, MANY_THREADS + 1, MANY_THREADS + 1 + NOT_OURS);
	assert_true(run.n_stacks >= MANY_THREADS);
}

/* The reader stands as one does that waits for a page that never comes. */
static void a_tick_that_stands_ends_with_all_calls(void **state)
{
	struct run run = open_run(0);
	pthread_t thread;
	pid_t reader;
	void *result;

	assert_int_equal(reach_start(), 0);
	reader = next_reader();
	run.pid = start(run_sleeper, 1);
	thread_source_want(run.source, &run.pid, 1);
	assert_int_equal(thread_source_runner(run.source), 0);
	assert_int_equal(kill(reader, SIGSTOP), 0);
	assert_int_equal(pthread_create(&thread, NULL, tick_in_vain, &run), 0);
	while (thread_source_runner(run.source) != reader)
		usleep(1000);
	reach_stop();
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_int_equal((intptr_t)result, -ECHILD);
	assert_int_equal(run.n_readings, 0);
	assert_int_equal(thread_source_runner(run.source), 0);
	child_end(run.pid);
	thread_source_close(run.source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_states_of_a_thread_sum_up_to_its_time),
		cmocka_unit_test(threads_that_sleep_or_wait_are_blocked),
		cmocka_unit_test(threads_that_spin_run_or_wait_for_a_cpu),
		cmocka_unit_test(a_blocked_sample_has_the_system_call_and_both_stacks),
		cmocka_unit_test(a_stack_goes_on_behind_pages_that_were_never_written_to),
		cmocka_unit_test(a_reading_has_the_name_of_its_thread),
		cmocka_unit_test(a_thread_that_waits_on_has_one_stack),
		cmocka_unit_test(whose_stack_was_forgotten_has_it_in_the_next_reading),
		cmocka_unit_test(a_small_ring_buffer_is_emptied_while_threads_are_read),
		cmocka_unit_test(what_has_no_room_is_counted),
		cmocka_unit_test(threads_of_whom_nobody_wants_do_not_come),
		cmocka_unit_test(whoever_has_no_room_in_the_table_is_counted_at_each_tick),
		cmocka_unit_test(what_a_tick_of_idle_threads_costs_is_told),
		cmocka_unit_test(whoever_lacks_the_right_is_told),
		/* Without reach_start there is no way back from readers. */
		cmocka_unit_test(readers_make_ticks),
		cmocka_unit_test(a_tick_that_stands_ends_with_all_calls),
	};

	return cmocka_run_group_tests(tests, make_board, NULL);
}
