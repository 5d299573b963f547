// SPDX-License-Identifier: Apache-2.0
/*
 * What keeps samples in a new way is one sink: this file has all of it. Nothing of the collector
 * knows it. Claims about what a recording gives its sinks.
 */
#include "base/clock.h"
#include "recording/recording.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the sink: the last samples' threads, of which it has room for a few ---- */

#define ROOM 4

struct toy_sink {
	struct sink sink;
	pid_t tids[ROOM];
	size_t n;
	struct sink_progress progress;
};

static int toy_begin(struct sink *sink, uint64_t start_ns)
{
	sink->end_ns = SINK_ENDLESS_NS;
	return 0;
}

static int toy_take(struct sink *sink, const struct named_sample *sample)
{
	struct toy_sink *const toy = (struct toy_sink *)sink;

	if (toy->n == ROOM)
		return -ENOMEM;
	toy->tids[toy->n++] = sample->tid;
	return 0;
}

static void toy_advance(struct sink *sink, const struct sink_progress *progress)
{
	((struct toy_sink *)sink)->progress = *progress;
}

static void toy_free(struct sink *sink)
{
	free(sink);
}

static const struct sink_ops toy_ops = {toy_begin, toy_take, toy_advance, toy_free};

static struct toy_sink *toy_new(const struct sample_kind *kind)
{
	struct toy_sink *const toy = calloc(1, sizeof(*toy));

	assert_non_null(toy);
	toy->sink = (struct sink){.ops = &toy_ops, .kind = kind};
	return toy;
}

/* ---- the tests ---- */

static const struct sample_source_ops no_ops;
static struct sample_source source = {.ops = &no_ops, .samples = 1u << SAMPLE_OF_CPU};
static struct targets targets;
static struct recording_model model = {.targets = &targets};
static struct recording recording;
static struct toy_sink *toy, *other;
static uint64_t taken_ns; /* the time up to which samples have been taken */

static int set_up(void **state)
{
	targets_init(&targets);
	recording = (struct recording){
		.options = {.all = true}, .start_ns = 1, .end_ns = UINT64_MAX, .sources = &source};
	if (table_cache_new(64u << 20, false, &model.tables) < 0 ||
	    unwinder_new(model.tables, &model.unwinder) < 0 ||
	    symbolizer_new(model.tables, &model.symbolizer) < 0)
		return -1;
	toy = toy_new(&sample_kind_cpu);
	other = toy_new(&sample_kind_wall);
	toy->sink.next = &other->sink;
	recording.sinks = &toy->sink;
	for (struct sink *sink = recording.sinks; sink; sink = sink->next)
		assert_int_equal(sink->ops->begin(sink, recording.start_ns), 0);
	return 0;
}

static int tear_down(void **state)
{
	sink_free_all(recording.sinks);
	hold_fini(&recording.hold);
	map64_fini(&recording.execs);
	symbolizer_free(model.symbolizer);
	unwinder_free(model.unwinder);
	table_cache_free(model.tables);
	targets_fini(&targets);
	return 0;
}

static void hear(pid_t tid, uint64_t time_ns)
{
	const struct record record = {.kind = RECORD_SAMPLE,
				      .pid = getpid(),
				      .tid = tid,
				      .time_ns = time_ns,
				      .sample = {.kind = SAMPLE_OF_CPU, .weight = 1}};

	recording_receive(&recording, &model, &record);
}

/* Takes all samples before taken_ns, however often a turn's time ends. */
static void take_all(void)
{
	do {
		recording_advance(&recording, &model, taken_ns + HOLD_NS);
	} while (recording.has_more);
}

static void a_new_sink_has_all_samples_of_its_kind_in_order_of_time(void **state)
{
	taken_ns = 1000;
	hear(12, 200);
	hear(11, 100);
	hear(13, 300);
	take_all();
	assert_int_equal(toy->n, 3);
	for (size_t i = 0; i < toy->n; i++)
		assert_int_equal(toy->tids[i], 11 + i);
	assert_int_equal(other->n, 0);
	assert_int_equal(recording.samples.kept, 3);
	assert_int_equal(toy->progress.until_ns, taken_ns);
}

static void what_a_sink_has_no_room_for_is_counted_as_lost(void **state)
{
	taken_ns = 1000;
	for (pid_t tid = 1; tid <= ROOM + 2; tid++)
		hear(tid, 100);
	take_all();
	assert_int_equal(toy->n, ROOM);
	assert_int_equal(recording.samples.memory_less, 2);
	assert_int_equal(toy->progress.lost, 2);
}

static void samples_wait_for_a_sink_that_has_come_to_its_end(void **state)
{
	taken_ns = 1000;
	toy->sink.end_ns = 200;
	hear(1, 199);
	hear(2, 200);
	take_all();
	assert_int_equal(toy->n, 1);
	toy->sink.end_ns = SINK_ENDLESS_NS;
	take_all();
	assert_int_equal(toy->n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_new_sink_has_all_samples_of_its_kind_in_order_of_time),
		TEST(what_a_sink_has_no_room_for_is_counted_as_lost),
		TEST(samples_wait_for_a_sink_that_has_come_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
