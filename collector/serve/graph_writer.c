// SPDX-License-Identifier: Apache-2.0
/* The thread that writes graphs, see graph_writer.h. */
#include "serve/graph_writer.h"

#include "base/clock.h"
#include "base/log.h"
#include "recording/report.h"
#include "draw/graph_index.h"
#include "sinks/period_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct graph_writer {
	struct graph_writer_options options; /* the texts are the writer's copies, see own_texts */
	struct graph_dir dir;		     /* used by the thread only */
	struct period_worker worker;
	struct graph_writer_stats stats; /* under the worker's lock */
	bool has_said_index;		 /* used by the thread only */
};

/* Arguments of render_graph. */
struct drawing {
	const struct period_graph *graph;
	enum render_format format;
	struct render_options options;
};

static int render_graph(void *arg, FILE *stream)
{
	const struct drawing *drawing = arg;

	return render_write(&drawing->graph->parts[0].profile, drawing->format, &drawing->options,
			    stream);
}

static void say_subtitle(const struct profile_part *part, pid_t pid, char ret[REPORT_BYTES])
{
	char text[PROFILE_PART_BYTES];

	snprintf(ret, REPORT_BYTES, "%s, PID %d", profile_part_text(part, text), (int)pid);
}

static int write_graph(struct graph_writer *writer, const struct period *period,
		       struct period_graph *graph, char ret_name[GRAPH_DIR_NAME_BYTES])
{
	const struct timeline_process *const process = period_graph_process(graph);
	char notes[REPORT_BYTES], subtitle[REPORT_BYTES];
	struct period_parts parts;
	struct drawing drawing = {
		.graph = graph,
		.format = writer->options.format,
		.options = {.title = process ? NULL : graph->comm,
			    .subtitle = subtitle,
			    .notes = notes,
			    .info = &parts.infos[0],
			    .timeline = &graph->parts[0].timeline,
			    .kind = graph->parts[0].kind->profile},
	};
	const struct graph_name name = {
		.unix_sec = period->start_unix_ns / CLOCK_NS_PER_SEC,
		.place = process ? timeline_process_place(process) : "",
		.container = graph->container,
		.comm = graph->comm,
		.payer = graph->payer,
		.title = period_graph_title(graph),
		.pid = graph->pid,
		.format = writer->options.format,
	};

	struct wall_clock now;

	period_parts_make(&parts, &writer->options.facts, period, graph, true);
	if (render_holds_kinds(drawing.format)) {
		drawing.options.others = parts.parts + 1;
		drawing.options.n_others = parts.n - 1;
	}
	report_quality(parts.parts[0].kind, &parts.infos[0].quality, notes);
	say_subtitle(&parts.parts[0], graph->pid, subtitle);
	wall_clock_read(&now);
	return graph_dir_write(&writer->dir, &now, &name, render_graph, &drawing, ret_name);
}

static void count(struct graph_writer *writer, uint64_t written, uint64_t failed)
{
	THREAD_HOLD(&writer->worker.lock);

	writer->stats.written += written;
	writer->stats.failed += failed;
	writer->stats.removed = writer->dir.removed;
	writer->stats.files = writer->dir.count;
	writer->stats.file_bytes = writer->dir.bytes;
	writer->stats.list_bytes = graph_dir_bytes(&writer->dir);
}

static void expire(struct graph_writer *writer)
{
	const struct graph_writer_options *options = &writer->options;
	struct wall_clock now;
	int err;

	wall_clock_read(&now);
	err = graph_dir_expire(&writer->dir, &now, options->keep_sec, options->keep_bytes);
	if (err)
		log_warning("%s: cannot write the list of graphs anew: %s: it is tried again with "
			    "the next period",
			    options->dir, strerror(-err));
}

/* Writes the page over the graphs. What is in its way is said once. */
static void write_index(struct graph_writer *writer)
{
	const int err = graph_index_write(&writer->dir);

	if (!err || writer->has_said_index)
		return;
	writer->has_said_index = true;
	log_warning("%s/" GRAPH_INDEX_NAME ", the page over the graphs, is not written: %s",
		    writer->options.dir,
		    err == -EEXIST ? "another file has its name, and stays" : strerror(-err));
}

/*
 * Writes the graphs of a period. Only the first error is logged, because the others are most likely
 * equal.
 */
static void write_period(void *arg, const struct period *period)
{
	struct graph_writer *const writer = arg;
	char name[GRAPH_DIR_NAME_BYTES], failed_name[GRAPH_DIR_NAME_BYTES] = "";
	uint64_t written = 0, failed = 0;
	int first_err = 0;

	for (struct period_graph *graph = period->graphs; graph; graph = graph->next) {
		const int err = write_graph(writer, period, graph, name);

		written += !err;
		failed += err != 0;
		if (err && !first_err) {
			first_err = err;
			memcpy(failed_name, name, sizeof(failed_name));
		}
		count(writer, !err, err != 0);
	}
	expire(writer);
	write_index(writer);
	count(writer, 0, 0);
	if (first_err)
		log_error("cannot write %s/%s: %s: %llu of %llu graphs of this period are lost; "
			  "make room there, or lower --keep-bytes",
			  writer->options.dir, failed_name, strerror(-first_err),
			  (unsigned long long)failed, (unsigned long long)(written + failed));
	if (written)
		log_debug("%llu graphs are in %s, %llu files with %llu KiB in all",
			  (unsigned long long)written, writer->options.dir,
			  (unsigned long long)writer->dir.count,
			  (unsigned long long)(writer->dir.bytes >> 10));
}

