// SPDX-License-Identifier: Apache-2.0
/*
 * JVMs as JSON and as a table, see jvm_list.h.
 *
 * One file, because each object of the JSON is a function of a few lines, and who adds a counter
 * looks for the others.
 */
#include "inspect/jvm_list.h"

#include "base/clock.h"
#include "base/json_value.h"
#include "base/log.h"
#include "base/utf8.h"
#include "guard/heap.h"
#include "inspect/jvm_names.h"
#include "inspect/publish_list.h"
#include "inspect/push_list.h"
#include "inspect/self_stats.h"

#include <stdlib.h>
#include <string.h>

#define SHORT_ID 12

static json_t *losses_of(const struct jvm *jvm)
{
	json_t *losses = json_object();

	for (uint16_t reason = 1; losses && reason < WIRE_LOSS_REASONS; reason++) {
		if (jvm->lost[reason])
			json_object_set_new(losses, wire_loss_reason_name(reason),
					    json_integer((json_int_t)jvm->lost[reason]));
	}
	return losses;
}

/* Counts interpreted frames without a name, by reason. */
static json_t *unnamed_of(const struct jvm *jvm)
{
	json_t *unnamed = json_object();

	for (int reason = 0; unnamed && reason < JAVA_METHODS_REASONS; reason++) {
		if (jvm->unnamed_methods[reason])
			json_object_set_new(unnamed, java_methods_reason_name(reason),
					    json_integer((json_int_t)jvm->unnamed_methods[reason]));
	}
	return unnamed;
}

static const char *frame_pointer_of(const struct jvm *jvm)
{
	if (jvm->hello_flags & WIRE_HELLO_FP_SET)
		return "set by the agent";
	if (jvm->hello_flags & WIRE_HELLO_FP_WAS_ON)
		return "on";
	return "off";
}

/* How a probe is. Agents before the probes do not say whether their JVM has its events. */
static json_t *probe_state(const struct jvm *jvm, const char *offer, uint32_t on, uint32_t refused)
{
	int64_t is_offered;

	if (!jvm_hello_value(&jvm->hello, offer, &is_offered))
		return json_string("unknown");
	if (!is_offered)
		return json_string("not available");
	if (jvm->probes.flags & refused)
		return json_string("refused");
	return json_string(jvm->probes.flags & on ? "on" : "off");
}

static json_t *probes_of(const struct jvm *jvm)
{
	const struct wire_probes *probes = &jvm->probes;

	return json_pack(
		"{s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I}", "alloc",
		probe_state(jvm, "probes.alloc", WIRE_PROBES_ALLOC, WIRE_PROBES_ALLOC_REFUSED),
		"alloc_interval_bytes", (json_int_t)probes->alloc_interval, "alloc_events",
		(json_int_t)probes->alloc_events, "alloc_bytes", (json_int_t)probes->alloc_bytes,
		"alloc_watched", (json_int_t)probes->live_objects, "alloc_watch_level",
		(json_int_t)probes->live_level, "lock",
		probe_state(jvm, "probes.lock", WIRE_PROBES_LOCK, WIRE_PROBES_LOCK_REFUSED),
		"lock_events", (json_int_t)probes->lock_events, "lock_ns",
		(json_int_t)probes->lock_ns);
}

