// SPDX-License-Identifier: Apache-2.0
/* Claims about serve/publishing.h: an agent of this very process speaks, and a subscriber hears. */
#include "serve/publishing.h"

#include "../publish/subscriber.h"

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

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ADDR UINT64_C(0x7f0000000000)
#define SEC  UINT64_C(1000000000)

static char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 16], agents[TEMP_DIR_BYTES + 32];
static struct engine engine; /* of which publishing uses targets, budget and listener */
static struct intake_session session;
static struct publishing *publishing;
static struct subscriber subscriber;
static bool is_subscribed;
static uint64_t now;
static uint8_t bytes[1 << 20];
static struct wire_buf buf = {.data = bytes, .size = sizeof(bytes)};

/* ---- the agent ---- */

static void hear(enum intake_kind kind, const struct wire_record *record)
{
	struct intake_event event = {.kind = kind, .session = &session};

	if (record)
		event.record = *record;
	targets_apply_intake(&engine.targets, &event);
	if (engine.listener.heard)
		engine.listener.heard(engine.listener.arg, &event);
}

static void say(void)
{
	const struct wire_message message = {.records = buf.data, .records_len = buf.len};
	struct wire_record record;
	struct wire_reader reader;

	assert_false(buf.overflow);
	wire_reader_init(&reader, &message);
	while (wire_reader_next(&reader, &record) > 0)
		hear(INTAKE_RECORD, &record);
	buf.len = 0;
}

static void say_hello(void)
{
	wire_encode_hello(&buf, &(struct wire_hello){.pid = 1}, NULL, NULL);
	say();
}

static void say_load(uint64_t addr, uint32_t size, const char *class_name, const char *method)
{
	wire_encode_method_load(&buf, 0,
				&(struct wire_method_load){
					.time_ns = 1,
					.addr = addr,
					.size = size,
					.level = 4,
					.code_kind = WIRE_CODE_JAVA,
					.class_sig = wire_str_from(class_name),
					.method = wire_str_from(method),
					.method_sig = wire_str_from("()V"),
				});
	say();
}

static void say_resync(enum wire_kind kind)
{
	wire_encode_resync(&buf, kind, &(struct wire_resync){.epoch = 1, .complete = true});
	say();
}

static void say_all(void)
{
	say_hello();
	say_resync(WIRE_RESYNC_BEGIN);
	say_resync(WIRE_RESYNC_END);
}

/* ---- the subscriber ---- */

static void step(void)
{
	now += 20 * CLOCK_NS_PER_MS;
	publishing_step(publishing, now);
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
			assert_int_equal(json_value_int(line, "start_ticks"), session.start_ticks);
		}
		json_decref(lines);
	}
	assert_string_equal(got, want);
}

static int set_up(void **state)
{
	log_set_level(LOG_LEVEL_SILENT);
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/events", dir);
	snprintf(agents, sizeof(agents), "%s/run/agent.sock", dir);
	engine = (struct engine){.budget = {.publish = 16 << 20}};
	targets_init(&engine.targets);
	session = (struct intake_session){.id = 7, .pid = getpid()};
	process_stat_start_ticks(getpid(), &session.start_ticks);
	now = clock_now_ns();
	is_subscribed = false;
	buf.len = 0;
	return publishing_open(&engine, path, agents, &publishing);
}

static int tear_down(void **state)
{
	if (is_subscribed)
		subscriber_close(&subscriber);
	publishing_close(publishing);
	publishing = NULL;
	targets_fini(&engine.targets);
	temp_dir_remove(dir);
	return 0;
}

/* ---- claims ---- */

static void jvm_comes_is_current_and_goes(void **state)
{
	subscribe("jvm\n");
	hear(INTAKE_OPENED, NULL);
	step();
	say_hello();
	step();
	check_events("comes");
	say_resync(WIRE_RESYNC_BEGIN);
	say_resync(WIRE_RESYNC_END);
	step();
	check_events("current");
	wire_encode_bye(&buf, &(struct wire_bye){.reason = 1});
	say();
	hear(INTAKE_CLOSED, NULL);
	step();
	check_events("goes");
}

static void jvm_leaves_and_comes_again(void **state)
{
	subscribe("jvm\n");
	hear(INTAKE_OPENED, NULL);
	say_all();
	hear(INTAKE_CLOSED, NULL);
	step();
	check_events("comes current leaves");
	session.id++;
	hear(INTAKE_OPENED, NULL);
	say_all();
	say_resync(WIRE_RESYNC_BEGIN);
	step();
	check_events("comes current resyncs");
}

