// SPDX-License-Identifier: Apache-2.0
/*
 * What a daemon does beside its engine, see daemon.h. A period is over when no more samples of it
 * are held (recording.c says when); the graph writer's thread then gets it. Graphs of processes
 * that have ended go to the graph writer at once, so that they take no memory for the rest of the
 * period.
 */
#include "serve/daemon.h"

#include "base/clock.h"
#include "base/log.h"
#include "inspect/jvm_listing.h"
#include "serve/graph_writer.h"
#include "serve/http_server.h"
#include "serve/metrics.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLISH_NS  (1 * CLOCK_NS_PER_SEC)
#define WAIT_NS	    (10 * CLOCK_NS_PER_SEC)
#define END_NS	    (2 * CLOCK_NS_PER_SEC) /* wait for samples of the last period */
#define PATIENCE_NS (10 * CLOCK_NS_PER_SEC)
#define TEXT_NS	    (10 * CLOCK_NS_PER_MS) /* wait for the text of metrics */
#define FOREVER_NS  (UINT64_C(100) * 366 * 24 * 60 * 60 * CLOCK_NS_PER_SEC)

static int open_writer(struct daemon *daemon)
{
	const struct watch_options *watch = daemon->options.watch;
	const struct graph_writer_options options = {
		.dir = watch->output_dir,
		.format = watch->format,
		.keep_sec = watch->keep_sec,
		.keep_bytes = watch->keep_bytes,
		.hz = daemon->recording->options.hz,
		.wall_hz = recording_wall_hz(&daemon->recording->options),
		.event = sampler_event(daemon->recording->sampler),
		.host = daemon->recording->host_name,
		.kernel = daemon->recording->host.release,
		.max_bytes = daemon->engine->budget.waiting,
	};

	return graph_writer_open(&options, &daemon->writer);
}

/* Starts a recording with the options of record, but without end. */
static int start_sampling(struct daemon *daemon)
{
	struct recording_options options = *daemon->options.recording;
	int err = period_sink_new(recording_kinds(&options), daemon->options.watch->period_ns,
				  &daemon->periods);

	if (err)
		return err;
	daemon->periods->max_bytes = daemon->engine->budget.period;
	options.duration_ns = FOREVER_NS;
	err = engine_start_recording(daemon->engine, &options, NULL, &daemon->periods->sink,
				     &daemon->recording);
	if (err)
		return err;
	daemon->stats.is_sampling = true;
	daemon->stats.hz = options.hz;
	return open_writer(daemon);
}

static int open_http(struct daemon *daemon)
{
	struct http_hosts hosts = daemon->options.watch->http_hosts;

	http_hosts_read_own(&hosts);
	return http_server_open(&daemon->options.watch->http, &hosts, &daemon->http);
}

/* The metrics on their way: rows for some turns, then a text, which an errand makes. */
struct publication {
	struct errand errand; /* the first member */
	struct jvm_listing *rows;
	json_t *list; /* the errand's; NULL: there are still rows to make */
	char *text;
	size_t len;
	atomic_bool has_text; /* the errand no longer uses the members */
};

static void make_text(struct errand *errand)
{
	struct publication *const publication = (struct publication *)(void *)errand;

	publication->text = metrics_text(publication->list, &publication->len);
	jvm_listing_free(publication->rows); /* thousands of small pieces */
	json_decref(publication->list);
	publication->rows = NULL;
	atomic_store(&publication->has_text, true);
}

static void begin_publication(struct daemon *daemon)
{
	struct publication *const publication = calloc(1, sizeof(*publication));

	if (!publication)
		return; /* tried again a second later */
	publication->errand.run = make_text;
	if (jvm_listing_new_of_most(METRICS_MAX_JVMS, &daemon->engine->targets,
				    &publication->rows) == 0)
		daemon->publication = publication;
	else
		free(publication);
}

/* What is not published shows by the age of what was published before. */
static void end_publication(struct daemon *daemon)
{
	struct publication *const publication = daemon->publication;

	daemon->publication = NULL;
	if (publication)
		jvm_listing_free(publication->rows);
	free(publication);
}