json_t *jvm_list_row(const struct process *process, const struct targets *targets)
{
	const char *const map_dir = targets->map_dir;
	const struct jvm *jvm = process->jvm;
	struct code_map_stats code;
	json_t *object = json_object();
	const struct perf_map_name name = process->map.is_beside
						  ? perf_map_name_beside(process->pid)
						  : perf_map_name_of(process->pid);
	char map[PATH_MAX];

	if (!object)
		return NULL;
	code_map_stats(process->code, &code);
	snprintf(map, sizeof(map), "%s/%s", map_dir, name.text);
	json_object_set_new(object, "pid", json_integer(process->pid));
	json_object_set_new(object, "inner_pid", json_integer(process->inner_pid));
	json_object_set_new(object, "container", json_value_new_text(process->container_id));
	json_object_set_new(object, "state", json_value_new_text(jvm_state_name(jvm->state)));
	json_object_set_new(object, "agent",
			    json_value_new_text(jvm->is_dialled ? "listens" : "dials"));
	json_object_set_new(object, "command",
			    json_value_new_text(process_attr(process, "java.command")));
	json_object_set_new(object, "comm", json_value_new_text(process->comm));
	json_object_set_new(object, "host_name",
			    json_value_new_text(process_attr(process, "host.name")));
	json_object_set_new(object, "jvm", json_value_new_text(process_attr(process, "jvm.name")));
	json_object_set_new(object, "jvm_version",
			    json_value_new_text(process_attr(process, "jvm.version")));
	json_object_set_new(object, "agent_version",
			    json_value_new_text(process_attr(process, "agent.version")));
	json_object_set_new(object, "frame_pointer", json_value_new_text(frame_pointer_of(jvm)));
	json_object_set_new(object, "code_ranges", json_integer((json_int_t)code.live));
	json_object_set_new(object, "loads", json_integer((json_int_t)code.loads));
	json_object_set_new(object, "unloads", json_integer((json_int_t)code.unloads));
	json_object_set_new(object, "evicted", json_integer((json_int_t)code.evicted));
	json_object_set_new(object, "expired", json_integer((json_int_t)code.expired));
	json_object_set_new(object, "rejected", json_integer((json_int_t)code.rejected));
	json_object_set_new(object, "resyncs", json_integer(jvm->resyncs));
	json_object_set_new(object, "lost_by_agent", losses_of(jvm));
	json_object_set_new(object, "gaps", json_integer((json_int_t)jvm->gaps));
	json_object_set_new(object, "bad_records", json_integer((json_int_t)jvm->bad_records));
	json_object_set_new(object, "unknown_records",
			    json_integer((json_int_t)jvm->unknown_records));
	json_object_set_new(object, "name_limit_hits",
			    json_integer((json_int_t)jvm->name_limit_hits));
	json_object_set_new(object, "code_bytes",
			    json_integer((json_int_t)process_code_bytes(process)));
	json_object_set_new(object, "lost_inline_tables",
			    json_integer((json_int_t)jvm->lost_inlines));
	json_object_set_new(object, "lost_frame_facts", json_integer((json_int_t)jvm->lost_frames));
	json_object_set_new(object, "interpreted_methods",
			    json_integer((json_int_t)process->java_methods.by_addr.count));
	json_object_set_new(object, "unnamed_interpreted", unnamed_of(jvm));
	json_object_set_new(object, "probes", probes_of(jvm));
	json_object_set_new(object, "map", json_value_new_text(map));
	json_object_set_new(object, "map_bytes",
			    json_integer((json_int_t)map_writer_bytes(&process->map)));
	json_object_set_new(object, "map_cut", json_integer((json_int_t)process->map.cut));
	json_object_set_new(object, "dropped_mappings",
			    json_integer((json_int_t)process->space.dropped));
	json_object_set_new(object, "map_failures",
			    json_integer((json_int_t)process->map.failures));
	json_object_set_new(object, "shadowed_by", json_value_new_text(process->shadow_path));
	json_object_set_new(object, "shadow_is_used", json_boolean(process->shadow_is_used));
	jvm_names_add(object, process);
	return object;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *pa = *(const struct process *const *)a;
	const struct process *pb = *(const struct process *const *)b;

	return (pa->pid > pb->pid) - (pa->pid < pb->pid);
}

static json_t *jvms_of(const struct targets *targets)
{
	const struct process **sorted = malloc((targets->processes.count + 1) * sizeof(*sorted));
	json_t *list = json_array();
	const struct process *process;
	size_t pos = 0, n = 0;

	if (!sorted || !list) {
		free(sorted);
		json_decref(list);
		return NULL;
	}
	while ((process = targets_next(targets, &pos))) {
		if (process->jvm)
			sorted[n++] = process;
	}
	qsort(sorted, n, sizeof(*sorted), by_pid);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, jvm_list_row(sorted[i], targets));
	free(sorted);
	return list;
}

static json_t *stacks_of(const struct unwinder_stats *stacks)
{
	json_t *ends = json_object();

	for (int end = 0; ends && end < STACK_ENDS; end++)
		json_object_set_new(ends, stack_end_name((enum stack_end)end),
				    json_integer((json_int_t)stacks->ends[end]));
	return json_pack(
		"{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "ends", ends, "joined",
		(json_int_t)stacks->joined, "extended", (json_int_t)stacks->extended, "doubtful",
		(json_int_t)stacks->doubtful, "reads", (json_int_t)stacks->reads, "unread_code",
		(json_int_t)stacks->unread_code, "unread_stacks", (json_int_t)stacks->unread_stacks,
		"unread_instructions", (json_int_t)stacks->unread_instructions, "in_heap",
		(json_int_t)stacks->in_heap, "heap_gaps", (json_int_t)stacks->heap_gaps);
}

