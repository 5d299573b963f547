// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about announce/publishing.h: an agent of this very process speaks, and a subscriber hears.
 */
#include "announce/publishing.h"

#include "../publish/subscriber.h"
#include "spoken_agent.h"

#include "base/clock.h"
#include "base/json_value.h"
#include "base/log.h"
#include "base/process_stat.h"
#include "common/temp_dir.h"

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
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ADDR UINT64_C(0x7f0000000000)
#define SEC  UINT64_C(1000000000)

static char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 16], state_path[TEMP_DIR_BYTES + 16],
	agents[TEMP_DIR_BYTES + 32];
static struct publishing *publishing;
static struct subscriber subscriber, asker;
static bool is_subscribed, is_asking;
static uint64_t now;

/* ---- the subscriber ---- */

static void step(void)
{
	now += 20 * CLOCK_NS_PER_MS;
	publishing_step(publishing, now);
}

static struct publishing_options options_of(const char *there)
{
	return (struct publishing_options){
		.publisher = {.events = {.option = "--publish", .paths = {there}, .count = 1},
			      .state = {.option = "--publish-state",
					.paths = {state_path},
					.count = 1}},
		.agent_socket = agents,
	};
}

static int open_other(const char *there, struct publishing **ret)
{
	struct publishing_options options = options_of(there);

	options.publisher.state.count = 0;
	return publishing_open(&agent_engine, &options, ret);
}

/* Without the snapshot that a subscriber brings about. */
static void subscribe(const char *topic)
{
	struct publish_stats stats;

	subscriber_open(&subscriber, path, topic);
	is_subscribed = true;
	do {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		publishing_stats(publishing, &stats);
	} while (stats.subscribers_joined == 0);
}

static struct publish_stats stats_of(void)
{
	struct publish_stats stats;

	publishing_stats(publishing, &stats);
	return stats;
}

/* The lines of the next message, each an object. */
static json_t *next_lines(void)
{
	size_t len;
	const char *message = subscriber_next(&subscriber, 5000, &len);
	json_t *const lines = json_array();
	const char *line;

	assert_non_null(message);
	line = memchr(message, '\n', len);
	for (int n = 0; line && line + 1 < message + len; n++) {
		const char *const end = memchr(line + 1, '\n', len);
		json_t *const object = json_loadb(line + 1, (size_t)(end - line - 1), 0, NULL);

		assert_non_null(object);
		if (n > 0)
			json_array_append_new(lines, object);
		else
			json_decref(object);
		line = end;
	}
	return lines;
}

/* The events that come next, such as "begin load load end". A message may have some of them. */
static void check_events(const char *want)
{
	char got[1024] = "";

	while (strlen(got) < strlen(want)) {
		json_t *const lines = next_lines();
		json_t *line;
		size_t i;

		json_array_foreach (lines, i, line) {
			strcat(got, got[0] ? " " : "");
			strcat(got, json_value_text(line, "event"));
			assert_int_equal(json_value_int(line, "pid"), getpid());
			assert_int_equal(json_value_int(line, "start_ticks"),
					 agent_session.start_ticks);
		}
		json_decref(lines);
	}
	assert_string_equal(got, want);
}

static int set_up(void **state)
{
	struct publishing_options options;

	log_set_level(LOG_LEVEL_SILENT);
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/events", dir);
	snprintf(state_path, sizeof(state_path), "%s/state", dir);
	snprintf(agents, sizeof(agents), "%s/run/agent.sock", dir);
	agent_init();
	now = clock_now_ns();
	is_subscribed = is_asking = false;
	options = options_of(path);
	return publishing_open(&agent_engine, &options, &publishing);
}

static int tear_down(void **state)
{
	if (is_subscribed)
		subscriber_close(&subscriber);
	if (is_asking)
		subscriber_close(&asker);
	publishing_close(publishing);
	publishing = NULL;
	targets_fini(&agent_engine.targets);
	temp_dir_remove(dir);
	return 0;
}

/* ---- claims ---- */

static void jvm_comes_is_current_and_goes(void **state)
{
	subscribe("jvm\n");
	agent_hear(INTAKE_OPENED, NULL);
	step();
	agent_say_hello();
	step();
	check_events("comes");
	agent_say_resync(WIRE_RESYNC_BEGIN);
	agent_say_resync(WIRE_RESYNC_END);
	step();
	check_events("current");
	wire_encode_bye(&agent_buf, &(struct wire_bye){.reason = 1});
	agent_say();
	agent_hear(INTAKE_CLOSED, NULL);
	step();
	check_events("goes");
}