static void publish(struct daemon *daemon)
{
	const char *trouble =
		daemon->recording && daemon->recording->is_done ? "sampling has ended" : NULL;
	struct publication *const publication = daemon->publication;

	http_server_publish(daemon->http, publication->text, publication->len, trouble);
	end_publication(daemon);
}

/* There are metrics from the first request on, without any process yet. */
static int publish_first(struct daemon *daemon)
{
	struct engine_stats stats;
	json_t *list;
	int err;

	begin_publication(daemon);
	if (!daemon->publication)
		return -ENOMEM;
	while (jvm_listing_step(daemon->publication->rows, &daemon->engine->targets))
		continue;
	engine_stats(daemon->engine, &stats);
	list = jvm_listing_take(daemon->publication->rows, &daemon->engine->targets, &stats);
	daemon->publication->list = list;
	err = list ? 0 : -ENOMEM;
	if (!err)
		make_text(&daemon->publication->errand);
	if (!err)
		publish(daemon);
	else
		end_publication(daemon);
	return err;
}

int daemon_open(struct daemon *daemon, struct engine *engine, const struct daemon_options *options)
{
	int err = 0;

	*daemon = (struct daemon){.options = *options, .engine = engine};
	engine->daemon = &daemon->stats;
	if (options->watch->has_http)
		err = open_http(daemon);
	if (!err && options->watch->output_dir)
		err = start_sampling(daemon);
	if (!err && daemon->http)
		err = publish_first(daemon);
	if (err)
		return err;
	if (daemon->http)
		log_info("metrics at %s/metrics", http_server_url(daemon->http));
	if (daemon->recording)
		log_info("sampling at %u Hz, flame graphs in %s", daemon->stats.hz,
			 options->watch->output_dir);
	service_ready(&daemon->service);
	return 0;
}

/*
 * Counts all periods. The current period is added to the earlier ones, so that counters never
 * decrease.
 */
static void count_recording(struct daemon *daemon)
{
	const struct recording *recording = daemon->recording;
	const struct sink_progress *progress = &recording->progress;
	const struct period *period = daemon->periods->period;

	daemon->stats.is_sampling = !daemon->recording->is_done;
	daemon->stats.samples = daemon->past_samples + period->samples;
	daemon->stats.left_out = daemon->past_left_out + period->left_out;
	daemon->stats.processless = daemon->past_processless + period->processless;
	daemon->stats.graphs = period->count;
	daemon->stats.graph_bytes = period->bytes;

	daemon->stats.heard = recording->samples.heard;
	daemon->stats.unwanted = recording->samples.unwanted + recording->samples.untimely;
	daemon->stats.waiting = recording->hold.samples;
	daemon->stats.unkept = recording->hold.dropped_samples + recording->samples.memory_less;
	daemon->stats.lost_samples = progress->lost;
	daemon->stats.stackless_samples = progress->stackless;
}

static void write_period(struct daemon *daemon, struct period *period)
{
	daemon->stats.periods++;
	daemon->stats.periods_cut_short += period->is_cut_short;
	daemon->past_left_out += period->left_out;
	daemon->past_processless += period->processless;
	daemon->past_samples += period->samples;
	if (period->is_cut_short)
		log_warning(
			"a period ended early: the graphs of one container or user had all that "
			"was left of %llu MiB",
			(unsigned long long)(period->max_bytes >> 20));
	if (period->left_out)
		log_warning("%llu samples are in no graph: their container or user had no share of "
			    "memory left",
			    (unsigned long long)period->left_out);
	graph_writer_take(daemon->writer, period);
}

/* Ends a period. The next period begins where that one ends. */
static void turn_period(struct daemon *daemon)
{
	struct period *period;

	if (period_sink_turn(daemon->periods, &period) < 0)
		return; /* tried again at the next step; samples wait */
	write_period(daemon, period);
}

