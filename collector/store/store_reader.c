// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a store, see store_reader.h. The writer may put an hour's file in the place of its windows
 * while they are read: where a file is missing, all is read once more.
 */
#include "store/store_reader.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/utf8.h"
#include "store/store_content.h"
#include "store/store_database.h"
#include "store/store_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define TRIES		    3
#define STEPS_BETWEEN_LOOKS 100000 /* of SQLite's machine: some milliseconds */

static void say_why(const char *dir, int err, char ret[STORE_READER_MESSAGE])
{
	const char *what = strerror(-err);

	if (err == -EPROTONOSUPPORT)
		what = "a later version of fgcollect has written this store: read it with that one";
	else if (err == -EBADMSG)
		what = "the index is no store's, or is damaged; the files in segments/ can be read "
		       "one by one";
	else if (err == -EINVAL)
		what = STORE_INDEX_NAME ", or a file that SQLite keeps beside it, is no file";
	else if (err == -ENOENT)
		what = "no store: there is no " STORE_INDEX_NAME " in that directory";
	else if (err == -ENOTDIR)
		what = "no store: that is no directory";
	else if (err == -EBUSY)
		what = "the store is in use, and its index is locked";
	snprintf(ret, STORE_READER_MESSAGE, "%.100s: %s", dir, what);
}

int store_reader_open(const char *dir, struct store_reader *ret, char ret_why[STORE_READER_MESSAGE])
{
	_cleanup_close_ int dir_fd = -1;
	const int err = store_database_open(dir, &ret->index);

	ret->segments_fd = -1;
	ret_why[0] = '\0';
	if (err) {
		say_why(dir, err, ret_why);
		return err;
	}
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd >= 0)
		ret->segments_fd = openat(dir_fd, STORE_SEGMENTS_NAME,
					  O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return 0;
}

void store_reader_close(struct store_reader *reader)
{
	store_index_close(&reader->index);
	if (reader->segments_fd >= 0)
		close(reader->segments_fd);
	reader->segments_fd = -1;
}

static int read_kinds(const struct store_reader *reader, struct store_overview *overview)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(
		&reader->index, "SELECT DISTINCT kind FROM windows ORDER BY kind <> 'cpu', kind",
		"");
	int code = statement ? SQLITE_ROW : sqlite3_errcode(reader->index.db);

	while (statement && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *const kind = store_index_text(statement, 0);

		if (overview->n_kinds < PROFILE_MAX_KINDS)
			utf8_clean(kind, strlen(kind), overview->kinds[overview->n_kinds++],
				   PROFILE_KIND_BYTES);
	}
	return store_index_error(code);
}

int store_reader_overview(const struct store_reader *reader, struct store_overview *ret)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(
		&reader->index,
		"SELECT min(start_ns), max(end_ns), count(DISTINCT process), count(*),"
		" CAST(total(bytes) AS INTEGER) FROM segments",
		"");
	int code = statement ? sqlite3_step(statement) : sqlite3_errcode(reader->index.db);

	*ret = (struct store_overview){0};
	if (code == SQLITE_ROW) {
		ret->first_ns = store_index_unsigned(statement, 0);
		ret->last_ns = store_index_unsigned(statement, 1);
		ret->processes = store_index_unsigned(statement, 2);
		ret->segments = store_index_unsigned(statement, 3);
		ret->bytes = store_index_unsigned(statement, 4);
		return read_kinds(reader, ret);
	}
	return store_index_error(code);
}

/* Not 0: the statement ends with SQLITE_INTERRUPT. */
static int is_over(void *arg)
{
	const struct store_query *const query = arg;

	return query->is_over(query->arg);
}

int store_reader_list(const struct store_reader *reader, const struct store_query *query,
		      struct store_list *ret)
{
	int err;

	if (query->is_over)
		sqlite3_progress_handler(reader->index.db, STEPS_BETWEEN_LOOKS, is_over,
					 (void *)query);
	err = store_list_read(ret, &reader->index, &query->range);
	sqlite3_progress_handler(reader->index.db, 0, NULL, NULL);

