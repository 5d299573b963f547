// SPDX-License-Identifier: Apache-2.0
/*
 * A new kind of profile is one source: this file has a kind, and all of the source that samples it.
 * Nothing of the collector knows it. Claims about what a recording does for each of its sources.
 */
#include "base/clock.h"
#include "recording/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the source: toys of this process, each of which counts for two ---- */

#define TOY    31u /* behind all of enum sample_of */
#define BELL   30u /* an event: toys are over */
#define A_TURN 3

static const struct profile_kind toys_of_profile = {"toys", PROFILE_UNIT_COUNT};
static const struct sample_kind toys = {.profile = &toys_of_profile, .n_values = 1};

struct toy_source {
	struct sample_source source;
	unsigned left;	    /* toys that have not been read */
	unsigned left_ends; /* calls of end that are not enough */
	unsigned bells;
	size_t told; /* processes that are wanted */
};

static bool toy_read(struct sample_source *source, const struct recording_context *context)
{
	struct toy_source *const toy = (struct toy_source *)source;
	const struct record record = {.kind = RECORD_SAMPLE,
				      .pid = getpid(),
				      .tid = getpid(),
				      .time_ns = context->recording->start_ns,
				      .sample = {.kind = TOY, .weight = 1}};

	for (int i = 0; i < A_TURN && toy->left > 0; i++, toy->left--)
		recording_receive(context->recording, context->model, &record);
	return toy->left > 0;
}

static void toy_want(struct sample_source *source, const struct recording_context *context,
		     const struct source_wanted *wanted)
{
	((struct toy_source *)source)->told = wanted->n;
}

static enum source_verdict toy_take(struct sample_source *source, struct source_sample *sample)
{
	if (sample->record->sample.kind == BELL) {
		((struct toy_source *)source)->bells++;
		return SOURCE_TAKEN;
	}
	sample->changed = *sample->record;
	sample->changed.sample.weight = 2 * sample->record->sample.weight;
	sample->record = &sample->changed;
	return SOURCE_NAMES;
}

static void toy_keep(struct sample_source *source, const struct source_sample *sample,
		     struct named_sample *named)
{
	named->kind = &toys;
	recording_keep(sample->context->recording, named);
}

static bool toy_is_read(const struct sample_source *source)
{
	return ((const struct toy_source *)source)->left == 0;
}

static bool toy_end(struct sample_source *source, const struct recording_context *context)
{
	struct toy_source *const toy = (struct toy_source *)source;

	return toy->left_ends == 0 || --toy->left_ends == 0;
}

static void toy_free(struct sample_source *source)
{
	free(source);
}

static const struct sample_source_ops toy_ops = {
	.read = toy_read,
	.want = toy_want,
	.take = toy_take,
	.keep = toy_keep,
	.is_read = toy_is_read,
	.end = toy_end,
	.free = toy_free,
};

static struct toy_source *toy_new(unsigned n)
{
	struct toy_source *const toy = calloc(1, sizeof(*toy));

	assert_non_null(toy);
	toy->source = (struct sample_source){
		.ops = &toy_ops, .samples = 1u << TOY, .events = 1u << BELL, .is_told = true};
	toy->left = n;
	return toy;
}

/* ---- the tests ---- */

static struct targets targets;
static struct recording_model model = {.targets = &targets};
static struct recording recording;
static struct toy_source *toy;
static struct tree_sink *tree;

static int set_up(void **state)
{
	targets_init(&targets);
	recording = (struct recording){.options = {.all = true}, .start_ns = 1};
	recording.end_ns = clock_now_ns() - CLOCK_NS_PER_SEC; /* all that is read is ripe */
	if (table_cache_new(64u << 20, false, &model.tables) < 0 ||
	    unwinder_new(model.tables, &model.unwinder) < 0 ||
	    symbolizer_new(model.tables, &model.symbolizer) < 0 ||
	    tree_sink_new_of(&toys, 0, &tree) < 0)
		return -1;
	recording.sinks = &tree->sink;
	toy = toy_new(10);
	sample_source_append(&recording.sources, &toy->source);
	return tree->sink.ops->begin(&tree->sink, recording.start_ns);
}

static int tear_down(void **state)
{
	sample_source_free_all(recording.sources);
	sink_free_all(recording.sinks);
	hold_fini(&recording.hold);
	map64_fini(&recording.execs);
	symbolizer_free(model.symbolizer);
	unwinder_free(model.unwinder);
	table_cache_free(model.tables);
	targets_fini(&targets);
	return 0;
}

static void hear(unsigned number)
{
	const struct record record = {.kind = RECORD_SAMPLE,
				      .pid = getpid(),
				      .tid = getpid(),
				      .time_ns = recording.start_ns,
				      .sample = {.kind = (uint8_t)number, .weight = 1}};

	recording_receive(&recording, &model, &record);
}

static void read_all(void)
{
	do {
		recording_read(&recording, &model);
	} while (recording.has_unread);
}

/* Takes all that has been read, however often a turn's time ends. */
static void take_all(void)
{
	do {
		recording_advance(&recording, &model, clock_now_ns());
	} while (recording.has_more);
}

static void samples_of_a_new_source_are_a_profile_of_their_kind(void **state)
{
	read_all();
	take_all();
	assert_true(recording.is_done);
	assert_int_equal(recording.samples.received, 10);
	assert_int_equal(recording.samples.kept, 10);
	assert_int_equal(tree->profile.quality.samples, 20);
	assert_string_equal(tree->sink.kind->profile->name, "toys");
}

static void a_source_that_has_more_is_read_on(void **state)
{
	recording_read(&recording, &model);
	assert_true(recording.has_unread);
	take_all();
	assert_false(recording.is_done); /* there is more */
	assert_int_equal(recording.samples.kept, A_TURN);
	read_all();
	take_all();
	assert_true(recording.is_done);
}

static void a_recording_ends_when_each_source_has_ended(void **state)
{
	toy->left_ends = 3;
	read_all();
	take_all();
	assert_int_equal(toy->left_ends, 0);
	assert_true(recording.is_done);
}

static void an_event_is_given_to_its_source_alone(void **state)
{
	toy->left = 0;
	hear(BELL);
	take_all();
	assert_int_equal(toy->bells, 1);
	assert_int_equal(recording.samples.received, 1);
	assert_int_equal(recording.samples.kept + recording.samples.unwanted, 0);
}

static void what_no_source_claims_is_counted_as_unwanted(void **state)
{
	toy->left = 0;
	hear(SAMPLE_OF_PARK);
	take_all();
	assert_int_equal(recording.samples.unwanted, 1);
	assert_int_equal(recording.samples.kept, 0);
}

static void a_source_is_told_who_is_wanted(void **state)
{
	assert_non_null(targets_find_or_read(&targets, getpid()));
	recording_tell_wanted(&recording, &model, CLOCK_NS_PER_SEC);
	assert_int_equal(toy->told, 1);
	targets_fini(&targets);
	targets_init(&targets);
	recording_tell_wanted(&recording, &model, 2 * CLOCK_NS_PER_SEC);
	assert_int_equal(toy->told, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(samples_of_a_new_source_are_a_profile_of_their_kind),
		TEST(a_source_that_has_more_is_read_on),
		TEST(a_recording_ends_when_each_source_has_ended),
		TEST(an_event_is_given_to_its_source_alone),
		TEST(what_no_source_claims_is_counted_as_unwanted),
		TEST(a_source_is_told_who_is_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
