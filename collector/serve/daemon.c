// SPDX-License-Identifier: Apache-2.0
/*
 * What a daemon does beside its engine, see daemon.h. A period is over when no more samples of it
 * are held (recording.c says when); the graph writer's thread then gets it. Graphs of processes
 * that have ended go to the graph writer at once, so that they take no memory for the rest of the
 * period.
 *
 * One file, because graphs, store and pushes are three feeds of one recording, which begin, turn
 * and end together.
 */
#include "serve/daemon.h"

#include "base/clock.h"
#include "base/log.h"
#include "inspect/jvm_listing.h"
#include "push/pusher.h"
#include "sinks/count_sink.h"
#include "serve/counted.h"
#include "serve/graph_writer.h"
#include "web/http_server.h"
#include "serve/metrics.h"
#include "announce/publishing.h"
#include "serve/store_keeper.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLISH_NS  (1 * CLOCK_NS_PER_SEC)
#define WAIT_NS	    (10 * CLOCK_NS_PER_SEC)
#define END_NS	    (2 * CLOCK_NS_PER_SEC) /* wait for samples of the last period */
#define PATIENCE_NS (10 * CLOCK_NS_PER_SEC)
#define PUSH_NS	    (5 * CLOCK_NS_PER_SEC) /* to send what is there */
#define TEXT_NS	    (10 * CLOCK_NS_PER_MS) /* wait for the text of metrics */
#define FOREVER_NS  (UINT64_C(100) * 366 * 24 * 60 * 60 * CLOCK_NS_PER_SEC)

/* How many share the memory for periods. */
static size_t feeds_of(const struct daemon *daemon)
{
	return (daemon->graphs.periods != NULL) + (daemon->windows.periods != NULL) +
	       (daemon->pushes.periods != NULL);
}

static struct period_facts facts_of(const struct daemon *daemon)
{
	const struct recording *const recording = daemon->recording;

	return (struct period_facts){
		.hz = recording->options.hz,
		.wall_hz = recording_wall_hz(&recording->options),
		.event = sampler_event(recording->sampler),
		.host = recording->host_name,
		.kernel = recording->host.release,
		.boot_id = recording->boot_id,
		.program = "fgcollect " FG_VERSION,
	};
}

static int open_writer(struct daemon *daemon)
{
	const struct watch_options *watch = daemon->options.watch;
	const struct graph_writer_options options = {
		.dir = watch->output_dir,
		.format = watch->format,
		.keep_sec = watch->keep_sec,
		.keep_bytes = watch->keep_bytes,
		.facts = facts_of(daemon),
		.max_bytes = daemon->engine->budget.waiting / feeds_of(daemon),
	};

	return graph_writer_open(&options, &daemon->writer);
}

static int open_keeper(struct daemon *daemon)
{
	const struct watch_options *watch = daemon->options.watch;
	const struct store_keeper_options options = {
		.dir = watch->store_dir,
		.limits = {.bytes = watch->store_bytes, .age_sec = watch->store_age_sec},
		.facts = facts_of(daemon),
		.max_bytes = daemon->engine->budget.waiting / feeds_of(daemon),
	};

	return store_keeper_open(&options, &daemon->keeper);
}

static int open_pusher(struct daemon *daemon)
{
	const struct pusher_options options = {
		.push = &daemon->options.watch->push,
		.facts = facts_of(daemon),
		.max_bytes = daemon->engine->budget.waiting / feeds_of(daemon),
	};

	return pusher_open(&options, &daemon->pusher);
}

/* The sinks of all feeds, in a chain that the caller owns. NULL: there is no memory. */
static struct sink *make_sinks(struct daemon *daemon, unsigned kinds)
{
	const struct watch_options *watch = daemon->options.watch;
	struct sink *first = NULL, **end = &first;
	int err = 0;