	if (!err)
		err = store_select(ret, query);
	return err;
}

int store_reading_count(struct store_reading *reading, const char *name, int err,
			const char *reason)
{
	if (is_shortage(err))
		return err;
	if (err == -ENOENT || err == -EBADF) {
		reading->missing++;
		return 0;
	}
	if (!err) {
		reading->segments++;
		return 0;
	}
	if (!reason)
		reason = err == -EINVAL ? "is no whole recording" : strerror(-err);
	if (reading->damaged++ == 0)
		snprintf(reading->first_damaged, sizeof(reading->first_damaged), "%.80s: %s", name,
			 reason);
	return 0;
}

static int add_content(struct store_sum *sum, const struct store_content *content,
		       const struct store_range *range)
{
	int err = 0;

	for (size_t i = 0; !err && i < content->n; i++) {
		const struct profile_part part = store_content_part(content, i);

		err = store_sum_add(sum, &part, range);
	}
	return err;
}

static int add_segment(const struct store_reader *reader, const struct store_query *query,
		       const char *name, struct store_sum *sum, struct store_reading *reading)
{
	_cleanup_(store_content_fini) struct store_content content = {0};
	int err, read_err;

	if (query->is_over && query->is_over(query->arg))
		return -ECANCELED;
	if (!store_segment_is_name(name))
		return store_reading_count(reading, "a segment", -EINVAL, "its name is none");
	read_err = store_content_read(&content, reader->segments_fd, name, query->kind);
	err = store_reading_count(reading, name, read_err, content.target.report.first_reason);
	return err || read_err ? err : add_content(sum, &content, &query->range);
}

static int add_process(const struct store_reader *reader, const struct store_query *query,
		       int64_t process, struct store_sum *sum, struct store_reading *reading)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(
		&reader->index,
		"SELECT s.name FROM segments s WHERE s.process = ?3 AND s.start_ns < ?1"
		" AND s.end_ns > ?2 ORDER BY s.start_ns, s.id",
		"iii", store_list_time(query->range.to_ns), store_list_time(query->range.from_ns),
		process);
	int code, err = 0;

	if (!statement)
		return store_index_error(sqlite3_errcode(reader->index.db));
	while (!err && (code = sqlite3_step(statement)) == SQLITE_ROW)
		err = add_segment(reader, query, store_index_text(statement, 0), sum, reading);
	return err ? err : store_index_error(code);
}

/* The start of the times of a sum. */
static uint64_t start_of(const struct store_list *list, const struct store_range *range)
{
	uint64_t start = UINT64_MAX;

	for (size_t i = 0; i < list->n; i++)
		if (list->rows[i].first_ns < start)
			start = list->rows[i].first_ns;
	return start == UINT64_MAX || start < range->from_ns ? range->from_ns : start;
}

static int try_sum(const struct store_reader *reader, const struct store_query *query,
		   struct store_sum *ret, struct store_reading *ret_reading)
{
	_cleanup_(store_list_fini) struct store_list list = {0};
	int err = store_reader_list(reader, query, &list);

	*ret_reading = (struct store_reading){.processes = list.n};
	store_sum_init(ret, start_of(&list, &query->range));
	store_sum_limit(ret, &query->limits);
	for (size_t i = 0; !err && i < list.n; i++) {
		if (i > 0)
			store_sum_next_process(ret);
		err = add_process(reader, query, list.rows[i].process.id, ret, ret_reading);
	}
	if (ret->end_ns > query->range.to_ns)
		ret->end_ns = query->range.to_ns;
	store_sum_finish(ret);
	return err;
}

int store_reader_sum(const struct store_reader *reader, const struct store_query *query,
		     struct store_sum *ret, struct store_reading *ret_reading)
{
	int err = try_sum(reader, query, ret, ret_reading);

	for (int i = 1; !err && ret_reading->missing > 0 && i < TRIES; i++) {
		store_sum_fini(ret);
		err = try_sum(reader, query, ret, ret_reading);
	}
	return err;
}
