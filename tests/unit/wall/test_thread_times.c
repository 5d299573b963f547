// SPDX-License-Identifier: Apache-2.0
/* How the time of threads is divided; readings and samples, no kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/sample_regs.h"
#include "wall/thread_times.h"

#define MS	  UINT64_C(1000000)
#define START	  (1000 * MS)
#define TICK	  (50 * MS)
#define PID	  70
#define TID	  80 /* of phase 0: the first sample is as late as all others */
#define MOST_SEEN 4096

/* What has come out, and one thread on its way through time. */
struct world {
	struct thread_times *times;
	uint64_t us[3];
	struct {
		enum thread_state state;
		uint64_t weight, time_ns;
		pid_t tid;
		int32_t syscall;
		uint8_t first; /* of the stack; 0: none */
		size_t n_kernel;
		char comm[SAMPLE_COMM_BYTES];
	} seen[MOST_SEEN];
	size_t n_seen;
	pid_t forgotten[MOST_SEEN];
	size_t n_forgotten;
	struct thread_reading thread;
};

static void on_record(void *arg, const struct record *record)
{
	struct world *const world = arg;
	const struct sample *const sample = &record->sample;

	assert_int_equal(record->kind, RECORD_SAMPLE);
	assert_int_equal(sample->kind, SAMPLE_OF_WALL);
	assert_true(sample->weight > 0);
	world->us[sample->state] += sample->weight;
	assert_true(world->n_seen < MOST_SEEN);
	world->seen[world->n_seen].state = (enum thread_state)sample->state;
	world->seen[world->n_seen].weight = sample->weight;
	world->seen[world->n_seen].time_ns = record->time_ns;
	world->seen[world->n_seen].tid = record->tid;
	world->seen[world->n_seen].syscall = sample_syscall(sample);
	world->seen[world->n_seen].n_kernel = sample->kernel.len;
	world->seen[world->n_seen].first = sample->stack ? sample->stack[0] : 0;
	memcpy(world->seen[world->n_seen].comm, sample->comm, sizeof(sample->comm));
	world->n_seen++;
	if (sample->state == THREAD_RUNNING)
		assert_true(!sample->regs && !sample->stack && !sample->kernel.len);
}

static void on_forget(void *arg, pid_t tid)
{
	struct world *const world = arg;

	assert_true(world->n_forgotten < MOST_SEEN);
	world->forgotten[world->n_forgotten++] = tid;
}

static struct world *world_new(struct thread_times_options options)
{
	struct world *const world = calloc(1, sizeof(*world));

	options.start_ns = START;
	options.emit = on_record;
	options.forget = on_forget;
	options.arg = world;
	world->times = thread_times_new(&options);
	assert_non_null(world->times);
	world->thread = (struct thread_reading){
		.time_ns = START, .start_ns = START, .pid = PID, .tid = TID, .syscall = -1};
	return world;
}

static void world_free(struct world *world)
{
	thread_times_free(world->times);
	free(world);
}

static struct thread_times_stats stats_of(const struct world *world)
{
	struct thread_times_stats stats;

	thread_times_stats(world->times, &stats);
	return stats;
}

/* A reading as the thread is now, and the end of the tick. */
static void tick(struct world *world)
{
	thread_times_read(world->times, &world->thread);
	thread_times_end_tick(world->times, 0, world->thread.time_ns);
}

/* The thread spends time; the counters have gained run_ns and delay_ns when it is read. */
static void pass(struct world *world, uint64_t ns, uint64_t run_ns, uint64_t delay_ns)
{
	world->thread.time_ns += ns;
	world->thread.run_ns += run_ns;
	world->thread.delay_ns += delay_ns;
	tick(world);
}

/* As pass, after a switch, with a stack whose first byte is first. */
static void pass_with_stack(struct world *world, uint64_t ns, uint64_t run_ns, uint8_t first)
{
	const uint64_t regs[SAMPLE_REGS_COUNT] = {1, 2, 3}, kernel[2] = {11, 12};
	const uint8_t stack[64] = {first};
	struct thread_reading *const thread = &world->thread;

	thread->switches++;
	thread->has_stack = true;
	thread->regs = regs;
	thread->kernel = (struct sample_chain){kernel, 2};
	thread->stack = stack;
	thread->stack_len = sizeof(stack);
	pass(world, ns, run_ns, 0);
	thread->has_stack = false;
	thread->regs = NULL;
	thread->kernel = (struct sample_chain){0};
	thread->stack = NULL;
	thread->stack_len = 0;
}

static void flush(struct world *world)
{
	thread_times_flush(world->times);
}

static void check_us(const struct world *world, uint64_t running, uint64_t runnable,
		     uint64_t blocked)
{
	assert_int_equal(world->us[THREAD_RUNNING], running);
	assert_int_equal(world->us[THREAD_RUNNABLE], runnable);
	assert_int_equal(world->us[THREAD_BLOCKED], blocked);
}

static void time_is_what_was_run_and_delayed_and_the_rest_is_blocked(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	tick(world);
	world->thread.state = THREAD_BLOCKED;
	world->thread.switches++;
	pass(world, TICK, 10 * MS, 5 * MS);
	flush(world);
	check_us(world, 10000, 5000, 35000);
	world_free(world);
}

static void name_thread(struct world *world, const char *comm)
{
	snprintf(world->thread.comm, sizeof(world->thread.comm), "%s", comm);
}

