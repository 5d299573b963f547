// SPDX-License-Identifier: Apache-2.0
/*
 * Answers requests in threads, see web_desk.h. Half of the memory is for answers that are on their
 * way to clients, the other half for what threads make answers of.
 */
#include "web/web_desk.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "web/web_graph.h"
#include "web/web_heat.h"
#include "web/web_store.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* What a part of a sum takes, with what is read for it and drawn of it. */
#define BYTES_OF_NODE  256u
#define PARTS_OF_TIMES 64u
#define PARTS_OF_NAMES 8u

#define HTTP_BAD_REQUEST 400u
#define HTTP_NOT_FOUND	 404u
#define HTTP_SERVER	 500u
#define HTTP_UNAVAILABLE 503u

struct web_desk {
	struct web_desk_options options;
	char host[256];
	struct web_pool pool;
	pthread_t threads[WEB_WORKERS];
	size_t n_threads;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t changed;
	struct web_queue queue;
	struct web_stats stats;
	uint64_t max_bytes;
	uint64_t next_chore_ns;
	bool has_chore; /* a thread does it now */
	bool is_closing;
};

/* ---- one request ---- */

static bool is_closing(struct web_desk *desk)
{
	THREAD_HOLD(&desk->lock);

	return desk->is_closing;
}

static bool is_over(void *arg)
{
	struct web_job *const job = arg;

	return clock_now_ns() >= job->end_ns || is_closing(job->desk) || job->is_gone(job);
}

/* The limits of each kind of samples and each side that one thread has at a time. */
static struct store_sum_limits limits_of(struct web_desk *desk, const struct web_query *query)
{
	const unsigned sides = query->what == WEB_DIFF ? 2 : 1;
	const unsigned kinds = query->kind ? 1 : PROFILE_MAX_KINDS;
	uint64_t bytes;

	pthread_mutex_lock(&desk->lock);
	bytes = desk->max_bytes / 2 / WEB_WORKERS / sides / kinds;
	pthread_mutex_unlock(&desk->lock);
	return (struct store_sum_limits){
		.nodes = (uint32_t)(bytes / BYTES_OF_NODE),
		.times = bytes / PARTS_OF_TIMES,
		.name_bytes = bytes / PARTS_OF_NAMES,
	};
}

static int make_answer(struct web_job *job, struct web_query *query, uint64_t now_ns,
		       const struct log_catch *caught)
{
	struct web_desk *const desk = job->desk;
	const struct web_context context = {
		.dir = desk->options.dir,
		.host = desk->host,
		.window_ns = desk->options.window_ns,
		.now_ns = now_ns,
		.limits = limits_of(desk, query),
		.is_over = is_over,
		.arg = job,
		.pool = &desk->pool,
		.caught = caught,
	};

	switch (query->what) {
	case WEB_STORE:
		return web_store_answer(&context, &job->answer);
	case WEB_PROCESSES:
		return web_store_answer_processes(&context, query, &job->answer);
	case WEB_HEAT:
		return web_heat_answer(&context, query, &job->answer);
	case WEB_GRAPH:
	case WEB_DIFF:
		return web_graph_answer(&context, query, &job->answer);
	}
	return -ENOENT;
}

static unsigned status_of(int err)
{
	switch (err) {
	case -EINVAL:
		return HTTP_BAD_REQUEST;
	case -ENODATA:
	case -ENOENT:
		return HTTP_NOT_FOUND;
	case -EBUSY:
	case -ENOMEM:
	case -ENOBUFS:
	case -ECANCELED:
		return HTTP_UNAVAILABLE;
	default:
		return HTTP_SERVER;
	}
}

/* Errors of answers are said here: what logs others cannot know. */
static const char *reason_of(int err, const struct log_catch *caught)
{
	if (err == -ECANCELED)
		return "this takes longer than 30 s: ask for a shorter range, or for fewer "
		       "processes";
	if (err == -ENOBUFS)
		return "other answers wait to be taken and have all the room: ask again soon";
	if (err == -EFBIG)
		return "the answer is too large for the daemon's --memory: ask for a shorter range "
		       "or fewer processes, or let fgcollect render write it";
	if (caught->errors[0])
		return caught->errors;
	return err == -ENOMEM ? "there is not enough memory for this: ask for a shorter range"
			      : strerror(-err);
}

