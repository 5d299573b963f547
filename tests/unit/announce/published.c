// SPDX-License-Identifier: Apache-2.0
/* Publishes what a spoken agent says, see published.h. */
#include "published.h"

#include "base/clock.h"
#include "base/json_value.h"
#include "base/log.h"
#include "common/temp_dir.h"
#include "spoken_agent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct published published;

void published_step(void)
{
	published.now += 20 * CLOCK_NS_PER_MS;
	publishing_step(published.publishing, published.now);
}

struct publishing_options published_options(const char *events, const char *state)
{
	struct publishing_options options = {
		.publisher = {.events = {.option = "--publish", .paths = {events}, .count = 1}},
		.agent_socket = published.agents,
	};

	if (state)
		options.publisher.state = (struct publish_paths){
			.option = "--publish-state", .paths = {state}, .count = 1};
	return options;
}

struct publish_stats published_stats(void)
{
	struct publish_stats stats;

	publishing_stats(published.publishing, &stats);
	return stats;
}

void published_rest(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void published_subscribe(const char *topic)
{
	subscriber_open(&published.subscriber, published.path, topic);
	published.is_subscribed = true;
	while (published_stats().subscribers_joined == 0)
		published_rest();
}

json_t *published_lines(void)
{
	size_t len;
	const char *message = subscriber_next(&published.subscriber, 5000, &len);
	json_t *const lines = json_array();
	const char *line;

	assert_non_null(message);
	line = memchr(message, '\n', len);
	for (int n = 0; line && line + 1 < message + len; n++) {
		const char *const end =
			memchr(line + 1, '\n', (size_t)(message + len - (line + 1)));
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

void published_check_events(const char *want)
{
	char got[1024] = "";

	while (strlen(got) < strlen(want)) {
		json_t *const lines = published_lines();
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

void published_ask(const char *request)
{
	if (!published.is_asking)
		subscriber_open_asker(&published.asker, published.state_path);
	published.is_asking = true;
	assert_true(subscriber_ask(&published.asker, request));
}

const char *published_answer(const char *request, size_t *ret_len)
{
	const char *answer = NULL;

	published_ask(request);
	for (int i = 0; !answer && i < 2000; i++) {
		published_step();
		answer = subscriber_answer(&published.asker, 5, ret_len);
	}
	assert_non_null(answer);
	return answer;
}

uint64_t published_number(const char *data, size_t n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | (uint8_t)data[n];
	return value;
}

int published_set_up(void **state)
{
	struct published *const p = &published;
	struct publishing_options options;

	*p = (struct published){.now = clock_now_ns()};
	log_set_level(LOG_LEVEL_SILENT);
	temp_dir_make(p->dir);
	snprintf(p->path, sizeof(p->path), "%s/events", p->dir);
	snprintf(p->state_path, sizeof(p->state_path), "%s/state", p->dir);
	snprintf(p->agents, sizeof(p->agents), "%s/run/agent.sock", p->dir);
	agent_init();
	options = published_options(p->path, p->state_path);
	return publishing_open(&agent_engine, &options, &p->publishing);
}

int published_tear_down(void **state)
{
	if (published.is_subscribed)
		subscriber_close(&published.subscriber);
	if (published.is_asking)
		subscriber_close(&published.asker);
	publishing_close(published.publishing);
	published.publishing = NULL;
	targets_fini(&agent_engine.targets);
	temp_dir_remove(published.dir);
	return 0;
}
