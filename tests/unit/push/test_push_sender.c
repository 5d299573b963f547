// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about push/push_sender.h: when a server is asked whether it is ready, and what bounds a
 * turn. Requests go nowhere: the test answers them, and keeps which ones there were.
 */
#include "push/push_sender.h"

#include "base/clock.h"
#include "base/log.h"
#include "push/push_http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SEC	 UINT64_C(1000000000)
#define PAUSES	 10000 /* of 1 ms, at most */
#define MOST_LOG 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the members below */
static char requests[MOST_LOG + 1];			 /* P: a profile, Q: the question */
static size_t n_requests;
static long profile_status, question_status;
static long given[2]; /* before profile_status: to profiles, the last one first */
static size_t n_given;
static struct {
	void *owner;
	bool is_question;
} under_way[PUSH_HTTP_REQUESTS];
static size_t n_under_way;
static bool is_held;		 /* the sender is to be, at the end of its turn */
static bool is_holding;		 /* it is */
static unsigned unreadable;	 /* so many profiles cannot be read from now on */
static unsigned n_loads;	 /* of this turn */
static unsigned most_loads;	 /* of a turn */
static uint64_t longest_wait_ns; /* at the end of a turn that read in vain */

static struct push_target target;
static struct push_sender *sender;
static struct push_target_stats stats;

int __wrap_push_http_open(const struct push_target *to, struct push_http **ret);
void __wrap_push_http_close(struct push_http *http);
int __wrap_push_http_start(struct push_http *http, const struct bytes *body, void *owner,
			   struct push_reply *ret);
bool __wrap_push_http_wait(struct push_http *http, uint64_t for_ns, void **ret_owner,
			   struct push_reply *ret);
bool __wrap_push_http_abandon(struct push_http *http, void **ret_owner, struct push_reply *ret);
void __wrap_push_http_wake(struct push_http *http);
uint64_t __wrap_push_wait_ns(unsigned failures, int64_t retry_after_sec, uint32_t random);
int __real_push_spool_load(struct push_spool *spool, struct push_entry *entry, struct bytes *ret);
int __wrap_push_spool_load(struct push_spool *spool, struct push_entry *entry, struct bytes *ret);

int __wrap_push_spool_load(struct push_spool *spool, struct push_entry *entry, struct bytes *ret)
{
	bool is_unreadable;

	pthread_mutex_lock(&lock);
	n_loads++;
	is_unreadable = unreadable > 0;
	unreadable -= is_unreadable;
	pthread_mutex_unlock(&lock);
	if (!is_unreadable)
		return __real_push_spool_load(spool, entry, ret);
	push_spool_settle(spool, entry, PUSH_REFUSED, "");
	return -EIO;
}

int __wrap_push_http_open(const struct push_target *to, struct push_http **ret)
{
	(void)to;
	*ret = NULL;
	return 0;
}

void __wrap_push_http_close(struct push_http *http)
{
	(void)http;
}

void __wrap_push_http_wake(struct push_http *http)
{
	(void)http;
}

int __wrap_push_http_start(struct push_http *http, const struct bytes *body, void *owner,
			   struct push_reply *ret)
{
	(void)http, (void)ret;
	pthread_mutex_lock(&lock);
	under_way[n_under_way].owner = owner;
	under_way[n_under_way++].is_question = !body;
	if (n_requests < MOST_LOG)
		requests[n_requests++] = body ? 'P' : 'Q';
	pthread_mutex_unlock(&lock);
	return 0;
}

bool __wrap_push_http_wait(struct push_http *http, uint64_t for_ns, void **ret_owner,
			   struct push_reply *ret)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	bool is_one;

	(void)http;
	pthread_mutex_lock(&lock);
	while (is_held) {
		is_holding = true;
		pthread_mutex_unlock(&lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&lock);
	}
	most_loads = n_loads > most_loads ? n_loads : most_loads;
	if (unreadable > 0 && n_loads > 0 && for_ns > longest_wait_ns)
		longest_wait_ns = for_ns;
	n_loads = 0;
	is_one = n_under_way > 0;
	if (is_one) {
		const bool is_question = under_way[--n_under_way].is_question;

		*ret_owner = under_way[n_under_way].owner;
		*ret = (struct push_reply){.went_out = true,
					   .status = is_question   ? question_status
						     : n_given > 0 ? given[--n_given]
								   : profile_status};
	}
	pthread_mutex_unlock(&lock);
	if (!is_one)
		nanosleep(&pause, NULL);
	return is_one;
}

bool __wrap_push_http_abandon(struct push_http *http, void **ret_owner, struct push_reply *ret)
{
	return __wrap_push_http_wait(http, 0, ret_owner, ret);
}

/* Nobody waits between tries. */
uint64_t __wrap_push_wait_ns(unsigned failures, int64_t retry_after_sec, uint32_t random)
{
	(void)failures, (void)retry_after_sec, (void)random;
	return 0;
}

static void answer(long of_profiles, long of_questions)
{
	pthread_mutex_lock(&lock);
	profile_status = of_profiles;
	question_status = of_questions;
	n_requests = 0;
	memset(requests, 0, sizeof(requests));
	pthread_mutex_unlock(&lock);
}

static void open_sender(enum push_protocol protocol)
{
	const struct push_spool_options spool = {.name = "target",
						 .max_bytes = 1 << 20,
						 .max_age_ns = 3600 * SEC,
						 .max_memory = 1 << 20};

	log_set_level(LOG_LEVEL_SILENT);
	target = (struct push_target){.url.protocol = protocol};
	strcpy(target.url.name, "target");
	assert_int_equal(push_sender_open(&target, &spool, &sender), 0);
}