static json_t *guarded_of(const struct guard_stats *guard)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "unanswered", (json_int_t)guard->unanswered,
			 "late_calls", (json_int_t)guard->late_calls, "paused_calls",
			 (json_int_t)guard->paused_calls, "left_calls",
			 (json_int_t)guard->left_calls);
}

static json_t *parsers_of(const struct zygote_stats *parsers)
{
	return json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "running", parsers->is_running,
			 "uid", (json_int_t)parsers->uid, "started", (json_int_t)parsers->started,
			 "killed", (json_int_t)parsers->killed, "died", (json_int_t)parsers->died,
			 "forbidden", (json_int_t)parsers->forbidden, "not_started",
			 (json_int_t)parsers->not_started, "restarted",
			 (json_int_t)parsers->restarted);
}

static json_t *tables_of(const struct table_stats *stats)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "tables",
			 (json_int_t)stats->tables, "failed", (json_int_t)stats->failed, "bytes",
			 (json_int_t)stats->bytes, "loads", (json_int_t)stats->loads, "load_ms",
			 (json_int_t)(stats->load_ns / CLOCK_NS_PER_MS), "loading",
			 (json_int_t)stats->loading, "hits", (json_int_t)stats->hits, "evicted",
			 (json_int_t)stats->evicted, "put_off", (json_int_t)stats->put_off, "stuck",
			 (json_int_t)stats->stuck);
}

static json_t *probe_tables_of(const struct table_stats *stats)
{
	json_t *tables = tables_of(stats);

	if (tables)
		json_object_set_new(tables, "points_left_out",
				    json_integer((json_int_t)stats->left_out));
	return tables;
}

static json_t *symbol_tables_of(const struct engine_stats *stats)
{
	const struct debuginfod_stats *debuginfod = &stats->debuginfod;
	json_t *tables = tables_of(&stats->symbol_tables);

	if (tables)
		json_object_set_new(tables, "debuginfod",
				    json_pack("{s:I, s:I, s:I, s:I}", "asked",
					      (json_int_t)debuginfod->asked, "found",
					      (json_int_t)debuginfod->found, "failed",
					      (json_int_t)debuginfod->failed, "left_out",
					      (json_int_t)debuginfod->left_out));
	return tables;
}

static json_t *mangled_names_of(const struct demangler_stats *stats)
{
	return json_pack("{s:I, s:I}", "asked", (json_int_t)stats->asked, "left",
			 (json_int_t)stats->left);
}

static json_t *files_of(const struct table_cache_stats *stats)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "max_table_bytes",
			 (json_int_t)stats->max_bytes, "known", (json_int_t)stats->files,
			 "descriptors", (json_int_t)stats->descriptors, "max_descriptors",
			 (json_int_t)stats->max_descriptors, "descriptors_closed",
			 (json_int_t)stats->descriptors_closed, "opened", (json_int_t)stats->opened,
			 "unopened", (json_int_t)stats->unopened, "not_loaded_ahead",
			 (json_int_t)stats->not_begun);
}

/* What the reading of threads for wall and offcpu has cost and lost. */
static json_t *threads_of(const struct recording_counts *counts)
{
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"ticks", (json_int_t)counts->ticks, "late_ticks", (json_int_t)counts->late_ticks,
		"failed_ticks", (json_int_t)counts->failed_ticks, "readings_lost",
		(json_int_t)counts->readings_lost, "time_dropped_us",
		(json_int_t)counts->time_dropped_us, "stacks_dropped",
		(json_int_t)counts->stacks_dropped, "left_out",
		(json_int_t)counts->threads_left_out, "stackless_processes",
		(json_int_t)counts->stackless_processes, "waits", (json_int_t)counts->waits_ended,
		"waits_chosen", (json_int_t)counts->waits_chosen, "waits_lost",
		(json_int_t)counts->waits_lost, "waits_refused", (json_int_t)counts->waits_refused,
		"waits_unread", (json_int_t)counts->waits_unread, "waits_unended",
		(json_int_t)counts->waits_unended, "waits_left_out",
		(json_int_t)counts->waits_left_out, "waker_stacks_lost",
		(json_int_t)counts->waker_stacks_lost);
}

