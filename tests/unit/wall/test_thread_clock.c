// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about wall/thread_clock.h, with threads of real processes: their time is whole, by BPF
 * and by files alike, and a process whose memory never answers costs its own stacks alone.
 */
#include "sample/sample_regs.h"
#include "wall/thread_clock.h"
#include "wall/thread_files.h"

#include "base/clock.h"
#include "base/map64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MANY	     60 /* threads */
#define STACK_BYTES  (48u << 10)
#define PAGE_BYTES   4096u
#define REGION_BYTES (32u * PAGE_BYTES)
#define OWN_PAGES    4u
#define DEEP_BYTES   (4u << 20)
#define SILENT_AT    (4 * PAGE_BYTES) /* from the deepest frame */
#define RUN_NS	     (2 * CLOCK_NS_PER_SEC)
/* A sanitizer may have threads of its own in a process. */
#ifdef FG_SANITIZED
#define MOST_THREADS 3
#else
#define MOST_THREADS 1
#endif

/* In memory of all processes. */
struct board {
	_Atomic int is_ready, is_deep;
	_Atomic uintptr_t deep_at; /* where the deepest frame begins */
	_Atomic uint64_t spun;
};

static struct board *board;

struct seen {
	uint64_t us[3];
	uint64_t n_stacks, n_samples;
	uint64_t last_ns;
};

struct world {
	struct thread_clock *clock;
	uint64_t start_ns, end_ns;
	pid_t pids[2];
	struct seen seen[2]; /* of the first threads */
	uint64_t others_us;
	size_t n_others;
};

static void nap(unsigned ms)
{
	poll(NULL, 0, (int)ms);
}

/* ---- processes ---- */

static pid_t start(void (*run)(void))
{
	pid_t pid;

	memset(board, 0, sizeof(*board));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		_exit(1);
	}
	while (!board->is_ready)
		nap(1);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void sleep_and_spin(void)
{
	board->is_ready = 1;
	for (;;) {
		const uint64_t until = clock_now_ns() + 3 * CLOCK_NS_PER_MS;

		nap(20);
		while (clock_now_ns() < until + 20 * CLOCK_NS_PER_MS)
			board->spun++;
	}
}

static void *change_often(void *arg)
{
	for (;;)
		poll(NULL, 0, 1);
	return arg;
}

/* Many threads that run a moment each tick. */
static void be_many(void)
{
	pthread_t thread;

	for (int i = 0; i < MANY; i++)
		pthread_create(&thread, NULL, change_often, NULL);
	board->is_ready = 1;
	change_often(NULL);
}

static void just_wait(void)
{
	board->is_ready = 1;
	for (;;)
		nap(1000);
}

static char *region;

/* Waits with a stack above which lie pages that nobody ever brings. */
static void wait_below_silence(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register silent = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	silent.range.start = (uintptr_t)(region + OWN_PAGES * PAGE_BYTES);
	silent.range.len = REGION_BYTES - OWN_PAGES * PAGE_BYTES;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &silent) < 0)
		_exit(2);
	just_wait();
}

static void wait_on_another_stack(void)
{
	static ucontext_t here, there;

	region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (region == MAP_FAILED)
		_exit(1);
	getcontext(&there);
	there.uc_stack.ss_sp = region;
	there.uc_stack.ss_size = OWN_PAGES * PAGE_BYTES;
	there.uc_link = NULL;
	makecontext(&there, wait_below_silence, 0);
	swapcontext(&here, &there);
}

/* Waits with a stack that lies in a file. */
static void wait_in_a_file(void)
{
	static ucontext_t here, there;
	const int fd = memfd_create("stack", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, REGION_BYTES) < 0)
		_exit(1);
	region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (region == MAP_FAILED)
		_exit(1);
	getcontext(&there);
	there.uc_stack.ss_sp = region;
	there.uc_stack.ss_size = REGION_BYTES;
	there.uc_link = NULL;
	makecontext(&there, just_wait, 0);
	swapcontext(&here, &there);
}

/* Below the pages that nobody brings; the thread's first frames are above them. */
static void *wait_deep(void *arg)
{
	volatile char deep[SILENT_AT + 32 * PAGE_BYTES];

	deep[0] = 1;
	__asm__ volatile("" : : "r"(deep) : "memory");
	board->deep_at = (uintptr_t)deep;
	board->is_deep = 1;
	for (;;)
		nap(1000);
	return arg;
}

