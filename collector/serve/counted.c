// SPDX-License-Identifier: Apache-2.0
/*
 * Asks all parts what they count, see counted.h.
 *
 * A function for each table returns the struct of which the table is: the part's own, or a copy in
 * the room; NULL where the part is not there.
 */
#include "serve/counted.h"

#include "base/log.h"
#include "confine/zygote.h"
#include "inspect/self_stats.h"

struct source {
	const struct engine *engine;
	const struct daemon_counts *counts;
};

union room {
	struct intake_stats intake;
	struct jitdump_stats jitdump;
	struct unwinder_stats stacks;
	struct debuginfod_stats debuginfod;
	struct table_stats tables;
	struct table_cache_stats files;
	struct recording_counts recordings;
	struct native_lines_stats native_lines;
	struct kernel_code_stats kernel;
	struct containers_stats containers;
	struct kept_stats kept;
	struct self_stats self;
	struct memory_stats memory;
	struct dialer_stats dialer;
	struct log_stats log;
	struct guard_stats guard;
	struct zygote_stats parsers;
	struct demangler_stats demangler;
	struct dump_queue_stats dump;
};

static const void *intake(const struct source *from, union room *room)
{
	intake_stats(from->engine->intake, &room->intake);
	return room;
}

static const void *targets(const struct source *from, union room *room)
{
	(void)room;
	return &from->engine->targets;
}

static const void *outputs(const struct source *from, union room *room)
{
	(void)room;
	return &from->engine->outputs;
}

static const void *jitdump(const struct source *from, union room *room)
{
	room->jitdump = (struct jitdump_stats){0};
	if (from->engine->outputs.jitdump)
		jitdump_stats(from->engine->outputs.jitdump, &room->jitdump);
	return room;
}

static const void *stacks(const struct source *from, union room *room)
{
	unwinder_stats(from->engine->unwinder, &room->stacks);
	return room;
}

static const void *unwind_tables(const struct source *from, union room *room)
{
	table_cache_table_stats(from->engine->tables, TABLE_UNWIND, &room->tables);
	return room;
}

static const void *symbol_tables(const struct source *from, union room *room)
{
	table_cache_table_stats(from->engine->tables, TABLE_SYMBOLS, &room->tables);
	return room;
}

static const void *debuginfod(const struct source *from, union room *room)
{
	symbolizer_debuginfod_stats(from->engine->symbolizer, &room->debuginfod);
	return room;
}

static const void *probe_tables(const struct source *from, union room *room)
{
	table_cache_table_stats(from->engine->tables, TABLE_PROBES, &room->tables);
	return room;
}

static const void *files(const struct source *from, union room *room)
{
	table_cache_stats(from->engine->tables, &room->files);
	return room;
}

static const void *recordings(const struct source *from, union room *room)
{
	engine_recording_counts(from->engine, &room->recordings);
	return room;
}

static const void *thread_clock(const struct source *from, union room *room)
{
	engine_recording_counts(from->engine, &room->recordings);
	return &room->recordings.clock;
}

static const void *thread_times(const struct source *from, union room *room)
{
	engine_recording_counts(from->engine, &room->recordings);
	return &room->recordings.clock.times;
}

static const void *wait_source(const struct source *from, union room *room)
{
	engine_recording_counts(from->engine, &room->recordings);
	return &room->recordings.clock.waits;
}

static const void *native_lines(const struct source *from, union room *room)
{
	symbolizer_lines_stats(from->engine->symbolizer, &room->native_lines);
	return room;
}

static const void *foreign_upkeep(const struct source *from, union room *room)
{
	(void)room;
	return &from->engine->targets.foreign;
}

static const void *outside(const struct source *from, union room *room)
{
	(void)room;
	return &from->engine->targets.outside.stats;
}

static const void *start_classes(const struct source *from, union room *room)
{
	(void)room;
	return &from->engine->targets.start_classes;
}

static const void *foreign_reader(const struct source *from, union room *room)
{
	(void)room;
	return &from->engine->targets.foreign.stats;
}

static const void *foreign_text(const struct source *from, union room *room)
{
	(void)room;
	return &from->engine->targets.foreign.stats.maps.text;
}

static const void *kernel(const struct source *from, union room *room)
{
	symbolizer_kernel_stats(from->engine->symbolizer, &room->kernel);
	return room;
}

static const void *containers(const struct source *from, union room *room)
{
	targets_count_containers(&from->engine->targets, &room->containers);
	return room;
}

static const void *watch(const struct source *from, union room *room)
{
	(void)room;
	return from->counts ? &from->counts->watch : NULL;
}

static const void *writer(const struct source *from, union room *room)
{
	(void)room;
	return from->counts ? &from->counts->writer : NULL;
}

static const void *http(const struct source *from, union room *room)
{
	(void)room;
	return from->counts ? &from->counts->http : NULL;
}

static const void *web(const struct source *from, union room *room)
{
	(void)room;
	return from->counts ? &from->counts->http.web : NULL;
}

static const void *windows(const struct source *from, union room *room)
{
	(void)room;
	return from->counts ? &from->counts->windows : NULL;
}

