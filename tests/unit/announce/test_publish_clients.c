// SPDX-License-Identifier: Apache-2.0
/* Claims about announce/publishing.h: who asks for the state, who is slow, and who is bad. */
#include "published.h"
#include "spoken_agent.h"

#include "base/clock.h"
#include "common/files.h"
#include "publish/publish_socket.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ADDR UINT64_C(0x7f0000000000)

static const char *code_request(void)
{
	static char request[64];

	snprintf(request, sizeof(request), "code.wire %d %llu", (int)getpid(),
		 (unsigned long long)agent_session.start_ticks);
	return request;
}

static void check_answer(const char *request, const char *want)
{
	size_t len;

	assert_non_null(strstr(published_answer(request, &len), want));
}

/* The sequence number that the answer for the JVM's code says is next. */
static uint64_t next_seq(void)
{
	size_t len;
	const char *const answer = published_answer(code_request(), &len);

	assert_memory_equal(answer, "code.wire\nFGP1", 14);
	return published_number(answer + 10 + 16, 8);
}

static void wrong_request_is_told_what_is_wrong(void **state)
{
	check_answer("jvm", "none of jvms");
	check_answer("code.wire 1 2", "no JVM with this PID and start time");
	assert_int_equal(published_stats().requests_refused, 2);
	while (published_stats().answers < 2) /* counted once it was sent */
		published_rest();
	assert_int_equal(published_stats().answers, 2);
}

static void answer_says_at_which_message_one_joins(void **state)
{
	const char *message;
	uint64_t seq;
	size_t len;

	published_subscribe("code.wire\n");
	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	agent_say_load(ADDR, 64, "Lcom/x/A;", "known");
	seq = next_seq();
	agent_say_load(ADDR + 64, 64, "Lcom/x/A;", "told");
	published_step();
	do {
		message = subscriber_next(&published.subscriber, 10000, &len);
		assert_non_null(message);
	} while (published_number(message + 10 + 16, 8) < seq);
	assert_int_equal(published_number(message + 10 + 16, 8), seq);
	assert_int_equal(published_number(message + 10 + 40 + 24, 8), ADDR + 64);
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
	published_step();
	assert_true(publishing_wake_fd(published.publishing) >= 0);
	published_ask("jvms");
	do {
		published_rest();
		published_step();
	} while (publishing_wake_fd(published.publishing) >= 0);
	assert_true(publishing_wait_ns(published.publishing, published.now) <=
		    10 * CLOCK_NS_PER_MS);
	publishing_step(published.publishing, published.now + 1);
	assert_int_equal(publishing_wake_fd(published.publishing), -1);
	published_step();
	assert_true(publishing_wake_fd(published.publishing) >= 0);
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
	while (published_stats().answers_unsent == 0) {
		/* There is room for few requests that libnng has not read. */
		if (asked < published_stats().answers + 3) {
			published_ask(code_request());
			asked++;
		}
		published_step();
		published_rest();
	}
	subscriber_close(&published.asker);
	published.is_asking = false;
	assert_non_null(published_answer("jvms", &len));
}

static void asker_who_goes_or_says_half_of_it_keeps_nobody_waiting(void **state)
{
	struct subscriber gone, slow, loud;
	char long_request[PUBLISH_REQUEST_BYTES + 1];
	size_t len;

	memset(long_request, 'j', sizeof(long_request));
	long_request[PUBLISH_REQUEST_BYTES] = '\0';
	subscriber_open_asker(&gone, published.state_path);
	assert_true(subscriber_ask(&gone, "jvms"));
	subscriber_close(&gone);
	subscriber_open_asker(&slow, published.state_path);
	assert_int_equal(send(slow.fd, "\1\0\0\0", 4, 0), 4);
	subscriber_open_asker(&loud, published.state_path);
	assert_true(subscriber_ask(&loud, long_request));
	assert_null(subscriber_next(&loud, 10000, &len));
	assert_true(loud.has_ended);
	check_answer("jvms", "jvms\n{");
	subscriber_close(&slow);
	subscriber_close(&loud);
}

/* ---- who is slow, and who goes ---- */

/* Says all code of a JVM of so many methods again and again, in messages of 60 KiB. */
static void say_much(void)
{
	for (uint32_t n = 0; n < 400; n++)
		agent_say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	published_step();
	published_rest();
}

/* The sequence number of the next message of code. */
static uint64_t next_heard(void)
{
	size_t len;
	const char *const message = subscriber_next(&published.subscriber, 10000, &len);

	assert_non_null(message);
	return published_number(message + 10 + 16, 8);
}

/* A message of the other one comes for each of so many, and none is missing. */
static void check_other_hears(uint64_t from, uint64_t until)
{
	for (uint64_t seq = from; seq < until; seq++)
		assert_int_equal(next_heard(), seq);
}