static void wait_with_silence_in_the_stack(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register silent = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	pthread_attr_t attributes;
	pthread_t thread;
	uintptr_t silent_at;

	region = mmap(NULL, DEEP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, region, DEEP_BYTES);
	if (region == MAP_FAILED || pthread_create(&thread, &attributes, wait_deep, NULL) != 0)
		_exit(1);
	while (!board->is_deep)
		nap(1);
	silent_at = (board->deep_at + SILENT_AT) / PAGE_BYTES * PAGE_BYTES;
	silent.range.start = silent_at;
	silent.range.len = 2 * PAGE_BYTES;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &silent) < 0 ||
	    madvise((void *)silent_at, 2 * PAGE_BYTES, MADV_DONTNEED) < 0)
		_exit(2);
	just_wait();
}

static void *short_thread(void *arg)
{
	nap(10);
	return arg;
}

/* ---- the clock ---- */

static void on_sample(void *arg, const struct record *record)
{
	struct world *const world = arg;
	const struct sample *const sample = &record->sample;

	assert_int_equal(sample->kind, SAMPLE_OF_WALL);
	assert_true(record->time_ns >= world->start_ns);
	for (size_t i = 0; i < 2; i++) {
		struct seen *const seen = &world->seen[i];

		if (record->tid != world->pids[i])
			continue;
		seen->us[sample->state] += sample->weight;
		seen->n_samples++;
		seen->n_stacks += sample->stack_len > 0;
		seen->last_ns = record->time_ns;
		return;
	}
	world->others_us += sample->weight;
	world->n_others++;
}

static void open_world(struct world *world, enum sampler_source source, size_t queue_bytes)
{
	const struct thread_clock_options options = {.stack_bytes = STACK_BYTES,
						     .start_ns = clock_now_ns(),
						     .end_ns = UINT64_MAX / 4,
						     .source = source,
						     .queue_bytes = queue_bytes};

	world->start_ns = options.start_ns;
	assert_int_equal(thread_clock_start(&options, &world->clock), 0);
	thread_clock_want(world->clock, world->pids, NULL, world->pids[1] ? 2 : 1);
}

static void read_for(struct world *world, uint64_t ns)
{
	const uint64_t until = clock_now_ns() + ns;

	while (clock_now_ns() < until) {
		thread_clock_read(world->clock, 64, on_sample, world);
		nap(20);
	}
}

static struct thread_clock_stats stats_of(const struct world *world)
{
	struct thread_clock_stats stats;

	thread_clock_stats(world->clock, &stats);
	return stats;
}

static void stop(struct world *world)
{
	const uint64_t patience_ns = clock_now_ns() + 20 * CLOCK_NS_PER_SEC;

	world->end_ns = clock_now_ns();
	thread_clock_stop(world->clock, world->end_ns);
	while (!thread_clock_is_ended(world->clock) && clock_now_ns() < patience_ns) {
		thread_clock_read(world->clock, 64, on_sample, world);
		nap(5);
	}
	assert_true(thread_clock_is_ended(world->clock));
}

static void skip_without_bpf(const struct world *world)
{
	char text[THREAD_CLOCK_WHY_BYTES];

	thread_clock_source_text(world->clock, text);
	if (strcmp(text, "BPF") == 0)
		return;
	print_message("no BPF here: %s\n", text);
	skip();
}

/* All of the time, but for a moment between the end and the last reading. */
static void check_whole(const struct world *world, const struct seen *seen)
{
	const uint64_t us = seen->us[0] + seen->us[1] + seen->us[2];
	const uint64_t least = (world->end_ns - world->start_ns) / 1000;

	assert_in_range(us, least - least / 100, least + 500000); /* the reading may be late */
	assert_true(seen->last_ns < world->end_ns);
}