static void check_named(const struct world *world, const char *comm, uint64_t us)
{
	uint64_t found = 0;

	for (size_t i = 0; i < world->n_seen; i++)
		found += strcmp(world->seen[i].comm, comm) == 0 ? world->seen[i].weight : 0;
	assert_int_equal(found, us);
}

static void time_is_of_the_name_that_the_thread_had(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	name_thread(world, "first");
	pass_with_stack(world, 0, 0, 1);
	pass(world, TICK, 0, 0);
	pass(world, TICK, 0, 0);
	name_thread(world, "second"); /* by another thread: this one waits on */
	pass(world, TICK, 0, 0);
	name_thread(world, "third");
	pass_with_stack(world, TICK, 10 * MS, 1); /* by itself, and it waits where it waited */
	name_thread(world, "");			  /* one that could not be read */
	pass(world, TICK, 0, 0);
	flush(world);
	check_named(world, "first", 100000);
	check_named(world, "second", 50000);
	check_named(world, "third", 100000);
	world_free(world);
}

/* Of time in a state in which no reading has met the thread, the stack is one that was there. */
static void a_stack_stands_under_no_name_that_came_later(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_RUNNABLE;
	name_thread(world, "first");
	pass_with_stack(world, 0, 0, 1);
	world->thread.state = THREAD_RUNNING;
	name_thread(world, "second");
	world->thread.switches++;
	pass(world, TICK, 10 * MS, 40 * MS);
	flush(world);
	for (size_t i = 0; i < world->n_seen; i++)
		assert_true(world->seen[i].first == 0 || strcmp(world->seen[i].comm, "first") == 0);
	assert_true(world->n_seen > 0);
	assert_int_equal(stats_of(world).stack_bytes, 0);
	world->thread.state = THREAD_BLOCKED;
	pass_with_stack(world, TICK, 0, 2);
	flush(world);
	assert_int_equal(world->seen[world->n_seen - 1].first, 2);
	assert_int_equal(world->n_forgotten, 0);
	world_free(world);
}

static void whoever_keeps_a_name_has_no_more_samples_for_it(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	name_thread(world, "first");
	pass_with_stack(world, 0, 0, 1);
	for (size_t i = 0; i < 10; i++)
		pass(world, TICK, 0, 0);
	assert_int_equal(world->n_seen, 0);
	flush(world);
	assert_int_equal(world->n_seen, 1);
	world_free(world);
}

static void parts_of_microseconds_are_kept_for_later(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	for (size_t i = 0; i < 10; i++) {
		pass(world, 2700, 1300, 0);
		flush(world);
	}
	check_us(world, 13, 0, 14);
	world_free(world);
}

static void what_counters_say_too_late_is_taken_from_later_time(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	tick(world);
	world->thread.state = THREAD_BLOCKED;
	world->thread.switches++;
	pass(world, TICK, 80 * MS, 0); /* 30 of them before the first reading */
	world->thread.switches++;
	pass(world, TICK, 0, 0);
	world->thread.switches++;
	pass(world, TICK, 0, 0);
	flush(world);
	check_us(world, 80000, 0, 70000);
	world_free(world);
}

static void a_thread_that_stays_on_its_cpu_has_run_before_the_counter_says_so(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	tick(world);
	pass(world, TICK, 46 * MS, 0);
	flush(world);
	check_us(world, 50000, 0, 0);
	pass(world, TICK, 52 * MS, 0); /* 4 of which were given before */
	flush(world);
	check_us(world, 100000, 0, 0);
	world->thread.state = THREAD_BLOCKED;
	world->thread.switches++;
	pass(world, TICK, 12 * MS, 0); /* 2 of which were given before */
	flush(world);
	check_us(world, 110000, 0, 40000);
	world_free(world);
}

static void a_thread_that_waits_for_a_cpu_has_waited_before_the_counter_says_so(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_RUNNABLE;
	tick(world);
	for (size_t i = 0; i < 4; i++)
		pass(world, TICK, 0, 0);
	flush(world);
	check_us(world, 0, 200000, 0);
	world->thread.state = THREAD_RUNNING;
	pass(world, TICK, 30 * MS, 220 * MS); /* 200 of which were given before */
	world->thread.state = THREAD_BLOCKED;
	world->thread.switches++;
	pass(world, TICK, 0, 0);
	flush(world);
	check_us(world, 30000, 220000, 50000);
	world_free(world);
}

static void a_thread_that_was_only_interrupted_was_not_blocked(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	tick(world);
	world->thread.state = THREAD_RUNNABLE;
	world->thread.switches++;
	pass(world, TICK, 20 * MS, 0); /* and 30 since then */
	world->thread.state = THREAD_RUNNING;
	world->thread.switches++;
	pass(world, TICK, 15 * MS, 60 * MS); /* and 5 since the last tick */
	flush(world);
	check_us(world, 40000, 60000, 0);
	world->thread.switches++;
	world->thread.voluntary++;
	pass(world, TICK, 15 * MS, 0); /* 5 of which were given before */
	flush(world);
	check_us(world, 50000, 60000, 40000);
	world_free(world);
}