	if (watch->output_dir)
		err = period_sink_new(kinds, watch->period_ns, &daemon->graphs.periods);
	if (!err && daemon->graphs.periods)
		*end = &daemon->graphs.periods->sink;
	if (!err && watch->store_dir)
		err = period_sink_new(kinds, watch->store_window_ns, &daemon->windows.periods);
	while (*end)
		end = &(*end)->next;
	if (!err && daemon->windows.periods)
		*end = &daemon->windows.periods->sink;
	if (!err && push_options_is_on(&watch->push))
		err = period_sink_new(kinds, watch->push.interval_ns, &daemon->pushes.periods);
	while (*end)
		end = &(*end)->next;
	if (!err && daemon->pushes.periods)
		*end = &daemon->pushes.periods->sink;
	while (*end)
		end = &(*end)->next;
	if (!err && kinds & SAMPLES_OF_CPU)
		err = count_sink_new(end);
	if (err) {
		sink_free_all(first);
		return NULL;
	}
	return first;
}

static void set_budget(struct daemon *daemon)
{
	const size_t bytes = daemon->engine->budget.period / feeds_of(daemon);

	if (daemon->graphs.periods)
		period_sink_set_max_bytes(daemon->graphs.periods, bytes);
	if (daemon->windows.periods)
		period_sink_set_max_bytes(daemon->windows.periods, bytes);
	if (daemon->pushes.periods)
		period_sink_set_max_bytes(daemon->pushes.periods, bytes);
}

/* Starts a recording with the options of record, but without end. */
static int start_sampling(struct daemon *daemon)
{
	struct recording_options options = *daemon->options.recording;
	struct sink *const sinks = make_sinks(daemon, recording_kinds(&options));
	int err = sinks ? 0 : -ENOMEM;

	if (err)
		return err;
	set_budget(daemon);
	options.duration_ns = FOREVER_NS;
	daemon->engine->outputs.keeps_tools =
		options.select.jvm[0] || options.select.comm[0] || options.pid > 0;
	err = engine_start_recording(daemon->engine, &options, NULL, sinks, &daemon->recording);
	if (err)
		return err;
	daemon->counts.watch.is_sampling = true;
	daemon->counts.watch.hz = options.hz;
	if (daemon->graphs.periods)
		err = open_writer(daemon);
	if (!err && daemon->windows.periods)
		err = open_keeper(daemon);
	if (!err && daemon->pushes.periods)
		err = open_pusher(daemon);
	return err;
}

static int open_http(struct daemon *daemon)
{
	const struct watch_options *const watch = daemon->options.watch;
	struct http_hosts hosts = watch->http_hosts;
	const struct http_server_options options = {
		.addresses = watch->http,
		.n_addresses = watch->n_http,
		.hosts = &hosts,
		.cert = watch->http_cert,
		.key = watch->http_key,
		.client_ca = watch->http_client_ca,
		.token_file = watch->http_token_file,
		.store_dir = watch->store_dir,
		.window_ns = watch->store_window_ns,
		.max_bytes = daemon->engine->budget.queries,
	};

	http_hosts_read_own(&hosts);
	return http_server_open(&options, &daemon->http);
}

/* The metrics on their way: rows for some turns, then a text, which a task makes. */
struct publication {
	struct worker_task task; /* the first member */
	struct jvm_listing *rows;
	json_t *list; /* the task's; NULL: there are still rows to make */
	char *text;
	size_t len;
	atomic_bool has_text; /* the task no longer uses the members */
};

