// SPDX-License-Identifier: Apache-2.0
/* Reads processes from the index, see store_list.h. */
#include "store/store_list.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Numbers are added up by total(), because an overflow of sum() is an error. */
#define OVERLAPS " s.start_ns < ?1 AND s.end_ns > ?2 "

int64_t store_list_time(uint64_t ns)
{
	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

void store_list_fini(struct store_list *list)
{
	arena_fini(&list->texts);
	free(list->rows);
	*list = (struct store_list){0};
}

/* "" without memory. */
static const char *keep(struct store_list *list, sqlite3_stmt *statement, int column)
{
	const char *const text = store_index_text(statement, column);
	char clean[STORE_TEXT_BYTES];
	const char *kept;

	if (!*text)
		return "";
	utf8_clean(text, strlen(text), clean, sizeof(clean));
	kept = arena_copy(&list->texts, clean, strlen(clean));
	return kept ? kept : "";
}

static struct store_row *add_row(struct store_list *list)
{
	if (ARRAY_RESERVE(list->rows, list->size, list->n + 1) < 0)
		return NULL;
	list->rows[list->n] = (struct store_row){0};
	return &list->rows[list->n++];
}

static void fill_row(struct store_list *list, sqlite3_stmt *statement, struct store_row *row)
{
	struct store_process *const process = &row->process;
	const int64_t pid = sqlite3_column_int64(statement, 3);

	process->id = sqlite3_column_int64(statement, 0);
	process->host = keep(list, statement, 1);
	process->boot = keep(list, statement, 2);
	process->pid = pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
	process->ticks = store_index_unsigned(statement, 4);
	process->started_ns = store_index_unsigned(statement, 5);
	process->title = keep(list, statement, 6);
	process->runtime = keep(list, statement, 7);
	process->comm = keep(list, statement, 8);
	process->container = keep(list, statement, 9);
	process->container_name = keep(list, statement, 10);
	process->pod = keep(list, statement, 11);
	process->pod_uid = keep(list, statement, 12);
	process->name_space = keep(list, statement, 13);
	row->first_ns = store_index_unsigned(statement, 14);
	row->last_ns = store_index_unsigned(statement, 15);
	row->segments = store_index_unsigned(statement, 16);
	row->bytes = store_index_unsigned(statement, 17);
}

static int read_rows(struct store_list *list, const struct store_index *index,
		     const struct store_range *range)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(
		index,
		"SELECT p.id, p.host, p.boot, p.pid, p.ticks, p.started_ns, p.title, p.runtime,"
		" p.comm, p.container, p.container_name, p.pod, p.pod_uid, p.namespace,"
		" min(s.start_ns), max(s.end_ns), count(*), CAST(total(s.bytes) AS INTEGER)"
		" FROM processes p JOIN segments s ON s.process = p.id WHERE" OVERLAPS
		"GROUP BY p.id ORDER BY 15, p.id",
		"ii", store_list_time(range->to_ns), store_list_time(range->from_ns));
	int code = statement ? SQLITE_ROW : sqlite3_errcode(index->db);

	while (statement && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct store_row *row;

		if (list->n == STORE_MAX_ROWS) {
			list->left_out++;
			continue;
		}
		row = add_row(list);
		if (!row)
			return -ENOMEM;
		fill_row(list, statement, row);
	}
	return store_index_error(code);
}

static int read_kinds(struct store_list *list, sqlite3_stmt *statement, struct store_row *row)
{
	int code;

	sqlite3_reset(statement);
	sqlite3_bind_int64(statement, 3, row->process.id);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (row->n_kinds == PROFILE_MAX_KINDS)
			continue;
		row->kinds[row->n_kinds++] = (struct store_row_kind){
			.name = keep(list, statement, 0),
			.unit = keep(list, statement, 1),
			.samples = store_index_unsigned(statement, 2),
			.unnamed = store_index_unsigned(statement, 3),
			.unrooted = store_index_unsigned(statement, 4),
		};
	}
	return store_index_error(code);
}

static int read_labels(struct store_list *list, sqlite3_stmt *statement, struct store_row *row)
{
	struct label labels[LABEL_SET_MAX], *kept;
	size_t n = 0;
	int code;

	sqlite3_reset(statement);
	sqlite3_bind_int64(statement, 1, row->process.id);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (n < LABEL_SET_MAX)
			labels[n++] =
				(struct label){keep(list, statement, 0), keep(list, statement, 1)};
	}
	kept = arena_alloc(&list->texts, n * sizeof(*kept) + 1);
	if (!kept)
		return -ENOMEM;
	memcpy(kept, labels, n * sizeof(*kept));
	row->process.labels = kept;
	row->process.n_labels = n;
	return store_index_error(code);
}

int store_list_read(struct store_list *list, const struct store_index *index,
		    const struct store_range *range)
{
	_cleanup_(store_index_end) sqlite3_stmt *kinds = store_index_ask(
		index,
		"SELECT w.kind, w.unit, CAST(total(w.samples) AS INTEGER),"
		" CAST(total(w.unnamed) AS INTEGER), CAST(total(w.unrooted) AS INTEGER)"
		" FROM segments s JOIN windows w ON w.segment = s.id WHERE" OVERLAPS
		"AND s.process = ?3 GROUP BY w.kind, w.unit",
		"ii", store_list_time(range->to_ns), store_list_time(range->from_ns));
	_cleanup_(store_index_end) sqlite3_stmt *labels = store_index_ask(
		index, "SELECT key, value FROM labels WHERE process = ?1 ORDER BY key", "");
	int err;

	*list = (struct store_list){0};
	if (!kinds || !labels)
		return store_index_error(sqlite3_errcode(index->db));
	err = read_rows(list, index, range);
	for (size_t i = 0; !err && i < list->n; i++) {
		err = read_kinds(list, kinds, &list->rows[i]);
		if (!err)
			err = read_labels(list, labels, &list->rows[i]);
	}
	return err;
}