/* The query is large, so it is not on a thread's stack. */
static void answer_job(struct web_job *job)
{
	struct web_query *const query = malloc(sizeof(*query));
	const uint64_t now_ns = clock_unix_now_ns();
	struct web_pool *const pool = &job->desk->pool;
	struct log_catch caught = {0};
	int err = query ? 0 : -ENOMEM;

	log_catch(&caught);
	if (!err)
		err = web_query_parse(job->what, &job->parameters, now_ns, query);
	if (!err)
		err = make_answer(job, query, now_ns, &caught);
	log_catch(NULL);
	free(query);
	if (err == -ECANCELED && clock_now_ns() < job->end_ns) { /* nobody waits */
		web_answer_fini(&job->answer);
		job->answer = (struct web_answer){.fd = -1};
	} else if (err) {
		web_answer_error(&job->answer, pool, status_of(err), reason_of(err, &caught));
		if (status_of(err) == HTTP_UNAVAILABLE)
			job->answer.retry_sec = WEB_RETRY_SEC;
		if (err == -ENOBUFS && job->desk->options.make_room)
			job->desk->options.make_room(job->desk->options.arg);
	} else {
		memcpy(job->answer.warning, caught.warnings, sizeof(caught.warnings));
	}
}

/* ---- threads ---- */

/* Gives back a job that is not worked on. It is in no queue. */
static void give_up(struct web_job *job, const char *why)
{
	if (why) {
		web_answer_error(&job->answer, &job->desk->pool, HTTP_UNAVAILABLE, why);
		job->answer.retry_sec = WEB_RETRY_SEC;
	}
	job->done(job);
}

static void do_chore(struct web_desk *desk)
{
	desk->has_chore = true;
	desk->next_chore_ns = clock_now_ns() + WEB_CHORE_NS;
	pthread_mutex_unlock(&desk->lock);
	desk->options.chore(desk->options.arg);
	pthread_mutex_lock(&desk->lock);
	desk->has_chore = false;
}

static void wait_for_change(struct web_desk *desk)
{
	if (desk->options.chore)
		thread_cond_wait_until(&desk->changed, &desk->lock,
				       clock_read_ns(CLOCK_MONOTONIC) + CLOCK_NS_PER_SEC);
	else
		pthread_cond_wait(&desk->changed, &desk->lock);
}

/* NULL: the desk closes. */
static struct web_job *wait_for_job(struct web_desk *desk)
{
	struct web_queued *queued = NULL;

	pthread_mutex_lock(&desk->lock);
	while (!desk->is_closing && !(queued = web_queue_take(&desk->queue))) {
		if (desk->options.chore && !desk->has_chore &&
		    clock_now_ns() >= desk->next_chore_ns)
			do_chore(desk);
		else
			wait_for_change(desk);
	}
	pthread_mutex_unlock(&desk->lock);
	return (struct web_job *)(void *)queued;
}

static void count_done(struct web_desk *desk, const struct web_job *job, uint64_t begun_ns)
{
	THREAD_HOLD(&desk->lock);

	web_queue_remove(&desk->queue, (struct web_queued *)(uintptr_t)&job->queued);
	desk->stats.time_ns += clock_now_ns() - begun_ns;
	desk->stats.cancelled += job->answer.status == 0;
	desk->stats.failed += job->answer.status >= HTTP_SERVER;
	pthread_cond_signal(&desk->changed); /* a peer's share may be free */
}

static void work(struct web_job *job)
{
	struct web_desk *const desk = job->desk;
	const uint64_t begun_ns = clock_now_ns();
	const bool is_large = job->what == WEB_GRAPH || job->what == WEB_DIFF;

	job->end_ns = begun_ns + WEB_MOST_NS;
	if (!job->is_gone(job))
		answer_job(job);
	count_done(desk, job, begun_ns);
	job->done(job);
	if (is_large)
		malloc_trim(0);
}

static void *run(void *arg)
{
	struct web_desk *const desk = arg;
	const struct sched_param none = {0};
	struct web_job *job;

	/*
	 * What is recorded now goes before what was recorded; where that is not allowed, it does
	 * not.
	 */
	sched_setscheduler(0, SCHED_BATCH, &none);
	setpriority(PRIO_PROCESS, (id_t)gettid(), WEB_NICE);
	while ((job = wait_for_job(desk)))
		work(job);
	return NULL;
}

/* ---- the desk ---- */

void web_desk_free(struct web_desk *desk)
{
	if (!desk)
		return;
	pthread_cond_destroy(&desk->changed);
	pthread_mutex_destroy(&desk->lock);
	web_pool_fini(&desk->pool);
	free((void *)(uintptr_t)desk->options.dir);
	free(desk);
}

int web_desk_open(const struct web_desk_options *options, struct web_desk **ret)
{
	struct web_desk *const desk = calloc(1, sizeof(*desk));
	int err = 0;

	if (!desk)
		return -ENOMEM;
	desk->options = *options;
	desk->options.dir = strdup(options->dir);
	desk->max_bytes = options->max_bytes;
	gethostname(desk->host, sizeof(desk->host) - 1);
	web_pool_init(&desk->pool, options->max_bytes / 2);
	pthread_mutex_init(&desk->lock, NULL);
	thread_cond_init(&desk->changed);
	if (!desk->options.dir)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < WEB_WORKERS; i++) {
		err = thread_start(&desk->threads[i], run, desk);
		desk->n_threads += !err;
	}
	if (err) {
		if (web_desk_stop(desk, CLOCK_NS_PER_SEC))
			web_desk_free(desk);
		return err;
	}
	*ret = desk;
	return 0;
}

