// SPDX-License-Identifier: Apache-2.0
/* Claims about recording/report.h: the figures that people read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "sinks/named_sample.h"
#include "recording/report.h"

static void a_whole_is_said_only_of_a_whole(void **state)
{
	assert_true(report_percent(100000, 100000) == 100.0);
	assert_true(report_percent(99999, 100000) <= 99.9); /* not 100.0 when it is printed */
	assert_true(report_percent(1, 100000) >= 0.1);
	assert_true(report_percent(0, 100000) == 0.0);
	assert_true(report_percent(0, 0) == 0.0);
}

static void counts_have_commas(void **state)
{
	char text[32];

	assert_string_equal(report_count(0, text), "0");
	assert_string_equal(report_count(999, text), "999");
	assert_string_equal(report_count(1000, text), "1,000");
	assert_string_equal(report_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

static void quality_is_one_line(void **state)
{
	const struct profile_quality quality = {
		.samples = 1980, .unnamed_samples = 20, .unrooted_samples = 990, .lost_samples = 3};
	char text[REPORT_BYTES];

	report_quality(&profile_kind_cpu, &quality, text);
	assert_string_equal(text, "quality: 1,980 samples, 99.0 % named, 100.0 % of Java named, "
				  "50.0 % rooted, 3 lost");
}

static void who_took_the_samples_is_said_behind_the_quality(void **state)
{
	char text[REPORT_BYTES] = "quality: 1 sample";

	report_source("", text);
	assert_string_equal(text, "quality: 1 sample");
	report_source("BPF (exact)", text);
	assert_string_equal(text, "quality: 1 sample, by BPF (exact)");
	memset(text, 'x', REPORT_BYTES - 1);
	text[REPORT_BYTES - 1] = '\0';
	report_source("perf", text);
	assert_int_equal(strlen(text), REPORT_BYTES - 1);
}

static void truncated_stacks_are_said_by_reason_the_most_frequent_first(void **state)
{
	struct profile_quality quality = {.samples = 1000, .unrooted_samples = 14};
	char text[REPORT_BYTES];

	quality.truncated_samples[STACK_SNAPSHOT_ENDED] = 1;
	quality.truncated_samples[STACK_NO_RULE] = 1;
	quality.truncated_samples[STACK_BAD_RETURN] = 12;
	report_quality(&profile_kind_cpu, &quality, text);
	assert_string_equal(text, "quality: 1,000 samples, 100.0 % named, 100.0 % of Java named, "
				  "98.6 % rooted, 0 lost, 1.4 % truncated (bad return address 12, "
				  "snapshot ended 1, no rule 1)");
}

static void samples_without_their_frames_in_the_heap_are_said(void **state)
{
	const struct profile_quality quality = {.samples = 1000, .heapless_samples = 404};
	char text[REPORT_BYTES];

	report_quality(&profile_kind_cpu, &quality, text);
	assert_string_equal(text,
			    "quality: 1,000 samples, 100.0 % named, 100.0 % of Java named, "
			    "100.0 % rooted, 0 lost, 40.4 % without their frames in the heap");
}

static void samples_without_the_copy_of_their_stack_are_said(void **state)
{
	const struct profile_quality quality = {
		.samples = 10, .stackless_samples = 1234, .overflow_samples = 5};
	char text[REPORT_BYTES];

	report_quality(&profile_kind_cpu, &quality, text);
	assert_string_equal(text, "quality: 10 samples, 100.0 % named, 100.0 % of Java named, "
				  "100.0 % rooted, 0 lost, 1,234 without the copy of their stack, "
				  "5 cut at the memory limit");
}

/* A daemon's answer can hold any figure. */
static void greatest_figures_fit(void **state)
{
	struct profile_quality quality;
	char text[REPORT_BYTES + 1];

	memset(&quality, 0xff, sizeof(quality));
	text[REPORT_BYTES] = 'x';
	report_quality(&profile_kind_cpu, &quality, text);
	assert_true(strlen(text) < REPORT_BYTES);
	assert_non_null(strstr(text, "memory limit"));
	assert_int_equal(text[REPORT_BYTES], 'x');
}

#define WEIGHT 3 /* samples that the judged one stands for */

static void check_judged(const struct stack *stack, bool is_rooted, uint64_t cut)
{
	const struct symbolizer_verdict verdict = {.is_java_named = true, .is_rooted = is_rooted};
	const struct named_sample sample = {
		.values = {WEIGHT}, .stack = stack, .verdict = &verdict};
	struct profile_quality quality = {0};
	uint64_t sum = 0;

	named_sample_judge(&sample, &quality);
	for (size_t i = 0; i < PROFILE_REASONS; i++)
		sum += quality.truncated_samples[i];
	assert_int_equal(sum, cut * WEIGHT);
	assert_int_equal(quality.truncated_samples[stack->end], cut * WEIGHT);
	assert_int_equal(quality.unrooted_samples, is_rooted ? 0 : WEIGHT);
}

static void samples_are_truncated_whose_stack_has_frames_and_no_root(void **state)
{
	static struct stack stack;

	stack.depth = 3;
	stack.end = STACK_NO_RULE;
	check_judged(&stack, false, 1);
	stack.end = STACK_BY_FP;
	check_judged(&stack, true, 0);
	check_judged(&stack, false, 1);
	stack.depth = 0;
	check_judged(&stack, false, 0);
}

static void subtitle_says_what_was_measured(void **state)
{
	const struct recording_status status = {
		.elapsed_ns = 10000000000, .samples = 1980, .jvms = 1, .event = "cpu-clock"};
	char text[REPORT_BYTES];

	report_subtitle(&status, 99, text);
	assert_string_equal(
		text, "1,980 samples of cpu-clock at 99 Hz in 10.0 s: 20.0 s, 2.00 cores, 1 JVM");
}

static void check_subtitle(const struct sample_kind *kind, uint64_t samples, const char *expected)
{
	const struct recording_status status = {.elapsed_ns = 10000000000,
						.samples = samples,
						.wall_hz = 20,
						.event = "cpu-clock",
						.parts = {{.kind = kind}},
						.n_parts = 1};
	char text[REPORT_BYTES];

	report_subtitle(&status, 99, text);
	assert_string_equal(text, expected);
}

static void subtitle_has_the_unit_of_the_kind(void **state)
{
	check_subtitle(&sample_kind_wall, 64000000,
		       "64.0 s of threads (wall), read 20 times a second, in 10.0 s");
	check_subtitle(&sample_kind_alloc, 1572864, "1.5 MiB of alloc in 10.0 s");
	check_subtitle(&sample_kind_objects, 1234, "1,234 objects in 10.0 s");
	check_subtitle(&sample_kind_lock, 450000, "450 ms of lock in 10.0 s");
	check_subtitle(&sample_kind_contentions, 7, "7 contentions in 10.0 s");
	check_subtitle(&sample_kind_exceptions, 7, "7 exceptions in 10.0 s");
}

static void sizes_of_flawed_samples_have_their_unit(void **state)
{
	struct profile_quality quality = {.samples = 1 << 20, .unrooted_samples = 2048};
	char text[REPORT_BYTES];

	quality.truncated_samples[STACK_NO_RULE] = 2048;
	report_quality(&profile_kind_alloc, &quality, text);
	assert_string_equal(text,
			    "quality of alloc: 1.0 MiB, 100.0 % named, 100.0 % of Java named, "
			    "99.8 % rooted, 0 lost, 0.2 % truncated (no rule 2.0 KiB)");
}

static void check_probes(const struct probe_arms_stats *stats, const char *expected)
{
	char text[REPORT_BYTES] = "quality";

	report_probes(stats, text);
	assert_string_equal(text, expected);
}

static void how_many_objects_live_is_said(void **state)
{
	const struct recording_live few = {.watched = 1234, .living = 7, .dead = 1227};
	const struct recording_live all = {.watched = 1234,
					   .living = 7,
					   .dead = 1000,
					   .unwatched = 5678,
					   .left_out = 3,
					   .lost = 2};
	char text[REPORT_BYTES] = "quality", more[REPORT_BYTES] = "quality";

	report_live(&few, text);
	assert_string_equal(text, "quality, 7 of 1,234 watched objects live");
	report_live(&all, more);
	assert_string_equal(more, "quality, 7 of 1,234 watched objects live, which stand for 5,678 "
				  "more samples, 3 samples left out for want of memory, some may "
				  "be dead: 2 records lost that may have said so");
}

static void who_is_armed_and_who_is_not_is_said(void **state)
{
	const struct probe_arms_stats one = {.armed = 1}, none = {.opening = 2};
	const struct probe_arms_stats all = {.armed = 2,
					     .pauses = 1,
					     .opening = 3,
					     .refused = 1,
					     .why = "PID 7: its agent is older"};

	check_probes(&one, "quality, 1 JVM armed");
	check_probes(&none, "quality, 0 JVMs armed, 2 not yet");
	check_probes(&all,
		     "quality, 2 JVMs armed, 1 pause because of more than 20000 hits a second, "
		     "3 not yet, 1 not: PID 7: its agent is older");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_is_said_only_of_a_whole),
		cmocka_unit_test(counts_have_commas),
		cmocka_unit_test(quality_is_one_line),
		cmocka_unit_test(who_took_the_samples_is_said_behind_the_quality),
		cmocka_unit_test(truncated_stacks_are_said_by_reason_the_most_frequent_first),
		cmocka_unit_test(samples_without_their_frames_in_the_heap_are_said),
		cmocka_unit_test(samples_without_the_copy_of_their_stack_are_said),
		cmocka_unit_test(greatest_figures_fit),
		cmocka_unit_test(samples_are_truncated_whose_stack_has_frames_and_no_root),
		cmocka_unit_test(subtitle_says_what_was_measured),
		cmocka_unit_test(subtitle_has_the_unit_of_the_kind),
		cmocka_unit_test(sizes_of_flawed_samples_have_their_unit),
		cmocka_unit_test(how_many_objects_live_is_said),
		cmocka_unit_test(who_is_armed_and_who_is_not_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