static void check_time(enum sampler_source source)
{
	struct world world = {0};
	uint64_t us;

	world.pids[0] = start(sleep_and_spin);
	open_world(&world, source, 0);
	read_for(&world, RUN_NS);
	if (source != SAMPLER_PERF)
		skip_without_bpf(&world);
	stop(&world);
	check_whole(&world, &world.seen[0]);
	us = world.seen[0].us[THREAD_BLOCKED];
	assert_true(us > 0 && world.seen[0].us[THREAD_RUNNING] > 0);
	assert_true(world.seen[0].n_stacks > 0);
	assert_int_equal(stats_of(&world).late_ticks, 0);
	assert_int_equal(stats_of(&world).failed_ticks, 0);
	assert_true(stats_of(&world).ticks > 10);
	thread_clock_close(world.clock);
	end(world.pids[0]);
}

static void time_is_whole_by_bpf(void **state)
{
	check_time(SAMPLER_AUTO);
}

static void time_is_whole_by_files(void **state)
{
	check_time(SAMPLER_PERF);
}

/*
 * The read never returns. The other process has all of its time, and the first one too: it is read
 * without stacks.
 */
static void memory_that_never_answers_costs_its_own_stacks(void **state)
{
	struct world world = {0};
	uint64_t stacks;

	world.pids[0] = start(wait_on_another_stack);
	world.pids[1] = start(sleep_and_spin);
	open_world(&world, SAMPLER_PERF, 0);
	read_for(&world, THREAD_CLOCK_LATE_NS + 2 * RUN_NS);
	assert_int_equal(stats_of(&world).late_ticks, 1);
	assert_int_equal(stats_of(&world).late, 1);
	assert_int_equal(stats_of(&world).stackless_pids, 1);
	stacks = world.seen[1].n_stacks;
	assert_true(stacks > 0);
	read_for(&world, RUN_NS / 2);
	assert_true(world.seen[1].n_stacks > stacks); /* it goes on */
	assert_int_equal(world.seen[0].n_stacks, 0);
	end(world.pids[0]); /* now the read returns */
	for (int i = 0; i < 40000 && stats_of(&world).late; i++)
		nap(5);
	assert_int_equal(stats_of(&world).late, 0);
	stop(&world);
	check_whole(&world, &world.seen[1]);
	thread_clock_close(world.clock);
	end(world.pids[1]);
}

static void a_clock_can_be_closed_while_a_read_stands_still(void **state)
{
	struct world world = {0};

	world.pids[0] = start(wait_on_another_stack);
	open_world(&world, SAMPLER_PERF, 0);
	nap(300);
	thread_clock_close(world.clock);
	end(world.pids[0]);
	nap(100); /* for a sanitizer: what the thread had is freed by now */
}

static void bpf_reads_no_memory_that_may_not_answer(void **state)
{
	struct world world = {0};

	world.pids[0] = start(wait_on_another_stack);
	world.pids[1] = start(wait_in_a_file);
	open_world(&world, SAMPLER_AUTO, 0);
	read_for(&world, RUN_NS / 2);
	skip_without_bpf(&world);
	stop(&world);
	assert_int_equal(stats_of(&world).late_ticks, 0);
	check_whole(&world, &world.seen[0]);
	check_whole(&world, &world.seen[1]);
	assert_true(world.seen[0].n_stacks > 0); /* of its own pages */
	assert_int_equal(world.seen[1].n_stacks, 0);
	thread_clock_close(world.clock);
	end(world.pids[0]);
	end(world.pids[1]);
}

static void bpf_reads_a_stack_up_to_memory_that_may_not_answer(void **state)
{
	struct world world = {0};

	world.pids[0] = start(wait_with_silence_in_the_stack);
	open_world(&world, SAMPLER_AUTO, 0);
	read_for(&world, THREAD_CLOCK_LATE_NS + RUN_NS);
	skip_without_bpf(&world);
	stop(&world);
	assert_int_equal(stats_of(&world).late_ticks, 0);
	check_whole(&world, &world.seen[0]);
	assert_true(world.others_us > 0);
	thread_clock_close(world.clock);
	end(world.pids[0]);
}

static void on_own_reading(void *arg, const struct thread_reading *reading)
{
	uint64_t *const start_ns = arg;

	if (reading->tid == getpid())
		*start_ns = reading->start_ns;
}