/* What became of samples of probes. */
static json_t *probe_samples_of(const struct recording_counts *counts)
{
	const struct recording_live *const live = &counts->live;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I}}", "lost",
			 (json_int_t)counts->probe_lost, "merged", (json_int_t)counts->probe_merged,
			 "senseless", (json_int_t)counts->probe_senseless, "parked_elsewhere",
			 (json_int_t)counts->parked_elsewhere, "lock_waits_left_out",
			 (json_int_t)counts->lock_waits_left_out, "live", "watched",
			 (json_int_t)live->watched, "dead", (json_int_t)live->dead, "unwatched",
			 (json_int_t)live->unwatched, "left_out", (json_int_t)live->left_out,
			 "lost", (json_int_t)live->lost);
}

static json_t *recordings_of(const struct engine_stats *stats)
{
	const struct recording_counts *counts = &stats->recordings;

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
			 "sampler", stats->sampler ? stats->sampler : "", "samples_waited",
			 (json_int_t)counts->waits, "samples_hurried", (json_int_t)counts->hurried,
			 "process_records", (json_int_t)counts->heard, "process_records_lost",
			 (json_int_t)counts->lost, "processes_unread", (json_int_t)counts->unread,
			 "processes_reread", (json_int_t)counts->reread, "rereads_put_off",
			 (json_int_t)counts->reread_put_off, "samples_merged",
			 (json_int_t)counts->merged, "samples_with_unread_pages",
			 (json_int_t)counts->unread_pages, "processes_unlisted",
			 (json_int_t)counts->unlisted, "threads", threads_of(counts), "probes",
			 probe_samples_of(counts));
}

static json_t *native_lines_of(const struct native_lines_stats *stats)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "files", (json_int_t)stats->files, "answers",
			 (json_int_t)stats->answers, "late", (json_int_t)stats->late, "failed",
			 (json_int_t)stats->failed, "forgotten", (json_int_t)stats->forgotten);
}

static json_t *foreign_maps_of(const struct foreign_upkeep *foreign)
{
	const struct foreign_reader_stats *stats = &foreign->stats;
	const struct foreign_text_stats *text = &stats->maps.text;

	return json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"open", (json_int_t)foreign->files, "ranges", (json_int_t)foreign->ranges, "bytes",
		(json_int_t)foreign->bytes, "opened", (json_int_t)stats->files, "read_bytes",
		(json_int_t)stats->read_bytes, "lines", (json_int_t)text->lines, "broken_lines",
		(json_int_t)text->broken, "cut_names", (json_int_t)text->cut, "refused_lines",
		(json_int_t)stats->maps.refused, "refused_files", (json_int_t)stats->refused,
		"too_large", (json_int_t)stats->unread, "restarts", (json_int_t)stats->restarts,
		"put_off", (json_int_t)foreign->put_off, "lost_pieces", (json_int_t)stats->lost,
		"delayed_pieces", (json_int_t)stats->delayed);
}

static json_t *kernel_of(const struct kernel_code_stats *stats)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "symbols", (json_int_t)stats->symbols,
			 "reads", (json_int_t)stats->reads, "late", (json_int_t)stats->late, "told",
			 (json_int_t)stats->told, "lost", (json_int_t)stats->lost, "unnamed",
			 (json_int_t)stats->unnamed);
}

static json_t *outreach_of(const struct outreach_stats *stats)
{
	const struct finder_stats *finder = &stats->finder;

	return json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "known",
		(json_int_t)stats->agents, "connected", (json_int_t)stats->reached, "dialled",
		(json_int_t)stats->dialled, "failed", (json_int_t)stats->failed, "not_theirs",
		(json_int_t)stats->not_theirs, "refused", (json_int_t)stats->refused, "evicted",
		(json_int_t)stats->evicted, "rounds", (json_int_t)finder->rounds, "processes_read",
		(json_int_t)finder->looks, "processes_denied", (json_int_t)finder->denied,
		"too_large", (json_int_t)finder->too_large, "put_off", (json_int_t)finder->put_off,
		"not_looked_at", (json_int_t)(finder->untracked + finder->unexpected), "search_ms",
		(json_int_t)(finder->spent_ns / CLOCK_NS_PER_MS));
}