/* A hypervisor's share of a CPU is in no counter. */
static void time_that_no_counter_ever_says_is_not_owed(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	tick(world);
	for (size_t i = 0; i < 10; i++)
		pass(world, TICK, 40 * MS, 0);
	world->thread.state = THREAD_BLOCKED;
	world->thread.switches++;
	pass(world, TICK, 0, 0);
	world->thread.switches++;
	pass(world, TICK, 50 * MS, 0);
	flush(world);
	check_us(world, 550000, 0, 50000);
	world_free(world);
}

static void a_thread_that_waits_on_has_one_sample_a_second(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	world->thread.syscall = 202;
	tick(world);
	pass_with_stack(world, TICK, 0, 1);
	for (size_t i = 0; i < 59; i++)
		pass(world, TICK, 0, 0);
	assert_int_equal(world->n_seen, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(world->seen[i].weight, 1000000);
		assert_int_equal(world->seen[i].time_ns, START + (i + 1) * 1000 * MS);
		assert_int_equal(world->seen[i].first, 1);
		assert_int_equal(world->seen[i].syscall, 202);
		assert_int_equal(world->seen[i].n_kernel, 2);
	}
	assert_int_equal(stats_of(world).stacks_taken, 1);
	assert_int_equal(stats_of(world).stacks_reused, 59);
	assert_int_equal(stats_of(world).readings, 61);
	world_free(world);
}

static void the_longest_time_of_a_sample_is_the_callers(void **state)
{
	struct world *world = world_new((struct thread_times_options){.longest_ns = 100 * MS});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	for (size_t i = 0; i < 20; i++)
		pass(world, TICK, 0, 0);
	assert_int_equal(world->n_seen, 10);
	world_free(world);
}

static void a_new_stack_has_the_time_since_the_reading_before(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	pass_with_stack(world, TICK, 0, 1);
	pass(world, TICK, 0, 0);
	assert_int_equal(world->n_seen, 0);
	world->thread.syscall = 7;
	pass_with_stack(world, TICK, 10 * MS, 2);
	assert_int_equal(world->n_seen, 2);
	assert_int_equal(world->seen[0].first, 1);
	assert_int_equal(world->seen[0].weight, 100000);
	assert_int_equal(world->seen[0].time_ns, START + 2 * TICK);
	assert_int_equal(world->seen[0].syscall, -1);
	flush(world);
	assert_int_equal(world->n_seen, 3);
	assert_int_equal(world->seen[1].state, THREAD_RUNNING);
	assert_int_equal(world->seen[1].weight, 10000);
	assert_int_equal(world->seen[1].time_ns, START + 2 * TICK); /* when it began */
	assert_int_equal(world->seen[2].first, 2);
	assert_int_equal(world->seen[2].weight, 40000);
	assert_int_equal(world->seen[2].syscall, 7);
	world_free(world);
}

static void time_in_a_state_is_of_the_next_stack_in_that_state(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	pass_with_stack(world, TICK, 0, 1);
	/* It has waited elsewhere, and for a CPU, and runs: where both were is not known yet. */
	world->thread.state = THREAD_RUNNING;
	world->thread.switches++;
	world->thread.voluntary++;
	pass(world, TICK, 10 * MS, 15 * MS);
	world->thread.state = THREAD_RUNNABLE;
	pass_with_stack(world, TICK, 50 * MS, 2);
	world->thread.state = THREAD_BLOCKED;
	world->thread.voluntary++;
	pass_with_stack(world, TICK, 0, 3);
	flush(world);
	check_us(world, 60000, 15000, 125000);
	for (size_t i = 0; i < world->n_seen; i++) {
		if (world->seen[i].state == THREAD_RUNNABLE)
			assert_int_equal(world->seen[i].first, 2);
		if (world->seen[i].state == THREAD_BLOCKED && world->seen[i].first == 1)
			assert_int_equal(world->seen[i].weight, 50000);
		if (world->seen[i].state == THREAD_BLOCKED && world->seen[i].first == 3)
			assert_int_equal(world->seen[i].weight, 75000);
	}
	world_free(world);
}

/* It ran, and waits where it waited, with all that it waited with. */
static void a_stack_that_is_equal_is_no_new_one(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	for (int i = 0; i < 4; i++) {
		world->thread.voluntary++;
		pass_with_stack(world, TICK, 0, 1);
	}
	assert_int_equal(world->n_seen, 0);
	assert_int_equal(stats_of(world).stacks_equal, 3);
	pass(world, TICK, 0, 0);
	pass_with_stack(world, TICK, 0, 2);
	assert_int_equal(world->n_seen, 1);
	assert_int_equal(world->seen[0].weight, 250000);
	flush(world);
	check_us(world, 0, 0, 300000);
	world_free(world);
}

/* Its stack had no room, say. */
static void a_wait_that_was_not_seen_is_not_where_the_thread_waited_before(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	pass_with_stack(world, TICK, 0, 1);
	world->thread.switches++;
	world->thread.voluntary++;
	pass(world, TICK, 0, 0);
	pass_with_stack(world, TICK, 0, 2);
	flush(world);
	assert_int_equal(world->n_seen, 2);
	assert_int_equal(world->seen[0].first, 1);
	assert_int_equal(world->seen[0].weight, 50000);
	assert_int_equal(world->seen[1].first, 2);
	assert_int_equal(world->seen[1].weight, 100000);
	world_free(world);
}

