// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about announce/publishing.h: an agent of this very process speaks, and a subscriber hears.
 */
#include "published.h"
#include "spoken_agent.h"

#include "base/clock.h"
#include "base/json_value.h"
#include "base/process_stat.h"
#include "common/files.h"
#include "common/temp_dir.h"
#include "process/code_events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ADDR UINT64_C(0x7f0000000000)
#define SEC  UINT64_C(1000000000)

/* ---- claims ---- */

static void jvm_comes_is_current_and_goes(void **state)
{
	published_subscribe("jvm\n");
	agent_hear(INTAKE_OPENED, NULL);
	published_step();
	agent_say_hello();
	published_step();
	published_check_events("comes");
	agent_say_resync(WIRE_RESYNC_BEGIN);
	agent_say_resync(WIRE_RESYNC_END);
	published_step();
	published_check_events("current");
	wire_encode_bye(&agent_buf, &(struct wire_bye){.reason = 1});
	agent_say();
	agent_hear(INTAKE_CLOSED, NULL);
	published_step();
	published_check_events("goes");
}

static void jvm_leaves_and_comes_again(void **state)
{
	published_subscribe("jvm\n");
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_hear(INTAKE_CLOSED, NULL);
	published_step();
	published_check_events("comes current leaves");
	agent_session.id++;
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_say_resync(WIRE_RESYNC_BEGIN);
	published_step();
	published_check_events("comes current resyncs");
}

/* The model forgets the process; the next second tells. */
static void jvm_that_is_forgotten_goes(void **state)
{
	published_subscribe("jvm\n");
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	published_step();
	published_check_events("comes current");
	agent_engine.targets.max_bytes = 1;
	agent_engine.targets.linger_more_ns = 0;
	targets_tick(&agent_engine.targets, clock_now_ns(), 0);
	assert_null(targets_find(&agent_engine.targets, getpid()));
	published.now += SEC;
	published_step();
	published_check_events("goes");
}

/* Names of containers and pods are read from files, which may take longer than a resync. */
static void names_that_become_known_later_are_told(void **state)
{
	struct process *process;
	json_t *lines;

	published_subscribe("jvm\n");
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	published_step();
	published_check_events("comes current");
	process = targets_find(&agent_engine.targets, getpid());
	snprintf(process->workload.pod, sizeof(process->workload.pod), "api-1");
	workload_touch(&process->workload);
	published.now += SEC;
	published_step();
	lines = published_lines();
	assert_int_equal(json_array_size(lines), 1);
	assert_string_equal(json_value_text(json_array_get(lines, 0), "event"), "named");
	assert_string_equal(json_value_text(json_array_get(lines, 0), "pod"), "api-1");
	json_decref(lines);
	published.now += SEC;
	published_step();
	assert_null(subscriber_next(&published.subscriber, 200, &(size_t){0}));
}

/* What is read of a JVM's memory, beside its agent for instance. */
static void code_that_was_read_is_published(void **state)
{
	struct targets *const targets = &agent_engine.targets;
	struct wire_reader reader;
	struct wire_record record;
	struct process *process;
	json_t *lines;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	published_subscribe("code.json\n");
	process = targets_find(targets, getpid());
	wire_encode_method_load(
		&agent_buf, 0,
		&(struct wire_method_load){
			.time_ns = 1, .addr = ADDR, .size = 64, .method = wire_str_from("fib")});
	wire_encode_method_unload(&agent_buf, &(struct wire_method_unload){.addr = ADDR});
	reader = (struct wire_reader){.data = agent_buf.data, .len = agent_buf.len};
	while (wire_reader_next(&reader, &record) == 1) {
		assert_true(code_events_apply_beside(process, &record, clock_now_ns()));
		targets->on_read(targets->on_read_arg, process, &record);
	}
	agent_buf.len = 0;
	published_step();
	lines = published_lines();
	assert_int_equal(json_array_size(lines), 2);
	assert_string_equal(json_value_text(json_array_get(lines, 0), "event"), "load");
	assert_string_equal(json_value_text(json_array_get(lines, 0), "name"), "fib");
	assert_string_equal(json_value_text(json_array_get(lines, 1), "event"), "drop");
	json_decref(lines);
}

