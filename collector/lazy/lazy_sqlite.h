// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   SQLite -> its functions, for the index of a store
 * units:   as of the library
 * threads: any for load; otherwise as of the library
 * errors:  NULL, or why the library cannot be loaded
 * source:  SQLite's C interface
 *
 * In place of the library's own header, see lazy/lazy_library.h.
 */
#ifndef FG_LAZY_LAZY_SQLITE_H
#define FG_LAZY_LAZY_SQLITE_H

#include "lazy/lazy_library.h"

#include <sqlite3.h>

#define LAZY_SQLITE(X)                                                                             \
	X(sqlite3_backup_finish)                                                                   \
	X(sqlite3_backup_init)                                                                     \
	X(sqlite3_backup_step)                                                                     \
	X(sqlite3_bind_blob64)                                                                     \
	X(sqlite3_bind_int64)                                                                      \
	X(sqlite3_bind_text)                                                                       \
	X(sqlite3_busy_timeout)                                                                    \
	X(sqlite3_close)                                                                           \
	X(sqlite3_column_blob)                                                                     \
	X(sqlite3_column_bytes)                                                                    \
	X(sqlite3_column_int)                                                                      \
	X(sqlite3_column_int64)                                                                    \
	X(sqlite3_column_text)                                                                     \
	X(sqlite3_db_config)                                                                       \
	X(sqlite3_errcode)                                                                         \
	X(sqlite3_exec)                                                                            \
	X(sqlite3_finalize)                                                                        \
	X(sqlite3_get_autocommit)                                                                  \
	X(sqlite3_last_insert_rowid)                                                               \
	X(sqlite3_limit)                                                                           \
	X(sqlite3_open)                                                                            \
	X(sqlite3_open_v2)                                                                         \
	X(sqlite3_prepare_v2)                                                                      \
	X(sqlite3_progress_handler)                                                                \
	X(sqlite3_reset)                                                                           \
	X(sqlite3_step)

extern struct lazy_sqlite {
	LAZY_SQLITE(LAZY_MEMBER)
} lazy_sqlite;

/* Before the first call of any. */
const char *lazy_sqlite_load(void);

#define sqlite3_backup_finish	  lazy_sqlite.sqlite3_backup_finish
#define sqlite3_backup_init	  lazy_sqlite.sqlite3_backup_init
#define sqlite3_backup_step	  lazy_sqlite.sqlite3_backup_step
#define sqlite3_bind_blob64	  lazy_sqlite.sqlite3_bind_blob64
#define sqlite3_bind_int64	  lazy_sqlite.sqlite3_bind_int64
#define sqlite3_bind_text	  lazy_sqlite.sqlite3_bind_text
#define sqlite3_busy_timeout	  lazy_sqlite.sqlite3_busy_timeout
#define sqlite3_close		  lazy_sqlite.sqlite3_close
#define sqlite3_column_blob	  lazy_sqlite.sqlite3_column_blob
#define sqlite3_column_bytes	  lazy_sqlite.sqlite3_column_bytes
#define sqlite3_column_int	  lazy_sqlite.sqlite3_column_int
#define sqlite3_column_int64	  lazy_sqlite.sqlite3_column_int64
#define sqlite3_column_text	  lazy_sqlite.sqlite3_column_text
#define sqlite3_db_config	  lazy_sqlite.sqlite3_db_config
#define sqlite3_errcode		  lazy_sqlite.sqlite3_errcode
#define sqlite3_exec		  lazy_sqlite.sqlite3_exec
#define sqlite3_finalize	  lazy_sqlite.sqlite3_finalize
#define sqlite3_get_autocommit	  lazy_sqlite.sqlite3_get_autocommit
#define sqlite3_last_insert_rowid lazy_sqlite.sqlite3_last_insert_rowid
#define sqlite3_limit		  lazy_sqlite.sqlite3_limit
#define sqlite3_open		  lazy_sqlite.sqlite3_open
#define sqlite3_open_v2		  lazy_sqlite.sqlite3_open_v2
#define sqlite3_prepare_v2	  lazy_sqlite.sqlite3_prepare_v2
#define sqlite3_progress_handler  lazy_sqlite.sqlite3_progress_handler
#define sqlite3_reset		  lazy_sqlite.sqlite3_reset
#define sqlite3_step		  lazy_sqlite.sqlite3_step

#endif