static void read_byte(int fd)
{
	char byte;

	assert_int_equal(recv(fd, &byte, 1, 0), 1);
}

static void subscriber_who_reads_bytes_costs_others_nothing(void **state)
{
	struct subscriber slow;
	uint64_t first;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	published_subscribe("code.wire\n");
	subscriber_open(&slow, published.path, "");
	say_much();
	first = next_heard() + 1;
	for (uint64_t seq = first; seq < first + 64; seq++) {
		say_much();
		read_byte(slow.fd);
		check_other_hears(seq, seq + 1);
	}
	assert_int_equal(published_stats().messages_unsent, 0);
	assert_int_equal(published_stats().events_dropped, 0);
	subscriber_close(&slow);
}

/* In the middle of a message, and with messages that wait for it. */
static void subscriber_who_goes_in_the_middle_is_forgotten(void **state)
{
	struct subscriber gone;
	uint64_t first;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	published_subscribe("code.wire\n");
	subscriber_open(&gone, published.path, "");
	while (published_stats().subscribers < 2)
		published_rest();
	say_much();
	first = next_heard() + 1;
	read_byte(gone.fd);
	for (int i = 0; i < 16; i++)
		say_much();
	subscriber_close(&gone);
	while (published_stats().subscribers > 1)
		published_rest();
	check_other_hears(first, first + 16);
	assert_int_equal(published_stats().messages_unsent, 0);
}

static void asker_who_reads_bytes_keeps_nobody_waiting(void **state)
{
	struct subscriber slow;
	size_t len;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	for (uint32_t n = 0; n < 256; n++)
		agent_say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	subscriber_open_asker(&slow, published.state_path);
	assert_true(subscriber_ask(&slow, code_request()));
	while (published_stats().answers == 0) {
		published_step();
		published_rest();
	}
	for (int i = 0; i < 16; i++) {
		read_byte(slow.fd);
		assert_memory_equal(published_answer(code_request(), &len), "code.wire\n", 10);
	}
	subscriber_close(&slow);
}

/* Its answer is made, or on its way, or read in part. */
static void asker_who_goes_in_the_middle_keeps_nobody_waiting(void **state)
{
	size_t len;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	for (uint32_t n = 0; n < 256; n++)
		agent_say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	for (int i = 0; i < 30; i++) {
		struct subscriber gone;

		subscriber_open_asker(&gone, published.state_path);
		assert_true(subscriber_ask(&gone, code_request()));
		for (int turn = 0; turn < i; turn++)
			published_step();
		if (i % 3 == 0 && recv(gone.fd, &(char){0}, 1, MSG_DONTWAIT) == 1)
			read_byte(gone.fd);
		subscriber_close(&gone);
	}
	assert_memory_equal(published_answer(code_request(), &len), "code.wire\n", 10);
}

/* Past PUBLISH_MAX_CLIENTS they are refused; the others have each an answer. */
static void thousand_askers_are_answered_or_refused(void **state)
{
	static struct subscriber askers[1000];
	size_t answered = 0, refused = 0, len;

	for (size_t i = 0; i < 1000; i++) {
		subscriber_open_asker(&askers[i], published.state_path);
		(void)subscriber_ask(&askers[i], "jvms");
	}
	while (answered + refused < 1000) {
		answered = refused = 0;
		published_step();
		for (size_t i = 0; i < 1000; i++) {
			if (!askers[i].message && !askers[i].has_ended)
				(void)subscriber_answer(&askers[i], 0, &len);
			answered += askers[i].message != NULL;
			refused += askers[i].has_ended && !askers[i].message;
		}
	}
	assert_int_equal(answered, PUBLISH_MAX_CLIENTS);
	assert_int_equal(published_stats().askers_refused, 1000 - PUBLISH_MAX_CLIENTS);
	for (size_t i = 0; i < 1000; i++)
		subscriber_close(&askers[i]);
	while (published_stats().askers > 0)
		published_rest();
	assert_memory_equal(published_answer("jvms", &len), "jvms\n", 5);
}

/* Between two pages of its code, and while it is asked for. */
static void jvm_that_ends_is_told_to_who_asks_for_it(void **state)
{
	char next[96];
	const char *answer;
	size_t len;

	agent_hear(INTAKE_OPENED, NULL);
	agent_say_all();
	for (uint32_t n = 0; n < 300; n++)
		agent_say_load(ADDR + 64 * n, 64, "Lcom/x/A;", "run");
	answer = published_answer(code_request(), &len);
	snprintf(next, sizeof(next), "%s %llu", code_request(),
		 (unsigned long long)published_number(answer + 10 + 40, 8));
	published_ask(next);
	wire_encode_bye(&agent_buf, &(struct wire_bye){.reason = 1});
	agent_say();
	agent_hear(INTAKE_CLOSED, NULL);
	do {
		published_step();
		answer = subscriber_answer(&published.asker, 5, &len);
	} while (!answer);
	assert_memory_equal(answer, "error\n", 6);
	assert_non_null(strstr(answer, "the JVM has ended"));
	assert_non_null(strstr(answer, "\"again\":false"));
}

