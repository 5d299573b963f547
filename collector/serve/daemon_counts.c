// SPDX-License-Identifier: Apache-2.0
/* What a daemon counts, see daemon_counts.h. */
#include "serve/daemon_counts.h"

static const struct counter watch_rows[] = {
	COUNTER_GAUGE(struct watch_counts, is_sampling, "watch.sampling", "sampling",
		      "1 while the daemon samples by itself."),
	COUNTER_GAUGE(struct watch_counts, hz, "watch.hz", "sampling_hertz",
		      "The rate at which it does."),
	COUNTER_SUM(struct watch_counts, heard, "watch.heard", "samples_heard_total",
		    "Samples that were read: those in graphs, left out, processless, unwanted, "
		    "waiting and unkept.",
		    COUNTER_BALANCE("samples of the daemon", COUNTER_ENTERS)),
	COUNTER_SUM(struct watch_counts, samples, "watch.samples", "samples_total",
		    "Samples in graphs.", COUNTER_BALANCE("samples of the daemon", COUNTER_LEAVES)),
	COUNTER_SUM(struct watch_counts, unwanted, "watch.unwanted", "samples_unwanted_total",
		    "Samples of what was not selected, or from before the start.",
		    COUNTER_BALANCE("samples of the daemon", COUNTER_DROPS)),
	COUNTER_GAUGE(struct watch_counts, waiting, "watch.waiting", "samples_waiting",
		      "Samples that are in no graph yet.",
		      COUNTER_BALANCE("samples of the daemon", COUNTER_STAYS)),
	COUNTER_SUM(struct watch_counts, unkept, "watch.unkept", "samples_unkept_total",
		    "Samples for which there was no memory after they were read.",
		    COUNTER_BALANCE("samples of the daemon", COUNTER_DROPS)),
	COUNTER_SUM(struct watch_counts, lost_samples, "watch.lost_samples", "samples_lost_total",
		    "Samples that the kernel had no room for."),
	COUNTER_SUM(struct watch_counts, left_out, "watch.left_out", "samples_left_out_total",
		    "Samples that no graph had room for.",
		    COUNTER_BALANCE("samples of the daemon", COUNTER_DROPS)),
	COUNTER_SUM(struct watch_counts, processless, "watch.processless",
		    "samples_processless_total",
		    "Samples of processes that ended before they could be read, in no graph.",
		    COUNTER_BALANCE("samples of the daemon", COUNTER_DROPS)),
	COUNTER_SUM(struct watch_counts, tool_graphs, "watch.tool_graphs", "tool_graphs_total",
		    "Graphs of tools of the JDK that ran for a moment, which are not kept."),
	COUNTER_SUM(struct watch_counts, tool_samples, "watch.tool_samples",
		    "samples_of_tools_total", "Samples in those graphs."),
	COUNTER_SUM(struct watch_counts, stackless_samples, "watch.stackless_samples",
		    "samples_stackless_total", "Samples without the copy of their stack."),
	COUNTER_SUM(struct watch_counts, periods, "watch.periods", "periods_total",
		    "Periods that are over."),
	COUNTER_SUM(struct watch_counts, periods_cut_short, "watch.periods_cut_short",
		    "periods_cut_short_total",
		    "Periods that ended because of the size of their graphs."),
	COUNTER_GAUGE(struct watch_counts, graphs, "watch.graphs", "graphs",
		      "Graphs of the period that lasts."),
	COUNTER_GAUGE(struct watch_counts, graph_bytes, "watch.graph_bytes", "graph_bytes",
		      "Memory of the graphs of the period that lasts."),
};

const struct counters watch_counters = COUNTERS(struct watch_counts, watch_rows);

static const struct counter window_rows[] = {
	COUNTER_SUM(struct feed_counts, periods, "store.periods", "store_periods_total",
		    "Windows of time that are over."),
	COUNTER_SUM(struct feed_counts, cut_short, "store.periods_cut_short",
		    "store_periods_cut_short_total",
		    "Of these, those that ended early because somebody had all memory."),
	COUNTER_SUM(struct feed_counts, left_out, "store.samples_left_out",
		    "store_samples_left_out_total",
		    "Samples that are in no window because their container or user had no memory "
		    "left."),
	COUNTER_GAUGE(struct feed_counts, bytes, "store.window_bytes", "store_window_bytes",
		      "Memory of the window that lasts."),
};

const struct counters window_counters = COUNTERS(struct feed_counts, window_rows);

static const struct counter pushed_rows[] = {
	COUNTER_SUM(struct feed_counts, periods, "push.periods", "push_periods_total",
		    "Periods that were pushed."),
	COUNTER_SUM(struct feed_counts, cut_short, "push.periods_cut_short",
		    "push_periods_cut_short_total",
		    "Of these, those that ended early because somebody had all memory."),
	COUNTER_SUM(struct feed_counts, left_out, "push.samples_left_out",
		    "push_samples_left_out_total",
		    "Samples that are in no period because their container or user had no memory "
		    "left."),
	COUNTER_GAUGE(struct feed_counts, bytes, "push.period_bytes", "push_period_bytes",
		      "Memory of the period that lasts."),
};

const struct counters pushed_counters = COUNTERS(struct feed_counts, pushed_rows);

/* Of graphs that wait, and of profiles that wait in memory. */
static uint64_t push_bytes(const struct push_stats *push)
{
	uint64_t bytes = push->waiting_bytes;

	for (size_t i = 0; i < push->n_targets; i++)
		bytes += push->targets[i].memory_bytes;
	return bytes;
}

void daemon_counts_hold(const void *arg, struct memory_stats *ret)
{
	const struct daemon_counts *const counts = arg;

	ret->graphs += counts->watch.graph_bytes + counts->writer.waiting_bytes +
		       counts->writer.list_bytes + counts->windows.bytes +
		       counts->keeper.waiting_bytes + counts->pushes.bytes +
		       push_bytes(&counts->push);
	ret->queries += counts->http.web.answer_bytes + counts->http.web.work_bytes;
	ret->publish += counts->publish.waiting_bytes + counts->publish.kept_bytes;
}
