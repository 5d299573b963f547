// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   an index, which is a database of SQLite -> statements with values
 * units:   none
 * threads: one at a time
 * errors:  negative errno; -EBADMSG: the index is damaged
 * source:  SQLite's C interface
 *
 * store_database.h opens an index.
 */
#ifndef FG_STORE_STORE_INDEX_H
#define FG_STORE_STORE_INDEX_H

#include "encode/bytes.h"
#include "lazy/lazy_sqlite.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_index {
	sqlite3 *db;
	/*
	 * The newest windows may be missing: they are in the log beside the index, which cannot be
	 * read in a place where nothing can be written.
	 */
	bool is_without_log;
};

void store_index_close(struct store_index *index); /* a zero-filled struct is legal */
/* The same for an index that is not this program's or is damaged: its log stays as it is. */
void store_index_abandon(struct store_index *index);

/* What went wrong in SQLite, as negative errno; 0: nothing did. */
int store_index_error(int code);

/*
 * Prepares a statement with values: 'i' an int64_t, 't' a text or NULL, which becomes "", 'b' a
 * struct bytes, as a blob. NULL: an
 * error, which sqlite3_errcode has. The texts are borrowed until sqlite3_finalize.
 */
sqlite3_stmt *store_index_ask(const struct store_index *index, const char *sql, const char *types,
			      ...);
/* Carries out a statement that has no rows. */
int store_index_do(const struct store_index *index, const char *sql, const char *types, ...);
/* The number in the first column of the first row; otherwise: there is no row. */
int64_t store_index_number(const struct store_index *index, const char *sql, int64_t otherwise);
/* The same, where an error is told from a number. -EBADMSG: there is no row. */
int store_index_read_number(const struct store_index *index, const char *sql, int64_t *ret);

/* A column's text, never NULL. */
const char *store_index_text(sqlite3_stmt *statement, int column);
/* A column's number, 0 where it is negative. */
uint64_t store_index_unsigned(sqlite3_stmt *statement, int column);
/* The statement, for _cleanup_. */
void store_index_end(sqlite3_stmt **statement);

#endif
