// SPDX-License-Identifier: Apache-2.0
/* Claims about all sinks on a single stream of samples: a tree, the last seconds, and periods. */
#include "../process/own_jvm.h"
#include "sinks/count_sink.h"
#include "sinks/period_sink.h"
#include "sinks/tree_sink.h"
#include "sinks/window_sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND	  UINT64_C(1000000000)
#define START_NS  (100 * SECOND)
#define PERIOD_NS (10 * SECOND)
#define WINDOW	  5u

static struct tree_sink *tree;
static struct window_sink *window;
static struct period_sink *periods;
static struct sink *sinks;
static struct process *process;
static pid_t sampled_pid, sampled_tid;

static int set_up(void **state)
{
	process = own_process_new();
	sampled_pid = sampled_tid = getpid();
	assert_int_equal(tree_sink_new(&tree), 0);
	assert_int_equal(window_sink_new(&sample_kind_cpu, WINDOW, &window), 0);
	assert_int_equal(period_sink_new(SAMPLES_OF_CPU, PERIOD_NS, &periods), 0);
	sinks = &tree->sink;
	tree->sink.next = &window->sink;
	window->sink.next = &periods->sink;
	assert_int_equal(count_sink_new(&periods->sink.next), 0);
	return 0;
}

static int tear_down(void **state)
{
	sink_free_all(sinks);
	process_free(process);
	return 0;
}

static void begin(void)
{
	for (struct sink *sink = sinks; sink; sink = sink->next)
		assert_int_equal(sink->ops->begin(sink, START_NS), 0);
}

static void take(const char *name, double at, uint64_t value)
{
	static struct stack stack;
	const struct symbolizer_verdict verdict = {.is_java_named = true};
	const struct frame frames[] = {{.name = name, .kind = FRAME_JIT},
				       {.name = "app", .kind = FRAME_LABEL}};
	const struct named_sample sample = {
		.kind = &sample_kind_cpu,
		.values = {value},
		.time_ns = START_NS + (uint64_t)(at * (double)SECOND),
		.pid = sampled_pid,
		.tid = sampled_tid,
		.process = process,
		.stack = &stack,
		.verdict = &verdict,
		.frames = frames,
		.n_frames = 2,
	};

	for (struct sink *sink = sinks; sink; sink = sink->next)
		assert_int_equal(sink->ops->take(sink, &sample), 0);
}

static void advance(double at, uint64_t lost)
{
	const struct sink_progress progress = {
		.until_ns = START_NS + (uint64_t)(at * (double)SECOND),
		.lost = lost,
		.stackless = 2 * lost,
	};

	for (struct sink *sink = sinks; sink; sink = sink->next)
		sink->ops->advance(sink, &progress);
}

static uint64_t total_of(const struct profile *profile, const char *name)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < profile->count; i++)
		total += strcmp(profile->nodes[i].name, name) == 0 ? profile->nodes[i].total : 0;
	return total;
}

static uint64_t weight_of(const struct timeline *timeline)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < timeline->n_entries; i++)
		sum += timeline->entries[i].weight;
	return sum;
}

static void each_sink_has_every_sample(void **state)
{
	struct window_copy copy;

	begin();
	take("early", 0.5, 1);
	take("late", 8.5, 1);
	take("late", 8.6, 3);
	advance(9, 7);
	assert_int_equal(total_of(&tree->profile, "early"), 1);
	assert_int_equal(total_of(&tree->profile, "late"), 4);
	assert_int_equal(weight_of(&tree->timeline), 5);
	assert_int_equal(tree->profile.quality.unrooted_samples, 5);
	assert_int_equal(tree->profile.quality.lost_samples, 7);
	assert_int_equal(tree->profile.quality.stackless_samples, 14);

	assert_int_equal(window_copy(&window->window, &copy), 0);
	assert_int_equal(total_of(&copy.profile, "early"), 0);
	assert_true(total_of(&copy.profile, "late") > 0);
	assert_int_equal(copy.quality.lost_samples, 7);
	window_copy_fini(&copy);

	assert_int_equal(periods->period->count, 1);
	assert_int_equal(total_of(&periods->period->graphs->parts[0].profile, "early"), 1);
	assert_int_equal(total_of(&periods->period->graphs->parts[0].profile, "late"), 4);
	assert_int_equal(weight_of(&periods->period->graphs->parts[0].timeline), 5);

	assert_int_equal(process->samples.samples, 5);
	assert_int_equal(process->samples.unrooted, 5);
	assert_int_equal(process->samples.unnamed, 0);
}

