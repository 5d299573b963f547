// SPDX-License-Identifier: Apache-2.0
/* Statements of an index, see store_index.h. */
#include "store/store_index.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdarg.h>

int store_index_error(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_INTERRUPT:
		return -ECANCELED;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* a table or a column is not there */
		return -EBADMSG;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_PERM:
		return -EACCES;
	default:
		return -EIO;
	}
}

static sqlite3_stmt *ask(const struct store_index *index, const char *sql, const char *types,
			 va_list values)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(index->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return NULL;
	for (int i = 0; types[i]; i++) {
		if (types[i] == 'i') {
			sqlite3_bind_int64(statement, i + 1, va_arg(values, int64_t));
		} else if (types[i] == 'b') {
			const struct bytes *const bytes = va_arg(values, const struct bytes *);

			sqlite3_bind_blob64(statement, i + 1, bytes->data, bytes->len,
					    SQLITE_STATIC);
		} else {
			const char *const text = va_arg(values, const char *);

			sqlite3_bind_text(statement, i + 1, text ? text : "", -1, SQLITE_STATIC);
		}
	}
	return statement;
}

sqlite3_stmt *store_index_ask(const struct store_index *index, const char *sql, const char *types,
			      ...)
{
	sqlite3_stmt *statement;
	va_list values;

	va_start(values, types);
	statement = ask(index, sql, types, values);
	va_end(values);
	return statement;
}

int store_index_do(const struct store_index *index, const char *sql, const char *types, ...)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = NULL;
	va_list values;

	va_start(values, types);
	statement = ask(index, sql, types, values);
	va_end(values);
	return store_index_error(statement ? sqlite3_step(statement) : sqlite3_errcode(index->db));
}

int64_t store_index_number(const struct store_index *index, const char *sql, int64_t otherwise)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(index, sql, "");

	return statement && sqlite3_step(statement) == SQLITE_ROW
		       ? sqlite3_column_int64(statement, 0)
		       : otherwise;
}

int store_index_read_number(const struct store_index *index, const char *sql, int64_t *ret)
{
	_cleanup_(store_index_end) sqlite3_stmt *statement = store_index_ask(index, sql, "");
	const int code = statement ? sqlite3_step(statement) : sqlite3_errcode(index->db);

	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? -EBADMSG : store_index_error(code);
	*ret = sqlite3_column_int64(statement, 0);
	return 0;
}

const char *store_index_text(sqlite3_stmt *statement, int column)
{
	const char *const text = (const char *)sqlite3_column_text(statement, column);

	return text ? text : "";
}

uint64_t store_index_unsigned(sqlite3_stmt *statement, int column)
{
	const int64_t number = sqlite3_column_int64(statement, column);

	return number > 0 ? (uint64_t)number : 0;
}

void store_index_end(sqlite3_stmt **statement)
{
	if (*statement)
		sqlite3_finalize(*statement);
}

void store_index_close(struct store_index *index)
{
	if (index->db)
		sqlite3_close(index->db);
	*index = (struct store_index){0};
}

void store_index_abandon(struct store_index *index)
{
	if (index->db)
		sqlite3_db_config(index->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	store_index_close(index);
}