static void put_count(json_t *object, const char *key, uint64_t count)
{
	json_object_set_new(object, key, json_integer((json_int_t)count));
}

static json_t *daemon_of(const struct daemon_stats *stats)
{
	const struct graph_writer_stats *writer = &stats->writer;
	const struct web_stats *const web = &stats->http.web;
	json_t *object = json_object();

	put_count(object, "sampling", stats->is_sampling);
	put_count(object, "hz", stats->hz);
	put_count(object, "samples", stats->samples);
	put_count(object, "heard", stats->heard);
	put_count(object, "unwanted", stats->unwanted);
	put_count(object, "waiting", stats->waiting);
	put_count(object, "unkept", stats->unkept);
	put_count(object, "lost_samples", stats->lost_samples);
	put_count(object, "left_out", stats->left_out);
	put_count(object, "processless", stats->processless);
	put_count(object, "tool_graphs", stats->tool_graphs);
	put_count(object, "tool_samples", stats->tool_samples);
	put_count(object, "stackless_samples", stats->stackless_samples);
	put_count(object, "periods", stats->periods);
	put_count(object, "periods_cut_short", stats->periods_cut_short);
	put_count(object, "graphs", stats->graphs);
	put_count(object, "graph_bytes", stats->graph_bytes);
	put_count(object, "graphs_written", writer->written);
	put_count(object, "graphs_failed", writer->failed);
	put_count(object, "graphs_dropped", writer->dropped);
	put_count(object, "waiting_bytes", writer->waiting_bytes);
	put_count(object, "files", writer->files);
	put_count(object, "file_bytes", writer->file_bytes);
	put_count(object, "files_removed", writer->removed);
	put_count(object, "scrapes", stats->http.scrapes);
	put_count(object, "http_refused", stats->http.refused);
	put_count(object, "http_misdirected", stats->http.misdirected);
	put_count(object, "http_evicted", stats->http.evicted);
	put_count(object, "http_expired", stats->http.expired);
	put_count(object, "http_unfinished", stats->http.unfinished);
	put_count(object, "http_connections", stats->http.connections);
	put_count(object, "http_open", stats->http.open);
	put_count(object, "http_denied", stats->http.denied);
	put_count(object, "http_crowded", stats->http.crowded);
	put_count(object, "queries", web->queries);
	put_count(object, "queries_refused", web->refused);
	put_count(object, "queries_cancelled", web->cancelled);
	put_count(object, "queries_failed", web->failed);
	put_count(object, "query_ms", web->time_ns / CLOCK_NS_PER_MS);
	put_count(object, "queries_waiting", web->waiting);
	put_count(object, "queries_begun", web->begun);
	put_count(object, "query_answer_bytes", web->answer_bytes);
	return object;
}

static json_t *store_of(const struct daemon_stats *stats)
{
	const struct store_keeper_stats *const keeper = &stats->keeper;
	const struct store_stats *const store = &keeper->store;
	json_t *object = json_object();

	put_count(object, "periods", stats->windows);
	put_count(object, "periods_cut_short", stats->windows_cut_short);
	put_count(object, "samples_left_out", stats->windows_left_out);
	put_count(object, "window_bytes", stats->window_bytes);
	put_count(object, "waiting_bytes", keeper->waiting_bytes);
	put_count(object, "windows_written", store->written);
	put_count(object, "windows_failed", store->failed);
	put_count(object, "windows_dropped", keeper->dropped);
	put_count(object, "merges", store->merged);
	put_count(object, "merges_failed", store->merges_failed);
	put_count(object, "segments", store->segments);
	put_count(object, "segment_bytes", store->segment_bytes);
	put_count(object, "index_bytes", store->index_bytes);
	put_count(object, "segments_removed", store->removed);
	put_count(object, "segments_damaged", store->damaged);
	put_count(object, "segments_missing", store->missing);
	put_count(object, "segments_adopted", store->adopted);
	put_count(object, "files_swept", store->swept);
	return object;
}