static void code_has_names_and_its_record(void **state)
{
	json_t *lines, *line;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	published_subscribe("code.json\n");
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	wire_encode_method_unload(&agent_buf, &(struct wire_method_unload){.addr = ADDR});
	agent_say();
	published_step();
	lines = published_lines();
	assert_int_equal(json_array_size(lines), 2);
	line = json_array_get(lines, 0);
	assert_string_equal(json_value_text(line, "event"), "load");
	assert_string_equal(json_value_text(line, "name"), "Lcom/x/A;::run");
	assert_string_equal(json_value_text(line, "class"), "com/x/A");
	assert_string_equal(json_value_text(line, "method"), "run");
	assert_string_equal(json_value_text(line, "addr"), "0x7f0000000000");
	assert_int_equal(json_value_int(line, "size"), 64);
	line = json_array_get(lines, 1);
	assert_string_equal(json_value_text(line, "event"), "drop");
	assert_string_equal(json_value_text(line, "addr"), "0x7f0000000000");
	json_decref(lines);
}

static void what_the_model_refuses_is_not_published(void **state)
{
	agent_hear(INTAKE_OPENED, NULL);
	published_subscribe("code.json\n");
	agent_say_load(ADDR, 64, "Lcom/x/A;", "early"); /* before the hello */
	agent_say_all();
	agent_say_load(ADDR, 0, "Lcom/x/A;", "empty");
	agent_say_load(UINT64_MAX - 8, 64, "Lcom/x/A;", "wraps");
	wire_encode_loss(&agent_buf, &(struct wire_loss){.time_ns = 1});
	agent_say();
	agent_say_load(ADDR, 64, "Lcom/x/A;", "good");
	agent_say_load(ADDR, 0, "Lcom/x/A;", "empty, where code lives");
	published_step();
	published_check_events("begin end load");
}

/* A agent_session that the model has ended is not heard any more. */
static void ended_session_is_not_published(void **state)
{
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	published_subscribe("code.json\n");
	map64_remove(&agent_engine.targets.sessions, agent_session.id);
	wire_encode_method_unload(&agent_buf, &(struct wire_method_unload){.addr = ADDR});
	agent_say();
	published_step();
	assert_null(subscriber_next(&published.subscriber, 200, &(size_t){0}));
}

static void nothing_is_made_without_subscribers(void **state)
{
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	published.now += 200 * SEC;
	published_step();
	assert_int_equal(published_stats().events, 0);
}

static void newcomer_gets_all_living_code_in_pieces(void **state)
{
	const uint32_t ranges = 2 * PUBLISHING_RANGES + 10;
	json_t *lines, *line;
	uint32_t loads = 0;
	bool has_ended = false;
	size_t i;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	for (uint32_t n = 0; n < ranges; n++)
		agent_say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	wire_encode_method_unload(&agent_buf, &(struct wire_method_unload){.addr = ADDR});
	agent_say();
	published_subscribe("snapshot.json\n");
	for (int turn = 0; turn < 3; turn++) {
		const uint64_t before = published_stats().events;

		published_step();
		/* Beside them there are the begin, the end, and the line of the summary. */
		assert_in_range(published_stats().events - before, 1, PUBLISHING_RANGES + 3);
	}
	assert_int_equal(published_stats().snapshots, 1);
	while (!has_ended) {
		lines = published_lines();
		json_array_foreach (lines, i, line) {
			const char *const event = json_value_text(line, "event");

			loads += strcmp(event, "load") == 0;
			has_ended |= strcmp(event, "end") == 0;
			if (has_ended)
				assert_true(json_value_bool(line, "complete"));
		}
		json_decref(lines);
	}
	assert_int_equal(loads, ranges - 1);
}

/*
 * What its agent will not name again is not known: it has its snapshot when it is current, and
 * soon.
 */
static void jvm_that_is_not_current_has_its_snapshot_later(void **state)
{
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	agent_say_resync(WIRE_RESYNC_BEGIN);
	published_subscribe("snapshot.json\n");
	published_step();
	assert_null(subscriber_next(&published.subscriber, 200, &(size_t){0}));
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	agent_say_resync(WIRE_RESYNC_END);
	published_step();
	assert_null(subscriber_next(&published.subscriber, 200, &(size_t){0}));
	published.now += PUBLISHING_HURRY_NS;
	published_step();
	published_check_events("begin load end");
	assert_int_equal(published_stats().snapshots, 1);
}

/* A snapshot of two turns. Between them the agent begins anew. */
static void snapshot_in_which_a_resync_begins_proves_nothing(void **state)
{
	bool has_ended = false;
	json_t *line;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	for (uint32_t n = 0; n < PUBLISHING_RANGES + 10; n++)
		agent_say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	published_subscribe("snapshot.json\n");
	published_step();
	agent_say_resync(WIRE_RESYNC_BEGIN);
	published_step();
	while (!has_ended) {
		json_t *const lines = published_lines();

		line = json_array_get(lines, json_array_size(lines) - 1);
		has_ended = strcmp(json_value_text(line, "event"), "end") == 0;
		assert_false(json_value_bool(line, "complete"));
		json_decref(lines);
	}
	assert_int_equal(published_stats().snapshots, 0);
}