static void who_wakes_up_where_it_waited_is_runnable_there(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	pass_with_stack(world, TICK, 0, 1);
	world->thread.state = THREAD_RUNNABLE; /* no CPU for it so far */
	pass(world, TICK, 0, 0);
	pass(world, TICK, 0, 0);
	flush(world);
	check_us(world, 0, 50000, 100000);
	for (size_t i = 0; i < world->n_seen; i++)
		assert_int_equal(world->seen[i].first, 1);
	world_free(world);
}

/* What a thread was interrupted at is not what it has waited with. */
static void a_blocked_sample_has_the_stack_of_the_last_wait(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	pass_with_stack(world, TICK, 0, 1);
	world->thread.state = THREAD_RUNNABLE;
	pass_with_stack(world, TICK, 0, 2);
	world->thread.switches++;
	pass(world, TICK, 0, 20 * MS);
	flush(world);
	assert_int_equal(world->n_seen, 2);
	assert_int_equal(world->seen[0].state, THREAD_RUNNABLE);
	assert_int_equal(world->seen[0].first, 2);
	assert_int_equal(world->seen[0].weight, 50000);
	assert_int_equal(world->seen[1].state, THREAD_BLOCKED);
	assert_int_equal(world->seen[1].first, 1);
	assert_int_equal(world->seen[1].weight, 100000);
	world_free(world);
}

static struct wait_reading wait_of(const struct world *world, uint64_t time_ns, int32_t syscall)
{
	return (struct wait_reading){.time_ns = time_ns,
				     .start_ns = world->thread.start_ns,
				     .blocked_ns = MS,
				     .weight_ns = 10 * MS,
				     .pid = PID,
				     .tid = TID,
				     .syscall = syscall};
}

static void blocked_time_is_shared_among_waits_and_the_last_one_has_the_rest(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});
	struct wait_reading wait;

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	pass_with_stack(world, TICK, 5 * MS, 1);
	for (int32_t syscall = 20; syscall < 22; syscall++) {
		wait = wait_of(world, START + TICK - MS, syscall);
		thread_times_wait(world->times, &wait);
	}
	assert_true(stats_of(world).wait_bytes > 0);
	pass_with_stack(world, TICK, 0, 2);
	assert_int_equal(world->n_seen, 4); /* what it ran, the two, and the rest */
	for (size_t i = 1; i < 3; i++) {
		assert_int_equal(world->seen[i].state, THREAD_BLOCKED);
		assert_int_equal(world->seen[i].weight, 10000);
		assert_int_equal(world->seen[i].syscall, 19 + (int)i);
		assert_int_equal(world->seen[i].time_ns, START + TICK);
	}
	assert_int_equal(world->seen[3].weight, 25000);
	assert_int_equal(world->seen[3].first, 1);
	assert_int_equal(stats_of(world).wait_bytes, 0);
	assert_int_equal(stats_of(world).time_us[THREAD_BLOCKED], 45000);
	world_free(world);
}

static void waits_of_threads_that_are_not_known_are_left_out(void **state)
{
	struct world *world = world_new((struct thread_times_options){.stack_bytes = 1000});
	struct wait_reading wait = wait_of(world, START + MS, 20);
	const uint8_t stack[1000] = {0};

	thread_times_wait(world->times, &wait);
	assert_int_equal(stats_of(world).waits_left_out, 1);
	tick(world);
	wait.start_ns++; /* of another thread with the TID */
	thread_times_wait(world->times, &wait);
	assert_int_equal(stats_of(world).waits_left_out, 2);
	wait.start_ns--;
	thread_times_wait(world->times, &wait);
	assert_int_equal(stats_of(world).waits_left_out, 2);
	wait.stack = stack; /* past the limit */
	wait.stack_len = sizeof(stack);
	thread_times_wait(world->times, &wait);
	assert_int_equal(stats_of(world).waits_left_out, 3);
	world_free(world);
}

static void stacks_of_wakers_are_kept_by_who_waited_and_counted_else(void **state)
{
	struct world *world = world_new((struct thread_times_options){.stack_bytes = 2000});
	struct wait_reading waker = wait_of(world, START + MS, 20);
	const uint8_t stack[1000] = {0};

	waker.is_waker = true;
	waker.waited_tid = waker.tid;
	waker.pid = waker.tid = 12345; /* another process may have woken the thread */
	waker.stack = stack;
	waker.stack_len = sizeof(stack);
	thread_times_wait(world->times, &waker);
	assert_int_equal(stats_of(world).wakers_left_out, 1);
	tick(world);
	thread_times_wait(world->times, &waker);
	assert_int_equal(stats_of(world).wakers_left_out, 1);
	assert_true(stats_of(world).wait_bytes > 1000);
	waker.stack_len = 8; /* takes the place of the larger one */
	thread_times_wait(world->times, &waker);
	assert_int_equal(stats_of(world).wakers_left_out, 2);
	assert_in_range(stats_of(world).wait_bytes, 1, 999);
	thread_times_end_tick(world->times, 0, world->thread.time_ns + 1000 * MS);
	thread_times_end_tick(world->times, 0, world->thread.time_ns + 3000 * MS);
	assert_int_equal(stats_of(world).threads, 0);
	assert_int_equal(stats_of(world).wait_bytes, 0);
	assert_int_equal(stats_of(world).wakers_left_out, 3);
	assert_int_equal(stats_of(world).waits_left_out, 0);
	world_free(world);
}