static void samples_are_counted_by_what_their_frames_are(void **state)
{
	const struct symbolizer_verdict verdicts[] = {
		{.is_java_named = true, .is_rooted = true},
		{.is_java_named = false, .is_rooted = true},
		{.is_java_named = true, .is_rooted = true, .is_interpreted_unnamed = true},
		{.is_java_named = true, .is_rooted = false},
	};
	struct sink *const counts = periods->sink.next;

	for (size_t i = 0; i < 4; i++) {
		struct named_sample sample = {.kind = &sample_kind_cpu,
					      .values = {10},
					      .process = process,
					      .verdict = &verdicts[i]};

		assert_int_equal(counts->ops->take(counts, &sample), 0);
		sample.process = NULL; /* it is gone */
		assert_int_equal(counts->ops->take(counts, &sample), 0);
	}
	assert_int_equal(process->samples.samples, 40);
	assert_int_equal(process->samples.unnamed, 20);
	assert_int_equal(process->samples.unrooted, 10);
}

enum { EVE = 1001, BOB };

#define FEW  1024u
#define LONG 1000

/* Takes so many stacks of one frame each below the same one, with long names. */
static void take_many(uint64_t group, unsigned count, int length)
{
	char name[LONG + 32];

	process->group = group;
	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%d.%u.%0*d", (int)group, i, length, 0);
		take(name, 1, 1);
	}
}

static void shrink_trees(uint32_t nodes)
{
	tree->profile.max_nodes = nodes;
	window->window.generations[0].profile.max_nodes = nodes;
}

static uint32_t children_of(const struct profile *profile, const char *start)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < profile->count; i++)
		n += strncmp(profile->nodes[i].name, start, strlen(start)) == 0;
	return n;
}

static void assert_shared(const struct profile *profile)
{
	assert_in_range(children_of(profile, "1001."), 1, FEW / 2);
	assert_int_equal(children_of(profile, "1002."), FEW / 8);
	assert_true(profile->quality.overflow_samples > 0);
	assert_int_equal(profile->quality.samples, 3 * FEW + FEW / 8 + 1);
}

/* Ever new stacks of one user are cut, and others' are whole. */
static void who_fills_a_tree_leaves_half_of_it_to_others(void **state)
{
	begin();
	shrink_trees(FEW);
	take_many(BOB, 1, 1);
	take_many(EVE, 3 * FEW, 1);
	take_many(BOB, FEW / 8, 1);
	assert_shared(&tree->profile);
	assert_shared(&window->window.generations[0].profile);
	assert_int_equal(total_of(&tree->profile, "app"), 3 * FEW + FEW / 8 + 1);
}

static void who_is_alone_has_the_whole_tree(void **state)
{
	begin();
	shrink_trees(FEW);
	take_many(EVE, 3 * FEW, 1);
	assert_in_range(children_of(&tree->profile, "1001."), FEW * 7 / 8, FEW);
}

static void who_comes_later_finds_a_place(void **state)
{
	begin();
	shrink_trees(FEW);
	take_many(EVE, 3 * FEW, 1);
	take_many(BOB, FEW / 128, 1);
	assert_int_equal(children_of(&tree->profile, "1002."), FEW / 128);
}

static void long_names_are_shared_as_nodes_are(void **state)
{
	begin();
	shrink_trees(FEW);
	take_many(BOB, 1, 1);
	take_many(EVE, FEW / 4, LONG);
	take_many(BOB, 8, LONG);
	assert_in_range(children_of(&tree->profile, "1001."), 1, FEW / 16);
	assert_int_equal(children_of(&tree->profile, "1002."), 1 + 8);
}

/* Samples of so many processes, or threads of one. */
static void take_of(uint64_t group, pid_t first, unsigned count, bool is_of_threads)
{
	process->group = group;
	for (unsigned i = 0; i < count; i++) {
		sampled_pid = first + (is_of_threads ? 0 : (pid_t)i);
		sampled_tid = first + (pid_t)i;
		take("leaf", 1, 1);
	}
}