static void jvm_leaves_and_comes_again(void **state)
{
	subscribe("jvm\n");
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_hear(INTAKE_CLOSED, NULL);
	step();
	check_events("comes current leaves");
	agent_session.id++;
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_say_resync(WIRE_RESYNC_BEGIN);
	step();
	check_events("comes current resyncs");
}

/* The model forgets the process; the next second tells. */
static void jvm_that_is_forgotten_goes(void **state)
{
	subscribe("jvm\n");
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	step();
	check_events("comes current");
	agent_engine.targets.max_bytes = 1;
	agent_engine.targets.linger_more_ns = 0;
	targets_tick(&agent_engine.targets, clock_now_ns(), 0);
	assert_null(targets_find(&agent_engine.targets, getpid()));
	now += SEC;
	step();
	check_events("goes");
}

static void code_has_names_and_its_record(void **state)
{
	json_t *lines, *line;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	subscribe("code.json\n");
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	wire_encode_method_unload(&agent_buf, &(struct wire_method_unload){.addr = ADDR});
	agent_say();
	step();
	lines = next_lines();
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
	subscribe("code.json\n");
	agent_say_load(ADDR, 64, "Lcom/x/A;", "early"); /* before the hello */
	agent_say_all();
	agent_say_load(ADDR, 0, "Lcom/x/A;", "empty");
	agent_say_load(UINT64_MAX - 8, 64, "Lcom/x/A;", "wraps");
	wire_encode_loss(&agent_buf, &(struct wire_loss){.time_ns = 1});
	agent_say();
	agent_say_load(ADDR, 64, "Lcom/x/A;", "good");
	agent_say_load(ADDR, 0, "Lcom/x/A;", "empty, where code lives");
	step();
	check_events("begin end load");
}

/* A agent_session that the model has ended is not heard any more. */
static void ended_session_is_not_published(void **state)
{
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	subscribe("code.json\n");
	map64_remove(&agent_engine.targets.sessions, agent_session.id);
	wire_encode_method_unload(&agent_buf, &(struct wire_method_unload){.addr = ADDR});
	agent_say();
	step();
	assert_null(subscriber_next(&subscriber, 200, &(size_t){0}));
}