static json_t *kept_of(const struct targets *targets, const struct engine_stats *all)
{
	const struct kept_stats *stats = &all->kept;
	json_t *object = json_object();

	put_count(object, "processes", stats->processes);
	put_count(object, "max_processes", TARGETS_MAX_PROCESSES);
	put_count(object, "processes_refused", targets->refused_processes);
	put_count(object, "jvms", stats->jvms);
	put_count(object, "max_jvms", TARGETS_MAX_JVMS);
	put_count(object, "sessions", stats->sessions);
	put_count(object, "code_bytes", stats->code_bytes);
	put_count(object, "max_code_bytes", targets->max_bytes);
	put_count(object, "jvms_dropped", targets->dropped_jvms);
	put_count(object, "buffer_bytes", all->intake.buffer_bytes);
	put_count(object, "mappings", stats->mappings);
	put_count(object, "file_mappings", all->files.mappings);
	put_count(object, "files_forgotten", all->files.forgotten);
	put_count(object, "name_bytes", stats->name_bytes);
	put_count(object, "names_forgotten", stats->names_forgotten);
	put_count(object, "stack_remainder_bytes", all->stacks.remainder_bytes);
	put_count(object, "stack_remainders_dropped", all->stacks.dropped_remainders);
	put_count(object, "heap_stack_bytes", all->stacks.heap_stack_bytes);
	put_count(object, "heap_stacks_dropped", all->stacks.dropped_heap_stacks);
	put_count(object, "clients_refused", stats->refused_clients);
	put_count(object, "threads", stats->threads);
	put_count(object, "thread_names", stats->thread_names);
	put_count(object, "threads_forgotten", stats->threads_forgotten);
	put_count(object, "interpreted_methods", stats->interpreted_methods);
	put_count(object, "held_bytes", stats->held_bytes);
	put_count(object, "held_dropped", stats->held_dropped);
	put_count(object, "recordings", stats->recordings);
	put_count(object, "max_recordings", ENGINE_MAX_RECORDINGS);
	return object;
}

static json_t *memory_of(const struct memory_stats *memory)
{
	json_t *object = json_object();

	put_count(object, "limit", memory->limit);
	put_count(object, "accounted", memory->accounted);
	put_count(object, "allocated", heap_allocated(clock_now_ns()));
	put_count(object, "resident", heap_resident());
	put_count(object, "processes", memory->processes);
	put_count(object, "dying", memory->dying);
	put_count(object, "messages", memory->messages);
	put_count(object, "tables", memory->tables);
	put_count(object, "held", memory->held);
	put_count(object, "trees", memory->trees);
	put_count(object, "windows", memory->windows);
	put_count(object, "captures", memory->captures);
	put_count(object, "graphs", memory->graphs);
	put_count(object, "names", memory->names);
	put_count(object, "stacks", memory->stacks);
	put_count(object, "files", memory->files);
	put_count(object, "kernel", memory->kernel);
	put_count(object, "lines", memory->lines);
	put_count(object, "containers", memory->containers);
	put_count(object, "agents", memory->agents);
	put_count(object, "lists", memory->lists);
	put_count(object, "publish", memory->publish);
	put_count(object, "queries", memory->queries);
	put_count(object, "given_back", memory->given_back);
	put_count(object, "longest_give_back_us", memory->longest_give_back_ns / CLOCK_NS_PER_US);
	return object;
}

/* What this process itself uses. */
static json_t *self_of(void)
{
	json_t *object = json_object();
	struct self_stats self;

	self_stats_read(&self);
	put_count(object, "resident_bytes", self.resident_bytes);
	put_count(object, "descriptors", self.descriptors);
	put_count(object, "threads", self.threads);
	return object;
}

/* Cumulative, as Prometheus has histograms. */
static json_t *turns_of(const struct turns *turns)
{
	json_t *object = json_object(), *within = json_object(), *stages = json_object();

	put_count(object, "count", turns->count);
	put_count(object, "sum_us", turns->sum_ns / CLOCK_NS_PER_US);
	put_count(object, "longest_us", turns->longest_ns / CLOCK_NS_PER_US);
	put_count(object, "longest_cpu_us", turns->longest_cpu_ns / CLOCK_NS_PER_US);
	for (size_t i = 0; i < TURN_BUCKETS; i++)
		put_count(within, turn_bucket_text(i), turns->within[i]);
	put_count(within, "+Inf", turns->count);
	json_object_set_new(object, "within", within);
	for (enum turn_stage stage = 0; stage < TURN_STAGES; stage++)
		put_count(stages, turn_stage_name(stage),
			  turns->longest_stage_ns[stage] / CLOCK_NS_PER_US);
	json_object_set_new(object, "longest_stage_us", stages);
	return object;
}