static void a_thread_without_a_reading_has_ended(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	pass_with_stack(world, TICK, 0, 1);
	world->n_forgotten = 0;
	thread_times_end_tick(world->times, 0, world->thread.time_ns + 999 * MS);
	assert_int_equal(stats_of(world).threads, 1);
	thread_times_end_tick(world->times, 0, world->thread.time_ns + 1000 * MS);
	assert_int_equal(world->n_seen, 1);
	assert_int_equal(world->seen[0].weight, 50000);
	assert_int_equal(world->seen[0].time_ns, START + TICK);
	assert_int_equal(world->n_forgotten, 1);
	assert_int_equal(world->forgotten[0], TID);
	assert_int_equal(stats_of(world).threads, 0);
	assert_int_equal(stats_of(world).stack_bytes, 0);
	world_free(world);
}

static void an_end_that_is_reported_has_the_time_up_to_it(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	pass_with_stack(world, TICK, 0, 1);
	thread_times_end(world->times, TID, START + TICK + 30 * MS);
	check_us(world, 0, 0, 80000);
	/* A reading that was on its way. */
	world->thread.start_ns = START;
	world->n_seen = 0;
	tick(world);
	flush(world);
	assert_int_equal(world->n_seen, 0);
	thread_times_end_tick(world->times, 0, START + 3 * TICK);
	assert_int_equal(stats_of(world).threads, 0);
	world_free(world);
}

static void a_thread_that_no_tick_has_seen_ran_all_its_life(void **state)
{
	struct world *world = world_new((struct thread_times_options){.start_ns = START});

	thread_times_begin(world->times, PID, TID, START + 10 * MS);
	thread_times_end(world->times, TID, START + 17 * MS);
	check_us(world, 7000, 0, 0);
	assert_int_equal(stats_of(world).threads_unread, 1);
	world_free(world);
}

static void the_first_reading_divides_the_time_since_the_beginning(void **state)
{
	struct world *world = world_new((struct thread_times_options){.start_ns = START});

	thread_times_begin(world->times, PID, TID, START + 10 * MS);
	world->thread.start_ns = START + 10 * MS - 1000; /* the kernel's own clock */
	world->thread.time_ns = START + 40 * MS;
	world->thread.run_ns = 5 * MS;
	world->thread.state = THREAD_BLOCKED;
	world->thread.switches = world->thread.voluntary = 1;
	tick(world);
	thread_times_end(world->times, TID, START + 50 * MS);
	check_us(world, 5000, 0, 35000);
	assert_int_equal(stats_of(world).threads_unread, 0);
	world_free(world);
}

static void a_report_of_a_thread_that_was_read_changes_nothing(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	thread_times_begin(world->times, PID, TID, START + 1);
	pass(world, TICK, 0, 0);
	flush(world);
	check_us(world, 0, 0, 50000);
	world_free(world);
}

static void a_lost_reading_ends_no_thread_and_loses_no_time(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	world->thread.start_ns = START - MS;
	tick(world);
	thread_times_end_tick(world->times, 1, world->thread.time_ns);
	pass(world, 2 * TICK, 0, 0);
	flush(world);
	check_us(world, 0, 0, 100000);
	assert_int_equal(stats_of(world).lost, 1);
	world_free(world);
}

static void another_thread_with_the_tid_is_another_thread(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	tick(world);
	pass(world, TICK, 40 * MS, 0);
	world->thread.start_ns = START + TICK + 20 * MS;
	world->thread.run_ns = 0;
	pass(world, TICK, 10 * MS, 0);
	flush(world);
	check_us(world, 50000, 0, 10000 + 20000);
	assert_int_equal(stats_of(world).threads, 1);
	world_free(world);
}

static void check_begin(uint64_t start_ns, uint64_t time_ns, uint64_t running, uint64_t blocked)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	world->thread.start_ns = start_ns;
	world->thread.run_ns = 8 * MS;
	world->thread.time_ns = time_ns;
	thread_times_end_tick(world->times, 0, START);
	tick(world);
	flush(world);
	check_us(world, running, 0, blocked);
	world_free(world);
}

static void a_new_threads_time_begins_with_the_thread(void **state)
{
	check_begin(START + 1170 * MS, START + 1200 * MS, 8000, 22000);
	check_begin(START - MS, START + 500 * MS, 0, 500000);	/* it is older than the source */
	check_begin(START - MS, START + 1001 * MS, 0, 0);	/* nobody wanted it so far */
	check_begin(START + 100 * MS, START + 1200 * MS, 0, 0); /* nobody wanted it so far */
	check_begin(0, START + 500 * MS, 0, 0);			/* nobody knows */
}

/* A stack for each of the TIDs, of 64 bytes and what belongs to it. */
static void read_stacks(struct world *world, pid_t first, pid_t n)
{
	const uint64_t regs[SAMPLE_REGS_COUNT] = {0};
	uint8_t stack[64] = {0};

	for (pid_t tid = first; tid < first + n; tid++) {
		stack[0] = (uint8_t)tid;
		thread_times_read(world->times,
				  &(struct thread_reading){.time_ns = world->thread.time_ns,
							   .start_ns = START,
							   .pid = PID,
							   .tid = tid,
							   .state = THREAD_BLOCKED,
							   .has_stack = true,
							   .syscall = -1,
							   .regs = regs,
							   .stack = stack,
							   .stack_len = sizeof(stack)});
	}
}