static void assert_rows_are_shared(const struct timeline *timeline)
{
	size_t of_eve = 0, of_bob = 0;

	for (size_t i = 0; i < timeline->n_processes; i++) {
		of_eve += timeline->processes[i].pid < 20000;
		of_bob += timeline->processes[i].pid >= 20000;
	}
	assert_int_equal(of_eve, TIMELINE_MAX_PROCESSES / 2);
	assert_int_equal(of_bob, 101);
	assert_int_equal(timeline->lost_samples, TIMELINE_MAX_PROCESSES / 2);
}

/* As of a user who begins ever new processes. */
static void who_has_many_processes_leaves_rows_to_others(void **state)
{
	begin();
	take_of(BOB, 30000, 1, false);
	take_of(EVE, 10000, TIMELINE_MAX_PROCESSES, false);
	take_of(BOB, 20000, 100, false);
	assert_rows_are_shared(&tree->timeline);
	assert_rows_are_shared(&window->window.generations[0].timeline);
	assert_int_equal(tree->profile.quality.samples, TIMELINE_MAX_PROCESSES + 101);
}

static void who_has_many_threads_leaves_rows_to_others(void **state)
{
	const struct timeline *const timeline = &tree->timeline;
	size_t others = 0;

	begin();
	take_of(BOB, 30000, 1, true);
	take_of(EVE, 100000, TIMELINE_MAX_THREADS, true);
	take_of(BOB, 30000, 100, true);
	assert_int_equal(timeline->n_threads, TIMELINE_MAX_THREADS / 2 + 100 + 1);
	for (size_t i = 0; i < timeline->n_threads; i++)
		others += timeline->threads[i].tid == 0;
	assert_int_equal(others, 1);
	assert_int_equal(timeline->lost_samples, 0);
}

static void a_period_is_over_when_nothing_of_it_can_come(void **state)
{
	struct period *first;

	begin();
	assert_int_equal(tree->sink.end_ns, SINK_ENDLESS_NS);
	assert_int_equal(window->sink.end_ns, SINK_ENDLESS_NS);
	assert_int_equal(periods->sink.end_ns, START_NS + PERIOD_NS);
	take("first", 9.9, 1);
	advance(9.99, 0);
	assert_false(periods->is_over);
	advance(10, 0);
	assert_true(periods->is_over);

	assert_int_equal(period_sink_turn(periods, &first), 0);
	assert_int_equal(first->end_ns, START_NS + PERIOD_NS);
	assert_int_equal(periods->period->start_ns, first->end_ns);
	assert_int_equal(periods->sink.end_ns, START_NS + 2 * PERIOD_NS);
	assert_false(periods->is_over);
	take("second", 10.1, 1);
	assert_int_equal(total_of(&first->graphs->parts[0].profile, "second"), 0);
	assert_int_equal(total_of(&periods->period->graphs->parts[0].profile, "second"), 1);
	period_free(first);
}

static void a_period_can_be_ended_and_given_up(void **state)
{
	struct period *last;

	begin();
	take("last", 1, 1);
	period_sink_end(periods,
			START_NS + 2 * PERIOD_NS); /* later than it ends: nothing changes */
	assert_int_equal(periods->sink.end_ns, START_NS + PERIOD_NS);
	period_sink_end(periods, START_NS + 2 * SECOND);
	assert_int_equal(periods->sink.end_ns, START_NS + 2 * SECOND);
	advance(2, 0);
	assert_true(periods->is_over);
	last = period_sink_give_up(periods);
	assert_int_equal(total_of(&last->graphs->parts[0].profile, "last"), 1);
	assert_int_equal(periods->sink.end_ns, SINK_ENDLESS_NS);
	take("nobody's", 3, 1);
	advance(4, 0);
	assert_false(periods->is_over);
	assert_int_equal(total_of(&tree->profile, "nobody's"), 1);
	period_free(last);
}