/* The model forgets the process; the next second tells. */
static void jvm_that_is_forgotten_goes(void **state)
{
	subscribe("jvm\n");
	hear(INTAKE_OPENED, NULL);
	say_all();
	step();
	check_events("comes current");
	engine.targets.max_bytes = 1;
	engine.targets.linger_more_ns = 0;
	targets_tick(&engine.targets, clock_now_ns(), 0);
	assert_null(targets_find(&engine.targets, getpid()));
	now += SEC;
	step();
	check_events("goes");
}

static void code_has_names_and_its_record(void **state)
{
	json_t *lines, *line;

	hear(INTAKE_OPENED, NULL);
	say_all();
	subscribe("code.json\n");
	say_load(ADDR, 64, "Lcom/x/A;", "run");
	wire_encode_method_unload(&buf, &(struct wire_method_unload){.addr = ADDR});
	say();
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
	hear(INTAKE_OPENED, NULL);
	subscribe("code.json\n");
	say_load(ADDR, 64, "Lcom/x/A;", "early"); /* before the hello */
	say_all();
	say_load(ADDR, 0, "Lcom/x/A;", "empty");
	say_load(UINT64_MAX - 8, 64, "Lcom/x/A;", "wraps");
	wire_encode_loss(&buf, &(struct wire_loss){.time_ns = 1});
	say();
	say_load(ADDR, 64, "Lcom/x/A;", "good");
	say_load(ADDR, 0, "Lcom/x/A;", "empty, where code lives");
	step();
	check_events("begin end load");
}

/* A session that the model has ended is not heard any more. */
static void ended_session_is_not_published(void **state)
{
	hear(INTAKE_OPENED, NULL);
	say_all();
	subscribe("code.json\n");
	map64_remove(&engine.targets.sessions, session.id);
	wire_encode_method_unload(&buf, &(struct wire_method_unload){.addr = ADDR});
	say();
	step();
	assert_null(subscriber_next(&subscriber, 200, &(size_t){0}));
}

static void nothing_is_made_without_subscribers(void **state)
{
	hear(INTAKE_OPENED, NULL);
	say_all();
	say_load(ADDR, 64, "Lcom/x/A;", "run");
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

	hear(INTAKE_OPENED, NULL);
	say_all();
	for (uint32_t n = 0; n < ranges; n++)
		say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	wire_encode_method_unload(&buf, &(struct wire_method_unload){.addr = ADDR});
	say();
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
	hear(INTAKE_OPENED, NULL);
	say_all();
	say_load(ADDR, 64, "Lcom/x/A;", "run");
	say_resync(WIRE_RESYNC_BEGIN);
	subscribe("snapshot.json\n");
	step();
	assert_null(subscriber_next(&subscriber, 200, &(size_t){0}));
	say_load(ADDR, 64, "Lcom/x/A;", "run");
	say_resync(WIRE_RESYNC_END);
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

	hear(INTAKE_OPENED, NULL);
	say_all();
	for (uint32_t n = 0; n < PUBLISHING_RANGES + 10; n++)
		say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	subscribe("snapshot.json\n");
	step();
	say_resync(WIRE_RESYNC_BEGIN);
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

	hear(INTAKE_OPENED, NULL);
	say_all();
	say_load(ADDR, 64, "Lcom/x/A;", "run");
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
	hear(INTAKE_OPENED, NULL);
	say_all();
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
	hear(INTAKE_OPENED, NULL);
	say_all();
	for (int i = 0; i < 10; i++)
		step();
	while (subscriber_next(&subscriber, 100, &(size_t){0}))
		continue;
	publishing_set_max_bytes(publishing, 8 << 10);
	while (stats_of().events_dropped + stats_of().events_left_out == 0)
		say_load(ADDR + 64 * n++, 64, "Lcom/x/A;", "run");
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

	hear(INTAKE_OPENED, NULL);
	say_all();
	say_load(ADDR, 64, "Lcom/x/A;", "run");
	say_load(ADDR + 64, 32, "Lcom/x/A;", "run");
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
		assert_int_equal(publishing_open(&engine, there, agents, &other), -EINVAL);
	}
}

/* Also while this daemon's agents have another one. */
static void directory_in_which_agents_look_is_refused(void **state)
{
	static const char *const paths[] = {"/run/fgcollect/events", "/run/fgcollect//events",
					    "/run/../run/fgcollect/events"};
	struct publishing *other;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_int_equal(publishing_open(&engine, paths[i], agents, &other), -EINVAL);
}

static void path_of_another_publisher_is_refused(void **state)
{
	struct publishing *other;

	assert_int_equal(publishing_open(&engine, path, agents, &other), -EADDRINUSE);
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
		CLAIM(agents_directory_is_refused),
		CLAIM(directory_in_which_agents_look_is_refused),
		CLAIM(path_of_another_publisher_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