static const struct period_work work = {.work = write_period};

static int say_open_error(const char *path, int err)
{
	if (err == -EBUSY)
		log_error("--output %s: another fgcollect writes there: give each a directory of "
			  "its own",
			  path);
	else if (err == -ENOENT)
		log_error("--output %s: %s: make the directory first", path, strerror(-err));
	else
		log_error("--output %s: %s: a directory that can be written to is needed", path,
			  strerror(-err));
	return err;
}

/* Copies the texts. A thread that is left behind may outlive the owners of the texts. */
static int own_texts(struct graph_writer_options *options)
{
	options->dir = strdup(options->dir);
	return options->dir && period_facts_copy(&options->facts) == 0 ? 0 : -ENOMEM;
}

static void free_writer(struct graph_writer *writer)
{
	struct graph_writer_options *options = &writer->options;

	period_worker_fini(&writer->worker);
	free((void *)(uintptr_t)options->dir);
	period_facts_free(&options->facts);
	free(writer);
}

int graph_writer_open(const struct graph_writer_options *options, struct graph_writer **ret)
{
	struct graph_writer *writer = calloc(1, sizeof(*writer));
	struct wall_clock now;
	int err;

	if (!writer)
		return -ENOMEM;
	wall_clock_read(&now);
	writer->options = *options;
	period_worker_init(&writer->worker,
			   options->max_bytes ? options->max_bytes : GRAPH_WRITER_MAX_BYTES);
	err = own_texts(&writer->options);
	if (!err)
		err = graph_dir_open(&writer->dir, options->dir, &now);
	if (err) {
		free_writer(writer);
		return say_open_error(options->dir, err);
	}
	expire(writer);
	write_index(writer);
	count(writer, 0, 0);
	err = period_worker_start(&writer->worker, &work, writer);
	if (err) {
		log_error("--output %s: cannot start a thread: %s", options->dir, strerror(-err));
		graph_dir_close(&writer->dir);
		free_writer(writer);
		return err;
	}
	*ret = writer;
	return 0;
}

void graph_writer_take(struct graph_writer *writer, struct period *period)
{
	const size_t dropped = period_worker_take(&writer->worker, period);

	if (dropped)
		log_error("%s: %zu graphs of whoever has the most are dropped: earlier ones are "
			  "still being written: is the disk too slow, or gone?",
			  writer->options.dir, dropped);
}

void graph_writer_stats(struct graph_writer *writer, struct graph_writer_stats *ret)
{
	THREAD_HOLD(&writer->worker.lock);

	*ret = writer->stats;
	ret->dropped = writer->worker.dropped;
	ret->waiting_bytes = writer->worker.queue.bytes;
}

void graph_writer_set_max_bytes(struct graph_writer *writer, size_t bytes)
{
	period_worker_set_max_bytes(&writer->worker, bytes);
}

void graph_writer_close(struct graph_writer *writer, uint64_t patience_ns)
{
	if (!writer)
		return;
	if (!period_worker_stop(&writer->worker, clock_now_ns() + patience_ns)) {
		log_error("%s: the last graphs could not be written in time", writer->options.dir);
		return;
	}
	graph_dir_close(&writer->dir);
	free_writer(writer);
}

static const struct counter counters[] = {
	COUNTER_SUM(struct graph_writer_stats, written, "watch.graphs_written",
		    "graphs_written_total", "Graphs that were written."),
	COUNTER_SUM(struct graph_writer_stats, failed, "watch.graphs_failed", "graphs_failed_total",
		    "Graphs that could not be written."),
	COUNTER_SUM(struct graph_writer_stats, dropped, "watch.graphs_dropped",
		    "graphs_dropped_total",
		    "Graphs that were dropped because others were still being written."),
	COUNTER_GAUGE(struct graph_writer_stats, waiting_bytes, "watch.waiting_bytes",
		      "graphs_waiting_bytes", "Memory of graphs that wait to be written."),
	COUNTER_GAUGE(struct graph_writer_stats, files, "watch.files", "graph_files",
		      "Files of graphs that are there."),
	COUNTER_GAUGE(struct graph_writer_stats, file_bytes, "watch.file_bytes", "graph_file_bytes",
		      "What files of graphs take."),
	COUNTER_SUM(struct graph_writer_stats, removed, "watch.files_removed",
		    "graph_files_removed_total",
		    "Files of graphs that were removed because of the limits."),
};

const struct counters graph_writer_counters = COUNTERS(struct graph_writer_stats, counters);