static void past_the_limit_the_stacks_that_changed_least_recently_are_dropped(void **state)
{
	struct world *world = world_new((struct thread_times_options){.stack_bytes = 1000});
	size_t bytes, fit;

	read_stacks(world, 1, 1);
	bytes = stats_of(world).stack_bytes;
	assert_true(bytes >= 64 + sizeof(uint64_t) * SAMPLE_REGS_COUNT);
	fit = 1000 / bytes;
	world->thread.time_ns += TICK;
	read_stacks(world, 2, (pid_t)fit - 1);
	assert_int_equal(world->n_forgotten, 0);
	world->thread.time_ns += 500 * MS;
	read_stacks(world, 1, 1); /* has changed again */
	read_stacks(world, 10, 1);
	assert_int_equal(world->n_forgotten, 1);
	assert_int_equal(world->forgotten[0], 2);
	assert_int_equal(stats_of(world).dropped_stacks, 1);
	assert_true(stats_of(world).stack_bytes <= 1000);
	assert_int_equal(stats_of(world).threads, fit + 1);
	world_free(world);
}

/* A thread that waits on is read. */
static void read_waiting(struct world *world, pid_t tid, uint64_t switches)
{
	thread_times_read(world->times, &(struct thread_reading){.time_ns = world->thread.time_ns,
								 .start_ns = START,
								 .pid = PID,
								 .tid = tid,
								 .state = THREAD_BLOCKED,
								 .switches = switches,
								 .syscall = -1});
}

/* Every hundred TIDs, and PIDs, are a group. */
static uint64_t hundred_of(void *arg, pid_t pid)
{
	(void)arg;
	return (uint64_t)pid / 100;
}

static struct thread_reading reading_of_group(const struct world *world, pid_t tid)
{
	return (struct thread_reading){.time_ns = world->thread.time_ns,
				       .start_ns = START,
				       .pid = tid / 100 * 100,
				       .tid = tid,
				       .state = THREAD_BLOCKED,
				       .syscall = -1};
}

static void read_group(struct world *world, pid_t first, pid_t n, uint64_t switches)
{
	const uint64_t regs[SAMPLE_REGS_COUNT] = {0};
	uint8_t stack[64] = {0};

	for (pid_t tid = first; tid < first + n; tid++) {
		struct thread_reading reading = reading_of_group(world, tid);

		stack[0] = (uint8_t)tid;
		stack[1] = (uint8_t)switches;
		reading.switches = switches;
		reading.has_stack = true;
		reading.regs = regs;
		reading.stack = stack;
		reading.stack_len = sizeof(stack);
		thread_times_read(world->times, &reading);
	}
}

static void threads_without_end_take_the_room_of_their_own_group(void **state)
{
	struct world *world =
		world_new((struct thread_times_options){.n_threads = 50, .group = hundred_of});
	struct thread_times_stats stats;

	read_group(world, 200, 90, 1);
	assert_int_equal(stats_of(world).threads, 50);
	assert_int_equal(stats_of(world).threads_left_out, 40);
	world->thread.time_ns += TICK;
	read_group(world, 300, 10, 1); /* comes later, and wants little */
	stats = stats_of(world);
	assert_int_equal(stats.threads, 50);
	assert_int_equal(stats.threads_left_out, 40);
	world->n_seen = 0;
	for (int i = 0; i < 25; i++) { /* stays, whatever the others do */
		world->thread.time_ns += TICK;
		read_group(world, 200, 90, 2 + (uint64_t)i);
		for (pid_t tid = 300; tid < 310; tid++) {
			const struct thread_reading reading = reading_of_group(world, tid);

			thread_times_read(world->times, &reading);
		}
		thread_times_end_tick(world->times, 0, world->thread.time_ns);
	}
	flush(world);
	assert_int_equal(stats_of(world).threads, 50);
	assert_int_equal(stats_of(world).threads_left_out, 40 + 25 * 50);
	world_free(world);
}

static void stacks_without_end_take_the_room_of_their_own_group(void **state)
{
	struct world *world =
		world_new((struct thread_times_options){.stack_bytes = 8000, .group = hundred_of});
	size_t dropped;

	read_group(world, 300, 3, 1);
	for (uint64_t i = 0; i < 30; i++) {
		world->thread.time_ns += TICK;
		read_group(world, 200, 40, i);
	}
	dropped = stats_of(world).dropped_stacks;
	assert_true(dropped > 0);
	world->n_forgotten = 0;
	read_group(world, 300, 3, 1); /* their stacks are still there, and equal */
	assert_int_equal(stats_of(world).dropped_stacks, dropped);
	assert_int_equal(stats_of(world).stacks_equal, 3);
	world_free(world);
}

static void waits_without_end_leave_room_for_other_groups(void **state)
{
	struct world *world =
		world_new((struct thread_times_options){.stack_bytes = 8000, .group = hundred_of});
	struct wait_reading wait = wait_of(world, START + MS, 20);
	uint64_t left_out;

	read_group(world, 200, 1, 1);
	read_group(world, 300, 1, 1);
	wait.pid = wait.tid = 200;
	for (int i = 0; i < 100; i++)
		thread_times_wait(world->times, &wait);
	left_out = stats_of(world).waits_left_out;
	assert_true(left_out > 0);
	assert_in_range(stats_of(world).wait_bytes, 3000, 4000);
	wait.pid = wait.tid = 300;
	thread_times_wait(world->times, &wait);
	thread_times_wait(world->times, &wait);
	assert_int_equal(stats_of(world).waits_left_out, left_out);
	for (int i = 0; i < 100; i++)
		thread_times_wait(world->times, &wait);
	assert_in_range(stats_of(world).wait_bytes, 5000, 8000);
	world_free(world);
}