static void make_text(struct worker_task *task)
{
	struct publication *const publication = (struct publication *)(void *)task;

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
	publication->task.run = make_text;
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

static json_t *counted_of(const struct daemon *daemon)
{
	return counted_list(daemon->engine, &daemon->counts);
}

/* There are metrics from the first request on, without any process yet. */
static int publish_first(struct daemon *daemon)
{
	json_t *list;
	int err;

	begin_publication(daemon);
	if (!daemon->publication)
		return -ENOMEM;
	while (jvm_listing_step(daemon->publication->rows, &daemon->engine->targets))
		continue;
	list = jvm_listing_take(daemon->publication->rows, counted_of(daemon));
	daemon->publication->list = list;
	err = list ? 0 : -ENOMEM;
	if (!err)
		make_text(&daemon->publication->task);
	if (!err)
		publish(daemon);
	else
		end_publication(daemon);
	return err;
}

static int open_publishing(struct daemon *daemon)
{
	const struct publishing_options options = {
		.publisher = {.events = daemon->options.watch->publish,
			      .state = daemon->options.watch->publish_state},
		.agent_socket = daemon->options.socket_path,
		.lost_samples = daemon->recording ? &daemon->counts.watch.lost_samples : NULL,
	};

	return publishing_open(daemon->engine, &options, &daemon->publishing);
}

int daemon_open(struct daemon *daemon, struct engine *engine, const struct daemon_options *options)
{
	int err = 0;

	*daemon = (struct daemon){.options = *options, .engine = engine};
	engine_add_part(engine, &(struct part){.stage = TURN_CALLER,
					       .hold = daemon_counts_hold,
					       .arg = &daemon->counts});
	if (options->watch->n_http)
		err = open_http(daemon);
	if (!err && (options->watch->output_dir || options->watch->store_dir ||
		     push_options_is_on(&options->watch->push)))
		err = start_sampling(daemon);
	if (!err && options->watch->publish.count)
		err = open_publishing(daemon);
	if (!err && daemon->http)
		err = publish_first(daemon);
	if (err)
		return err;
	for (size_t i = 0; daemon->http && http_server_url(daemon->http, i); i++)
		log_info("metrics at %s/metrics%s", http_server_url(daemon->http, i),
			 options->watch->store_dir ? ", and what is stored at /" : "");
	if (daemon->writer)
		log_info("sampling at %u Hz, flame graphs in %s", daemon->counts.watch.hz,
			 options->watch->output_dir);
	if (daemon->keeper)
		log_info("sampling at %u Hz, the store is %s", daemon->counts.watch.hz,
			 options->watch->store_dir);
	for (size_t i = 0; daemon->pusher && i < options->watch->push.config.count; i++)
		log_info("sampling at %u Hz, pushing to %s", daemon->counts.watch.hz,
			 options->watch->push.config.targets[i].url.name);
	for (size_t i = 0; i < options->watch->publish.count; i++)
		log_info("events at ipc://%s", options->watch->publish.paths[i]);
	for (size_t i = 0; i < options->watch->publish_state.count; i++)
		log_info("state at ipc://%s", options->watch->publish_state.paths[i]);
	return service_ready(&daemon->service);
}

/* The feed whose samples are counted: of several, each sample goes to all. */
static struct daemon_feed *main_feed(struct daemon *daemon)
{
	if (daemon->graphs.periods)
		return &daemon->graphs;
	return daemon->windows.periods ? &daemon->windows : &daemon->pushes;
}

static void count_pushes(struct daemon *daemon)
{
	const struct daemon_feed *const feed = &daemon->pushes;
	const struct period *const period = feed->periods->period;

	daemon->counts.pushes.left_out = feed->past_left_out + period->left_out;
	daemon->counts.pushes.bytes = period->bytes;
	pusher_stats(daemon->pusher, &daemon->counts.push);
}

static void count_windows(struct daemon *daemon)
{
	const struct daemon_feed *const feed = &daemon->windows;
	const struct period *const period = feed->periods->period;

	daemon->counts.windows.left_out = feed->past_left_out + period->left_out;
	daemon->counts.windows.bytes = period->bytes;
	store_keeper_stats(daemon->keeper, &daemon->counts.keeper);
}

static void count_graphs(struct daemon *daemon)
{
	const struct period *const period = daemon->graphs.periods->period;

	daemon->counts.watch.graphs = period->count;
	daemon->counts.watch.graph_bytes = period->bytes;
	graph_writer_stats(daemon->writer, &daemon->counts.writer);
}

/*
 * Counts all periods. The current period is added to the earlier ones, so that counters never
 * decrease.
 */
static void count_recording(struct daemon *daemon)
{
	const struct recording *recording = daemon->recording;
	const struct sink_progress *progress = &recording->progress;
	const struct daemon_feed *const feed = main_feed(daemon);
	const struct period *period = feed->periods->period;

	daemon->counts.watch.is_sampling = !daemon->recording->is_done;
	daemon->counts.watch.samples = feed->past_samples + period->samples;
	daemon->counts.watch.left_out = feed->past_left_out + period->left_out;
	daemon->counts.watch.processless = feed->past_processless + period->processless;

	daemon->counts.watch.heard = recording->samples.received;
	daemon->counts.watch.unwanted = recording->samples.unwanted + recording->samples.untimely;
	daemon->counts.watch.waiting = recording->hold.samples;
	daemon->counts.watch.unkept =
		recording->hold.dropped_samples + recording->samples.memory_less;
	daemon->counts.watch.lost_samples = progress->lost;
	daemon->counts.watch.stackless_samples = progress->stackless;
	if (daemon->writer)
		count_graphs(daemon);
	if (daemon->keeper)
		count_windows(daemon);
	if (daemon->pusher)
		count_pushes(daemon);
}

static void count_past(struct daemon_feed *feed, const struct period *period)
{
	feed->past_left_out += period->left_out;
	feed->past_processless += period->processless;
	feed->past_samples += period->samples;
	if (period->left_out)
		log_warning("%llu samples are in no graph or window: their container or user had "
			    "no share of memory left",
			    (unsigned long long)period->left_out);
}

/*
 * Leaves out what nobody has asked for: graphs of tools that ran for a moment. The feeds have the
 * same samples, which are counted once.
 */
static void drop_passing(struct daemon *daemon, const struct daemon_feed *feed,
			 struct period *period)
{
	struct period_passing sum = {0};

	if (daemon->engine->outputs.keeps_tools)
		return;
	period_drop_passing(period, &sum);
	if (feed == main_feed(daemon)) {
		daemon->counts.watch.tool_graphs += sum.graphs;
		daemon->counts.watch.tool_samples += sum.samples;
	}
}

static void write_period(struct daemon *daemon, struct period *period)
{
	drop_passing(daemon, &daemon->graphs, period);
	daemon->counts.watch.periods++;
	daemon->counts.watch.periods_cut_short += period->is_cut_short;
	count_past(&daemon->graphs, period);
	if (period->is_cut_short)
		log_warning(
			"a period ended early: the graphs of one container or user had all that "
			"was left of %llu MiB",
			(unsigned long long)(period->max_bytes >> 20));
	graph_writer_take(daemon->writer, period);
}

static void write_window(struct daemon *daemon, struct period *period)
{
	drop_passing(daemon, &daemon->windows, period);
	daemon->counts.windows.periods++;
	daemon->counts.windows.cut_short += period->is_cut_short;
	count_past(&daemon->windows, period);
	store_keeper_take(daemon->keeper, period);
}

static void push_period(struct daemon *daemon, struct period *period)
{
	drop_passing(daemon, &daemon->pushes, period);
	daemon->counts.pushes.periods++;
	daemon->counts.pushes.cut_short += period->is_cut_short;
	count_past(&daemon->pushes, period);
	pusher_take(daemon->pusher, period);
}

/* Ends a period that is over. The next period begins where that one ends. NULL: none is over. */
static struct period *turn_period(const struct daemon_feed *feed)
{
	struct period *period;

	if (!feed->periods || !feed->periods->is_over)
		return NULL;
	/* After an error it is tried again at the next step; samples wait. */
	return period_sink_turn(feed->periods, &period) < 0 ? NULL : period;
}

static void turn_periods(struct daemon *daemon)
{
	struct period *period = turn_period(&daemon->graphs);

	if (period)
		write_period(daemon, period);
	period = turn_period(&daemon->windows);
	if (period)
		write_window(daemon, period);
	period = turn_period(&daemon->pushes);
	if (period)
		push_period(daemon, period);
}

static void write_ended(struct daemon *daemon)
{
	struct period *ended;

	if (!daemon->writer ||
	    period_steal_ended(daemon->graphs.periods->period, &daemon->engine->targets, &ended) <
		    0 ||
	    !ended)
		return;
	drop_passing(daemon, &daemon->graphs, ended);
	graph_writer_take(daemon->writer, ended);
}

/* Ends the current periods at once. */
static void end_periods(struct daemon *daemon, uint64_t now_ns)
{
	if (daemon->graphs.periods)
		period_sink_end(daemon->graphs.periods, now_ns);
	if (daemon->windows.periods)
		period_sink_end(daemon->windows.periods, now_ns);
	if (daemon->pushes.periods)
		period_sink_end(daemon->pushes.periods, now_ns);
}

static void take_hang_up(struct daemon *daemon)
{
	if (!daemon->engine->is_hung_up)
		return;
	daemon->engine->is_hung_up = false;
	if (!daemon->recording)
		return;
	log_info("SIGHUP: the graphs of this period are written, and the next one begins");
	end_periods(daemon, clock_now_ns());
}

static void advance_publication(struct daemon *daemon)
{
	struct publication *const publication = daemon->publication;

	if (publication->list) {
		if (atomic_load(&publication->has_text))
			publish(daemon);
		return;
	}
	if (jvm_listing_step(publication->rows, &daemon->engine->targets))
		return;
	http_server_stats(daemon->http, &daemon->counts.http);
	publication->list = jvm_listing_take(publication->rows, counted_of(daemon));
	if (publication->list)
		worker_add(daemon->engine->worker, &publication->task);
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
			 daemon->counts.watch.hz);
	else
		snprintf(text, sizeof(text), "%u JVMs", connected);
	service_step(&daemon->service, now_ns, text);
}