static void write_ended(struct daemon *daemon)
{
	struct period *ended;

	if (period_steal_ended(daemon->periods->period, &daemon->engine->targets, &ended) < 0 ||
	    !ended)
		return;
	graph_writer_take(daemon->writer, ended);
}

static void take_hang_up(struct daemon *daemon)
{
	if (!daemon->engine->is_hung_up)
		return;
	daemon->engine->is_hung_up = false;
	if (!daemon->recording)
		return;
	log_info("SIGHUP: the graphs of this period are written, and the next one begins");
	period_sink_end(daemon->periods, clock_now_ns());
}

static void advance_publication(struct daemon *daemon)
{
	struct publication *const publication = daemon->publication;
	struct engine_stats stats;

	if (publication->list) {
		if (atomic_load(&publication->has_text))
			publish(daemon);
		return;
	}
	if (jvm_listing_step(publication->rows, &daemon->engine->targets))
		return;
	http_server_stats(daemon->http, &daemon->stats.http);
	engine_stats(daemon->engine, &stats);
	publication->list = jvm_listing_take(publication->rows, &daemon->engine->targets, &stats);
	if (publication->list)
		errands_add(daemon->engine->errands, &publication->errand);
	else
		end_publication(daemon);
}

static void say_status(struct daemon *daemon, uint64_t now_ns)
{
	uint32_t connected, current;
	char text[128];

	engine_count_jvms(daemon->engine, &connected, &current);
	if (daemon->recording)
		snprintf(text, sizeof(text), "%u JVMs, sampling at %u Hz", connected,
			 daemon->stats.hz);
	else
		snprintf(text, sizeof(text), "%u JVMs", connected);
	service_step(&daemon->service, now_ns, text);
}

/* The engine's budget may have changed: the period that lasts ends when it has more. */
static void take_budget(struct daemon *daemon)
{
	const struct budget *const budget = &daemon->engine->budget;

	period_sink_set_max_bytes(daemon->periods, budget->period);
	graph_writer_set_max_bytes(daemon->writer, budget->waiting);
}

void daemon_step(struct daemon *daemon)
{
	const uint64_t now = clock_now_ns();

	take_hang_up(daemon);
	if (daemon->recording && daemon->periods->is_over)
		turn_period(daemon);
	if (daemon->publication)
		advance_publication(daemon);
	if (now < daemon->next_publish_ns)
		return;
	daemon->next_publish_ns = now + PUBLISH_NS;
	if (daemon->recording)
		take_budget(daemon);
	say_status(daemon, now);
	if (daemon->recording) {
		write_ended(daemon);
		count_recording(daemon);
		graph_writer_stats(daemon->writer, &daemon->stats.writer);
	}
	if (daemon->http) {
		http_server_expire(daemon->http, now);
		if (!daemon->publication)
			begin_publication(daemon);
	}
}

uint64_t daemon_wait_ns(const struct daemon *daemon)
{
	const bool is_busy = daemon->http || daemon->recording;

	if (daemon->publication)
		return daemon->publication->list ? TEXT_NS : 0;
	return service_wait_ns(&daemon->service, is_busy ? PUBLISH_NS : WAIT_NS);
}

/* Ends sampling, and gives samples that wait for names a moment. */
static void end_sampling(struct daemon *daemon)
{
	const uint64_t until_ns = clock_now_ns() + END_NS;

	recording_stop(daemon->recording, clock_now_ns());
	period_sink_end(daemon->periods, clock_now_ns());
	while (!daemon->periods->is_over && clock_now_ns() < until_ns)
		engine_step(daemon->engine, 100 * CLOCK_NS_PER_MS);
	write_period(daemon, period_sink_give_up(daemon->periods));
}

void daemon_close(struct daemon *daemon)
{
	if (daemon->recording && daemon->writer)
		end_sampling(daemon);
	graph_writer_close(daemon->writer, PATIENCE_NS);
	if (daemon->publication && daemon->publication->list) {
		errands_wait(daemon->engine->errands);
		publish(daemon);
	}
	end_publication(daemon);
	http_server_close(daemon->http);
	daemon->engine->daemon = NULL;
}