/* ---- places ---- */

static int open_other(const char *there, struct publishing **ret)
{
	const struct publishing_options options = published_options(there, NULL);

	return publishing_open(&agent_engine, &options, ret);
}

/* Its events are at a place that is free. */
static int open_other_state(const char *there, struct publishing **ret)
{
	char events[TEMP_DIR_BYTES + 32];
	struct publishing_options options;

	snprintf(events, sizeof(events), "%s/free", published.dir);
	options = published_options(events, there);
	return publishing_open(&agent_engine, &options, ret);
}

static void agents_directory_is_refused(void **state)
{
	static const char *const paths[] = {"run/events", "run//events", "link/events",
					    "run/below/events"};
	struct publishing *other;
	char there[TEMP_DIR_BYTES + 32], run[TEMP_DIR_BYTES + 32];

	snprintf(run, sizeof(run), "%s/run", published.dir);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		snprintf(there, sizeof(there), "%s/%s", published.dir, paths[i]);
		if (i == 2) {
			assert_int_equal(access(run, F_OK), -1); /* refused before it was made */
			assert_int_equal(mkdir(run, 0755), 0);
			snprintf(there, sizeof(there), "%s/link", published.dir);
			assert_int_equal(symlink(run, there), 0);
			snprintf(there, sizeof(there), "%s/%s", published.dir, paths[i]);
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
	struct stat st;

	assert_int_equal(open_other(published.path, &other), -EADDRINUSE);
	assert_int_equal(open_other_state(published.path, &other), -EADDRINUSE);
	assert_int_equal(open_other_state(published.state_path, &other), -EADDRINUSE);
	assert_int_equal(stat(published.path, &st), 0);
	assert_int_equal(stat(published.state_path, &st), 0);
}

/* The socket that was made before it goes again. */
static void what_is_no_socket_is_refused_and_stays(void **state)
{
	struct publishing *other;
	char there[TEMP_DIR_BYTES + 32], free_path[TEMP_DIR_BYTES + 32];

	snprintf(there, sizeof(there), "%s/file", published.dir);
	snprintf(free_path, sizeof(free_path), "%s/free", published.dir);
	files_write(there, "mine");
	assert_true(open_other(there, &other) < 0);
	assert_true(open_other_state(there, &other) < 0);
	assert_int_equal(access(there, F_OK), 0);
	assert_int_equal(access(free_path, F_OK), -1);
}

/* The last part of the directory's path may be missing, and no more. */
static void directory_that_is_missing_is_refused(void **state)
{
	struct publishing *other;
	char there[TEMP_DIR_BYTES + 32];

	snprintf(there, sizeof(there), "%s/none/none/events", published.dir);
	assert_int_equal(open_other(there, &other), -ENOENT);
	assert_int_equal(open_other_state(there, &other), -ENOENT);
	snprintf(there, sizeof(there), "%s/none/events", published.dir);
	assert_int_equal(open_other_state(there, &other), 0);
	assert_int_equal(access(there, F_OK), 0);
	publishing_close(other);
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, published_set_up, published_tear_down)
	const struct CMUnitTest tests[] = {
		CLAIM(wrong_request_is_told_what_is_wrong),
		CLAIM(answer_says_at_which_message_one_joins),
		CLAIM(what_nobody_heard_is_a_gap),
		CLAIM(requests_are_answered_one_each_10_ms),
		CLAIM(asker_who_does_not_read_keeps_nobody_waiting),
		CLAIM(asker_who_goes_or_says_half_of_it_keeps_nobody_waiting),
		CLAIM(subscriber_who_reads_bytes_costs_others_nothing),
		CLAIM(subscriber_who_goes_in_the_middle_is_forgotten),
		CLAIM(asker_who_reads_bytes_keeps_nobody_waiting),
		CLAIM(asker_who_goes_in_the_middle_keeps_nobody_waiting),
		CLAIM(thousand_askers_are_answered_or_refused),
		CLAIM(jvm_that_ends_is_told_to_who_asks_for_it),
		CLAIM(agents_directory_is_refused),
		CLAIM(directory_in_which_agents_look_is_refused),
		CLAIM(path_of_another_publisher_is_refused),
		CLAIM(what_is_no_socket_is_refused_and_stays),
		CLAIM(directory_that_is_missing_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
