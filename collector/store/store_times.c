// SPDX-License-Identifier: Apache-2.0
/* Reads times without stacks, see store_times.h. */
#include "store/store_times.h"

#include "base/cleanup.h"
#include "store/store_segment.h"
#include "store/store_steps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TRIES 3 /* the writer may put an hour in the place of its windows meanwhile */

/* Times are added only while they are in the range. */
struct reading {
	const struct store_reader *reader;
	const struct store_query *query;
	const struct store_times *times;
	struct store_reading *counts;
	uint64_t untimed;
};

static void add_time(void *arg, const struct store_time *time)
{
	const struct reading *const reading = arg;

	if (time->at_ns >= reading->query->range.from_ns &&
	    time->at_ns < reading->query->range.to_ns)
		reading->times->add(reading->times->arg, time);
}

/* Whether the index has the times, of steps that are fine enough. */
static bool read_steps(struct reading *reading, sqlite3_stmt *statement)
{
	const void *const data = sqlite3_column_blob(statement, 4);
	uint64_t untimed = 0;

	if (!reading->times->may_be_coarse || !data ||
	    store_steps_read(data, (size_t)sqlite3_column_bytes(statement, 4), add_time, reading,
			     &untimed) != 0)
		return false;
	reading->counts->segments++;
	reading->untimed += untimed;
	return true;
}

static int read_file(struct reading *reading, const char *name)
{
	uint64_t untimed = 0;
	int err;

	err = store_content_read_times(reading->reader->segments_fd, name, reading->query->kind,
				       add_time, reading, &untimed);
	if (!err)
		reading->untimed += untimed;
	return store_reading_count(reading->counts, name, err, NULL);
}

static int read_segment(struct reading *reading, sqlite3_stmt *statement)
{
	if (reading->query->is_over && reading->query->is_over(reading->query->arg))
		return -ECANCELED;
	return read_steps(reading, statement) ? 0
					      : read_file(reading, store_index_text(statement, 0));
}

/* Asks for the segments of a process that the range touches and that have the kind. */
static sqlite3_stmt *ask(const struct store_reader *reader, const struct store_range *range,
			 int64_t process, const char *kind)
{
	return store_index_ask(&reader->index,
			       "SELECT s.name, s.start_ns, s.end_ns, w.samples, t.weights"
			       " FROM segments s JOIN windows w ON w.segment = s.id AND w.kind = ?4"
			       " LEFT JOIN steps t ON t.segment = s.id AND t.kind = ?4"
			       " WHERE s.process = ?3 AND s.start_ns < ?1 AND s.end_ns > ?2"
			       " ORDER BY s.start_ns, s.id",
			       "iiit", store_list_time(range->to_ns),
			       store_list_time(range->from_ns), process, kind);
}

static int read_process(struct reading *reading, int64_t process)
{
	const struct store_query *const query = reading->query;
	_cleanup_(store_index_end) sqlite3_stmt *statement =
		ask(reading->reader, &query->range, process, query->kind);
	int code, err = 0;

	if (!statement)
		return store_index_error(sqlite3_errcode(reading->reader->index.db));
	while (!err && (code = sqlite3_step(statement)) == SQLITE_ROW)
		err = read_segment(reading, statement);
	return err ? err : store_index_error(code);
}

static int try_read(struct reading *reading)
{
	_cleanup_(store_list_fini) struct store_list list = {0};
	int err = store_reader_list(reading->reader, reading->query, &list);

	*reading->counts = (struct store_reading){.processes = list.n};
	reading->untimed = 0;
	reading->times->begin(reading->times->arg);
	for (size_t i = 0; !err && i < list.n; i++)
		err = read_process(reading, list.rows[i].process.id);
	return err;
}

int store_times_read(const struct store_reader *reader, const struct store_query *query,
		     const struct store_times *times, struct store_reading *ret_reading,
		     uint64_t *ret_untimed)
{
	struct reading reading = {reader, query, times, ret_reading, 0};
	int err = try_read(&reading);

	for (int i = 1; !err && ret_reading->missing > 0 && i < TRIES; i++)
		err = try_read(&reading);
	*ret_untimed = reading.untimed;
	return err;
}

int store_times_read_spans(const struct store_reader *reader, const struct store_range *range,
			   int64_t process, const char *kind, store_add_span *add, void *arg)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = ask(reader, range, process, kind);
	int code = statement ? SQLITE_ROW : sqlite3_errcode(reader->index.db);

	while (statement && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const struct store_span span = {store_index_unsigned(statement, 1),
						store_index_unsigned(statement, 2),
						store_index_unsigned(statement, 3)};

		if (span.end_ns > span.start_ns)
			add(arg, &span);
	}
	return store_index_error(code);
}