static void snapshot_has_records_as_agents_send_them(void **state)
{
	struct wire_method_load load;
	struct publish_entry entry;
	const char *message;
	size_t len, pos = 0;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	published_subscribe("snapshot.wire\n");
	published_step();
	message = subscriber_next(&published.subscriber, 5000, &len);
	assert_non_null(message);
	message += strlen("snapshot.wire\n") + 40;
	len -= strlen("snapshot.wire\n") + 40;
	assert_int_equal(publish_entry_next(message, len, &pos, &entry), 1);
	assert_int_equal(entry.record.kind, WIRE_RESYNC_BEGIN);
	assert_int_equal(publish_entry_next(message, len, &pos, &entry), 1);
	assert_int_equal(entry.record.kind, WIRE_METHOD_LOAD);
	assert_int_equal(entry.record.flags, WIRE_FLAG_RESYNC);
	assert_int_equal(wire_decode_method_load(&entry.record, &load), 0);
	assert_int_equal(load.addr, ADDR);
	assert_int_equal(load.size, 64);
	assert_int_equal(load.level, 4);
	assert_memory_equal(load.class_sig.data, "Lcom/x/A;", load.class_sig.len);
	assert_memory_equal(load.method.data, "run", load.method.len);
	assert_int_equal(publish_entry_next(message, len, &pos, &entry), 1);
	assert_int_equal(entry.record.kind, WIRE_RESYNC_END);
}

static void rounds_come_again(void **state)
{
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	published_subscribe("snapshot.json\n");
	for (int i = 0; i < 10; i++)
		published_step();
	assert_int_equal(published_stats().snapshots, 1);
	published.now += PUBLISHING_ROUND_NS;
	published_step();
	assert_int_equal(published_stats().snapshots, 2);
}

/* Of 64 KiB a half is for batches. A round follows, sooner than it would, when there is room. */
static void what_was_dropped_is_counted_by_jvm_and_repeated_soon(void **state)
{
	uint32_t n = 0;
	json_t *lines;

	published_subscribe("s"); /* summaries and snapshots */
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	for (int i = 0; i < 10; i++)
		published_step();
	while (subscriber_next(&published.subscriber, 100, &(size_t){0}))
		continue;
	publishing_set_max_bytes(published.publishing, 8 << 10);
	while (published_stats().events_dropped + published_stats().events_left_out == 0)
		agent_say_load(ADDR + 64 * n++, 64, "Lcom/x/A;", "run");
	publishing_set_max_bytes(published.publishing, 16 << 20);
	published.now += SEC;
	published_step();
	lines = published_lines();
	assert_int_equal(json_value_int(json_array_get(lines, 0), "unpublished"), 1);
	json_decref(lines);
	published.now += PUBLISHING_HURRY_NS;
	assert_int_equal(published_stats().snapshots, 1);
	published_step();
	assert_int_equal(published_stats().snapshots, 2);
}

static void summary_of_each_second_has_numbers(void **state)
{
	json_t *lines, *line;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	agent_say_load(ADDR + 64, 32, "Lcom/x/A;", "run");
	published_subscribe("summary\n");
	for (int second = 0; second < 2; second++) {
		published.now += SEC;
		published_step();
		lines = published_lines();
		assert_int_equal(json_array_size(lines), 1);
		line = json_array_get(lines, 0);
		assert_int_equal(json_value_int(line, "pid"), getpid());
		assert_string_equal(json_value_text(line, "state"), "current");
		assert_int_equal(json_value_int(line, "methods"), 2);
		assert_int_equal(json_value_int(line, "code_bytes"), 96);
		assert_int_equal(json_value_int(line, "loads"), 2);
		assert_true(json_value_int(line, "cpu_ns") > 0);
		assert_null(json_object_get(line, "samples")); /* nothing is sampled */
		json_decref(lines);
	}
}

static void summary_has_what_was_sampled(void **state)
{
	static const uint64_t lost = 5;
	struct publishing_options options = published_options(published.path, NULL);
	struct process *process;
	const json_t *line, *quality;
	json_t *lines;

	options.lost_samples = &lost;
	publishing_close(published.publishing);
	assert_int_equal(publishing_open(&agent_engine, &options, &published.publishing), 0);
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	process = targets_find(&agent_engine.targets, getpid());
	process->samples = (struct process_samples){.samples = 9, .unnamed = 2, .unrooted = 3};
	published_subscribe("summary\n");
	published.now += SEC;
	published_step();
	lines = published_lines();
	line = json_array_get(lines, 0);
	quality = json_object_get(line, "quality");
	assert_int_equal(json_value_int(line, "samples"), 9);
	assert_int_equal(json_value_int(line, "host_lost_samples"), 5);
	assert_int_equal(json_value_int(quality, "unnamed_samples"), 2);
	assert_int_equal(json_value_int(quality, "unrooted_samples"), 3);
	json_decref(lines);
}