static void nothing_is_made_without_subscribers(void **state)
{
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	now += 200 * SEC;
	step();
	assert_int_equal(stats_of().events, 0);
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
	subscribe("snapshot.json\n");
	for (int turn = 0; turn < 3; turn++) {
		const uint64_t before = stats_of().events;

		step();
		/* Beside them there are the begin, the end, and the line of the summary. */
		assert_in_range(stats_of().events - before, 1, PUBLISHING_RANGES + 3);
	}
	assert_int_equal(stats_of().snapshots, 1);
	while (!has_ended) {
		lines = next_lines();
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
	subscribe("snapshot.json\n");
	step();
	assert_null(subscriber_next(&subscriber, 200, &(size_t){0}));
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	agent_say_resync(WIRE_RESYNC_END);
	step();
	assert_null(subscriber_next(&subscriber, 200, &(size_t){0}));
	now += PUBLISHING_HURRY_NS;
	step();
	check_events("begin load end");
	assert_int_equal(stats_of().snapshots, 1);
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
	subscribe("snapshot.json\n");
	step();
	agent_say_resync(WIRE_RESYNC_BEGIN);
	step();
	while (!has_ended) {
		json_t *const lines = next_lines();

		line = json_array_get(lines, json_array_size(lines) - 1);
		has_ended = strcmp(json_value_text(line, "event"), "end") == 0;
		assert_false(json_value_bool(line, "complete"));
		json_decref(lines);
	}
	assert_int_equal(stats_of().snapshots, 0);
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
	subscribe("snapshot.wire\n");
	step();
	message = subscriber_next(&subscriber, 5000, &len);
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
	subscribe("snapshot.json\n");
	for (int i = 0; i < 10; i++)
		step();
	assert_int_equal(stats_of().snapshots, 1);
	now += PUBLISHING_ROUND_NS;
	step();
	assert_int_equal(stats_of().snapshots, 2);
}

/* Of 64 KiB a half is for batches. A round follows, sooner than it would, when there is room. */
static void what_was_dropped_is_counted_by_jvm_and_repeated_soon(void **state)
{
	uint32_t n = 0;
	json_t *lines;

	subscribe("s"); /* summaries and snapshots */
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	for (int i = 0; i < 10; i++)
		step();
	while (subscriber_next(&subscriber, 100, &(size_t){0}))
		continue;
	publishing_set_max_bytes(publishing, 8 << 10);
	while (stats_of().events_dropped + stats_of().events_left_out == 0)
		agent_say_load(ADDR + 64 * n++, 64, "Lcom/x/A;", "run");
	publishing_set_max_bytes(publishing, 16 << 20);
	now += SEC;
	step();
	lines = next_lines();
	assert_int_equal(json_value_int(json_array_get(lines, 0), "unpublished"), 1);
	json_decref(lines);
	now += PUBLISHING_HURRY_NS;
	assert_int_equal(stats_of().snapshots, 1);
	step();
	assert_int_equal(stats_of().snapshots, 2);
}

static void summary_of_each_second_has_numbers(void **state)
{
	json_t *lines, *line;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	agent_say_load(ADDR + 64, 32, "Lcom/x/A;", "run");
	subscribe("summary\n");
	for (int second = 0; second < 2; second++) {
		now += SEC;
		step();
		lines = next_lines();
		assert_int_equal(json_array_size(lines), 1);
		line = json_array_get(lines, 0);
		assert_int_equal(json_value_int(line, "pid"), getpid());
		assert_string_equal(json_value_text(line, "state"), "current");
		assert_int_equal(json_value_int(line, "methods"), 2);
		assert_int_equal(json_value_int(line, "code_bytes"), 96);
		assert_int_equal(json_value_int(line, "loads"), 2);
		json_decref(lines);
	}
}

/* ---- requests ---- */

static void ask(const char *request)
{
	if (!is_asking)
		subscriber_open_asker(&asker, state_path);
	is_asking = true;
	assert_true(subscriber_ask(&asker, request));
}

/* Steps until the answer has come. */
static const char *answer_of(const char *request, size_t *ret_len)
{
	const char *answer = NULL;

	ask(request);
	for (int i = 0; !answer && i < 2000; i++) {
		step();
		answer = subscriber_answer(&asker, 5, ret_len);
	}
	assert_non_null(answer);
	return answer;
}

static void check_answer(const char *request, const char *want)
{
	size_t len;

	assert_non_null(strstr(answer_of(request, &len), want));
}

static uint64_t number_at(const char *data, size_t n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | (uint8_t)data[n];
	return value;
}

/* The sequence number that the answer for the JVM's code says is next. */
static uint64_t next_seq(void)
{
	char request[64];
	const char *answer;
	size_t len;

	snprintf(request, sizeof(request), "code.wire %d %llu", (int)getpid(),
		 (unsigned long long)agent_session.start_ticks);
	answer = answer_of(request, &len);
	assert_memory_equal(answer, "code.wire\nFGP1", 14);
	return number_at(answer + 10 + 16, 8);
}

static void wrong_request_is_told_what_is_wrong(void **state)
{
	check_answer("jvm", "none of jvms");
	check_answer("code.wire 1 2", "no JVM with this PID and start time");
	assert_int_equal(stats_of().requests_refused, 2);
	while (stats_of().answers < 2) /* counted once it was sent */
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(stats_of().answers, 2);
}

static void answer_says_at_which_message_one_joins(void **state)
{
	const char *message;
	uint64_t seq;
	size_t len;

	subscribe("code.wire\n");
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_say_load(ADDR, 64, "Lcom/x/A;", "known");
	seq = next_seq();
	agent_say_load(ADDR + 64, 64, "Lcom/x/A;", "told");
	step();
	do {
		message = subscriber_next(&subscriber, 10000, &len);
		assert_non_null(message);
	} while (number_at(message + 10 + 16, 8) < seq);
	assert_int_equal(number_at(message + 10 + 16, 8), seq);
	assert_int_equal(number_at(message + 10 + 40 + 24, 8), ADDR + 64);
}

/* Who asks first and subscribes then has a gap, if something was between. */
static void what_nobody_heard_is_a_gap(void **state)
{
	uint64_t seq;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	seq = next_seq();
	assert_int_equal(next_seq(), seq);
	agent_say_load(ADDR, 64, "Lcom/x/A;", "unheard");
	assert_int_equal(next_seq(), seq + 1);
}

/* Meanwhile a request does not wake the loop. */
static void requests_are_answered_one_each_10_ms(void **state)
{
	step();
	assert_true(publishing_wake_fd(publishing) >= 0);
	ask("jvms");
	do {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		step();
	} while (publishing_wake_fd(publishing) >= 0);
	assert_true(publishing_wait_ns(publishing, now) <= 10 * CLOCK_NS_PER_MS);
	publishing_step(publishing, now + 1);
	assert_int_equal(publishing_wake_fd(publishing), -1);
	step();
	assert_true(publishing_wake_fd(publishing) >= 0);
}

/* Asks again and again, and reads nothing. */
static void asker_who_does_not_read_keeps_nobody_waiting(void **state)
{
	uint64_t asked = 0;
	size_t len;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	for (uint32_t n = 0; n < 256; n++)
		agent_say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	while (stats_of().answers_unsent == 0) {
		char request[64];

		snprintf(request, sizeof(request), "code.wire %d %llu", (int)getpid(),
			 (unsigned long long)agent_session.start_ticks);
		/* There is room for few requests that libnng has not read. */
		if (asked < stats_of().answers + 3) {
			ask(request);
			asked++;
		}
		step();
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	subscriber_close(&asker);
	is_asking = false;
	assert_non_null(answer_of("jvms", &len));
}

static void asker_who_goes_or_says_half_of_it_keeps_nobody_waiting(void **state)
{
	struct subscriber gone, slow, loud;
	char long_request[PUBLISH_REQUEST_BYTES + 1];
	size_t len;

	memset(long_request, 'j', sizeof(long_request));
	long_request[PUBLISH_REQUEST_BYTES] = '\0';
	subscriber_open_asker(&gone, state_path);
	assert_true(subscriber_ask(&gone, "jvms"));
	subscriber_close(&gone);
	subscriber_open_asker(&slow, state_path);
	assert_int_equal(send(slow.fd, "\1\0\0\0", 4, 0), 4);
	subscriber_open_asker(&loud, state_path);
	assert_true(subscriber_ask(&loud, long_request));
	assert_null(subscriber_next(&loud, 10000, &len));
	assert_true(loud.has_ended);
	check_answer("jvms", "jvms\n{");
	subscriber_close(&slow);
	subscriber_close(&loud);
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
	struct publishing_options options = options_of(path);

	publishing_close(publishing);
	atomic_store(&threads_left, 3);
	assert_int_equal(publishing_open(&agent_engine, &options, &publishing), 0);
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	publishing_step(publishing, now);
	assert_int_equal(stats_of().starts_failed, 1);
	assert_int_equal(access(path, F_OK), -1);
	atomic_store(&threads_left, INT_MAX);
	now = clock_now_ns() + PUBLISHING_START_NS;
	assert_true(publishing_wait_ns(publishing, now - SEC) <= SEC + SEC / 2);
	step();
	assert_int_equal(stats_of().starts_failed, 1);
	subscribe("code.json\n");
	agent_say_load(ADDR, 64, "Lcom/x/A;", "run");
	step();
	check_events("load");
}

static void agents_directory_is_refused(void **state)
{
	static const char *const paths[] = {"run/events", "run//events", "link/events",
					    "run/below/events"};
	struct publishing *other;
	char there[TEMP_DIR_BYTES + 32], run[TEMP_DIR_BYTES + 32];

	snprintf(run, sizeof(run), "%s/run", dir);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		snprintf(there, sizeof(there), "%s/%s", dir, paths[i]);
		if (i == 2) {
			assert_int_equal(access(run, F_OK), -1); /* refused before it was made */
			assert_int_equal(mkdir(run, 0755), 0);
			snprintf(there, sizeof(there), "%s/link", dir);
			assert_int_equal(symlink(run, there), 0);
			snprintf(there, sizeof(there), "%s/%s", dir, paths[i]);
		}
		assert_int_equal(open_other(there, &other), -EINVAL);
	}
}

/* Also while this daemon's agents have another one. */
static void directory_in_which_agents_look_is_refused(void **state)
{
	static const char *const paths[] = {"/run/fgcollect/events", "/run/fgcollect//events",
					    "/run/../run/fgcollect/events"};
	struct publishing *other;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_int_equal(open_other(paths[i], &other), -EINVAL);
}

static void path_of_another_publisher_is_refused(void **state)
{
	struct publishing *other;

	assert_int_equal(open_other(path, &other), -EADDRINUSE);
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CLAIM(jvm_comes_is_current_and_goes),
		CLAIM(jvm_leaves_and_comes_again),
		CLAIM(jvm_that_is_forgotten_goes),
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
		CLAIM(wrong_request_is_told_what_is_wrong),
		CLAIM(answer_says_at_which_message_one_joins),
		CLAIM(what_nobody_heard_is_a_gap),
		CLAIM(requests_are_answered_one_each_10_ms),
		CLAIM(asker_who_does_not_read_keeps_nobody_waiting),
		CLAIM(asker_who_goes_or_says_half_of_it_keeps_nobody_waiting),
		CLAIM(without_threads_it_goes_on_and_is_tried_again),
		CLAIM(agents_directory_is_refused),
		CLAIM(directory_in_which_agents_look_is_refused),
		CLAIM(path_of_another_publisher_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