/* 64 threads wait for 4 s, of which each has five samples or so. */
static void threads_that_wait_do_not_all_have_their_samples_at_once(void **state)
{
	struct world *world = world_new((struct thread_times_options){.longest_ns = 1000 * MS});
	size_t most = 0, n = 0;

	read_stacks(world, 100, 64);
	for (int i = 1; i <= 80; i++) {
		world->thread.time_ns += TICK;
		world->n_seen = 0;
		for (pid_t tid = 100; tid < 164; tid++)
			read_waiting(world, tid, 0);
		most = world->n_seen > most ? world->n_seen : most;
		n += world->n_seen;
	}
	assert_in_range(most, 4, 8);
	assert_in_range(n, 64 * 4 - 4, 64 * 5);
	assert_in_range(stats_of(world).time_us[THREAD_BLOCKED], 64 * 3000000ull, 64 * 4000000ull);
	world_free(world);
}

/* There is room for one stack. The first thread's is dropped a tick after it was taken. */
static struct world *drop_first(void)
{
	struct world *world = world_new((struct thread_times_options){.stack_bytes = 400});

	read_stacks(world, 1, 1);
	world->thread.time_ns += TICK;
	read_stacks(world, 2, 1);
	assert_int_equal(stats_of(world).dropped_stacks, 1);
	assert_int_equal(world->n_forgotten, 0);
	return world;
}

static void a_dropped_stack_is_asked_for_again_twice_a_second_and_has_its_time(void **state)
{
	struct world *world = drop_first();

	for (unsigned i = 2; i < 10; i++) {
		world->thread.time_ns += TICK;
		read_waiting(world, 1, 0);
		assert_int_equal(world->n_forgotten, 0);
	}
	world->thread.time_ns += TICK;
	read_waiting(world, 1, 0);
	assert_int_equal(world->n_forgotten, 1);
	assert_int_equal(world->forgotten[0], 1);
	world->thread.time_ns += TICK;
	read_waiting(world, 1, 0); /* it was busy */
	assert_int_equal(world->n_forgotten, 1);
	world->thread.time_ns += TICK;
	read_stacks(world, 1, 1);
	world->n_seen = 0;
	flush(world);
	assert_int_equal(world->n_seen, 1); /* the other thread's time had been emitted */
	assert_int_equal(world->seen[0].tid, 1);
	assert_int_equal(world->seen[0].first, 1);
	assert_int_equal(world->seen[0].weight, 12 * TICK / 1000);
	world_free(world);
}

static void time_without_a_dropped_stack_is_not_of_the_next_one(void **state)
{
	struct world *world = drop_first();

	world->thread.time_ns += TICK;
	read_waiting(world, 1, 0);
	world->n_seen = 0;
	world->thread.time_ns += TICK;
	read_waiting(world, 1, 1); /* it has been elsewhere */
	assert_int_equal(world->n_seen, 1);
	assert_int_equal(world->seen[0].tid, 1);
	assert_int_equal(world->seen[0].first, 0);
	assert_int_equal(world->seen[0].weight, 2 * TICK / 1000);
	assert_int_equal(world->n_forgotten, 1);
	world_free(world);
}

static void time_before_a_stack_is_dropped_has_the_stack(void **state)
{
	struct world *world = world_new((struct thread_times_options){.stack_bytes = 300});

	world->thread.time_ns += TICK;
	read_stacks(world, 1, 1);
	assert_int_equal(world->n_seen, 0);
	read_stacks(world, 2, 1);
	assert_int_equal(world->n_seen, 1);
	assert_int_equal(world->seen[0].tid, 1);
	assert_int_equal(world->seen[0].first, 1);
	world_free(world);
}

static void a_stack_larger_than_the_limit_is_dropped_and_its_time_is_not(void **state)
{
	struct world *world = world_new((struct thread_times_options){.stack_bytes = 64});

	world->thread.time_ns += TICK;
	read_stacks(world, 1, 1);
	flush(world);
	check_us(world, 0, 0, 50000);
	assert_int_equal(world->seen[0].first, 0);
	assert_int_equal(stats_of(world).dropped_stacks, 1);
	assert_int_equal(stats_of(world).stack_bytes, 0);
	world_free(world);
}

static void threads_past_the_limit_are_left_out_and_counted(void **state)
{
	struct world *world = world_new((struct thread_times_options){.n_threads = 3});

	read_stacks(world, 1, 5);
	assert_int_equal(stats_of(world).threads, 3);
	assert_int_equal(stats_of(world).threads_left_out, 2);
	assert_int_equal(world->n_forgotten, 2); /* their stacks may come again */
	thread_times_end_tick(world->times, 0, world->thread.time_ns);
	world->thread.time_ns += 2000 * MS;
	read_stacks(world, 3, 3);
	thread_times_end_tick(world->times, 0, world->thread.time_ns);
	assert_int_equal(stats_of(world).threads, 1);
	read_stacks(world, 3, 3);
	assert_int_equal(stats_of(world).threads, 3);
	world_free(world);
}