/* The engine's budget may have changed: a period that lasts ends when it has more. */
static void take_budget(struct daemon *daemon)
{
	const size_t waiting = daemon->engine->budget.waiting / feeds_of(daemon);

	set_budget(daemon);
	if (daemon->writer)
		graph_writer_set_max_bytes(daemon->writer, waiting);
	if (daemon->keeper)
		store_keeper_set_max_bytes(daemon->keeper, waiting);
	if (daemon->pusher)
		pusher_set_max_bytes(daemon->pusher, waiting);
}

void daemon_step(struct daemon *daemon)
{
	const uint64_t now = clock_now_ns();

	take_hang_up(daemon);
	if (daemon->recording)
		turn_periods(daemon);
	if (daemon->publishing)
		publishing_step(daemon->publishing, now);
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
	}
	if (daemon->publishing) {
		publishing_set_max_bytes(daemon->publishing, daemon->engine->budget.publish);
		publishing_stats(daemon->publishing, &daemon->counts.publish);
	}
	if (daemon->http) {
		http_server_set_max_bytes(daemon->http, daemon->engine->budget.queries);
		http_server_expire(daemon->http, now);
		if (!daemon->publication)
			begin_publication(daemon);
	}
}

uint64_t daemon_wait_ns(const struct daemon *daemon)
{
	const bool is_busy = daemon->http || daemon->recording;
	uint64_t wait_ns = is_busy ? PUBLISH_NS : WAIT_NS;

	if (daemon->publication)
		return daemon->publication->list ? TEXT_NS : 0;
	if (daemon->publishing)
		wait_ns = publishing_wait_ns(daemon->publishing, clock_now_ns());
	return service_wait_ns(&daemon->service, wait_ns);
}