/* The end of a period moves with its size. Samples behind the end belong to the next period. */
static void a_period_that_grows_too_large_says_where_it_ends(void **state)
{
	begin();
	take("a", 6, 1);
	periods->period->bytes = PERIOD_MAX_BYTES - 1;
	take("b", 7, 1);
	assert_int_equal(periods->sink.end_ns, START_NS + PERIOD_NS);
	periods->period->bytes = PERIOD_MAX_BYTES;
	period_note_sample(periods->period, periods->period->graphs,
			   period_graph_bytes(periods->period->graphs), START_NS + 8 * SECOND);
	assert_true(periods->period->is_cut_short);
	periods->period->bytes = 0;
	take("c", 8, 1);
	assert_int_equal(periods->sink.end_ns, START_NS + 8 * SECOND + 1);
}

/* A sample whose process is gone is in the tree, and has no graph of its own. */
static void samples_without_a_process_are_counted(void **state)
{
	struct process *const known = process;

	begin();
	process = NULL;
	take("gone", 1, 1);
	take("gone", 2, 1);
	process = known;
	take("here", 3, 1);
	assert_int_equal(total_of(&tree->profile, "gone"), 2);
	assert_int_equal(periods->period->processless, 2);
	assert_int_equal(periods->period->samples, 1);
}

static uint64_t given(const struct sample_kind *of, const struct sample_kind *kind,
		      enum thread_state state)
{
	const struct sink sink = {.kind = of};
	const struct named_sample sample = {.kind = kind, .state = state};

	return sink_wants(&sink, &sample);
}

static void a_sink_has_samples_of_its_kind(void **state)
{
	const struct sample_kind *const cpu = &sample_kind_cpu, *const wall = &sample_kind_wall,
					*const offcpu = &sample_kind_offcpu;

	assert_true(given(cpu, cpu, THREAD_RUNNING));
	assert_false(given(cpu, wall, THREAD_RUNNING));
	assert_false(given(cpu, wall, THREAD_BLOCKED));
	assert_false(given(wall, cpu, THREAD_RUNNING));
	assert_true(given(wall, wall, THREAD_RUNNING));
	assert_true(given(wall, wall, THREAD_BLOCKED));
	assert_false(given(offcpu, cpu, THREAD_RUNNING));
	assert_false(given(offcpu, wall, THREAD_RUNNING));
	assert_true(given(offcpu, wall, THREAD_RUNNABLE));
	assert_true(given(offcpu, wall, THREAD_BLOCKED));
}

/* 16 pieces a second, whose sum is the sample's. */
static void a_span_of_time_is_spread_over_that_time(void **state)
{
	static struct stack stack;
	const struct symbolizer_verdict verdict = {.is_java_named = true, .is_rooted = true};
	const struct frame frame = {.name = "park", .kind = FRAME_JIT};
	const struct named_sample sample = {.kind = &sample_kind_wall,
					    .values = {999999},
					    .time_ns = START_NS + 3 * SECOND,
					    .span_ns = SECOND,
					    .state = THREAD_BLOCKED,
					    .process = process,
					    .stack = &stack,
					    .verdict = &verdict,
					    .frames = &frame,
					    .n_frames = 1};
	const struct timeline *const timeline = &tree->timeline;
	uint64_t sum = 0;

	begin();
	assert_int_equal(named_sample_add(&sample, START_NS, &tree->profile, &tree->timeline), 0);
	assert_int_equal(timeline->n_entries, 17);
	for (size_t i = 0; i < timeline->n_entries; i++) {
		const uint64_t ns = timeline->entries[i].bucket * timeline->bucket_ns;

		assert_in_range(ns, 2 * SECOND, 3 * SECOND);
		assert_in_range(timeline->entries[i].weight, 999999 / 17, 999999 / 17 + 1);
		sum += timeline->entries[i].weight;
	}
	assert_int_equal(sum, 999999);
	assert_int_equal(tree->profile.quality.samples, 999999);
}

static void who_was_gone_has_the_name_that_the_kernel_told(void **state)
{
	struct named_sample sample = {.pid = 4711, .tid = 4712, .time_ns = START_NS};
	struct timeline *const timeline = &tree->timeline;
	const struct timeline_thread *thread;
	uint32_t row;

	begin();
	row = named_sample_thread(&sample, timeline);
	thread = &timeline->threads[row];
	assert_string_equal(timeline->processes[thread->process].title, "");
	sample.comm = "sh";
	sample.pid = sample.tid = 4713;
	row = named_sample_thread(&sample, timeline);
	thread = &timeline->threads[row];
	assert_string_equal(timeline->processes[thread->process].title, "[gone: sh]");
	assert_string_equal(thread->name, "sh");
}