static json_t *perf_maps_of(const struct map_store_stats *stats)
{
	json_t *object = json_object();

	put_count(object, "bytes", stats->room.live_bytes);
	put_count(object, "limit_bytes", stats->room.limit_bytes);
	put_count(object, "kept", stats->kept);
	put_count(object, "kept_bytes", stats->room.kept_bytes);
	put_count(object, "removed", stats->removed);
	return object;
}

static void put_daemon(json_t *list, const struct targets *targets,
		       const struct engine_stats *stats)
{
	json_t *collector = json_object_get(list, "collector");

	json_object_set_new(collector, "watch", daemon_of(&stats->daemon));
	json_object_set_new(collector, "store", store_of(&stats->daemon));
	json_object_set_new(collector, "push", push_list(&stats->daemon));
	json_object_set_new(collector, "publish", publish_list(&stats->daemon.publish));
	json_object_set_new(collector, "kept", kept_of(targets, stats));
	json_object_set_new(collector, "self", self_of());
	json_object_set_new(collector, "memory", memory_of(&stats->memory));
	json_object_set_new(collector, "listening_agents", outreach_of(&stats->outreach));
	json_object_set_new(collector, "log",
			    json_pack("{s:I}", "left_out", (json_int_t)log_left_out()));
	json_object_set_new(collector, "guarded", guarded_of(&stats->guard));
	json_object_set_new(collector, "parsers", parsers_of(&stats->parsers));
	json_object_set_new(collector, "mangled_names", mangled_names_of(&stats->demangler));
	put_count(collector, "evicted_connections", stats->intake.evicted);
	json_object_set_new(collector, "turns", turns_of(&stats->turns));
	json_object_set_new(collector, "perf_maps", perf_maps_of(&targets->maps.stats));
}

json_t *jvm_list_to_json(const struct targets *targets, const struct engine_stats *stats)
{
	return jvm_list_with(jvms_of(targets), targets, stats);
}

json_t *jvm_list_with(json_t *rows, const struct targets *targets, const struct engine_stats *stats)
{
	const struct intake_stats *intake = &stats->intake;
	struct jitdump_stats dump = {0};
	json_t *list;

	if (targets->jitdump)
		jitdump_stats(targets->jitdump, &dump);
	list = json_pack(
		"{s:o, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:o, s:o}}",
		"jvms", rows, "collector", "refused_connections", (json_int_t)intake->refused,
		"refused_sessions", (json_int_t)targets->refused_sessions, "broken_messages",
		(json_int_t)intake->broken, "other_versions", (json_int_t)intake->other_version,
		"sequence_gaps", (json_int_t)intake->gaps, "map_failures",
		(json_int_t)targets->map_failures, "jitdump_written", (json_int_t)dump.written,
		"jitdump_skipped", (json_int_t)dump.skipped, "stacks", stacks_of(&stats->stacks),
		"unwind_tables", tables_of(&stats->unwind_tables), "symbol_tables",
		symbol_tables_of(stats), "files", files_of(&stats->files), "recordings",
		recordings_of(stats), "native_lines", native_lines_of(&stats->native_lines),
		"foreign_maps", foreign_maps_of(&targets->foreign), "kernel",
		kernel_of(&stats->kernel));
	if (!list)
		return NULL;
	json_object_set_new(json_object_get(list, "collector"), "probe_tables",
			    probe_tables_of(&stats->probe_tables));
	put_count(json_object_get(list, "collector"), "second_agents", targets->second_agents);
	put_count(json_object_get(list, "collector"), "second_agent_records",
		  targets->second_agent_records);
	json_object_set_new(json_object_get(list, "collector"), "containers",
			    jvm_names_stats(targets));
	put_daemon(list, targets, stats);
	return list;
}