/* A job that waits, without its place. NULL: none waits. */
static struct web_job *take_waiting(struct web_desk *desk)
{
	struct web_queued *one;

	pthread_mutex_lock(&desk->lock);
	for (one = desk->queue.first; one && one->is_begun; one = one->next)
		continue;
	if (one)
		web_queue_remove(&desk->queue, one);
	pthread_mutex_unlock(&desk->lock);
	return (struct web_job *)(void *)one;
}

bool web_desk_stop(struct web_desk *desk, uint64_t patience_ns)
{
	const uint64_t until_ns = clock_now_ns() + patience_ns;
	bool has_ended = true;
	struct web_job *job;

	pthread_mutex_lock(&desk->lock);
	desk->is_closing = true;
	pthread_cond_broadcast(&desk->changed);
	pthread_mutex_unlock(&desk->lock);
	while ((job = take_waiting(desk)))
		give_up(job, NULL);
	for (size_t i = 0; i < desk->n_threads; i++)
		has_ended &= thread_join_until(desk->threads[i], until_ns);
	return has_ended;
}

void web_desk_add(struct web_desk *desk, struct web_job *job)
{
	struct web_queued *surplus = NULL;
	bool is_taken;

	job->desk = desk;
	job->answer = (struct web_answer){.fd = -1};
	pthread_mutex_lock(&desk->lock);
	desk->stats.queries++;
	is_taken = !desk->is_closing;
	if (is_taken)
		surplus = web_queue_add(&desk->queue, &job->queued);
	desk->stats.refused += surplus != NULL || !is_taken;
	pthread_cond_signal(&desk->changed);
	pthread_mutex_unlock(&desk->lock);
	if (!is_taken)
		give_up(job, "the daemon ends");
	if (surplus)
		give_up((struct web_job *)(void *)surplus,
			"too many requests wait, and most of these are yours: ask again soon");
}

/* A job that waits for nobody, without its place. NULL: there is none. */
static struct web_job *take_gone(struct web_desk *desk)
{
	struct web_queued *one;

	pthread_mutex_lock(&desk->lock);
	for (one = desk->queue.first; one; one = one->next) {
		struct web_job *const job = (struct web_job *)(void *)one;

		if (!one->is_begun && job->is_gone(job))
			break;
	}
	if (one) {
		web_queue_remove(&desk->queue, one);
		desk->stats.cancelled++;
	}
	pthread_mutex_unlock(&desk->lock);
	return (struct web_job *)(void *)one;
}

void web_desk_sweep(struct web_desk *desk)
{
	struct web_job *job;

	while ((job = take_gone(desk)))
		give_up(job, NULL);
}

void web_desk_set_max_bytes(struct web_desk *desk, uint64_t max_bytes)
{
	pthread_mutex_lock(&desk->lock);
	desk->max_bytes = max_bytes;
	pthread_mutex_unlock(&desk->lock);
	web_pool_set_max_bytes(&desk->pool, max_bytes / 2);
}

void web_desk_stats(struct web_desk *desk, struct web_stats *ret)
{
	pthread_mutex_lock(&desk->lock);
	*ret = desk->stats;
	ret->waiting = desk->queue.waiting;
	ret->begun = desk->queue.begun;
	ret->work_bytes = desk->queue.begun * (desk->max_bytes / 2 / WEB_WORKERS);
	pthread_mutex_unlock(&desk->lock);
	ret->answer_bytes = web_pool_bytes(&desk->pool);
}

static const struct counter counters[] = {
	COUNTER_SUM(struct web_stats, queries, "watch.queries", "queries_total",
		    "Requests for what the store has."),
	COUNTER_SUM(struct web_stats, refused, "watch.queries_refused", "queries_refused_total",
		    "Of these, those for which there was no place."),
	COUNTER_SUM(struct web_stats, cancelled, "watch.queries_cancelled",
		    "queries_cancelled_total", "Of these, those that nobody waited for any more."),
	COUNTER_SUM(struct web_stats, failed, "watch.queries_failed", "queries_failed_total",
		    "Of these, those that could not be answered."),
	COUNTER_SUM(struct web_stats, time_ns, "watch.query_ms", "query_seconds_total",
		    "Time that answering these took.", .unit = COUNTER_NS_IN_MS),
	COUNTER_GAUGE(struct web_stats, waiting, "watch.queries_waiting", "queries_waiting",
		      "Requests that wait."),
	COUNTER_GAUGE(struct web_stats, begun, "watch.queries_begun", "queries_begun",
		      "Requests that are worked on."),
	COUNTER_GAUGE(struct web_stats, answer_bytes, "watch.query_answer_bytes",
		      "query_answer_bytes", "Answers that have not been taken."),
};

const struct counters web_counters = COUNTERS(struct web_stats, counters);