static bool is_over(const struct daemon_feed *feed)
{
	return !feed->periods || feed->periods->is_over;
}

/* Ends sampling, and gives samples that wait for names a moment. */
static void end_sampling(struct daemon *daemon)
{
	const uint64_t now_ns = clock_now_ns(), until_ns = now_ns + END_NS;

	/* A period that ended after the recording would never be over. */
	recording_stop(daemon->recording, now_ns);
	end_periods(daemon, now_ns);
	while ((!is_over(&daemon->graphs) || !is_over(&daemon->windows) ||
		!is_over(&daemon->pushes)) &&
	       clock_now_ns() < until_ns)
		engine_step(daemon->engine, 100 * CLOCK_NS_PER_MS);
	if (daemon->writer)
		write_period(daemon, period_sink_give_up(daemon->graphs.periods));
	if (daemon->keeper)
		write_window(daemon, period_sink_give_up(daemon->windows.periods));
	if (daemon->pusher)
		push_period(daemon, period_sink_give_up(daemon->pushes.periods));
}

void daemon_close(struct daemon *daemon)
{
	if (daemon->writer || daemon->keeper || daemon->pusher)
		end_sampling(daemon);
	publishing_close(daemon->publishing);
	pusher_close(daemon->pusher, PUSH_NS);
	store_keeper_close(daemon->keeper, PATIENCE_NS);
	graph_writer_close(daemon->writer, PATIENCE_NS);
	if (daemon->publication && daemon->publication->list) {
		worker_wait(daemon->engine->worker);
		publish(daemon);
	}
	end_publication(daemon);
	http_server_close(daemon->http);
	engine_remove_part(daemon->engine, &daemon->counts);
}