/* Writes at most width characters, and pads with spaces if pad. utf8.h says what becomes '?'. */
static void print_text(FILE *stream, const char *text, int width, bool pad)
{
	size_t left = strlen(text);
	int shown = 0;

	for (; left > 0 && shown < width; shown++) {
		uint32_t code;
		const size_t n = utf8_next(text, left, &code);

		if (code == UTF8_BAD)
			putc('?', stream);
		else
			fwrite(text, 1, n, stream);
		text += n;
		left -= n;
	}
	for (; pad && shown < width; shown++)
		putc(' ', stream);
}

/*
 * Adds a loss that an agent reports, which may be any number. A sum that is too large stays at
 * INT64_MAX.
 */
static void add_loss(uint64_t *sum, json_int_t value)
{
	const uint64_t count = value < 0 ? INT64_MAX : (uint64_t)value;

	*sum = *sum + count < INT64_MAX ? *sum + count : INT64_MAX;
}

static uint64_t losses_at(const json_t *object)
{
	json_t *losses = json_object_get(object, "lost_by_agent"), *value;
	uint64_t sum = 0;
	const char *key;

	add_loss(&sum, json_value_int(object, "gaps"));
	add_loss(&sum, json_value_int(object, "bad_records"));
	add_loss(&sum, json_value_int(object, "rejected"));
	add_loss(&sum, json_value_int(object, "name_limit_hits"));
	add_loss(&sum, json_value_int(object, "lost_inline_tables"));
	add_loss(&sum, json_value_int(object, "lost_frame_facts"));
	add_loss(&sum, json_value_int(object, "map_cut"));
	add_loss(&sum, json_value_int(object, "dropped_mappings"));
	json_object_foreach (losses, key, value)
		add_loss(&sum, json_integer_value(value));
	return sum;
}

static void print_shadow(const json_t *jvm, FILE *stream)
{
	const char *const path = json_value_text(jvm, "shadowed_by");

	if (!path[0])
		return;
	fprintf(stream, "%8s there is another ", "");
	print_text(stream, path, 200, false);
	if (json_is_true(json_object_get(jvm, "shadow_is_used")))
		fprintf(stream, ", which perf reads rather than our map: leave it if a second code "
				"generator of the process writes it\n");
	else
		fprintf(stream,
			": perf prefers it to our map, even when it is empty: remove it\n");
}

static void print_jvm(const json_t *jvm, FILE *stream)
{
	const char *command = json_value_text(jvm, "command"),
		   *container = json_value_text(jvm, "container");

	fprintf(stream, "%8lld %6lld  ", json_value_int(jvm, "pid"),
		json_value_int(jvm, "inner_pid"));
	print_text(stream, container[0] ? container : "-", SHORT_ID, true);
	fprintf(stream, "  %-12s  %-7s  ", json_value_text(jvm, "state"),
		json_value_text(jvm, "agent"));
	print_text(stream, json_value_text(jvm, "jvm_version"), 20, true);
	fprintf(stream, " %8lld %6llu  ", json_value_int(jvm, "code_ranges"),
		(unsigned long long)losses_at(jvm));
	print_text(stream, command[0] ? command : json_value_text(jvm, "comm"), 120, false);
	putc('\n', stream);
	jvm_names_print(jvm, stream);
	print_shadow(jvm, stream);
}

/* Writes "collector: 3 refused connections, 1 broken messages", or nothing. */
static void print_counters(const json_t *counters, FILE *stream)
{
	const char *separator = "collector: ", *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)counters, key, value) {
		if (json_integer_value(value) == 0 || strcmp(key, "jitdump_written") == 0)
			continue; /* that counter is not a loss */
		fprintf(stream, "%s%lld ", separator, (long long)json_integer_value(value));
		for (const char *p = key; *p; p++)
			putc(*p == '_' ? ' ' : *p, stream);
		separator = ", ";
	}
	if (separator[0] == ',')
		putc('\n', stream);
}

void jvm_list_print(const json_t *list, FILE *stream)
{
	const json_t *jvms = json_object_get(list, "jvms");
	json_t *jvm;
	size_t i;

	if (json_array_size(jvms) > 0)
		fprintf(stream, "%8s %6s  %-12s  %-12s  %-7s  %-20s %8s %6s  %s\n", "PID", "INNER",
			"CONTAINER", "STATE", "AGENT", "JVM", "METHODS", "LOST", "COMMAND");
	json_array_foreach (jvms, i, jvm) {
		print_jvm(jvm, stream);
	}
	print_counters(json_object_get(list, "collector"), stream);
}
