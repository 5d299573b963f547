// SPDX-License-Identifier: Apache-2.0
/* What the tables of files count, see table_cache.h. */
#include "files/table_cache.h"

static const struct counter counters[] = {
	COUNTER_GAUGE(struct table_cache_stats, max_bytes, "files.max_table_bytes",
		      "table_limit_bytes", "Memory that all tables of files may take."),
	COUNTER_GAUGE(struct table_cache_stats, files, "files.known", "files",
		      "Files of mappings that are known."),
	COUNTER_GAUGE(struct table_cache_stats, descriptors, "files.descriptors",
		      "file_descriptors", "Descriptors of files that are held."),
	COUNTER_GAUGE(struct table_cache_stats, max_descriptors, "files.max_descriptors",
		      "file_descriptors_limit", "The most descriptors of files that are held."),
	COUNTER_SUM(struct table_cache_stats, descriptors_closed, "files.descriptors_closed",
		    "file_descriptors_closed_total",
		    "Descriptors that were closed for want of room."),
	COUNTER_SUM(struct table_cache_stats, opened, "files.opened", "files_opened_total",
		    "Files that were opened."),
	COUNTER_SUM(struct table_cache_stats, unopened, "files.unopened", "files_unopened_total",
		    "Files that could not be opened."),
	COUNTER_SUM(struct table_cache_stats, not_begun, "files.not_loaded_ahead",
		    "files_not_loaded_ahead_total", "Loads ahead of need that were left."),
	COUNTER_GAUGE(struct table_cache_stats, mappings, "kept.file_mappings", "file_mappings",
		      "Mappings of which it is known what file they are of."),
	COUNTER_SUM(struct table_cache_stats, forgotten, "kept.files_forgotten",
		    "files_forgotten_total",
		    "Times that the files of a container or user were forgotten because all were "
		    "too many."),
};

const struct counters table_cache_counters = COUNTERS(struct table_cache_stats, counters);

/* The tables of one kind. name is the kind's in keys, and of what its tables are made. */
#define TABLE_COUNTERS(name, of)                                                                   \
	COUNTER_GAUGE(struct table_stats, tables, name "_tables.tables", name "_tables",           \
		      "Tables of " of " that are kept."),                                          \
		COUNTER_SUM(struct table_stats, failed, name "_tables.failed",                     \
			    name "_table_failures_total",                                          \
			    "Mappings for which there is no table of " of "."),                    \
		COUNTER_GAUGE(struct table_stats, bytes, name "_tables.bytes",                     \
			      name "_table_bytes", "Memory of tables of " of "."),                 \
		COUNTER_SUM(struct table_stats, loads, name "_tables.loads",                       \
			    name "_table_loads_total", "Tables of " of " that were made."),        \
		COUNTER_SUM(struct table_stats, load_ns, name "_tables.load_ms",                   \
			    name "_table_load_seconds_total",                                      \
			    "Time that making tables of " of " took.", .unit = COUNTER_NS_IN_MS),  \
		COUNTER_GAUGE(struct table_stats, stuck, name "_tables.stuck",                     \
			      name "_tables_stuck",                                                \
			      "Tables of " of " whose file does not answer."),                     \
		COUNTER_GAUGE(struct table_stats, loading, name "_tables.loading",                 \
			      name "_tables_loading", "Tables of " of " that are being made."),    \
		COUNTER_SUM(struct table_stats, hits, name "_tables.hits",                         \
			    name "_table_hits_total",                                              \
			    "Answers of tables of " of " that were there."),                       \
		COUNTER_SUM(struct table_stats, evicted, name "_tables.evicted",                   \
			    name "_table_evictions_total",                                         \
			    "Tables of " of " that went for want of room."),                       \
		COUNTER_SUM(struct table_stats, put_off, name "_tables.put_off",                   \
			    name "_table_put_off_total",                                           \
			    "Answers that were put off because a table of " of " had just gone.")

static const struct counter unwind_rows[] = {TABLE_COUNTERS("unwind", "unwind rules")};
static const struct counter symbol_rows[] = {TABLE_COUNTERS("symbol", "symbols")};
static const struct counter probe_rows[] = {
	TABLE_COUNTERS("probe", "probe points"),
	COUNTER_GAUGE(struct table_stats, left_out, "probe_tables.points_left_out",
		      "probe_points_left_out",
		      "Probe points of files that lead nowhere or are too many."),
};

const struct counters unwind_table_counters = COUNTERS(struct table_stats, unwind_rows);
const struct counters symbol_table_counters = COUNTERS(struct table_stats, symbol_rows);
const struct counters probe_table_counters = COUNTERS(struct table_stats, probe_rows);