/* Whoever reads it, and however often the clocks are read for it. */
static void a_thread_has_one_start(void **state)
{
	const struct thread_source_options options = {0};
	const pid_t self = getpid();
	uint64_t first_ns = 0;

	for (int i = 0; i < 100; i++) {
		char why[BPF_LOAD_WHY_BYTES];
		struct thread_files *files;
		uint64_t start_ns = 0, lost;

		assert_int_equal(thread_files_open(&options, &files, why), 0);
		assert_int_equal(thread_files_want(files, &self, 1), 0);
		assert_int_equal(thread_files_tick(files, on_own_reading, &start_ns, &lost), 0);
		thread_files_close(files);
		first_ns = first_ns ? first_ns : start_ns;
		assert_true(start_ns > 0 && start_ns < clock_now_ns());
		assert_int_equal(start_ns, first_ns);
	}
}

static void what_has_no_room_is_counted(void **state)
{
	struct world world = {0};
	struct thread_clock_stats stats;
	char text[THREAD_CLOCK_WHY_BYTES], lost[64];
	uint64_t us;

	world.pids[0] = start(sleep_and_spin);
	open_world(&world, SAMPLER_PERF, 1);
	thread_clock_source_text(world.clock, text);
	assert_null(strstr(text, "lost"));
	nap(1500); /* nobody takes the samples */
	stop(&world);
	thread_clock_source_text(world.clock, text);
	snprintf(lost, sizeof(lost), ", %.1f s of their time lost",
		 (double)stats_of(&world).dropped_us / 1e6);
	assert_non_null(strstr(text, lost));
	stats = stats_of(&world);
	us = world.seen[0].us[0] + world.seen[0].us[1] + world.seen[0].us[2];
	assert_true(stats.dropped > 0);
	assert_in_range(us + stats.dropped_us, (world.end_ns - world.start_ns) / 1010,
			MOST_THREADS * ((world.end_ns - world.start_ns) / 1000 + 500000));
	thread_clock_close(world.clock);
	end(world.pids[0]);
}

/* Nobody takes the samples for a while, of which one process has many, and the other few. */
static void who_has_many_samples_loses_no_time_of_another_group(void **state)
{
	const uint64_t groups[] = {1, 2};
	struct world world = {0};

	world.pids[0] = start(just_wait);
	world.pids[1] = start(be_many);
	/*
	 * A quarter is for each: more than one has in its few stacks, less than a second of the
	 * other.
	 */
	open_world(&world, SAMPLER_PERF, 4000000);
	thread_clock_want(world.clock, world.pids, groups, 1);
	thread_clock_want(world.clock, world.pids, groups, 2);
	nap(3000);
	stop(&world);
	assert_true(stats_of(&world).dropped > 0);
	check_whole(&world, &world.seen[0]);
	thread_clock_close(world.clock);
	end(world.pids[0]);
	end(world.pids[1]);
}

static void threads_that_are_reported_have_their_time(void **state)
{
	struct world world = {.pids = {getpid()}};
	const uint64_t now = clock_now_ns();
	pthread_t thread;

	open_world(&world, SAMPLER_PERF, 0);
	thread_clock_want(world.clock, NULL, NULL, 0); /* no reading tells of anything */
	thread_clock_begin_thread(world.clock, getpid(), 99999, now + CLOCK_NS_PER_MS);
	thread_clock_end_thread(world.clock, 99999, now + 8 * CLOCK_NS_PER_MS);
	assert_int_equal(pthread_create(&thread, NULL, short_thread, NULL), 0);
	pthread_join(thread, NULL);
	stop(&world);
	assert_int_equal(world.n_others, 1);
	assert_int_equal(world.others_us, 7000);
	assert_int_equal(stats_of(&world).times.threads_unread, 1);
	thread_clock_close(world.clock);
}

static int set_up_group(void **state)
{
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return board == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_whole_by_bpf),
		cmocka_unit_test(time_is_whole_by_files),
		cmocka_unit_test(memory_that_never_answers_costs_its_own_stacks),
		cmocka_unit_test(a_clock_can_be_closed_while_a_read_stands_still),
		cmocka_unit_test(bpf_reads_no_memory_that_may_not_answer),
		cmocka_unit_test(bpf_reads_a_stack_up_to_memory_that_may_not_answer),
		cmocka_unit_test(a_thread_has_one_start),
		cmocka_unit_test(what_has_no_room_is_counted),
		cmocka_unit_test(who_has_many_samples_loses_no_time_of_another_group),
		cmocka_unit_test(threads_that_are_reported_have_their_time),
	};

	return cmocka_run_group_tests(tests, set_up_group, NULL);
}