static void add(const char *text)
{
	const struct bytes body = {.data = (char *)(uintptr_t)text, .len = strlen(text)};

	push_sender_add(sender, &body, 1);
}

/* Waits until so many requests were made, which must begin with these. */
static void check_requests(const char *want)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	char got[MOST_LOG + 1];

	for (int i = 0; i < PAUSES; i++) {
		pthread_mutex_lock(&lock);
		strcpy(got, requests);
		pthread_mutex_unlock(&lock);
		if (strlen(got) >= strlen(want))
			break;
		nanosleep(&pause, NULL);
	}
	got[strlen(want)] = '\0';
	assert_string_equal(got, want);
}

/* Waits until a member of stats is that. */
static void wait_for_count(const uint64_t *count, uint64_t want)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	stats = (struct push_target_stats){0};
	for (int i = 0; i < PAUSES && *count < want; i++) {
		nanosleep(&pause, NULL);
		push_sender_stats(sender, &stats);
	}
	assert_int_equal(*count, want);
}

static void wait_until_sent(uint64_t profiles)
{
	wait_for_count(&stats.sent.profiles, profiles);
}

static int tear_down(void **state)
{
	answer(200, 200);
	assert_int_equal(push_sender_close(sender, clock_now_ns() + 60 * SEC), 0);
	sender = NULL;
	return 0;
}

static void each_eighth_failure_is_followed_by_a_profile_unasked(void **state)
{
	answer(503, 503);
	open_sender(PUSH_PYROSCOPE);
	add("one");
	check_requests("PQQQQQQQPQQQQQQQPQ");
}

/* For a proxy that does not know the question may be before a server that takes profiles. */
static void a_profile_unasked_that_is_taken_ends_the_failures(void **state)
{
	answer(503, 503);
	open_sender(PUSH_PYROSCOPE);
	add("one");
	check_requests("PQ");
	answer(200, 503);
	add("two");
	wait_until_sent(2);
	answer(200, 503);
	add("three");
	wait_until_sent(3);
	check_requests("P");
}

/* Any answer but a server's error says so. */
static void a_server_that_is_ready_gets_a_profile_each_time(void **state)
{
	answer(503, 404);
	open_sender(PUSH_PYROSCOPE);
	add("one");
	check_requests("PQPQPQPQPQPQPQP");
	answer(200, 404);
	wait_until_sent(1);
	answer(200, 200);
	add("two");
	wait_until_sent(2);
	check_requests("P");
}

static void a_server_without_the_question_is_not_asked(void **state)
{
	answer(503, 200);
	open_sender(PUSH_OTLP);
	add("one");
	check_requests("PPPPPPPPPPPPPPPPPP");
}

static void hold(bool is_to_be)
{
	pthread_mutex_lock(&lock);
	is_held = is_to_be;
	is_holding = false;
	pthread_mutex_unlock(&lock);
}

static void wait_until_it_holds(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	bool holds = false;

	for (int i = 0; i < PAUSES && !holds; i++) {
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&lock);
		holds = is_holding;
		pthread_mutex_unlock(&lock);
	}
	assert_true(holds);
}

/* Of two under way the one fails, and then the server refuses the other. */
static void a_refusal_is_said_also_after_a_failure_beside_it(void **state)
{
	const int saved = dup(STDERR_FILENO);
	FILE *const log = tmpfile();
	char text[1000];

	answer(200, 200);
	open_sender(PUSH_OTLP);
	add("one");
	wait_until_sent(1);
	hold(true);
	wait_until_it_holds();
	add("two");
	add("three");
	pthread_mutex_lock(&lock);
	given[1] = 500;
	given[0] = 400;
	n_given = 2;
	pthread_mutex_unlock(&lock);
	assert_non_null(log);
	log_set_level(LOG_LEVEL_WARNING);
	assert_true(dup2(fileno(log), STDERR_FILENO) >= 0);
	hold(false);
	wait_for_count(&stats.refused.profiles, 1);
	hold(true);
	wait_until_it_holds(); /* then all is said */
	dup2(saved, STDERR_FILENO);
	close(saved);
	log_set_level(LOG_LEVEL_SILENT);
	hold(false);
	rewind(log);
	text[fread(text, 1, sizeof(text) - 1, log)] = '\0';
	fclose(log);
	assert_non_null(strstr(text, "answers 500; whether"));
	assert_non_null(strstr(text, "answers 400; profiles that the server refuses"));
}

/* Requests under way are seen to between the turns, and nothing is waited for. */
static void a_turn_reads_so_many_in_vain(void **state)
{
	uint64_t wait_ns;
	unsigned loads;

	answer(200, 200);
	hold(true);
	unreadable = 1000;
	open_sender(PUSH_OTLP);
	wait_until_it_holds(); /* before there is anything to read */
	for (int i = 0; i < 1001; i++)
		add("x");
	hold(false);
	wait_until_sent(1);
	pthread_mutex_lock(&lock);
	loads = most_loads;
	wait_ns = longest_wait_ns;
	pthread_mutex_unlock(&lock);
	assert_in_range(loads, 2, 2 * PUSH_HTTP_REQUESTS);
	assert_int_equal(wait_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define SENDER(name) cmocka_unit_test_setup_teardown(name, NULL, tear_down)
		SENDER(each_eighth_failure_is_followed_by_a_profile_unasked),
		SENDER(a_profile_unasked_that_is_taken_ends_the_failures),
		SENDER(a_server_that_is_ready_gets_a_profile_each_time),
		SENDER(a_server_without_the_question_is_not_asked),
		SENDER(a_refusal_is_said_also_after_a_failure_beside_it),
		SENDER(a_turn_reads_so_many_in_vain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