/* So who waits for its numbers does not wait for a JVM. */
static void summary_comes_without_any_jvm(void **state)
{
	json_t *lines;

	published_subscribe("summary\n");
	for (int second = 0; second < 2; second++) {
		published.now += SEC;
		published_step();
		lines = published_lines();
		assert_int_equal(json_array_size(lines), 0);
		json_decref(lines);
	}
	while (published_stats().messages < 2) /* counted once it is sent */
		published_rest();
	assert_int_equal(published_stats().messages, 2);
}

/* ---- threads ---- */

static atomic_int threads_left = INT_MAX;

/* Also libnng's, whose calls find this one. */
int pthread_create(pthread_t *restrict ret, const pthread_attr_t *restrict attributes,
		   void *(*run)(void *), void *restrict arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (atomic_fetch_sub(&threads_left, 1) <= 0)
		return EAGAIN;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(ret, attributes, run, arg);
}

static void without_threads_it_goes_on_and_is_tried_again(void **state)
{
	struct publishing_options options = published_options(published.path, published.state_path);
	size_t len;

	publishing_close(published.publishing);
	atomic_store(&threads_left, 3);
	assert_int_equal(publishing_open(&agent_engine, &options, &published.publishing), 0);
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	publishing_step(published.publishing, published.now);
	assert_int_equal(published_stats().starts_failed, 1);
	assert_int_equal(access(published.path, F_OK), -1);
	assert_int_equal(access(published.state_path, F_OK), -1);
	atomic_store(&threads_left, INT_MAX);
	published.now = clock_now_ns() + PUBLISHING_START_NS;
	assert_true(publishing_wait_ns(published.publishing, published.now - SEC) <= SEC + SEC / 2);
	published_step();
	assert_int_equal(published_stats().starts_failed, 1);
	published_subscribe("code.json\n");
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	published_step();
	published_check_events("load");
	assert_memory_equal(published_answer("jvms", &len), "jvms\n", 5);
}

/* By a file, while there were no threads. It is tried as seldom as without threads. */
static void place_that_was_taken_meanwhile_is_tried_again_later(void **state)
{
	struct publishing_options options = published_options(published.path, published.state_path);
	struct stat st;

	publishing_close(published.publishing);
	atomic_store(&threads_left, 3);
	assert_int_equal(publishing_open(&agent_engine, &options, &published.publishing), 0);
	atomic_store(&threads_left, INT_MAX);
	files_write(published.path, "mine");
	published.now = clock_now_ns() + PUBLISHING_START_NS;
	published_step();
	assert_int_equal(published_stats().starts_failed, 2);
	assert_int_equal(stat(published.path, &st), 0);
	assert_true(S_ISREG(st.st_mode)); /* libnng would have put its own there */
	published.now = clock_now_ns() + PUBLISHING_START_NS / 2;
	published_step();
	assert_int_equal(published_stats().starts_failed, 2);
	assert_int_equal(unlink(published.path), 0);
	published.now = clock_now_ns() + PUBLISHING_START_NS;
	published_step();
	assert_int_equal(published_stats().starts_failed, 2);
	published_subscribe("");
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, published_set_up, published_tear_down)
	const struct CMUnitTest tests[] = {
		CLAIM(jvm_comes_is_current_and_goes),
		CLAIM(jvm_leaves_and_comes_again),
		CLAIM(jvm_that_is_forgotten_goes),
		CLAIM(names_that_become_known_later_are_told),
		CLAIM(code_that_was_read_is_published),
		CLAIM(code_has_names_and_its_record),
		CLAIM(what_the_model_refuses_is_not_published),
		CLAIM(ended_session_is_not_published),
		CLAIM(nothing_is_made_without_subscribers),
		CLAIM(newcomer_gets_all_living_code_in_pieces),
		CLAIM(jvm_that_is_not_current_has_its_snapshot_later),
		CLAIM(snapshot_in_which_a_resync_begins_proves_nothing),
		CLAIM(snapshot_has_records_as_agents_send_them),
		CLAIM(rounds_come_again),
		CLAIM(what_was_dropped_is_counted_by_jvm_and_repeated_soon),
		CLAIM(summary_of_each_second_has_numbers),
		CLAIM(summary_has_what_was_sampled),
		CLAIM(summary_comes_without_any_jvm),
		CLAIM(without_threads_it_goes_on_and_is_tried_again),
		CLAIM(place_that_was_taken_meanwhile_is_tried_again_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