static const void *keeper(const struct source *from, union room *room)
{
	(void)room;
	return from->counts ? &from->counts->keeper : NULL;
}

static const void *store(const struct source *from, union room *room)
{
	(void)room;
	return from->counts ? &from->counts->keeper.store : NULL;
}

static const void *pushes(const struct source *from, union room *room)
{
	(void)room;
	return from->counts ? &from->counts->pushes : NULL;
}

static const void *push(const struct source *from, union room *room)
{
	(void)room;
	return from->counts ? &from->counts->push : NULL;
}

static const void *publish(const struct source *from, union room *room)
{
	(void)room;
	return from->counts ? &from->counts->publish : NULL;
}

static const void *kept(const struct source *from, union room *room)
{
	engine_kept_stats(from->engine, &room->kept);
	return room;
}

static const void *self(const struct source *from, union room *room)
{
	(void)from;
	self_stats_read(&room->self);
	return room;
}

static const void *memory(const struct source *from, union room *room)
{
	engine_memory_stats(from->engine, &room->memory);
	return room;
}

static const void *dialer(const struct source *from, union room *room)
{
	dialer_stats(&from->engine->dialer, &room->dialer);
	return room;
}

static const void *finder(const struct source *from, union room *room)
{
	dialer_stats(&from->engine->dialer, &room->dialer);
	return &room->dialer.finder;
}

static const void *logged(const struct source *from, union room *room)
{
	(void)from;
	log_stats(&room->log);
	return room;
}

static const void *guarded(const struct source *from, union room *room)
{
	guard_stats(from->engine->guard, &room->guard);
	return room;
}

static const void *parsers(const struct source *from, union room *room)
{
	(void)from;
	zygote_stats(&room->parsers);
	return room;
}

static const void *mangled_names(const struct source *from, union room *room)
{
	symbolizer_demangler_stats(from->engine->symbolizer, &room->demangler);
	return room;
}

static const void *dumped(const struct source *from, union room *room)
{
	if (!from->engine->dump.queue)
		return NULL;
	dump_queue_stats(from->engine->dump.queue, &room->dump);
	return room;
}

static const void *turns(const struct source *from, union room *room)
{
	(void)room;
	return &from->engine->turns;
}

static const void *perf_maps(const struct source *from, union room *room)
{
	(void)room;
	return &from->engine->outputs.store.stats;
}

static const struct {
	const struct counters *counters;
	const void *(*stats)(const struct source *from, union room *room);
} tables[] = {
	{&intake_counters, intake},
	{&targets_counters, targets},
	{&map_outputs_counters, outputs},
	{&jitdump_counters, jitdump},
	{&unwinder_counters, stacks},
	{&unwind_table_counters, unwind_tables},
	{&symbol_table_counters, symbol_tables},
	{&debuginfod_counters, debuginfod},
	{&probe_table_counters, probe_tables},
	{&table_cache_counters, files},
	{&recording_counters, recordings},
	{&thread_clock_counters, thread_clock},
	{&thread_times_counters, thread_times},
	{&wait_source_counters, wait_source},
	{&native_lines_counters, native_lines},
	{&foreign_upkeep_counters, foreign_upkeep},
	{&outside_counters, outside},
	{&start_classes_counters, start_classes},
	{&foreign_reader_counters, foreign_reader},
	{&foreign_text_counters, foreign_text},
	{&kernel_code_counters, kernel},
	{&containers_counters, containers},
	{&watch_counters, watch},
	{&graph_writer_counters, writer},
	{&http_counters, http},
	{&web_counters, web},
	{&window_counters, windows},
	{&store_keeper_counters, keeper},
	{&store_counters, store},
	{&pushed_counters, pushes},
	{&push_counters, push},
	{&push_target_counters, push},
	{&publish_counters, publish},
	{&kept_counters, kept},
	{&self_counters, self},
	{&memory_counters, memory},
	{&dialer_counters, dialer},
	{&finder_counters, finder},
	{&log_counters, logged},
	{&guard_counters, guarded},
	{&zygote_counters, parsers},
	{&demangler_counters, mangled_names},
	{&turns_counters, turns},
	{&dump_queue_counters, dumped},
	{&map_store_counters, perf_maps},
};

#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

const struct counters *counted_table(size_t which)
{
	return which < N_TABLES ? tables[which].counters : NULL;
}

static void put_balances(json_t *list)
{
	json_t *const balances = json_array();

	for (size_t i = 0; i < N_TABLES; i++)
		counters_put_balances(balances, tables[i].counters);
	json_object_set_new(list, "balances", balances);
}

json_t *counted_list(const struct engine *engine, const struct daemon_counts *counts)
{
	const struct source from = {.engine = engine, .counts = counts};
	json_t *const list = json_object();
	union room room;

	for (size_t i = 0; list && i < N_TABLES; i++)
		counters_put(list, tables[i].counters,
			     engine ? tables[i].stats(&from, &room) : NULL);
	if (!list)
		return NULL;
	put_balances(list);
	json_object_set_new(json_object_get(list, "recordings"), "sampler",
			    json_string(engine ? engine->sampler : ""));
	return list;
}