static void a_stack_that_changed_meanwhile_is_counted(void **state)
{
	struct world *world = world_new((struct thread_times_options){0});

	world->thread.state = THREAD_BLOCKED;
	world->thread.is_changed = true;
	tick(world);
	assert_int_equal(stats_of(world).changed_while_read, 1);
	assert_int_equal(stats_of(world).stacks_taken, 0);
	world_free(world);
}

/* Counters that come as late as the kernel's, at random: the parts sum up to the whole. */
static void the_parts_of_a_life_sum_up_to_it(void **state)
{
	struct world *world = world_new((struct thread_times_options){.longest_ns = 60000 * MS});
	uint64_t run_ns = 0, late_ns = 0, end_ns;

	srand(1);
	tick(world);
	for (size_t i = 0; i < 1000; i++) {
		const uint64_t ns = (20 + (uint64_t)rand() % 60) * MS + (uint64_t)rand() % 1000;
		const uint64_t run = ns * ((uint64_t)rand() % 100) / 100;
		const uint64_t now_late = (uint64_t)rand() % (4 * MS);
		const uint64_t said = run + late_ns > now_late ? run + late_ns - now_late : 0;

		late_ns = run + late_ns - said;
		run_ns += run;
		world->thread.state = (enum thread_state)(rand() % 3);
		if (rand() % 2) {
			world->thread.switches++;
			world->thread.voluntary++;
		}
		pass(world, ns, said, 0);
	}
	end_ns = world->thread.time_ns;
	flush(world);
	assert_in_range(world->us[0] + world->us[1] + world->us[2], (end_ns - START) / 1000 - 2,
			(end_ns - START) / 1000);
	assert_in_range(world->us[THREAD_RUNNING], run_ns / 1000 * 9 / 10, run_ns / 1000 * 11 / 10);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_what_was_run_and_delayed_and_the_rest_is_blocked),
		cmocka_unit_test(time_is_of_the_name_that_the_thread_had),
		cmocka_unit_test(a_stack_stands_under_no_name_that_came_later),
		cmocka_unit_test(whoever_keeps_a_name_has_no_more_samples_for_it),
		cmocka_unit_test(parts_of_microseconds_are_kept_for_later),
		cmocka_unit_test(what_counters_say_too_late_is_taken_from_later_time),
		cmocka_unit_test(a_thread_that_stays_on_its_cpu_has_run_before_the_counter_says_so),
		cmocka_unit_test(
			a_thread_that_waits_for_a_cpu_has_waited_before_the_counter_says_so),
		cmocka_unit_test(a_thread_that_was_only_interrupted_was_not_blocked),
		cmocka_unit_test(time_that_no_counter_ever_says_is_not_owed),
		cmocka_unit_test(a_thread_that_waits_on_has_one_sample_a_second),
		cmocka_unit_test(the_longest_time_of_a_sample_is_the_callers),
		cmocka_unit_test(a_new_stack_has_the_time_since_the_reading_before),
		cmocka_unit_test(a_blocked_sample_has_the_stack_of_the_last_wait),
		cmocka_unit_test(time_in_a_state_is_of_the_next_stack_in_that_state),
		cmocka_unit_test(a_stack_that_is_equal_is_no_new_one),
		cmocka_unit_test(a_wait_that_was_not_seen_is_not_where_the_thread_waited_before),
		cmocka_unit_test(who_wakes_up_where_it_waited_is_runnable_there),
		cmocka_unit_test(blocked_time_is_shared_among_waits_and_the_last_one_has_the_rest),
		cmocka_unit_test(waits_of_threads_that_are_not_known_are_left_out),
		cmocka_unit_test(stacks_of_wakers_are_kept_by_who_waited_and_counted_else),
		cmocka_unit_test(a_thread_without_a_reading_has_ended),
		cmocka_unit_test(an_end_that_is_reported_has_the_time_up_to_it),
		cmocka_unit_test(a_thread_that_no_tick_has_seen_ran_all_its_life),
		cmocka_unit_test(the_first_reading_divides_the_time_since_the_beginning),
		cmocka_unit_test(a_report_of_a_thread_that_was_read_changes_nothing),
		cmocka_unit_test(a_lost_reading_ends_no_thread_and_loses_no_time),
		cmocka_unit_test(another_thread_with_the_tid_is_another_thread),
		cmocka_unit_test(a_new_threads_time_begins_with_the_thread),
		cmocka_unit_test(past_the_limit_the_stacks_that_changed_least_recently_are_dropped),
		cmocka_unit_test(threads_without_end_take_the_room_of_their_own_group),
		cmocka_unit_test(stacks_without_end_take_the_room_of_their_own_group),
		cmocka_unit_test(waits_without_end_leave_room_for_other_groups),
		cmocka_unit_test(threads_that_wait_do_not_all_have_their_samples_at_once),
		cmocka_unit_test(
			a_dropped_stack_is_asked_for_again_twice_a_second_and_has_its_time),
		cmocka_unit_test(time_without_a_dropped_stack_is_not_of_the_next_one),
		cmocka_unit_test(time_before_a_stack_is_dropped_has_the_stack),
		cmocka_unit_test(a_stack_larger_than_the_limit_is_dropped_and_its_time_is_not),
		cmocka_unit_test(threads_past_the_limit_are_left_out_and_counted),
		cmocka_unit_test(a_stack_that_changed_meanwhile_is_counted),
		cmocka_unit_test(the_parts_of_a_life_sum_up_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
