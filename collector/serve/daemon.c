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
#include "inspect/jvm_list.h"
#include "serve/graph_writer.h"
#include "serve/http_server.h"
#include "serve/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PUBLISH_NS  (1 * CLOCK_NS_PER_SEC)
#define WAIT_NS	    (10 * CLOCK_NS_PER_SEC)
#define END_NS	    (2 * CLOCK_NS_PER_SEC) /* wait for samples of the last period */
#define PATIENCE_NS (10 * CLOCK_NS_PER_SEC)
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
		.event = sampler_event(daemon->recording->sampler),
		.host = daemon->recording->host_name,
		.kernel = daemon->recording->host.release,
	};

	return graph_writer_open(&options, &daemon->writer);
}

/* Starts a recording with the options of record, but without end. */
static int start_sampling(struct daemon *daemon)
{
	struct recording_options options = *daemon->options.recording;
	int err = period_sink_new(daemon->options.watch->period_ns, &daemon->periods);

	if (err)
		return err;
	options.duration_ns = FOREVER_NS;
	err = engine_start_recording(daemon->engine, &options, &daemon->periods->sink,
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

int daemon_open(struct daemon *daemon, struct engine *engine, const struct daemon_options *options)
{
	int err = 0;

	*daemon = (struct daemon){.options = *options, .engine = engine};
	engine->daemon = &daemon->stats;
	if (options->watch->has_http)
		err = open_http(daemon);
	if (!err && options->watch->output_dir)
		err = start_sampling(daemon);
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
	const struct sink_progress *progress = &daemon->recording->progress;
	const struct period *period = daemon->periods->period;

	daemon->stats.is_sampling = !daemon->recording->is_done;
	daemon->stats.samples = daemon->past_samples + period->samples;
	daemon->stats.left_out = daemon->past_left_out + period->left_out;
	daemon->stats.processless = daemon->past_processless + period->processless;
	daemon->stats.graphs = period->count;
	daemon->stats.graph_bytes = period->bytes;

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
		log_warning("a period ended early: its graphs had more than %llu MiB",
			    (unsigned long long)(PERIOD_MAX_BYTES >> 20));
	if (period->left_out)
		log_warning("%llu samples are in no graph: there was no memory for them",
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

static void publish(struct daemon *daemon)
{
	const char *trouble =
		daemon->recording && daemon->recording->is_done ? "sampling has ended" : NULL;
	struct engine_stats stats;
	json_t *list;
	char *text = NULL;
	size_t len = 0;

	http_server_stats(daemon->http, &daemon->stats.http);
	engine_stats(daemon->engine, &stats);
	list = jvm_list_to_json(&daemon->engine->targets, &stats);
	if (list)
		text = metrics_text(list, &len);
	json_decref(list);
	http_server_publish(daemon->http, text, len, trouble);
	http_server_expire(daemon->http, clock_now_ns());
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

void daemon_step(struct daemon *daemon)
{
	const uint64_t now = clock_now_ns();

	take_hang_up(daemon);
	if (daemon->recording && daemon->periods->is_over)
		turn_period(daemon);
	if (now < daemon->next_publish_ns)
		return;
	daemon->next_publish_ns = now + PUBLISH_NS;
	say_status(daemon, now);
	if (daemon->recording) {
		write_ended(daemon);
		count_recording(daemon);
		graph_writer_stats(daemon->writer, &daemon->stats.writer);
	}
	if (daemon->http)
		publish(daemon);
}

uint64_t daemon_wait_ns(const struct daemon *daemon)
{
	const bool is_busy = daemon->http || daemon->recording;

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
	http_server_close(daemon->http);
	daemon->engine->daemon = NULL;
}
