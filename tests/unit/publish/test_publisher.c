// SPDX-License-Identifier: Apache-2.0
/* Claims about publish/publisher.h. */
#include "publish/publisher.h"

#include "subscriber.h"

#include "base/json_value.h"
#include "base/log.h"
#include "common/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB ((size_t)1 << 20)

static char dir[TEMP_DIR_BYTES], path[TEMP_DIR_BYTES + 16], other_path[TEMP_DIR_BYTES + 16];
static struct publisher *publisher;
static struct subscriber subscriber;

static void open_for(size_t max_bytes, const char *topic)
{
	const struct publisher_options options = {
		.events = {.option = "--publish", .paths = {path, other_path}, .count = 2},
		.max_bytes = max_bytes,
	};

	assert_int_equal(publisher_open(&options, &publisher), 0);
	subscriber_open(&subscriber, path, topic);
	for (int i = 0; i < 100000 && !publisher_joined(publisher); i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	assert_true(publisher_is_heard(publisher));
}

static void open_with(size_t max_bytes)
{
	open_for(max_bytes, "");
}

static int set_up(void **state)
{
	log_set_level(LOG_LEVEL_SILENT);
	temp_dir_make(dir);
	snprintf(path, sizeof(path), "%s/events", dir);
	snprintf(other_path, sizeof(other_path), "%s/others", dir);
	return 0;
}

static int tear_down(void **state)
{
	subscriber_close(&subscriber);
	publisher_close(publisher);
	publisher = NULL;
	temp_dir_remove_empty(dir);
	return 0;
}

static struct publish_stats stats_of(void)
{
	struct publish_stats stats;

	publisher_stats(publisher, &stats);
	return stats;
}

/* Until the thread has counted what it has sent. */
static void wait_until_sent(void)
{
	while (stats_of().waiting_bytes > 0)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static const uint8_t nothing[PUBLISH_RECORD_MOST + 1];

static bool add_drop(uint64_t addr, uint32_t record_len, uint64_t group)
{
	const struct publish_entry entry = {
		.pid = 17,
		.addr = addr,
		.level = CODE_LEVEL_UNKNOWN,
		.record = {.kind = WIRE_METHOD_UNLOAD, .payload = nothing, .len = record_len},
	};

	return publisher_add_entry(publisher, PUBLISH_EVENT, group, &entry);
}

static bool add_line(enum publish_topic topic, int number)
{
	json_t *const line = json_object();

	json_object_set_new(line, "number", json_integer(number));
	return publisher_add_line(publisher, topic, 1, line);
}

/* The next message's topic, and what is behind. */
static const char *next_body(const char *topic, size_t *ret_len)
{
	const char *const message = subscriber_next(&subscriber, 5000, ret_len);
	const size_t len = strlen(topic);

	assert_non_null(message);
	assert_true(*ret_len <= PUBLISH_MESSAGE_MOST);
	assert_true(*ret_len > len + 1);
	assert_memory_equal(message, topic, len);
	assert_int_equal(message[len], '\n');
	*ret_len -= len + 1;
	return message + len + 1;
}

static uint64_t number_at(const char *data, size_t n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | (uint8_t)data[n];
	return value;
}

/* Reads a message of entries. Returns its sequence number. */
static uint64_t next_wire(const char *topic, uint32_t *ret_count, uint64_t *ret_first)
{
	size_t len, pos = 0;
	const char *const body = next_body(topic, &len);
	struct publish_entry entry;
	uint32_t n = 0;

	assert_memory_equal(body, "FGP1", 4);
	assert_int_equal(number_at(body + 4, 2), 1);
	assert_int_equal(number_at(body + 6, 2), 40);
	while (publish_entry_next(body + 40, len - 40, &pos, &entry) == 1) {
		if (n++ == 0)
			*ret_first = entry.addr;
	}
	assert_int_equal(pos, len - 40);
	assert_int_equal(number_at(body + 32, 4), n);
	*ret_count = n;
	return number_at(body + 16, 8);
}

/* Reads a message of lines: the head is the caller's. */
static json_t *next_lines(const char *topic, uint32_t *ret_count, char *ret_line, size_t size)
{
	size_t len;
	const char *const body = next_body(topic, &len), *const end = body + len;
	const char *line = memchr(body, '\n', len);
	json_t *const head = json_loadb(body, (size_t)(line - body), 0, NULL);

	assert_non_null(head);
	assert_string_equal(json_value_text(head, "topic"), topic);
	assert_int_equal(end[-1], '\n');
	*ret_count = 0;
	snprintf(ret_line, size, "%.*s", (int)strcspn(line + 1, "\n"), line + 1);
	for (line++; line < end; line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1)
		++*ret_count;
	return head;
}

static void entries_come_as_bytes_and_as_json(void **state)
{
	uint64_t first;
	uint32_t count;
	char line[256];
	json_t *head;

	open_with(4 * MIB);
	for (uint64_t round = 0; round < 2; round++) {
		assert_true(add_drop(0x1000 + round, 16, 1));
		assert_true(add_drop(0x2000, 16, 1));
		publisher_flush(publisher, 77);
		assert_int_equal(next_wire("code.wire", &count, &first), round);
		assert_int_equal(count, 2);
		assert_int_equal(first, 0x1000 + round);
		head = next_lines("code.json", &count, line, sizeof(line));
		assert_int_equal(count, 2);
		assert_int_equal(json_value_int(head, "seq"), round);
		assert_int_equal(json_value_int(head, "time_ns"), 77);
		assert_non_null(strstr(line, round ? "\"0x1001\"" : "\"0x1000\""));
		json_decref(head);
	}
	assert_int_equal(stats_of().events, 4);
	wait_until_sent();
	assert_int_equal(stats_of().messages, 4);
}

/* With the same sequence numbers. */
static void subscribers_at_each_path_have_the_same(void **state)
{
	struct subscriber first;
	char *wanted;
	size_t len, other_len;

	open_for(4 * MIB, "code.json\n");
	first = subscriber;
	subscriber_open(&subscriber, other_path, "code.json\n");
	while (publisher_joined(publisher) < 2)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_true(add_drop(0x1000, 16, 1));
	publisher_flush(publisher, 1);
	assert_non_null(subscriber_next(&first, 10000, &len));
	wanted = first.message;
	assert_non_null(subscriber_next(&subscriber, 10000, &other_len));
	assert_int_equal(other_len, len);
	assert_memory_equal(subscriber.message, wanted, len);
	subscriber_close(&first);
}

static void topics_keep_the_order_in_which_they_were_added(void **state)
{
	uint64_t first;
	uint32_t count;
	char line[256];

	open_with(4 * MIB);
	assert_true(add_line(PUBLISH_JVM, 1));
	assert_true(add_drop(1, 16, 1));
	assert_true(add_line(PUBLISH_JVM, 2));
	publisher_flush(publisher, 1);
	json_decref(next_lines("jvm", &count, line, sizeof(line)));
	assert_string_equal(line, "{\"number\":1}");
	next_wire("code.wire", &count, &first);
	json_decref(next_lines("code.json", &count, line, sizeof(line)));
	json_decref(next_lines("jvm", &count, line, sizeof(line)));
	assert_string_equal(line, "{\"number\":2}");
}

/* next_body asserts the length of each message. */
static void no_message_is_too_long(void **state)
{
	uint64_t first, seq = 0, json_seq = 0;
	uint32_t entries = 0;
	char line[256];

	open_with(16 * MIB);
	for (uint64_t i = 0; i < 3000; i++)
		assert_true(add_drop(i, 0, 1));
	publisher_flush(publisher, 1);
	while (entries < 3000) {
		uint32_t count, n;

		assert_int_equal(next_wire("code.wire", &count, &first), seq++);
		assert_int_equal(first, entries);
		entries += count;
		for (uint32_t lines = 0; lines < count; lines += n) {
			json_t *const head = next_lines("code.json", &n, line, sizeof(line));

			assert_int_equal(json_value_int(head, "seq"), json_seq++);
			json_decref(head);
		}
	}
	assert_true(seq > 2);
	assert_true(json_seq > seq); /* JSON is longer */
}

static void long_record_is_cut_and_counted(void **state)
{
	uint64_t first;
	uint32_t count;

	open_with(4 * MIB);
	assert_true(add_drop(0x1000, PUBLISH_RECORD_MOST + 1, 1));
	publisher_flush(publisher, 1);
	next_wire("code.wire", &count, &first);
	assert_int_equal(first, 0x1000);
	assert_int_equal(stats_of().records_cut, 1);
}

/* Of 64 KiB a half is for batches, and the open batch takes of it before anything is sent. */
static void what_has_no_room_is_counted_and_leaves_a_gap(void **state)
{
	uint64_t n = 0, first, seq;
	uint32_t count;
	char line[256];

	open_with(64 << 10);
	while (add_drop(n, 16, n))
		assert_true(++n < 2000);
	assert_int_equal(stats_of().events_dropped, 1);
	assert_int_equal(stats_of().events, n);
	publisher_flush(publisher, 1);
	seq = next_wire("code.wire", &count, &first);
	assert_int_equal(count, n);
	assert_int_equal(seq, 0); /* what was there before comes before the gap */
	json_decref(next_lines("code.json", &count, line, sizeof(line)));
	subscriber_next(&subscriber, 300, &(size_t){0});
	assert_true(add_drop(1, 16, 1));
	publisher_flush(publisher, 1);
	assert_int_equal(next_wire("code.wire", &count, &first), 2); /* 1 is missing */
}

static void loss_of_the_caller_leaves_a_gap(void **state)
{
	uint64_t first;
	uint32_t count;
	char line[256];
	json_t *head;

	open_with(4 * MIB);
	publisher_lose(publisher, PUBLISH_EVENT);
	publisher_lose(publisher, PUBLISH_JVM);
	assert_true(add_drop(1, 16, 1));
	assert_true(add_line(PUBLISH_JVM, 1));
	publisher_flush(publisher, 1);
	assert_int_equal(next_wire("code.wire", &count, &first), 1);
	head = next_lines("code.json", &count, line, sizeof(line));
	assert_int_equal(json_value_int(head, "seq"), 1);
	json_decref(head);
	head = next_lines("jvm", &count, line, sizeof(line));
	assert_int_equal(json_value_int(head, "seq"), 1);
	json_decref(head);
	assert_int_equal(stats_of().events_dropped, 2);
}

static void who_has_had_most_of_scarce_room_is_left_out_first(void **state)
{
	uint64_t n = 0;

	open_with(128 << 10);
	while (add_drop(n, 16, 1))
		assert_true(++n < 2000);
	assert_int_equal(stats_of().events_left_out, 1);
	assert_int_equal(stats_of().events_dropped, 0);
	assert_true(add_drop(1, 16, 2)); /* another owner has room */
}

static void summary_says_how_many_messages_there_were(void **state)
{
	uint32_t count;
	uint64_t first;
	char line[256];
	json_t *head;
	const json_t *sent;

	open_with(4 * MIB);
	assert_true(add_drop(1, 16, 1));
	assert_true(add_line(PUBLISH_SUMMARY, 1));
	publisher_flush(publisher, 1);
	next_wire("code.wire", &count, &first);
	json_decref(next_lines("code.json", &count, line, sizeof(line)));
	head = next_lines("summary", &count, line, sizeof(line));
	sent = json_object_get(head, "sent");
	assert_int_equal(json_value_int(sent, "code.wire"), 1);
	assert_int_equal(json_value_int(sent, "code.json"), 1);
	assert_int_equal(json_value_int(sent, "summary"), 1);
	assert_int_equal(json_value_int(sent, "snapshot.wire"), 0);
	json_decref(head);
}

/* A subscriber that does not read: libnng drops for it, and its numbers tell. */
static void slow_subscriber_sees_what_it_has_missed(void **state)
{
	uint64_t first, missed = 0, next = 0;
	uint32_t count;
	size_t len;
	int n = 0;

	open_for(1 * MIB, "code.wire\n");
	for (int i = 0; i < 400; i++) {
		while (!add_drop((uint64_t)i, 40 << 10, (uint64_t)i)) /* the thread is behind */
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		publisher_flush(publisher, 1);
	}
	wait_until_sent();
	assert_true(stats_of().kept_bytes <= MIB / 2);
	while (subscriber_next(&subscriber, 300, &len)) {
		const uint64_t seq = number_at(subscriber.message + 10 + 16, 8);

		n++;
		assert_true(seq >= next);
		missed += seq - next;
		next = seq + 1;
	}
	assert_true(n > 0);
	assert_true(missed > 0);
	assert_true(add_drop(1, 16, 1000));
	publisher_flush(publisher, 1);
	next_wire("code.wire", &count, &first);
}

/* So the numbers of summaries come each second, whether there is a JVM or not. */
static void message_without_lines_has_a_head(void **state)
{
	uint32_t count;
	char line[64];
	json_t *head;

	open_with(1 << 20);
	publisher_add_none(publisher, PUBLISH_SUMMARY);
	publisher_flush(publisher, 1);
	head = next_lines("summary", &count, line, sizeof(line));
	assert_int_equal(count, 0);
	assert_int_equal(json_value_int(json_object_get(head, "sent"), "summary"), 1);
	assert_int_equal(stats_of().events, 0);
	json_decref(head);
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CLAIM(entries_come_as_bytes_and_as_json),
		CLAIM(subscribers_at_each_path_have_the_same),
		CLAIM(topics_keep_the_order_in_which_they_were_added),
		CLAIM(no_message_is_too_long),
		CLAIM(long_record_is_cut_and_counted),
		CLAIM(what_has_no_room_is_counted_and_leaves_a_gap),
		CLAIM(loss_of_the_caller_leaves_a_gap),
		CLAIM(who_has_had_most_of_scarce_room_is_left_out_first),
		CLAIM(summary_says_how_many_messages_there_were),
		CLAIM(message_without_lines_has_a_head),
		CLAIM(slow_subscriber_sees_what_it_has_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