static void no_sink_cuts_an_object_of_more_than_4_gib(void **state)
{
	const uint64_t size = 9 * (UINT64_C(1) << 30) + 7;
	struct window_copy copy;

	begin();
	take("grow", 8.5, size);
	advance(9, 0);
	assert_true(total_of(&tree->profile, "grow") == size);
	assert_true(weight_of(&tree->timeline) == size);
	assert_int_equal(window_copy(&window->window, &copy), 0);
	assert_true(total_of(&copy.profile, "grow") == size);
	assert_true(weight_of(&copy.timeline) == size);
	window_copy_fini(&copy);
	assert_true(weight_of(&periods->period->graphs->parts[0].timeline) == size);
}

/* A sample is given twice, with the value of either kind first. */
static void kinds_that_share_samples_have_the_same_values(void **state)
{
	static const struct sample_kind *const pairs[][2] = {
		{&sample_kind_alloc, &sample_kind_objects},
		{&sample_kind_lock, &sample_kind_contentions},
	};

	for (size_t i = 0; i < 2; i++) {
		const struct sample_kind *const one = pairs[i][0], *const other = pairs[i][1];

		assert_int_equal(one->n_values, 2);
		assert_int_equal(other->n_values, 2);
		assert_string_equal(one->values[0].name, one->profile->name);
		assert_string_equal(one->values[0].unit, one->profile->unit);
		assert_string_equal(other->values[0].name, other->profile->name);
		assert_string_equal(other->values[0].unit, other->profile->unit);
		assert_string_equal(one->values[1].name, other->values[0].name);
		assert_string_equal(other->values[1].name, one->values[0].name);
	}
}

static void a_kind_has_the_bit_of_its_place(void **state)
{
	assert_ptr_equal(sample_kinds[__builtin_ctz(SAMPLES_OF_CPU)], &sample_kind_cpu);
	assert_ptr_equal(sample_kinds[__builtin_ctz(SAMPLES_OF_WALL)], &sample_kind_wall);
	assert_ptr_equal(sample_kinds[__builtin_ctz(SAMPLES_OF_OFFCPU)], &sample_kind_offcpu);
	assert_ptr_equal(sample_kinds[__builtin_ctz(SAMPLES_OF_ALLOC)], &sample_kind_alloc);
	assert_ptr_equal(sample_kinds[__builtin_ctz(SAMPLES_OF_OBJECTS)], &sample_kind_objects);
	assert_ptr_equal(sample_kinds[__builtin_ctz(SAMPLES_OF_LOCK)], &sample_kind_lock);
	assert_ptr_equal(sample_kinds[__builtin_ctz(SAMPLES_OF_CONTENTIONS)],
			 &sample_kind_contentions);
	assert_ptr_equal(sample_kinds[__builtin_ctz(SAMPLES_OF_EXCEPTIONS)],
			 &sample_kind_exceptions);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(each_sink_has_every_sample),
		TEST(samples_are_counted_by_what_their_frames_are),
		TEST(who_fills_a_tree_leaves_half_of_it_to_others),
		TEST(who_is_alone_has_the_whole_tree),
		TEST(who_comes_later_finds_a_place),
		TEST(long_names_are_shared_as_nodes_are),
		TEST(who_has_many_processes_leaves_rows_to_others),
		TEST(who_has_many_threads_leaves_rows_to_others),
		TEST(who_was_gone_has_the_name_that_the_kernel_told),
		TEST(a_period_is_over_when_nothing_of_it_can_come),
		TEST(a_period_can_be_ended_and_given_up),
		TEST(a_period_that_grows_too_large_says_where_it_ends),
		TEST(samples_without_a_process_are_counted),
		TEST(a_sink_has_samples_of_its_kind),
		TEST(a_span_of_time_is_spread_over_that_time),
		TEST(no_sink_cuts_an_object_of_more_than_4_gib),
		TEST(kinds_that_share_samples_have_the_same_values),
		TEST(a_kind_has_the_bit_of_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
